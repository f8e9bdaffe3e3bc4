"""Compaction, leaving a branch, copies, pins and leaving out, as their addresses answer."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.models import CompactionAttempt, Entry, Pin, Run, Session
from sessions_app.services import navigation

HTMX = {"HX-Request": "true", "HX-Target": "transcript"}
LONG = "The tide comes in twice a day. " * 40


def say(session: Session, role: str, words: str) -> Entry:
    content: Any = words if role == "user" else [{"type": "text", "text": words}]
    message = {"role": role, "content": content, "timestamp": 1_793_000_000_000}
    entry = entry_log.append(session.pk, {"type": "message", "message": message})
    session.refresh_from_db()
    return entry


@pytest.fixture
def talk(session: Session, settings: Any) -> Session:
    settings.ALLOW_LOCAL_EXECUTION = True
    settings.COMPACTION = {**settings.COMPACTION, "keepRecentTokens": 50}
    for number in range(1, 4):
        say(session, "user", f"Question {number}")
        say(session, "assistant", f"Answer {number}. {LONG}")
    return session


def address(session: Session, name: str, **arguments: Any) -> str:
    return reverse(name, kwargs={"key": session.key, **arguments})


def question(session: Session, number: int) -> Entry:
    return session.entries.get(role="user", payload__contains=f"Question {number}")


def test_the_dialog_says_what_a_compaction_would_do_and_asks_nothing(
    alice_client: Client, talk: Session
) -> None:
    html = alice_client.get(address(talk, "compact"), headers=HTMX).content.decode()
    assert "<open-dialog>" in html
    assert "Summarised" in html
    assert "Kept as it is" in html
    page = alice_client.get(address(talk, "compact")).content.decode()
    assert "<title>" in page
    assert "Back to the conversation" in page
    assert not Run.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_a_compaction_begins_with_its_focus_and_is_shown_as_one(alice_client: Client, talk: Session) -> None:
    form = {"instructions": "the tide", "key": "k"}
    html = alice_client.post(address(talk, "compact"), form, headers=HTMX).content.decode()
    run = Run.objects.get()
    assert (run.kind, json.loads(run.request)) == (Run.Kind.COMPACTION, {"instructions": "the tide"})
    assert "Compacting" in html
    assert "Cancel" in html
    again = alice_client.post(address(talk, "compact"), {"instructions": "", "key": "l"}, headers=HTMX)
    assert again.status_code == 409
    assert "being compacted already" in again.content.decode()


def test_a_session_without_words_has_nothing_to_compact(alice_client: Client, session: Session) -> None:
    html = alice_client.get(address(session, "compact"), headers=HTMX).content.decode()
    assert "Nothing to compact: the session is empty." in html
    refused = alice_client.post(address(session, "compact"), headers=HTMX)
    assert refused.status_code == 409


def test_a_compaction_card_tells_what_it_gained_and_what_it_replaced(
    alice_client: Client, talk: Session
) -> None:
    kept = question(talk, 3)
    fields = {
        "type": "compaction",
        "summary": "Tides.",
        "firstKeptEntryId": kept.entry_id,
        "tokensBefore": 900,
    }
    entry = entry_log.append(talk.pk, fields)
    CompactionAttempt.objects.create(
        session=talk,
        entry=entry,
        reason="threshold",
        provider="demo",
        model="demo",
        settings="{}",
        tokens_before=141_200,
        tokens_after=23_400,
        duration_ms=9000,
        outcome="compacted",
        usage=json.dumps({"cost": {"total": 0.21}}),
    )
    page = alice_client.get(address(talk, "session")).content.decode()
    assert "141.2k → 23.4k tokens · $0.21 · 9 s · automatic, nearly full" in page
    assert "4 entries" in page
    rows = alice_client.get(address(talk, "replaced", seq=entry.seq), headers=HTMX).content.decode()
    assert rows.count("replaced__row") == 4
    assert "Question 1" in rows
    assert "Question 3" not in rows
    assert alice_client.get(address(talk, "replaced", seq=kept.seq), headers=HTMX).status_code == 404


def test_what_was_replaced_comes_in_pages(alice_client: Client, session: Session) -> None:
    for number in range(50):
        say(session, "user", f"word-{number}.")
    entry = entry_log.append(session.pk, {"type": "compaction", "summary": "S", "tokensBefore": 1})
    where = address(session, "replaced", seq=entry.seq)
    first = alice_client.get(where, headers=HTMX).content.decode()
    assert "word-39." in first
    assert "word-40." not in first
    assert f"{where}?from=40" in first
    rest = alice_client.get(where, {"from": "40"}, headers=HTMX).content.decode()
    assert "word-49." in rest
    assert "Show more" not in rest


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("failed", "Compaction failed at"),
        ("cancelled", "Compaction cancelled at"),
        ("not_smaller", "not applied at"),
    ],
)
def test_an_attempt_that_changed_nothing_is_one_row(
    alice_client: Client, talk: Session, outcome: str, words: str
) -> None:
    CompactionAttempt.objects.create(
        session=talk, leaf=talk.leaf, reason="threshold", provider="demo", model="demo", settings="{}",
        outcome=outcome, error="The harbour <is> closed.",
    )  # fmt: skip
    page = alice_client.get(address(talk, "session")).content.decode()
    assert words in page
    assert ("Try again" in page) == (outcome == "failed")
    assert "harbour <is>" not in page


def test_leaving_a_branch_offers_three_choices_and_going_forward_none(
    alice_client: Client, talk: Session
) -> None:
    """03 BS-02."""
    target = question(talk, 2)
    asked = alice_client.post(address(talk, "navigate", seq=target.seq), {"ask": "1"}, headers=HTMX)
    html = asked.content.decode()
    assert asked["HX-Retarget"] == "#dialogs"
    for words in (
        "No summary",
        "Summarise",
        "Summarise with a focus",
        "You leave 3 entries behind",
        "of 3 messages",
    ):
        assert words in html
    talk.refresh_from_db()
    assert talk.leaf is not None
    assert talk.leaf.seq == 6
    tip = talk.leaf
    alice_client.post(address(talk, "navigate", seq=target.seq), headers=HTMX)
    forward = alice_client.post(address(talk, "navigate", seq=tip.seq), {"ask": "1"}, headers=HTMX)
    assert 'id="transcript"' in forward.content.decode()


def test_nobody_is_asked_where_the_question_is_switched_off(
    alice_client: Client, talk: Session, settings: Any
) -> None:
    """03 BS-02."""
    settings.BRANCH_SUMMARY = {**settings.BRANCH_SUMMARY, "skipPrompt": True}
    target = question(talk, 2)
    moved = alice_client.post(address(talk, "navigate", seq=target.seq), {"ask": "1"}, headers=HTMX)
    assert 'id="transcript"' in moved.content.decode()


def test_a_focus_has_to_be_said(alice_client: Client, talk: Session) -> None:
    form = {"summarise": "custom", "instructions": " "}
    refused = alice_client.post(address(talk, "navigate", seq=question(talk, 2).seq), form, headers=HTMX)
    assert refused.status_code == 400
    assert "Say what the summary should keep in view." in refused.content.decode()


@pytest.mark.django_db(transaction=True)
def test_a_returned_text_waits_for_the_summary(alice_client: Client, talk: Session) -> None:
    form = {"summarise": "summarise", "key": "k"}
    going = alice_client.post(address(talk, "navigate", seq=question(talk, 2).seq), form, headers=HTMX)
    assert going["HX-Reswap"] == "none"
    assert "Summarising the branch you leave" in going.content.decode()
    waiting = alice_client.get(address(talk, "session"), headers=HTMX)
    assert "HX-Trigger-After-Swap" not in waiting
    Run.objects.update(status=Run.Status.COMPLETED)
    arrived = alice_client.get(address(talk, "session"), headers=HTMX)
    assert json.loads(arrived["HX-Trigger-After-Swap"]) == {"session:moved": {"text": "Question 2"}}
    assert "HX-Trigger-After-Swap" not in alice_client.get(address(talk, "session"), headers=HTMX)


def test_a_fork_takes_what_came_before_a_message_and_its_text(alice_client: Client, talk: Session) -> None:
    response = alice_client.post(address(talk, "fork"), {"seq": question(talk, 2).seq}, headers=HTMX)
    made = Session.objects.exclude(pk=talk.pk).get()
    assert response["HX-Redirect"] == address(made, "session")
    page = alice_client.get(address(made, "session")).content.decode()
    assert ">Question 2</textarea>" in page
    assert made.entries.filter(role="user").count() == 1
    newest = alice_client.post(address(talk, "fork"), follow=True).content.decode()
    assert ">Question 3</textarea>" in newest


def test_what_can_not_be_forked_or_cloned_is_said(alice_client: Client, session: Session) -> None:
    refused = alice_client.post(address(session, "fork"), headers=HTMX)
    assert refused.status_code == 409
    assert "There is no message of yours" in refused.content.decode()
    assert alice_client.post(address(session, "clone"), headers=HTMX).status_code == 409


def test_a_clone_takes_the_whole_branch(alice_client: Client, talk: Session) -> None:
    response = alice_client.post(address(talk, "clone"), headers=HTMX)
    made = Session.objects.exclude(pk=talk.pk).get()
    assert response["HX-Redirect"] == address(made, "session")
    assert made.entries.count() == talk.entries.count()


def test_a_pin_is_seen_and_taken_back(alice_client: Client, talk: Session) -> None:
    entry = question(talk, 1)
    where = address(talk, "pin", seq=entry.seq)
    html = alice_client.post(where, {"action": "pin"}, headers=HTMX).content.decode()
    assert "Pinned: never compacted" in html
    assert "<undo-bar" in html
    assert Pin.objects.get().entry == entry
    html = alice_client.post(where, {"action": "unpin"}, headers=HTMX).content.decode()
    assert "Pinned: never compacted" not in html
    assert not Pin.objects.exists()


def test_what_is_left_out_is_struck_until_it_is_restored(alice_client: Client, talk: Session) -> None:
    entry = question(talk, 1)
    where = address(talk, "omit", seq=entry.seq)
    html = alice_client.post(where, {"action": "leave_out"}, headers=HTMX).content.decode()
    assert "entry--omitted" in html
    assert "Not told to the model" in html
    html = alice_client.post(where, {"action": "restore"}, headers=HTMX).content.decode()
    assert "entry--omitted" not in html
    assert "Not told to the model" not in html
    assert "Changed for the model" not in html


def test_results_that_go_with_an_answer_are_renewed_too(alice_client: Client, session: Session) -> None:
    call = {"type": "toolCall", "id": "c1", "name": "read", "arguments": {"path": "a.py"}}
    message = {"role": "assistant", "content": [call], "stopReason": "toolUse", "timestamp": 1}
    answer = entry_log.append(session.pk, {"type": "message", "message": message})
    result = {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": [], "timestamp": 2}
    other = entry_log.append(session.pk, {"type": "message", "message": result})
    html = alice_client.post(address(session, "omit", seq=answer.seq), headers=HTMX).content.decode()
    assert html.count("entry--omitted") == 2
    assert f'id="entry-{other.seq}"' in html
    assert 'hx-swap-oob="true"' in html


def test_an_entry_of_another_branch_is_shown_on_the_page_of_the_tree(
    alice_client: Client, talk: Session
) -> None:
    entry = question(talk, 3)
    alice_client.post(address(talk, "navigate", seq=question(talk, 2).seq), headers=HTMX)
    page = alice_client.get(address(talk, "entry", seq=entry.seq), follow=True).content.decode()
    assert "An entry of another branch" in page
    assert f'id="entry-{entry.seq}"' in page


def test_the_cost_of_the_branch_stands_beside_that_of_the_session(
    alice_client: Client, session: Session, alice: User
) -> None:
    first = say(session, "user", "Begin")
    for cost in (0.5, 0.25):
        entry_log.move_leaf(session, first)
        usage = {"input": 1, "output": 1, "cost": {"total": cost}}
        message = {"role": "assistant", "content": [], "usage": usage, "stopReason": "stop", "timestamp": 3}
        entry_log.append(session.pk, {"type": "message", "message": message})
        session.refresh_from_db()
    page = alice_client.get(address(session, "session")).content.decode()
    assert "$0.25" in page
    assert "of $0.75 in the session" in page


def test_why_automatic_compaction_has_stopped_is_said_above_the_composer(
    alice_client: Client, talk: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = alice_client.get(address(talk, "compaction_problem"), headers=HTMX)
    assert empty.content.decode().strip() == ""
    monkeypatch.setattr(
        "sessions_app.services.compaction.automatic_problem", lambda session: "One result is too big."
    )
    page = alice_client.get(address(talk, "session")).content.decode()
    assert "Automatic compaction has stopped on this branch." in page
    assert "One result is too big." in page


def test_a_branch_summary_is_shown_with_its_first_words_and_the_rest_on_demand(
    alice_client: Client, talk: Session
) -> None:
    """03 BS-22."""
    summary = (
        "## Goal\nKeep the tide table.\n\n" + "A long line of findings.\n\n" * 4_000 + "The very last word."
    )
    fields = {"type": "branch_summary", "fromId": talk.entries.get(seq=4).entry_id, "summary": summary}
    entry = entry_log.append(talk.pk, fields)
    page = alice_client.get(address(talk, "session")).content.decode()
    assert "Branch summary" in page
    assert "Keep the tide table." in page
    assert "The very last word." not in page
    whole = alice_client.get(address(talk, "entry", seq=entry.seq) + "?full=1", headers=HTMX).content.decode()
    assert "The very last word." in whole


def test_going_elsewhere_while_the_agent_works_offers_to_stop_it_or_only_to_look(
    alice: User, alice_client: Client, session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No button is dead meanwhile: versions, going back and undo all ask."""
    first = say(session, "user", "One way")
    say(session, "assistant", "Done")
    run = Run.objects.create(session=session, author=alice)
    go = reverse("navigate", args=[session.key, first.seq])
    for address, facts in ((go, {"tip": "1"}), (go, {"ask": "1"}), (reverse("undo", args=[session.key]), {})):
        answer = alice_client.post(address, facts, headers=HTMX)
        assert answer["HX-Retarget"] == "#dialogs"
        assert "Stop and go here" in answer.content.decode()
        assert "Only look" in answer.content.decode()
    details = reverse("entry_details", args=[session.key, first.seq])
    going = alice_client.get(details, {"part": "going"}, headers=HTMX).content.decode()
    assert 'name="stop" value="1">Stop and go here' in going
    run.refresh_from_db()
    assert run.status == Run.Status.QUEUED
    answer = alice_client.post(go, {"stop": "1", "summarise": "none"}, headers=HTMX)
    assert 'id="transcript"' in answer.content.decode()
    run.refresh_from_db()
    session.refresh_from_db()
    assert (run.status, session.leaf) == (Run.Status.STOPPED, None)
    # A worker that does not let go: it is said.
    Run.objects.create(session=session, author=alice, status=Run.Status.RUNNING, started_at=timezone.now())
    monkeypatch.setattr(navigation, "STOP_SECONDS", 0.0)
    answer = alice_client.post(go, {"stop": "1"}, headers=HTMX)
    assert "still being stopped" in answer.content.decode()
