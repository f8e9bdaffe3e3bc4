"""Jobs on whole files and folders: rename, move, copy, delete, pack, and taking the last change back."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.conversation import Span, paths_in
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.looking import folder_of
from sessions_app.agent.providers.demo.phrases import NAME, Ask, P, Q
from sessions_app.agent.providers.demo.script import Call, CannotDo, Json, Outcome, Script
from sessions_app.agent.providers.demo.writing import bullets, code, count, fence, link


def move_or_copy(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    copy = re.match(r"(?:copy|duplicate|cp|back ?up|make|create|clone)", match.group(), re.I) is not None
    groups = match.groupdict()
    source = ask.plain(groups["from"]) if groups.get("from", "").startswith("‹") else (desk.it() or "")
    if not source:
        raise CannotDo(f"{'Copy' if copy else 'Move'} which file? Name it with its path.")
    target = ask.plain(groups["to"]).strip() if groups.get("to") else _copy_name(source)
    target = re.sub(
        r"^(?:the |a )?(?:new )?(?:folder|directory|file) (?:called |named )?|^the | (?:folder|directory|dir)$",
        "",
        target,
    )
    if re.fullmatch(r"(?:in |to )?(?:it|there|that|this|that folder|the new (?:one|folder))", target, re.I):
        made = next((p for p in paths_in(desk.last_answer()) if p.endswith("/")), None)
        if made is None:
            raise CannotDo(f"{'Copy' if copy else 'Move'} it to which folder? Name it with its path.")
        target = made
    into_folder = (
        bool(groups.get("to"))
        and re.search(r"(?:folder|directory|dir)$|^(?:the )?(?:folder|directory)\b", ask.plain(groups["to"]))
        is not None
    )
    if not (yield from moves.exists(desk, source, f"Is {code(source)} there?")):
        source = yield from moves.locate(desk, source, known_missing=True)
    if "/" in source.rstrip("/") and "/" not in target and re.match("rename", match.group(), re.I):
        target = f"{source.rsplit('/', 1)[0]}/{target}"
    if into_folder or target.endswith("/"):
        target = f"{target.rstrip('/')}/{source.rstrip('/').rsplit('/', 1)[-1]}"
    elif "." not in target.rsplit("/", 1)[-1] and "bash" in desk.tools:
        seen = yield from moves.shell(
            desk,
            f"[ -d {moves.quoted(target)} ] && echo folder || echo no folder",
            f"Is {code(target)} a folder?",
        )
        if moves.output(seen).strip() == "folder":
            target = f"{target}/{source.rstrip('/').rsplit('/', 1)[-1]}"
    parent = target.rpartition("/")[0]
    command = (
        f"mkdir -p {moves.quoted(parent)} && " if parent else ""
    ) + f"{'cp -Rn' if copy else 'mv -n'} {moves.quoted(source.rstrip('/'))} {moves.quoted(target)}"
    if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"{link(target)} exists already; nothing {'copied' if copy else 'moved'}.")
    yield from moves.shell(
        desk, command, f"{'Copying' if copy else 'Moving'} {code(source)}.", what="moving or copying files"
    )
    check = yield from moves.exists(desk, target, "Checking that it arrived.")
    if not check:
        raise CannotDo(f"The command ended without an error, but {code(target)} is not there.")
    desk.earlier = [target, *(p for p in desk.earlier if p not in {source, target})]
    return f"{'Copied' if copy else 'Moved'} {code(source)} to {link(target)}."


def _copy_name(source: str) -> str:
    stem, dot, ext = source.rstrip("/").rpartition(".")
    return f"{stem}.backup.{ext}" if dot and stem and "/" not in ext else f"{source.rstrip('/')}.backup"


_PLAIN_DELETE = frozenset({
    "delete", "remove", "rm", "rf", "erase", "trash", "get", "rid", "of", "drop", "the", "my", "our", "this", "that", "it", "file", "files", "folder", "folders", "directory", "and", "please",
    "both", "called", "named", "whole", "entire", "empty", "old", "unused", "unneeded", "temporary", "new", "created", "you", "just", "again", "with", "everything", "in", "its", "contents", "or", "also", "now", "from", "disk",
})  # fmt: skip


def delete(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    names = [*ask.paths, *ask.quotes]
    if not names and re.search(r"\b(?:it|that|this)(?: file)?$", match.group(), re.I):
        it = desk.it()
        names = [it] if it else []
    if not names:
        found = re.search(
            r"(?:folder|directory|file) (?:called |named )?([\w.-]+)$|\b([\w.-]+) (?:folder|directory)$",
            ask.text,
            re.I,
        )
        names = [next(g for g in found.groups() if g)] if found else []
    if not names or any(re.search(r"[*?]", n) for n in names) or ask.has(r"\b(?:all|every|everything|any)\b"):
        raise CannotDo(
            "Not deleted: the demo model deletes only what is named exactly, one path each, for example `delete old/notes.txt`."
        )
    beside = (
        set(re.findall(r"[^\W\d_]{2,}", re.sub(r"‹\w+›", " ", ask.text).lower()))
        - _PLAIN_DELETE
        - {w for n in names for w in re.findall(r"[^\W\d_]+", n.lower())}
    )
    if beside:
        # "Delete the logs older than …" is no wish to delete the logs.
        raise CannotDo(
            f"Not deleted: the demo model deletes only what is named exactly, and does not know what {', '.join(code(w) for w in sorted(beside))} means there."
        )
    if (
        not ask.paths
        and not ask.quotes
        and len([p for p in desk.listed() if not p.endswith("/")]) > 1
        and not desk.earlier
    ):
        raise CannotDo("Not deleted: it is not clear which file is meant. Name it with its path.")
    bad = [
        n
        for n in names
        if n.rstrip("/") in {"", ".", "..", "~"}
        or n.startswith(("/", "~", "../"))
        or n.split("/")[0] == ".git"
    ]
    if bad:
        raise CannotDo(
            f"Not deleted: {', '.join(code(n) for n in bad)} is outside what the demo model deletes (paths inside this folder, not `.git`)."
        )
    done: list[str] = []
    for name in names[:5]:
        path = moves.quoted(name.rstrip("/"))
        seen = yield from moves.shell(
            desk,
            f"ls -ld {path} && find {path} -type f | wc -l",
            f"Looking at {code(name)} before deleting it.",
            what="deleting",
            check=False,
        )
        if seen.is_error:
            raise CannotDo(
                f"Nothing called {code(name)} at that path; nothing deleted."
                + (f" Deleted before: {', '.join(done)}." if done else "")
            )
        folder = moves.output(seen).startswith("d")
        numbers = re.findall(r"^\s*(\d+)\s*$", seen.text, re.M)
        if not folder and "read" in desk.tools:
            yield from moves.read(
                desk, name, "Reading it once, so that “undo” can write it again.", check=False
            )
        yield from moves.shell(desk, f"rm {'-r ' if folder else ''}-- {path}", f"Deleting {code(name)}.")
        done.append(
            f"{code(name)}" + (f" with {count(int(numbers[-1]), 'file')} in it" if folder and numbers else "")
        )
    return f"Deleted {', '.join(done)}."


def make_executable(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = desk.file_of(ask)
    outcome = yield from moves.shell(
        desk,
        f"chmod +x {moves.quoted(path)} && ls -l {moves.quoted(path)}",
        f"Making {code(path)} executable.",
        what="changing permissions",
    )
    return f"{link(path)} is executable now:\n\n{fence(moves.output(outcome))}"


def permissions(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = desk.file_of(ask) if ask.paths else "."
    outcome = yield from moves.shell(
        desk,
        f"ls -l{'' if ask.paths else 'a'} {moves.quoted(path)}",
        "Listing with permissions.",
        what="listing permissions",
    )
    return f"Owner, rights, size and date:\n\n{fence(moves.output(outcome))}"


def pack(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    sources = [p for p in ask.paths if not re.search(r"\.(?:zip|tar|tgz|gz)$", p)] or [folder_of(ask)]
    target = next((p for p in ask.paths if p not in sources), "archive.tar.gz")
    if (yield from moves.exists(desk, target, f"Is {code(target)} free?")):
        raise CannotDo(f"{link(target)} exists already; nothing packed.")
    what = " ".join(moves.quoted(s.rstrip("/") or "/") for s in sources)
    command = (
        f"zip -qr {moves.quoted(target)} {what} -x '*/.git/*' -x {moves.quoted(target)}"
        if target.endswith(".zip")
        else f"tar --exclude=.git --exclude=./{target} -czf {moves.quoted(target)} {what}"
    )
    yield from moves.shell(
        desk,
        f"{command} && wc -c {moves.quoted(target)}",
        f"Packing into {code(target)}.",
        what="packing files",
    )
    return f"Packed {', '.join(code(s) for s in sources)} into {link(target)}, `.git` left out."


def undo(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Take back the newest change the conversation shows: edits reversed, new files removed, moves returned."""
    taken_back = sum(_is_undo(span.request) and span.finished for span in desk.spans)
    changes = [change for span in desk.spans if not _is_undo(span.request) for change in _changes(span)]
    if taken_back >= len(changes):
        raise CannotDo(
            "No change of this conversation is left to undo. To go back in the conversation itself, use the tree or `/undo`."
        )
    call, before = changes[len(changes) - 1 - taken_back]
    path = str(call.arguments.get("path", ""))
    if call.name == "edit":
        pairs = [(str(e.get("newText", "")), str(e.get("oldText", ""))) for e in _edits(call.arguments)]
        if any(not new for new, _ in pairs):
            raise CannotDo(
                f"The last change of {link(path)} deleted text without leaving a trace to find the place by; it stays. In a git folder, `git diff {path}` shows it."
            )
        yield from moves.edit(desk, path, pairs, f"Reversing the edit of {code(path)}.")
        return f"Took back the last edit of {link(path)}."
    if call.name == "write":
        if before is None:
            yield from moves.shell(
                desk,
                f"rm -- {moves.quoted(path)}",
                f"{code(path)} was new. Removing it.",
                what="removing the new file",
            )
            return f"Removed {code(path)}, which this conversation had created."
        yield from moves.write(desk, path, before, f"Writing the former text of {code(path)}.")
        return f"{link(path)} has its former text again."
    command = str(call.arguments.get("command", ""))
    return (yield from _undo_command(desk, command, before))


