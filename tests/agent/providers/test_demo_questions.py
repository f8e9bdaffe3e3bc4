"""Questions and small wishes of newcomers to the demo model, in the club's folder: looked up, computed, changed, or told."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.agent.providers.demo_talk import Talk, run_git

FILES = {
    "README.md": "# Club accounts\n\nReads the club's expenses and prints a report.\n\n## Running\n\n```sh\npython3 -m club.report\n```\n\n"
    "Needs Python 3.10 or newer. Questions go to Mara (mara@example.org).\n",
    "pyproject.toml": '[project]\nname = "club"\nversion = "0.3.1"\nrequires-python = ">=3.10"\ndependencies = []\n',
    "club/__init__.py": "",
    "club/money.py": '"""Amounts of money as integer cents."""\n\n\ndef to_cents(text):\n    """Turn an amount such as "12.34" into cents."""\n'
    '    whole, _, rest = text.partition(".")\n    return int(whole) * 100 + int((rest + "00")[:2])\n\n\ndef format_amount(cents):\n'
    '    return f"{cents // 100}.{cents % 100:02d} EUR"\n',
    "club/report.py": "import csv\n\nfrom club.money import format_amount, to_cents\n\n\ndef total(rows):\n    # TODO: support refunds\n"
    '    return sum(to_cents(row["amount"]) for row in rows)\n\n\nif __name__ == "__main__":\n'
    '    with open("data/expenses.csv", newline="") as file:\n        print("total", format_amount(total(csv.DictReader(file))))\n',
    "tests/test_money.py": "import unittest\n\nfrom club.money import format_amount, to_cents\n\n\nclass MoneyTest(unittest.TestCase):\n"
    '    def test_to_cents(self):\n        self.assertEqual(to_cents("12.34"), 1234)\n\n    def test_format(self):\n'
    '        self.assertEqual(format_amount(1234), "12.34 EUR")\n',
    "data/expenses.csv": "date,category,amount,note\n2026-01-03,food,12.50,bakery\n2026-01-10,travel,80.00,train to Lyon\n2026-01-21,food,33.25,\n"
    "2026-02-02,rent,650.00,\n2026-02-14,food,21.00,dinner\n2026-02-20,travel,45.50,bus\n2026-03-01,rent,650.00,\n2026-03-09,books,18.90,novel\n",
    "data/settings.json": '{\n    "currency": "EUR",\n    "debug": true,\n    "limits": {"food": 200, "travel": 300},\n    "log_level": "info"\n}\n',
    "config.ini": "[app]\n# how long to wait\ntimeout = 10\nverbose = no\n",
    "site.yaml": "theme: light   # or dark\nanalytics: on\nmax_items: 25\n",
    "docs/notes.md": "# Meeting notes\n\n## 12 January\n\n- Jonas wants the logo in green, not in blue.\n- Deadline for the first release is 15 March.\n\n"
    "## Ideas\n\n- export to PDF\n- weekly summary\n\n## Tasks\n\n- [ ] Book the tent\n- [x] Order seeds\n\n## Decisions\n\n"
    "We keep amounts as cents because floats lose money.\n",
    "docs/todo.txt": "call the bank\nbuy paper\n",
    "log/server.log": "10:00 INFO start\n10:02 ERROR disk full\n10:05 ERROR timeout\n",
    "run.sh": "#!/bin/sh\npython3 -m club.report\n",
}  # fmt: skip


def make_club(root: Path) -> Path:
    for name, text in FILES.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "config", "user.email", "mara@example.org")
    run_git(root, "config", "user.name", "Mara")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "Begin the accounts")
    return root


@pytest.fixture(scope="module")
def seen_club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For questions, which change nothing."""
    return make_club(tmp_path_factory.mktemp("club"))


@pytest.fixture
def club(tmp_path: Path) -> Path:
    return make_club(tmp_path)


