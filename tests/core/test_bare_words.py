"""Rows and titles show words, not marks."""

from __future__ import annotations

import time

import pytest

from sessions_app.core.bare_words import bare_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ledger [README.md](README.md) says…", "ledger README.md says…"),
        ('See ![a plan](plan.png "Plan") and [here](http://x.test/a_b).', "See a plan and here."),
        ("| file | line |\n| --- | ---: |\n| a.py | 12 |", "file · line a.py · 12"),
        ("## Goal\nFind **why** `x` fails.", "Find why x fails."),
        ("# Only a heading #", "Only a heading"),
        ("- one\n- [x] two\n3. three\n> said", "one two three said"),
        ("*so* __very__ ~~not~~ ***it***", "so very not it"),
        ("`**kwargs` and snake_case_name, 2 * 3 * 4", "**kwargs and snake_case_name, 2 * 3 * 4"),
        ("```python\nprint(1)\n```", "print(1)"),
        ("Title\n=====\nwords", "Title words"),
        ("an [open link and **open", "an [open link and **open"),
        ("tests/__init__.py", "tests/__init__.py"),
        ("#hashtag first", "#hashtag first"),
        ("", ""),
    ],
)
def test_words_stay_and_marks_go(text: str, words: str) -> None:
    assert bare_words(text) == words


@pytest.mark.parametrize("piece", ["[", "![", "*", "**a", "_a_", "`", "[](", "| ", "> ", "- ", "#"])
def test_no_text_makes_it_slow(piece: str) -> None:
    began = time.perf_counter()
    bare_words(piece * 4000)
    assert time.perf_counter() - began < 1.0
