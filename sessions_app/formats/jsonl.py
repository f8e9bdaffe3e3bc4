"""Our own session file: one JSON object per line, a header first; versions 1 and 2 are upgraded on reading."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, AnyStr, BinaryIO

from sessions_app.core.bulk import building_many
from sessions_app.core.entries import Entry, Kind
from sessions_app.core.errors import CyclicTree, NotASession
from sessions_app.core.json_text import parser_of_many, print_json
from sessions_app.core.messages import Json, number_of
from sessions_app.core.tree import Tree

CURRENT_VERSION = 3
BYTE_ORDER_MARK = "\ufeff"

Source = str | bytes | BinaryIO
"""A file's text, its bytes, or the file itself, read line by line."""

MintId = Callable[[], str]


@dataclass(frozen=True, slots=True)
class Repair:
    """Something in a file that was mended or passed over; `line` counts from 1."""

    line: int
    what: str


@dataclass(slots=True)
class SessionFile:
    """A session as read from a file.

    `header` is None for an empty file: the session is new and gets a header of its own. `lines` holds
    every entry's text as it stood in the file, or None where an upgrade or a repair changed the entry.
    `version` is the file's own; `migrated` tells that entries were upgraded. `newline_missing`: the last
    line had no line end (01 SF-02).
    """

    header: Json | None
    entries: list[Entry]
    lines: list[str | None]
    repairs: list[Repair] = field(default_factory=list)
    version: float = CURRENT_VERSION
    migrated: bool = False
    newline_missing: bool = False
    header_line: str | None = None

    @property
    def tree(self) -> Tree:
        return Tree(self.entries)

    @property
    def session_id(self) -> str | None:
        return None if self.header is None else str(self.header["id"])


@dataclass(slots=True)
class _Line:
    number: int
    text: str | None
    record: Json


def read_session(source: Source, mint_id: MintId, *, accept_byte_order_mark: bool = False) -> SessionFile:
    """Read a session file whole (a file that is open from its beginning on), passing over what is damaged (01 §1 SF, §4).

    `mint_id` gives a new entry id per call; ids are minted for version 1 and for entries without one.
    Raises NotASession, naming the line, if the first JSON value of a file is no header; CyclicTree if
    following parents leads in a circle. Nothing else in a file is an error: see `repairs`.
    """
    with building_many():
        return _read(source, mint_id, accept_byte_order_mark=accept_byte_order_mark)


def _read(source: Source, mint_id: MintId, *, accept_byte_order_mark: bool) -> SessionFile:
    repairs: list[Repair] = []
    text_lines = _text_lines(source, repairs)
    first = next(text_lines, None)
    if first is None:
        return SessionFile(None, [], [], repairs)
    marked = first.startswith(BYTE_ORDER_MARK)
    if marked and accept_byte_order_mark:
        first = first[1:]
        repairs.append(Repair(1, "a byte order mark was dropped"))
    lines = list(_records(chain((first,), text_lines), repairs))
    if not lines:
        raise NotASession("line 1: no line of the file is a JSON object, so there is no session header")
    header = lines[0]
    if header.record.get("type") != "session" or not isinstance(header.record.get("id"), str):
        mark = " (the file begins with a byte order mark, which hides its first line)" if marked else ""
        raise NotASession(
            f"line {header.number}: a session file begins with a header "
            f'whose "type" is "session" and whose "id" is a string{mark}'
        )
    version = _version_of(header.record)
    migrated = _migrate(lines, version, mint_id)
    body = [line for line in lines[1:] if not _is_second_header(line, repairs)]
    _mend_ids(body, mint_id, repairs)
    session = SessionFile(
        header=header.record,
        entries=[Entry(line.record, seq) for seq, line in enumerate(body, start=1)],
        lines=[line.text for line in body],
        repairs=repairs,
        version=version,
        migrated=migrated,
        newline_missing=not _ends_its_last_line(source),
        header_line=header.text,
    )
    _inspect_tree(session, [line.number for line in body])
    return session


def _text_lines(source: Source, repairs: list[Repair]) -> Iterator[str]:
    """The lines; only a line feed ends one. Bytes are decoded line by line: a rare character would make the text of
    the whole file four times as large.
    """
    if isinstance(source, str):
        yield from _split(source, "\n")
        return
    is_told = False
    lines = (
        _split(source, b"\n") if isinstance(source, bytes) else (line.removesuffix(b"\n") for line in source)
    )
    for number, line in enumerate(lines, start=1):
        try:
            yield line.decode()
        except UnicodeDecodeError:
            if not is_told:
                is_told = True
                repairs.append(
                    Repair(number, "bytes that are not UTF-8 were replaced, here and in later lines")
                )
            yield line.decode("utf-8", "replace")


def _split(source: AnyStr, line_feed: AnyStr) -> Iterator[AnyStr]:
    start = 0
    while start < len(source):
        end = source.find(line_feed, start)
        end = len(source) if end < 0 else end
        yield source[start:end]
        start = end + 1


def _ends_its_last_line(source: Source) -> bool:
    if isinstance(source, str | bytes):
        return source[-1:] in ("\n", b"\n")
    source.seek(-1, os.SEEK_END)
    return source.read(1) == b"\n"


def _version_of(header: Json) -> float:
    """The file's version; a header without one is of version 1, one that is no number counts as current."""
    version = header.get("version")
    if version is None:
        return 1
    number = number_of(version)
    return CURRENT_VERSION if number is None else number


