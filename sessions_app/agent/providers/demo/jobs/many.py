"""The same small change in several files: a line at the top or the end of each, and a table of contents over them."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.places import by_measure, folders_called, matching
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.sheets.words import singular
from sessions_app.agent.providers.demo.words import EXTENSIONS
from sessions_app.agent.providers.demo.writing import bullets, code, count, ending, fence, head, link

_MOST_FILES = 40
_MARKS = {"py": "# ", "sh": "# ", "rb": "# ", "yml": "# ", "yaml": "# ", "toml": "# ", "html": "<!-- ", "md": "<!-- ", "css": "/* ", "sql": "-- ", "js": "// ", "ts": "// ", "c": "// ", "go": "// ", "rs": "// ", "java": "// "}  # fmt: skip


def add_to_all(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """One line into every file of a kind. Files that have it already stay as they are."""
    every = yield from moves.every_path(desk, "Looking which files are meant.")
    words = re.findall(r"[^\W_]+", match.group("group").lower())
    files = [p for p in ask.paths if "." in p] or _files(words, every)
    if not files:
        raise CannotDo(f"Not done: no file here fits “{match.group('group')}”.")
    if len(files) > _MOST_FILES:
        raise CannotDo(
            f"Not done: that would change {len(files)} files; the demo model does up to {_MOST_FILES} at once."
        )
    given = ask.quotes[0] if ask.quotes else ""
    at_end = ask.has(r"\b(?:end|bottom|last line|append)\b")
    done, left = [], []
    for path in files:
        text = yield from moves.full(desk, path, f"Reading {code(path)}.")
        line = given
        mark = _MARKS.get(ending(path), "")
        if (
            ask.has(r"\bcomment|header|copyright|licen[cs]e\b")
            and mark
            and not re.match(r"\s*(?:#|//|/\*|--|<!--)", given)
        ):
            line = mark + given + {"<!-- ": " -->", "/* ": " */"}.get(mark, "")
        if line in text.lines:
            left.append(path)
            continue
        first = 1 if text.lines and text.lines[0].startswith(("#!", "<!doctype", "<!DOCTYPE")) else 0
        new = [*text.lines, line] if at_end else [*text.lines[:first], line, *text.lines[first:]]
        if not text.lines:
            yield from moves.write(
                desk, text.path, line + "\n", f"{code(text.path)} is empty. Writing the line."
            )
        else:
            yield from put_lines(desk, text, new)
        done.append(text.path)
    kept = f"\n\nLeft as they are, because they have it: {', '.join(link(p) for p in left)}." if left else ""
    if not done:
        return f"All {count(len(left), 'file')} have that line already; nothing changed."
    return f"Added {code(given)} at the {'end' if at_end else 'top'} of {count(len(done), 'file')}:\n\n{bullets(link(p) for p in done)}{kept}"


def _files(words: list[str], every: list[str]) -> list[str]:
    kinds = {EXTENSIONS[w] for w in words if w in EXTENSIONS}
    if kinds:
        return [p for p in every if ending(p) in kinds]
    folder = folders_called(words, every)
    if folder:
        return [p for p in every if p.startswith(folder[0]) and not p.endswith("/")]
    return matching(words, every)


def contents_of_folder(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The headings of several Markdown files as one list of links, written to a file when one is named."""
    every = yield from moves.every_path(desk, "Looking which files are meant.")
    words = re.findall(r"[^\W_]+", match.group("group").lower())
    target = (
        ask.paths[-1]
        if ask.paths
        and re.search(
            rf"\b(?:in|into|to|as) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?{P}$", ask.text
        )
        else None
    )
    folder = folders_called(words, every) or [p for p in ask.paths if p.endswith("/")]
    files = (
        [p for p in every if ending(p) == "md" and p.startswith(folder[0])]
        if folder
        else [p for p in matching(words, every) if ending(p) == "md"]
    )
    if not words or words == ["folder"] or words == ["project"]:
        files = [p for p in every if ending(p) == "md" and p != target]
    if not files:
        raise CannotDo(f"Not done: no Markdown files here fit “{match.group('group')}”.")
    lines = []
    for path in files[:_MOST_FILES]:
        text = yield from moves.reach(desk, path)
        headings = outline(path, text.text).headings
        title = headings[0][1] if headings else path.rsplit("/", 1)[-1]
        lines.append(f"- [{title}]({path})")
        lines += [f"  - {name}" for level, name, _ in headings[1:] if level == 2]
    shown = "\n".join(lines)
    if target is None:
        return f"Contents of {count(len(files), 'Markdown file')}:\n\n{fence(shown, 'md')}"
    if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"{link(target)} exists already and was left as it is.")
    yield from moves.write(desk, target, f"# Contents\n\n{shown}\n", f"Writing {code(target)}.")
    return f"Wrote {link(target)} with the contents of {count(len(files), 'Markdown file')}:\n\n{fence(head(shown, 15)[0], 'md')}"


