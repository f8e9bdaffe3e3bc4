"""Every setting, with its default and the environment variable that changes it."""

from __future__ import annotations

import json
import os
import secrets
import sys
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from typing import Any

import dj_database_url
from django.core.exceptions import ImproperlyConfigured

from agentweb.data_directory import SOCKET_NAME, runtime_directory
from sessions_app.core.compaction_settings import (
    DEFAULT_KEEP_RECENT_TOKENS,
    DEFAULT_RESERVE_TOKENS,
    resolve,
)
from sessions_app.core.errors import MalformedPayload
from sessions_app.review.report import DEFAULT_WEIGHTS


def env(name: str, default: str = "") -> str:
    """The variable, or the text of the file that `NAME_FILE` points to, or the default."""
    if value := os.environ.get(name):
        return value
    if path := os.environ.get(f"{name}_FILE"):
        try:
            return Path(path).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"{name}_FILE points to {path!r}, which can't be read: {error.strerror}."
            ) from error
    return default


def env_bool(name: str, default: bool = False) -> bool:
    value = env(name, "1" if default else "0").lower()
    if value in {"1", "true", "yes", "on"}:
        return True
    if value in {"0", "false", "no", "off", ""}:
        return False
    raise ImproperlyConfigured(f"{name} must be 1 or 0, not {value!r}.")


def env_int(name: str, default: int) -> int:
    value = env(name, str(default))
    try:
        return int(value)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} must be a whole number, not {value!r}.") from error


def env_list(name: str, default: str = "") -> list[str]:
    return [part.strip() for part in env(name, default).split(",") if part.strip()]


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    value = env(name, default)
    if value not in choices:
        raise ImproperlyConfigured(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
    return value


def compaction_settings() -> dict[str, Any]:
    """The `compaction` object of spec 02 §10 from the environment. A value that can't be is refused at start."""
    found: dict[str, Any] = {
        "enabled": env_bool("AGENTWEB_COMPACTION_ENABLED", True),
        "reserveTokens": env_int("AGENTWEB_COMPACTION_RESERVE_TOKENS", DEFAULT_RESERVE_TOKENS),
        "keepRecentTokens": env_int("AGENTWEB_COMPACTION_KEEP_RECENT_TOKENS", DEFAULT_KEEP_RECENT_TOKENS),
    }
    text = env("AGENTWEB_COMPACTION_MODEL_OVERRIDES", "{}")
    try:
        found["modelOverrides"] = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"AGENTWEB_COMPACTION_MODEL_OVERRIDES is not JSON: {error}") from error
    if not isinstance(found["modelOverrides"], dict):
        raise ImproperlyConfigured("AGENTWEB_COMPACTION_MODEL_OVERRIDES must be a JSON object.")
    try:
        for model in [None, *found["modelOverrides"]]:
            resolve({"compaction": found}, model)
    except MalformedPayload as error:
        raise ImproperlyConfigured(f"AGENTWEB_COMPACTION_*: {error}") from error
    return found


BASE_DIR = Path(__file__).resolve().parent.parent
# In a checkout templates/ and static/ lie at its top; in an installed package they travel inside it.
ASSETS_DIR = BASE_DIR if (BASE_DIR / "templates" / "base.html").exists() else BASE_DIR / "agentweb"
VERSION = metadata.version("agentweb")

# --- Where things live ------------------------------------------------------------------------------

# Database, blobs, secret key, logs and the embedded broker's files: everything that must be backed up.
DATA_DIR = Path(env("AGENTWEB_DATA", "~/.agentweb")).expanduser().resolve()
BLOB_DIR = DATA_DIR / "blobs"
# Full tool outputs on their way to becoming blobs.
SPILL_DIR = DATA_DIR / "spill"
RUNTIME_DIR = runtime_directory(DATA_DIR)


def review_weights() -> dict[str, float]:
    """How much classes of things and speakers count in a quality report; those not named keep their default."""
    text = env("AGENTWEB_REVIEW_WEIGHTS", "{}")
    try:
        given = json.loads(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"AGENTWEB_REVIEW_WEIGHTS is not JSON: {error}") from error
    if not isinstance(given, dict):
        raise ImproperlyConfigured("AGENTWEB_REVIEW_WEIGHTS must be a JSON object.")
    for name, value in given.items():
        if (
            name not in DEFAULT_WEIGHTS
            or isinstance(value, bool)
            or not isinstance(value, int | float)
            or value < 0
        ):
            known = ", ".join(DEFAULT_WEIGHTS)
            raise ImproperlyConfigured(f"AGENTWEB_REVIEW_WEIGHTS: {name!r} is not a weight of {known}.")
    return given


