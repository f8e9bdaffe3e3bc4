"""Going to another branch with a summary of the one that is left: what is asked, where it is attached, when nothing moves."""

from __future__ import annotations

from typing import Any

import pytest

from sessions_app import entry_log
from sessions_app.agent.hooks import Hooks
from sessions_app.models import Entry, QueuedMessage, Run, Session
from sessions_app.runner import branch_summary_run
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import branches, navigation, runs
from sessions_app.services.errors import BadInput, Conflict
from tests.staging import Stage, assistant, stage, user

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)


def go(stage: Stage, entry: Entry, summarise: str = "summarise", **options: Any) -> navigation.Navigated:
    found = navigation.navigate(
        session=stage.session, author=stage.author, entry=entry, summarise=summarise, **options
    )
    stage.session.refresh_from_db()
    return found


def two_branches(stage: Stage) -> list[Entry]:
    """A, then B C D and (from A) E F; the leaf is D."""
    a, b = stage.say(user("A"), assistant("B"))
    entry_log.move_leaf(stage.session, b)
    e, f = stage.say(user("E"), assistant("F"))
    entry_log.move_leaf(stage.session, b)
    stage.session.refresh_from_db()
    c, d = stage.say(user("C said"), assistant("D said"))
    return [a, b, c, d, e, f]


def test_the_summary_becomes_the_leaf_on_the_new_branch(stage: Stage) -> None:
    """BS-04, BS-05, BS-16: the worked example; 01 TR-05."""
    *_, d, _, f = two_branches(stage)
    found = go(stage, f)
    assert found.run is not None
    assert (found.run.kind, stage.session.leaf) == ("branch_summary", d)
    run = stage.carry_out(found.run)
    assert (run.status, run.error) == ("completed", "")
    leaf = stage.session.leaf
    assert leaf is not None
    assert (leaf.kind, leaf.parent) == ("branch_summary", f)
    assert leaf.record["fromId"] == d.entry_id
    assert leaf.record["summary"].endswith("1. Grind.")
    asked = str(stage.asked_summaries[0].messages)
    assert "C said" in asked
    assert "D said" in asked
    assert "F" not in asked.partition("</conversation>")[0].partition("<conversation>")[2]


def test_a_user_message_as_target_gives_its_text_and_its_parent(stage: Stage) -> None:
    """BS-16, TR-03."""
    _, b, *_, e, _ = two_branches(stage)
    found = go(stage, e)
    assert (found.text, found.run is not None) == ("E", True)
    stage.carry_out_all()
    assert stage.session.leaf is not None
    assert stage.session.leaf.parent == b


def test_going_back_to_the_first_message_makes_a_new_root(stage: Stage) -> None:
    """BS-06: the message itself is not summarised."""
    a, *_ = two_branches(stage)
    go(stage, a)
    stage.carry_out_all()
    leaf = stage.session.leaf
    assert leaf is not None
    assert (leaf.kind, leaf.parent) == ("branch_summary", None)
    conversation = str(stage.asked_summaries[0].messages).partition("</conversation>")[0]
    assert "[User]: A" not in conversation
    assert "[Assistant]: B" in conversation


def test_going_forward_leaves_nothing_behind_and_moves_at_once(stage: Stage) -> None:
    """BS-07."""
    _, b, _, d, *_ = two_branches(stage)
    entry_log.move_leaf(stage.session, b)
    found = go(stage, d)
    assert (found.run, stage.session.leaf) == (None, d)
    assert not Run.objects.exists()


def test_a_branch_that_says_nothing_stores_no_summary(stage: Stage) -> None:
    """BS-15: ours skips the entry."""
    _, b = stage.say(user("A"), assistant("B"))
    entry_log.append(stage.session.pk, {"type": "custom", "customType": "state"})
    stage.session.refresh_from_db()
    found = go(stage, b)
    assert (found.run, stage.session.leaf) == (None, b)


def test_custom_instructions_add_a_focus_or_replace_the_sections(stage: Stage) -> None:
    """BS-03."""
    *_, f = two_branches(stage)
    go(stage, f, "custom", instructions="Only numbers.")
    stage.carry_out_all()
    asked = str(stage.asked_summaries[-1].messages)
    assert "Only numbers." in asked
    assert "## Goal" in asked
    d = stage.session.entries.get(seq=6)
    go(stage, d, "custom", instructions="In rhyme.", replace=True)
    stage.carry_out_all()
    asked = str(stage.asked_summaries[-1].messages[0]["content"]).partition("</conversation>")[2]
    assert "In rhyme." in asked
    assert "## Goal" not in asked