def _undo_command(desk: Desk, command: str, before: str | None) -> Script:
    moved = re.search(r"(?:^|&& )mv -n (\S+|'[^']*') (\S+|'[^']*')$", command)
    if moved:
        yield from moves.shell(desk, f"mv -n {moved.group(2)} {moved.group(1)}", "Moving it back.")
        return f"Moved {code(moved.group(2))} back to {code(moved.group(1))}."
    removed = re.match(r"rm -- '?([^']+?)'?$", command)
    if removed and before is not None:
        yield from moves.write(
            desk,
            removed.group(1),
            before,
            f"Writing {code(removed.group(1))} again from what was read before.",
        )
        return f"{link(removed.group(1))} is there again with the text it had."
    copied = re.search(r"cp -Rn (?:\S+|'[^']*') (\S+|'[^']*')$", command)
    if copied:
        yield from moves.shell(desk, f"rm -r -- {copied.group(1)}", "Removing the copy.")
        return f"Removed the copy {code(copied.group(1))}."
    raise CannotDo(f"The last change was the command {code(command)}; the demo model cannot take it back.")


def _is_undo(request: str) -> bool:
    return (
        re.match(
            r"\W*(?:please |can you |now )*(?:undo|revert|take (?:it|that) back|roll ?back)\b", request, re.I
        )
        is not None
    )


