"""Questions about tables: what is understood, what comes out, and what is not answered because a word has no meaning there."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest

from sessions_app.agent.providers.demo.phrases import mask, polite
from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.reading import Reading, read
from sessions_app.agent.providers.demo.sheets.sheet import Sheet, joins, parsed
from sessions_app.agent.providers.demo.sheets.wording import answered, written

MEMBERS = """id,name,email,town,active,joined,fee
1,Ida Holm,ida@example.org,Lund,yes,2023-02-11,12.50
2,Per Falk,,Malmö,no,2024-06-01,30.00
3,Åsa Ek,asa@example.org,Lund,yes,2025-01-20,12.50
4,Nils Bo,nils@example.org,Ystad,,2025-03-05,
"""
LOANS = """loan;member;book;due;returned
71;1;Moby-Dick;05.02.2026;04.02.2026
72;3;Emma;19.02.2026;
73;1;Dracula;02.03.2026;
74;2;Emma;30.03.2026;28.03.2026
"""


def sheet_of(path: str, text: str) -> Sheet:
    found = parsed(path, text)
    assert found is not None
    return found


def asked(text: str, *sheets: Sheet, today: date | None = None) -> Reading:
    """The reading of the first sheet."""
    ask = mask(text)
    return read(ask.with_text(polite(ask.text)), sheets[0], today)


@pytest.fixture
def members() -> Sheet:
    return sheet_of("members.csv", MEMBERS)


@pytest.fixture
def loans() -> Sheet:
    return sheet_of("library/loans.csv", LOANS)


@pytest.mark.parametrize(
    ("text", "comma", "value"),
    [("12.50", False, "12.5"), ("1.200,50 €", True, "1200.5"), ("$1,299", False, "1299"), ("12 kg", False, "12"), ("-3,5", False, "-3.5"), ("Room 12", False, None), ("2025-01-02", False, None)],
)  # fmt: skip
def test_a_number_is_read_as_its_column_writes_it(text: str, comma: bool, value: str | None) -> None:
    assert cells.number(text, comma=comma) == (None if value is None else Decimal(value))


@pytest.mark.parametrize(
    "text", ["2026-03-05", "05.03.2026", "5 March 2026", "Mar 5, 2026", "2026-03-05T10:00"]
)
def test_a_date_is_read_in_every_usual_form(text: str) -> None:
    assert cells.day(text) == date(2026, 3, 5)


ROWS = [
    ("who has no email?", ["2"]),
    ("which members have no e-mail address", ["2"]),
    ("list everyone from Lund", ["1", "3"]),
    ("members not from Lund", ["2", "4"]),
    ("who isn't active", ["2", "4"]),
    ("show me the inactive members", ["2", "4"]),
    ("which members are active and live in Lund", ["1", "3"]),
    ("members in Lund or Ystad", ["1", "3", "4"]),
    ("who joined after 2024?", ["3", "4"]),
    ("everybody who joined in 2025", ["3", "4"]),
    ("who joined before March 2024", ["1"]),
    ("members with a fee over 20", ["2"]),
    ("who pays less than 20", ["1", "3"]),
    ("the newest member", ["4"]),
    ("the two oldest members by joined", None),
    ("member 3", ["3"]),
    ("Ida", ["1"]),
]


@pytest.mark.parametrize(("text", "ids"), ROWS, ids=[text for text, _ in ROWS])
def test_a_filter_finds_exactly_its_rows(members: Sheet, text: str, ids: list[str] | None) -> None:
    found = asked(text, members)
    if ids is None:
        assert found.unknown
        return
    assert not found.unknown
    assert [members.columns[0].cells[n] for n in found.query.rows(members)] == ids


SAID = [
    ("how many members are there?", "Number of rows in [`members.csv`](members.csv): **4**."),
    ("how many are from Lund", "**2**"),
    ("what's the average fee", "**18.3333** (3 rows, 1 without a number left out)"),
    ("total of the fees in Lund", "**25.00** (2 rows)"),
    ("number of members per town", "| Lund | 2 | 2 |"),
    ("which town has the most members?", "Highest: **Lund** with **2**"),
    ("members per year", "| 2025 | 2 | 2 |"),
    ("what different towns are there", "has **3** different values"),
    ("highest fee", "Per Falk"),
    ("sort the members by name", "4 rows of [`members.csv`](members.csv), sorted by `name`"),
    ("emails of the members in Lund", "| Ida Holm | ida@example.org |"),
    ("how many members are from Oslo", None),
    ("which members like jazz", None),
    ("how many members are over 30 years old", None),
]


@pytest.mark.parametrize(("text", "says"), SAID, ids=[text for text, _ in SAID])
def test_what_is_computed_is_said_and_an_unknown_word_is_never_passed_over(
    members: Sheet, text: str, says: str | None
) -> None:
    found = asked(text, members)
    if says is None:
        assert found.unknown or not found.query.conditions
        assert found.unknown
        return
    assert not found.unknown
    assert says in answered(members, found.query)


def test_an_empty_date_means_that_it_has_not_happened(loans: Sheet) -> None:
    found = asked("which loans are not returned", loans)
    assert [loans.columns[2].cells[n] for n in found.query.rows(loans)] == ["Emma", "Dracula"]


def test_today_is_needed_for_words_such_as_this_month(loans: Sheet) -> None:
    assert asked("loans due this month", loans).unknown
    found = asked("loans due this month", loans, today=date(2026, 3, 9))
    assert [loans.columns[0].cells[n] for n in found.query.rows(loans)] == ["73", "74"]


def test_a_table_is_widened_by_the_one_whose_rows_it_names(members: Sheet, loans: Sheet) -> None:
    wide = joins([members, loans])
    assert [sheet.path for sheet in wide] == ["library/loans.csv", "members.csv"]
    found = asked("which members have not returned a book", wide[0])
    assert not found.unknown
    assert "**Åsa Ek**, **Ida Holm**" in answered(wide[0], found.query, who=True)
    never = asked("which member has never borrowed, without loans", wide[1])
    assert [members.columns[1].cells[n] for n in never.query.rows(wide[1])] == ["Nils Bo"]
    assert "Highest: **Ida Holm** with **2**" in answered(
        wide[0], asked("which member has the most loans", wide[0]).query
    )


def test_different_units_are_never_added_up() -> None:
    weights = sheet_of("parcels.csv", "parcel,weight\na,2 kg\nb,300 g\nc,1 kg\n")
    assert asked("total weight", weights).unknown


def test_either_of_two_different_tests_is_not_understood(members: Sheet) -> None:
    assert asked("members from Lund or without email", members).unknown


def test_rows_are_written_as_the_kind_of_file_wants_them(members: Sheet) -> None:
    query = asked("members from Ystad", members).query
    assert (
        written(members, query, "csv")
        == "id,name,email,town,active,joined,fee\n4,Nils Bo,nils@example.org,Ystad,,2025-03-05,\n"
    )
    assert '"id": 4' in (written(members, query, "json") or "")
    assert "| Nils Bo |" in (written(members, query, "md") or "")
    assert written(members, query, "png") is None


def test_a_name_that_stands_in_two_columns_is_not_taken_for_one_of_them() -> None:
    games = sheet_of("games.csv", "white,black,moves\nOlga,Pia,41\nPia,Olga,28\nVictor,Olga,30\n")
    assert "Olga" in asked("list Olga's games", games).unknown[0]
    found = asked("games where white is Olga", games)
    assert not found.unknown
    assert len(found.query.rows(games)) == 1


def test_having_no_row_is_not_having_an_empty_cell(members: Sheet, loans: Sheet) -> None:
    wide = joins([members, loans])[0]
    assert asked("which members have no due date", wide).unknown


def test_a_class_of_school_is_no_number_with_a_unit() -> None:
    pupils = sheet_of("pupils.csv", "name,class\nAda,5a\nBen,5b\nCem,5a\n")
    found = asked("list the pupils of 5a", pupils)
    assert not found.unknown
    assert [pupils.columns[0].cells[n] for n in found.query.rows(pupils)] == ["Ada", "Cem"]


def test_whether_a_high_or_a_low_grade_is_good_is_not_guessed() -> None:
    grades = sheet_of("grades.csv", "pupil,grade\nAda,1.0\nBen,4.0\n")
    assert asked("who has the best grade", grades).unknown
    assert not asked("who has the lowest grade", grades).unknown


def test_the_biggest_is_chosen_and_what_is_asked_of_it_is_told() -> None:
    orders = sheet_of("orders.csv", "order,total,paid\n1,10,yes\n2,90,no\n3,40,yes\n")
    for text in ("which order is the biggest and has it been paid?", "has the biggest order been paid?"):
        found = asked(text, orders)
        assert not found.unknown
        assert [orders.columns[0].cells[n] for n in found.query.rows(orders)] == ["2"]


def test_ratings_are_never_added_up_for_money() -> None:
    hotels = sheet_of("hotels.csv", "name,rating\nAlma,4\nVerde,5\n")
    assert asked("how much did we spend in total", hotels).unknown
