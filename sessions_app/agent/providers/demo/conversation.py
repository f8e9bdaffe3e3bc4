"""What the demo model remembers: the conversation cut into spans, each a request with its turns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from sessions_app.agent.providers.demo.script import Call, Json, Outcome
from sessions_app.agent.providers.demo.words import looks_like_path

STATEMENT = "Demo model, offline: a script, not an AI."

_ADDITIVE = re.compile(
    r"\s*(?:also|and|plus|additionally|after that|afterwards|then|auch|außerdem|aussi|también)\b", re.I
)
_ATTACHED = re.compile(r"<(file|skill)\b([^>]*)>.*?</\1>", re.S)
_ATTACHED_NAME = re.compile(r"""(?:name|path)=["']([^"']+)["']""")
_SUMMARY = re.compile(r"<summary>(.*?)</summary>\s*$", re.S)
#: What the request guard writes in place of an image for a model that takes text only.
_LEFT_OUT = re.compile(r"\(An (?:older )?image was left out: [^)]*\)")
_OPEN_BOX = re.compile(r"^- \[ \] (.+)$", re.M)
_ORIGINAL = re.compile(r"^## Original Request\s*\n+(.+?)(?=\n## |\Z)", re.M | re.S)
_LINKED = re.compile(r"\]\(<?([^)>#\s]+)(?:#L\d+)?>?\)|`([^`\n]+)`")


@dataclass(slots=True)
class Turn:
    """One answer and the results of its calls."""

    text: str
    calls: list[Call] = field(default_factory=list)
    outcomes: list[Outcome | None] = field(default_factory=list)


@dataclass(slots=True)
class Span:
    """One request of the person and what followed."""

    request: str
    images: int = 0
    turns: list[Turn] = field(default_factory=list)

    @property
    def finished(self) -> bool:
        return bool(self.turns) and not self.turns[-1].calls

    @property
    def answer(self) -> str:
        return self.turns[-1].text if self.turns else ""

    def results(self) -> list[tuple[Call, Outcome]]:
        return [
            (call, outcome)
            for turn in self.turns
            for call, outcome in zip(turn.calls, turn.outcomes, strict=True)
            if outcome is not None
        ]


@dataclass(frozen=True, slots=True)
class Now:
    """What is to be done now: the requests, what has been done for them, and what was left unfinished."""

    requests: tuple[str, ...]
    images: int
    recorded: tuple[tuple[Call, Outcome], ...]
    turns: int
    before: tuple[Span, ...]
    left_aside: str = ""
    fresh: bool = True  # nothing has been answered since the newest message


def text_of(content: object) -> str:
    """The text blocks of a message's content, one after the other."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [
        str(block.get("text") or "")
        for block in content
        if isinstance(block, dict) and block.get("type") == "text"
    ]
    return texts[0] if len(texts) == 1 else "\n".join(texts)


def spans_of(messages: Sequence[Json]) -> list[Span]:
    """Cut the conversation at the person's messages. Summaries and `!` commands are not requests."""
    spans: list[Span] = []
    places: dict[str, tuple[Turn, int]] = {}
    for message in messages:
        role, content = message.get("role"), message.get("content")
        if role == "user":
            text = text_of(content)
            summary = _SUMMARY.search(text)
            if summary is not None:
                spans.extend(Span(request) for request in _open_requests(summary.group(1)))
            elif not text.startswith("Ran `"):
                spans.append(Span(_own_words(text), _images(content)))
        elif role == "assistant":
            if not spans:
                spans.append(Span(""))
            turn = Turn(text_of(content))
            for block in content if isinstance(content, list) else []:
                if isinstance(block, dict) and block.get("type") == "toolCall":
                    places[str(block.get("id"))] = (turn, len(turn.calls))
                    turn.calls.append(Call(str(block.get("name")), dict(block.get("arguments") or {})))
                    turn.outcomes.append(None)
            spans[-1].turns.append(turn)
        elif role == "toolResult" and str(message.get("toolCallId")) in places:
            turn, place = places[str(message.get("toolCallId"))]
            details = message.get("details")
            turn.outcomes[place] = Outcome(
                text_of(content), bool(message.get("isError")), details if isinstance(details, dict) else {}
            )
    return spans


def now_of(spans: Sequence[Span]) -> Now:
    """The newest message wins over an unfinished job, unless it only adds to it ("also …")."""
    if not spans:
        return Now((), 0, (), 0, ())
    newest = spans[-1]
    first = len(spans) - 1
    while (
        first > 0
        and not spans[first - 1].finished
        and spans[first - 1].request
        and _ADDITIVE.match(spans[first].request)
    ):
        first -= 1
    joined = spans[first:]
    unfinished = spans[first - 1] if first > 0 and not spans[first - 1].finished else None
    return Now(
        requests=tuple(span.request for span in joined),
        images=newest.images,
        recorded=tuple(result for span in joined for result in span.results()),
        turns=sum(len(span.turns) for span in joined),
        before=tuple(spans[:first]),
        left_aside=unfinished.request if unfinished else "",
        fresh=not newest.turns,
    )


def paths_in(text: str) -> list[str]:
    """Paths an answer names (links and code spans), in order, each once."""
    found: list[str] = []
    for linked, quoted in _LINKED.findall(text):
        path = re.sub(r":\d+$", "", linked or quoted)
        if "://" not in path and looks_like_path(path) and path not in found:
            found.append(path)
    return found


def touched(spans: Sequence[Span]) -> list[str]:
    """Files the calls named, newest first, each once."""
    found: list[str] = []
    for span in reversed(spans):
        for call, outcome in reversed(span.results()):
            path = call.arguments.get("path")
            if (
                call.name in {"read", "write", "edit"}
                and isinstance(path, str)
                and not outcome.is_error
                and path not in found
            ):
                found.append(path)
    return found


def _images(content: object) -> int:
    blocks = content if isinstance(content, list) else []
    shown: int = sum(isinstance(block, dict) and block.get("type") == "image" for block in blocks)
    return shown + len(_LEFT_OUT.findall(text_of(content)))


def _own_words(text: str) -> str:
    """Without the files and skills the composer put in; a file is then mentioned by its name."""
    names = [name for match in _ATTACHED.finditer(text) for name in _ATTACHED_NAME.findall(match.group(2))]
    words = _LEFT_OUT.sub(" ", _ATTACHED.sub(" ", text)).strip()
    missing = [name for name in names if name not in words]
    return f"{words} {' '.join(missing)}".strip() if missing else words


def _open_requests(summary: str) -> list[str]:
    """A job cut in two by a compaction lives on as the open box of its summary."""
    original = _ORIGINAL.search(summary)
    if original is not None:
        return [original.group(1).strip()]
    return _OPEN_BOX.findall(summary)[-1:]
