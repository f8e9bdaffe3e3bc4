"""Is everything documented that must be, and does what the documents name exist?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SETTINGS = (ROOT / "agentweb" / "settings.py").read_text(encoding="utf-8")
CONFIGURATION = (ROOT / "docs" / "configuration.md").read_text(encoding="utf-8")
READ = set(re.findall(r'\benv(?:_[a-z]+)?\(\s*"([A-Z_]+)"', SETTINGS))
DOCUMENTED = set(re.findall(r"^\| `([A-Z_]+)` \|", CONFIGURATION, re.MULTILINE))


def test_every_setting_is_documented_and_every_documented_one_exists() -> None:
    """06 §12."""
    assert len(READ) > 20
    assert DOCUMENTED == READ


@pytest.mark.parametrize("document", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", *sorted(
    str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md")
)])  # fmt: skip
def test_links_between_documents_lead_somewhere(document: str) -> None:
    text = (ROOT / document).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert ((ROOT / document).parent / target).exists(), f"{document} links to {target}"


def test_make_commands_in_the_documents_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):", makefile, re.MULTILINE))
    for document in ("README.md", "CONTRIBUTING.md", "docs/operations.md", "docs/providers.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        assert (
            set(re.findall(r"\bmake ([a-z-]+)\b(?=[`\n ]|$)", " ".join(re.findall(r"`[^`]+`", text))))
            <= targets
        )


def test_agentweb_commands_in_the_documents_exist() -> None:
    shown = subprocess.run(
        [sys.executable, "-m", "agentweb.cli", "--help"], capture_output=True, text=True, check=True, cwd=ROOT
    ).stdout
    for document in ("README.md", "docs/operations.md", "docs/configuration.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for command in re.findall(r"`(?:\.venv/bin/)?agentweb ([a-z-]+)", text):
            assert re.search(rf"^ +{re.escape(command)}\b", shown, re.MULTILINE), (
                f"{document}: agentweb {command}"
            )


def test_every_deviation_names_a_test_that_exists() -> None:
    files = list((ROOT / "tests").rglob("test_*.py"))
    known = {path.name for path in files}
    for path in files:
        known |= set(re.findall(r"def (test_\w+)\(", path.read_text(encoding="utf-8")))
    text = (ROOT / "docs" / "deviations.md").read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if re.match(r"\| \d\d ", line)]
    assert len(rows) > 40
    for row in rows:
        named = re.findall(r"`(test_[\w.]+)`", row.rsplit("|", 2)[1])
        assert named, row
        assert set(named) <= known, row
