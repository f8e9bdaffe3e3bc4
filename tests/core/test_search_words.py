"""What can be found in an entry, and where."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sessions_app.core.entries import Entry
from sessions_app.core.search_words import (
    MOST_WORDS,
    Phrase,
    excerpt_around,
    read_query,
    text_to_find,
    words_in,
)
from tests.builders import answer, call, message_entry


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Fix tests/test_cart.py!", ["fix", "tests", "test", "cart", "py"]),
        ("Café ÉCOLE straße", ["cafe", "ecole", "strasse"]),
        ("日本語 text", ["日", "本", "語", "text"]),
        ("v1.2_rc3", ["v1", "2", "rc3"]),
        ("…—!", []),
    ],
)
def test_words_are_runs_of_letters_and_digits_without_case_and_accents(text: str, words: list[str]) -> None:
    assert words_in(text) == words


def test_an_entry_is_found_by_its_calls_arguments_and_errors_too() -> None:
    message = {
        **answer(
            "",
            content=[
                {"type": "text", "text": "Looking."},
                call("grep", pattern="needle", more=[{"in": "hay"}]),
            ],
        ),
        "errorMessage": "overloaded",
    }
    assert text_to_find(message_entry("a", None, message)) == "Looking.\ngrep\nneedle\nhay\noverloaded"


@pytest.mark.parametrize(
    "record",
    [
        {"type": "message", "message": {"role": "user", "content": None}},
        {"type": "message", "message": None},
        {
            "type": "message",
            "message": {"role": "assistant", "content": [None, 3, {"type": "text", "text": 4}]},
        },
        {"type": "compaction", "summary": 7},
        {"type": "label"},
        {"type": "of another program", "text": "x"},
    ],
)
def test_odd_records_have_nothing_to_find_and_do_no_harm(record: dict[str, object]) -> None:
    assert text_to_find(Entry({"id": "a", "parentId": None, **record})) == ""


def test_a_query_has_words_that_may_go_on_and_phrases_that_may_not() -> None:
    assert read_query('cart "exactly this" test_car') == (
        Phrase(("cart",), begins=True),
        Phrase(("exactly", "this"), begins=False),
        Phrase(("test", "car"), begins=True),
    )
    assert read_query(' "" ?! ') == ()


def test_the_excerpt_shows_what_was_looked_for_where_it_stands() -> None:
    text = "Nothing here.\n" * 40 + "The   Café opens at nine.\n" + "Nothing there.\n" * 40
    pieces = excerpt_around(text, read_query("cafe nin"))
    assert [piece for piece, wanted in pieces if wanted] == ["Café", "nine"]
    assert "The Café opens at nine." in "".join(piece for piece, _wanted in pieces)
    assert pieces[0] == ("…", False)


def test_of_an_endless_text_a_bounded_number_of_words_is_kept() -> None:
    assert len(words_in("a " * (MOST_WORDS + 5))) == MOST_WORDS


@given(st.text(max_size=200), st.text(max_size=30))
def test_any_text_has_an_excerpt_for_any_query(text: str, query: str) -> None:
    pieces = excerpt_around(text, read_query(query))
    shown = "".join(piece for piece, _wanted in pieces)
    assert len(shown) <= 200
    assert all(words_in(piece) for piece, wanted in pieces if wanted)