QUESTIONS = [
    ("What did Jonas say about the logo?", "Jonas wants the logo in green"),
    ("could you pls tell me what color the logo should be", "green, not in blue"),
    ("when is the deadline for the first release?", "15 March"),
    ("why do we keep amounts as cents?", "floats lose money"),
    ("what was decided about floats?", "We keep amounts as cents"),
    ("Where is the amount \"12.34\" turned into cents?", "club/money.py"),
    ("who should I ask if I have questions?", "Questions go to Mara"),
    ("Was hat Jonas über das Logo gesagt?", "Jonas wants the logo"),
    ("what did Jonas want, in one sentence", "Jonas wants the logo in green, not in blue."),
    ("in one sentence: what is this project about", "Reads the club's expenses"),
    ("How much did we spend on food?", "**66.75**"),
    ("how much was rent in February?", "**650.00**"),
    ("which month was more expensive, January or February?", "**2026-02**"),
    ("average amount per category", "| food | 22.25 | 3 |"),
    ("total per month please", "| 2026-01 | 125.75 | 3 |"),
    ("which category costs us the most?", "**rent** with **1300.00**"),
    ("top 3 expenses", "train to Lyon"),
    ("what is the most expensive entry?", "650.00"),
    ("list all rows over 100", "2 rows"),
    ("how many entries are in expenses.csv?", "**8**"),
    ("how many food entries are there?", "**3**"),
    ("what did the train cost?", "80.00"),
    ("what are the different categories?", "| books | 1 |"),
    ("show me the expenses sorted by amount", "8 rows"),
    ("sum of amount by category in data/expenses.csv", "| travel | 125.50 | 2 |"),
    ("wie viel haben wir für travel ausgegeben?", "**125.50**"),
    ("which Python version does it need?", ">=3.10"),
    ("how do I run this thing?", "python3 -m club.report"),
    ("how do i start the report?", "python3 -m club.report"),
    ("what does to_cents do?", "whole, _, rest"),
    ("how does format_amount work?", "cents // 100"),
    ("explain report", "club/report.py"),
    ("Compare money.py and report.py", "```diff"),
    ("compare money and report", "```diff"),
    ("where is format_amount called?", "club/report.py"),
    ("who wrote this and when was the last commit", "Begin the accounts"),
    ("how many files are there and what's the largest one?", "The largest file is"),
    ("hey there :) so i got this folder from a colleague and i have no idea what it does... can you give me the gist?", "Reads the club's expenses"),
    ("is there a licence?", "No licence file"),
    ("extract all email addresses", "mara@example.org"),
    ("show me all ERROR lines in log/server.log", "disk full"),
    ("how many errors are in the log?", "`errors`: 2 lines in 1 file"),
    ("Can you tell me what's left to do?", "Book the tent"),
    ("which tasks are done?", "Order seeds"),
    ("count the words in docs/todo.txt and README.md", "`docs/todo.txt`](docs/todo.txt): 5 words"),
    ("explain this error: ModuleNotFoundError: No module named 'club'", "Python finds no module of that name"),
    ("convert 10 miles to km", "16.09344"),
    ("how many minutes are in 2 hours?", "**120"),
    ("are there any empty files or duplicates?", "club/__init__.py"),
    ("combien de fichiers y a-t-il ?", "14 files"),
    ("wie viele Dateien gibt es hier?", "14 files"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "says"), QUESTIONS, ids=[text[:50] for text, _ in QUESTIONS])
def test_a_question_is_answered_from_the_files(seen_club: Path, text: str, says: str) -> None:
    answer = Talk(seen_club).say(text)
    assert says in answer
    assert not answer.startswith("Not ")


