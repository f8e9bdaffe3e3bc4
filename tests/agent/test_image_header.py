"""Type and size of images from their first bytes."""

from __future__ import annotations

import pytest

from sessions_app.agent.image_header import ImageHeader, read_image_header
from tests.agent.images import picture, png


@pytest.mark.parametrize(
    ("kind", "mime_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_type_and_size(kind: str, mime_type: str):
    assert read_image_header(picture(kind, 123, 45)) == ImageHeader(mime_type, 123, 45)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_a_cut_header_is_no_image_and_never_an_error(kind: str):
    data = picture(kind)
    for length in range(len(data)):
        header = read_image_header(data[:length])
        assert header is None or (header.width, header.height) == (8, 6)
    assert read_image_header(data[:9]) is None


@pytest.mark.parametrize(
    "data", [b"", b"BM" + b"\0" * 40, b"<svg/>", png(0, 5), b"\xff\xd8\xff\x00\x00" * 20]
)
def test_anything_else_is_no_image(data: bytes):
    assert read_image_header(data) is None
