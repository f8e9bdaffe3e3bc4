"""Keys stay where they are: not in pages, exports, logs, the database, or what commands of agents can see."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing

import pytest

from bench.stand_in import running_stand_in
from tests.provider_jobs import ask
from tests.running import AGENTWEB, Up, started

IN_ENVIRONMENT = "sk-planted-in-the-environment"
SAVED = "sk-planted-on-the-keys-page"
SAVE = f"""
import django; django.setup()
from django.contrib.auth.models import User
from django.conf import settings
from sessions_app.provider_keys import save_key
base = settings.PROVIDER_BASE_URLS["anthropic"]
save_key(user=User.objects.get(), provider="openai-compatible", secret={SAVED!r}, base_url=base + "/v1",
         models_offered="plain\\nfail-401")
"""


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    with (
        running_stand_in() as service,
        started(
            tmp_path_factory.mktemp("secrets") / "data",
            ANTHROPIC_API_KEY=IN_ENVIRONMENT,
            ANTHROPIC_BASE_URL=service.url,
            AGENTWEB_RETRY_ENABLED="0",
        ) as running,
    ):
        subprocess.run(
            [sys.executable, "-c", SAVE],
            env=running.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
            check=True,
        )
        yield running


@pytest.mark.services
def test_keys_are_nowhere_but_where_they_belong(up: Up) -> None:
    """B55."""
    secrets = {IN_ENVIRONMENT, SAVED, (up.data / "secret_key").read_text(encoding="ascii").strip()}
    told = ""
    for text, model in (
        (
            "run env; tr '\\0' '\\n' </proc/self/environ; tr '\\0' '\\n' </proc/$$/environ",
            "anthropic/claude-sonnet-5",
        ),
        ("hello", "openai-compatible/plain"),
        ("hello", "openai-compatible/fail-401"),
        ("fail 401", "anthropic/claude-sonnet-5"),
    ):
        job = ask(up, text, model=model)
        assert job.answers, job.errors
        told += str(job.events) + job.errors + exported(up)
    assert "AI_AGENT=agentweb" in told
    for arguments in (["doctor"], ["login-link"]):
        done = subprocess.run(
            [*AGENTWEB, *arguments], env=up.environment, capture_output=True, text=True, check=False
        )
        told += done.stdout + done.stderr
    told += "".join(up.output + up.errors)
    files = [path for path in up.data.rglob("*") if path.is_file() and path.name != "secret_key"]
    assert any(path.name == "worker.log" for path in files)
    held = b"".join(path.read_bytes() for path in files)
    broker = up.children()["broker"].environ()
    for secret in secrets:
        assert secret not in told
        assert secret.encode() not in held
        assert secret not in str(broker)
        for process in up.children().values():
            assert secret not in " ".join(process.cmdline())


def exported(up: Up) -> str:
    """The newest session, by the command line."""
    with closing(sqlite3.connect(up.data / "agentweb.sqlite3")) as database:
        (key,) = database.execute("SELECT key FROM sessions_app_session ORDER BY id DESC").fetchone()
    done = subprocess.run(
        [*AGENTWEB, "export", key], env=up.environment, capture_output=True, text=True, check=True
    )
    return done.stdout


@pytest.mark.services
def test_a_page_never_shows_a_key_again(up: Up) -> None:
    program = """
import django; django.setup()
from django.contrib.auth.models import User
from django.test import Client
client = Client(headers={"host": "localhost"}); client.force_login(User.objects.get())
for address in ("/", "/keys/", "/welcome/"):
    print(client.get(address).content.decode())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=up.environment | {"DJANGO_SETTINGS_MODULE": "agentweb.settings"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "OpenAI-compatible" in done.stdout
    assert IN_ENVIRONMENT not in done.stdout
    assert SAVED not in done.stdout


def test_no_process_of_ours_can_be_read_by_another_of_the_same_user() -> None:
    """As somebody who is not the superuser, who may read everything."""
    program = """
import os, subprocess
from agentweb.cli import main
import sessions_app.agent.sandboxes.own_memory
if os.getuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    main(["nonsense"])
except SystemExit:
    pass
done = subprocess.run(["cat", f"/proc/{os.getpid()}/environ"], capture_output=True)
print(done.returncode, done.stdout, done.stderr.decode())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PROVIDER_KEY": "sk-secret"},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "Permission denied" in done.stdout, done.stderr
    assert "sk-secret" not in done.stdout


def test_programs_that_are_not_ours_get_nothing_secret() -> None:
    from agentweb.children import without_secrets

    given = {
        "ANTHROPIC_API_KEY": "1", "SECRET_KEY": "2", "DATABASE_URL": "3", "REDIS_URL": "4", "GITHUB_TOKEN": "5",
        "PGPASSWORD": "6", "AWS_SECRET_ACCESS_KEY": "7", "ANTHROPIC_AUTH_TOKEN": "8", "PATH": "/bin", "AGENTWEB_DATA": "/d",
    }  # fmt: skip
    assert without_secrets(given) == {"PATH": "/bin", "AGENTWEB_DATA": "/d"}
