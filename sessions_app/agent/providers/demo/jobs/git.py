"""Jobs about the version history: status, log, differences, authors, commits, and the changelog entry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import NAME, Ask
from sessions_app.agent.providers.demo.script import CannotDo, Outcome, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, fence, head, link, table


def git(desk: Desk, command: str, say: str) -> Move[Outcome]:
    """A git command; a folder without a repository ends the job with that news."""
    outcome = yield from moves.shell(desk, command, say, what="asking git", check=False)
    if outcome.is_error:
        if "not a git repository" in outcome.text:
            raise CannotDo(
                "This folder is not in a git repository, so there is no history to look at. `run git init` makes one."
            )
        if re.search(
            r"does not have any commits yet|unknown revision.*HEAD|bad default revision|ambiguous argument 'HEAD",
            outcome.text,
        ):
            raise CannotDo("The repository has no commits yet.")
        raise CannotDo(f"{code(clip(command, 80))} failed:\n\n{fence(head(moves.output(outcome), 15)[0])}")
    return outcome


def status(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    outcome = yield from git(desk, "git status --short --branch", "Asking git for the state.")
    lines = moves.lines_of(outcome)
    branch = lines[0].removeprefix("## ") if lines and lines[0].startswith("## ") else ""
    names = {
        "M": "changed",
        "A": "added",
        "D": "deleted",
        "R": "renamed",
        "?": "new, not tracked",
        "U": "in conflict",
        "C": "copied",
        "T": "type changed",
    }
    rows = [
        (
            link(line[3:].split(" -> ")[-1].strip('"')),
            names.get(line[:2].strip()[:1], line[:2]),
            "yes" if line[0] not in " ?" else "no",
        )
        for line in lines
        if not line.startswith("## ") and len(line) > 3
    ]
    where = f"On branch {code(branch.split('...')[0])}" if branch else "State"
    if not rows:
        return f"{where}: nothing changed since the last commit."
    return f"{where}: {count(len(rows), 'change')} not committed.\n\n{table(('file', 'state', 'staged'), rows[:40])}"


def log(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    if ask.has(r"\bdiff(?:erence)?s?\b"):
        return (yield from difference(desk, ask.with_text("last commit"), match))
    words = {"two": "2", "three": "3", "four": "4", "five": "5", "ten": "10"}
    text = re.sub(r"\b(two|three|four|five|ten)\b", lambda m: words[m.group(1).lower()], ask.text, flags=re.I)
    number = re.search(r"\b(\d{1,3})\b(?! (?:days?|weeks?))", text)
    one = ask.has(r"\b(?:last|latest|newest|most recent|first|oldest) (?:git )?commit\b(?!s)")
    most = int(number.group(1)) if number else 10
    since = next(
        (
            f" --since='{text}'"
            for pattern, text in (
                ("today", "midnight"),
                ("yesterday", "yesterday midnight"),
                ("this week|last week|past week", "1 week ago"),
                ("month", "1 month ago"),
            )
            if ask.has(pattern)
        ),
        "",
    )
    author = re.search(rf"\bby ({NAME})$", ask.text)
    extra = (
        f" --author={moves.quoted(ask.plain(author.group(1)))}"
        if author and not ask.has("by file|by date|by whom")
        else ""
    )
    path = f" -- {moves.quoted(ask.paths[0])}" if ask.paths else ""
    if one:
        oldest = ask.has(r"\b(?:first|oldest) ")
        command = (
            "git log --reverse --format='%h %ad %an: %s' --date=iso-local | head -1"
            if oldest
            else f"git show --stat --format='%h%n%an, %ad%n%s%n%b' --date=iso-local HEAD{path}"
        )
        outcome = yield from git(desk, command, f"Asking git for the {'first' if oldest else 'last'} commit.")
        return f"The {'first' if oldest else 'last'} commit:\n\n{fence(head(moves.output(outcome), 40)[0])}"
    outcome = yield from git(
        desk,
        f"git log -{most} --date=short --format='%h%x09%ad%x09%an%x09%s'{since}{extra}{path}",
        "Asking git for the history.",
    )
    rows = [tuple(line.split("\t", 3)) for line in moves.lines_of(outcome) if line.count("\t") >= 3]
    if not rows:
        return "No commit fits."
    return f"{'The last ' if not since else ''}{count(len(rows), 'commit')}:\n\n{table(('commit', 'date', 'author', 'subject'), [(code(a), b, c, clip(d, 80)) for a, b, c, d in rows])}"


def difference(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = f" -- {moves.quoted(ask.paths[0])}" if ask.paths else ""
    last = not ask.has(r"\bsince\b") and ask.has(
        r"\blast commit|\blatest commit|\bprevious commit|\blast version|\bhead~|\bmost recent commit"
    )
    first = ask.has(r"\bsince (?:the )?(?:first|initial|very first) commit|\bsince the (?:beginning|start)\b")
    if first:
        outcome = yield from git(
            desk,
            f"git diff --stat $(git rev-list --max-parents=0 HEAD | tail -1) HEAD{path}",
            "Comparing with the first commit.",
        )
        return (
            f"Since the first commit:\n\n{fence(moves.output(outcome).strip() or 'no file differs', 'diff')}"
        )
    command = (
        f"git show --stat --patch --format='%h %s' HEAD{path}"
        if last
        else f"git diff --stat --patch HEAD{path}"
    )
    outcome = yield from git(desk, command, "Asking git for the difference.")
    text = moves.output(outcome)
    if not text.strip():
        return "Nothing is changed since the last commit." + (
            "" if path else " New files that git does not track do not show here; “git status” names them."
        )
    shown, more = head(text, 80)
    tail = f"\n\n{count(more, 'more line')} in the result above." if more else ""
    return (
        f"{'The last commit' if last else 'Changes since the last commit'}:\n\n{fence(shown, 'diff')}{tail}"
    )


def branches(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    new = match.groupdict().get("new")
    if re.match(r"(?:create|make|new|start|add)\b", match.group(), re.I) and not new:
        raise CannotDo("Which name should the branch have? For example: `create a branch called try-it`.")
    if new:
        name = ask.plain(new).strip("\"'`")
        yield from git(desk, f"git switch -c {moves.quoted(name)}", f"Making the branch {code(name)}.")
        return f"Made the branch {code(name)} and switched to it."
    outcome = yield from git(
        desk,
        "git branch -a --sort=-committerdate --format='%(HEAD) %(refname:short) %(committerdate:short) %(subject)'",
        "Asking git for the branches.",
    )
    lines = moves.lines_of(outcome)
    if not lines:
        return "No branch yet: the repository has no commits."
    current = next((line.split()[1] for line in lines if line.startswith("*") and len(line.split()) > 1), "")
    listed = bullets(
        code(clip(line.strip("* ").strip(), 100)) + (" ← here" if line.startswith("*") else "")
        for line in lines[:30]
    )
    return f"{'The current branch is ' + code(current) + '. ' if current else ''}{count(len(lines), 'branch', 'branches')}, newest first:\n\n{listed}"


def authors(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = f" -- {moves.quoted(ask.paths[0])}" if ask.paths else ""
    outcome = yield from git(desk, f"git shortlog -sn HEAD{path}", "Asking git who committed.")
    rows = [
        (m.group(2), m.group(1))
        for line in moves.lines_of(outcome)
        if (m := re.match(r"\s*(\d+)\s+(.+)", line))
    ]
    if not rows:
        return "git names nobody: no commits" + (" for this file." if path else ".")
    about = f" to {link(ask.paths[0])}" if path else ""
    return f"{count(sum(int(n) for _, n in rows), 'commit')}{about} by {count(len(rows), 'person', 'people')}:\n\n{table(('who', 'commits'), rows[:25])}"


def how_many_commits(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    outcome = yield from git(
        desk,
        "git rev-list --count HEAD && git log -1 --format=%ad --date=short && git log --reverse --format=%ad --date=short | head -1",
        "Counting commits.",
    )
    lines = moves.lines_of(outcome)
    return (
        f"{count(int(lines[0]), 'commit')}, the first on {lines[2]}, the last on {lines[1]}."
        if len(lines) == 3 and lines[0].isdigit()
        else fence(moves.output(outcome))
    )


def most_changed(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    outcome = yield from git(
        desk,
        "git log --format= --name-only | grep . | sort | uniq -c | sort -rn | head -15",
        "Counting how often each file was committed.",
    )
    rows = [
        (link(m.group(2)), m.group(1))
        for line in moves.lines_of(outcome)
        if (m := re.match(r"\s*(\d+) (.+)", line))
    ]
    return f"Files in the most commits:\n\n{table(('file', 'commits'), rows)}" if rows else "No commits yet."


def blame(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = desk.file_of(ask)
    outcome = yield from git(
        desk,
        f"git log -5 --date=short --format='%h%x09%ad%x09%an%x09%s' -- {moves.quoted(path)}",
        f"Asking git who changed {code(path)}.",
    )
    rows = [tuple(line.split("\t", 3)) for line in moves.lines_of(outcome) if line.count("\t") >= 3]
    if not rows:
        return f"git has no commit with {code(path)}."
    return f"{link(path)} was last changed by {rows[0][2]} on {rows[0][1]}:\n\n{table(('commit', 'date', 'author', 'subject'), [(code(a), b, c, clip(d, 80)) for a, b, c, d in rows])}"


def commit(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    given = ask.quotes[0] if ask.quotes else ask.plain(match.groupdict().get("message") or "").strip()
    state = yield from git(desk, "git status --short", "What would be committed?")
    changed = moves.lines_of(state)
    if not changed:
        raise CannotDo("Nothing to commit: no file changed since the last commit.")
    if not given:
        raise CannotDo(
            f'Commit with which message? {count(len(changed), "file")} changed. For example: `commit everything with the message "Correct the price"`.'
        )
    what = " ".join(moves.quoted(p) for p in ask.paths) if ask.paths else "-A"
    outcome = yield from git(desk, f"git add {what} && git commit -m {moves.quoted(given)}", "Committing.")
    return f"Committed with the message {code(given)}:\n\n{fence(head(moves.output(outcome), 12)[0])}"


def stage(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    what = " ".join(moves.quoted(p) for p in ask.paths) or "-A"
    outcome = yield from git(desk, f"git add {what} && git status --short", "Staging.")
    return f"Staged. The state now:\n\n{fence(moves.output(outcome) or 'nothing to commit')}"


def tags(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    outcome = yield from git(
        desk, "git tag --sort=-creatordate | head -20; git remote -v", "Asking git for tags and remotes."
    )
    said = moves.output(outcome)
    return f"Tags and remotes:\n\n{fence(said)}" if said.strip() else "No tags and no remotes."


def changelog(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    """An entry for the last commit, under Unreleased."""
    outcome = yield from git(
        desk,
        "git log -1 --format='%h%n%s%n%b' && git show --stat --format= HEAD",
        "Asking git for the last commit.",
    )
    lines = moves.output(outcome).split("\n")
    if len(lines) < 2:
        raise CannotDo("git does not name a last commit.")
    commit_id, subject = lines[0].strip(), lines[1].strip()
    names = (yield from moves.listing(desk, ".", "Is there a changelog?")) or []
    found = next(
        (n for n in names if re.fullmatch(r"(?:changelog|changes|history|news)(?:\.\w+)?", n, re.I)), None
    )
    entry = f"- {subject[:1].upper()}{subject[1:].rstrip('.')}"
    kind = _kind(subject)
    if found is None:
        content = f"# Changelog\n\n## [Unreleased]\n\n### {kind}\n\n{entry}\n"
        yield from moves.write(desk, "CHANGELOG.md", content, "No changelog yet. Writing one.")
        return f"There was no changelog. Wrote {link('CHANGELOG.md')} with one entry for commit {code(commit_id)}:\n\n{fence(entry, 'md')}"
    text = yield from moves.full(desk, found, f"Reading {code(found)}.")
    if subject.rstrip(".").lower() in text.text.lower():
        return f"{link(found)} already names the last commit ({code(commit_id)}: {subject}). Nothing changed."
    new = with_entry(text.lines, entry, kind)
    yield from put_lines(desk, text, new, f"Adding the entry to {code(found)}.")
    place = new.index(entry) + 1
    return f"Added an entry for commit {code(commit_id)} to {link(found, place)}:\n\n{fence(entry, 'md')}\n\nIt repeats the commit's subject; put it in the words of those who upgrade."


def _kind(subject: str) -> str:
    first = re.split(r"[\s:(]", subject.lower(), maxsplit=1)[0]
    if first in {"add", "adds", "added", "feat", "feature", "introduce", "create", "new", "support", "allow"}:
        return "Added"
    if first in {"fix", "fixes", "fixed", "correct", "repair", "bugfix", "prevent", "avoid"}:
        return "Fixed"
    return "Removed" if first in {"remove", "removes", "removed", "drop", "delete"} else "Changed"


def with_entry(lines: Sequence[str], entry: str, kind: str) -> list[str]:
    """The changelog's lines with the entry under Unreleased and its kind, both made when missing."""
    new = list(lines)
    start = next((n for n, line in enumerate(new) if re.match(r"#{1,3}\s*\[?unreleased\b", line, re.I)), None)
    if start is None:
        first = next((n for n, line in enumerate(new) if re.match(r"##\s", line)), None)
        if first is None:
            title = 1 if new and new[0].startswith("# ") else 0
            return [
                *new[:title],
                *([""] if title else []),
                "## [Unreleased]",
                "",
                f"### {kind}",
                "",
                entry,
                *([""] if new[title:] and new[title].strip() else []),
                *new[title:],
            ]
        return [*new[:first], "## [Unreleased]", "", f"### {kind}", "", entry, "", *new[first:]]
    end = next((n for n in range(start + 1, len(new)) if re.match(r"##\s", new[n])), len(new))
    section = next((n for n in range(start + 1, end) if re.match(rf"###\s*{kind}\b", new[n], re.I)), None)
    plain = not any(new[n].startswith("### ") for n in range(start + 1, end)) and any(
        new[n].startswith(("- ", "* ")) for n in range(start + 1, end)
    )
    if section is None and not plain:
        while end > start + 1 and not new[end - 1].strip():
            end -= 1
        rest = new[end:]
        return [
            *new[:end],
            "",
            f"### {kind}",
            "",
            entry,
            *(rest if rest and not rest[0].strip() else ["", *rest] if rest else []),
        ]
    begin = section if section is not None else start
    items = [n for n in range(begin + 1, end) if new[n].startswith(("- ", "* "))]
    stop = next((n for n in range(begin + 1, end) if new[n].startswith("### ")), end)
    inside = [n for n in items if n < stop]
    mark = new[inside[0]][0] if inside else "-"
    place = inside[0] if inside else begin + 1
    added = [mark + entry[1:]] if mark != "-" else [entry]
    return [*new[:place], *([""] if not inside else []), *added, *new[place:]]


