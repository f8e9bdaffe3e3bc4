"""One side of bench.trees, each step in a process of its own so that its memory can be told: ours, on a database.

    python -m bench.tree_session import FILE | open KEY FILE | grow KEY

The environment names data directory, database and broker. Each prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions_app.core.compaction import CompactionPlan
    from sessions_app.core.entries import Entry
    from sessions_app.core.projection import Context
    from sessions_app.models import Session

Json = dict[str, Any]

OPENINGS = 5
APPENDS = 80
LOADINGS = 21
TAIL = 500
BEHIND = (50_000, 1_000)
TEXT = "A line of an old conversation, as long as such lines are. " * 4


def main(arguments: list[str]) -> None:
    from agentweb.preparation import set_up_django

    set_up_django()
    # A worker has all of this loaded.
    import sessions_app.tasks  # noqa: F401

    step, *rest = arguments
    steps: dict[str, Callable[..., Json]] = {"import": bring_in, "open": open_again, "grow": grow}
    print(json.dumps(steps[step](*rest)))


def bring_in(file: str) -> Json:
    """Milliseconds from the file to the rows with all checks, and the largest memory in MB."""
    from django.core.management import call_command

    from sessions_app.services import sessions

    call_command("migrate", verbosity=0)
    workspace = _workspace()
    with Path(file).open("rb") as content:
        begun = time.perf_counter()
        session = sessions.import_session_text(
            workspace=workspace, owner=_owner(), text=content, name="tree", progress=lambda done, of: None
        )
    spent = 1000 * (time.perf_counter() - begun)
    return {"key": session.pk, "ms": spent, "mb": _peak(), "entries": session.next_seq - 1}


def open_again(key: str, file: str) -> Json:
    """Milliseconds from a new connection to the complete messages and the plan; memory in MB; checked to be right."""
    from django.db import connection

    from sessions_app.formats.jsonl import read_session
    from sessions_app.models import Session

    session = Session.objects.get(pk=int(key))
    times = []
    for _ in range(OPENINGS):
        connection.close()
        begun = time.perf_counter()
        found = _context_and_plan(session)
        times.append(1000 * (time.perf_counter() - begun))
    memory = _peak()
    tree = read_session(Path(file).read_bytes(), lambda: "minted").tree
    _check(found, tree.path(tree.last_id()))
    return {"ms": statistics.median(times), "mb": memory}


def grow(key: str) -> Json:
    """How much more it costs behind many entries than behind few: an append, a context, a page's stretch; ratios."""
    from sessions_app import entry_log
    from sessions_app.models import Session
    from sessions_app.services import sessions

    old = Session.objects.get(pk=int(key))
    young = sessions.create_session(workspace=_workspace(), owner=_owner())
    for _ in range(50):
        entry_log.append(young.pk, _words())
    appending = _ratio(
        lambda: entry_log.append(old.pk, _words()), lambda: entry_log.append(young.pk, _words()), APPENDS
    )
    long, short = (
        sessions.import_session_text(workspace=_workspace(), owner=_owner(), text=_with_tail(behind))
        for behind in BEHIND
    )
    return {
        "append": appending,
        "context": _ratio(lambda: _context_and_plan(long), lambda: _context_and_plan(short), LOADINGS),
        "window": _ratio(
            lambda: entry_log.load_window(long, limit=TAIL),
            lambda: entry_log.load_window(short, limit=TAIL),
            LOADINGS,
        ),
    }


def _ratio(one: Callable[[], object], other: Callable[[], object], times: int) -> float:
    """Of the lower quartiles, each in turn: what neighbours disturb is left aside. On SQLite all is in the processor
    time of this thread; what a server does is not.
    """
    from django.db import connection

    clock = time.thread_time if connection.vendor == "sqlite" else time.perf_counter
    spent: tuple[list[float], list[float]] = ([], [])
    for number in range(times + 2):
        for work, its in ((one, spent[0]), (other, spent[1])):
            begun = clock()
            work()
            if number >= 2:
                its.append(clock() - begun)
    one_takes, other_takes = (statistics.quantiles(its, n=4)[0] for its in spent)
    return one_takes / other_takes


def _with_tail(behind: int) -> str:
    """So many old entries, a compaction that keeps none of them, and a tail that is the same for all."""
    return "\n".join(_lines(behind)) + "\n"


def _lines(behind: int) -> Iterator[str]:
    yield json.dumps(
        {"type": "session", "version": 3, "id": f"behind-{behind}", "timestamp": "t", "cwd": "/"}
    )
    parent = None
    for number in range(behind + 1 + TAIL):
        entry: Json = {"type": "message", "id": f"e{number}", "parentId": parent, "timestamp": "t"}
        if number == behind:
            entry |= {
                "type": "compaction",
                "summary": "What was.",
                "tokensBefore": 1000,
                "firstKeptEntryId": "",
            }
        else:
            entry["message"] = {"role": "user", "content": TEXT, "timestamp": 1}
        yield json.dumps(entry)
        parent = entry["id"]


def _context_and_plan(session: Session) -> tuple[Context, CompactionPlan]:
    from sessions_app import entry_log
    from sessions_app.core.compaction import plan_compaction
    from sessions_app.core.compaction_settings import CompactionSettings
    from sessions_app.core.projection import project

    leaf = entry_log.current_leaf(session.pk)
    assert leaf is not None
    path = entry_log.active_path(leaf)
    context = project(path)
    return context, plan_compaction(path, CompactionSettings(), context)


def _check(found: tuple[Context, CompactionPlan], path: list[Entry]) -> None:
    """The rows' answer is the core's over the whole path."""
    from sessions_app.core.compaction import plan_compaction
    from sessions_app.core.compaction_settings import CompactionSettings
    from sessions_app.core.projection import project

    context, plan = found
    expected = project(path)
    assert context.messages == expected.messages
    assert _comparable(plan) == _comparable(plan_compaction(path, CompactionSettings(), expected))


def _comparable(plan: CompactionPlan) -> tuple[object, ...]:
    lists = plan.file_operations.lists()
    kept = (plan.first_kept_entry_id, plan.tokens_before, plan.splits_span, plan.previous_summary)
    return (*kept, plan.history, plan.span_prefix, lists.details, lists.block)


def _words() -> Json:
    return {"type": "message", "message": {"role": "user", "content": TEXT, "timestamp": 1}}


def _owner() -> Any:
    from sessions_app.services import accounts

    return accounts.first_user()


def _workspace() -> Any:
    from sessions_app.models import Workspace
    from sessions_app.services import workspaces

    found = Workspace.objects.first()
    return found or workspaces.add_workspace(
        user=_owner(), path=os.environ["AGENTWEB_DATA"], by_operator=True
    )


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    main(sys.argv[1:])
