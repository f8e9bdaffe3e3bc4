"""Three small folders of different people, for the demo model to work in."""

from __future__ import annotations

from pathlib import Path

from tests.agent.providers.demo_talk import run_git

CHOIR = {
    "singers.csv": "name,voice,mail,paid,since\nOda Wik,alto,oda@choir.example,yes,2021-09-01\nJon Fry,bass,,no,2024-01-15\nKai Roe,tenor,kai@choir.example,,2025-05-20\nLiv Dahl,alto,liv@choir.example,yes,2019-03-11\n",
    "costs.csv": "date,what,kind,amount\n2026-01-10,scores,music,120.00\n2026-02-02,hall,rent,300.00\n2026-02-20,scores,music,45.50\n2026-03-05,hall,rent,300.00\n",
    "songs.json": '[\n  {"title": "Evening", "minutes": 4, "ready": true},\n  {"title": "Harvest", "minutes": 7, "ready": false}\n]\n',
    "letters/invitation.md": "# Spring concert\n\nWe sing on 14 May at 7 pm in the town hall. Tickets cost 8 euros.\n\nWrite to choir@choir.example or call 040 123456.\n",
    "letters/thanks.md": "# Thank you\n\nThe concert brought 640 euros. Two hundred people came.\n",
    "todo.txt": "book the hall\nprint flyers\nbook the hall\n",
    "empty.txt": "",
}  # fmt: skip
TOOL = {
    "pyproject.toml": '[project]\nname = "tally"\nversion = "1.0.0"\ndescription = "Counts things"\ndependencies = ["rich>=13"]\n',
    "tally/__init__.py": "",
    "tally/core.py": '"""Counting."""\n\nLIMIT = 10\n\n\ndef tally(items, step=1):\n    """Count the items."""\n    return len(items) * step\n\n\ndef spare(items):\n    return items[:LIMIT]\n',
    "tests/test_core.py": "import unittest\n\nfrom tally.core import tally\n\n\nclass TallyTest(unittest.TestCase):\n    def test_tally(self):\n        self.assertEqual(tally([1, 2]), 2)\n",
    "logs/1.log": "INFO start\nERROR full\n",
    "logs/2.log": "INFO start\n",
}
SITE = {
    "index.html": '<!doctype html>\n<html>\n<head>\n  <title>Bikes</title>\n  <link rel="stylesheet" href="main.css">\n</head>\n<body>\n  <h1>Bikes</h1>\n  <img src="bike.jpg">\n  <a href="about.html">About</a>\n</body>\n</html>\n',
    "about.html": "<!doctype html>\n<html>\n<head>\n  <title>About</title>\n</head>\n<body>\n  <h1>About</h1>\n</body>\n</html>\n",
    "main.css": "body { color: black; }\nh1 { color: red; }\n",
    "old.css": "h1 { color: blue; }\n",
}


def make(root: Path, files: dict[str, str]) -> Path:
    """The files under git, in one commit."""
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    run_git(root, "init", "-q", "-b", "main")
    run_git(root, "config", "user.email", "ada@example.org")
    run_git(root, "config", "user.name", "Ada")
    run_git(root, "add", "-A")
    run_git(root, "commit", "-qm", "Begin")
    return root
