"""A summary by rule, for when no model can be asked: what a person said, what was done, what failed, what is open."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from sessions_app.core.messages import Json, block_text, text_of, tool_calls_of
from sessions_app.core.tokens import utf16_length
from sessions_app.core.transcript import user_text_of

NOTE = (
    "> This summary was put together by rule, because the model could not take the conversation in. It quotes; "
    "it does not judge.\n\n"
)
_NONE = "(none)"
_RULE = re.compile(
    r"\b(?:must|never|always|don'?t|do\s+not|only|should|prefer|avoid|without|at\s+(?:most|least)|make\s+sure|"
    r"no\s+more|required?|important|instead\s+of|remember)\b",
    re.IGNORECASE,
)
_DECISION = re.compile(
    r"\b(?:decid\w+|chose|choose|because|instead|so\s+that|rather\s+than|we(?:'ll|\s+will)\s+use|went\s+with)\b",
    re.IGNORECASE,
)
_NEXT = re.compile(
    r"^\s*(?:[-*]\s+\[ \]|\d+[.)]\s)|\b(?:next|then\s+i|todo|remaining|left\s+to|still\s+(?:need|have)|will\s+now)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_TRACE = re.compile(r"error|exception|fail|denied|not found|cannot|can't", re.IGNORECASE)
_CHANGING = {"write", "edit"}
_LONGEST_LINE = 300
_LONGEST_REQUEST = 4000


@dataclass(slots=True)
class _Found:
    """What the sections are made of, oldest first."""

    requests: list[str] = field(default_factory=list)
    rules: list[str] = field(default_factory=list)
    changes: list[str] = field(default_factory=list)
    commands: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    steps: list[str] = field(default_factory=list)
    last_words: str = ""


def extract(messages: Sequence[Json], *, previous_summary: str | None = None, units: int = 24_000) -> str:
    """The sections of a compaction summary (02 §5), filled by quoting, within about `units` UTF-16 units.

    The newest request comes whole as long as it has at most 4000 characters. Deterministic.
    """
    found = _look(messages)
    goal = [_cut(found.requests[-1], _LONGEST_REQUEST)] if found.requests else []
    earlier = [_line(text) for text in found.requests[:-1]]
    text = NOTE + "\n\n".join(
        (
            "## Goal\n" + ("\n\n".join(goal) or _NONE),
            _list("## Constraints & Preferences", found.rules, units // 8),
            "## Progress\n"
            + _list("### Done", [*found.changes, *found.commands], units // 6, mark="- [x] ")
            + "\n\n"
            + _list(
                "### In Progress", [_line(found.last_words)] if found.last_words else [], 800, mark="- [ ] "
            )
            + "\n\n"
            + _list("### Blocked", found.errors[-3:], units // 12),
            _list("## Key Decisions", found.decisions, units // 10),
            _numbered("## Next Steps", found.steps[-8:]),
            _list(
                "## Critical Context",
                [*(f"Asked before: {text}" for text in earlier), *found.errors],
                units // 6,
            ),
        )
    )
    if previous_summary:
        room = max(1000, units - utf16_length(text))
        text += "\n\n### What was summed up before\n" + _cut(previous_summary, room)
    return text


def _look(messages: Iterable[Json]) -> _Found:
    found = _Found()
    for message in messages:
        match message.get("role"):
            case "assistant":
                _look_at_answer(message, found)
            case "toolResult":
                text = text_of(message.get("content"))
                if message.get("isError"):
                    found.errors.append(
                        f"{block_text(message, 'toolName') or 'A tool'}: {_first_error(text)}"
                    )
            case "user" | "custom" | "bashExecution":
                text = user_text_of(message).strip()
                if text:
                    found.requests.append(text)
                    found.rules.extend(_sentences(text, _RULE))
            case "branchSummary" | "compactionSummary":
                found.rules.extend(_sentences(block_text(message, "summary"), _RULE))
    for name in ("rules", "changes", "commands", "errors", "decisions", "steps"):
        setattr(found, name, _newest_of_each(getattr(found, name)))
    return found


def _look_at_answer(message: Json, found: _Found) -> None:
    text = text_of(message.get("content"), "\n").strip()
    if message.get("stopReason") == "error" and message.get("errorMessage"):
        found.errors.append(_line(str(message["errorMessage"])))
    if text:
        found.last_words = text
        found.decisions.extend(_sentences(text, _DECISION))
        found.steps.extend(_sentences(text, _NEXT))
    for call in tool_calls_of(message):
        arguments = call.get("arguments")
        arguments = arguments if isinstance(arguments, dict) else {}
        if call.get("name") in _CHANGING and isinstance(arguments.get("path"), str):
            found.changes.append(f"{call['name']}: {arguments['path']}")
        elif call.get("name") == "bash" and isinstance(arguments.get("command"), str):
            found.commands.append(f"ran `{_line(arguments['command'])}`")


def _sentences(text: str, pattern: re.Pattern[str]) -> Iterator[str]:
    for sentence in _SENTENCE.split(text):
        if pattern.search(sentence) and len(sentence) > 8:
            yield _line(sentence.strip("-*# \t"))


def _first_error(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    telling = next(
        (line for line in reversed(lines) if _TRACE.search(line)), lines[-1] if lines else "no output"
    )
    return _line(telling)


def _newest_of_each(lines: list[str]) -> list[str]:
    """Without repetitions: the last of equal ones stays."""
    seen: dict[str, None] = {}
    for line in reversed(lines):
        seen.setdefault(line, None)
    return list(reversed(seen))


def _list(heading: str, lines: Sequence[str], units: int, *, mark: str = "- ") -> str:
    """The newest lines that fit, in order."""
    kept: list[str] = []
    used = 0
    for line in reversed(lines):
        used += utf16_length(line) + len(mark) + 1
        if used > units and kept:
            kept.append(f"({len(lines) - len(kept)} older ones are left out)")
            break
        kept.append(line)
    body = "\n".join(mark + line for line in reversed(kept))
    return f"{heading}\n{body or mark + _NONE}"


def _numbered(heading: str, lines: Sequence[str]) -> str:
    body = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, start=1))
    return f"{heading}\n{body or '1. ' + _NONE}"


def _line(text: str) -> str:
    return _cut(" ".join(text.split()), _LONGEST_LINE)


def _cut(text: str, length: int) -> str:
    """Head and tail, with what is missing between them said."""
    if len(text) <= length:
        return text
    half = max(20, length // 2 - 20)
    return f"{text[:half]} [… {len(text) - 2 * half} characters …] {text[-half:]}"