def combine(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Several files one after the other in a new one; they themselves stay."""
    target = (
        ask.paths[-1]
        if re.search(rf"(?:into|to|in|as|called|named)\b(?: \w+)* {P}(?: file)?$", ask.text)
        else None
    )
    if target is None:
        raise CannotDo(
            "Combine them into which file? Name it, for example: `combine all chapters into all.md`."
        )
    sources = [p for p in ask.paths if p != target]
    if not sources:
        every = yield from moves.every_path(desk, "Looking which files are meant.")
        sources = sorted(
            p for p in _files(re.findall(r"[^\W_]+", match.group("group").lower()), every) if p != target
        )
    if len(sources) < 2:
        raise CannotDo("Not done: which files? Name them, or say what they have in common.")
    if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"{link(target)} exists already and was left as it is.")
    parts = []
    for path in sources[:_MOST_FILES]:
        text = yield from moves.full(desk, path, f"Reading {code(path)}.")
        parts.append(text.text.strip("\n"))
    gap = "\n" if ending(target) in {"csv", "txt", "log"} else "\n\n"
    yield from moves.write(desk, target, gap.join(parts) + "\n", f"Writing {code(target)}.")
    return f"Wrote {link(target)} with {count(len(parts), 'file')} one after the other:\n\n{bullets(link(p) for p in sources)}"


def mend_references(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """After a file was moved: its old name in other files becomes the new one."""
    moved = re.match(r"Moved (`+)(.+?)\1 to \[`(.+?)`\]", desk.last_answer())
    if moved is None:
        raise CannotDo("Not done: no file was moved just before, so it is not clear which links to mend.")
    old, new = moved.group(2).rsplit("/", 1)[-1], moved.group(3).rsplit("/", 1)[-1]
    if moved.group(2).rpartition("/")[0] != moved.group(3).rpartition("/")[0]:
        raise CannotDo("Not done: the file went to another folder, and links to it differ from file to file.")
    hits = yield from moves.search(desk, old, f"Where does {code(old)} stand?", literal=True)
    files = list(dict.fromkeys(h.path for h in hits))
    pattern = re.compile(rf"(?<![\w.-]){re.escape(old)}(?![\w-])")
    done = []
    for path in files:
        text = yield from moves.full(desk, path)
        lines = [pattern.sub(new, line) for line in text.lines]
        if lines != text.lines:
            yield from put_lines(desk, text, lines)
            done.append(f"{link(path)}: {count(len(pattern.findall(text.text)), 'place')}")
    if not done:
        return f"No other file names {code(old)}, so no link had to change."
    return f"{code(old)} is now {code(new)} in {count(len(done), 'file')}:\n\n{bullets(done)}"


def show_section(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """What stands under the heading that a question names."""
    text = yield from moves.reach(desk, desk.file_of(ask))
    said = {
        singular(w) for w in re.findall(r"[^\W_]+", re.sub(r"‹\w+›", " ", match.group("heading")).lower())
    } - {"the", "my", "our", "section", "part"}
    headings = outline("x.md", text.text).headings
    fitting = [
        (level, title, line)
        for level, title, line in headings
        if said and said <= {singular(w) for w in re.findall(r"[^\W_]+", title.lower())}
    ]
    if len(fitting) != 1:
        raise CannotDo(
            f"Not found: no heading of {link(text.path)} is called that. Its headings: {', '.join(t for _, t, _ in headings[:12]) or 'none'}."
        )
    level, title, line = fitting[0]
    end = next((n for depth, _, n in headings if n > line and depth <= level), len(text.lines) + 1)
    body = "\n".join(text.lines[line : end - 1]).strip()
    return f"Under “{title}” in {link(text.path, line)}:\n\n{body or '(nothing)'}"


def newest_files(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Files by the time of their last change."""
    every = yield from moves.every_path(desk, "Looking which files there are.")
    files = [p for p in every if not p.endswith("/")]
    if not files:
        return "There are no files in this folder."
    ordered = yield from by_measure(desk, files, "newest")
    return f"The file changed last is {link(ordered[0])}. The newest ones:\n\n{bullets(link(p) for p in ordered[:10])}"


RULES: list[Rule] = [
    rule(r"(?:which|what) files? (?:was|were|has been|have been|did \w+|got) (?:\w+ )?(?:changed|modified|edited|touched|updated|saved|written)(?: (?:last|most recently|lately|recently|the latest))+$|(?:which|what) (?:is|are|was|were) the (?:last|latest|most recently) (?:changed|modified|edited|touched|updated) files?$", newest_files),
    rule(rf"(?:combine|merge|join|concatenate|put together|glue)\b (?:together )?(?:all |the |my |these |those |both )*(?P<group>[^‹]*?|{P}(?:,? and {P}|, {P})*)(?: files?)?(?: together)? (?:in|into|to|as)\b(?: (?:one|a|an|the|single|new|big|file|document|called|named))* {P}$", combine),
    rule(r"(?:fix|update|mend|correct|adjust|repair|change) (?:all |the |every |any |its |their )*(?:links?|references?|imports?|mentions?|paths?)(?: (?:to|of|in) (?:it|them|that|the file|other files|the other files|all files|everywhere))*$", mend_references),
    rule(rf"(?:what(?:'s| is| are| were)?|list|show(?: me)?|read|give me|tell me|which)\b(?: are| is)?(?: the| my| our| all)* (?P<heading>(?!(?:file|contents?|content|text|lines?|word|words|functions?|columns?|title|titles|headings?|first|last|difference|size|version)\b)[a-z][a-z -]{{2,40}}?) (?:section |part )?(?:in|of|from|on) (?:the |my |our )?{P}$", show_section, lambda ask: len(ask.paths) == 1 and ask.paths[0].lower().endswith((".md", ".rst"))),
    rule(rf"(?:put|add|insert|prepend|append|write)\b (?:an? |the |this |following )*(?:comment|line|header|text|copyright(?: notice| header| line)?|licen[cs]e(?: header| line| notice)?|sentence|note)?(?: saying| that says| with| of)? ?{Q} (?:as (?:an? |the )?(?:comment|first line|header) )?(?:to|at|in|into|on|as) (?:the )?(?:(?:very )?(?:top|beginning|start|end|bottom|first line|last line|head) of )?(?:every|all|each)(?: of)?(?: the| my| our| single)* (?P<group>[\w ]+?)(?: files?)?$", add_to_all),
    rule(rf"(?:put|add|insert|prepend|append|write)\b (?:an? |the |this |following )*(?:comment|line|header|text|copyright(?: notice| header| line)?|licen[cs]e(?: header| line| notice)?|sentence|note)?(?: saying| that says| with| of)? ?{Q} (?:to|at|in|into|on) (?:the )?(?:(?:very )?(?:top|beginning|start|end|bottom) of )?(?P<group>(?:both |all )?{P}(?:,? and {P}|, {P})+)$", add_to_all),
    rule(rf"(?:create|make|give me|write|generate|build|show me|put together)\b(?: me)? (?:an? |the )*(?:table of contents|toc|contents|index) (?:of|for|over|from)(?: the| my| all| our| whole)* (?P<group>(?!‹p\d+›$)[\w /-]*?)(?: folder| files?)?(?: (?:in|into|to|as|and save it (?:to|as|in)) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?{P})?$", contents_of_folder, lambda ask: len(ask.paths) < 2),
]  # fmt: skip
