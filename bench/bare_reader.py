"""The measure beside the product: reads the same streams with the same library in threads, and does nothing else.

`python -m bench.bare_reader URL --runs 16 --count 400 --rate 50` prints one line of JSON: `cpu_ms` is its own time
from the first request to the last delta, without imports, connections shared by all threads.
"""

from __future__ import annotations

import argparse
import json
import sys
import threading
import time

import anthropic

from bench.deltas import found, now, percentile

MODEL = "claude-sonnet-5-5"


def read(client: anthropic.Anthropic, words: str, arrivals: list[tuple[int, str]]) -> None:
    stream = client.messages.create(
        model=MODEL, max_tokens=8192, messages=[{"role": "user", "content": words}], stream=True
    )
    arrivals.extend(
        (now(), event.delta.text)
        for event in stream
        if event.type == "content_block_delta" and event.delta.type == "text_delta"
    )


def main(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("address")
    parser.add_argument("--runs", type=int, default=16)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--rate", type=int, default=50)
    options = parser.parse_args(arguments)
    client = anthropic.Anthropic(api_key="bench", base_url=options.address, max_retries=0, timeout=300)
    # The first request imports what the library puts off; it is not counted, as it is not for the product.
    read(client, "timed 5", [])
    arrivals: list[list[tuple[int, str]]] = [[] for _ in range(options.runs)]
    words = f"timed {options.count} at {options.rate}"
    threads = [threading.Thread(target=read, args=(client, words, its)) for its in arrivals]
    before = time.process_time()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    spent = time.process_time() - before
    added = [arrived - when for its in arrivals for arrived, text in its for _, when in found(text)]
    print(
        json.dumps(
            {
                "delivered": len(added),
                "p50": percentile(added, 0.50) / 1000,
                "p99": percentile(added, 0.99) / 1000,
                "cpu_ms": spent * 1000,
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1:])
