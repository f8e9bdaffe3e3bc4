"""Writes docs/conformance.md from the lists of rules, features and reports and from the tests that name them.

`python -m tests.proofs.document` writes; `--check` only says whether it is up to date.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.proofs.naming import collect_names, names_in, proofs_of

HERE = Path(__file__).parent
DOCUMENT = HERE.parent.parent / "docs" / "conformance.md"
BUILT, PARTLY, NOT_YET = "built", "partly", "not yet"

Named = dict[str, list[str]]


@dataclass(frozen=True, slots=True)
class Row:
    """One line of a list. `proofs` are the rules a feature goes by; `lacks` is what is not built of it."""

    name: str
    says: str
    lacks: str = ""
    proofs: tuple[str, ...] = ()


def read_rows(path: Path, *, with_proofs: bool = False) -> dict[str, list[Row]]:
    """The rows by the heading they stand under, in the order of the file."""
    rows: dict[str, list[Row]] = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            rows[line.removeprefix("## ")] = []
        elif line and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("|")]
            rest = [*cells[2:], "", ""]
            proofs = tuple(sorted(names_in(rest.pop(0)))) if with_proofs else ()
            rows[list(rows)[-1]].append(Row(cells[0], cells[1], rest[0], proofs))
    return rows


def state_of(feature: Row, named: Named, lacking: set[str]) -> str:
    """Built only when every rule of it is named by a test and nothing of it is missing."""
    proved = [proof for proof in feature.proofs if proofs_of(proof, named)]
    if not proved:
        return NOT_YET
    whole = len(proved) == len(feature.proofs) and not feature.lacks and not lacking & set(feature.proofs)
    return BUILT if whole else PARTLY


def problems(named: Named) -> list[str]:
    """What must not be: rules without a test that are not said to be missing, and names nobody knows."""
    rules = {row.name: row for rows in read_rows(HERE / "rules.txt").values() for row in rows}
    reports = {row.name: row for rows in read_rows(HERE / "reports.txt").values() for row in rows}
    found = [
        f"{row.name} has no test: {row.says}"
        for row in [*rules.values(), *reports.values()]
        if not row.lacks and not proofs_of(row.name, named)
    ]
    for name, tests in sorted(named.items()):
        listed = name in rules or name.partition(".")[0] in rules or name in reports
        if not listed and (
            name.startswith(("01", "02", "03", "04", "05", "B")) and not _is_a_whole_section(name)
        ):
            found.append(f"{tests[0]} names {name}, which is not in the lists")
    return found


def _is_a_whole_section(name: str) -> bool:
    """`04 §6`, where the list has only the parts; it says where to read, and proves nothing."""
    return "§" in name and "." not in name


def document(named: Named) -> str:
    return "\n".join(_lines(named)) + "\n"


def _lines(named: Named) -> Iterator[str]:
    rules = read_rows(HERE / "rules.txt")
    yield from (
        "# What the product does, and which test says so",
        "",
        "Written by `make conformance-docs` from the tests; don't edit it. A rule is followed when a test that names it",
        "is green; what is not built of it is said. Where the product knowingly does something else than the reference,",
        "[deviations.md](deviations.md) tells what and why.",
        "",
    )
    yield from _scoreboard(named, {row.name for rows in rules.values() for row in rows if row.lacks})
    for heading, rows in rules.items():
        missing = sum(1 for row in rows if not proofs_of(row.name, named))
        yield from (f"## {heading}", "", f"{len(rows)} rules, {missing or 'none'} without a test.", "")
        yield from _table(rows, named, "Rule", lambda name: name.partition(" ")[2])
    yield from (
        "## Reported faults of such products",
        "",
        "Kinds of faults that other products were reported to have, each with the tests that play it here.",
        "",
    )
    for heading, rows in read_rows(HERE / "reports.txt").items():
        yield from (f"### {heading}", "")
        yield from _table(rows, named, "Fault", lambda name: name)


def _scoreboard(named: Named, lacking: set[str]) -> Iterator[str]:
    features = read_rows(HERE / "features.txt", with_proofs=True)
    counted = {
        heading: Counter(state_of(row, named, lacking) for row in rows) for heading, rows in features.items()
    }
    yield from ("## Scoreboard", "", "| Part | Built | Partly | Not yet |", "|---|---|---|---|")
    for heading, states in counted.items():
        yield f"| {heading} | {states[BUILT]} | {states[PARTLY]} | {states[NOT_YET]} |"
    total = sum(counted.values(), Counter())
    yield from (f"| **All** | **{total[BUILT]}** | **{total[PARTLY]}** | **{total[NOT_YET]}** |", "")
    for heading, rows in features.items():
        yield from (f"### {heading}", "", "| Row | What | State | Rules |", "|---|---|---|---|")
        for row in rows:
            state = state_of(row, named, lacking)
            lacks = f"; missing: {row.lacks}" if row.lacks else ""
            yield f"| {row.name} | {row.says} | {state}{lacks} | {', '.join(row.proofs)} |"
        yield ""


def _table(rows: list[Row], named: Named, title: str, short: Callable[[str], str]) -> Iterator[str]:
    yield from (f"| {title} | What it says | Tests |", "|---|---|---|")
    for row in rows:
        tests = "<br>".join(f"`{test}`" for test in proofs_of(row.name, named))
        lacks = f"not built: {row.lacks}" if row.lacks else ""
        yield f"| {short(row.name)} | {row.says} | {'<br>'.join(part for part in (tests, lacks) if part)} |"
    yield ""


def main(arguments: list[str]) -> int:
    named = collect_names()
    for problem in (found := problems(named)):
        print(problem, file=sys.stderr)
    if "--check" in arguments:
        if DOCUMENT.read_text(encoding="utf-8") != document(named):
            found.append("stale")
            print("docs/conformance.md is not up to date: make conformance-docs", file=sys.stderr)
    else:
        DOCUMENT.write_text(document(named), encoding="utf-8")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
