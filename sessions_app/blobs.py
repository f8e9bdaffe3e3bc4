"""Bytes by content hash in the data directory: images and full tool outputs, kept while an entry refers to them."""

from __future__ import annotations

import base64
import binascii
import hashlib
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from django.conf import settings

from sessions_app.models import Blob, BlobUse, Entry

Json = dict[str, Any]

_YOUNG_SECONDS = 3600


def path_of(sha256: str) -> Path:
    """Where the bytes of a hash lie."""
    return Path(settings.BLOB_DIR) / sha256[:2] / sha256[2:]


def store(content: bytes, media_type: str) -> Blob:
    """Keep the bytes; the same bytes are kept once. Raises OSError when the disk is full."""
    sha256 = hashlib.sha256(content).hexdigest()
    place = path_of(sha256)
    if not place.exists():
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        try:
            with open(partial, "xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(partial, place)
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()
    blob, _ = Blob.objects.get_or_create(
        sha256=sha256, defaults={"size": len(content), "media_type": media_type}
    )
    return blob


def take_file(source: Path, media_type: str) -> Blob:
    """Keep a file as `store` keeps bytes, however large, and take it away from where it was. Raises OSError."""
    with open(source, "rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
        size = file.tell()
        os.fsync(file.fileno())
    place = path_of(sha256)
    if place.exists():
        source.unlink()
    else:
        place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        partial = place.with_name(f".{place.name}.{secrets.token_hex(4)}")
        try:
            shutil.move(source, partial)
            os.replace(partial, place)
        finally:
            with suppress(FileNotFoundError):
                partial.unlink()
    blob, _ = Blob.objects.get_or_create(sha256=sha256, defaults={"size": size, "media_type": media_type})
    return blob


def open_blob(blob: Blob) -> BinaryIO:
    """The bytes, for reading. Raises FileNotFoundError when the data directory lost them."""
    return open(path_of(blob.sha256), "rb")


def externalise(message: Json) -> tuple[Json, list[tuple[Blob, str]]]:
    """A message about to be stored, with its images and full output moved to blobs.

    Gives the message as it is stored (image blocks carry `blob` in place of `data`; `details.fullOutputPath`
    becomes `details.fullOutput` {sha256, size}) and the blobs with the names they are used under.
    """
    uses: list[tuple[Blob, str]] = []
    content = message.get("content")
    if isinstance(content, list) and any(_has_image_data(block) for block in content):
        message = {**message, "content": [_externalise_block(block, uses) for block in content]}
    details = message.get("details")
    if isinstance(details, dict) and isinstance(details.get("fullOutputPath"), str):
        message = {**message, "details": _externalise_output(details, uses)}
    return message, uses


def _has_image_data(block: Any) -> bool:
    return isinstance(block, dict) and block.get("type") == "image" and bool(block.get("data"))


def _externalise_block(block: Any, uses: list[tuple[Blob, str]]) -> Any:
    if not _has_image_data(block):
        return block
    try:
        content = base64.b64decode(block["data"], validate=True)
    except (binascii.Error, ValueError, TypeError):
        return block
    media_type = str(block.get("mimeType") or "application/octet-stream")
    blob = store(content, media_type[:100])
    uses.append((blob, f"image-{len(uses) + 1}.{media_type.rpartition('/')[2][:8]}"))
    return {**{key: value for key, value in block.items() if key != "data"}, "blob": blob.sha256}


def _externalise_output(details: Json, uses: list[tuple[Blob, str]]) -> Json:
    """Only files of the spill folder are taken: a path from anywhere else is no output of ours."""
    path = Path(details["fullOutputPath"])
    remaining = {key: value for key, value in details.items() if key != "fullOutputPath"}
    spill = Path(settings.SPILL_DIR)
    if path.parent.parent != spill or path.is_symlink() or not path.is_file():
        return remaining
    blob = take_file(path, "text/plain; charset=utf-8")
    uses.append((blob, "output.txt"))
    return {**remaining, "fullOutput": {"sha256": blob.sha256, "size": blob.size}}


def record_uses(entry: Entry, uses: list[tuple[Blob, str]]) -> None:
    """Say which entry refers to which blobs; in the transaction that writes the entry."""
    BlobUse.objects.bulk_create([BlobUse(blob=blob, entry=entry, name=name) for blob, name in uses])


def inline_images(messages: list[Json], *, session_pk: int) -> list[Json]:
    """The messages with image bytes put back, for a provider or an export; a lost image becomes a note.

    Only blobs that an entry of the session uses: an imported file may name those of others.
    """
    named = {str(block["blob"]) for message in messages for block in _blob_blocks(message)}
    named = {name for name in named if name.isascii() and name.isalnum()}
    if not named:
        return messages
    uses = BlobUse.objects.filter(entry__session_id=session_pk, blob__sha256__in=named)
    own = set(uses.values_list("blob__sha256", flat=True))
    return [_inline_message(message, own) for message in messages]


def _blob_blocks(message: Json) -> list[Json]:
    content = message.get("content")
    found = content if isinstance(content, list) else []
    return [block for block in found if isinstance(block, dict) and block.get("blob")]


def _inline_message(message: Json, own: set[str]) -> Json:
    if not _blob_blocks(message):
        return message
    return {**message, "content": [_inline_block(block, own) for block in message["content"]]}


def _inline_block(block: Any, own: set[str]) -> Any:
    if not isinstance(block, dict) or not block.get("blob"):
        return block
    sha256 = str(block["blob"])
    try:
        content = path_of(sha256).read_bytes() if sha256 in own else b""
    except OSError:
        content = b""
    if not content:
        return {"type": "text", "text": "[An image that was here is missing from the data directory.]"}
    remaining = {key: value for key, value in block.items() if key != "blob"}
    return {**remaining, "data": base64.b64encode(content).decode("ascii")}


def collect() -> int:
    """Remove blobs no entry refers to and stray files of unfinished writes; the number removed.

    Young ones stay: their entry may be on its way.
    """
    removed = 0
    horizon = time.time() - _YOUNG_SECONDS
    for blob in Blob.objects.filter(uses=None).iterator():
        place = path_of(blob.sha256)
        if place.exists() and place.stat().st_mtime > horizon:
            continue
        blob.delete()
        place.unlink(missing_ok=True)
        removed += 1
    for stray in _stray_files(horizon):
        stray.unlink(missing_ok=True)
        removed += 1
    return removed


def drop_unused(sha256s: Sequence[str]) -> None:
    """Remove these at once where no entry refers to them any more, however young: their text was erased."""
    for blob in Blob.objects.filter(sha256__in=sha256s, uses=None):
        blob.delete()
        path_of(blob.sha256).unlink(missing_ok=True)


def _stray_files(horizon: float) -> Iterator[Path]:
    folder = Path(settings.BLOB_DIR)
    for path in folder.glob("??/*"):
        if path.stat().st_mtime > horizon:
            continue
        if path.name.startswith(".") or not Blob.objects.filter(sha256=path.parent.name + path.name).exists():
            yield path
    spill = Path(settings.SPILL_DIR)
    yield from (
        path for path in spill.glob("*") if path.is_file() and path.stat().st_mtime < horizon - 24 * 3600
    )
