"""One way to understand a sentence that wants a change: what is done, to what, where, to which value."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Wish:
    """One way to understand a sentence. `kind`: add, section, remove, done, undone, set, step, replace, sort, rename, move,
    copy, folder, collect, drop, first, last. `beside` and `side` (before, after) say where in a list; `stated` that it is only
    told. The texts are masked as in the ask they come from."""

    kind: str
    what: str = ""
    where: str = ""
    value: str = ""
    old: str = ""
    everywhere: bool = False
    sign: int = 0
    references: bool = False
    stated: bool = False
    beside: str = ""
    side: str = ""
