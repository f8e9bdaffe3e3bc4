"""Makes the images of a tool result ones every model can take; what cannot be shown becomes a note (04 §6)."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence

from sessions_app.agent.tools.images import HEADER, UnusableImage, image_type, prepare_image
from sessions_app.core.messages import Json, text_block


def with_usable_images(content: Sequence[Json], *, resize: bool = True) -> list[Json]:
    """The blocks with each image checked, and scaled down or converted where needed."""
    return [_usable(block, resize) if block.get("type") == "image" else block for block in content]


def _usable(block: Json, resize: bool) -> Json:
    try:
        data = base64.b64decode(str(block.get("data") or ""), validate=True)
        kind = image_type(data[:HEADER]) or str(block.get("mimeType") or "")
        prepared = prepare_image(data, kind, resize=resize)
    except (binascii.Error, UnusableImage) as error:
        return text_block(f"(An image was left out: {error})")
    return {"type": "image", "data": prepared.data, "mimeType": prepared.mime_type}
