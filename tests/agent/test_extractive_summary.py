"""A summary by rule: it quotes what matters, says that it does, and loses less than cutting the middle out."""

from __future__ import annotations

from sessions_app.agent.extractive_summary import NOTE, extract
from sessions_app.agent.summarizer import is_blank
from sessions_app.agent.transcript_fitting import trim
from sessions_app.core.messages import Json, user_message
from sessions_app.core.transcript import serialise
from tests.builders import answer, call


def said(text: str, *calls: Json) -> Json:
    return answer(content=[{"type": "text", "text": text}, *calls])


def failed(text: str, name: str = "bash") -> Json:
    content = [{"type": "text", "text": text}]
    return {"role": "toolResult", "toolCallId": "c", "toolName": name, "content": content, "isError": True}


def asked(text: str) -> Json:
    return user_message(text, timestamp=1)


def long_session() -> tuple[list[Json], list[str]]:
    """A conversation of which 20 facts count, spread evenly between talk."""
    messages: list[Json] = []
    facts: list[str] = []
    for number in range(5):
        facts += [f"rule-{number}", f"file-{number}.py", f"fault-{number}", f"reason-{number}"]
        messages += [
            asked(f"Please go on. You must always keep rule-{number} in mind."),
            said("Talk and talk. " * 400),
            said(f"I decided against it because of reason-{number}.", call("edit", path=f"file-{number}.py")),
            failed("Traceback\n" + "  at somewhere\n" * 200 + f"ValueError: fault-{number}"),
            said("Some more talk. " * 400),
        ]
    return [*messages, asked("Do X, then Y, then Z.")], facts


def test_it_says_that_no_model_wrote_it() -> None:
    assert extract([asked("Hello.")]).startswith(NOTE)


def test_it_has_all_sections_in_their_order() -> None:
    text = extract([asked("Build it.")])
    headings = [line for line in text.splitlines() if line.startswith("#")]
    assert headings == [
        "## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress", "### Blocked",
        "## Key Decisions", "## Next Steps", "## Critical Context",
    ]  # fmt: skip
    assert not is_blank(text)


def test_the_newest_request_is_whole() -> None:
    request = "Do X, then Y, then Z. " * 150
    assert request.strip() in extract([asked("Before."), said("Yes."), asked(request)])


def test_it_is_the_same_every_time() -> None:
    messages, _ = long_session()
    assert extract(messages) == extract(messages)


def test_it_keeps_more_than_a_head_and_a_tail_of_the_same_size() -> None:
    messages, facts = long_session()
    summary = extract(messages, units=6_000)
    cut = trim(serialise(messages), len(summary))
    kept = sum(fact in summary for fact in facts)
    assert kept >= 16
    assert kept > 2 * sum(fact in cut for fact in facts)


def test_it_stays_within_its_size() -> None:
    messages = [asked(f"You must never forget number {number}. " * 20) for number in range(500)]
    assert len(extract(messages, units=8_000)) < 16_000


def test_what_was_summed_up_before_goes_along() -> None:
    text = extract([asked("On.")], previous_summary="The mill stands.")
    assert text.endswith("### What was summed up before\nThe mill stands.")


def test_odd_messages_are_no_obstacle() -> None:
    odd: list[Json] = [
        {"role": "assistant", "content": None}, {"role": "toolResult", "isError": True}, {"role": "user"},
        {"role": "assistant", "content": [{"type": "toolCall", "name": "bash", "arguments": [1]}]}, {},
    ]  # fmt: skip
    assert "## Goal\n(none)" in extract(odd)