def _records(text_lines: Iterable[str], repairs: list[Repair]) -> Iterator[_Line]:
    """Every line that is a JSON object; the others are reported."""
    begun = False
    parse = parser_of_many()
    for number, line in enumerate(text_lines, start=1):
        if not line or line.isspace():
            continue
        try:
            record = parse(line)
        except ValueError as error:
            repairs.append(Repair(number, f"skipped: {_reason(line, error)}"))
            continue
        if isinstance(record, dict):
            begun = True
            yield _Line(number, line, record)
        elif not begun and record not in (None, 0, "", False):
            raise NotASession(f"line {number}: a session file begins with a header, which is a JSON object")
        else:
            repairs.append(Repair(number, "skipped: not a JSON object"))


def _reason(line: str, error: ValueError) -> str:
    if str(error).startswith("Extra data"):
        return "more than one JSON value on the line"
    return f"not JSON ({error}), {len(line)} characters"


def _is_second_header(line: _Line, repairs: list[Repair]) -> bool:
    if line.record.get("type") != "session":
        return False
    repairs.append(Repair(line.number, "skipped: a second session header"))
    return True


def _migrate(lines: list[_Line], version: float, mint_id: MintId) -> bool:
    """Upgrade the records in place to version 3; newer files stay as they are."""
    if version >= CURRENT_VERSION:
        return False
    if version < 2:
        _give_ids(lines, mint_id)
    for line in lines[1:]:
        message = line.record.get("message")
        if line.record.get("type") != "message" or not isinstance(message, dict):
            continue
        if message.get("role") == "hookMessage":
            line.record["message"] = {**message, "role": "custom"}
            line.text = None
    lines[0].record["version"] = CURRENT_VERSION
    lines[0].text = None
    return True


def _give_ids(lines: list[_Line], mint_id: MintId) -> None:
    """Version 1 had no tree: every entry follows the one before, and a kept boundary is a record's number."""
    previous: str | None = None
    earlier_ids = [line.record.get("id") for line in lines]
    for line in lines[1:]:
        if line.record.get("type") == "session":
            continue
        line.record["id"], line.record["parentId"] = mint_id(), previous
        line.text = None
        previous = line.record["id"]
    for position, line in enumerate(lines):
        index = number_of(line.record.get("firstKeptEntryIndex"))
        if line.record.get("type") != Kind.COMPACTION or index is None:
            continue
        del line.record["firstKeptEntryIndex"]
        if index not in range(1, len(lines)) or lines[int(index)].record.get("type") == "session":
            continue
        if index <= position:
            line.record["firstKeptEntryId"] = lines[int(index)].record["id"]
        elif isinstance(earlier_ids[int(index)], str):
            # A boundary ahead of the compaction keeps nothing: it names what the entry was called before.
            line.record["firstKeptEntryId"] = earlier_ids[int(index)]
        else:
            line.record.pop("firstKeptEntryId", None)


def _mend_ids(body: list[_Line], mint_id: MintId, repairs: list[Repair]) -> None:
    for line in body:
        if not isinstance(line.record.get("id"), str):
            line.record["id"] = mint_id()
            line.text = None
            repairs.append(Repair(line.number, "an entry without an id was given one"))


def _inspect_tree(session: SessionFile, numbers: Sequence[int]) -> None:
    """Refuse circles; report doubled ids and entries whose parent is missing or themselves."""
    tree = session.tree
    cyclic = tree.find_cycle()
    if cyclic is not None:
        line = numbers[session.entries.index(cyclic)]
        raise CyclicTree(
            f"line {line}: entry {cyclic.id!r} is among its own ancestors, so it has no place in a tree"
        )
    seen: set[str] = set()
    for entry, number in zip(session.entries, numbers, strict=True):
        parent = entry.record.get("parentId")
        if entry.id in seen:
            session.repairs.append(
                Repair(number, f"the id {entry.id!r} is used twice; the later entry counts")
            )
        elif parent == entry.id:
            session.repairs.append(Repair(number, "an entry that is its own parent became a root"))
        elif parent is not None and (not isinstance(parent, str) or parent not in tree):
            session.repairs.append(
                Repair(number, f"the parent {parent!r} is missing; the entry became a root")
            )
        seen.add(entry.id)
    session.repairs.sort(key=lambda repair: repair.line)


def new_header(session_id: str, timestamp: str, cwd: str, parent_session: str | None = None) -> Json:
    header: Json = {
        "type": "session",
        "version": CURRENT_VERSION,
        "id": session_id,
        "timestamp": timestamp,
        "cwd": cwd,
    }
    if parent_session is not None:
        header["parentSession"] = parent_session
    return header


def write_session(
    header: Json | str, entries: Sequence[Entry], lines: Sequence[str | None] = ()
) -> Iterator[str]:
    """The lines of a whole tree, each with its line end; `lines` are stored texts that are written as they are.

    Reading a file and writing what was read gives the same bytes, unless lines had to be mended.
    """
    yield (header if isinstance(header, str) else print_json(header)) + "\n"
    for index, entry in enumerate(entries):
        stored = lines[index] if index < len(lines) else None
        yield (stored if stored is not None else entry.to_json()) + "\n"


def write_branch(header: Json, path: Sequence[Entry]) -> Iterator[str]:
    """The lines of one branch as a session of its own: same id, no parent session, one chain (01 IO-01)."""
    own: Json = {**header, "version": CURRENT_VERSION}
    own.pop("parentSession", None)
    yield print_json(own) + "\n"
    parent: str | None = None
    for entry in path:
        record: dict[str, Any] = {**entry.record, "parentId": parent}
        yield print_json(record) + "\n"
        parent = entry.id
