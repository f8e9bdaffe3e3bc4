"""What must hold once a replayed session has come to rest; each check gives the sentences that say what does not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.browser.replay_service import WORD, Sent

Json = dict[str, Any]

# Of what a dead worker had streamed, at most this much may be gone; a word is dated a little before it is sent.
LOSS_SECONDS = 2.0
_DATING = 0.05
_STOPPING = 0.5
SETTLE_SECONDS = 10.0


@dataclass(slots=True)
class Kill:
    """`at` is this machine's clock; `back` when the process had been started again (0: not seen yet)."""

    at: float
    target: str
    back: float = 0.0


@dataclass(slots=True)
class Happened:
    """What was done to the run: kills, the times of stops, the words that people sent."""

    kills: list[Kill] = field(default_factory=list)
    stops: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    def of_worker(self) -> list[Kill]:
        return [kill for kill in self.kills if kill.target == "worker"]


def words_of(text: str) -> list[tuple[int, str, int]]:
    """(answer, letter, number) of each word in the text."""
    return [(int(m[1]), m[2], int(m[3])) for m in WORD.finditer(text)]


def gaps(words: Sequence[tuple[int, str, int]]) -> str:
    """Says where a stretch of one block is not 0, 1, 2 … of one answer."""
    for place, (answer, letter, number) in enumerate(words):
        if number != place or (answer, letter) != words[0][:2]:
            return f"word {place} of {words[0][1]}{words[0][0]} is {letter}{number} of answer {answer}"
    return ""


def check_entries(facts: Json) -> list[str]:
    """Seqs 1 … n, each id once, the path in order and once each."""
    found = []
    seqs = [entry["seq"] for entry in facts["entries"]]
    if seqs != list(range(1, len(seqs) + 1)) or facts["next_seq"] != len(seqs) + 1:
        found.append(f"seqs are {seqs}, the next is {facts['next_seq']}")
    if twice := [name for name, count in Counter(e["id"] for e in facts["entries"]).items() if count > 1]:
        found.append(f"ids twice: {twice}")
    if facts["path"] != sorted(set(facts["path"])) or facts["path"] != seqs:
        found.append(f"the path is {facts['path']} of {seqs}")
    return found


def check_calls(facts: Json) -> list[str]:
    """On the path each call has exactly one result, before anything else is said."""
    found: list[str] = []
    open_calls: Counter[str] = Counter()
    for entry in facts["entries"]:
        message = entry["record"].get("message") or {}
        if message.get("role") == "toolResult":
            call = message["toolCallId"]
            if not open_calls[call]:
                found.append(f"entry {entry['seq']} answers {call}, which is not open")
            open_calls[call] -= 1
        elif message.get("role") in {"assistant", "user"}:
            found += [f"no result of {call} before entry {entry['seq']}" for call in (+open_calls)]
            open_calls = Counter(b["id"] for b in _blocks(message) if b.get("type") == "toolCall")
    return found + [f"no result of {call}" for call in (+open_calls)]


def check_answers(facts: Json, sent: Mapping[int, Sent], happened: Happened) -> tuple[list[str], list[float]]:
    """All words stored once and in order, but for those that a kill or a stop excuses; seconds lost by kills."""
    found: list[str] = []
    losses: list[float] = []
    stored: dict[tuple[int, str], int] = {}
    for entry in facts["entries"]:
        message = entry["record"].get("message") or {}
        if message.get("role") != "assistant":
            continue
        for key in ("thinking", "text"):
            words = words_of("".join(b.get(key, "") for b in _blocks(message) if b.get("type") == key))
            if not words:
                continue
            if wrong := gaps(words):
                found.append(f"entry {entry['seq']}: {wrong}")
            if words[0][:2] in stored:
                found.append(f"answer {words[0][0]} is stored twice, again as entry {entry['seq']}")
            stored[words[0][:2]] = len(words)
    stopped = any(run["status"] == "stopped" for run in facts["runs"])
    for number, answer in sent.items():
        for letter, times in answer.times.items():
            kept = stored.get((number, letter), 0)
            if kept > len(times):
                found.append(f"answer {number} has {kept} words, {len(times)} were sent")
            if kept >= len(times):
                continue
            first = times[kept]
            ends = [kill.at for kill in happened.of_worker() if kill.at >= first - _STOPPING]
            if stopped and any(first >= at - _STOPPING for at in happened.stops):
                continue
            lost = min(ends, default=float("inf")) - first
            losses.append(max(0.0, lost))
            if lost > LOSS_SECONDS + _DATING:
                when = f"{lost:.2f} s before the worker was killed" if ends else "though no worker was killed"
                found.append(f"answer {number}: {kept} of {len(times)} words ({letter}) kept, lost {when}")
    return found, losses


