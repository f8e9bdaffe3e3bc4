"""What the demo model reads off texts: failures in outputs, outlines of files, edits between two states."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sessions_app.agent.providers.demo.failures import first_failure
from sessions_app.agent.providers.demo.jobs.git import with_entry
from sessions_app.agent.providers.demo.jobs.talking import arithmetic, as_expression
from sessions_app.agent.providers.demo.outlines import first_paragraph, outline
from sessions_app.agent.providers.demo.patching import edits_between
from sessions_app.agent.providers.demo.programs import HELLO, PROGRAMS, SKELETONS
from sessions_app.agent.providers.demo.words import looks_like_path

FAILURES = [
    ("____ test_mean ____\n\n>   assert mean([2, 4]) == 3\nE   assert 6.0 == 3\nE    +  where 6.0 = mean([2, 4])\n\ntests/test_a.py:9: AssertionError\n", "test_mean", "tests/test_a.py", 9),
    ('FAIL: test_x (t.T)\n----------------------\nTraceback (most recent call last):\n  File "t.py", line 4, in test_x\nAssertionError: 6.0 != 3\n', "test_x", "t.py", 4),
    ("thread 'tests::adds' panicked at src/lib.rs:12:9:\nassertion failed\n", "tests::adds", "src/lib.rs", 12),
    ("--- FAIL: TestAdd (0.00s)\n    add_test.go:8: got 3\n", "TestAdd", "add_test.go", 8),
    ("not ok 1 - adds\n  ---\n  location: 'test/a.test.js:3:1'\n  error: 'Expected 1'\n", "adds", "test/a.test.js", 3),
    ("  ● sum › adds\n\n    Expected: 3\n    Received: 4\n\n      at Object.<anonymous> (sum.test.js:5:3)\n", "sum › adds", "sum.test.js", 5),
    ('Traceback (most recent call last):\n  File "a.py", line 2, in <module>\n    import b\nModuleNotFoundError: No module named b\n', "", "a.py", 2),
    ("bash: foo: command not found\n", "", "", None),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "path", "line"), FAILURES, ids=[str(n) for n in range(len(FAILURES))]
)
def test_the_first_failure_is_found(text: str, name: str, path: str, line: int | None) -> None:
    found = first_failure(text)
    assert found is not None
    assert (found.name, found.path, found.line) == (name, path, line)


def test_a_good_output_has_no_failure() -> None:
    assert first_failure("3 passed in 0.1s\n") is None


@given(
    st.lists(st.sampled_from(["a", "b", "", "  x", "y  "]), max_size=14),
    st.lists(st.sampled_from(["a", "b", "", "z"]), max_size=14),
)
@example(["b", "a", "a", "a"], ["b", "a", "b"])
def test_edits_bring_the_old_text_to_the_new_one(old: list[str], new: list[str]) -> None:
    whole = "\n".join(old)
    pairs = edits_between(old, new)
    spots = []
    for before, after in pairs:
        if before != whole:
            assert whole.count(before) == 1
        spots.append((whole.index(before), before, after))
    result, last = "", 0
    for place, before, after in sorted(spots):
        assert place >= last
        result += whole[last:place] + after
        last = place + len(before)
    assert result + whole[last:] == "\n".join(new) or old == new


OUTLINES = [
    ("a.py", "import os\n\n\nclass A:\n    def b(self, c):\n        pass\n", ["A", "A.b(c)"]),
    ("a.py", "def broken(:\n", ["broken"]),
    ("a.js", "import x from 'y'\nexport const f = (a) => a\nfunction g() {}\nclass H {}\n", ["f", "g", "H"]),
    ("a.go", "func (s *T) Run() {}\ntype T struct {}\n", ["Run", "T"]),
    ("a.rs", "pub fn f() {}\nstruct S;\n", ["f", "S"]),
    ("a.sh", "greet() {\n}\n", ["greet"]),
    ("Makefile", "test: all\n\tpytest\nX := 1\n", ["test"]),
]


@pytest.mark.parametrize(("path", "text", "names"), OUTLINES, ids=[f"{p} {n[0]}" for p, _, n in OUTLINES])
def test_definitions_are_read_off_by_language(path: str, text: str, names: list[str]) -> None:
    assert [item.name for item in outline(path, text).items] == names


def test_headings_in_code_blocks_do_not_count() -> None:
    assert [title for _, title, _ in outline("a.md", "# A\n\n```\n# no\n```\n\n## B\n").headings] == [
        "A",
        "B",
    ]


def test_the_first_paragraph_is_running_text() -> None:
    assert (
        first_paragraph("# T\n\n[![b](x)](y)\n\nIt [does](z) things.\nWell.\n\nMore")
        == "It does things. Well."
    )


@pytest.mark.parametrize(
    "word", ["README.md", "src/", "a/b", ".gitignore", "Makefile", "@docs/x.md", "LICENSE", "../x"]
)
def test_paths_are_told_from_words(word: str) -> None:
    assert looks_like_path(word)


@pytest.mark.parametrize(
    "word", ["and/or", "e.g", "3.11", "hello", "node.js", "license", "1/2", "https://x.org/a", "TODO/FIXME"]
)
def test_words_are_told_from_paths(word: str) -> None:
    assert not looks_like_path(word)


@pytest.mark.parametrize(
    ("words", "value"),
    [("2+2", 4), ("15 % of 240", 36), ("3 times 4", 12), ("2^10", 1024), ("the square root of 144", 12), ("1,000 / 8", 125), ("7 x 6", 42)],
)  # fmt: skip
def test_sums_in_words_are_evaluated(words: str, value: float) -> None:
    assert arithmetic(as_expression(words)) == value


@pytest.mark.parametrize("words", ["__import__('os')", "9**9**9", "1/0", "a+1", "True + 1", "(" * 300])
def test_what_is_no_sum_is_refused(words: str) -> None:
    with pytest.raises(ValueError):
        arithmetic(words)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("# Changelog\n", "# Changelog\n\n## [Unreleased]\n\n### Fixed\n\n- E\n"),
        ("# C\n\n## 1.0\n\n- o\n", "# C\n\n## [Unreleased]\n\n### Fixed\n\n- E\n\n## 1.0\n\n- o\n"),
        ("# C\n\n## Unreleased\n\n- n\n\n## 1.0\n", "# C\n\n## Unreleased\n\n- E\n- n\n\n## 1.0\n"),
        ("## [Unreleased]\n\n### Fixed\n\n* n\n", "## [Unreleased]\n\n### Fixed\n\n* E\n* n\n"),
        ("## [Unreleased]\n\n## 1.0\n", "## [Unreleased]\n\n### Fixed\n\n- E\n\n## 1.0\n"),
    ],
)
def test_a_changelog_entry_finds_its_place(before: str, after: str) -> None:
    assert "\n".join(with_entry(before.removesuffix("\n").split("\n"), "- E", "Fixed")) + "\n" == after


@pytest.mark.parametrize("program", [*PROGRAMS, *HELLO.values(), *SKELETONS.values()], ids=lambda p: p.name)
def test_every_template_is_there_and_every_python_one_compiles(program: object) -> None:
    text = program.text()  # type: ignore[attr-defined]
    assert text.endswith("\n")
    if program.language == "py":  # type: ignore[attr-defined]
        compile(text, "template", "exec")