def secret_key() -> str:
    """From SECRET_KEY, else made once and kept in the data directory with mode 0600."""
    if value := env("SECRET_KEY"):
        if len(value) < 32:
            raise ImproperlyConfigured("SECRET_KEY is shorter than 32 characters.")
        return value
    path = DATA_DIR / "secret_key"
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        pass
    DATA_DIR.mkdir(parents=True, exist_ok=True, mode=0o700)
    value = secrets.token_urlsafe(64)
    # Several processes may start at once: linked when it is whole, and only the first one's link succeeds.
    own = path.with_name(f".secret_key.{os.getpid()}")
    descriptor = os.open(own, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(value)
    try:
        os.link(own, path)
    except FileExistsError:
        pass
    except OSError:
        # A file system without hard links.
        own.replace(path)
    own.unlink(missing_ok=True)
    return path.read_text(encoding="ascii").strip()


# --- Who may reach it -------------------------------------------------------------------------------

SECRET_KEY = secret_key()
DEBUG = env_bool("AGENTWEB_DEBUG")
# Names by which browsers may reach the server. The loopback names are right for one's own machine.
ALLOWED_HOSTS = env_list("AGENTWEB_HOSTS", "localhost,127.0.0.1,[::1]")
# Set when browsers come over HTTPS (through a proxy): secure cookies, HSTS and redirect.
HTTPS = env_bool("AGENTWEB_HTTPS")
CSRF_TRUSTED_ORIGINS = (
    [f"https://{host}" for host in ALLOWED_HOSTS if not host.startswith(("[", "."))] if HTTPS else []
)
# The address `up` binds; also told to `check --deploy` and to the guard on local execution.
BIND_HOST = env("AGENTWEB_HOST", "127.0.0.1")
BIND_PORT = env_int("AGENTWEB_PORT", 8420)

# --- What agents may touch --------------------------------------------------------------------------

# Folders may be added as workspaces only below these (comma separated). Empty: the home directory.
WORKSPACE_ROOTS = [Path(p).expanduser().resolve() for p in env_list("AGENTWEB_ROOTS", "~")]
# Further folders that file tools may read and write, beside the workspace itself.
TOOL_ROOTS = [Path(p).expanduser().resolve() for p in env_list("AGENTWEB_TOOL_ROOTS")]
# Names of environment variables that tools get in addition to the built-in list. Never keys.
TOOL_ENVIRONMENT = env_list("AGENTWEB_TOOL_ENVIRONMENT")
# The shell of commands; empty: bash, or what there is. And a line that every command begins with.
# Calls of one answer wait for one another instead of running side by side.
TOOLS_ONE_BY_ONE = env_bool("AGENTWEB_TOOLS_ONE_BY_ONE")
TOOL_SHELL = env("AGENTWEB_TOOL_SHELL")
TOOL_COMMAND_PREFIX = env("AGENTWEB_TOOL_COMMAND_PREFIX")
# Seconds after which any command is ended, whatever the model asked.
TOOL_MAX_SECONDS = env_int("AGENTWEB_TOOL_MAX_SECONDS", 7200)
# Commands run as the server's own user. With a second active user, or bound to more than loopback, this
# needs the operator's word.
ALLOW_LOCAL_EXECUTION = env_bool("AGENTWEB_ALLOW_LOCAL_EXECUTION")
# User instructions and later settings of the agent (spec 06 §1).
AGENT_DIR = Path(env("AGENTWEB_AGENT_DIR", str(DATA_DIR / "agent"))).expanduser()

# Images larger than models like are made smaller when they come in; or none is sent at all.
IMAGES_RESIZE = env_bool("AGENTWEB_IMAGES_RESIZE", True)
IMAGES_BLOCK = env_bool("AGENTWEB_IMAGES_BLOCK")

# --- Runs -------------------------------------------------------------------------------------------

# Whether words that wait are said one at a time, each getting an answer, or all at once.
STEERING_MODE = env_choice("AGENTWEB_STEERING_MODE", "one-at-a-time", ("one-at-a-time", "all"))
FOLLOW_UP_MODE = env_choice("AGENTWEB_FOLLOW_UP_MODE", "one-at-a-time", ("one-at-a-time", "all"))
# Ceilings of one run; reaching one stops after the turn and offers "raise and continue". 0: none.
RUN_MAX_TURNS = env_int("AGENTWEB_RUN_MAX_TURNS", 200)
RUN_MAX_MINUTES = env_int("AGENTWEB_RUN_MAX_MINUTES", 240)
RUN_MAX_CENTS = env_int("AGENTWEB_RUN_MAX_CENTS", 1000)
# Minutes a question of the tools preset "ask first" waits for a person; then the answer is no.
ANSWER_MINUTES = env_int("AGENTWEB_ANSWER_MINUTES", 60)
# A worker that has not renewed its lease for this many seconds is taken for dead.
RUN_LEASE_SECONDS = env_int("AGENTWEB_RUN_LEASE_SECONDS", 15)
# Milliseconds for which deltas are gathered before they leave the worker.
LIVE_BATCH_MS = env_int("AGENTWEB_LIVE_BATCH_MS", 50)
# Words per second of the demo model; 0: as fast as it can.
DEMO_PACE = env_int("AGENTWEB_DEMO_PACE", 35)
# A script (JSON file) that the scripted provider plays: tests only, refused when unset.
SCRIPTED_PROVIDER_FILE = env("AGENTWEB_SCRIPT")
MAX_PROMPT_BYTES = env_int("AGENTWEB_MAX_PROMPT_BYTES", 1_000_000)
# What one dropped file may have; larger ones are better copied to the server.
MAX_UPLOAD_BYTES = env_int("AGENTWEB_MAX_UPLOAD_BYTES", 25_000_000)

# --- Compaction and retries -------------------------------------------------------------------------

# Merged over the defaults of spec 02 §10; the overrides are JSON: {"provider/model": {"reserveTokens": 30000}}.
COMPACTION = compaction_settings()
REVIEW_WEIGHTS = review_weights()
# When the provider refuses even the summary request as too large: never, recovery (after an overflow), always.
COMPACTION_EXTRACTIVE = env_choice(
    "AGENTWEB_COMPACTION_EXTRACTIVE", "recovery", ("never", "recovery", "always")
)
BRANCH_SUMMARY = {
    "reserveTokens": env_int("AGENTWEB_BRANCH_SUMMARY_RESERVE_TOKENS", 16384),
    "skipPrompt": not env_bool("AGENTWEB_BRANCH_SUMMARY_ASK", True),
}
# How long providers may keep a prompt in their cache: none, short (minutes) or long (an hour).
CACHE_RETENTION = env_choice("AGENTWEB_CACHE_RETENTION", "short", ("none", "short", "long"))
# A passing fault of the provider is tried again so often, after base, 2·base, 4·base … milliseconds.
RETRY_ENABLED = env_bool("AGENTWEB_RETRY_ENABLED", True)
RETRY_MAX = env_int("AGENTWEB_RETRY_MAX", 3)
RETRY_BASE_MS = env_int("AGENTWEB_RETRY_BASE_MS", 2000)
RETRY_LONGEST_MS = env_int("AGENTWEB_RETRY_LONGEST_MS", 60_000)

# --- Providers --------------------------------------------------------------------------------------

# provider -> environment variable that holds the server's key.
PROVIDER_KEYS = {
    "anthropic": env("ANTHROPIC_API_KEY"),
    "openai-compatible": env("OPENAI_COMPATIBLE_API_KEY"),
}
PROVIDER_BASE_URLS = {
    "anthropic": env("ANTHROPIC_BASE_URL"),
    "openai-compatible": env("OPENAI_COMPATIBLE_BASE_URL"),
}
# Model ids offered for the openai-compatible server (comma separated).
OPENAI_COMPATIBLE_MODELS = env_list("OPENAI_COMPATIBLE_MODELS")

# --- Database and broker ----------------------------------------------------------------------------


def databases() -> dict[str, Any]:
    url = env("DATABASE_URL")
    if url:
        try:
            config: dict[str, Any] = dict(dj_database_url.parse(url, conn_max_age=60))
        except (ValueError, KeyError) as error:
            raise ImproperlyConfigured(f"DATABASE_URL is not a database address: {error}") from error
    else:
        config = {"ENGINE": "django.db.backends.sqlite3", "NAME": str(DATA_DIR / "agentweb.sqlite3")}
    if "sqlite" in config["ENGINE"]:
        # WAL lets pages read while a worker writes; IMMEDIATE takes the write lock at once, so that a read
        # never has to be upgraded ("database is locked").
        config["OPTIONS"] = {
            "transaction_mode": "IMMEDIATE",
            "timeout": 20,
            "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA foreign_keys=ON;",
        }
        config["CONN_MAX_AGE"] = None
    return {"default": config}


DATABASES = databases()
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# redis://… or unix://…; empty: the embedded broker of `agentweb up`.
REDIS_URL = env("REDIS_URL") or f"unix://{RUNTIME_DIR / SOCKET_NAME}?db=0"
EMBEDDED_BROKER = not env("REDIS_URL")


def celery_broker(url: str) -> str:
    """Celery spells a Unix socket's address in its own way."""
    if url.startswith("unix://"):
        path, _, query = url.removeprefix("unix://").partition("?")
        database = query.removeprefix("db=") or "0"
        return f"redis+socket://{path}?virtual_host={database}"
    return url


CELERY_BROKER_URL = celery_broker(REDIS_URL)
# The Celery application that hands runs to workers: imported where something is sent, not with Django.
TASKS_APPLICATION = "agentweb.celery.app"
CELERY_TASK_IGNORE_RESULT = True
# A tool call runs at most once: no redelivery by the broker. Runs have a lease in the database instead.
CELERY_TASK_ACKS_LATE = False
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
# A command of a person does not wait for a broker that is away: the sweep hands the run on later.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 7 * 24 * 3600,
    "socket_connect_timeout": 2,
    "max_retries": 1,
    "interval_start": 0,
    "interval_step": 0.1,
    "interval_max": 0.1,
}
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_ENABLE_REMOTE_CONTROL = False
CELERY_WORKER_CANCEL_LONG_RUNNING_TASKS_ON_CONNECTION_LOSS = False
# With runs of an hour the pool must be large rather than busy: threads mostly wait.
WORKER_THREADS = env_int("AGENTWEB_WORKER_THREADS", 64)
# Days for which a deleted session can be brought back; afterwards it is removed for good.
TRASH_DAYS = env_int("AGENTWEB_TRASH_DAYS", 30)

