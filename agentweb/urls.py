"""Where each address leads."""

from __future__ import annotations

from django.contrib import admin
from django.urls import include, path

urlpatterns = [
    path("admin/", admin.site.urls),
    path("", include("sessions_app.urls")),
]

handler400 = "sessions_app.views.errors.bad_request"
handler403 = "sessions_app.views.errors.permission_denied"
handler404 = "sessions_app.views.errors.page_not_found"
handler500 = "sessions_app.views.errors.server_error"
