"""What people send, checked for its shape."""

from __future__ import annotations

import base64
import io

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.utils.datastructures import MultiValueDict
from PIL import Image

from sessions_app.forms import LARGEST_IMAGE, MOST_IMAGES, ModelForm, PromptForm, QueuedForm


def picture(width: int, height: int, kind: str = "PNG", name: str = "chart") -> SimpleUploadedFile:
    content = io.BytesIO()
    Image.new("RGB", (width, height), "white").save(content, format=kind)
    return SimpleUploadedFile(f"{name}.{kind.lower()}", content.getvalue())


def sent(*files: SimpleUploadedFile, text: str = "Look") -> PromptForm:
    return PromptForm({"text": text}, MultiValueDict({"images": list(files)}))


def test_words_arrive_as_written_with_one_kind_of_line_end() -> None:
    form = PromptForm({"text": "  first\r\n\tsecond\r \n"})
    assert form.is_valid()
    assert form.cleaned_data["text"] == "  first\n\tsecond\n \n"
    assert form.cleaned_data["mode"] == "steer"
    assert form.cleaned_data["images"] == []


def test_half_an_emoji_does_not_travel_further() -> None:
    """B38: such a character makes every later request of the session invalid."""
    form = PromptForm({"text": "half \ud83d of it"})
    assert form.is_valid()
    assert form.cleaned_data["text"] == "half \ufffd of it"


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [("PNG", "image/png"), ("JPEG", "image/jpeg"), ("GIF", "image/gif"), ("WEBP", "image/webp")],
)
def test_an_image_becomes_a_block_with_the_type_it_really_has(kind: str, media_type: str) -> None:
    file = picture(20, 10, kind)
    file.name, file.content_type = "chart.txt", "text/plain"
    form = sent(file)
    assert form.is_valid()
    assert [block["mimeType"] for block in form.cleaned_data["images"]] == [media_type]


def test_an_image_too_large_for_providers_is_made_smaller() -> None:
    """B39: one image above 2000 px among many makes every later request fail."""
    form = sent(picture(2162, 322), picture(40, 40))
    assert form.is_valid()
    sizes = [
        Image.open(io.BytesIO(base64.b64decode(block["data"]))).size for block in form.cleaned_data["images"]
    ]
    assert sizes == [(2000, 298), (40, 40)]


@pytest.mark.parametrize(
    ("file", "words"),
    [
        (SimpleUploadedFile("empty.png", b""), "empty.png is empty or not an image that can be read."),
        (
            SimpleUploadedFile("notes.png", b"Buy milk"),
            "notes.png is empty or not an image that can be read.",
        ),
        (SimpleUploadedFile("cut.png", b"\x89PNG\r\n\x1a\n\0\0"), "cut.png is empty or not an image"),
        (picture(4, 4, "BMP"), "chart.bmp is not a PNG, JPEG, GIF or WebP image."),
        (SimpleUploadedFile("large.png", b"\0" * (LARGEST_IMAGE + 1)), "large.png is larger than 12 MB."),
    ],
    ids=["empty", "text", "cut", "other kind", "too large"],
)
def test_a_file_that_is_no_usable_image_is_refused_by_name(file: SimpleUploadedFile, words: str) -> None:
    form = sent(picture(4, 4), file)
    assert not form.is_valid()
    assert words in form.errors["images"][0]


def test_too_many_images_are_refused_together() -> None:
    form = sent(*[picture(2, 2) for _ in range(MOST_IMAGES + 1)])
    assert not form.is_valid()
    assert form.errors["images"] == ["At most 10 images in one message."]


@pytest.mark.parametrize("value", ["", "demo", "/demo", "demo/"])
def test_a_model_names_its_provider(value: str) -> None:
    assert not ModelForm({"model": value}).is_valid()


def test_the_name_of_a_model_may_hold_slashes() -> None:
    form = ModelForm({"model": "openai-compatible/org/small-7b"})
    assert form.is_valid()
    assert form.cleaned_data["model"] == ("openai-compatible", "org/small-7b")


def test_a_queued_message_is_edited_unless_something_else_is_said() -> None:
    form = QueuedForm({"text": "other words"})
    assert form.is_valid()
    assert form.cleaned_data["action"] == "edit"
    assert not QueuedForm({"action": "explode"}).is_valid()
