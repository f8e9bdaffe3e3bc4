"""Which instruction files count in a folder, and in which order."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from sessions_app.agent.context_files import LARGEST_FILE, NAMES, find_context_files


@pytest.fixture
def places(tmp_path: Path) -> tuple[Path, Path]:
    agent_dir, cwd = tmp_path / "agent", tmp_path / "repo" / "sub" / "deep"
    agent_dir.mkdir()
    cwd.mkdir(parents=True)
    return agent_dir, cwd


def texts(agent_dir: Path | None, cwd: Path, warnings: list[str] | None = None) -> list[str]:
    found = find_context_files(agent_dir, cwd, on_warning=(warnings if warnings is not None else []).append)
    return [file.text for file in found]


def test_agent_directory_first_then_from_the_root_down(places):
    """06 CX-01."""
    agent_dir, cwd = places
    for directory, text in (
        (cwd, "deep"),
        (cwd.parent.parent, "repo"),
        (agent_dir, "mine"),
        (cwd.parent, "sub"),
    ):
        (directory / "AGENTS.md").write_text(text)
    found = find_context_files(agent_dir, cwd)
    assert [file.text for file in found] == ["mine", "repo", "sub", "deep"]
    assert [file.origin for file in found] == ["agent directory"] + ["workspace"] * 3
    assert found[-1].path == cwd / "AGENTS.md"


def test_one_file_per_directory_by_the_order_of_names(places):
    """06 CX-02."""
    agent_dir, cwd = places
    for name in NAMES:
        (cwd / name).write_text(name)
    (cwd.parent / "CLAUDE.md").write_text("parent")
    assert texts(agent_dir, cwd) == ["parent", "AGENTS.override.md"]
    (cwd / "AGENTS.override.md").unlink()
    assert texts(agent_dir, cwd) == ["parent", "AGENTS.md"]


def test_the_same_file_counts_once(places):
    _, cwd = places
    (cwd / "AGENTS.md").write_text("x")
    assert texts(cwd, cwd) == ["x"]


def test_a_byte_order_mark_is_stripped_and_bad_bytes_replaced(places):
    _, cwd = places
    (cwd / "AGENTS.md").write_bytes(b"\xef\xbb\xbfa\xff\x00b")
    assert texts(None, cwd) == ["a\ufffd\ufffdb"]


def test_what_cannot_be_read_gives_a_warning_and_the_next_name_its_turn(places):
    _, cwd = places
    warnings: list[str] = []
    (cwd / "AGENTS.override.md").mkdir()
    os.mkfifo(cwd / "AGENTS.md")
    (cwd / "CLAUDE.md").write_text("claude")
    assert texts(None, cwd, warnings) == ["claude"]
    assert len(warnings) == 2 + (1 if (cwd / "AGENTS.MD").exists() else 0)


def test_a_link_to_something_else_than_markdown_is_not_followed(places):
    _, cwd = places
    warnings: list[str] = []
    secret = cwd.parent / "id_rsa"
    secret.write_text("private")
    (cwd / "AGENTS.md").symlink_to(secret)
    (cwd / "CLAUDE.md").write_text("fine")
    assert texts(None, cwd, warnings) == ["fine"]
    assert "no Markdown" in warnings[0]


def test_a_link_to_the_other_name_is_followed(places):
    _, cwd = places
    (cwd / "CLAUDE.md").write_text("shared")
    (cwd / "AGENTS.md").symlink_to("CLAUDE.md")
    assert texts(None, cwd) == ["shared"]


def test_a_huge_file_is_cut_with_a_warning(places):
    _, cwd = places
    warnings: list[str] = []
    (cwd / "AGENTS.md").write_text("x" * (LARGEST_FILE + 10))
    assert len(texts(None, cwd, warnings)[0]) == LARGEST_FILE
    assert "larger" in warnings[0]


def test_a_nested_worktrees_file_stands_for_the_repositorys(tmp_path):
    """06 §5."""
    repository = tmp_path / "repo"
    worktree = repository / "trees" / "feature"
    (repository / ".git" / "worktrees" / "feature").mkdir(parents=True)
    worktree.mkdir(parents=True)
    (worktree / ".git").write_text(f"gitdir: {repository}/.git/worktrees/feature\n")
    (repository / "AGENTS.md").write_text("main")
    assert texts(None, worktree) == ["main"]
    (worktree / "CLAUDE.md").write_text("other name")
    assert texts(None, worktree) == ["main", "other name"]
    (worktree / "AGENTS.md").write_text("feature")
    assert texts(None, worktree) == ["feature"]
