"""What the model sees of a path."""

from __future__ import annotations

from sessions_app.core.entries import Entry, compaction_entry, thinking_level_change_entry
from sessions_app.core.projection import Context, project
from tests.builders import chain, message_entry, path, tree

PLACE = "2030-01-01T08:00:00.000Z"


def visible(context: Context) -> list[str]:
    return [item.entry.id for item in context.entries if item.visible]


def active(context: Context) -> list[str]:
    return [item.entry.id for item in context.entries]


def test_without_a_compaction_the_whole_path_is_seen_and_bookkeeping_says_nothing() -> None:
    context = project(path("sys u a t meta model label@e1 note bash bs"))
    assert visible(context) == ["e1", "e2", "e3", "e4", "e8", "e9", "e10"]
    roles = [message["role"] for message in context.messages]
    assert roles == ["system", "user", "assistant", "toolResult", "custom", "bashExecution", "branchSummary"]


def test_a_compaction_comes_first_then_what_it_keeps_then_what_follows() -> None:
    """01 §5.1."""
    context = project(path("u a u a cut@e3 u a"))
    assert active(context) == ["e5", "e3", "e4", "e6", "e7"]
    assert context.messages[0]["role"] == "compactionSummary"
    assert context.compaction is context.entries[0]


def test_only_the_newest_compaction_speaks() -> None:
    """01 §5.2, BUGS B01."""
    context = project(path("u a cut@e2 u a cut@e2 u"))
    assert active(context) == ["e6", "e2", "e3", "e4", "e5", "e7"]
    assert visible(context) == ["e6", "e2", "e4", "e5", "e7"]


def test_a_compaction_on_another_branch_does_not_count() -> None:
    built = tree("u a cut@e2 | e2: u a")
    assert active(project(built.path("e5"))) == ["e1", "e2", "e4", "e5"]


def test_a_boundary_that_is_not_before_the_compaction_keeps_nothing() -> None:
    """01 §5.1: how retain-none works."""
    assert active(project(path("u a cut@- u"))) == ["e3", "e4"]
    assert active(project(path("u a cut@nowhere u"))) == ["e3", "e4"]
    assert active(project(path("u a cut@e4 u"))) == ["e3", "e4"]


def test_system_messages_of_the_kept_range_give_way_to_the_checkpoint() -> None:
    """02 §11."""
    kept = path("u a sys u")
    state = {"role": "system", "content": "whole prompt", "timestamp": 5}
    compaction = compaction_entry(
        "c", "e4", PLACE, summary="s", tokens_before=1, first_kept_entry_id="e3", system_message=state
    )
    later = message_entry("z", "c", {"role": "system", "content": "later", "timestamp": 6})
    context = project([*kept, compaction, later])
    assert active(context) == ["c", "e4", "z"]
    assert [message["role"] for message in context.messages] == [
        "system",
        "compactionSummary",
        "user",
        "system",
    ]
    assert context.system == {"role": "system", "content": "whole prompt\n\nlater", "timestamp": 5}


def test_an_omission_takes_the_messages_away_and_a_later_edit_brings_them_back() -> None:
    """01 §5.2, FINDINGS 16."""
    omitted = project(path("u a omit@e2"))
    assert visible(omitted) == ["e1"]
    assert omitted.entries[1].omitted
    revived = project(path("u a omit@e2 swap@e2"))
    assert visible(revived) == ["e1", "e2"]
    assert not revived.entries[1].omitted


def test_going_back_before_an_edit_restores_the_original() -> None:
    built = tree("u a omit@e2")
    assert visible(project(built.path("e2"))) == ["e1", "e2"]


def test_an_edit_outside_the_active_range_does_not_apply() -> None:
    """01 §5.2."""
    context = project(path("u a omit@e2 u a cut@e4 u"))
    assert visible(context) == ["e6", "e4", "e5", "e7"]
    early = project(path("u a omit@e5 u a cut@e4 u"))
    assert "e5" in visible(early)


