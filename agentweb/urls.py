"""Where each address leads."""

from __future__ import annotations

from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.urls import include, path
from django.views.i18n import JavaScriptCatalog

admin.autodiscover()

urlpatterns = [
    path("admin/", admin.site.urls),
    path("words.js", login_not_required(JavaScriptCatalog.as_view()), name="script_words"),
    path("", include("sessions_app.urls")),
]

handler400 = "sessions_app.views.errors.bad_request"
handler403 = "sessions_app.views.errors.permission_denied"
handler404 = "sessions_app.views.errors.page_not_found"
handler500 = "sessions_app.views.errors.server_error"
