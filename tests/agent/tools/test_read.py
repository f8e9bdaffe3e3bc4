"""The read tool: lines, notices, images and names (05 §2, §3)."""

from __future__ import annotations

import base64
import io
import os
import time
import unicodedata

import pytest
from PIL import Image

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.tools.base import ToolError
from sessions_app.agent.tools.read import ReadTool
from tests.agent.sandboxes.workspace import Workspace, text_of


def read(workspace: Workspace, **arguments: object) -> str:
    return text_of(workspace.call("read", **arguments))


@pytest.mark.parametrize("content", ["a\nb\n", "a\nb", "", "\n", "\ufeffa\n", "a\r\nb\r\n", "a\rb"])
def test_a_text_comes_as_it_is(workspace: Workspace, content: str) -> None:
    """05 §3.1, §3.7."""
    workspace.file("f", content)
    result = workspace.call("read", path="f")
    assert text_of(result) == content
    assert result.details == {}


def test_a_part_is_read_with_offset_and_limit(workspace: Workspace) -> None:
    """05 §3.3, §3.7."""
    workspace.file("f", "1\n2\n3\n4\n5\n")
    assert read(workspace, path="f", offset=4) == "4\n5\n"
    assert read(workspace, path="f", offset=0, limit=5) == "1\n2\n3\n4\n5\n"
    assert (
        read(workspace, path="f", offset=2, limit=2)
        == "2\n3\n\n[2 more lines follow. Read on with offset=4.]"
    )
    assert read(workspace, path="f", limit=4) == "1\n2\n3\n4\n\n[1 more line follows. Read on with offset=5.]"


def test_beyond_the_end_is_an_error_with_the_number_of_lines(workspace: Workspace) -> None:
    """05 §3.5."""
    workspace.file("f", "1\n2\n3")
    workspace.file("empty")
    with pytest.raises(ToolError, match=r"offset=4 is beyond the end: f has 3 lines\."):
        read(workspace, path="f", offset=4)
    with pytest.raises(ToolError, match=r"empty has 1 line\."):
        read(workspace, path="empty", offset=2)
    assert read(workspace, path="empty", offset=1) == ""


def test_too_many_lines_are_cut_with_a_notice(workspace: Workspace) -> None:
    """05 §1.9, §3.2."""
    workspace.file("f", "".join(f"{number}\n" for number in range(1, 5001)))
    result = workspace.call("read", path="f", offset=11)
    assert text_of(result).startswith("11\n12\n")
    assert text_of(result).endswith("2010\n\n[Lines 11-2010 of 5000 are shown. Read on with offset=2011.]")
    cut = result.details["truncation"]
    assert (cut["truncatedBy"], cut["totalLines"], cut["outputLines"]) == ("lines", 4990, 2000)


def test_too_many_bytes_are_cut_with_the_limit_named(workspace: Workspace) -> None:
    """05 §3.2."""
    workspace.file("f", ("é" * 50 + "\n") * 1000)
    text = read(workspace, path="f")
    assert text.endswith("[Lines 1-506 of 1000 are shown (limit 50.0KB). Read on with offset=507.]")
    assert len(text.encode()) < 51400


def test_reading_on_by_the_notices_gives_the_whole_file(workspace: Workspace) -> None:
    """05 §3.2."""
    content = "".join(f"line {number} {'x' * (number % 90)}\n" for number in range(7000))
    workspace.file("f", content)
    parts, offset = [], 1
    while True:
        text = read(workspace, path="f", offset=offset)
        body, bracket, notice = text.rpartition("\n\n[")
        if not bracket:
            parts.append(text)
            break
        parts.append(body + "\n")
        offset = int(notice.rpartition("offset=")[2].rstrip(".]"))
    assert "".join(parts) == content


def test_a_line_that_is_too_long_is_only_measured(workspace: Workspace) -> None:
    """05 §3.4."""
    workspace.file("a b.js", "short\n" + "x" * 5_000_000 + "\nend\n")
    result = workspace.call("read", path="a b.js", offset=2)
    assert text_of(result) == (
        "[Line 2 has 4.8MB, more than the 50.0KB that can be read at once. "
        "With bash: sed -n 2p 'a b.js' | head -c 51200]"
    )
    assert result.details["truncation"]["firstLineExceedsLimit"]
    assert read(workspace, path="a b.js").endswith(
        "[Lines 1-1 of 3 are shown (limit 50.0KB). Read on with offset=2.]"
    )


def test_a_huge_file_is_read_in_bounded_memory_and_time(workspace: Workspace) -> None:
    """05 §3.7."""
    path = workspace.file("f")
    os.truncate(path, 400_000_000)  # without using the disk
    started = time.monotonic()
    assert read(workspace, path="f").startswith("[Line 1 has 381.5MB")
    assert time.monotonic() - started < 15


def test_what_is_no_text_is_shown_safely(workspace: Workspace) -> None:
    """05 §3.7."""
    workspace.file("f", b"a\0b\x1b[31m\xff\xc3\n")
    assert read(workspace, path="f") == "a␀b␛[31m\ufffd\ufffd\n"