def test_a_replacement_changes_the_content_and_nothing_else() -> None:
    """01 §5.2."""
    context = project(path("u a t note swap@e1:1 swap@e2:1 swap@e3:1 swap@e4:1"))
    user, reply, result, note = context.messages
    assert user["content"].startswith("e5")
    assert reply["content"] == [{"type": "text", "text": "e6 e"}]
    assert reply["model"] == "m-one"
    assert result["content"] == [{"type": "text", "text": "e7 e"}]
    assert note["content"] == "e8 e"


def test_a_replacement_without_content_leaves_it_empty() -> None:
    edit = Entry({"type": "context_edit", "id": "x", "targetId": "e1", "replacement": {}})
    assert project([*path("u"), edit]).messages[0]["content"] == []


def test_replacing_what_has_no_content_changes_nothing() -> None:
    """FINDINGS 11, 17."""
    context = project(path("bash bs sys cut@e1 swap@e1 swap@e2 swap@e4"))
    assert [message["role"] for message in context.messages] == [
        "compactionSummary",
        "bashExecution",
        "branchSummary",
    ]
    assert context.messages[0]["summary"].startswith("e4")
    assert context.messages[1]["output"].startswith("e1")


def test_omitting_the_compaction_hides_its_summary_and_leaves_the_rest_as_it_is() -> None:
    """FINDINGS 11."""
    context = project(path("u a u a cut@e3 u omit@e5"))
    assert active(context) == ["e5", "e3", "e4", "e6", "e7"]
    assert visible(context) == ["e3", "e4", "e6"]
    assert context.compaction is None


def test_an_edit_of_no_known_form_is_passed_over() -> None:
    edits = [
        {"type": "context_edit", "id": "x", "targetId": "e1"},
        {"type": "context_edit", "id": "y", "targetId": "e1", "replacement": "text"},
        {"type": "context_edit", "id": "z", "targetId": 5, "replacement": None},
    ]
    context = project([*path("u"), *map(Entry, edits)])
    assert context.messages[0]["content"].startswith("e1")


def test_missing_content_is_read_as_empty() -> None:
    """01 §2."""
    messages = [
        {"role": role, "content": None, "timestamp": 1}
        for role in ("user", "assistant", "toolResult", "custom", "system", "bashExecution")
    ]
    note = Entry(
        {"type": "custom_message", "id": "n", "timestamp": PLACE, "customType": "x", "details": {"a": 1}}
    )
    context = project([*chain(*messages), note, Entry({"type": "message", "id": "m"})])
    assert [message["content"] for message in context.messages] == [[], [], [], None, "", None, []]
    assert context.messages[-1]["details"] == {"a": 1}


def test_an_empty_branch_summary_says_nothing() -> None:
    empty = Entry({"type": "branch_summary", "id": "b", "timestamp": PLACE, "summary": ""})
    assert project([empty]).messages == []


def test_the_model_is_the_last_one_chosen_or_heard() -> None:
    """01 §5.3."""
    assert project(path("u model")).model == {"provider": "acme", "modelId": "m-two"}
    assert project(path("model u a")).model == {"provider": "acme", "modelId": "m-one"}
    assert project(path("u")).model is None
    assert project(path("u a cut@- u")).model == {"provider": "acme", "modelId": "m-one"}


def test_the_thinking_level_is_the_last_one_set() -> None:
    """01 §5.3."""
    levels = [
        thinking_level_change_entry("t1", "e1", PLACE, "low"),
        Entry({"type": "thinking_level_change", "id": "t2"}),
    ]
    assert project([*path("u"), *levels]).thinking_level == "low"
    assert project(path("u")).thinking_level == "off"


def test_an_empty_path_gives_an_empty_context() -> None:
    context = project([])
    assert (context.entries, context.messages, context.compaction, context.system) == ((), [], None, None)
