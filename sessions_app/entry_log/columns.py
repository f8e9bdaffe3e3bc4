"""What of an entry gets a column of its own: computed once, when it is written or imported."""

from __future__ import annotations

import re
from typing import Any

from sessions_app.core import faces, messages, projection, tokens
from sessions_app.core.bare_words import bare_words
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.entries import Kind

Json = dict[str, Any]
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
# Control characters, and those that turn the reading direction of what follows.
_UNSEEN = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def clean(value: Any) -> Any:
    """The same value without NUL and halves of surrogate pairs, which neither databases nor providers take.

    For text that we produce; imported records keep theirs as escapes.
    """
    if isinstance(value, str):
        return _UNSTORABLE.sub("\ufffd", value) if _UNSTORABLE.search(value) else value
    if isinstance(value, list):
        return [clean(item) for item in value]
    if isinstance(value, dict):
        return {clean(key): clean(item) for key, item in value.items()}
    return value


def stored_id(entry_id: str) -> str:
    """An id as the column holds it: what an imported file calls an entry may be unstorable or endless."""
    return str(clean(entry_id))[:200]


def unstorable(text: str) -> bool:
    """Does the text hold what a database refuses: NUL or halves of surrogate pairs?"""
    return _UNSTORABLE.search(text) is not None


def role_of(entry: CoreEntry) -> str:
    role = entry.role
    return clean(role)[:30] if isinstance(role, str) else ""


def estimated_tokens(entry: CoreEntry) -> int:
    """Size of what the entry alone contributes; 0 where it contributes nothing or can't be measured."""
    try:
        return sum(tokens.estimate_tokens(message) for message in projection.messages_of(entry))
    except (TypeError, AttributeError, KeyError, ValueError):
        return 0


def sets_model(entry: CoreEntry) -> bool:
    return entry.kind == Kind.MODEL_CHANGE or entry.role == "assistant"


def sets_thinking_level(entry: CoreEntry) -> bool:
    return entry.kind == Kind.THINKING_LEVEL_CHANGE


def spending(entry: CoreEntry) -> tuple[int, float]:
    """Tokens and US dollars the entry reports (01 §8)."""
    holder = entry.message if entry.message is not None else entry.record
    usage = holder.get("usage")
    if not isinstance(usage, dict):
        return 0, 0.0
    parts = (usage.get(name) for name in ("input", "output", "cacheRead", "cacheWrite"))
    used = sum(part for part in parts if isinstance(part, int | float) and 0 <= part < 2**53)
    cost = usage.get("cost")
    total = cost.get("total") if isinstance(cost, dict) else 0.0
    return int(used), float(total) if isinstance(total, int | float) and 0 <= total < 1e9 else 0.0


def drawn(entry: CoreEntry) -> dict[str, Any]:
    """What drawings of the tree add up over many entries: `face`, `used` and `cost`."""
    used, cost = spending(entry)
    return {"face": faces.face_of(entry), "used": used, "cost": cost}


def title_of(entry: CoreEntry) -> str:
    """First words of a user message, for a session that has no name yet."""
    if entry.role != "user" or entry.message is None:
        return ""
    words = clean(messages.text_of(entry.message.get("content"), "\n")).strip()
    begun = bare_words(words[:400]) or words[:400]
    return one_line(begun)[:120]


def name_of(record: Json) -> str:
    """The name a session_info entry gives, as lists and window titles can show it; empty when it clears the name."""
    return one_line(str(clean(record.get("name")) or ""))[:300]


def one_line(text: str) -> str:
    """The text on one line, without what no line can show."""
    return " ".join(_UNSEEN.sub(" ", text).split())
