"""`compose.yaml` and the Dockerfile, read without a container engine: do the names in them exist?"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentweb.cli import parser

ROOT = Path(__file__).parent.parent
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
OURS = {name: service for name, service in COMPOSE["services"].items() if service.get("build") == "."}
READ = set(
    re.findall(
        r'\benv(?:_[a-z]+)?\(\s*"([A-Z_]+)"',
        (ROOT / "agentweb" / "settings.py").read_text(encoding="utf-8"),
    )
)


def test_there_are_web_worker_broker_and_database() -> None:
    assert set(COMPOSE["services"]) == {"prepare", "web", "worker", "redis", "postgres"}
    assert set(OURS) == {"prepare", "web", "worker"}


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_service_sets_only_variables_that_the_settings_read(name: str) -> None:
    assert set(OURS[name]["environment"]) <= READ


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_service_runs_a_command_that_exists(name: str) -> None:
    program, *arguments = OURS[name]["command"]
    assert program == "agentweb"
    assert parser().parse_args(arguments).command.__name__ == f"{name}_command"


def test_what_services_wait_for_exists_and_can_be_healthy() -> None:
    for service in COMPOSE["services"].values():
        for name, condition in service.get("depends_on", {}).items():
            other = COMPOSE["services"][name]
            if condition["condition"] == "service_healthy":
                assert "test" in other["healthcheck"]


def test_named_volumes_are_declared_and_the_port_is_open_to_this_machine_only() -> None:
    for service in COMPOSE["services"].values():
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            assert source in COMPOSE["volumes"] or source.startswith(("$", ".", "/"))
    assert OURS["web"]["ports"] == ["127.0.0.1:8420:8420"]


def test_no_secret_has_a_default() -> None:
    for secret in ("SECRET_KEY", "POSTGRES_PASSWORD"):
        uses = re.findall(rf"\${{{secret}([^}}]*)}}", (ROOT / "compose.yaml").read_text(encoding="utf-8"))
        assert uses
        assert all(use.startswith(":?") for use in uses)


def test_images_are_plain_names() -> None:
    images = [service["image"] for service in COMPOSE["services"].values() if "image" in service]
    images += re.findall(r"^FROM (\S+)", DOCKERFILE, re.MULTILINE)
    assert all("/" not in image for image in images)


def test_the_image_runs_as_an_ordinary_user_with_a_health_check() -> None:
    assert re.findall(r"^USER (\S+)", DOCKERFILE, re.MULTILINE) == ["agentweb"]
    assert "HEALTHCHECK" in DOCKERFILE
    for copied in re.findall(r"^COPY (\S+) ", DOCKERFILE, re.MULTILINE):
        assert (ROOT / copied).exists()
    for variable in re.findall(r"(AGENTWEB_[A-Z_]+)=", DOCKERFILE):
        assert variable in READ
