"""Text that can be stored, sent and shown: no control characters, no terminal codes, no half characters."""

from __future__ import annotations

import re
from typing import Any

_REPLACEMENT = "\ufffd"
_SURROGATE = re.compile("[\ud800-\udfff]")
# Everything below space but tab, newline, form feed and carriage return; DEL; the C1 controls.
_FILE_CONTROLS = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f-\x9f]")
_OUTPUT_CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
# Characters that turn the reading direction of what follows, to make text look like something else.
_DIRECTION = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ANSI = re.compile(
    "(?:\x1b\\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, cursor moves
    "|(?:\x1b\\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\\\|\x9c)"  # titles, links
    "|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c]*(?:\x1b\\\\|\x9c)"  # device strings
    "|\x1b[ -/]*[0-~]"  # character sets and single functions
)
_BACKSPACED = re.compile("[^\n\x08]\x08")


def clean_output(data: bytes) -> str:
    """What a person would have seen of a program's output: the last state of progress lines, no codes.

    Invalid UTF-8 becomes U+FFFD.
    """
    text = data.decode("utf-8", "replace")
    text = _ANSI.sub("", text).replace("\r\n", "\n")
    if "\b" in text:
        text = _without_backspaces(text)
    if "\r" in text:
        text = "\n".join(_last_state(line) for line in text.split("\n"))
    text = _OUTPUT_CONTROLS.sub("", text)
    return _DIRECTION.sub(lambda match: f"<U+{ord(match[0]):04X}>", text)


def clean_file_text(text: str) -> str:
    """A file's text, as it is but for control characters, which become their visible pictures (␀, ␛ …)."""
    return _FILE_CONTROLS.sub(lambda match: _picture(ord(match[0])), without_surrogates(text))


def clean_name(name: str) -> str:
    """A file name on one line: control characters visible, bytes that are no UTF-8 as U+FFFD."""
    shown = _SURROGATE.sub(_REPLACEMENT, name)
    shown = re.sub("[\x00-\x1f\x7f-\x9f]", lambda match: _picture(ord(match[0])), shown)
    return _DIRECTION.sub(lambda match: f"<U+{ord(match[0]):04X}>", shown)


def without_surrogates(text: str) -> str:
    """Pairs become the character they stand for, halves U+FFFD."""
    if not _SURROGATE.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def without_surrogates_inside(value: Any) -> Any:
    """The same for every string in a JSON value, names of fields included."""
    match value:
        case str():
            return without_surrogates(value)
        case list():
            return [without_surrogates_inside(item) for item in value]
        case dict():
            return {
                without_surrogates(str(name)): without_surrogates_inside(item) for name, item in value.items()
            }
        case _:
            return value


def _without_backspaces(text: str) -> str:
    # Each pass removes one level of overstriking; a bound keeps a hostile text from costing minutes.
    for _ in range(200):
        text, count = _BACKSPACED.subn("", text)
        if not count:
            break
    return text


def _last_state(line: str) -> str:
    """Of a line redrawn with carriage returns, the last thing drawn."""
    return next((part for part in reversed(line.split("\r")) if part.strip()), line.replace("\r", ""))


def _picture(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\u2421" if code == 0x7F else _REPLACEMENT
