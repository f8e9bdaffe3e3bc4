"""Downloads of what entries refer to: images and full tool outputs."""

from __future__ import annotations

import uuid

from django.http import FileResponse, Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.views.decorators.http import require_GET

from sessions_app import blobs, fragments
from sessions_app.models import Blob
from sessions_app.views.sessions import visible_session


@require_GET
def session_blob(request: HttpRequest, key: uuid.UUID, sha: str, name: str) -> FileResponse:
    """A blob that an entry of this session uses. Images are shown, text is shown as text, the rest is saved;
    nothing in it can act as a page of this server."""
    session = visible_session(request, key)
    blob = get_object_or_404(Blob.objects.filter(sha256=sha, uses__entry__session=session).distinct())
    try:
        content = blobs.open_blob(blob)
    except FileNotFoundError as error:
        raise Http404 from error
    kind = blob.media_type.partition(";")[0]
    shown = kind in fragments.SHOWN_IMAGES or kind == "text/plain"
    response = FileResponse(content, as_attachment=not shown, filename=name.rpartition("/")[2] or "download")
    response["Content-Type"] = blob.media_type if shown else "application/octet-stream"
    response["Cache-Control"] = "private, max-age=31536000, immutable"
    response["Content-Security-Policy"] = "default-src 'none'; sandbox"
    return response
