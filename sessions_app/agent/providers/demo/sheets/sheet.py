"""A table file as rows and columns, and two of them joined where one names the rows of the other."""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from functools import cached_property

from sessions_app.agent.providers.demo.sheets import cells
from sessions_app.agent.providers.demo.sheets.words import alike, singular
from sessions_app.agent.providers.demo.writing import ending

ENDINGS = frozenset({"csv", "tsv", "json", "jsonl", "ndjson"})
#: File names that do not say what the rows are.
_GENERIC = frozenset({"data", "list", "table", "export", "sheet", "file", "all", "new", "final", "copy", "db", "records", "rows"})  # fmt: skip
_SETTINGS = re.compile(
    r"(?:^|/)(?:package(?:-lock)?|tsconfig\S*|composer|manifest|config|settings)\.json$", re.I
)
#: A table of people is asked for with "who".
_PERSONS = frozenset({"name", "customer", "client", "student", "member", "employee", "person", "author", "guest", "teacher", "patient", "player", "firstname", "lastname", "surname", "user", "owner", "tenant", "child", "pupil", "contact", "staff", "artist", "character"})  # fmt: skip


@dataclass(eq=False)
class Column:
    """One column: its heading, its cells, and what kind they are."""

    name: str
    cells: list[str]
    origin: str = ""  # the noun of the table it was joined from
    reference: bool = False  # whether its cells only point at rows of another table
    also: tuple[str, ...] = ()  # further words that mean this column
    numbers_rows: bool = False
    counts: bool = False  # whether it counts the rows of another table

    @cached_property
    def kind(self) -> str:
        """truth, date, number or text, by what the cells that are not empty look like."""
        said = [cell for cell in self.cells if not cells.is_empty(cell)]
        if cells.is_truths(self.cells):
            return "truth"
        if said and sum(cells.day(c, month_first=self._month_first) is not None for c in said) >= 0.8 * len(
            said
        ):
            return "date"
        if said and sum(cells.number(c) is not None for c in said) >= 0.8 * len(said):
            return "number"
        return "text"

    @cached_property
    def _month_first(self) -> bool:
        return cells.writes_month_first(self.cells)

    @cached_property
    def _comma(self) -> bool:
        return cells.writes_comma(self.cells)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words of the heading, lower case: "dueDate" and "due_date" are due, date."""
        mine = (w.lower() for w in re.findall(r"[^\W_]+", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.name)))
        return (*mine, *self.also)

    @cached_property
    def is_key(self) -> bool:
        """Whether the cells only number the rows."""
        return (
            self.numbers_rows
            or bool(
                set(self.words)
                & {"id", "no", "nr", "number", "sku", "isbn", "ean", "code", "key", "zip", "phone"}
            )
            or (self.kind == "number" and "year" in self.words)
        )

    @cached_property
    def units(self) -> frozenset[str]:
        return frozenset(cells.unit(c) for c in self.cells if cells.number(c) is not None)

    def number(self, row: int) -> Decimal | None:
        return cells.number(self.cells[row], comma=self._comma)

    def day(self, row: int) -> date | None:
        return cells.day(self.cells[row], month_first=self._month_first)

    def has(self, *words: str) -> bool:
        """Whether the heading has one of the words, singular or plural."""
        return any(alike(word, mine) for word in words for mine in self.words)


@dataclass(eq=False)
class Sheet:
    """Columns of equal length. `nouns` are words that name its rows, in the singular."""

    path: str
    columns: list[Column]
    nouns: frozenset[str]
    mark: str = ","
    joined: tuple[Sheet, ...] = ()
    size: int = 0
    extra_nouns: frozenset[str] = field(default_factory=frozenset)

    def row(self, number: int) -> list[str]:
        return [column.cells[number] for column in self.columns]

    @property
    def names(self) -> list[str]:
        return [column.name for column in self.columns]

    def persons(self) -> int | None:
        """The column that names people, if there is one."""
        good = [
            n
            for n, c in enumerate(self.columns)
            if c.kind == "text" and set(c.words) & _PERSONS and not {"id", "email", "mail"} & set(c.words)
        ]
        named = [n for n in good if "name" in self.columns[n].words]
        return next(iter(named or good), None)

    def title(self) -> int:
        """The column a row is called by: a name or title, else the first that is text."""
        for words in (("name", "title"), ("product", "item", "description", "subject", "label")):
            for number, column in enumerate(self.columns):
                if set(words) & set(column.words) and column.kind == "text":
                    return number
        return next((n for n, c in enumerate(self.columns) if c.kind == "text"), 0)


def is_table(path: str) -> bool:
    """Whether a file of this name may hold rows."""
    return ending(path) in ENDINGS and not _SETTINGS.search(path)


def parsed(path: str, text: str) -> Sheet | None:
    """The table in a file's text; None when it holds none."""
    kind = ending(path)
    if kind in {"json", "jsonl", "ndjson"}:
        return _from_json(path, text, lines=kind != "json")
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) < 2:
        return None
    mark = "\t" if kind == "tsv" else max(",;\t|", key=lines[0].count)
    try:
        rows = list(csv.reader(io.StringIO(text), delimiter=mark, strict=True))
    except csv.Error:
        return None
    rows = [row for row in rows if any(cell.strip() for cell in row)]
    names = [name.strip().lstrip("\ufeff") for name in rows[0]]
    if len(names) < 2 and len(rows) < 3:
        return None
    return _made(path, names, [[cell.strip() for cell in row] for row in rows[1:]], mark, "")


