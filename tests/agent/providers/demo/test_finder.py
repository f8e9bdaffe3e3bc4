"""Files named by description are found by the words of their names, folders and kinds."""

from __future__ import annotations

import pytest

from sessions_app.agent.providers.demo.places import phrases

_CLUB = [
    "archive/members_2019_old.txt", "letters/council_march.txt", "letters/fee_reminder.txt", "members.csv",
    "minutes/2024-02-committee.md", "minutes/2024-04-committee.md", "waiting_list.csv", "docs/ideas.txt",
]  # fmt: skip
_SITE = [
    "app.toml", "data/products.json", "package.json", "public/index.html", "public/pages/about.html",
    "public/pages/contact.html", "scripts/check-links.js",
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("count the words in the letter to the council", ["letters/council_march.txt"]),
        ("read the minutes from April", ["minutes/2024-04-committee.md"]),
        ("summarise both committee meetings", ["minutes/2024-02-committee.md", "minutes/2024-04-committee.md"]),
        ("delete the old member list from 2019", ["archive/members_2019_old.txt"]),
        ("sort the member list", ["members.csv"]),
        ("show the ideas file", ["docs/ideas.txt"]),
    ],
)  # fmt: skip
def test_a_description_finds_the_file_it_fits_best(text: str, found: list[str]) -> None:
    assert [list(phrase.paths) for phrase in phrases(text, _CLUB)] == [found]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("open the about page", ["public/pages/about.html"]),
        ("what is on the start page", ["public/index.html"]),
        ("explain the link checker script", ["scripts/check-links.js"]),
        ("change it in the config", ["app.toml"]),
        ("list all html pages", ["public/index.html", "public/pages/about.html", "public/pages/contact.html"]),
    ],
)  # fmt: skip
def test_a_kind_of_file_is_spoken_of_by_its_everyday_name(text: str, found: list[str]) -> None:
    assert [list(phrase.paths) for phrase in phrases(text, _SITE)] == [found]
