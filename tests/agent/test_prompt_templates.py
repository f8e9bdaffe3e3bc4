"""Prompts and skills that are kept as files and said by name (06 §8, §9)."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions_app.agent.prompt_templates import fill, find_templates, split_arguments
from sessions_app.agent.skills import find_skills, skills_section, told


@pytest.mark.parametrize(
    ("body", "words", "filled"),
    [
        ("$1 and $2, not $3.", "a b", "a and b, not ."),
        ("$@ | $ARGUMENTS", "a  b", "a b | a b"),
        ("${1:-x} ${2:-y} ${@:-z}", "a", "a y a"),
        ("${1:-x}", '""', "x"),
        ("${@:2} | ${@:2:1} | ${@:0}", "a b c", "b c | b | a b c"),
        ("$1", "'$2 ${@}' b", "$2 ${@}"),
        ("costs 5$ and $x", "a", "costs 5$ and $x"),
    ],
)
def test_places_are_filled_in_a_single_pass(body: str, words: str, filled: str) -> None:
    """06 §8.1."""
    assert fill(body, words) == filled


@pytest.mark.parametrize(
    ("words", "arguments"),
    [
        ('a "b c" d', ["a", "b c", "d"]),
        (r'"say \"hi\""', ['say "hi"']),
        ("it's fine", ["it's", "fine"]),
        ('"never closed', ['"never', "closed"]),
        ('"" x', ["", "x"]),
    ],
)
def test_a_quote_opens_at_the_start_of_an_argument_only(words: str, arguments: list[str]) -> None:
    """06 §8.1."""
    assert split_arguments(words) == arguments


def test_templates_are_the_markdown_files_of_the_folder(tmp_path: Path) -> None:
    """06 §8.1: named by their file, described by their head or their first line."""
    (tmp_path / "review.md").write_text(
        "---\ndescription: Look at it\nargument-hint: FILE\n---\nReview $1.\n"
    )
    (tmp_path / "long.md").write_text("\n" + "word " * 40)
    (tmp_path / "broken.md").write_text("---\nno end")
    (tmp_path / "empty.md").write_text("---\ndescription: x\n---\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "other.md").write_text("no")
    long, review = find_templates(tmp_path)
    assert (review.name, review.description, review.hint, review.body) == (
        "review", "Look at it", "FILE", "Review $1.",
    )  # fmt: skip
    assert len(long.description) == 61
    assert find_templates(tmp_path / "none") == []


def test_skills_are_found_checked_and_told(tmp_path: Path) -> None:
    """06 §9.1: folders with SKILL.md, none below one; the first of a name counts."""
    for name, text in {
        "pdf/SKILL.md": "---\nname: pdf\ndescription: Reads <PDF> files\nmetadata:\n  a: b\n---\nUse pdftotext.",
        "pdf/below/SKILL.md": "---\nname: hidden\ndescription: never found\n---\nx",
        "again/pdf/SKILL.md": "---\nname: pdf\ndescription: another\n---\nx",
        "plain.md": "---\ndescription: A plain one\ndisable-model-invocation: true\n---\nDo it.",
        "notes.md": "No head, no skill.",
        "mute/SKILL.md": "---\nname: mute\n---\nx",
        "Odd Name/SKILL.md": "---\ndescription: kept all the same\n---\nx",
        ".git/SKILL.md": "---\ndescription: not looked at\n---\nx",
        "node_modules/x/SKILL.md": "---\ndescription: not looked at\n---\nx",
        "bad/SKILL.md": "---\n: : :\n---\nx",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    warnings: list[str] = []
    skills = {skill.name: skill for skill in find_skills(tmp_path, on_warning=warnings.append)}
    assert sorted(skills) == ["Odd Name", "pdf", "plain"]
    assert len(warnings) == 4
    said = skills_section(list(skills.values()))
    assert 'name="pdf"' in said
    assert "Reads &lt;PDF&gt; files" not in said  # the folder that comes first has the name
    assert "plain" not in said
    assert said == skills_section(list(reversed(skills.values())))
    text = told(skills["plain"], "now")
    assert text.startswith('<skill name="plain"')
    assert text.endswith("Do it.\n</skill>\n\nnow")
    assert skills_section([]) == ""
