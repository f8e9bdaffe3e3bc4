"""Reads an image's type and size from its first bytes, without decoding it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ImageHeader:
    """`width` and `height` are pixels, at least 1."""

    mime_type: str
    width: int
    height: int


def read_image_header(data: bytes) -> ImageHeader | None:
    """The header of a PNG, JPEG, GIF or WebP; None for anything else, or when the header is cut off."""
    size: tuple[int, int] | None = None
    mime_type = ""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        mime_type, size = "image/png", _png(data)
    elif data.startswith(b"\xff\xd8\xff"):
        mime_type, size = "image/jpeg", _jpeg(data)
    elif data.startswith((b"GIF87a", b"GIF89a")):
        mime_type, size = "image/gif", _gif(data)
    elif data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        mime_type, size = "image/webp", _webp(data)
    if size is None or min(size) < 1:
        return None
    return ImageHeader(mime_type, *size)


def _png(data: bytes) -> tuple[int, int] | None:
    if len(data) < 24 or data[12:16] != b"IHDR":
        return None
    return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")


def _gif(data: bytes) -> tuple[int, int] | None:
    if len(data) < 10:
        return None
    return int.from_bytes(data[6:8], "little"), int.from_bytes(data[8:10], "little")


def _jpeg(data: bytes) -> tuple[int, int] | None:
    position = 2
    while position + 9 < len(data):
        if data[position] != 0xFF:
            return None
        marker = data[position + 1]
        if marker == 0xFF:  # a fill byte
            position += 1
            continue
        # The frame headers C0 … CF, without the tables C4, C8 and CC that share the range.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height = int.from_bytes(data[position + 5 : position + 7], "big")
            return int.from_bytes(data[position + 7 : position + 9], "big"), height
        position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return None


def _webp(data: bytes) -> tuple[int, int] | None:
    if len(data) < 30:
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if kind == b"VP8 ":
        width = int.from_bytes(data[26:28], "little") & 0x3FFF
        return width, int.from_bytes(data[28:30], "little") & 0x3FFF
    if kind == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + ((bits >> 14) & 0x3FFF)
    return None
