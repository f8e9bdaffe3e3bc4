"""Prints how well the report finds losses on one half of the labelled sessions: `python -m tests.review.figures test`."""

from __future__ import annotations

import sys

from tests.review.labelled import measure, unlabelled_alarms


def main(half: str, *, verbose: bool) -> None:
    figures = measure(half)
    print("| class | planted losses found | false alarms | labels agreed with | labelled things seen |")
    print("|---|---|---|---|---|")
    for name, count in [*sorted(figures.classes.items()), ("all", figures.total)]:
        print(
            f"| {name} | {count.found}/{count.planted} | {count.false_alarms}/{count.alarms}"
            f" | {count.agreed}/{count.extracted} | {count.extracted}/{count.labels} |"
        )
    print(f"\nprovenance links judged right: {figures.right_links}/{figures.links}")
    print(f"alarms on things nobody labelled: {len(unlabelled_alarms(half))}")
    if verbose:
        print("\n".join(["", *figures.misses, "", *unlabelled_alarms(half)]))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "test", verbose="-v" in sys.argv)
