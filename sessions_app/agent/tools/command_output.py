"""What a command prints, kept in bounded memory: its end for the model, all of it in a file when it is long."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sessions_app.agent.sandboxes.base import Sandbox, SandboxError
from sessions_app.agent.tools.clean_text import clean_output
from sessions_app.agent.tools.truncation import MAX_BYTES, Truncation, byte_size, truncate_tail

KEPT = 1 << 20  # bytes of raw output in memory; whatever fits is cleaned and counted as a whole
HALF = KEPT // 2  # of the output for scripts, which has its beginning and its end
_LOOKED_AT = 4 * MAX_BYTES  # bytes that are cleaned for a partial result


@dataclass(frozen=True, slots=True)
class Output:
    """The end of the output. `path` holds everything, raw; only when `truncation` left something out."""

    truncation: Truncation
    path: Path | None
    problem: str = ""  # why not everything could be kept

    @property
    def text(self) -> str:
        return self.truncation.content


class CommandOutput:
    """`add` takes what arrives; `latest` and `finish` may be called from another thread."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._lock = threading.Lock()
        self._chunks: deque[bytes] = deque()
        self._head = bytearray()
        self._kept = 0
        self._bytes = 0
        self._newlines = 0
        self._file: BinaryIO | None = None
        self._path: Path | None = None
        self._problem = ""

    def add(self, data: bytes) -> None:
        with self._lock:
            self._chunks.append(data)
            if len(self._head) < HALF:
                self._head += data[: HALF - len(self._head)]
            self._kept += len(data)
            self._bytes += len(data)
            self._newlines += data.count(b"\n")
            if self._file is not None:
                self._write([data])
            elif self._kept > KEPT and not self._problem:
                self._spill()
            while self._kept - len(self._chunks[0]) >= KEPT:
                self._kept -= len(self._chunks.popleft())

    def latest(self) -> str:
        """The newest lines, for a partial result."""
        with self._lock:
            wanted: list[bytes] = []
            size = 0
            for chunk in reversed(self._chunks):
                wanted.append(chunk)
                size += len(chunk)
                if size >= _LOOKED_AT:
                    break
            whole = len(wanted) == len(self._chunks) and self._kept == self._bytes
        raw = b"".join(reversed(wanted))
        return truncate_tail(clean_output(raw if whole else _from_next_line(raw))).content

    def finish(self) -> Output:
        """Closes the file. Call it once, when nothing more arrives."""
        with self._lock:
            raw = b"".join(self._chunks)
            whole = self._kept == self._bytes
            cut = truncate_tail(clean_output(raw if whole else _from_next_line(raw)))
            if not whole:
                cut = self._of_everything(cut, ends_with_newline=raw.endswith(b"\n"))
            if cut.truncated and self._file is None and not self._problem:
                self._spill()
            if self._file is not None:
                self._file.close()
            return Output(cut, self._path if cut.truncated and not self._problem else None, self._problem)

    def for_scripts(self) -> tuple[str, int]:
        """Up to 1 MiB as text, of more the first and the last half of that, and how many bytes are left out (05 §1)."""
        with self._lock:
            kept, left_out = b"".join(self._chunks), self._bytes - KEPT
            head = bytes(self._head)
        if left_out <= 0:
            return clean_output(kept), 0
        cut = f"\n[{left_out} bytes are left out]\n"
        return clean_output(head) + cut + clean_output(kept[-HALF:]), left_out

    def _of_everything(self, cut: Truncation, *, ends_with_newline: bool) -> Truncation:
        """The counts of the whole raw output, of which only the end was looked at."""
        return Truncation(
            content=cut.content,
            truncated_by=cut.truncated_by or "bytes",
            total_lines=self._newlines + (not ends_with_newline),
            total_bytes=self._bytes,
            output_lines=cut.output_lines,
            output_bytes=byte_size(cut.content),
            last_line_partial=cut.last_line_partial,
        )

    def _spill(self) -> None:
        try:
            self._file, self._path = self._sandbox.new_output_file()
        except SandboxError as error:
            self._problem = str(error)
        else:
            self._write(self._chunks)

    def _write(self, chunks: deque[bytes] | list[bytes]) -> None:
        """A full disk must not end the command: the model gets the end of the output all the same."""
        if self._file is None:
            return
        try:
            self._file.writelines(chunks)
        except OSError as error:
            self._problem = f"The full output could not be kept: {error.strerror}."
            self._file.close()
            self._file = None


def _from_next_line(raw: bytes) -> bytes:
    """Without the beginning of a line that is cut off, unless it is all there is."""
    start = raw.find(b"\n", 0, len(raw) // 2)
    return raw[start + 1 :] if start >= 0 else raw.lstrip(bytes(range(0x80, 0xC0)))