def _from_json(path: str, text: str, *, lines: bool) -> Sheet | None:
    key = ""
    try:
        data = (
            [json.loads(line) for line in text.split("\n") if line.strip()]
            if lines
            else json.loads(text.lstrip("\ufeff"))
        )
    except json.JSONDecodeError:
        return None
    if isinstance(data, dict):
        if len(data) > 1 and all(isinstance(v, dict) and v for v in data.values()) and _same_keys(data):
            # Entries under their names: the name becomes the first column.
            data = {"": [{"name": k, **v} for k, v in data.items()]}
        lists = [(k, v) for k, v in data.items() if isinstance(v, list) and v and isinstance(v[0], dict)]
        if len(lists) != 1:
            return None
        key, data = lists[0]
    if not (isinstance(data, list) and data and all(isinstance(item, dict) for item in data)):
        return None
    names = list(dict.fromkeys(str(k) for item in data for k in item))
    return _made(path, names, [[cell_of(item.get(k)) for k in names] for item in data], "json", key)


def _same_keys(data: dict[str, dict[str, object]]) -> bool:
    """Whether most entries have most keys in common, as rows do and sections of settings do not."""
    times = Counter(k for entry in data.values() for k in entry)
    return sum(n == len(data) for n in times.values()) * 2 >= len(times)