def check_times(
    facts: Json, happened: Happened, *, lease: float, natural: float
) -> tuple[list[str], list[float]]:
    """Each run is over within lease + 10 s of its worker's death, or of when a worker could have finished it.

    Also the seconds from each death to its run's end.
    """
    found: list[str] = []
    seconds: list[float] = []
    for run in facts["runs"]:
        if run["ended"] is None:
            found.append(f"run {run['id']} is still {run['status']}")
            continue
        deaths = [
            k.at for k in happened.of_worker() if run["started"] and run["started"] < k.at < run["ended"]
        ]
        if deaths:
            seconds.append(run["ended"] - deaths[0])
            if seconds[-1] > lease + SETTLE_SECONDS:
                found.append(f"run {run['id']} was over {seconds[-1]:.1f} s after its worker's death")
            continue
        ready = max([run["created"], *(k.back for k in happened.of_worker() if k.at < run["ended"])])
        if run["ended"] - ready > natural + lease + SETTLE_SECONDS:
            found.append(f"run {run['id']} was over only {run['ended'] - ready:.1f} s after it could begin")
    return found, seconds


def check_outcomes(facts: Json) -> list[str]:
    """Nothing that was done here is a reason to fail; interrupted needs a death."""
    return [
        f"run {run['id']} failed: {run['error']}"
        for run in facts["runs"]
        if run["status"] in ("failed", "limited")
    ]


def check_said(facts: Json, happened: Happened) -> list[str]:
    """What people sent is an entry, or waits, exactly once."""
    there = Counter(facts["queue"])
    for entry in facts["entries"]:
        message = entry["record"].get("message") or {}
        if message.get("role") == "user":
            there["".join(b.get("text", "") for b in _blocks(message))] += 1
    wanted = Counter(happened.said)
    names = [*wanted, *(text for text in there if text not in wanted)]
    return [f"{text!r} is there {there[text]} times" for text in names if there[text] != wanted[text]]


def check_effects(lines: Iterable[str]) -> list[str]:
    """No command ran twice."""
    return [f"the command {mark} ran {count} times" for mark, count in Counter(lines).items() if count > 1]


def check_page(shown: Json, stored: Json, facts: Json) -> list[str]:
    """The transcript shows what the rows hold and nothing else; nothing is left over below it."""
    found = []
    if [a["id"] for a in shown["articles"]] != [a["id"] for a in stored["articles"]]:
        found.append(
            f"shows {[a['id'] for a in shown['articles']]}, stored are {[a['id'] for a in stored['articles']]}"
        )
    else:
        for there, row in zip(shown["articles"], stored["articles"], strict=True):
            if there["text"] != row["text"]:
                found.append(f"{there['id']} shows {_difference(there['text'], row['text'])}")
    if shown["live"]:
        found.append(f"still live: {[words[:1] for words in shown['live']]}")
    if shown["liveCount"]:
        found.append(f"{shown['liveCount']} articles are left in the live region")
    if shown["state"] != facts["state"]:
        found.append(f"the page says {shown['state']!r}, the run is {facts['state']!r}")
    if shown["connection"] != "Connected":
        found.append(f"the connection is {shown['connection']!r}")
    return found


def check_moment(shown: Json) -> list[str]:
    """While it goes on: what can be seen of each answer has no gap and nothing twice."""
    blocks = [*shown["live"], *(words for article in shown["articles"] for words in article["words"])]
    told = [words_of(" ".join(block)) for block in blocks if block]
    found = [wrong for words in told if (wrong := gaps(words))]
    seen = Counter(words[0][:2] for words in told)
    return found + [f"answer {answer} is seen {n} times" for (answer, _), n in seen.items() if n > 1]


def _blocks(message: Json) -> list[Json]:
    content = message.get("content")
    return content if isinstance(content, list) else [{"type": "text", "text": content or ""}]


def _difference(shown: str, stored: str) -> str:
    place = next(
        (i for i, (a, b) in enumerate(zip(shown, stored, strict=False)) if a != b),
        min(len(shown), len(stored)),
    )
    return f"…{shown[max(0, place - 20) : place + 60]!r} where stored is {stored[max(0, place - 20) : place + 60]!r}"
