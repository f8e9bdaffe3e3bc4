"""One tool call as one card: what was asked, what came back, and the one line that says both."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from sessions_app.core.messages import blocks_of, number_of, text_of
from sessions_app.fragments import wording
from sessions_app.fragments.diffs import Diff, Piece, parse_patch
from sessions_app.fragments.plain_text import MAX_SCANNED, Excerpt, excerpt, one_line, visible

Json = dict[str, Any]

# As test runners, compilers and interpreters begin such lines.
_SAYS_WHAT_FAILED = re.compile(
    r"E {2,}|FAILED\b|ERROR\b|FAIL:|--- FAIL|panic:|(?:[\w./-]{1,200}:\d+:(?:\d+:)? )?(?:fatal )?[Ee]rror\b|[\w.]{1,80}(?:Error|Exception):"
)
_EXIT_CODE = re.compile(r"exited with code (\d{1,6})")

OUTPUT_LINES = 16
"""Lines of an output on the page; the rest comes with *Show all*."""
ALL_LINES = 4_000
LIVE_LINES = 8
OPEN_DIFF_ROWS = 40
SHOWN_IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})

_ICONS = {
    "read": "file",
    "write": "write",
    "edit": "edit",
    "bash": "shell",
    "grep": "search",
    "find": "search",
    "ls": "folder",
}
# Tools whose output ends with what matters; of all others the beginning is shown.
_TAIL_TOOLS = frozenset({"bash"})
# Arguments that the card shows in a better way: in its line, or as a diff.
_SHOWN_ELSEWHERE = {
    "read": {"path", "offset", "limit"},
    "write": {"path"},
    "edit": {"path", "edits", "oldText", "newText"},
    "bash": {"command", "timeout"},
    "ls": {"path"},
}


@dataclass(frozen=True, slots=True)
class Chip:
    """A short word on a wash; `tone` is `bad`, `warn`, `ok` or empty."""

    text: str
    tone: str = ""


@dataclass(frozen=True, slots=True)
class FullOutput:
    """A download of everything a command wrote."""

    sha: str
    size: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image block: kept as a blob (`sha`), or inside the entry at position `index` of its content."""

    index: int
    sha: str = ""


@dataclass(frozen=True, slots=True)
class Card:
    """Everything the template of a card shows. `state` is `done`, `failed`, `stopped`, `running`, `ended` (its result
    is not stored yet), `asking` (may it be carried out?) or `open` (a call that has no result)."""

    name: str
    icon: str
    argument: str
    state: str
    chips: tuple[Chip, ...] = ()
    facts: tuple[str, ...] = ()
    failure: str = ""
    arguments: tuple[tuple[str, Excerpt], ...] = ()
    command: str = ""
    output: Excerpt | None = None
    diff: Diff | None = None
    images: tuple[Image, ...] = ()
    notes: tuple[str, ...] = ()
    full_output: FullOutput | None = None
    is_open: bool = False
    more: bool = False
    since: str = ""

    @property
    def output_pieces(self) -> tuple[Piece, ...]:
        """The output; of a failed command the lines that say what went wrong are marked."""
        text = self.output.text if self.output else ""
        if self.state != "failed" or self.name not in _TAIL_TOOLS:
            return (Piece(text),)
        lines = text.splitlines(keepends=True)
        stretches = groupby(lines, lambda line: _SAYS_WHAT_FAILED.match(line) is not None)
        return tuple(Piece("".join(stretch), marked) for marked, stretch in stretches)

    @property
    def title(self) -> str:
        """What the card is, for its article's name."""
        word = {
            "failed": ", failed",
            "stopped": ", stopped",
            "running": ", running",
            "open": ", no result",
            "asking": ", waits for an answer",
        }
        return f"Tool {self.name}{word.get(self.state, '')}"