def _changes(span: Span) -> list[tuple[Call, str | None]]:
    """Calls that changed something, each with the text its file had before, as far as a read shows it."""
    texts: dict[str, str] = {}
    found: list[tuple[Call, str | None]] = []
    for call, outcome in span.results():
        path = str(call.arguments.get("path", ""))
        command = str(call.arguments.get("command", ""))
        if outcome.is_error:
            continue
        if call.name == "read":
            text = moves.file_text(path, outcome)
            if text.whole and not call.arguments.get("offset") and not call.arguments.get("limit"):
                texts[path] = text.text
        elif call.name in {"write", "edit"}:
            found.append((call, texts.get(path)))
        elif re.match(r"(?:mkdir -p \S+ && )?(?:mv -n|cp -Rn|rm )", command):
            removed = re.match(r"rm -- '?([^']+?)'?$", command)
            found.append((call, texts.get(removed.group(1)) if removed else None))
    return found


def _edits(arguments: Json) -> list[Json]:
    edits = arguments.get("edits")
    return [e for e in reversed(edits) if isinstance(e, dict)] if isinstance(edits, list) else []


def changed_so_far(spans: tuple[Span, ...]) -> list[str]:
    """Paths that calls of these spans wrote or edited, each once."""
    results: list[tuple[Call, Outcome]] = [pair for span in spans for pair in span.results()]
    return list(
        dict.fromkeys(
            str(c.arguments.get("path")) for c, o in results if c.name in {"write", "edit"} and not o.is_error
        )
    )


