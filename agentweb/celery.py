"""The Celery application: workers find `sessions_app.tasks` through it."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.settings")

app = Celery("agentweb")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["sessions_app"])