def result_card(message: Json, call: Json | None, *, full: bool = False) -> Card:
    """The card of a stored tool result; `call` is the tool call it answers, if it is known."""
    card = _call_card(message.get("toolName"), call, "done", full=full)
    details = message.get("details")
    details = details if isinstance(details, dict) else {}
    failed = message.get("isError") is True
    text = text_of(message.get("content"), "\n")
    tail = card.name in _TAIL_TOOLS
    output = excerpt(text, ALL_LINES if full else OUTPUT_LINES, tail=tail) if text.strip() else None
    diff = _diff_of(details, full, card.argument)
    if diff is not None and not failed:
        output = None
    state, chips, failure = _outcome(card.name, failed, details, text)
    images = images_of(message.get("content"))
    # What can be taken in at a glance is not hidden behind a line.
    at_a_glance = bool(images) or (diff is not None and len(diff.rows) <= OPEN_DIFF_ROWS)
    return replace(
        card,
        state=state,
        # What was written is in the diff.
        arguments=() if diff is not None and card.name == "write" else card.arguments,
        chips=chips,
        failure=failure,
        facts=_facts(card.name, call, details, message, output),
        output=output,
        diff=diff,
        images=images,
        notes=_notes(details),
        full_output=_full_output(details),
        is_open=full or state == "failed" or at_a_glance,
        more=not full and ((output is not None and output.cut) or (diff is not None and diff.hidden > 0)),
    )


def running_card(call: Json, *, tail: str = "", ended: bool = False, since: str = "") -> Card:
    """A call whose tool is at work, or has ended while others of its batch have not; `tail` is its output so far,
    of which the last lines are shown; `since` is the ISO time it began, where that is known."""
    card = _call_card(call.get("name"), call, "ended" if ended else "running")
    output = excerpt(tail, LIVE_LINES, tail=True) if tail else None
    return replace(card, output=output, is_open=True, since="" if ended else since)


def asking_card(call: Json, preview: Json) -> Card:
    """A call that a person has to allow; `preview` are the details its result would have."""
    card = _call_card(call.get("name"), call, "asking", full=True)
    diff = _diff_of(preview, full=False, path=card.argument)
    return replace(
        card,
        arguments=() if diff is not None else card.arguments,
        diff=diff,
        is_open=True,
    )


def open_card(call: Json) -> Card:
    """A call that never got a result."""
    return _call_card(call.get("name"), call, "open")


def command_card(message: Json, *, full: bool = False) -> Card:
    """A person's own `!` command (05 §8)."""
    command = _text(message.get("command"))
    text = _text(message.get("output"))
    output = excerpt(text, ALL_LINES if full else OUTPUT_LINES, tail=True) if text.strip() else None
    chips: list[Chip] = []
    code = number_of(message.get("exitCode"))
    if code:
        chips.append(Chip(f"exit {code}", "bad"))
    if message.get("excludeFromContext") is True:
        chips.append(Chip("not told to the model"))
    state = "stopped" if message.get("cancelled") is True else "failed" if code else "done"
    return Card(
        name="!",
        icon="shell",
        argument=one_line(command),
        state=state,
        chips=tuple(chips),
        failure="Stopped" if state == "stopped" else "",
        command=visible(command[:MAX_SCANNED]) if "\n" in command.strip() or len(command) > 100 else "",
        output=output,
        notes=_command_notes(message),
        full_output=_full_output(_object(message.get("details"))),
        is_open=state == "failed" or full,
        more=not full and output is not None and output.cut,
    )


def running_command_card(command: str, tail: str, *, excluded: bool) -> Card:
    """A person's own command that has not ended; `tail` is what it has printed so far."""
    return Card(
        name="!",
        icon="shell",
        argument=one_line(command),
        state="running",
        chips=(Chip("not told to the model"),) if excluded else (),
        output=excerpt(tail, LIVE_LINES, tail=True) if tail else None,
        is_open=True,
    )


def _call_card(name: Any, call: Json | None, state: str, *, full: bool = False) -> Card:
    tool = one_line(_text(name) or _text((call or {}).get("name")) or "tool", 60)
    arguments = (call or {}).get("arguments")
    arguments = arguments if isinstance(arguments, dict) else {}
    command = _text(arguments.get("command")) if tool == "bash" else ""
    return Card(
        name=tool,
        icon=_ICONS.get(tool, ""),
        argument=_main_argument(tool, arguments),
        state=state,
        arguments=tuple(_other_arguments(tool, arguments, full)),
        command=visible(command[:MAX_SCANNED]) if "\n" in command.strip() or len(command) > 100 else "",
    )


def _main_argument(tool: str, arguments: Json) -> str:
    match tool:
        case "bash":
            return one_line(_text(arguments.get("command")))
        case "grep" | "find":
            place = _text(arguments.get("path"))
            pattern = one_line(_text(arguments.get("pattern")), 120)
            return f"{pattern} in {one_line(place, 120)}" if place else pattern
        case "ls":
            return one_line(_text(arguments.get("path")) or ".")
    if path := _text(arguments.get("path")):
        return one_line(path)
    first = next((value for value in arguments.values() if isinstance(value, str) and value), "")
    return one_line(first)


