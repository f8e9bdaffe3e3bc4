"""Jobs on notes: what is still to be done, and a new title."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, link


def change_title(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The first heading of a Markdown file, or the title of a page."""
    where = match.groupdict().get("where")
    path = ask.plain(where) if where else desk.it() or "README.md"
    text = yield from moves.reach(desk, path)
    at = next((n for n, line in enumerate(text.lines) if re.match(r"# |.*<title>", line)), None)
    if at is None:
        raise CannotDo(f"{link(text.path)} has no title line. Nothing changed.")
    value, old = ask.plain(match.group("value")).strip().strip("\"“”'"), text.lines[at]
    line = (
        re.sub(r"<title>.*?</title>", lambda _: f"<title>{value}</title>", old)
        if "<title>" in old
        else f"# {value}"
    )
    yield from put_lines(desk, text, [*text.lines[:at], line, *text.lines[at + 1 :]])
    return f"The title in {link(text.path, at + 1)} was {code(clip(old))} and is now {code(clip(line))}."


def tasks(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Boxes of task lists that are open, or ticked, and the marks in code."""
    done = ask.has(r"\b(?:done|finished|completed|ticked|closed)\b") and not ask.has(
        r"\b(?:not|isn't|aren't|un\w+)\b"
    )
    boxes = yield from moves.search(
        desk,
        r"^\s*([-*+] )?\[[xX]\]" if done else r"^\s*([-*+] )?\[ \]",
        "Looking at the boxes of task lists.",
    )
    marks = [] if done else (yield from moves.search(desk, r"\b(TODO|FIXME)\b", "And for TODO marks."))
    files = (
        []
        if done or boxes
        else [
            p
            for p in (yield from moves.every_path(desk, "Is there a todo file?"))
            if re.search(r"(?:^|/)(?:todos?|tasks?)\.(?:txt|md)$", p, re.I)
        ]
    )
    parts = []
    if boxes:
        parts.append(
            f"{count(len(boxes), ('ticked' if done else 'open') + ' box', ('ticked' if done else 'open') + ' boxes')}:\n\n"
            + bullets(f"{link(h.path, h.line)} {h.text.split(']', 1)[1].strip()}" for h in boxes[:30])
        )
    for path in files[:1]:
        text = yield from moves.read(desk, path, f"Reading {code(path)}.", check=False)
        if text is not None and text.text.strip():
            parts.append(
                f"{link(path)}:\n\n"
                + bullets(re.sub(r"^[-*+] ", "", line) for line in text.lines if line.strip())
            )
    if marks:
        parts.append(
            f"{count(len(marks), 'mark')} in the files:\n\n"
            + bullets(f"{link(h.path, h.line)} {code(clip(h.text, 90))}" for h in marks[:20])
        )
    return (
        "\n\n".join(parts)
        or f"No {'ticked' if done else 'open'} box `- [{'x' if done else ' '}]`{'' if done else ' and no TODO mark'} in the files."
    )


RULES: list[Rule] = [
    rule(r"(?:what(?:'s| is| are)?|which|list|show(?: me)?|any|are there(?: any)?|give me)\b.*\b(?:open|left|remaining|outstanding|still|unfinished|undone|done|finished|completed|pending)\b.*\b(?:tasks?|to ?-?do|todos?|boxes|items|to be done|done|open|finished|completed)\b.*|(?:what|which) (?:tasks?|todos?|items) (?:are|is|have been) (?:still )?(?:open|left|done|finished|completed|pending|outstanding).*|(?:collect|gather|list|show|find)\b.*\b(?:open|outstanding|unfinished)\b.*\b(?:actions?|items?|tasks?|todos?|points)\b.*|(?:who|what|does anyone|is there anything)\b.*\bstill\b.*\b(?:things? to do|to do|to be done|action items?|tasks?)\b.*|what(?:'s| is) (?:still )?(?:left|on (?:the|my) (?:todo|to-do|task) list).*", tasks, lambda ask: not ask.paths and not ask.has(r"\b(?:commit|branch|you|git|changes?|disk|space)\b")),
    rule(rf"(?:change|set|update|replace|make|edit|rename) (?:the )?(?:title|main heading|headline|first heading)(?: (?:of|in) (?:the )?(?P<where>{P}))? (?:to(?: be)?|into|as|with) (?P<value>{Q}|[^‹]+)$", change_title),
]  # fmt: skip
