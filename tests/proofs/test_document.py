"""Is every rule named by a test, and does the document tell what the tests say?"""

from __future__ import annotations

from pathlib import Path

from tests.proofs import document
from tests.proofs.naming import collect_names, names_in, proofs_of

NAMED = collect_names()


def test_every_rule_and_every_reported_fault_has_a_test_or_is_said_to_be_missing() -> None:
    assert document.problems(NAMED) == []


def test_the_document_is_up_to_date() -> None:
    """`make conformance-docs` renews it."""
    assert document.DOCUMENT.read_text(encoding="utf-8") == document.document(NAMED)


def test_names_are_read_from_text_with_ranges_and_continuations() -> None:
    text = "CT-05..07, see 02 §3.1, §3.7 and §11; BUGS B33"
    assert names_in(text) == {"02 CT-05", "02 CT-06", "02 CT-07", "02 §3.1", "02 §3.7", "02 §11", "B33"}


def test_docstrings_and_comments_of_a_test_count_and_strings_do_not(tmp_path: Path) -> None:
    source = '"""ST-01"""\n\n\n# ST-02\ndef test_a():\n    """ST-03"""\n    x = "ST-04"  # ST-05\n\n\ndef other():\n    """ST-06"""\n'
    (tmp_path / "test_x.py").write_text(source, encoding="utf-8")
    assert collect_names(tmp_path) == {
        f"01 ST-0{number}": ["test_x::test_a"] for number in (2, 3, 5)
    }  # fmt: skip


def test_a_section_is_proved_by_its_parts_and_a_part_only_by_itself() -> None:
    named = {"02 §3.1": ["a"], "02 §3": ["b"]}
    assert proofs_of("02 §3", named) == ["a", "b"]
    assert proofs_of("02 §3.1", named) == ["a"]
    assert proofs_of("02 §31", named) == []


def test_a_feature_is_built_only_when_all_its_rules_are_proved_and_nothing_is_missing() -> None:
    whole = document.Row("A01", "x", "", ("01 ST-01", "01 ST-02"))
    both = {"01 ST-01": ["a"], "01 ST-02": ["b"]}
    assert document.state_of(whole, both, set()) == document.BUILT
    assert document.state_of(whole, both, {"01 ST-02"}) == document.PARTLY
    assert document.state_of(whole, {"01 ST-01": ["a"]}, set()) == document.PARTLY
    assert document.state_of(whole, {}, set()) == document.NOT_YET
    assert document.state_of(document.Row("A01", "x", "lacks", whole.proofs), both, set()) == document.PARTLY


def test_every_feature_names_rules_by_their_full_names() -> None:
    rows = [
        row
        for rows in document.read_rows(document.HERE / "features.txt", with_proofs=True).values()
        for row in rows
    ]
    assert len({row.name for row in rows}) == len(rows) == 214
