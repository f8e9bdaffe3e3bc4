"""Are the listed breakages still in the code, and are the tests that should notice them there?"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.proofs import mutate
from tests.proofs.mutate import Breakage
from tests.proofs.naming import collect_tests

BREAKAGES = mutate.read_breakages()


def test_every_breakage_is_of_one_line_that_occurs_once() -> None:
    assert mutate.stale(BREAKAGES) == []
    assert [one.title for one in BREAKAGES if "\n" in one.old + one.new or one.old == one.new] == []
    assert [title for title, count in Counter(one.title for one in BREAKAGES).items() if count > 1] == []


def test_every_named_test_exists() -> None:
    known = collect_tests()
    named = {test for breakage in BREAKAGES for test in breakage.tests}
    # A suite that several classes share is defined once and named by the class that runs it.
    shared = {test.rpartition(".")[2] for test in known if "." in test}
    for test in named:
        file, _, name = test.removeprefix("tests/").partition(".py::")
        qualified = f"{file}::{name.replace('::', '.')}"
        assert qualified in known or ("::" in name and name.rpartition("::")[2] in shared), test


def test_both_halves_of_the_product_are_broken_often() -> None:
    inner = [one for one in BREAKAGES if one.file.split("/")[1] in ("core", "runner", "entry_log")]
    assert len(inner) >= 40
    assert len(BREAKAGES) - len(inner) >= 40


def test_a_breakage_is_made_in_the_copy_and_mended(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("a = 1\nb = 2\n", encoding="utf-8")
    with mutate.broken(Breakage("x.py", "b = 2", "b = 3", ()), tmp_path):
        assert (tmp_path / "x.py").read_text(encoding="utf-8") == "a = 1\nb = 3\n"
    assert (tmp_path / "x.py").read_text(encoding="utf-8") == "a = 1\nb = 2\n"


def test_what_is_gone_or_there_twice_is_named(tmp_path: Path) -> None:
    (tmp_path / "x.py").write_text("a = 1\na = 1\n", encoding="utf-8")
    rows = [Breakage("x.py", old, "", ()) for old in ("a = 1", "b = 2")]
    assert mutate.stale(rows, tmp_path) == ["x.py: 'a = 1' occurs 2 times", "x.py: 'b = 2' occurs 0 times"]


@pytest.mark.parametrize(
    ("code", "said", "outcome"),
    [
        (1, "\nFAILED tests/x.py::test_y", mutate.KILLED),
        (0, "1 passed", mutate.SURVIVED),
        (1, "ERROR tests/x.py", mutate.UNCLEAR),
        (4, "no such test", mutate.UNCLEAR),
        (-1, "took more", mutate.UNCLEAR),
    ],
)
def test_only_a_test_that_ran_and_failed_has_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int, said: str, outcome: str
) -> None:
    (tmp_path / "x.py").write_text("a = 1\n", encoding="utf-8")
    monkeypatch.setattr(mutate, "run_tests", lambda tests, tree: (code, said))
    assert mutate.verdict(Breakage("x.py", "a = 1", "a = 2", ("t",)), tmp_path)[0] == outcome
