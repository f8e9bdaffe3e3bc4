"""Runs every case of a folder: `python -m tests.conformance.run FOLDER [--session core|database] [--only NAME]`.

Names each failed case with its first differing field, ends with `N passed, N failed`, exits 1 on failure.
A session case is asked of plain values and of rows (import as a person would, then the same questions), and passes
only if both agree with it; `--session` asks one of them. The rows are in a test database, on SQLite or where
DATABASE_URL points to.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Iterator
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.conformance.answers import answer
from tests.conformance.comparing import first_difference
from tests.conformance.navigations import answer_navigation
from tests.conformance.sessions import open_case
from tests.conformance.settings_answers import answer_settings

CORE = "tests.conformance.sessions.CoreSession"
STORES = {"core": CORE, "database": "tests.conformance.database.DatabaseSession"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--session", choices=sorted(STORES), help="ask only this store")
    parser.add_argument("--only", default="", help="run the cases whose name contains this")
    options = parser.parse_args(arguments)
    stores = [options.session] if options.session else list(STORES)
    with ExitStack() as stack:
        if "database" in stores:
            database = import_module("tests.conformance.database")
            stack.enter_context(database.test_database())
        return _run(options.folder, options.only, stores)


def _run(folder: Path, only: str, stores: list[str]) -> int:
    failures = passed = 0
    for case in cases(folder):
        if only not in case["name"]:
            continue
        problem = problem_in(case, stores)
        if problem is None:
            passed += 1
        else:
            failures += 1
            print(f"FAILED {case['name']}: {problem}")
    print(f"{passed} passed, {failures} failed")
    return 1 if failures or not passed else 0


def cases(folder: Path) -> Iterator[dict[str, Any]]:
    """The cases of a folder by name; files that are no cases are passed over."""
    for path in sorted(folder.glob("*.json")):
        case = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(case, dict) and "expected" in case and case.get("kind") in ("session", "settings"):
            yield case


def problem_in(case: dict[str, Any], stores: list[str]) -> str | None:
    """The first problem any of the stores has with a case. Settings have no store."""
    for store in stores if case["kind"] == "session" else stores[:1]:
        problem = problem_of(case, STORES[store])
        if problem is not None:
            return f"{store}: {problem}"
    return None


def problem_of(case: dict[str, Any], session: str = CORE) -> str | None:
    """What is wrong with our answers to a case, None if nothing is."""
    try:
        return first_difference(case["expected"], answers_of(case, session))
    except Exception:
        return "raised " + traceback.format_exc(limit=-4).replace("\n", " | ")


def answers_of(case: dict[str, Any], session: str = CORE) -> dict[str, Any]:
    if case["kind"] == "settings":
        return answer_settings(case)
    module, name = session.rsplit(".", 1)
    kind = getattr(import_module(module), name)
    answers = answer(open_case(case, kind), case)
    if "navigate" in case["expected"]:
        answers["navigate"] = [
            answer_navigation(open_case(case, kind), navigation, case["options"])
            for navigation in case["options"]["navigate"]
        ]
    return answers


if __name__ == "__main__":
    sys.exit(main())