CHANGES = [
    ("turn off debug", "data/settings.json", '"debug": true,', '"debug": false,'),
    ("set debug to off please", "data/settings.json", '"debug": true,', '"debug": false,'),
    ("change log level to warning", "data/settings.json", '"log_level": "info"', '"log_level": "warning"'),
    ("set the currency to USD", "data/settings.json", '"currency": "EUR"', '"currency": "USD"'),
    ("set the timeout to 30", "config.ini", "timeout = 10", "timeout = 30"),
    ("increase the timeout by 5", "config.ini", "timeout = 10", "timeout = 15"),
    ("enable verbose in config.ini", "config.ini", "verbose = no", "verbose = yes"),
    ("switch the theme to dark", "site.yaml", "theme: light   # or dark", "theme: dark   # or dark"),
    ("disable analytics", "site.yaml", "analytics: on", "analytics: off"),
    ("set max items to 50", "site.yaml", "max_items: 25", "max_items: 50"),
    ("bump the version to 0.4.0", "pyproject.toml", '"0.3.1"', '"0.4.0"'),
    ("bump the minor version", "pyproject.toml", '"0.3.1"', '"0.4.0"'),
    ("add rich to the dependencies", "pyproject.toml", "dependencies = []", 'dependencies = ["rich"]'),
    ('add to the ideas notes: "support USD" as a new todo', "docs/notes.md", "- weekly summary\n", "- weekly summary\n- support USD\n"),
    ('add "CSV import" under Ideas in docs/notes.md', "docs/notes.md", "- weekly summary\n", "- weekly summary\n- CSV import\n"),
    ('add "bring cake" to the tasks', "docs/notes.md", "- [x] Order seeds\n", "- [x] Order seeds\n- [ ] bring cake\n"),
    ('Tick off "Book the tent"', "docs/notes.md", "- [ ] Book the tent", "- [x] Book the tent"),
    ("mark book the tent as done", "docs/notes.md", "- [ ] Book the tent", "- [x] Book the tent"),
    ("delete the Ideas section from docs/notes.md", "docs/notes.md", "## Ideas\n\n- export to PDF\n- weekly summary\n\n", ""),
    ("add a todo to the list: renew the passport", "docs/todo.txt", "buy paper\n", "buy paper\nrenew the passport\n"),
    ("remove the line about the bank from docs/todo.txt", "docs/todo.txt", "call the bank\n", ""),
    ("change the title of README.md to Budget", "README.md", "# Club accounts", "# Budget"),
    ("add a docstring to format_amount", "club/money.py", "def format_amount(cents):\n", 'def format_amount(cents):\n    """Format amount."""\n'),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "name", "old", "new"), CHANGES, ids=[text[:50] for text, _, _, _ in CHANGES]
)
def test_a_small_change_touches_only_its_place(club: Path, text: str, name: str, old: str, new: str) -> None:
    talk = Talk(club)
    talk.say(text)
    assert talk.read(name) == FILES[name].replace(old, new, 1)
    assert run_git(club, "diff", "--name-only").split() == [name]


WRITTEN = [
    ("Create CHANGELOG.md with a heading and one line saying that version 0.3.1 is the first release", "CHANGELOG.md", "# Changelog\n\nVersion 0.3.1 is the first release.\n"),
    ("create ideas.md with three bullet points apples, pears and plums", "ideas.md", "- apples\n- pears\n- plums\n"),
    ("make a file plan.md with a heading and a numbered list: plan, build, test", "plan.md", "# Plan\n\n1. plan\n2. build\n3. test\n"),
    ("create people.md containing a markdown table with columns name, age, city", "people.md", "| name | age | city |\n| --- | --- | --- |\n"),
    ("create a file hello.txt that says hi there", "hello.txt", "hi there\n"),
    ("create docs/faq.md saying that the club meets every Tuesday, then show it", "docs/faq.md", "The club meets every Tuesday.\n"),
    ("run the report and save what it prints to out.txt", "out.txt", "total 1511.15 EUR\n"),
    ("run run.sh and save the output to result.txt", "result.txt", "total 1511.15 EUR\n"),
    ("save the output of cat docs/todo.txt to copy.txt", "copy.txt", "call the bank\nbuy paper\n"),
    ("find all TODOs and write them to TODO.txt", "TODO.txt", "club/report.py:7: # TODO: support refunds\n"),
    ("find all TODOs and save them to todos.md", "todos.md", "- club/report.py:7: # TODO: support refunds\n"),
    ("make a folder archive and move docs/todo.txt into it", "archive/todo.txt", "call the bank\nbuy paper\n"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "name", "content"), WRITTEN, ids=[text[:50] for text, _, _ in WRITTEN])
def test_a_file_is_written_as_it_was_described(club: Path, text: str, name: str, content: str) -> None:
    talk = Talk(club)
    talk.say(text)
    assert talk.read(name) == content


