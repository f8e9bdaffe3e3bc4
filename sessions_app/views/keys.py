"""Models and keys: each user's own, and for staff the server's. A key goes in and never comes out."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from sessions_app import provider_keys as keys
from sessions_app.forms import KeyForm
from sessions_app.models import ProviderKey
from sessions_app.services.sessions import available_models


@sensitive_post_parameters("secret")
@require_http_methods(["GET", "POST"])
def provider_keys(request: HttpRequest) -> HttpResponse:
    """Shows where each key comes from; POST `action` save or delete, `scope` yours or (staff) server."""
    form = None
    if request.method == "POST":
        owner = owner_of(request)
        if request.POST.get("action") == "delete":
            forget(request, owner)
            return redirect("provider_keys")
        form = KeyForm(request.POST)
        if form.is_valid():
            save(request, owner, form.cleaned_data)
            return redirect("provider_keys")
    facts = {
        "page": "keys",
        "cards": [card(request, status, form) for status in keys.key_status(request.user)],
        "models": available_models(request.user),
    }
    return render(request, "sessions_app/provider_keys.html", facts, status=422 if form else 200)


def owner_of(request: HttpRequest) -> Any:
    """Whose key is meant: the user's, or None for the server's."""
    if request.POST.get("scope") != "server":
        return request.user
    if not request.user.is_staff:
        raise PermissionDenied(_("Only staff may change the server's keys."))
    return None


def save(request: HttpRequest, owner: Any, data: dict[str, Any]) -> None:
    keys.save_key(
        user=owner,
        provider=data["provider"],
        secret=data["secret"] or None,
        base_url=data["base_url"],
        models_offered=data["models_offered"],
    )
    messages.success(request, _("Saved. It is used from the next request on."))


def forget(request: HttpRequest, owner: Any) -> None:
    if keys.delete_key(user=owner, provider=request.POST.get("provider", "")):
        messages.success(
            request, _("The key is deleted. Sessions that used it say so at their next request.")
        )


def card(request: HttpRequest, status: keys.KeyStatus, form: KeyForm | None) -> dict[str, Any]:
    """One provider's facts; the form with its errors stays at the provider it was sent for."""
    rows = ProviderKey.objects.filter(provider=status.provider)
    own, server = rows.filter(user=request.user.pk).first(), rows.filter(user=None).first()
    sent = form if form is not None and form.data.get("provider") == status.provider else None
    return {"status": status, "form": sent, "own": own, "server": server, "stored": own or server}
