"""What a summary must not lose goes with it word for word."""

from __future__ import annotations

import pytest

from sessions_app import entry_log
from sessions_app.models import Pin, Run
from sessions_app.services import compaction
from tests.staging import Stage, assistant, stage, user, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)


def compact(stage: Stage) -> Run:
    return compaction.compact_session(session=stage.session, author=stage.author)


def test_words_that_become_the_newest_again_are_carried_by_the_next_compaction(stage: Stage) -> None:
    """A cut carries what was newest when it was made; leaving that out later brings back the words before it."""
    earlier, _, newest = stage.say(
        user("Do the old thing."), assistant(words(5_000)), user("Do the new thing.")
    )
    stage.say(assistant(words(1_200)))
    stage.carry_out(compact(stage))
    carried = stage.compaction()["summary"].partition("<carried>")[2]
    assert newest.entry_id in carried
    assert earlier.entry_id not in carried
    omission = {"type": "context_edit", "targetId": newest.entry_id, "replacement": None}
    entry_log.append(stage.session.pk, omission, author=stage.author)
    stage.say(assistant(words(2_000)), assistant(words(1_500)))
    stage.carry_out(compact(stage))
    carried = stage.compaction()["summary"].partition("<carried>")[2]
    assert "Do the old thing." in carried
    assert newest.entry_id not in carried


def test_pinned_entries_and_the_newest_request_are_carried_verbatim(stage: Stage) -> None:
    """B14: at most a quarter of the window, built anew by the next compaction."""
    written = stage.say(
        user("Always grind <fine> & slow."), assistant(words(5_000)), user("Do X, then Y, then Z.")
    )
    stage.say(assistant(words(1_200)))
    Pin.objects.create(entry=written[0])
    stage.carry_out(compact(stage))
    summary = stage.compaction()["summary"]
    assert summary.endswith("</carried>")
    carried = summary.partition("<carried>")[2]
    assert "Always grind <fine> & slow." in carried
    assert "Do X, then Y, then Z." in carried
    assert f'<entry id="{written[0].entry_id}" role="user">' in carried
    asked_before = len(stage.asked_summaries)
    stage.say(user("Now W."), assistant(words(1_500)))
    stage.carry_out(compact(stage))
    asked = str([request.messages for request in stage.asked_summaries[asked_before:]])
    assert "<previous-summary>" in asked
    assert "<carried>" not in asked
    second = stage.compaction()["summary"]
    assert second.count("<carried>") == 1
    assert "Always grind" in second
    assert "Now W." in second
    assert "Do X" not in second.partition("<carried>")[2]


def test_a_huge_request_is_carried_with_head_and_tail(stage: Stage) -> None:
    stage.say(user("BEGIN " + words(9_000) + " END"), assistant(words(1_200)))
    stage.carry_out(compact(stage))
    carried = stage.compaction()["summary"].partition("<carried>")[2]
    assert len(carried) < 20_000 + 300
    assert "BEGIN" in carried
    assert "END" in carried
    assert "characters are left out here" in carried


def test_what_was_left_out_is_not_carried(stage: Stage) -> None:
    written = stage.say(
        user("A secret."), assistant(words(5_000)), user("Harmless."), assistant(words(1_200))
    )
    Pin.objects.create(entry=written[0])
    entry_log.append(
        stage.session.pk, {"type": "context_edit", "targetId": written[0].entry_id, "replacement": None}
    )
    stage.session.refresh_from_db()
    stage.carry_out(compact(stage))
    assert "A secret." not in stage.compaction()["summary"]
    assert "Harmless." in stage.compaction()["summary"]