_GIT = r"(?:git )?"
RULES: list[Rule] = [
    rule(r"(?:git )?(?:stage|add)\b (?:all|all (?:the |my |of the )?(?:changes|files)|everything|the changes|my changes|‹p\d+›)(?: (?:to|for|with|in) (?:git|the (?:index|commit|stage|staging area)|commit))$|stage\b.*", stage),
    rule(r"(?:add|write|create|make|put|append|insert|update|prepare|generate|draft)\b.*\bchange ?logs?\b.*(?:commit|entry|change|update).*|(?:add|write|create|make|update|put|describe|mention|document)\b.*\b(?:last|latest|recent|newest) (?:commit|change)\b.*\b(?:change ?log|‹p\d+›).*|update (?:the |my )?changelog.*|(?:add|write|make) (?:an? |the )?(?:new )?(?:changelog )?entry\b.*\b(?:last|latest) commit.*", changelog),
    rule(rf"(?:.*\b)?(?:{_GIT}status|uncommitted|unstaged|staged|not committed|untracked|dirty|working tree)\b(?!.*\bdiff).*|(?:is|are) (?:there )?(?:anything|everything|something|all files|any changes|my changes) (?:to commit|committed|not committed).*|what (?:files )?(?:have|did) (?:i|we) (?:change|changed|modified)(?: since the last commit)?$|git st$|(?:is|are) (?:this|it|we|the folder|the project) (?:a |in a |under |in |using )*(?:git|version control)\b.*", status),
    rule(r"commit\b(?!s\b)(?: (?:it|this|that|them|all|my|the|these|those|everything|changes?|files?|work|and|‹p\d+›|to git))*(?:,? (?:with|as|saying|using)\b(?: (?:the |a )?(?:commit )?message)?:? ?(?P<message>.+))?$|(?:make|create|do) (?:a |the )?(?:git )?commit\b(?:.*?(?:with|saying)(?: the)?(?: message)? (?P<message2>.+))?$", commit),
    rule(r"(?:.*\b)?(?:how many commits|number of commits|count (?:the |all )*commits|commit count)\b.*", how_many_commits),
    rule(r"(?:.*\b)?(?:who)\b.*\b(?:commit(?:s|ted)?|contribut\w+|authors?|wrote|written|works?|worked|made|maintain\w*|created?|develop\w*)\b(?!.*‹p).*|(?:.*\b)?(?:contributors|authors|committers|shortlog)\b.*", authors),
    rule(r"(?:who|when)\b.*\b(?:wrote|changed|edited|touched|modified|created|updated|added|worked on|committed|blame|made)\b.*‹p\d+›.*|(?:when|who)\b.*‹p\d+›.*\b(?:written|changed|edited|touched|modified|created|updated|added|committed)\b.*|(?:git )?blame ‹p\d+›", blame),
    rule(r"(?:.*\b)?(?:(?:most (?:often|frequently|commonly)? ?(?:changed|edited|modified|committed))|changed? (?:the )?most|churn|hot ?spots?|most commits)\b.*", most_changed),
    rule(r"(?:create|make|new|start|add|git branch|git switch -c|git checkout -b|checkout)\b(?: me)?(?: an?| the)?(?: new)?(?: git)? ?branch(?:(?: called| named|:)? (?P<new>[\w./‹›-]+)| for me)?$", branches),
    rule(rf"(?:.*\b)?(?:list|show|what|which|print|get|give|are there|display|see|tell|how many|name of|current)\b.*\b(?:{_GIT}branch(?:es)?)\b.*|git branch(?:es)?|branch(?:es)?", branches),
    rule(r"(?:.*\b)?(?:list|show|what|which|any|are there)\b.*\b(?:git )?(?:tags|remotes?|releases|origin|remote url)\b.*", tags),
    rule(rf"(?:what|which files?|show|list|print|display|tell me what|see|give)\b.*(?<!wants )(?<!want )(?<!like )(?<!be )\b(?:changed|diff(?:erence)?s?|changes|modified)\b(?!.*(?:between|‹p\d+›.*‹p\d+›|today|yesterday|week|days?|recently|newest|by date)).*|{_GIT}diff(?: (?:of )?‹p\d+›)?|(?:show|print|see|view) (?:me )?(?:the |my |all )*(?:changes|modifications|edits)$", difference),
    rule(r"(?:.*\b)?(?:last|latest|newest|most recent|first|oldest|previous|final) (?:git )?commits?\b.*|(?:.*\b)?(?:git )?(?:commit )?(?:log|history)\b(?!.*‹p\d+›.*\.log)(?! files?).*|(?:.*\b)?(?:list|show|print|give|what|which|see|tell|get|recent|last|were there|any)\b.*\bcommits?\b.*|what (?:has )?(?:happened|was done|changed) (?:in git|recently|lately|today|yesterday|this week|last week|since .*)$|when was the last commit.*", log),
]  # fmt: skip
