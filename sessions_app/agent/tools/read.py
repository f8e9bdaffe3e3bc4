"""The `read` tool: lines of a text file, or an image (spec 05 §3)."""

from __future__ import annotations

import shlex
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from sessions_app.agent.sandboxes import file_errors
from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import Json, ToolError, ToolResult, UpdateSink
from sessions_app.agent.tools.clean_text import clean_file_text, clean_name
from sessions_app.agent.tools.images import (
    HEADER,
    LARGEST_FILE,
    UnusableImage,
    image_type,
    prepare_image,
)
from sessions_app.agent.tools.listing import text_result
from sessions_app.agent.tools.truncation import MAX_BYTES, MAX_LINES, Truncation, format_size, truncate_head

_CHUNK = 1 << 18


class ReadTool:
    name = "read"
    description = (
        "Read a file. Text comes as it is, without line numbers, "
        f"at most {MAX_LINES} lines or {MAX_BYTES // 1024} KB at a time: read on with offset. "
        "Images (png, jpg, gif, webp, bmp) are shown."
    )
    parameters: Json = {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "The file, relative to the working folder or absolute"},
            "offset": {"type": "number", "description": "The first line to read, counted from 1"},
            "limit": {"type": "number", "description": "The most lines to read"},
        },
        "required": ["path"],
    }
    sequential = False

    def __init__(self, *, resize_images: bool = True) -> None:
        self._resize_images = resize_images

    def run(self, arguments: Json, sandbox: Sandbox, stop: StopSignal, on_update: UpdateSink) -> ToolResult:
        named: str = arguments["path"]
        path = _existing(sandbox, named)
        offset = max(1, int(arguments.get("offset") or 1))
        limit = max(1, int(arguments["limit"])) if "limit" in arguments else None
        with sandbox.open_read(path) as file:
            try:
                kind = image_type(file.read(HEADER))
                file.seek(0)
                if kind is not None:
                    return _image(file, kind, self._resize_images)
                return _text(_Lines(offset, limit).read_all(_chunks(file, stop)), named)
            except OSError as error:
                raise file_errors.in_words(error, named) from error


def _existing(sandbox: Sandbox, named: str) -> Path:
    """The file as named, or under one of the spellings that macOS gives names (spec 05 §2)."""
    path = sandbox.resolve(named)
    if sandbox.stat(path) is not None:
        return path
    decomposed = unicodedata.normalize("NFD", named)
    for spelling in (
        named.replace(" AM.", "\u202fAM.").replace(" PM.", "\u202fPM."),
        decomposed,
        named.replace("'", "\u2019"),
        decomposed.replace("'", "\u2019"),
    ):
        try:
            other = sandbox.resolve(spelling)
        except SandboxError:
            continue
        if sandbox.stat(other) is not None:
            return other
    return path


def _chunks(file: BinaryIO, stop: StopSignal) -> Iterator[bytes]:
    while chunk := file.read(_CHUNK):
        if stop.is_set():
            raise ToolError("Reading the file was stopped.")
        yield chunk


class _Lines:
    """The wanted lines of a file that may be larger than memory, and how many lines there are."""

    def __init__(self, offset: int, limit: int | None) -> None:
        self.offset = offset
        self.limit = limit
        self.total = 0
        self.wanted_bytes = 0
        self.first_bytes = 0
        self._kept = bytearray()
        self._kept_lines = 0

    def read_all(self, chunks: Iterator[bytes]) -> _Lines:
        number, open_line = 1, False
        for chunk in chunks:
            start = 0
            while start < len(chunk):
                if number > self.offset and not self._wants(number):
                    number += chunk.count(b"\n", start)  # nothing more to keep: only counted
                    open_line = not chunk.endswith(b"\n")
                    break
                found = chunk.find(b"\n", start)
                end = len(chunk) if found < 0 else found + 1
                if self._wants(number):
                    self._keep(chunk[start:end], number)
                open_line = found < 0
                number += found >= 0
                start = end
        self.total = number if open_line or number == 1 else number - 1
        return self

    @property
    def text(self) -> str:
        return clean_file_text(self._kept.decode("utf-8", "replace"))

    @property
    def wanted(self) -> int:
        """How many lines were asked for and are there."""
        there = self.total - self.offset + 1
        return there if self.limit is None else min(self.limit, there)

    def _wants(self, number: int) -> bool:
        return number >= self.offset and (self.limit is None or number < self.offset + self.limit)

    def _keep(self, part: bytes, number: int) -> None:
        self.wanted_bytes += len(part)
        if number == self.offset:
            self.first_bytes += len(part.rstrip(b"\n"))
        # One byte over the limit is enough to know that the limit was reached.
        if len(self._kept) <= MAX_BYTES and self._kept_lines <= MAX_LINES:
            self._kept += part[: MAX_BYTES + 2]
            self._kept_lines += part.endswith(b"\n")


def _text(lines: _Lines, named: str) -> ToolResult:
    if lines.offset > lines.total:
        count = f"{lines.total} line{'s' if lines.total != 1 else ''}"
        raise ToolError(f"offset={lines.offset} is beyond the end: {clean_name(named)} has {count}.")
    cut = truncate_head(lines.text)
    if lines.first_bytes > MAX_BYTES or cut.first_line_exceeds_limit:
        return _too_long_a_line(lines, cut, named)
    last = lines.offset + cut.output_lines - 1
    if cut.truncated:
        limit = f" (limit {format_size(MAX_BYTES)})" if cut.truncated_by == "bytes" else ""
        notice = (
            f"Lines {lines.offset}-{last} of {lines.total} are shown{limit}. Read on with offset={last + 1}."
        )
        return text_result(f"{cut.content}\n\n[{notice}]", {"truncation": _details(lines, cut)})
    following = lines.total - (lines.offset + lines.wanted - 1)
    if following > 0:
        verb = "line follows" if following == 1 else "lines follow"
        notice = f"{following} more {verb}. Read on with offset={lines.offset + lines.wanted}."
        return text_result(f"{cut.content.removesuffix(chr(10))}\n\n[{notice}]")
    return text_result(cut.content)


def _too_long_a_line(lines: _Lines, cut: Truncation, named: str) -> ToolResult:
    hint = f"sed -n {lines.offset}p {shlex.quote(named)} | head -c {MAX_BYTES}"
    notice = (
        f"Line {lines.offset} has {format_size(lines.first_bytes)}, more than the {format_size(MAX_BYTES)} "
        f"that can be read at once. With bash: {hint}"
    )
    details = _details(lines, cut) | {"outputLines": 0, "outputBytes": 0, "firstLineExceedsLimit": True}
    return text_result(f"[{notice}]", {"truncation": details})


def _details(lines: _Lines, cut: Truncation) -> Json:
    """With the counts of all lines that were asked for, not only of those that were looked at."""
    return cut.to_details() | {"totalLines": lines.wanted, "totalBytes": lines.wanted_bytes}


def _image(file: BinaryIO, kind: str, resize: bool) -> ToolResult:
    content = file.read(LARGEST_FILE + 1)
    try:
        if len(content) > LARGEST_FILE:
            raise UnusableImage(f"it has more than {format_size(LARGEST_FILE)}")
        image = prepare_image(content, kind, resize=resize)
    except UnusableImage as reason:
        return text_result(f"[Image, {kind}. It cannot be shown: {reason}.]")
    return ToolResult(
        [
            {"type": "text", "text": f"[Image, {image.mime_type}, {image.note}.]"},
            {"type": "image", "data": image.data, "mimeType": image.mime_type},
        ]
    )
