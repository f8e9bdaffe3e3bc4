"""Images as a model can take them: a known type, not too large (spec 04 §6)."""

from __future__ import annotations

import base64
import io
from dataclasses import dataclass

from PIL import Image, ImageOps, UnidentifiedImageError

LARGEST_SIDE = 2000
LARGEST_BASE64 = int(4.5 * 1024 * 1024)
LARGEST_FILE = 50 * 1024 * 1024
_MOST_PIXELS = 100_000_000  # decoding takes 4 bytes for each
_JPEG_QUALITY = 80
_KEPT_TYPES = ("image/png", "image/jpeg", "image/gif", "image/webp")
HEADER = 16


@dataclass(frozen=True, slots=True)
class PreparedImage:
    """An image in base64, and what was done to it, in words for the model."""

    data: str
    mime_type: str
    note: str


class UnusableImage(Exception):  # noqa: N818 - news for the model rather than a fault
    """It cannot be shown; the text says why."""


def image_type(header: bytes) -> str | None:
    """The MIME type by the first bytes of a file, whatever its name."""
    if header.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if header.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if header.startswith((b"GIF87a", b"GIF89a")):
        return "image/gif"
    if header.startswith(b"RIFF") and header[8:12] == b"WEBP":
        return "image/webp"
    # Two letters are no proof of a bitmap: its reserved bytes are zero as well.
    if header.startswith(b"BM") and header[6:10] == b"\0\0\0\0":
        return "image/bmp"
    return None


def prepare_image(content: bytes, mime_type: str, *, resize: bool = True) -> PreparedImage:
    """Scaled down or converted where needed; raises UnusableImage. Without `resize` no image gets smaller."""
    try:
        with Image.open(io.BytesIO(content)) as image:
            if image.width * image.height > _MOST_PIXELS:
                raise UnusableImage(f"it has too many pixels ({image.width}×{image.height})")
            small = max(image.size) <= LARGEST_SIDE and _base64_size(len(content)) <= LARGEST_BASE64
            image.load()
            if (small or not resize) and mime_type in _KEPT_TYPES:
                return PreparedImage(_encoded(content), mime_type, f"{image.width}×{image.height}")
            upright = ImageOps.exif_transpose(image)
            return _converted(upright, mime_type, LARGEST_SIDE if resize else max(upright.size))
    except (OSError, UnidentifiedImageError, ValueError, SyntaxError, Image.DecompressionBombError) as error:
        raise UnusableImage("it is damaged or of an unknown kind") from error


def _converted(image: Image.Image, mime_type: str, longest: int) -> PreparedImage:
    """PNG where it fits, JPEG where only that does, smaller until one does."""
    width, height = image.size
    if image.mode not in ("1", "L", "RGB", "RGBA"):
        image = image.convert("RGBA" if "A" in image.mode or "transparency" in image.info else "RGB")
    side = min(longest, max(width, height))
    while side >= 1:
        scaled = image.copy()
        scaled.thumbnail((side, side), Image.Resampling.LANCZOS)
        for kind in ("PNG", "JPEG"):
            content = _saved(scaled, kind)
            if _base64_size(len(content)) <= LARGEST_BASE64:
                note = f"{scaled.width}×{scaled.height}"
                if scaled.size != (width, height):
                    note += f", scaled down from {width}×{height}: multiply positions by {width / scaled.width:.2f}"
                if f"image/{kind.lower()}" != mime_type:
                    note += f", converted from {mime_type}"
                return PreparedImage(_encoded(content), f"image/{kind.lower()}", note)
        side = side * 3 // 4
    raise UnusableImage("it is too large")


def _saved(image: Image.Image, kind: str) -> bytes:
    target = io.BytesIO()
    if kind == "JPEG":
        image.convert("RGB").save(target, "JPEG", quality=_JPEG_QUALITY)
    else:
        image.save(target, "PNG")
    return target.getvalue()


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


def _base64_size(size: int) -> int:
    return (size + 2) // 3 * 4
