"""What people say to the demo model and what it does then, in a folder it has never seen, through the real loop."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.providers.demo_talk import Talk, make_folder


@pytest.fixture(scope="module")
def seen_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For requests that only look."""
    return make_folder(tmp_path_factory.mktemp("station"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make_folder(tmp_path, git=False)


LOOKING = [
    ("What files are in this folder?", "ls", "notes.txt"),
    ("ls", "ls", "README.md"),
    ("can you show me what's in the docs folder?", "ls", "docs/notes.md"),
    ("Show me the directory tree", "find", "sensors.py"),
    ("how is the project organized?", "find", "station/"),
    ("Summarise this folder", "ls find read bash", "A small weather station"),
    ("What does this project do?", "ls find read bash", "Reads sensors and prints a report"),
    ("Give me an overview of the codebase", "ls find read bash", "What the files are"),
    ("tell me what it's about", "ls find read bash", "weather station"),
    ("Read README.md", "read", "# Weather station"),
    ("show me the readme please", "find read", "# Weather station"),
    ("cat pyproject.toml", "read", "dependencies"),
    ("Open main.py", "read find read", "Entry point"),
    ("Show me the first 3 lines of station/main.py", "read", "Lines 1–3"),
    ("print the last 2 lines of notes.txt", "bash", "cherry"),
    ("what's on line 4 of station/sensors.py?", "read", "class Sensor"),
    ("Explain station/sensors.py", "read", "One sensor."),
    ("Explain how the sensors module works", "find read", "Sensors and their calibration"),
    ("What does the function mean do?", "grep read", "len(values) - 1"),
    ("list the functions in station/sensors.py", "read", "mean(values)"),
    ("what is the longest function in station/sensors.py", "read", "The longest"),
    ("How many lines of code are there?", "bash", "| Python |"),
    ("How many lines of Python code does this project have?", "bash", "Python files"),
    ("count the words in docs/notes.md", "bash", "16 words"),
    ("How many Python files are there?", "find", "4 files"),
    ("count files by type", "find", "`.csv`"),
    ("find all markdown files", "find", "docs/notes.md"),
    ("Find files named *.csv", "find", "data/readings.csv"),
    ("where is config.json?", "find", "data/config.json"),
    ("what are the biggest files?", "bash", "Largest files"),
    ("Find files larger than 1 MB", "bash", "No file is larger"),
    ("Which files changed recently?", "bash", "Newest files"),
    ("find empty files", "bash", "station/__init__.py"),
    ('Find the word "sensor" in all files', "grep", "stands in"),
    ("is there anything about temperature in this project?", "grep", "station/sensors.py"),
    ("Find every TODO and group them by file", "grep", "read the place from a file"),
    ("any FIXMEs left?", "grep", "rounding"),
    ("where is read_all defined?", "grep", "is defined in"),
    ("what environment variables does this use?", "grep", "os.environ"),
    ("are there hard-coded passwords?", "grep", "a search, not a proof"),
    ("What are the dependencies of this project?", "ls read", "requests>=2"),
    ("check the links in README.md", "find read", "leads to `docs/gone.md`"),
    ("how big is this folder?", "bash", "on disk"),
    ("duplicate file names", "find", "No file name occurs twice"),
    ("most common words in docs/notes.md", "read", "colour"),
    ("what version of Python is installed?", "bash", "Python 3"),
    ("what time is it?", "bash", "clock says"),
    ("what is 17 * 23?", "", "**391**"),
    ("calculate 15% of 240", "", "**36**"),
    ("is data/config.json valid JSON?", "read", "2 keys"),
    ("pretty print data/config.json", "read", '"interval": 60'),
    ("show me the columns of data/readings.csv", "read", "3 rows and 3 columns"),
    ("What is the average temperature in readings.csv?", "read find read", "**3** (3 rows)"),
    ("convert data/readings.csv to markdown", "read", "| 2026-01-03 | 1.5 | Lyon |"),
    ("compare README.md and docs/notes.md", "bash read", "**Only in"),
    ("make a table of contents for docs/notes.md", "read", "- [Wiring](#wiring)"),
    ("git status", "bash", "nothing changed"),
    ("show me the last two commits", "bash", "Fix the report at midnight"),
    ("who wrote this?", "bash", "| Ada | 2 |"),
    ("which branch am I on?", "bash", "`main`"),
    ("what changed since the last commit?", "bash", "Nothing is changed"),
    ("Run ls -la", "bash", "notes.txt"),
    ("run python3 -m station.main", "bash", "Bremen"),
    ("zeige mir alle Dateien", "ls", "answers in English"),
    ("kannst du die Tests ausführen?", "ls bash read", "test_mean"),
    ("give me a quick rundown of what's going on in this repo", "ls find read bash", "weather station"),
    ("can you find where we handle errors?", "grep", "a search, not a proof"),
    ("run the main script", "find bash", "Bremen"),
    ("give me the sum of the temperature column", "find read", "**9.0** (3 rows)"),
    ("what are the differences between README.md and notes.txt", "bash read", "**Only in"),
    ("lis README.md", "read", "# Weather station"),
    ("¿Qué archivos hay aquí?", "ls", "notes.txt"),
    ("sumarize this folder", "ls find read bash", "weather station"),
    ("shwo me README.md", "read", "# Weather station"),
    ("1. list the files\n2. read notes.txt", "ls read", "cherry"),
    ("List the files and then read the first one", "ls read", "banana"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("request_text", "tools", "says"), LOOKING, ids=[text[:50] for text, _, _ in LOOKING]
)
def test_a_plain_request_is_done_with_tools_that_can_be_seen(
    seen_folder: Path, request_text: str, tools: str, says: str
) -> None:
    talk = Talk(seen_folder)
    answer = talk.say(request_text)
    assert " ".join(talk.tools_used()) == tools
    assert says in answer
    assert "Demo model, offline: a script, not an AI." in answer


CHANGING = [
    ('Create a file called hello.txt with the text "Hello there"', "hello.txt", "Hello there\n"),
    ('write "hello world" to greeting.txt', "greeting.txt", "hello world\n"),
    ("create an empty file called todo.md", "todo.md", ""),
    ("create a.py with\n```python\nprint(1)\n```", "a.py", "print(1)\n"),
    ("Create a JSON file with name Alice and age 30", "data.json", '{\n  "name": "Alice",\n  "age": 30\n}\n'),
    ("Create a shopping list with milk, eggs and bread", "shopping-list.md", "# Shopping list\n\n- milk\n- eggs\n- bread\n"),
    ('replace "colour" with "color" in docs/notes.md', "docs/notes.md", "# Notes\n\nThe color is grey.\nThe color may change."),
    ('add the line "dragonfruit" to notes.txt', "notes.txt", "banana\napple\ncherry\napple\ndragonfruit\n"),
    ("prepend \"zero\" to notes.txt", "notes.txt", "zero\nbanana\napple\ncherry\napple\n"),
    ("add \"fig\" after line 1 in notes.txt", "notes.txt", "banana\nfig\napple\ncherry\napple\n"),
    ("delete line 2 of notes.txt", "notes.txt", "banana\ncherry\napple\n"),
    ("remove all lines containing apple from notes.txt", "notes.txt", "banana\ncherry\n"),
    ('Remove the word "apple" from notes.txt', "notes.txt", "banana\n\ncherry\n\n"),
    ("add fig to notes.txt", "notes.txt", "banana\napple\ncherry\napple\nfig\n"),
    ("Turn notes.txt into a numbered list", "notes.txt", "1. banana\n2. apple\n"),
    ('Find "place" and replace it with "location" in data/config.json', "data/config.json", '{"location": "Bremen"'),
    ("sort the lines in notes.txt", "notes.txt", "apple\napple\nbanana\ncherry\n"),
    ("remove duplicate lines from notes.txt", "notes.txt", "banana\napple\ncherry\n"),
    ("make notes.txt uppercase", "notes.txt", "BANANA\nAPPLE\nCHERRY\nAPPLE\n"),
    ('Change line 2 of notes.txt to "pear"', "notes.txt", "banana\npear\ncherry\napple\n"),
    ("bump the version to 0.4.0 in pyproject.toml", "pyproject.toml", '[project]\nname = "station"\nversion = "0.4.0"\n'),
    ("Set place to Hamburg in data/config.json", "data/config.json", '{"place": "Hamburg", "interval": 60}\n'),
    ('Add a key "debug" with value true to data/config.json', "data/config.json", '{"place": "Bremen", "interval": 60, "debug": true}\n'),
    ("Sort data/readings.csv by temperature", "data/readings.csv", "day,temperature,place\n2026-01-03,1.5,Lyon\n2026-01-01,3.5,Bremen\n"),
    ("rename the function mean to average everywhere", "tests/test_sensors.py", "import unittest\n\nfrom station.sensors import average\n"),
    ("rename notes.txt to fruit.txt", "fruit.txt", "banana\napple\ncherry\napple\n"),
    ("move notes.txt to docs", "docs/notes.txt", "banana\n"),
    ("Make a backup copy of README.md", "README.backup.md", "# Weather station\n"),
    ("add a docstring to mean in station/sensors.py", "station/sensors.py", '"""Sensors and their calibration."""\n'),
    ("add a table of contents to docs/notes.md", "docs/notes.md", "# Notes\n\n## Contents\n\n- [Wiring](#wiring)\n- [Power](#power)\n\nThe colour"),
    ("convert data/readings.csv to table.md", "table.md", "| day | temperature | place |\n"),
    ("create a .gitignore for Python", ".gitignore", "# Python\n"),
    ("make me a website", "index.html", "<!doctype html>\n"),
    ("Create a Python script that prints the Fibonacci sequence", "fibonacci.py", '"""Print the first Fibonacci'),
    ("Write a bash script that backs up this folder", "backup.sh", "#!/usr/bin/env bash\n"),
    ("summarise this folder and save it to SUMMARY.md", "SUMMARY.md", "**station** — A small weather station"),
    ('Make a directory "made" with three empty files a, b and c in it', "made/c", ""),
    ("Add a CHANGELOG entry for the last commit", "README.md", "# Weather station\n"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("request_text", "name", "begins"), CHANGING, ids=[text[:50] for text, _, _ in CHANGING]
)
def test_a_change_asked_for_is_in_the_file_afterwards(
    folder: Path, request_text: str, name: str, begins: str
) -> None:
    talk = Talk(folder)
    talk.say(request_text)
    assert talk.read(name).startswith(begins)
    assert not begins.endswith("\n") or begins.count("\n") < 3 or talk.read(name)[: len(begins)] == begins


REFUSED = [
    "fix the bug in station/sensors.py",
    "Refactor main.py to use classes",
    "translate the README to German",
    "write a poem about this project",
    "what's the weather today?",
    "install numpy",
    "review my code",
    "Deploy this to production",
    "what is in this image?",
    "Tell me the capital of France",
    "write me a snake game",
    "create a python script download.py that downloads the weather",
    "search the web for python tutorials",
    "undo the last commit",
    "delete everything",
    "delete all .txt files",
    "delete ../other",
    "run rm -rf /",
    "xyzzy plugh",
    "look for functions that have no docstring",
    "add a dark mode to README.md",
    "add error handling to station/main.py",
    "write a short poem to poem.txt",
    "create poem.txt containing a poem about spring",
    "put three bullet points about improving this project into notes.txt",
    "Create notes2.md with a list of three fruits",
]  # fmt: skip


@pytest.mark.parametrize("request_text", REFUSED)
def test_what_is_not_possible_is_said_and_nothing_is_touched(folder: Path, request_text: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    talk = Talk(folder)
    answer = talk.say(request_text)
    assert answer.startswith(("Not ", "No change", "An image cannot"))
    assert not {name for name, _ in talk.calls()} & {"write", "edit"}
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def test_the_tests_are_run_and_their_first_failure_is_read_out(folder: Path) -> None:
    talk = Talk(folder)
    answer = talk.say("Run the tests and explain the first failure")
    assert talk.tools_used()[:2] == ["ls", "bash"]
    assert "test_mean" in answer
    assert "6.0" in answer
    assert "does not know" in answer


def test_a_changelog_entry_goes_under_unreleased(tmp_path: Path) -> None:
    root = make_folder(tmp_path)
    (root / "CHANGELOG.md").write_text(
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A sensor\n\n## 0.3.1\n\n- Old\n"
    )
    talk = Talk(root)
    talk.say("Add a CHANGELOG entry for the last commit")
    assert talk.tools_used() == ["bash", "ls", "read", "edit"]
    assert talk.read("CHANGELOG.md") == (
        "# Changelog\n\n## [Unreleased]\n\n### Added\n\n- A sensor\n\n### Fixed\n\n- Fix the report at midnight\n\n## 0.3.1\n\n- Old\n"
    )
    assert "already names the last commit" in talk.say("Add a CHANGELOG entry for the last commit")


def test_a_program_is_written_and_run(folder: Path) -> None:
    talk = Talk(folder)
    answer = talk.say("write a hello world in Python and run it")
    assert talk.tools_used() == ["bash", "write", "bash"]
    assert "Hello, world!" in answer
    assert "template" in str(talk.messages)


def test_a_step_that_is_not_understood_is_named_beside_those_done(folder: Path) -> None:
    answer = Talk(folder).say("Please rename notes.txt to fruit.txt and update the wording")
    assert (folder / "fruit.txt").exists()
    assert "Not done: “update the wording”" in answer


def test_an_existing_file_is_not_overwritten_unasked(folder: Path) -> None:
    talk = Talk(folder)
    assert "exists already" in talk.say('create notes.txt with the text "x"')
    assert talk.read("notes.txt").startswith("banana")
    talk.say('overwrite notes.txt with "x"')
    assert talk.read("notes.txt") == "x\n"
    talk.say("undo")
    assert talk.read("notes.txt").startswith("banana\napple")


def test_a_folder_without_git_says_so(folder: Path) -> None:
    assert "not in a git repository" in Talk(folder).say("show the git log")


def test_a_failing_tool_is_reported_in_its_own_words(folder: Path) -> None:
    answer = Talk(folder).say("run python3 -c 'raise SystemExit(\"no luck\")'")
    assert "failed" in answer
    assert "no luck" in answer


@pytest.mark.parametrize(
    ("text", "missing"),
    [("run the tests", "bash"), ('add the line "x" to notes.txt', "edit"), ("create a fibonacci script", "write"), ("git status", "bash")],
)  # fmt: skip
def test_a_tool_that_is_switched_off_is_named(folder: Path, text: str, missing: str) -> None:
    talk = Talk(folder, tools=("read", "grep", "find", "ls"))
    answer = talk.say(text)
    assert f"needs the tool `{missing}`, and it is switched off here" in answer
    assert not {name for name, _ in talk.calls()} - {"read", "grep", "find", "ls"}


@pytest.mark.parametrize(
    "text", ["list the files", "find every TODO", "find all markdown files", "summarise this folder"]
)
def test_the_shell_stands_in_for_looking_tools_that_are_off(seen_folder: Path, text: str) -> None:
    with_shell, with_all = Talk(seen_folder, tools=("read", "bash", "edit", "write")), Talk(seen_folder)
    assert with_shell.say(text) == with_all.say(text)
