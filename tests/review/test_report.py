"""What counts as concrete, where it is found again, and what a report says of the whole."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.review.finding import Kept
from sessions_app.review.report import DEFAULT_WEIGHTS, Material, build, risk_of
from sessions_app.review.sources import Source, sources_of
from sessions_app.review.things import things_in


def said(*texts: tuple[str, str]) -> list[Source]:
    return sources_of((place, {"role": role, "content": text}) for place, (role, text) in enumerate(texts, 1))


def status_of(text: str, summary: str, *, role: str = "user", kind: str, **kept: str) -> str:
    things = [thing for thing in things_in(said((role, text))) if thing.kind == kind]
    assert things, f"no {kind} in {text!r}"
    return Kept(summary, **kept).judge(things[0])[0]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "kind", "found"),
    [
        ("See src/core/tree.py for it", "path", "src/core/tree.py"),
        ("It is in /etc/hosts now", "path", "/etc/hosts"),
        ("It took 250 ms in all", "number", "250 ms"),
        ("It costs $0.84 a day", "number", "$0.84"),
        ("Call load_path before that", "identifier", "load_path"),
        ("Read https://docs.example/a?b=1.", "url", "https://docs.example/a?b=1"),
        ("Never touch the lock file.", "constraint", "Never touch the lock file"),
        ("Look at it, but don't change anything", "constraint", "don't change anything"),
    ],
)
def test_concrete_things_are_seen(text: str, kind: str, found: str) -> None:
    assert found in [thing.text for thing in things_in(said(("user", text))) if thing.kind == kind]


@pytest.mark.parametrize("text", ["and/or", "on 2026/03/04", "1/2 of it", "e.g. this", "and so on"])
def test_plain_words_are_no_paths(text: str) -> None:
    assert not [thing for thing in things_in(said(("user", text))) if thing.kind == "path"]


def test_the_last_request_is_the_newest_of_the_user() -> None:
    things = things_in(
        said(("user", "Build the first page."), ("user", "Then write the letter to the bank."))
    )
    assert [thing.text for thing in things if thing.kind == "request"] == [
        "Then write the letter to the bank"
    ]


def test_a_number_inside_a_longer_one_is_not_the_number() -> None:
    assert status_of("It has 200 steps", "- warm-up of 2000 steps", kind="number") == "missing"


def test_the_same_number_in_words_is_kept() -> None:
    assert (
        status_of("the booking is tried 3 times", "- the booking is tried three times", kind="number")
        == "substance"
    )


def test_a_path_in_the_file_lists_is_carried_by_them() -> None:
    things = [thing for thing in things_in(said(("user", "look at src/a/b.py"))) if thing.kind == "path"]
    status, _ = Kept("nothing here", files=["src/a/b.py"]).judge(things[0])
    assert status == "files"


def test_what_the_kept_tail_says_again_is_kept_by_it() -> None:
    assert (
        status_of("Never touch the lock file", "-", kind="constraint", tail="never touch the lock file")
        == "tail"
    )


def test_a_constraint_with_another_number_is_missing() -> None:
    words = "keep every sentence below 20 words"
    assert status_of(words, "- sentences stay below 30 words", kind="constraint") == "missing"
    assert status_of(words, "- sentences stay below 20 words", kind="constraint") == "substance"


def test_what_the_user_said_weighs_more_than_what_a_tool_said() -> None:
    assert DEFAULT_WEIGHTS["user"] > DEFAULT_WEIGHTS["assistant"] > DEFAULT_WEIGHTS["tool"]
    sources = said(
        ("user", "Never touch the lock file."), ("assistant", "It took 250 ms and 12 MB and 7 kB.")
    )
    without_words = build(Material(sources, "- 250 ms, 12 MB, 7 kB"))
    without_numbers = build(Material(sources, "- never touch the lock file"))
    assert without_words.coverage is not None
    assert without_numbers.coverage is not None
    assert without_words.coverage < without_numbers.coverage
    assert risk_of(without_words) > risk_of(without_numbers)


def test_what_the_summary_invents_is_told_with_its_line() -> None:
    report = build(
        Material(said(("user", "The retry waits 3 s in src/wait.py")), "- waits 3 s\n- see src/other.py")
    )
    assert [(item.kind, item.text, item.line) for item in report.unsupported] == [("path", "src/other.py", 2)]


def test_a_line_without_any_source_says_so() -> None:
    report = build(
        Material(
            said(("user", "Rename the harbour table")),
            "## Goal\n- bananas ripen quickly\n- rename the harbour table",
        )
    )
    assert [line.without_source for line in report.lines] == [False, True, False]
    assert report.lines[2].links[0].seq == 1


def test_sections_that_are_missing_or_say_nothing_are_told() -> None:
    report = build(Material(said(("user", "x y z")), "## Goal\nDo it\n## Next Steps\n(none)\n"))
    assert "Key Decisions" in report.structure.missing_sections
    assert report.structure.empty_sections == ("Next Steps",)


@given(st.lists(st.text(max_size=80), max_size=6), st.text(max_size=200))
def test_any_text_gives_a_report_with_a_coverage_between_0_and_100(texts: list[str], summary: str) -> None:
    report = build(Material(said(*(("user", text) for text in texts)), summary))
    assert report.coverage is None or 0 <= report.coverage <= 100
    for item in report.judged:
        source = next(s for s in said(*(("user", text) for text in texts)) if s.seq == item.thing.seq)
        assert source.text[item.thing.start : item.thing.end].startswith(item.thing.text[:20])


@given(
    st.lists(
        st.sampled_from(
            ["Never touch src/a.py", "It took 250 ms", "Use load_path()", "See https://a.example/b"]
        ),
        min_size=1,
    )
)
def test_a_summary_that_repeats_everything_loses_nothing(texts: list[str]) -> None:
    report = build(Material(said(*(("user", text) for text in texts)), "\n".join(texts)))
    assert report.coverage == 100
    assert report.missing == []
    assert report.unsupported == ()
