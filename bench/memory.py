"""Memory of each process (PSS in MB): just started, and idle again after runs.

`python -m bench.memory` measures once and prints it; what is used under load is measured by bench.streaming.
"""

from __future__ import annotations

import asyncio
import time

from bench.product import Product, running_product
from bench.viewers import sign_in, watch_runs

# What starts late (the worker imports while pages are served already) has come to rest by then.
REST_SECONDS = 6.0


def idle(product: Product) -> dict[str, float]:
    time.sleep(REST_SECONDS)
    return product.memory()


async def after_runs(product: Product, runs: int) -> dict[str, float]:
    async with await sign_in(product) as visitor:
        await watch_runs(visitor, runs, 100, 50)
    return await asyncio.to_thread(idle, product)


def described(memory: dict[str, float]) -> str:
    parts = ", ".join(f"{name} {size:.0f}" for name, size in memory.items())
    return f"{sum(memory.values()):.0f} MB ({parts})"


def main() -> None:
    with running_product() as product:
        print("just started:", described(idle(product)))
        print("idle again after 16 runs:", described(asyncio.run(after_runs(product, 16))))


if __name__ == "__main__":
    main()
