"""What monitors and the command line ask: is it up, and which version."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.db import DatabaseError, connection
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe


@login_not_required
@never_cache
@require_safe
def health(request: HttpRequest) -> JsonResponse:
    """503 when the database does not answer; workers have their own signs of life."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return JsonResponse({"status": "database unavailable", "version": settings.VERSION}, status=503)
    return JsonResponse({"status": "ok", "version": settings.VERSION})


@login_not_required
@never_cache
@require_safe
def version(request: HttpRequest) -> JsonResponse:
    return JsonResponse({"version": settings.VERSION})
