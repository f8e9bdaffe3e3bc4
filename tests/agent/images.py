"""Small images: real ones, and ones of any announced size of which only the header is ever read."""

from __future__ import annotations

import base64
import io
import struct
import zlib
from typing import Any

from PIL import Image


def picture(kind: str, width: int = 8, height: int = 6) -> bytes:
    """A real image in one of Pillow's formats."""
    target = io.BytesIO()
    Image.new("RGB", (width, height), "teal").save(target, kind)
    return target.getvalue()


def png(width: int = 2, height: int = 2, *, padding: int = 0) -> bytes:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + _chunk(b"IDAT", b"\x00" * padding)
        + _chunk(b"IEND", b"")
    )


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def image_block(data: bytes | str, mime_type: str = "image/png") -> dict[str, Any]:
    text = data if isinstance(data, str) else base64.b64encode(data).decode()
    return {"type": "image", "data": text, "mimeType": mime_type}