def test_a_label_goes_on_the_summary_behind_it(stage: Stage) -> None:
    """BS-17, TR-06."""
    *_, f = two_branches(stage)
    go(stage, f, label="tried")
    stage.carry_out_all()
    leaf = stage.session.leaf
    assert leaf is not None
    assert leaf.parent is not None
    assert (leaf.kind, leaf.parent.kind) == ("label", "branch_summary")
    assert leaf.record["targetId"] == leaf.parent.entry_id


def test_a_label_without_a_summary_goes_on_the_target(stage: Stage) -> None:
    """TR-06."""
    *_, f = two_branches(stage)
    go(stage, f, "none", label="here")
    assert stage.session.leaf is not None
    assert stage.session.leaf.record["targetId"] == f.entry_id


@pytest.mark.parametrize(
    "answer",
    [
        [{"error": "auth", "message": "No such key."}],
        [{"text": "## Goal\nHalf"}, {"stop_reason": "length"}],
        [{"call": "ls", "arguments": {}}],
        [{"text": "  "}],
    ],
)
def test_a_failure_moves_nothing(stage: Stage, answer: list[dict[str, Any]]) -> None:
    """BS-14."""
    *_, d, _, f = two_branches(stage)
    stage.summaries = [answer, answer]
    found = go(stage, f)
    assert found.run is not None
    run = stage.carry_out(found.run)
    assert run.status == "failed"
    assert "nothing has moved" in run.error
    assert (stage.session.leaf, stage.session.entries.count()) == (d, 6)


def test_a_stop_moves_nothing(stage: Stage) -> None:
    """BS-14, B17."""
    *_, d, _, f = two_branches(stage)

    def stopped_meanwhile(request: Any) -> list[dict[str, Any]]:
        runs.stop_run(session=stage.session, author=stage.author)
        heartbeat.beat()
        return [{"text": "## Goal\nLate."}]

    stage.summaries = [stopped_meanwhile]
    found = go(stage, f)
    assert found.run is not None
    assert stage.carry_out(found.run).status == "stopped"
    assert stage.session.leaf == d


def test_other_moves_wait_for_the_end_and_words_are_queued(stage: Stage) -> None:
    """BS-19, B18, B21; 04 §1.5."""
    _, b, *_, f = two_branches(stage)
    go(stage, f)
    with pytest.raises(Conflict):
        go(stage, b, "none")
    with pytest.raises(Conflict):
        go(stage, b)
    assert runs.submit_prompt(session=stage.session, author=stage.author, text="There.").queued is not None
    stage.carry_out_all()
    assert stage.kinds()[-3:] == ["branch_summary", "user", "assistant"]
    assert not QueuedMessage.objects.exists()


def test_a_repeated_command_starts_one_run(stage: Stage) -> None:
    *_, f = two_branches(stage)
    first, second = go(stage, f, key="k"), go(stage, f, key="k")
    assert first.run == second.run


def test_the_summary_counts_in_the_totals(stage: Stage) -> None:
    """BS-20."""
    *_, f = two_branches(stage)
    before = stage.session.tokens
    go(stage, f)
    stage.carry_out_all()
    assert stage.session.tokens > before
    assert stage.session.leaf is not None
    assert stage.session.leaf.record["usage"]["input"] > 0


def test_what_cannot_be_asked_is_refused(stage: Stage) -> None:
    *_, f = two_branches(stage)
    with pytest.raises(BadInput):
        go(stage, f, "perhaps")
    with pytest.raises(BadInput):
        go(stage, f, "custom")
    with pytest.raises(BadInput):
        go(stage, f, label="x" * 101)


