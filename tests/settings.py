"""Settings of the tests: a data directory that goes away, no keys, plain static files."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile

_data = tempfile.mkdtemp(prefix="agentweb-tests-")
atexit.register(shutil.rmtree, _data, ignore_errors=True)

os.environ["AGENTWEB_DATA"] = _data
# Workspaces of the tests are pytest's temporary folders.
os.environ["AGENTWEB_ROOTS"] = tempfile.gettempdir()
# A developer's own keys, broker and switches must not reach a test.
for _name in (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "OPENAI_COMPATIBLE_API_KEY",
    "OPENAI_COMPATIBLE_BASE_URL",
    "OPENAI_COMPATIBLE_MODELS",
    "REDIS_URL",
    "SECRET_KEY",
):
    os.environ.pop(_name, None)
    os.environ.pop(f"{_name}_FILE", None)
# How long the property tests and simulators go on, and from where.
SIZES = {"AGENTWEB_EXAMPLES", "AGENTWEB_SESSIONS", "AGENTWEB_STEPS", "AGENTWEB_SEED"}
for _name in [name for name in os.environ if name.startswith("AGENTWEB_")]:
    if _name not in {"AGENTWEB_DATA", "AGENTWEB_ROOTS", "AGENTWEB_LOG_LEVEL"} | SIZES:
        del os.environ[_name]
os.environ.setdefault("AGENTWEB_LOG_LEVEL", "WARNING")

from agentweb.settings import *  # noqa: E402, F403
from agentweb.settings import DATABASES, STORAGES  # noqa: E402

if "sqlite" in DATABASES["default"]["ENGINE"]:
    # A file rather than memory: threads and child processes of a test see the same rows.
    DATABASES["default"]["TEST"] = {"NAME": os.path.join(_data, "test.sqlite3")}
    DATABASES["default"]["OPTIONS"]["init_command"] = (
        "PRAGMA journal_mode=WAL; PRAGMA synchronous=OFF; PRAGMA foreign_keys=ON;"
    )

PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
# WhiteNoise looks for the collected files when the middleware is made; nothing is collected in tests.
WHITENOISE_AUTOREFRESH = True
WHITENOISE_USE_FINDERS = True
