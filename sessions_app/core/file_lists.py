"""The files a stretch of conversation read and changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sessions_app.core.json_text import print_compact_json, string_of
from sessions_app.core.messages import Json, blocks_of, tool_calls_of


class FileSet:
    """Paths without doubles. Lists of stored details are not checked, so a member may be any JSON value."""

    __slots__ = ("_members",)

    def __init__(self, items: Iterable[Any] = ()) -> None:
        self._members: dict[str, Any] = {}
        for item in items:
            self.add(item)

    def __contains__(self, item: object) -> bool:
        return _identity(item) in self._members

    def __iter__(self) -> Any:
        return iter(self._members.values())

    def add(self, item: Any) -> None:
        self._members.setdefault(_identity(item), item)

    def sorted(self) -> list[Any]:
        """By the UTF-16 units of each member's text, as JavaScript sorts."""
        return sorted(self, key=lambda item: string_of(item).encode("utf-16-be", "surrogatepass"))


def _identity(item: Any) -> str:
    # Values are the same by content, objects and lists only when they are the same object.
    if isinstance(item, str):
        return '"' + item
    return f"#{id(item)}" if isinstance(item, dict | list) else print_compact_json(item)


@dataclass(frozen=True, slots=True)
class FileLists:
    """The file lists of a summary; `details` is their stored form, `block` the text put under the summary."""

    read_files: list[Any]
    modified_files: list[Any]

    @property
    def details(self) -> Json:
        return {"readFiles": self.read_files, "modifiedFiles": self.modified_files}

    @property
    def block(self) -> str:
        """With its leading blank line; empty lists leave no trace (02 §8)."""
        return _tagged("read-files", self.read_files) + _tagged("modified-files", self.modified_files)


def _tagged(tag: str, paths: list[Any]) -> str:
    if not paths:
        return ""
    lines = "\n".join("" if path is None else string_of(path) for path in paths)
    return f"\n\n<{tag}>\n{lines}\n</{tag}>"


@dataclass(frozen=True, slots=True)
class FileOperations:
    """Paths by what was done to them."""

    read: FileSet = field(default_factory=FileSet)
    written: FileSet = field(default_factory=FileSet)
    edited: FileSet = field(default_factory=FileSet)

    def add_calls(self, message: Json, *, nested: bool) -> None:
        """Note the calls of an answer and, if `nested`, those recorded on a tool result (02 §8)."""
        role = message.get("role")
        if role == "assistant":
            calls = tool_calls_of(message)
        elif nested and role == "toolResult":
            calls = _nested_calls(message)
        else:
            return
        for call in calls:
            self._add_call(call)

    def _add_call(self, call: Json) -> None:
        arguments = call.get("arguments")
        path = arguments.get("path") if isinstance(arguments, dict) else None
        if not isinstance(path, str) or not path:
            return
        match call.get("name"):
            case "read":
                self.read.add(path)
            case "write":
                self.written.add(path)
            case "edit":
                self.edited.add(path)

    def add_details(self, record: Json) -> None:
        """Note the lists on a summary entry, unless an extension wrote it (02 §8, 03 BS-11)."""
        details = record.get("details")
        if record.get("fromHook") or not isinstance(details, dict):
            return
        for target, name in ((self.read, "readFiles"), (self.edited, "modifiedFiles")):
            paths = details.get(name)
            for path in paths if isinstance(paths, list) else ():
                target.add(path)

    def lists(self) -> FileLists:
        """What was changed, and what was only read, each sorted."""
        modified = FileSet([*self.edited, *self.written])
        only_read = FileSet(path for path in self.read if path not in modified)
        return FileLists(read_files=only_read.sorted(), modified_files=modified.sorted())


def _nested_calls(message: Json) -> list[Json]:
    nested = message.get("nestedCalls")
    return blocks_of(nested.get("calls")) if isinstance(nested, dict) else []