def test_hooks_see_the_move_and_may_bring_the_summary(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    """BS-08, BS-18."""
    heard: list[dict[str, Any]] = []

    def before(event: dict[str, Any]) -> dict[str, Any]:
        heard.append(event)
        return {"summary": {"summary": "Mine.", "details": {"a": 1}}, "label": "theirs"}

    def after(event: dict[str, Any]) -> None:
        heard.append(event)

    hooks = Hooks()
    hooks.add("session_before_tree", before)
    hooks.add("session_tree", after)
    monkeypatch.setattr(branch_summary_run, "hooks_of", lambda session: hooks)
    _, b, c, d, _, f = two_branches(stage)
    go(stage, f)
    stage.carry_out_all()
    prepared = heard[0]["preparation"]
    assert (prepared["targetId"], prepared["oldLeafId"]) == (f.entry_id, d.entry_id)
    assert (prepared["commonAncestorId"], prepared["userWantsSummary"]) == (b.entry_id, True)
    assert [entry["id"] for entry in prepared["entriesToSummarize"]] == [c.entry_id, d.entry_id]
    assert (heard[1]["fromExtension"], heard[1]["summaryEntry"]["summary"]) == (True, "Mine.")
    assert stage.asked_summaries == []
    assert stage.session.leaf is not None
    assert stage.session.leaf.kind == "label"


def test_an_extension_may_keep_the_session_where_it_is(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    hooks = Hooks()
    hooks.add("session_before_tree", lambda event: {"cancel": True})
    monkeypatch.setattr(branch_summary_run, "hooks_of", lambda session: hooks)
    monkeypatch.setattr(navigation, "hooks_of", lambda session: hooks)
    *_, d, _, f = two_branches(stage)
    found = go(stage, f)
    assert found.run is not None
    assert stage.carry_out(found.run).status == "stopped"
    with pytest.raises(Conflict):
        go(stage, f, "none")
    assert stage.session.leaf == d


def test_a_missing_key_is_told_and_nothing_moves(stage: Stage) -> None:
    """BS-19."""
    *_, d, _, f = two_branches(stage)
    found = go(stage, f)
    assert found.run is not None
    Run.objects.filter(pk=found.run.pk).update(provider="anthropic", model="claude-haiku-4-5")
    run = stage.carry_out(found.run)
    assert (run.status, run.error_kind, stage.session.leaf) == ("failed", "missing_key", d)


def test_the_request_is_like_that_of_a_compaction(stage: Stage) -> None:
    """BS-13: no tools, no cache writes, a routing id of its own."""
    *_, f = two_branches(stage)
    go(stage, f)
    stage.carry_out_all()
    asked = stage.asked_summaries[0]
    assert (asked.tools, asked.options) == ((), {"cacheRetention": "none"})
    assert asked.session_id not in ("", str(stage.session.key))


def test_undo_never_summarises_and_is_told_like_any_move(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """BS-01, TR-07: session_tree is sent afterwards."""
    heard: list[dict[str, Any]] = []

    def moved(event: dict[str, Any]) -> None:
        heard.append(event)

    hooks = Hooks()
    hooks.add("session_tree", moved)
    monkeypatch.setattr(navigation, "hooks_of", lambda session: hooks)
    _, b, *_ = two_branches(stage)
    found = navigation.undo(session=stage.session, author=stage.author)
    assert (found.leaf, found.text, found.run) == (b, "C said", None)
    assert heard[0]["newLeafId"] == b.entry_id
    assert "summaryEntry" not in heard[0]


def test_a_branch_that_knows_another_model_is_told_of_the_change(stage: Stage) -> None:
    """TR-08; 04 §1.10."""
    two_branches(stage)
    entry_log.append(stage.session.pk, {"type": "thinking_level_change", "thinkingLevel": "high"})
    Session.objects.filter(pk=stage.session.pk).update(model="other")
    stage.session.refresh_from_db()
    runs.submit_prompt(session=stage.session, author=stage.author, text="Go on.")
    assert stage.kinds()[-3:] == ["user", "model_change", "thinking_level_change"]
    stage.carry_out_all()
    runs.submit_prompt(session=stage.session, author=stage.author, text="And on.")
    assert stage.kinds()[-2:] == ["assistant", "user"]
    stage.carry_out_all()


def test_the_common_ancestor_is_found_along_segments(stage: Stage) -> None:
    """BS-04: as by comparing whole paths."""
    two_branches(stage)
    entry_log.move_leaf(stage.session, None)
    stage.say(user("Another root"), assistant("Yes"))
    entry_log.move_leaf(stage.session, stage.session.entries.get(seq=3))
    stage.say(user("Deeper"), user("Deepest"))
    rows = list(stage.session.entries.order_by("seq"))
    for one in rows:
        above = [entry.pk for entry in entry_log.path_to(one)]
        for other in rows:
            both = [entry for entry in entry_log.path_to(other) if entry.pk in above]
            assert entry_log.common_depth(one, other) == (both[-1].depth if both else -1)


def test_failed_answers_and_what_was_left_out_are_not_summarised(stage: Stage) -> None:
    """B27: what the model would not see, no summary tells; it names the leaf that was left."""
    a, *_ = stage.say(user("A"), assistant("B"))
    hidden, *_ = stage.say(user("Hidden words"), assistant("Shown answer"))
    stage.say(assistant("Failed words", reason="error"), assistant("Stopped words", reason="aborted"))
    branches.leave_out(session=stage.session, author=stage.author, entry=hidden)
    stage.session.refresh_from_db()
    old_leaf = stage.session.leaf
    assert old_leaf is not None
    found = go(stage, a)
    assert found.run is not None
    stage.carry_out(found.run)
    asked = str(stage.asked_summaries[0].messages)
    assert "Shown answer" in asked
    assert not [words for words in ("Hidden words", "Failed words", "Stopped words") if words in asked]
    assert stage.session.leaf is not None
    assert stage.session.leaf.record["fromId"] == old_leaf.entry_id
