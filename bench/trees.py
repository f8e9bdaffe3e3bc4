"""Large session trees: loading a context and its plan, appending, importing; beside the reference when PI_DIR names it.

    BENCH_TREES=FOLDER PI_DIR=FOLDER python -m bench.trees

`BENCH_TREES` holds `tree-*.jsonl` (or `.jsonl.gz`) and `time-pi.mjs`, which times the reference; both sides are timed
in turn, three rounds, and the median of the ratios counts. Without PI_DIR our own times are printed alone. The rows are
in a database that is thrown away: SQLite, or where DATABASE_URL points to.
"""

from __future__ import annotations

import gzip
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

os.environ["DJANGO_SETTINGS_MODULE"] = "tests.settings"

import django

django.setup()

from django.contrib.auth.models import User
from django.db import connection

from sessions_app import entry_log
from sessions_app.core.compaction import CompactionPlan, plan_compaction
from sessions_app.core.compaction_settings import CompactionSettings
from sessions_app.core.projection import Context, project
from sessions_app.formats.jsonl import read_session
from sessions_app.models import Session, Workspace
from sessions_app.services.sessions import import_session_file

ROUNDS = 3
TARGETS = {"tree-50000": 0.10, "tree-5000": 1.5, "tree-20000-uncompacted": 3.0}


@dataclass
class Tree:
    """One session file and what was measured of it; times in milliseconds."""

    path: Path
    session: Session
    read_ms: float
    import_ms: float
    ours: list[float] = field(default_factory=list)
    reference: list[dict[str, float]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.path.stem

    @property
    def ratio(self) -> float | None:
        pairs = zip(self.ours, self.reference, strict=False)
        ratios = [ours / reference["total"] for ours, reference in pairs]
        return statistics.median(ratios) if ratios else None


def main() -> int:
    folder = os.environ.get("BENCH_TREES", "")
    if not folder:
        print("BENCH_TREES names the folder with the session trees.", file=sys.stderr)
        return 2
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    with tempfile.TemporaryDirectory() as place:
        owner = User.objects.create(username="owner")
        workspace = Workspace.objects.create(name="trees", path="/nowhere")
        trees = [imported(path, owner, workspace) for path in unpacked(Path(folder), Path(place))]
        for _ in range(ROUNDS):
            for tree in trees:
                tree.ours.append(context_ms(tree.session))
                if pi := os.environ.get("PI_DIR"):
                    tree.reference.append(reference_of(tree.path, Path(pi), Path(folder)))
        report(trees)
        report_growth(trees)
    return 0


def unpacked(folder: Path, place: Path) -> list[Path]:
    found = []
    for source in sorted([*folder.glob("tree-*.jsonl.gz"), *folder.glob("tree-*.jsonl")]):
        target = place / source.name.removesuffix(".gz")
        opener = gzip.open if source.suffix == ".gz" else open
        with opener(source, "rb") as file:
            target.write_bytes(file.read())
        found.append(target)
    return found


def imported(path: Path, owner: User, workspace: Workspace) -> Tree:
    begun = time.perf_counter()
    file = read_session(path.read_text(encoding="utf-8"), lambda: "minted")
    read = time.perf_counter()
    session = import_session_file(workspace=workspace, owner=owner, file=file)
    written = time.perf_counter()
    check(session, file.tree.path(file.tree.last_id()))
    return Tree(path, session, 1000 * (read - begun), 1000 * (written - begun))


def check(session: Session, path: list) -> None:  # type: ignore[type-arg]
    """The rows' answer is the core's."""
    expected = project(path)
    context, plan = context_and_plan(session)
    assert context.messages == expected.messages
    assert comparable(plan) == comparable(plan_compaction(path, CompactionSettings(), expected))


def comparable(plan: CompactionPlan) -> tuple[object, ...]:
    lists = plan.file_operations.lists()
    kept = (plan.first_kept_entry_id, plan.tokens_before, plan.splits_span, plan.previous_summary)
    return (*kept, plan.history, plan.span_prefix, lists.details, lists.block)


def context_and_plan(session: Session) -> tuple[Context, CompactionPlan]:
    leaf = Session.objects.select_related("leaf").get(pk=session.pk).leaf
    assert leaf is not None
    path = entry_log.active_path(leaf)
    context = project(path)
    return context, plan_compaction(path, CompactionSettings(), context)


def context_ms(session: Session) -> float:
    """From a fresh connection to the complete messages and the compaction plan; the median of five."""
    times = []
    for _ in range(5):
        connection.close()
        begun = time.perf_counter()
        context_and_plan(session)
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def reference_of(path: Path, pi: Path, folder: Path) -> dict[str, float]:
    node = pi / "node_modules/.bin/node"
    command = [str(node), str(folder / "time-pi.mjs"), str(pi), str(path), "5"]
    answer: dict[str, float] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return answer


def report(trees: list[Tree]) -> None:
    print("| tree | context and plan | reference | ratio | target | import | of the reference's open |")
    print("|---|---|---|---|---|---|---|")
    for tree in trees:
        reference = statistics.median(r["total"] for r in tree.reference) if tree.reference else None
        opened = statistics.median(r["open"] for r in tree.reference) if tree.reference else None
        print(
            f"| {tree.name} | {statistics.median(tree.ours):.1f} ms | {shown(reference, ' ms')} "
            f"| {shown(tree.ratio, ' ×', 2)} | ≤ {TARGETS.get(tree.name, '–')} × | {tree.import_ms:.0f} ms "
            f"| {shown(tree.import_ms / opened if opened else None, ' ×', 1)} |"
        )
    print(f"\nPeak memory of this process: {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024} MB")


def report_growth(trees: list[Tree]) -> None:
    """Appending behind many entries costs what it costs behind few."""
    large = max(trees, key=lambda tree: tree.session.entries.count())
    small = Session.objects.create(
        workspace=large.session.workspace, owner=large.session.owner, file_id="small"
    )
    for _ in range(50):
        entry_log.append(small.pk, words())
    ratios = [appends_ms(large.session) / appends_ms(small) for _ in range(ROUNDS)]
    print(
        f"Appending behind {large.name} beside appending behind 50 entries: {statistics.median(ratios):.2f} ×"
    )


def appends_ms(session: Session) -> float:
    times = []
    for _ in range(60):
        begun = time.perf_counter()
        entry_log.append(session.pk, words())
        times.append(1000 * (time.perf_counter() - begun))
    return statistics.median(times)


def words() -> dict[str, object]:
    return {
        "type": "message",
        "message": {"role": "user", "content": "a line of words " * 20, "timestamp": 1},
    }


def shown(value: float | None, unit: str, digits: int = 1) -> str:
    return "–" if value is None else f"{value:.{digits}f}{unit}"


if __name__ == "__main__":
    sys.exit(main())
