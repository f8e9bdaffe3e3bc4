"""Wishes of a choir's treasurer, a programmer and a web author: done with real tools, told, and never half understood."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions_app.agent.providers.demo.phrases import _CUT
from tests.agent.providers.demo.places import CHOIR, SITE, TOOL, make
from tests.agent.providers.demo_talk import Talk, run_git


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """For questions, which change nothing."""
    return {
        name: make(tmp_path_factory.mktemp(name), files)
        for name, files in (("choir", CHOIR), ("tool", TOOL), ("site", SITE))
    }


ANSWERS = [
    ("choir", "who hasn't paid yet?", "**Jon Fry**, **Kai Roe**"),
    ("choir", "which singers have no mail address", "Jon Fry"),
    ("choir", "how much did we spend on rent", "**600.00**"),
    ("choir", "total per kind", "| music | 165.50 | 2 |"),
    ("choir", "which songs are not ready", "Harvest"),
    ("choir", "Who joined after 2023?", "**Jon Fry**, **Kai Roe**"),
    ("choir", "Welche Sänger haben nicht bezahlt?", "Kai Roe"),
    ("choir", "pull all e-mail addresses out of the letters", "choir@choir.example"),
    ("choir", "summarise the invitation in one sentence", "We sing on 14 May at 7 pm in the town hall."),
    ("choir", "give me the gist of both letters", "The concert brought 640 euros."),
    ("choir", "which letter is the longest?", "letters/invitation.md"),
    ("choir", "how many words do the letters have", "words** in 2 files"),
    ("choir", "are there duplicate lines in todo.txt", "book the hall"),
    ("tool", "which functions have no docstring", "spare"),
    ("tool", "which functions are not tested?", "spare"),
    ("tool", "find unused functions", "spare"),
    ("tool", "what version of rich do we need", ">=13"),
    ("tool", "how many functions are there", "**2 functions**"),
    ("tool", "list all imports", "tally.core"),
    ("site", "which links or images are broken", "leads to `bike.jpg`"),
    ("site", "which page has no stylesheet", "about.html"),
    ("site", "which css file is not used", "old.css"),
    ("site", "compare the two css files", "```diff"),
    ("site", "find images without alt text", "bike.jpg"),
    ("site", "list the titles of all pages", "| About | About |"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "text", "says"), ANSWERS, ids=[text for _, text, _ in ANSWERS])
def test_a_question_is_answered_from_what_the_folder_holds(
    seen: dict[str, Path], place: str, text: str, says: str
) -> None:
    talk = Talk(seen[place])
    assert says in talk.say(text)
    assert talk.calls()
    assert run_git(seen[place], "status", "--short") == ""


CHANGES = [
    (CHOIR, "mark Jon Fry as paid", "singers.csv", "Jon Fry,bass,,no,", "Jon Fry,bass,,yes,"),
    (CHOIR, "change the voice of Kai Roe to bass", "singers.csv", "Kai Roe,tenor,", "Kai Roe,bass,"),
    (CHOIR, "remove Liv Dahl from the singers", "singers.csv", "Liv Dahl,alto,liv@choir.example,yes,2019-03-11\n", ""),
    (CHOIR, "add a singer: Max Bo, tenor, max@choir.example, paid", "singers.csv", "2019-03-11\n", "2019-03-11\nMax Bo,tenor,max@choir.example,yes,\n"),
    (CHOIR, "raise the amount of all scores by 10%", "costs.csv", "120.00\n2026-02-02,hall,rent,300.00\n2026-02-20,scores,music,45.50", "132.00\n2026-02-02,hall,rent,300.00\n2026-02-20,scores,music,50.05"),
    (CHOIR, "add a song: Rain, 3, not ready", "songs.json", '"ready": false}\n', '"ready": false},\n  {"title": "Rain", "minutes": 3, "ready": false}\n'),
    (CHOIR, "sort the todo list and remove the duplicates", "todo.txt", "book the hall\nprint flyers\nbook the hall\n", "book the hall\nprint flyers\n"),
    (TOOL, "change the default step of tally to 2", "tally/core.py", "step=1", "step=2"),
    (TOOL, "delete the function spare", "tally/core.py", "\n\ndef spare(items):\n    return items[:LIMIT]\n", ""),
    (SITE, "make the headings green", "main.css", "h1 { color: red; }", "h1 { color: green; }"),
    (SITE, 'add the alt text "A bike" to the image in index.html', "index.html", '<img src="bike.jpg">', '<img src="bike.jpg" alt="A bike">'),
    (SITE, "add a link to index.html in about.html", "about.html", "</body>", '  <a href="index.html">Index</a>\n</body>'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "text", "name", "old", "new"), CHANGES, ids=[text for _, text, _, _, _ in CHANGES]
)
def test_a_change_touches_only_what_it_speaks_of(
    tmp_path: Path, files: dict[str, str], text: str, name: str, old: str, new: str
) -> None:
    talk = Talk(make(tmp_path, files))
    talk.say(text)
    before = files[name]
    assert old in before
    assert talk.read(name) == before.replace(old, new, 1)


def test_a_changed_row_can_be_taken_back(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, CHOIR))
    talk.say("mark Jon Fry as paid")
    talk.say("undo that")
    assert talk.read("singers.csv") == CHOIR["singers.csv"]


WRITTEN = [
    (CHOIR, "make a file altos.csv with all altos", "altos.csv", "name,voice,mail,paid,since\nOda Wik,alto,oda@choir.example,yes,2021-09-01\nLiv Dahl,alto,liv@choir.example,yes,2019-03-11\n"),
    (CHOIR, "turn songs.json into a markdown table and save it as songs.md", "songs.md", "| title | minutes | ready |\n| --- | --- | --- |\n| Evening | 4 | true |\n| Harvest | 7 | false |\n"),
    (CHOIR, "combine both letters into all.md", "all.md", CHOIR["letters/invitation.md"] + "\n" + CHOIR["letters/thanks.md"]),
    (CHOIR, "put all dates from the letters into dates.txt", "dates.txt", "14 May\n"),
    (CHOIR, 'write a note hello.txt saying "See you on Monday"', "hello.txt", "See you on Monday\n"),
    (SITE, "create a robots.txt that blocks everything", "robots.txt", "User-agent: *\nDisallow: /\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "text", "name", "content"), WRITTEN, ids=[text for _, text, _, _ in WRITTEN]
)
def test_a_new_file_holds_what_was_asked_for(
    tmp_path: Path, files: dict[str, str], text: str, name: str, content: str
) -> None:
    talk = Talk(make(tmp_path, files))
    talk.say(text)
    assert talk.read(name) == content


def test_a_contributing_guide_is_made_of_the_facts_of_the_folder(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, TOOL))
    talk.say("create a CONTRIBUTING.md")
    text = talk.read("CONTRIBUTING.md")
    assert text.startswith("# Contributing to tally\n")
    assert "pip install -e ." in text
    assert "python3 -m unittest discover -s tests" in text
    assert "#!/" not in text


def test_a_page_like_the_others_has_their_frame(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, SITE))
    talk.say("make a contact page like index.html")
    page = talk.read("contact.html")
    assert '<link rel="stylesheet" href="main.css">' in page
    assert "<title>Contact</title>" in page


def test_a_script_that_was_described_is_written_and_tried(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, CHOIR))
    answer = talk.say("write a python script that counts the words of a file")
    assert "len(line.split())" in talk.read("count_words.py")
    assert "it printed" in answer


def test_a_line_is_put_into_every_file_of_a_kind(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, TOOL))
    talk.say('put the comment "Free for all" at the top of every python file')
    for name in ("tally/__init__.py", "tally/core.py", "tests/test_core.py"):
        assert talk.read(name).startswith("# Free for all\n")


def test_links_follow_a_page_that_was_renamed(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, SITE))
    talk.say("rename about.html to us.html and fix the links")
    assert '<a href="us.html">' in talk.read("index.html")


def test_of_those_and_the_same_for_another_stand_on_the_question_before(seen: dict[str, Path]) -> None:
    talk = Talk(seen["choir"])
    assert "2 rows" in talk.say("list the altos")
    assert "**0**" in talk.say("and how many of those have not paid?")
    assert "**345.50**" in talk.say("how much did we spend in February?")
    assert "**300.00**" in talk.say("and in March?")


def test_a_step_that_was_not_done_stops_the_ones_after_it(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, CHOIR))
    answer = talk.say("polish the invitation and then delete empty.txt")
    assert "Not begun, because the step before was not done: “delete empty.txt”" in answer
    assert (tmp_path / "empty.txt").exists()


SAFE = [
    "delete the letters older than March",
    "is anything in the todo list twice? delete it",
    "delete all singers who left in 2020",
    "remove the boring parts of the invitation",
    "delete everything I don't need",
    "delete the letter that nobody reads",
]  # fmt: skip


@pytest.mark.parametrize("text", SAFE)
def test_nothing_is_deleted_while_a_word_is_not_understood(seen: dict[str, Path], text: str) -> None:
    answer = Talk(seen["choir"]).say(text)
    assert "Deleted" not in answer
    assert run_git(seen["choir"], "status", "--short") == ""


def test_the_empty_file_is_deleted_when_that_is_all_that_is_said(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, CHOIR))
    assert "Deleted `empty.txt`" in talk.say("delete the empty file")
    assert not (tmp_path / "empty.txt").exists()


def test_a_stop_behind_an_initial_ends_no_request(tmp_path: Path) -> None:
    """What came behind it was cut off, and half a row written."""
    (tmp_path / "repairs.csv").write_text("id,item,owner,fixer\n1,Lamp,M. Doyle,Tom\n")
    Talk(tmp_path).say("Add a new repair: 2, Clock, owner E. Webb, fixer Tom")
    assert (
        tmp_path / "repairs.csv"
    ).read_text() == "id,item,owner,fixer\n1,Lamp,M. Doyle,Tom\n2,Clock,E. Webb,Tom\n"


@pytest.mark.parametrize("text", ["Ask Mr. Grant for it", "owner E. Webb", "List the files"])
def test_such_words_are_one_sentence(text: str) -> None:
    assert _CUT.split(text) == [text]


def test_a_letter_that_is_a_column_ends_a_sentence_before_a_verb() -> None:
    assert _CUT.split("Sort by column B. Delete the last row") == ["Sort by column B", "Delete the last row"]


@pytest.mark.parametrize(
    "text", ["What's this folder about?", "what is this directory about", "What is this folder for?"]
)
def test_the_word_behind_folder_is_not_always_its_name(seen: dict[str, Path], text: str) -> None:
    answer = Talk(seen["choir"]).say(text)
    assert "does not exist" not in answer
    assert "letters" in answer
