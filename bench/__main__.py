"""`make bench`: measures everything several times and writes bench/RESULTS.md.

The subjects can be measured alone: bench.streaming, bench.memory, bench.ready, bench.appends, bench.trees,
bench.turns, bench.reviews.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
from pathlib import Path

from bench import appends, memory, ready, reviews, streaming, trees, turns
from bench.product import Product, running_product
from bench.report import Rounds, targets, written
from bench.viewers import sign_in

RESULTS = Path(__file__).with_name("RESULTS.md")
RUNS = (1, 16, 64)
# Longer answers show what a delta costs without what a run costs (above 30,000 characters pages fold them).
LONG_RUNS, LONG_SECONDS = 16, 20.0


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=8, help="how long each run's answer takes")
    parser.add_argument("--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    rounds = Rounds()
    for number in range(1, options.rounds + 1):
        say(f"round {number} of {options.rounds}, load {os.getloadavg()[0]:.1f}")
        rounds.loads.append(os.getloadavg()[0])
        with running_product() as product:
            rounds.idle.append(memory.idle(product))
            asyncio.run(stream(product, rounds, options.seconds))
            rounds.idle_again.append(memory.idle(product))
        rounds.ready.append(ready.measure())
        say(f"  ready: {rounds.ready[-1]}")
        for result in appends.measure():
            rounds.appends.setdefault((result.database, result.writers), []).append(result)
            say(f"  {result}")
        rounds.turns.append(turns.measure())
        say(f"  {rounds.turns[-1]}")
        opened, growths = trees.measure()
        for row in (*opened, *growths):
            say(f"  {row}")
        rounds.trees.append(opened)
        rounds.growths.append(growths)
        rounds.loads.append(os.getloadavg()[0])
    found = list(reviews.measure())
    for figure in found:
        say(f"  {figure.line}")
    text = reviews.put_into(written(rounds), reviews.section(found))
    options.output.write_text(text, encoding="utf-8")
    for target in targets(rounds):
        say(target.line)
    say(f"Written: {options.output}")
    return 0


async def stream(product: Product, rounds: Rounds, seconds: float) -> None:
    async with await sign_in(product) as visitor:
        await streaming.warm_up(visitor)
        for runs, length in (*((runs, seconds) for runs in RUNS), (LONG_RUNS, LONG_SECONDS)):
            result = await streaming.measure(product, visitor, runs, length)
            rounds.streaming.setdefault((runs, length), []).append(result)
            say(f"  {result}")


def say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