def test_a_stop_ends_the_reading(workspace: Workspace) -> None:
    workspace.file("f", "x\n")
    stop = StopSignal()
    stop.request()
    with pytest.raises(ToolError, match="stopped"):
        workspace.call("read", stop=stop, path="f")


def test_pipes_devices_folders_and_missing_files_are_refused(workspace: Workspace) -> None:
    os.mkfifo(workspace.folder / "pipe")
    for name, said in (("pipe", "not a regular file"), (".", "is a folder"), ("zz", "does not exist")):
        with pytest.raises(SandboxError, match=said):
            read(workspace, path=name)


@pytest.mark.parametrize(
    ("there", "named"),
    [
        ("Shot at 9.41.00\u202fAM.png.txt", "Shot at 9.41.00 AM.png.txt"),
        (unicodedata.normalize("NFD", "café.txt"), "café.txt"),
        ("it\u2019s.txt", "it's.txt"),
        (unicodedata.normalize("NFD", "l\u2019été.txt"), "l'été.txt"),
    ],
)
def test_spellings_of_macos_are_tried(workspace: Workspace, there: str, named: str) -> None:
    """05 §2.2."""
    workspace.file(there, "found")
    assert read(workspace, path=named) == "found"


def picture(size: tuple[int, int], kind: str, *, noise: bool = False) -> bytes:
    image = Image.effect_noise(size, 90).convert("RGB") if noise else Image.new("RGB", size, "red")
    target = io.BytesIO()
    image.save(target, kind)
    return target.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP"])
def test_an_image_of_a_known_kind_is_passed_on_unchanged(workspace: Workspace, kind: str) -> None:
    """05 §3.6, 04 §6.7."""
    content = picture((40, 30), kind)
    workspace.file("named.txt", content)
    text, image = workspace.call("read", path="named.txt").content
    assert text["text"] == f"[Image, image/{kind.lower()}, 40×30.]"
    assert (image["type"], image["mimeType"]) == ("image", f"image/{kind.lower()}")
    assert base64.b64decode(image["data"]) == content


def test_a_bitmap_is_converted(workspace: Workspace) -> None:
    """05 §3.6, 04 §6.7."""
    workspace.file("a.bmp", picture((40, 30), "BMP"))
    text, image = workspace.call("read", path="a.bmp").content
    assert text["text"] == "[Image, image/png, 40×30, converted from image/bmp.]"
    assert base64.b64decode(image["data"]).startswith(b"\x89PNG")


def test_a_large_image_is_scaled_down(workspace: Workspace) -> None:
    """05 §3.6, 04 §6.7."""
    workspace.file("a.png", picture((2162, 322), "PNG"))
    text, image = workspace.call("read", path="a.png").content
    assert "2000×298, scaled down from 2162×322: multiply positions by 1.08" in text["text"]
    assert Image.open(io.BytesIO(base64.b64decode(image["data"]))).size == (2000, 298)


def test_where_images_are_not_resized_they_stay_as_they_are(workspace: Workspace) -> None:
    """04 §6.9: what no model takes is converted all the same."""
    content = picture((2162, 322), "PNG")
    workspace.file("a.png", content)
    workspace.file("b.bmp", picture((2162, 322), "BMP"))
    tool = ReadTool(resize_images=False)

    def shown(name: str) -> bytes:
        result = tool.run({"path": name}, workspace.sandbox(), StopSignal(), lambda partial: None)
        return base64.b64decode(result.content[1]["data"])

    assert shown("a.png") == content
    assert Image.open(io.BytesIO(shown("b.bmp"))).size == (2162, 322)


def test_a_heavy_image_becomes_one_that_fits(workspace: Workspace) -> None:
    """04 §6.7."""
    content = picture((1800, 1800), "PNG", noise=True)
    assert len(content) > 3_400_000
    workspace.file("a.png", content + b"\0" * 4_000_000)
    _, image = workspace.call("read", path="a.png").content
    assert len(image["data"]) <= 4.5 * 1024 * 1024


@pytest.mark.parametrize(
    "content", [b"\x89PNG\r\n\x1a\n", b"\x89PNG\r\n\x1a\nrubbish" * 50, b"GIF89a", b"\xff\xd8\xff\xe0"]
)
def test_an_image_that_cannot_be_used_is_only_mentioned(workspace: Workspace, content: bytes) -> None:
    """05 §3.6, 04 §6.7."""
    workspace.file("a.png", content)
    result = workspace.call("read", path="a.png")
    assert len(result.content) == 1
    assert "cannot be shown: it is damaged" in text_of(result)


def test_an_image_made_to_burst_the_memory_is_only_mentioned(workspace: Workspace) -> None:
    header = bytearray(picture((1, 1), "PNG"))
    header[16:24] = (60_000).to_bytes(4, "big") * 2
    workspace.file("a.png", bytes(header))
    assert "cannot be shown" in read(workspace, path="a.png")


def test_words_that_begin_like_a_bitmap_are_text(workspace: Workspace) -> None:
    workspace.file("a", "BMW drives\n")
    assert read(workspace, path="a") == "BMW drives\n"