#: (request, what must not be in the answer, whether it may read files)
MISFIRES = [
    ("What's the tallest mountain in the world?", "smallest"),
    ("what's the weather today?", "Reads the club"),
    ("How much did we spend on pizza?", "**"),
    ("how old is Anna?", "orchard"),
    ("who is the president of France?", "commit"),
    ("what did the designer say about branches of the apple tree?", "current branch"),
    ("is the logo blue or red?", "| commit |"),
    ("did Jonas log in yesterday?", "| commit |"),
    ("what is the history of the club's colours?", "| commit |"),
    ("who works at the harbour?", "| who |"),
    ("does anybody have the status of the harbour permit?", "On branch"),
    ("write a poem about money", "Wrote"),
    ("write a story about Jonas to story.txt", "Wrote"),
    ("translate the README to French", "Wrote"),
    ("start a server", "Running"),
    ("please improve the design of the site", "Changed"),
    ("make the report faster", "Wrote"),
    ("add error handling to club/report.py", "Added"),
    ("add lint script to pyproject.toml", "Added"),
    ("remove everything that is ugly", "Deleted"),
    ("turn off the lights", "is now"),
    ("set the table for dinner", "is now"),
    ("disable the currency", "is now"),
    ("change the world", "is now"),
    ("fix the layout of the site", "Fixed"),
    ("tick off flying to the moon", "Ticked"),
    ("commit a crime", "Committed"),
    ("delete the moon from the sky", "Deleted"),
    ("asdf qwer", "These lines"),
    ("install happiness", "` ran"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "not_said"), MISFIRES, ids=[text[:50] for text, _ in MISFIRES])
def test_a_word_alone_starts_no_job(seen_club: Path, text: str, not_said: str) -> None:
    talk = Talk(seen_club)
    answer = talk.say(text)
    assert not_said not in answer
    assert not {name for name, _ in talk.calls()} & {"write", "edit"}
    assert run_git(seen_club, "status", "--short", "--untracked-files=no") == ""


def test_a_following_question_takes_the_one_before_with_a_new_matter(seen_club: Path) -> None:
    talk = Talk(seen_club)
    talk.say("How much did we spend on food?")
    assert "**125.50**" in talk.say("what about travel?")
    assert "`pizza` is nothing that" in talk.say("and pizza?")
    talk.say("list the python files")
    assert "club/__init__.py" in talk.say("read the first one")
    assert "club/money.py" in talk.say("and the second?")


def test_a_mechanical_slip_is_fixed_and_the_tests_run_again(club: Path) -> None:
    (club / "club/money.py").write_text(
        FILES["club/money.py"].replace("def format_amount(cents):", "def format_amount(cents)")
    )
    talk = Talk(club)
    answer = talk.say("some test is failing, can you fix it?")
    assert talk.read("club/money.py") == FILES["club/money.py"]
    assert "They pass now" in answer


def test_a_misspelt_import_is_fixed(club: Path) -> None:
    (club / "tests/test_money.py").write_text(
        FILES["tests/test_money.py"].replace("import format_amount", "import format_amout")
    )
    answer = Talk(club).say("fix the failing tests")
    assert "`format_amout` is now `format_amount`" in answer


def test_a_wrong_result_is_shown_and_left(club: Path) -> None:
    broken = FILES["club/money.py"].replace("* 100", "* 10")
    (club / "club/money.py").write_text(broken)
    talk = Talk(club)
    answer = talk.say("the tests are red, please fix them")
    assert "test_to_cents" in answer
    assert "Nothing was changed" in answer
    assert talk.read("club/money.py") == broken
    assert "AssertionError" in talk.say("which of them failed and why?")


def test_a_test_is_added_with_the_value_the_function_gives(club: Path) -> None:
    talk = Talk(club)
    answer = talk.say('add a test for to_cents("0")')
    assert '        self.assertEqual(to_cents("0"), 0)\n' in talk.read("tests/test_money.py")
    assert "for you to judge" in answer
    done = subprocess.run(
        ["python3", "-m", "unittest", "tests/test_money.py"],
        cwd=club,
        check=False,
        capture_output=True,
        text=True,
    )
    assert "Ran 3 tests" in done.stderr
    assert done.returncode == 0


def test_a_refusal_is_short_and_says_once_what_is_possible(seen_club: Path) -> None:
    talk = Talk(seen_club)
    first = talk.say("write a poem about money")
    assert "It is a script: it can list, read, search" in first
    again = talk.say("translate the README to French")
    assert "It is a script" not in again
    assert all(len(answer.strip().splitlines()) <= 3 for answer in (first, again))
    assert "- **Look**" in talk.say("what can you do?")


def test_two_files_of_one_name_are_asked_about(club: Path) -> None:
    (club / "other").mkdir()
    (club / "other/money.py").write_text("x = 1\n")
    answer = Talk(club).say("explain money.py")
    assert "club/money.py" in answer
    assert "other/money.py" in answer
