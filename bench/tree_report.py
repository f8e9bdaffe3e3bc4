"""The part of RESULTS.md on session trees: a row per tree and database, medians of the rounds, NOT RUN where nothing is known."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from itertools import chain
from typing import TypeVar

from bench.trees import (
    LARGE,
    MOST,
    MOST_APPEND,
    MOST_IMPORT,
    MOST_IMPORT_MB,
    MOST_MEMORY,
    MOST_TAIL,
    POSTGRES_MAY,
    SMALL,
    Growth,
    Opened,
)

T = TypeVar("T")

NOT_RUN = "NOT RUN"
_DATABASES = ("SQLite", "PostgreSQL")


def tree_rows(opened: Sequence[Sequence[Opened]], growths: Sequence[Sequence[Growth]]) -> str:
    """Each argument holds one list per round."""
    results = list(chain.from_iterable(opened))
    parts = [
        "## Session trees\n",
        (
            "From a new connection to the complete messages of a request and the plan of a compaction, checked to be the "
            "core's; the reference opens the file, builds its context and prepares a compaction. Import is from the "
            "file to the rows, with all checks, in one transaction. Both sides in turn within the same minute.\n"
        ),
        "| tree | database | ours | reference | in references | at most | | import | in opens of the reference | at most | largest memory |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
        *_opened(results),
        "",
        "| | SQLite | PostgreSQL | at most |",
        "|---|---|---|---|",
        *_growth(results, list(chain.from_iterable(growths))),
    ]
    return "\n".join(parts)


def _opened(results: list[Opened]) -> list[str]:
    names = {result.tree for result in results} or set(MOST)
    rows = []
    for tree in sorted(names, key=lambda name: list(MOST).index(name) if name in MOST else len(MOST)):
        for database in _DATABASES:
            its = [result for result in results if (result.tree, result.database) == (tree, database)]
            most = MOST.get(tree)
            most = most * POSTGRES_MAY if most and database == "PostgreSQL" else most
            ratio = _median(its, lambda it: it.ratio)
            imported = _median(its, lambda it: it.import_ratio)
            largest = _median(its, lambda it: it.import_mb)
            cells = [
                tree,
                database,
                _shown(_median(its, lambda it: it.open_ms), "ms"),
                _shown(_median(its, lambda it: it.reference_ms), "ms"),
                _shown(ratio, "×", 2),
                f"{most:.2f} ×" if most else "–",
                _verdict(ratio, most),
                _shown(_median(its, lambda it: it.import_ms), "ms", 0),
                _shown(imported, "×"),
                f"{MOST_IMPORT:.0f} × {_verdict(imported, MOST_IMPORT)}".strip() if tree == LARGE else "–",
                f"{_shown(largest, 'MB', 0)} {_verdict(largest, MOST_IMPORT_MB) if tree == LARGE else ''}".strip(),
            ]
            rows.append("| " + " | ".join(cells) + " |")
    return rows


def _growth(results: list[Opened], growths: list[Growth]) -> list[str]:
    def memory(database: str) -> float | None:
        of = {
            tree: _median(
                [it for it in results if (it.tree, it.database) == (tree, database)], lambda it: it.open_mb
            )
            for tree in (LARGE, SMALL)
        }
        return of[LARGE] / of[SMALL] if of[LARGE] and of[SMALL] else None  # type: ignore[operator]

    def cost(database: str, of: Callable[[Growth], float]) -> float | None:
        return _median([growth for growth in growths if growth.database == database], of)

    rows: list[tuple[str, Callable[[str], float | None], float]] = [
        (
            "appending entry 50,001, in appends behind 50 entries",
            lambda db: cost(db, lambda it: it.append),
            MOST_APPEND,
        ),
        (
            "the context of a tail of 500 behind 50,000 entries, in that behind 1,000",
            lambda db: cost(db, lambda it: it.context),
            MOST_TAIL,
        ),
        (
            "the last 500 entries for a page behind 50,000, in that behind 1,000",
            lambda db: cost(db, lambda it: it.window),
            MOST_TAIL,
        ),
        (f"memory of a worker opening {LARGE}, in that of {SMALL}", memory, MOST_MEMORY),
    ]
    return [
        f"| {name} | "
        + " | ".join(f"{_shown(value(db), '×', 2)} {_verdict(value(db), most)}".strip() for db in _DATABASES)
        + f" | {most:g} × |"
        for name, value, most in rows
    ]


def _median(items: Sequence[T], of: Callable[[T], float | None]) -> float | None:
    values = [value for item in items if (value := of(item)) is not None]
    return statistics.median(values) if values else None


def _shown(value: float | None, unit: str, digits: int = 1) -> str:
    return NOT_RUN if value is None else f"{value:.{digits}f} {unit}"


def _verdict(value: float | None, most: float | None) -> str:
    if value is None or most is None:
        return ""
    return "met" if value <= most else "missed"
