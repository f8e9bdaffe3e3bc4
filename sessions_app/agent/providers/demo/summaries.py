"""Summaries of a conversation for compaction, branch summary and split spans: what stands in it, sorted, nothing new."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from sessions_app.agent.providers.demo.conversation import STATEMENT
from sessions_app.agent.providers.demo.writing import clip

PURPOSES = ("compaction", "branch_summary", "turn_prefix")
_PART = re.compile(r"^\[(User|Assistant tool calls|Assistant|Tool result)\]: ?", re.M)
_CALL = re.compile(r"(\w+)\((.*?)\)(?=; \w+\(|\s*\Z)", re.S)
_RULE = re.compile(
    r"\b(?:never|always|must(?: not)?|do not|don't|only|avoid|prefer|keep|make sure|without|nicht|niemals|immer)\b",
    re.I,
)
_DECISION = re.compile(
    r"\b(?:decided|chose|choose|instead of|rather than|because|so that|will use|use .* for)\b", re.I
)
_PROBLEM = re.compile(
    r"^.*\b(?:\w*error|\w*exception|failed|failure|not found|denied|traceback|fatal|no such file)\b.*$",
    re.I | re.M,
)
_MOST = 30


@dataclass(slots=True)
class Told:
    """One request in a serialised conversation with its calls, problems and last answer."""

    request: str
    calls: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    answer: str = ""


def purpose_of(options: dict[str, object], text: str, *, tools: bool) -> str:
    """Which summary a request asks for; empty for an ordinary request. Summary requests have no tools (02 SG-06)."""
    purpose = str(options.get("purpose") or "")
    if purpose in PURPOSES:
        return purpose
    if tools:
        return ""
    if "<conversation>" in text and "</conversation>" in text:
        return (
            "compaction"
            if "## Critical Context" in text.rsplit("</conversation>", 1)[1]
            else "branch_summary"
        )
    return "turn_prefix" if "## Original Request" in text else ""


def summary(purpose: str, text: str) -> str:
    """The summary asked for by `text`, a whole summary prompt. Same text, same summary."""
    if purpose == "turn_prefix":
        return _prefix(tell(text.split("\n# What to write", 1)[0]))
    told = tell(_tagged(text, "conversation") or "")
    return _whole(
        told,
        _tagged(text, "previous-summary") or "",
        with_context=purpose == "compaction",
        focus=_focus(text),
    )


def tell(conversation: str) -> list[Told]:
    """The serialised conversation (02 §9) as requests; what stands before the first is one without words."""
    pieces = _PART.split(conversation)
    told: list[Told] = []
    for role, body in zip(pieces[1::2], pieces[2::2], strict=True):
        body = body.strip()
        if role == "User" and "<summary>" not in body:
            told.append(Told(body))
            continue
        if not told:
            told.append(Told(""))
        if role == "Assistant":
            told[-1].answer = body
        elif role == "Assistant tool calls":
            told[-1].calls.extend(_CALL.findall(body))
        elif role == "Tool result":
            told[-1].problems.extend(clip(line, 160) for line in _PROBLEM.findall(body)[:1])
    return told


def _whole(told: list[Told], previous: str, *, with_context: bool, focus: str) -> str:
    requests = [t for t in told if t.request]
    done = [*_items(previous, "Done"), *(t for t in _items(previous, "In Progress"))]
    open_ones: list[str] = []
    for number, one in enumerate(requests):
        last = number == len(requests) - 1
        words = clip(one.request, 200)
        if one.answer or not last:
            outcome = _first_sentence(one.answer)
            done.append(words + (f" → {outcome}" if outcome else " → no final answer"))
        else:
            open_ones.append(words)
    sentences = [s for t in requests for s in _sentences(t.request)]
    rules = [clip(s, 200) for s in sentences if _RULE.search(s)]
    decisions = [clip(s, 200) for t in told for s in _sentences(_prose(t.answer)) if _DECISION.search(s)]
    goal = _section(previous, "Goal") or (clip(requests[0].request, 400) if requests else "(none stated)")
    newest = clip(requests[-1].request, 300) if requests else ""
    parts = [
        f"## Goal\n{goal}" + (f"\n\nNewest request: {newest}" if newest and newest != goal else ""),
        "## Constraints & Preferences\n" + _list([*_items(previous, "Constraints & Preferences"), *rules]),
        "## Progress\n### Done\n" + _list(done, "- [x] "),
        "### In Progress\n" + _list(open_ones, "- [ ] "),
        "### Blocked\n"
        + _list([problem for t in told[-3:] for problem in t.problems][-5:] if open_ones else []),
        "## Key Decisions\n"
        + _list(
            [
                *_items(previous, "Key Decisions"),
                *(d if d.startswith("**") else f"**From an answer**: {d}" for d in decisions[:8]),
            ]
        ),
        "## Next Steps\n" + _numbered(open_ones),
    ]
    if with_context:
        parts.append("## Critical Context\n" + _list(_context(told, previous, focus)))
    return "\n\n".join(parts)


def _context(told: list[Told], previous: str, focus: str) -> list[str]:
    commands = [_argument(a, "command") for t in told for name, a in t.calls if name == "bash"]
    written = [_argument(a, "path") for t in told for name, a in t.calls if name in {"write", "edit"}]
    problems = [problem for t in told for problem in t.problems]
    found = [*_items(previous, "Critical Context")]
    found += [f"Changed: `{path}`" for path in dict.fromkeys(written) if path]
    found += [
        f"Command run: `{clip(command, 120)}`"
        for command in list(dict.fromkeys(c for c in commands if c))[-6:]
    ]
    found += [f"Seen: {problem}" for problem in list(dict.fromkeys(problems))[-6:]]
    if focus:
        words = set(re.findall(r"\w{4,}", focus.lower()))
        sentences = [s for t in told for s in [*_sentences(t.request), *_sentences(_prose(t.answer))]]
        found.append(f"Asked to keep in view: {clip(focus, 160)}")
        found += [clip(s, 200) for s in sentences if words & set(re.findall(r"\w{4,}", s.lower()))][:8]
    found.append(
        f"This summary was put together by the demo model from the words of the conversation. {STATEMENT}"
    )
    return found


def _prefix(told: list[Told]) -> str:
    request = next((t.request for t in told if t.request), "(not in this part)")
    calls = [
        f"{name} {clip(_argument(a, 'path') or _argument(a, 'command') or _argument(a, 'pattern') or a, 100)}"
        for t in told
        for name, a in t.calls
    ]
    problems = [problem for t in told for problem in t.problems]
    return "\n\n".join(
        [
            f"## Original Request\n{request}",
            "## Progress So Far\n" + _list(list(dict.fromkeys(calls))[-_MOST:]),
            "## Context Needed to Continue\n"
            + _list(
                [
                    *(f"Seen: {p}" for p in list(dict.fromkeys(problems))[-6:]),
                    *([clip(told[-1].answer, 300)] if told and told[-1].answer else []),
                ]
            ),
        ]
    )


def _list(items: list[str], mark: str = "- ") -> str:
    kept = list(dict.fromkeys(items))[-_MOST:]
    return "\n".join(mark + item for item in kept) if kept else "(none)"


def _numbered(items: list[str]) -> str:
    return "\n".join(f"{number}. {item}" for number, item in enumerate(items, 1)) if items else "(none)"


def _tagged(text: str, name: str) -> str | None:
    match = re.search(rf"<{name}>(.*)</{name}>", text, re.S)
    return match.group(1).strip() if match else None


def _section(text: str, name: str) -> str:
    match = re.search(rf"^#{{2,3}} {re.escape(name)}\s*\n(.*?)(?=^#{{2,3}} |^<|\Z)", text, re.M | re.S)
    body = match.group(1).strip() if match else ""
    return "" if body == "(none)" else body.split("\n\nNewest request:")[0]


def _items(text: str, name: str) -> list[str]:
    """The list items of one section of an earlier summary, without their marks."""
    found = [
        re.sub(r"^\s*(?:[-*]|\d+\.)\s+(?:\[[ x]\]\s+)?", "", line).strip()
        for line in _section(text, name).split("\n")
    ]
    return [item for item in found if item and item != "(none)" and STATEMENT not in item]


def _focus(text: str) -> str:
    match = re.search(
        r"(?:pay special attention to this|additional focus|focus)\s*:\s*(.+)",
        re.sub(r"<(conversation|previous-summary)>.*</\1>", "", text, flags=re.S),
        re.I | re.S,
    )
    return match.group(1).strip() if match else ""


def _argument(arguments: str, name: str) -> str:
    match = re.search(rf'\b{name}="((?:[^"\\]|\\.)*)"', arguments)
    return match.group(1).replace('\\"', '"').replace("\\n", " ") if match else ""


def _prose(text: str) -> str:
    return re.sub(r"```.*?```|^\|.*$", " ", text, flags=re.S | re.M)


def _sentences(text: str) -> list[str]:
    return [s.strip() for s in re.split(r"(?<=[.!?])\s+|\n+", text) if len(s.strip()) > 3]


def _first_sentence(answer: str) -> str:
    found = next(
        (s for s in _sentences(_prose(answer)) if STATEMENT not in s and not s.startswith(("#", "|"))), ""
    )
    return clip(found.lstrip("*- "), 160)
