"""Everything that is imported is declared and pinned: what works only by chance here fails elsewhere."""

from __future__ import annotations

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OWN = {"agentweb", "sessions_app", "tests", "bench"}
# A dependency's dependency that is used with it: an SDK's transport, Channels' base, the server's reactor.
WITH = {"httpx2": "anthropic", "asgiref": "django", "kombu": "celery", "twisted": "daphne"}


# Run by the Python of an environment that `make providers-check` makes, with what is installed there.
ELSEWHERE = {"random_model.py"}


def declared(requirements: list[str]) -> set[str]:
    return {normal(re.split(r"[\s<>=!;\[]", requirement)[0]) for requirement in requirements}


def normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def imported(folder: str) -> set[str]:
    """Top-level modules that the files below a folder import."""
    found: set[str] = set()
    for path in (ROOT / folder).rglob("*.py"):
        if path.name in ELSEWHERE:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module:
                found.add(node.module.partition(".")[0])
    return found - OWN - set(sys.stdlib_module_names)


@pytest.mark.parametrize(
    ("folder", "extras"), [("agentweb", []), ("sessions_app", []), ("tests", ["dev"]), ("bench", ["dev"])]
)
def test_what_is_imported_is_declared(folder: str, extras: list[str]) -> None:
    allowed = declared(PROJECT["dependencies"])
    for extra in extras:
        allowed |= declared(PROJECT["optional-dependencies"][extra])
    distributions = packages_distributions()
    for module in imported(folder):
        names = {normal(name) for name in distributions.get(module, [module])}
        assert names & allowed or WITH.get(module) in allowed, (
            f"{folder} imports {module}, which is not declared"
        )


@pytest.mark.parametrize(
    ("file", "requirements"),
    [
        ("base", PROJECT["dependencies"]),
        ("dev", [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]),
    ],
)
def test_what_is_declared_is_pinned_with_hashes_and_without_addresses(
    file: str, requirements: list[str]
) -> None:
    text = (ROOT / "requirements" / f"{file}.txt").read_text(encoding="utf-8")
    pinned = dict(re.findall(r"^([\w.-]+)(?:\[[^\]]*\])?==(\S+)", text, re.MULTILINE))
    assert declared(requirements) <= {normal(name) for name in pinned}
    assert text.count("--hash=sha256:") >= len(pinned)
    assert "://" not in text


def test_both_pin_the_same_versions() -> None:
    base, dev = (
        dict(
            re.findall(
                r"^([\w.-]+)(?:\[[^\]]*\])?==(\S+)", (ROOT / "requirements" / f"{name}.txt").read_text(), re.M
            )
        )
        for name in ("base", "dev")
    )
    assert {name: dev.get(name) for name in base} == base
