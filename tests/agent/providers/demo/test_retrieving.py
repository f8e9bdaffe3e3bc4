"""Questions about a folder are answered by the passage that has most of them, with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from sessions_app.agent.providers.demo.passages import passages_of
from tests.agent.providers.demo_talk import Talk

_FILES = {
    "README.md": "# Choir\n\nWe sing on Mondays.\n\n## Joining\n\nJust come along. Bring water and a pencil.\n",
    "contacts.txt": "Chair      Ada Stone   07700 1201\nTreasurer  Tom Reed    07700 1202\n",
    "rules.txt": "RULES\n\n1. Fires are allowed only from October to March.\n2. Dogs stay on a lead.\n",
    "money.csv": "date,item,in,out\n2024-01-05,balance,100.00,\n2024-02-03,padlock,,18.50\n",
    "stock.csv": "part,quantity,minimum\nfuse,6,10\nplug,9,4\nzip,2,6\n",
    "roasts.csv": "date,bean,green_g,roasted_g\n2024-01-01,Huila,250,210\n2024-01-08,Sidamo,250,220\n2024-01-15,Sidamo,200,180\n",
    "site/index.html": "<html><body>\n<h1>Bakery</h1>\n<p>Opened in 1987 by two bakers.</p>\n<p>Open Tuesday to Friday, 7 am to 2 pm.</p>\n</body></html>\n",
    "letters/council.txt": "Dear Mrs Patel,\n\nThe lamp at our gate is broken since January. Please repair it soon.\n\nKind regards,\nMr Grant\n",
    "ideas.txt": "- ask Mr Grant for his piano\n- a grant for new chairs\n",
    "minutes/2024-02.md": "# Meeting 10 February\n\nPresent: Ada, Tom\n\n- Fees: Tom sends reminders.\n",
    "minutes/2024-04.md": "# Meeting 13 April\n\nPresent: Ada\n\n- Roof: Ada buys felt.\n",
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("choir")
    for name, text in _FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    return root


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("when may we light fires", "rules.txt:3"),
        ("what's the phone number of the treasurer", "contacts.txt:2"),
        ("when is the bakery open?", "site/index.html:4"),
        ("what do I have to bring along?", "README.md:7"),
    ],
)
def test_the_best_passage_comes_first_with_its_place(folder: Path, text: str, first: str) -> None:
    assert Talk(folder).say(text).startswith(f"[`{first}`]")


def test_a_name_is_no_longer_word_and_no_common_one(folder: Path) -> None:
    answer = Talk(folder).say("Find every place where Mr Grant is mentioned")
    assert "letters/council.txt" in answer
    assert "piano" in answer
    assert "Patel" not in answer
    assert "chairs" not in answer


def test_what_stands_nowhere_is_said_to_stand_nowhere(folder: Path) -> None:
    assert "stand in none of the 11 files here" in Talk(folder).say("when is the zebra due?")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("how much money is left in the kitty", "**81.50**"),
        ("which parts are below their minimum stock?", "**fuse**, **zip**"),
        ("which roast lost the most weight?", "**Huila**: 40"),
        ("how many grams of Sidamo did I roast in total (green)", "**450**"),
    ],
)
def test_two_columns_are_measured_against_each_other(folder: Path, text: str, says: str) -> None:
    assert says in Talk(folder).say(text)


def test_a_summary_takes_each_file_once_and_no_salutation(folder: Path) -> None:
    answer = Talk(folder).say("please make a short summary of both meetings")
    assert answer.count("**[`minutes/") == 2
    assert "Fees: Tom sends reminders." in answer
    assert "Roof: Ada buys felt." in answer
    assert "Present" not in answer
    letter = Talk(folder).say("summarise the letter to the council in one sentence")
    assert letter.startswith("The lamp at our gate is broken")


def test_texts_are_compared_by_what_both_say(tmp_path: Path) -> None:
    (tmp_path / "march.md").write_text("# March\n\n- [ ] Ada: buy new chairs\n- [ ] Tom: paint the gate\n")
    (tmp_path / "april.md").write_text("# April\n\n- [x] Ada: buy the new chairs\n- [ ] Tom: mend the roof\n")
    answer = Talk(tmp_path).say("Compare the March and April notes: what was in both?")
    both, _, rest = answer.partition("**Only in")
    assert "buy new chairs" in both
    assert "paint the gate" in rest
    assert "mend the roof" in rest


def test_a_folder_seen_for_the_first_time_is_told_about(folder: Path) -> None:
    answer = Talk(folder).say("Can you have a look around and tell me what's in here?")
    assert "The lamp at our gate is broken" in answer
    assert "a table with part, quantity, minimum" in answer


def test_the_tables_are_read_only_when_a_question_touches_them(folder: Path) -> None:
    talk = Talk(folder)
    talk.say("when may we light fires")
    assert all(not str(a.get("path", "")).endswith(".csv") for name, a in talk.calls() if name == "read")


def test_the_passages_of_a_settings_file_know_what_they_stand_under() -> None:
    found = passages_of("a.json", '{\n  "session": {\n    "opens": "10:00"\n  }\n}\n')
    assert [(p.line, p.heading) for p in found if p.kind == "line"] == [(3, "session")]
