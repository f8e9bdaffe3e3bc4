"""Each kind of entry as an article: what it says, and that nothing foreign gets through."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth.models import User

from sessions_app import entry_log, fragments
from sessions_app.fragments import context_meter
from sessions_app.models import Entry, Session

Append = Callable[[dict[str, Any]], Entry]
TIME = 1_793_000_000_000


@pytest.fixture
def append(session: Session) -> Append:
    return lambda fields: entry_log.append(session.pk, fields)


def message(role: str, **fields: Any) -> dict[str, Any]:
    return {"type": "message", "message": {"role": role, "timestamp": TIME, **fields}}


def answer(*content: dict[str, Any], stop: str = "stop", **fields: Any) -> dict[str, Any]:
    return message(
        "assistant", content=list(content), provider="demo", model="demo", stopReason=stop, **fields
    )


def call(name: str, identity: str = "c1", **arguments: Any) -> dict[str, Any]:
    return {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}


def result(
    name: str, text: str, identity: str = "c1", *, failed: bool = False, **fields: Any
) -> dict[str, Any]:
    content = [{"type": "text", "text": text}]
    return message(
        "toolResult", toolCallId=identity, toolName=name, content=content, isError=failed, **fields
    )


def text(words: str) -> dict[str, Any]:
    return {"type": "text", "text": words}


def test_a_user_message_is_an_article_named_by_its_author_and_time(append: Append, alice: User) -> None:
    entry = append(message("user", content="Fix `slots.py` first."))
    html = fragments.render_entry(entry, user=alice)
    assert f'id="entry-{entry.seq}"' in html
    assert f'data-seq="{entry.seq}"' in html
    assert 'aria-label="You, ' in html
    assert "Fix <code>slots.py</code> first." in html


def test_somebody_elses_message_carries_their_name(session: Session, alice: User, bob: User) -> None:
    entry = entry_log.append(session.pk, message("user", content="Hello"), author=bob)
    assert 'aria-label="bob, ' in fragments.render_entry(entry, user=alice)
    assert 'aria-label="You, ' in fragments.render_entry(entry, user=bob)


def test_an_answer_shows_its_thinking_folded_and_its_text_as_markdown(append: Append, alice: User) -> None:
    thought = {"type": "thinking", "thinking": "The repeated hour\nneeds fold.", "durationMs": 11_000}
    html = fragments.render_entry(append(answer(thought, text("**Done** in `overlaps()`."))), user=alice)
    assert "Thought for 11 s" in html
    assert "The repeated hour needs fold." in html
    assert "<strong>Done</strong>" in html
    assert "<bdi>Demo model</bdi>" in html


def test_a_result_is_the_card_of_its_call(append: Append, alice: User) -> None:
    append(answer(call("bash", command="pytest -q tests/test_slots.py"), stop="toolUse"))
    done = append(result("bash", "1 failed", failed=True, details={"exitCode": 1}, durationMs=2100))
    html = fragments.render_entry(done, user=alice)
    assert "pytest -q tests/test_slots.py" in html
    assert "exit 1" in html
    assert "2.1 s" in html
    assert '<details class="tool tool--failed" open>' in html


def test_a_result_alone_looks_as_it_does_in_a_list(append: Append, alice: User) -> None:
    entries = [
        append(message("user", content="Look.")),
        append(answer(call("read", "a", path="a.py"), call("read", "b", path="b.py"), stop="toolUse")),
        append(result("read", "A", "a")),
        append(result("read", "B", "b")),
    ]
    together = fragments.render_entries(entries, user=alice)
    assert together == "".join(fragments.render_entry(entry, user=alice) for entry in entries)


def test_a_call_the_conversation_went_past_is_shown_without_a_result(append: Append, alice: User) -> None:
    entries = [append(answer(call("read", path="lost.py"))), append(message("user", content="Never mind."))]
    html = fragments.render_entries(entries, user=alice)
    assert "lost.py" in html
    assert "no result" in html


def test_calls_at_the_end_of_the_path_are_open(append: Append) -> None:
    entries = [
        append(answer(call("read", "a", path="a.py"), call("read", "b", path="b.py"), stop="toolUse")),
        append(result("read", "A", "a")),
    ]
    assert [open_call["id"] for open_call in fragments.open_calls(entries)] == ["b"]


def test_an_edit_is_a_diff_with_line_numbers_and_marked_words(append: Append, alice: User) -> None:
    patch = "--- a.py\n+++ a.py\n@@ -60,2 +60,2 @@\n def overlaps():\n-    return start < end\n+    return begin < end\n"
    append(answer(call("edit", path="a.py", edits=[{"oldText": "start", "newText": "begin"}])))
    html = fragments.render_entry(append(result("edit", "Changed", details={"diff": patch})), user=alice)
    assert '<span class="plus">+1</span><span class="minus">−1</span>' in html
    assert "<mark>start</mark>" in html
    assert "<mark>begin</mark>" in html
    assert '<span class="diff__no">61</span>' in html


def test_a_long_diff_folds_and_says_how_much(append: Append, alice: User) -> None:
    lines = "".join(f"+line {number}\n" for number in range(1000))
    append(answer(call("write", path="a.py", content="…")))
    done = append(result("write", "Wrote", details={"diff": f"--- a\n+++ a\n@@ -0,0 +1,1000 @@\n{lines}"}))
    html = fragments.render_entry(done, user=alice)
    assert html.count("diff__row--add") == 400
    assert "600 more lines" in html
    assert fragments.render_entry(done, user=alice, full=True).count("diff__row--add") == 1000


def test_long_output_shows_its_end_and_offers_the_rest(append: Append, alice: User) -> None:
    append(answer(call("bash", command="seq 500")))
    done = append(result("bash", "\n".join(f"n{number}" for number in range(500))))
    html = fragments.render_entry(done, user=alice)
    assert "Last 16 of 500 lines" in html
    assert "n499" in html
    assert "n483\n" not in html
    assert "?full=1" in html


def test_a_failed_answer_says_what_was_kept_and_offers_to_continue(append: Append, alice: User) -> None:
    failed = append(answer(text("The first"), stop="error", errorMessage="Overloaded\ntrace id 7"))
    html = fragments.render_entry(failed, user=alice)
    assert "Overloaded" in html
    assert "What had arrived is kept." in html
    assert ">Continue<" in html.replace("</svg>Continue", ">Continue")


def test_a_stopped_answer_says_by_whom_and_after_how_long(
    session: Session, append: Append, alice: User
) -> None:
    run = session.runs.create(author=alice, stop_author=alice, status="stopped")
    asked = append(message("user", content="Go"))
    stopped = entry_log.append(session.pk, answer(text("The"), stop="aborted"), run=run)
    stopped.payload = stopped.payload.replace(stopped.record["timestamp"], "2026-11-30T10:00:04.000Z")
    stopped.parent = asked
    asked.payload = asked.payload.replace(asked.record["timestamp"], "2026-11-30T10:00:00.000Z")
    assert "Stopped by you after 4 s" in fragments.render_entry(stopped, user=alice)


def test_what_was_written_is_shown_once(append: Append, alice: User) -> None:
    append(answer(call("write", path="a.md", content="Only once"), stop="toolUse"))
    done = append(result("write", "Wrote", details={"diff": "--- a\n+++ a\n@@ -0,0 +1 @@\n+Only once\n"}))
    assert fragments.render_entry(done, user=alice).count("Only once") == 1


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        ("half\n\nThe command was stopped.", "Stopped"),
        ("half\n\nThe command was ended after 5 s: its time was up.", "time was up"),
        ("half\n\nCommand exited with code 3", "exit 3"),
    ],
)
def test_the_row_of_a_command_says_how_it_ended(append: Append, alice: User, words: str, shown: str) -> None:
    append(answer(call("bash", command="make"), stop="toolUse"))
    html = fragments.render_entry(append(result("bash", words, failed=True)), user=alice)
    assert shown in html.partition("</summary>")[0]


def test_a_compaction_tells_what_it_folded(append: Append, alice: User) -> None:
    append(message("user", content="One"))
    append(answer(text("Two")))
    kept = append(message("user", content="Three"))
    entry = append(
        {
            "type": "compaction",
            "summary": "## Goal\nShip",
            "firstKeptEntryId": kept.entry_id,
            "tokensBefore": 141_200,
        }
    )
    html = fragments.render_entry(entry, user=alice)
    assert "2 entries" in html
    assert "141.2k tokens before" in html
    assert "Ship" in html


def test_a_branch_summary_leads_back_to_its_branch(append: Append, alice: User) -> None:
    left = append(message("user", content="One"))
    entry = append({"type": "branch_summary", "summary": "Left it.", "fromId": left.entry_id})
    html = fragments.render_entry(entry, user=alice)
    assert "Open branch" in html
    assert f"/entries/{left.seq}/go/" in html


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"type": "label", "targetId": "x", "label": "worked"}, "Labelled “worked”"),
        ({"type": "session_info", "name": "Clock change"}, "Named “Clock change”"),
        ({"type": "model_change", "provider": "demo", "modelId": "demo"}, "Model: Demo model"),
        ({"type": "model_change", "provider": "there", "modelId": "tide-3"}, "Model: tide-3 · there"),
        ({"type": "thinking_level_change", "thinkingLevel": "high"}, "Thinking: high"),
        ({"type": "context_edit", "targetId": "x", "replacement": None}, "left out of what the model sees"),
        ({"type": "usage", "kind": "cache_warm", "usage": {"input": 1200}}, "Cache warm · 1.2k tokens"),
        ({"type": "custom", "customType": "notes", "data": {"a": 1}}, "Kept for an extension: notes"),
        (
            {"type": "custom_message", "customType": "todo", "content": "Three left", "display": True},
            "Three left",
        ),
        (
            {"type": "custom_message", "customType": "todo", "content": "Hidden", "display": False},
            "Told to the model by todo",
        ),
        ({"type": "hologram", "depth": 3}, "kept as it came"),
        (
            message("system", content="Be brief.", toolsAdded=[{"name": "read"}]),
            "Instructions to the model and 1 tool",
        ),
        (
            message("bashExecution", command="ls", output="a", exitCode=0, excludeFromContext=True),
            "not told to the model",
        ),
        (message("oracle", content="?"), "kept as it came"),
    ],
)
def test_every_kind_has_a_row(append: Append, alice: User, fields: dict[str, Any], words: str) -> None:
    html = fragments.render_entry(append(fields), user=alice)
    assert words in html
    assert html.strip().startswith("<article")


@pytest.mark.parametrize(
    "fields",
    [
        {"type": "message"},
        {"type": "message", "message": 7},
        message("user", content=None),
        message("user", content=[7, {"type": "text"}, {"type": "image", "data": 3}]),
        message("assistant", content="bare", usage=[1], model=None),
        message("toolResult", toolCallId=["x"], content=None, details="odd", durationMs="long"),
        message("bashExecution", command=None, output=3, exitCode="x"),
        {"type": "compaction", "summary": 3, "firstKeptEntryId": 9, "usage": "x", "details": [1]},
        {"type": "branch_summary", "fromId": None, "details": {"readFiles": "x"}},
        {"type": "label", "targetId": {}},
        {"type": "custom_message", "content": {"a": 1}},
        {"type": "context_edit", "replacement": 4},
    ],
)
def test_malformed_records_of_other_programs_still_give_an_article(
    append: Append, alice: User, fields: dict[str, Any]
) -> None:
    assert fragments.render_entry(append(fields), user=alice).strip().startswith("<article")


HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(1)><a hx-get='/logout/'>\u202egnp\x1b[31m\x07"


@pytest.mark.parametrize(
    "fields",
    [
        message("user", content=HOSTILE),
        answer(text(HOSTILE), {"type": "thinking", "thinking": HOSTILE}, model_=HOSTILE),
        answer(text("x"), stop="error", errorMessage=f"{HOSTILE}\n{HOSTILE}"),
        result(
            HOSTILE,
            HOSTILE,
            failed=True,
            details={"diff": f"@@ -1 +1 @@\n-{HOSTILE}\n+{HOSTILE}", "exitCode": 1},
        ),
        message("bashExecution", command=HOSTILE, output=HOSTILE, exitCode=1),
        message("system", content=HOSTILE),
        {
            "type": "compaction",
            "summary": HOSTILE,
            "firstKeptEntryId": HOSTILE,
            "details": {"readFiles": [HOSTILE]},
        },
        {
            "type": "branch_summary",
            "summary": HOSTILE,
            "fromId": HOSTILE,
            "details": {"modifiedFiles": [HOSTILE]},
        },
        {"type": "label", "targetId": HOSTILE, "label": HOSTILE},
        {"type": "session_info", "name": HOSTILE},
        {"type": "model_change", "provider": HOSTILE, "modelId": HOSTILE},
        {"type": "custom", "customType": HOSTILE, "data": {HOSTILE: HOSTILE}},
        {"type": "custom_message", "customType": HOSTILE, "content": HOSTILE},
        {"type": HOSTILE, HOSTILE: HOSTILE},
    ],
)
def test_nothing_foreign_is_markup(append: Append, alice: User, fields: dict[str, Any]) -> None:
    html = fragments.render_entry(append(fields), user=alice)
    assert "<script" not in html
    assert "<img src=x" not in html
    assert "<a hx-get='/logout/'" not in html
    assert "\x1b" not in html
    assert "\u202e" not in html


def test_a_line_of_ten_megabytes_does_not_reach_the_page(append: Append, alice: User) -> None:
    huge = "x" * 10_000_000
    entries = [
        append(message("user", content=huge)),
        append(answer(text(huge), call("bash", command=huge))),
        append(result("bash", huge)),
    ]
    assert len(fragments.render_entries(entries, user=alice)) < 300_000


def test_a_viewer_gets_no_actions_that_change_anything(append: Append, workspace: Any, charlie: User) -> None:
    workspace.memberships.create(user=charlie, role="viewer")
    html = fragments.render_entry(append(message("user", content="Hello")), user=charlie)
    assert "hx-post" not in html
    assert 'data-act="copy"' in html


def test_siblings_get_a_switch(append: Append, session: Session, alice: User) -> None:
    root = append(message("user", content="Root"))
    first = append(answer(text("First")))
    session.refresh_from_db()
    entry_log.move_leaf(session, root)
    second = append(answer(text("Second")))
    html = fragments.render_entry(second, user=alice)
    assert "2/2" in html
    assert f"/entries/{first.seq}/go/" in html
    assert ", version 2 of 2" in html


def test_a_label_stands_beside_the_name(append: Append, alice: User) -> None:
    entry = append(message("user", content="Root"))
    append({"type": "label", "targetId": entry.entry_id, "label": "start here"})
    assert "<bdi>start here</bdi>" in fragments.render_entry(entry, user=alice)


def test_live_slots_are_numbered_by_block() -> None:
    block = fragments.LiveBlock(0, "text", stable="<p>One</p>", tail="<p>Tw</p>")
    html = fragments.render_live_message(fragments.LiveMessage("m1", "demo", (block,)))
    assert 'data-live="m1"' in html
    assert 'data-block="0"' in html
    assert '<div class="stable"><p>One</p></div><div class="tail"><p>Tw</p></div>' in html


def test_a_running_tool_shows_the_last_lines_of_its_output() -> None:
    output = "\n".join(str(number) for number in range(50))
    html = fragments.render_tool_running(call("bash", command="seq 50"), tail=output)
    assert 'data-call="c1"' in html
    assert "42\n43" in html
    assert "\n41\n" not in html


def test_a_diff_is_coloured_as_its_language_and_changed_words_stay_marked(
    append: Append, alice: User
) -> None:
    append(answer(call("edit", path="slots.py"), stop="toolUse"))
    patch = '--- a\n+++ a\n@@ -1,3 +1,3 @@\n """Opened\n-still words import x\n+still words import y\n """\n'
    html = fragments.render_entry(append(result("edit", "Changed", details={"diff": patch})), user=alice)
    assert '<span class="code-str">"""Opened</span>'.replace('"""', "&quot;&quot;&quot;") in html
    assert '<mark class="code-str">y</mark>' in html
    assert "code-key" not in html, "a keyword inside a string is no keyword"


def test_an_attempt_that_was_made_again_takes_one_row_and_offers_nothing(
    append: Append, session: Session, alice: User
) -> None:
    append(message("user", content="Go."))
    failed = append(answer(stop="error", errorMessage="529 overloaded."))
    assert "Branch before it" in fragments.render_entry(failed, user=alice)
    edit = append({"type": "context_edit", "targetId": failed.entry_id, "replacement": None})
    assert "entry--bare" in fragments.render_entry(edit, user=alice)
    append(answer(text("Here it is.")))
    session.refresh_from_db()
    html = fragments.render_entry(Entry.objects.get(pk=failed.pk), user=alice)
    assert "529 overloaded. The model is not told of this attempt." in html
    assert "notice--bad" not in html


def test_a_part_of_the_context_can_be_seen_however_small_it_is(append: Append, session: Session) -> None:
    append(message("user", content="Short."))
    append(answer(text("Yes."), usage={"input": 20, "output": 5, "totalTokens": 25}))
    session.refresh_from_db()
    meter = context_meter.measure(session)
    part = next(part for part in meter.parts if part.name == "messages")
    assert meter.tokens == 25
    assert part.width >= context_meter.NARROWEST > part.tokens / meter.window * context_meter.WIDTH
    assert meter.free == meter.window - 25


def test_the_lines_that_say_what_failed_stand_out_in_the_output_of_a_failed_command(
    append: Append, alice: User
) -> None:
    told = "..F\n>   assert a == b\nE   AssertionError: 1 != <2>\nFAILED tests/a.py\n1 failed\n"
    failed = append(result("bash", told, failed=True, details={"exitCode": 1}))
    html = fragments.render_entry(failed, user=alice)
    assert '<span class="bad">E   AssertionError: 1 != &lt;2&gt;\nFAILED tests/a.py\n</span>1 failed' in html
    worked = append(result("bash", told, "c2"))
    assert 'class="bad"' not in fragments.render_entry(worked, user=alice)