# --- Django -----------------------------------------------------------------------------------------

INSTALLED_APPS = [
    # Pages register their administration with the addresses: the worker, which has none, needs none of it.
    "django.contrib.admin.apps.SimpleAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "django_htmx",
    "template_partials",
    "axes",
    "sessions_app",
]
if sys.argv[1:2] == ["runserver"]:
    # They change that command; elsewhere daphne's 0.15 s and 10 MB would be for nothing.
    INSTALLED_APPS = ["daphne", "whitenoise.runserver_nostatic", *INSTALLED_APPS]
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "agentweb.middleware.SignInRequired",
    "agentweb.middleware.ContentSecurityPolicy",
    "axes.middleware.AxesMiddleware",
]
ROOT_URLCONF = "agentweb.urls"
ASGI_APPLICATION = "agentweb.asgi.application"
TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [ASSETS_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "agentweb.middleware.page_context",
            ],
        },
    },
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
    {"NAME": "django.contrib.auth.password_validation.NumericPasswordValidator"},
]
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
# Guessing passwords: so many wrong ones for a name from an address, then nothing is tried for a while. Sign-in
# links go on working, so nobody can lock the operator out.
AXES_FAILURE_LIMIT = env_int("AGENTWEB_SIGN_IN_ATTEMPTS", 10)
AXES_COOLOFF_TIME = timedelta(minutes=15)
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_LOCKOUT_CALLABLE = "sessions_app.views.accounts.locked_out"
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
AXES_VERBOSE = False
LOGIN_URL = "login"
LOGIN_REDIRECT_URL = "session_list"
LOGOUT_REDIRECT_URL = "login"
LANGUAGE_CODE = env("AGENTWEB_LANGUAGE", "en")
# Catalogues made by whoever runs this: <language>/LC_MESSAGES/django.mo and djangojs.mo.
LOCALE_PATHS = [DATA_DIR / "locale"]
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = True