def cell_of(value: object) -> str:
    """A JSON value as a cell: true and false in words, lists by commas, nothing for null."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list) and all(isinstance(v, (str, int, float)) for v in value):
        return ", ".join(str(v) for v in value)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _made(path: str, names: list[str], rows: Sequence[Sequence[str]], mark: str, key: str) -> Sheet | None:
    if not rows or not any(names):
        return None
    columns = [
        Column(name or f"column {n + 1}", [row[n] if len(row) > n else "" for row in rows])
        for n, name in enumerate(names)
    ]
    folder, _, name = path.rpartition("/")
    first = columns[0]
    whole = [c for c in first.cells if c]
    # A first column of numbers that are all different, in order, is a numbering.
    first.numbers_rows = (
        first.kind == "number"
        and len(set(whole)) == len(rows) > 2
        and all(c.isdigit() for c in whole)
        and whole == sorted(whole, key=int)
    )
    words = [
        w.lower()
        for w in re.findall(
            r"[^\W\d_]{2,}", f"{key} " + re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name.rsplit(".", 1)[0])
        )
    ]
    telling = [w for w in words if w not in _GENERIC]
    if not telling and folder:
        telling = [w.lower() for w in re.findall(r"[^\W\d_]{2,}", folder.rsplit("/", 1)[-1])]
    return Sheet(path, columns, frozenset(singular(w) for w in telling), mark, (), len(rows))


def joins(sheets: Sequence[Sheet]) -> list[Sheet]:
    """Every table widened by each other one whose rows it names in a column."""
    found: list[Sheet] = []
    for left in sheets:
        for right in sheets:
            if left is right:
                continue
            keys = _keys(left, right)
            if keys is not None:
                left.columns[keys[0]].reference = True
                found.append(_widened(left, right, *keys))
                found.append(_counted(left, right, *keys))
    return found


def _counted(left: Sheet, right: Sheet, n: int, m: int) -> Sheet:
    """The rows of `right` with the number of rows of `left` that point at each; none is an empty cell."""
    times = Counter(c for c in left.columns[n].cells if c)
    noun = next((w for w in sorted(left.nouns)), "row")
    numbers = [str(times[c]) if times[c] else "" for c in right.columns[m].cells]
    verbs = tuple(
        w
        for c in left.columns
        if c.kind == "date"
        for w in c.words
        if w.endswith("ed") or w in {"sold", "bought", "sent", "lent"}
    )
    counted = Column(f"{noun}s", numbers, noun, counts=True, also=verbs)
    return Sheet(right.path, [*right.columns, counted], right.nouns, right.mark, (right, left), right.size)


def _keys(left: Sheet, right: Sheet) -> tuple[int, int] | None:
    """(column of `left`, column of `right`) where the first names a row of the second."""
    for n, column in enumerate(left.columns):
        said = {c for c in column.cells if c}
        for m, other in enumerate(right.columns):
            ids = [c for c in other.cells if c]
            if (
                not said
                or len(set(ids)) != len(ids)
                or not said <= set(ids)
                or other.kind in {"date", "truth"}
            ):
                continue
            names_it = {singular(w) for w in column.words} & right.nouns
            same = column.name.lower() == other.name.lower()
            # A table's own numbering is no reference, except where it names the other table.
            if names_it or (same and not (n == 0 and m == 0 and column.name.lower() == "id")):
                return n, m
    return None


def _full_names(sheet: Sheet) -> list[str]:
    """First and last names together, where a table keeps them apart."""
    places = [
        next((n for n, c in enumerate(sheet.columns) if c.words[:2] in names), None)
        for names in (_FIRST, _LAST)
    ]
    if None in places:
        return []
    return [
        " ".join(sheet.columns[n].cells[row] for n in places if n is not None).strip()
        for row in range(sheet.size)
    ]


_FIRST = (("first", "name"), ("firstname",), ("given", "name"), ("vorname",), ("prénom",))
_LAST = (("last", "name"), ("lastname",), ("surname",), ("family", "name"), ("nachname",))


def _widened(left: Sheet, right: Sheet, n: int, m: int) -> Sheet:
    """The rows of `left`; the column that pointed at `right` shows what its rows are called."""
    places = {cell: number for number, cell in enumerate(right.columns[m].cells) if cell}
    noun = next(iter(sorted(right.nouns)), "")
    title = right.title()
    pointing = left.columns[n]

    def beside(other: Column) -> list[str]:
        return [other.cells[places[c]] if c in places else "" for c in pointing.cells]

    called = Column(right.columns[title].name, _full_names(right) or right.columns[title].cells)
    columns = [
        Column(c.name, beside(called), "", also=called.words) if c is pointing and title != m else c
        for c in left.columns
    ]
    taken = {name.lower() for name in left.names}
    for k, other in enumerate(right.columns):
        if k in {m, title}:
            continue
        name = other.name if other.name.lower() not in taken else f"{pointing.name} {other.name}"
        columns.append(Column(name, beside(other), noun))
    return Sheet(left.path, columns, left.nouns, left.mark, (left, right), left.size, right.nouns)
