"""From the provider's write to the browser's socket: added latency, completeness and CPU, beside a bare reader.

`python -m bench.streaming --runs 16 --seconds 8` measures once and prints it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
from dataclasses import dataclass
from typing import Any

from bench.deltas import percentile
from bench.product import ROOT, Product, running_product
from bench.viewers import Visitor, sign_in, watch_runs

Json = dict[str, Any]


@dataclass(frozen=True)
class Streaming:
    """One measurement: milliseconds of latency, deltas, CPU milliseconds for 1,000 deltas, MB of PSS."""

    runs: int
    rate: int
    sent: int
    delivered: int
    lost: int
    doubled: int
    p50: float
    p99: float
    cpu: dict[str, float]
    bare_p50: float
    bare_p99: float
    bare_cpu: float
    memory: dict[str, float]

    @property
    def cpu_ratio(self) -> float:
        """Worker, web and broker together, in bare readers."""
        return sum(self.cpu.values()) / self.bare_cpu


async def measure(product: Product, visitor: Visitor, runs: int, seconds: float, rate: int = 50) -> Streaming:
    """The bare reader first, then the same through the product, all runs beginning at once."""
    count = int(seconds * rate)
    sent = count * runs
    bare = await asyncio.to_thread(read_barely, product, runs, count, rate)
    spent: list[dict[str, float]] = []
    watching = asyncio.create_task(
        watch_runs(visitor, runs, count, rate, around=lambda: spent.append(product.cpu_seconds()))
    )
    peak = await largest_memory(product, watching)
    tallies = watching.result()
    before, after = spent
    added = [value for tally in tallies for value in tally.added.values()]
    return Streaming(
        runs=runs,
        rate=rate,
        sent=sent,
        delivered=len(added),
        lost=sum(tally.lost for tally in tallies),
        doubled=sum(tally.doubled + tally.disordered for tally in tallies),
        p50=percentile(added, 0.50) / 1000,
        p99=percentile(added, 0.99) / 1000,
        cpu={name: (after[name] - before[name]) * 1000 / sent * 1000 for name in ("worker", "web", "broker")},
        bare_p50=bare["p50"],
        bare_p99=bare["p99"],
        bare_cpu=bare["cpu_ms"] / sent * 1000,
        memory=peak,
    )


async def largest_memory(product: Product, until: asyncio.Task[Any]) -> dict[str, float]:
    """The largest PSS of each process, looked at every two seconds (each look takes a few milliseconds)."""
    largest: dict[str, float] = {}
    while not until.done():
        await asyncio.wait([until], timeout=2)
        for name, size in product.memory().items():
            largest[name] = max(size, largest.get(name, 0.0))
    return largest


def read_barely(product: Product, runs: int, count: int, rate: int) -> Json:
    command = [
        sys.executable, "-m", "bench.bare_reader", product.stand_in,
        "--runs", str(runs), "--count", str(count), "--rate", str(rate),
    ]  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=300, check=True)
    result: Json = json.loads(done.stdout)
    assert result["delivered"] == runs * count, result
    return result


async def warm_up(visitor: Visitor) -> None:
    """The first run imports the provider's library, and the first pages compile their templates."""
    await watch_runs(visitor, 2, 20, 0)


async def measure_once(runs: int, seconds: float, rate: int) -> Streaming:
    with running_product() as product:
        async with await sign_in(product) as visitor:
            await warm_up(visitor)
            return await measure(product, visitor, runs, seconds, rate)


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=8)
    parser.add_argument("--rate", type=int, default=50)
    options = parser.parse_args(arguments)
    result = asyncio.run(measure_once(options.runs, options.seconds, options.rate))
    for name, value in vars(result).items():
        print(f"{name:10} {value}")
    print(f"{'cpu ratio':10} {result.cpu_ratio:.2f}")


if __name__ == "__main__":
    main(sys.argv[1:])
