"""Large session trees on SQLite and PostgreSQL: importing, opening, appending; in turn with the reference.

    BENCH_TREES=FOLDER PI_DIR=FOLDER python -m bench.trees

`BENCH_TREES` holds session files `tree-*.jsonl` or `.jsonl.gz`; without it nothing is measured. `PI_DIR` names an
installation of the reference; without it our own times stand alone and ratios are not told.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.product import ROOT
from tests.broker import Broker
from tests.postgres import running_postgres
from tests.running import environment

Json = dict[str, Any]

REFERENCE = Path(__file__).with_name("reference.mjs")
REFERENCE_RUNS = 3
# The most that opening may take, in times of the reference; PostgreSQL has twice that.
MOST = {"tree-5000": 1.5, "tree-20000-uncompacted": 3.0, "tree-50000": 0.10}
POSTGRES_MAY = 2.0
MOST_IMPORT, MOST_IMPORT_MB = 40.0, 400.0
# What is large and what is small when the memory of opening is compared.
LARGE, SMALL = "tree-50000", "tree-5000"
MOST_MEMORY, MOST_APPEND, MOST_TAIL = 1.5, 1.2, 1.3


@dataclass(frozen=True)
class Opened:
    """Milliseconds and MB of one tree on one database; the reference's milliseconds, None where it is not there."""

    tree: str
    database: str
    entries: int
    import_ms: float
    import_mb: float
    open_ms: float
    open_mb: float
    reference_open_ms: float | None
    reference_ms: float | None

    @property
    def ratio(self) -> float | None:
        return self.open_ms / self.reference_ms if self.reference_ms else None

    @property
    def import_ratio(self) -> float | None:
        return self.import_ms / self.reference_open_ms if self.reference_open_ms else None


@dataclass(frozen=True)
class Growth:
    """How much more an append, a context and a page's stretch cost behind many entries than behind few."""

    database: str
    append: float
    context: float
    window: float


def is_here() -> bool:
    return bool(os.environ.get("BENCH_TREES"))


def measure() -> tuple[list[Opened], list[Growth]]:
    """Each tree once on each database. Both lists are empty without BENCH_TREES."""
    opened: list[Opened] = []
    growths: list[Growth] = []
    if not is_here():
        return opened, growths
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        files = unpacked(Path(os.environ["BENCH_TREES"]), Path(folder))
        for database in ("SQLite", "PostgreSQL"):
            with prepared(database, Path(folder)) as variables:
                keys: dict[str, str] = {}
                for file in files:
                    result, keys[file.stem] = measure_one(file, database, variables)
                    opened.append(result)
                if LARGE in keys:
                    growths.append(Growth(database, **ours(variables, "grow", keys[LARGE])))
    return opened, growths


@contextmanager
def prepared(database: str, folder: Path) -> Iterator[dict[str, str]]:
    """The environment of our side: an empty database, and a broker for what appending tells."""
    place = folder / database
    place.mkdir()
    broker = Broker(place)
    broker.start()
    try:
        if database == "SQLite":
            yield environment(place, REDIS_URL=broker.url)
        else:
            with running_postgres() as address:
                yield environment(place, REDIS_URL=broker.url, DATABASE_URL=address)
    finally:
        broker.stop()


def measure_one(file: Path, database: str, variables: dict[str, str]) -> tuple[Opened, str]:
    """The reference between our two steps, all within the same minute; and the session's key."""
    imported = ours(variables, "import", str(file))
    reference = reference_of(file)
    opened = ours(variables, "open", str(imported["key"]), str(file))
    result = Opened(
        tree=file.stem,
        database=database,
        entries=imported["entries"],
        import_ms=imported["ms"],
        import_mb=imported["mb"],
        open_ms=opened["ms"],
        open_mb=opened["mb"],
        reference_open_ms=reference and reference["open"],
        reference_ms=reference and reference["total"],
    )
    return result, str(imported["key"])


def ours(variables: dict[str, str], *arguments: str) -> Json:
    command = [sys.executable, "-m", "bench.tree_session", *arguments]
    return last_line(command, variables)


def reference_of(file: Path) -> dict[str, float] | None:
    pi = os.environ.get("PI_DIR")
    if not pi:
        return None
    node = Path(pi) / "node_modules/.bin/node"
    return last_line([str(node), str(REFERENCE), pi, str(file), str(REFERENCE_RUNS)], dict(os.environ))


def last_line(command: list[str], variables: dict[str, str]) -> Json:
    done = subprocess.run(
        command, cwd=ROOT, env=variables, capture_output=True, text=True, timeout=300, check=False
    )
    if done.returncode:
        raise RuntimeError(done.stderr)
    found: Json = json.loads(done.stdout.splitlines()[-1])
    return found


def unpacked(folder: Path, place: Path) -> list[Path]:
    found = []
    for source in sorted([*folder.glob("tree-*.jsonl.gz"), *folder.glob("tree-*.jsonl")]):
        target = place / source.name.removesuffix(".gz")
        content = source.read_bytes()
        target.write_bytes(gzip.decompress(content) if source.suffix == ".gz" else content)
        found.append(target)
    return found


def main() -> None:
    from bench.tree_report import tree_rows

    opened, growths = measure()
    print(tree_rows([opened], [growths]))


if __name__ == "__main__":
    main()