STATIC_URL = "static/"
STATICFILES_DIRS = [ASSETS_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"},
}
if DEBUG:
    STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}

# --- Browser security -------------------------------------------------------------------------------

SESSION_COOKIE_NAME = "agentweb_session"
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_AGE = 14 * 24 * 3600
CSRF_COOKIE_NAME = "agentweb_csrf"
CSRF_COOKIE_SAMESITE = "Lax"
CSRF_FAILURE_VIEW = "sessions_app.views.errors.csrf_failure"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = HTTPS
SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = 31536000 if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = SECURE_HSTS_PRELOAD = HTTPS
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if env_bool("AGENTWEB_BEHIND_PROXY") else None
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = 24 * 1024 * 1024
FILE_UPLOAD_MAX_MEMORY_SIZE = 8 * 1024 * 1024
if not HTTPS:
    # On one's own machine there is no TLS; these checks speak of deployments that set AGENTWEB_HTTPS.
    SILENCED_SYSTEM_CHECKS = ["security.W004", "security.W008", "security.W012", "security.W016"]

# --- Logging ----------------------------------------------------------------------------------------

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line"}},
    "root": {"handlers": ["stderr"], "level": env("AGENTWEB_LOG_LEVEL", "INFO")},
    "loggers": {
        "django.request": {"level": "ERROR"},
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        "daphne": {"level": "WARNING"},
        "celery": {"level": "WARNING"},
    },
}