def _other_arguments(tool: str, arguments: Json, full: bool) -> list[tuple[str, Excerpt]]:
    hidden = _SHOWN_ELSEWHERE.get(tool, set())
    lines = ALL_LINES if full else OUTPUT_LINES
    return [
        (one_line(str(name), 60), excerpt(value if isinstance(value, str) else pretty(value), lines))
        for name, value in list(arguments.items())[:40]
        if name not in hidden
    ]


def pretty(value: Any) -> str:
    """Any stored value as readable JSON."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)


def _outcome(tool: str, failed: bool, details: Json, text: str) -> tuple[str, tuple[Chip, ...], str]:
    """State, chips and the words in the row. How a command ended is said in its last line."""
    last = text.rstrip()[-300:].rpartition("\n")[2]
    if failed and ("was stopped" in last or last.startswith("Stopped before")):
        return "stopped", (), "Stopped"
    code = number_of(details.get("exitCode"))
    if code is None and failed and (match := _EXIT_CODE.search(last)):
        code = int(match[1])
    chips: list[Chip] = []
    if code:
        chips.append(Chip(f"exit {code}", "bad"))
    if "its time was up" in last:
        chips = [Chip("time was up", "bad")]
    if not failed:
        return "done", tuple(chips), ""
    # A command's output is shown below; of other tools the first sentence is the whole story.
    failure = "" if chips else one_line(text, 90) if tool not in _TAIL_TOOLS else "failed"
    return "failed", tuple(chips), failure


def _facts(
    tool: str, call: Json | None, details: Json, message: Json, output: Excerpt | None
) -> tuple[str, ...]:
    facts: list[str] = []
    arguments = (call or {}).get("arguments")
    if tool == "read" and isinstance(arguments, dict):
        start = number_of(arguments.get("offset"))
        count = number_of(arguments.get("limit"))
        if start and count:
            facts.append(f"lines {start}–{start + count - 1}")
        elif start:
            facts.append(f"from line {start}")
    if tool in {"grep", "find", "ls"} and output is not None and message.get("isError") is not True:
        facts.append(wording.plural(output.total, "line"))
    # Less than a millisecond says nothing to a person.
    if took := number_of(message.get("durationMs")):
        facts.append(wording.duration(took))
    return tuple(facts)


def _diff_of(details: Json, full: bool, path: str) -> Diff | None:
    # Our own tools keep the patch in `diff`; the reference keeps it in `patch`, and numbered lines in `diff`.
    patch = _text(details.get("patch")) or _text(details.get("diff"))
    if "@@ " not in patch:
        return None
    name = path.rpartition("/")[2]
    diff = parse_patch(visible(patch[: MAX_SCANNED * 4]), 20_000 if full else 400, name=name)
    return diff if diff.rows else None


def _notes(details: Json) -> tuple[str, ...]:
    truncation = details.get("truncation")
    if not isinstance(truncation, dict) or truncation.get("truncated") is not True:
        return ()
    total = number_of(truncation.get("totalLines"))
    kept = number_of(truncation.get("outputLines"))
    if total is None or kept is None:
        return ("The model was given a shortened output.",)
    return (f"The model was given {kept:,} of {total:,} lines.",)


def _command_notes(message: Json) -> tuple[str, ...]:
    if message.get("truncated") is not True:
        return ()
    return _notes(_object(message.get("details"))) or ("The output was shortened.",)


def _object(value: Any) -> Json:
    return value if isinstance(value, dict) else {}


def _full_output(details: Json) -> FullOutput | None:
    kept = details.get("fullOutput")
    if not isinstance(kept, dict) or not _is_sha(kept.get("sha256")):
        return None
    return FullOutput(kept["sha256"], wording.size(number_of(kept.get("size")) or 0))


def images_of(content: Any) -> tuple[Image, ...]:
    """The image blocks that a browser may show; of other types only the text around them is shown."""
    found: list[Image] = []
    for index, block in enumerate(blocks_of(content)):
        if block.get("type") != "image" or block.get("mimeType") not in SHOWN_IMAGES:
            continue
        if _is_sha(block.get("blob")):
            found.append(Image(index, block["blob"]))
        elif block.get("data"):
            found.append(Image(index))
    return tuple(found)


def _is_sha(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 64 and value.isalnum()


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
