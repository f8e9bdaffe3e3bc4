"""Changes in free words: what the folder explains in every word is done, what it does not is left alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agent.providers.demo.places import make
from tests.agent.providers.demo_talk import Talk

WORKSHOP = {
    "README.md": "# Bike stock\n\nA small service.\n\n## Endpoints\n\n- GET /parts\n- POST /parts\n\n## License\n\nMIT\n",
    "requirements.txt": "flask==3.0.0\nrequests==2.31.0\n",
    "src/app.py": "from stock import load\n\nPORT = 8080\nDEBUG = True\n\nprint(load(), PORT)\n",
    "src/stock.py": "def load():\n    return []\n",
    "parts.csv": "sku,name,count,price,supplier\nB-100,brake pad,14,4.50,Velo Ltd\nC-200,chain 9s,7,18.90,Kett\nC-201,chain 11s,2,32.00,Kett\nT-300,inner tube,41,5.10,Rubber\n",
    "config/dev.yaml": "server:\n  port: 8080\n  timeout: 30\nlog_level: debug\nfeatures:\n  - search\n",
    "config/prod.yaml": "server:\n  port: 80\n  timeout: 10\nlog_level: info\nfeatures:\n  - search\n",
    "docs/CHANGES.md": "# Changes\n\n## 0.3.0\n\n- low stock\n",
    "docs/todo.txt": "write tests for stock.py\n[done] move to flask 3\ndark mode for the page\n",
    "logs/server.log": "09:12 INFO up\n10:02 ERROR no answer of Kett\n11:31 ERROR disk full\n",
}
CLUB = {
    "members.csv": "Name,Email,Phone,Joined,Paid\nAnna Berg,anna@example.org,0151 2233,2019-04-01,yes\nTom Okafor,tom@example.org,,2021-09-12,no\nLina Sato,,0172 8899,2022-01-20,yes\n",
    "plans/summer-party.md": "# Summer party\n\nWe meet on 18 July at the boathouse. The band plays from 19:30.\n\n## Open questions\n\n- Who brings the grill?\n",
    "lists/shopping.md": "# Shopping for the party\n\n- [ ] charcoal\n- [x] plates\n- [ ] buns\n",
    "settings.ini": "[club]\nfee = 60\n\n[mail]\nreminders = off\n",
    "fees.py": "FEE = 60\n",
    "budget.csv": "date,item,kind,in,out\n2026-01-05,fees,fees,60.00,\n2026-02-01,paint,materials,,18.90\n",
    "rules.txt": "1. Lock the gate.\n2. No dogs.\n",
    "drafts/outline.md": "# Outline\n\n1. Method\n2. Results\n3. Discussion\n\nTODO: the number of members\n",
    "todo.txt": "[ ] paint the boat\n[x] phone list\n",
    "market.md": "# Market\n\n## Helpers\n\n| day | who |\n|---|---|\n| Friday | Anna |\n| Sunday | Raj |\n\nBring a tent.\n",
    "bin/backup.sh": "# older than 14 days\nfind . -mtime +14\n",
    "backup.yaml": "keep_days: 14\n",
    "pages/a.html": "<p>Founded 2025</p>\n<footer>2025 Club</footer>\n",
}
CHANGED = [
    (WORKSHOP, "use port 9090 instead of 8080 in dev", "config/dev.yaml", "port: 8080", "port: 9090"),
    (WORKSHOP, "set the production log level to warning", "config/prod.yaml", "log_level: info", "log_level: warning"),
    (WORKSHOP, "bump requests to 2.32.3", "requirements.txt", "2.31.0", "2.32.3"),
    (WORKSHOP, "add a DELETE /parts endpoint to the list in the readme", "README.md", "- POST /parts\n", "- POST /parts\n- DELETE /parts endpoint\n"),
    (WORKSHOP, "note in the changelog that we added a health check, version 0.4.0", "docs/CHANGES.md", "## 0.3.0", "## 0.4.0\n\n- added a health check\n\n## 0.3.0"),
    (WORKSHOP, 'add "export" to the features of the prod config', "config/prod.yaml", "  - search\n", "  - search\n  - export\n"),
    (WORKSHOP, "we sold 4 inner tubes, update the stock", "parts.csv", "inner tube,41", "inner tube,37"),
    (WORKSHOP, "add a new part: B-102 brake lever, 6 pieces at 12.90 from Velo Ltd", "parts.csv", "5.10,Rubber\n", "5.10,Rubber\nB-102,brake lever,6,12.90,Velo Ltd\n"),
    (WORKSHOP, "the chain 11s now costs 34.50", "parts.csv", "2,32.00", "2,34.50"),
    (WORKSHOP, "remove the dark mode item from the todo", "docs/todo.txt", "dark mode for the page\n", ""),
    (WORKSHOP, 'mark "write tests for stock.py" as done in the todo file', "docs/todo.txt", "write tests", "[done] write tests"),
    (WORKSHOP, "rename stock.py to inventory.py and fix the import", "src/app.py", "from stock import", "from inventory import"),
    (WORKSHOP, "change the license to Apache-2.0", "README.md", "MIT", "Apache-2.0"),
    (CLUB, "add Mia Falk (mia@example.org, joined 2026-05-02) to the members, not paid", "members.csv", "2022-01-20,yes\n", "2022-01-20,yes\nMia Falk,mia@example.org,,2026-05-02,no\n"),
    (CLUB, "Lina's mail is lina@example.org, please fill it in", "members.csv", "Lina Sato,,", "Lina Sato,lina@example.org,"),
    (CLUB, "backups should be kept 30 days instead of 14, in the yaml and in the script", "backup.yaml", "14", "30"),
    (CLUB, "make a new member entry: Ben Roe, ben@example.org, not paid", "members.csv", "2022-01-20,yes\n", "2022-01-20,yes\nBen Roe,ben@example.org,,,no\n"),
    (CLUB, "add to the outline a chapter about the boats: check the hull, paint it, tell Raj", "drafts/outline.md", "members\n", "members\n\n## Boats\n\n- Check the hull\n- Paint it\n- Tell Raj\n"),
    (CLUB, "delete the lines from Lina from the members", "members.csv", "Lina Sato,,0172 8899,2022-01-20,yes\n", ""),
    (CLUB, "add a helper row for Monday: Lina", "market.md", "| Sunday | Raj |\n", "| Sunday | Raj |\n| Monday | Lina |\n"),
    (CLUB, "Tom has paid", "members.csv", "2021-09-12,no", "2021-09-12,yes"),
    (CLUB, "turn reminders on in the config", "settings.ini", "reminders = off", "reminders = on"),
    (CLUB, "raise the fee to 65 everywhere", "fees.py", "60", "65"),
    (CLUB, 'add a section "Weather" to the summer party plan saying we move to the hall if it rains', "plans/summer-party.md", "grill?\n", "grill?\n\n## Weather\n\nWe move to the hall if it rains.\n"),
    (CLUB, "replace 18 July with 25 July in the party plan and check nothing else still says 18 July", "plans/summer-party.md", "18 July", "25 July"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("files", "text", "name", "old", "new"), CHANGED, ids=[text for _, text, *_ in CHANGED]
)
def test_a_change_the_folder_explains_touches_only_its_place(
    tmp_path: Path, files: dict[str, str], text: str, name: str, old: str, new: str
) -> None:
    talk = Talk(make(tmp_path, files))
    talk.say(text)
    assert old in files[name]
    assert talk.read(name) == files[name].replace(old, new, 1)


def test_rows_are_put_in_order_in_the_file_itself(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, WORKSHOP))
    talk.say("sort parts.csv by price, most expensive first")
    assert [line.split(",")[0] for line in talk.read("parts.csv").splitlines()] == [
        "sku", "C-201", "C-200", "T-300", "B-100",
    ]  # fmt: skip


def test_a_folder_is_deleted_only_when_a_folder_is_meant(tmp_path: Path) -> None:
    """The words "old prices" name the folder, and never the prices that hold today."""
    talk = Talk(
        make(tmp_path, {"prices.csv": "name,price\nsoap,5\n", "old/prices_2022.csv": "name,price\nsoap,4\n"})
    )
    talk.say("delete the folder with the old prices")
    assert not (tmp_path / "old").exists()
    assert talk.read("prices.csv") == "name,price\nsoap,5\n"


def test_a_file_gets_another_name_and_then_a_heading(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, {"README": "Boats of the club.\n"}))
    talk.say('rename README to README.md and give it a heading "Club"')
    assert talk.read("README.md") == "# Club\n\nBoats of the club.\n"


def test_an_entry_is_moved_under_another_heading(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, {"tasks.txt": "TO DO\n* pay the rent\n* call Ann\n\nDONE\n* new labels\n"}))
    talk.say('move "pay the rent" to done')
    assert talk.read("tasks.txt") == "TO DO\n* call Ann\n\nDONE\n* new labels\n* pay the rent\n"


def test_lines_are_gathered_into_a_new_file(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, WORKSHOP))
    talk.say("put the errors about Kett into a file errors.txt")
    assert talk.read("errors.txt") == "10:02 ERROR no answer of Kett\n"


def test_a_step_goes_on_in_the_folder_the_one_before_made(tmp_path: Path) -> None:
    talk = Talk(make(tmp_path, WORKSHOP))
    talk.say("make a folder archive and move the log in there")
    assert talk.read("archive/server.log") == WORKSHOP["logs/server.log"]
    assert not (tmp_path / "logs/server.log").exists()


MADE_LIKE = [
    (
        "create a jobs page, same look as the others, saying we look for a cox, write to crew@example.org",
        "pages/jobs.html",
        '<h1>Jobs</h1>\n<p>We look for a cox, write to <a href="mailto:crew@example.org">crew@example.org</a>.</p>\n<footer>2025 Club</footer>\n',
    ),
    (
        "start minutes for the june meeting with the same layout as the last ones, just empty points",
        "minutes/2026-06-board.md",
        "# Board, June 2026\n\nPresent:\n\n1. \n2. \n",
    ),
    (
        "write a reminder letter to Tom Okafor based on the template and save it in the letters folder",
        "letters/reminder_tom_okafor.txt",
        "Dear Tom Okafor,\nyou joined on 2021-09-12. Please pay.\n",
    ),
]


@pytest.mark.parametrize(("text", "name", "content"), MADE_LIKE, ids=[text[:30] for text, _, _ in MADE_LIKE])
def test_a_file_is_made_like_one_that_is_there(tmp_path: Path, text: str, name: str, content: str) -> None:
    files = {
        "members.csv": CLUB["members.csv"],
        "pages/about.html": "<h1>About</h1>\n<p>Founded 1987</p>\n<footer>2025 Club</footer>\n",
        "minutes/2026-04-board.md": "# Board, 6 April 2026\n\nPresent: Anna, Tom\n\n1. The boat leaks.\n2. Nothing else.\n",
        "letters/reminder.txt": "Dear [NAME],\nyou joined on [JOINED]. Please pay.\n",
    }
    talk = Talk(make(tmp_path, files))
    talk.say(text)
    assert talk.read(name) == content
    assert {name: talk.read(name) for name in files} == files


UNCLEAR = [
    (WORKSHOP, "set the timeout to 20", "2 settings fit"),
    (WORKSHOP, "remove the chain from the parts", "2 rows"),
    (WORKSHOP, "add a part: saddle, blue, 12 pieces", "is `blue` the `supplier`"),
    (CLUB, "replace 60 with 70", "3 files"),
]


@pytest.mark.parametrize(("files", "text", "says"), UNCLEAR, ids=[text for _, text, _ in UNCLEAR])
def test_what_is_unclear_is_asked_and_nothing_is_touched(
    tmp_path: Path, files: dict[str, str], text: str, says: str
) -> None:
    talk = Talk(make(tmp_path, files))
    assert says in talk.say(text)
    assert {name: talk.read(name) for name in files} == files