def show_changes(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    """The files this conversation changed."""
    yield from ()
    paths = changed_so_far(desk.spans)
    return (
        f"This conversation changed {count(len(paths), 'file')}:\n\n{bullets(link(p) for p in paths)}"
        if paths
        else "This conversation has changed no file."
    )


_ANY = rf"(?:{P}|{Q}|it\b|that\b(?: file)?|this\b(?: file)?|the file\b)"
RULES: list[Rule] = [
    rule(r"(?:undo|revert|take (?:it|that|this) back|roll ?back|put (?:it|that) back)\b(?!.*\bcommit)(?: (?:that|this|it|the|your|my|last|latest|previous|change|changes|edit|edits|what you (?:just )?did|of|file|everything|one|rename|move|deletion|replacement|to|in|‹p\d+›))*$", undo),
    rule(rf"(?:move|mv|put|relocate)\b (?:the )?(?:file |folder )?(?P<from>{_ANY}) (?:in)?to (?P<to>.+)$", move_or_copy),
    rule(rf"rename (?:the )?(?:file |folder |directory )?(?P<from>{_ANY}) (?:to|as|into|->|→) (?P<to>(?:{P}|{Q}|{NAME}))$", move_or_copy),
    rule(rf"(?:copy|cp|duplicate|clone)\b (?:the )?(?:file |folder )?(?P<from>{_ANY}) (?:to|as|into|under) (?:a (?:new )?file (?:called |named )?)?(?P<to>.+)$", move_or_copy),
    rule(rf"(?:(?:make|create) an? (?:backup )?(?:copy|backup|duplicate) of|back ?up|duplicate|copy)\b (?:the )?(?:file |folder )?(?P<from>{_ANY})(?: (?:as|to|called|named|into) (?P<to>.+))?$", move_or_copy),
    rule(rf"mv (?P<from>{P}) (?P<to>{NAME})$", move_or_copy),
    rule(rf"(?:delete|remove|rm(?: -r?f?)?|erase|trash|get rid of|drop)\b (?!.*\b(?:lines?|word|text|function|branch|import|comment|section|trailing|from|whitespace|spaces|dependency|column|row|tag|entry)\b)(?:.*(?:{P}|{Q}|\bit$|that file$|this file$|\bfiles?\b|\bfolders?\b|\bdirectory\b|everything|\*).*)", delete),
    rule(rf"(?:make|set|mark)\b .*(?:{P}|\bit\b|that|this).*\bexecutable.*|chmod \+x .*", make_executable),
    rule(r"(?:what|show|list|which|check|get|who)\b.*\b(?:permissions?|file rights|owns? (?:this|the|these) (?:files?|folder)|owner of (?:this|the|these) (?:files?|folder)|executable)\b.*", permissions),
    rule(r"(?:zip|tar|pack|archive|compress)\b(?: up)?(?=.*(?:‹p|folder|project|directory|everything|files|this)).*|(?:make|create) an? (?:zip|tar|archive|tarball)\b.*", pack),
    rule(r"(?:what|which) (?:files? )?(?:did|have|has) (?:you|this (?:session|conversation)|we) (?:just )?(?:change|changed|modify|modified|edit|edited|create|created|write|written).*", show_changes),
]  # fmt: skip
