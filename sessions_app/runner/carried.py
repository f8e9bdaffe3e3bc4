"""What a summary must not lose: pinned entries and the newest words of the user, carried along verbatim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from sessions_app import entry_log
from sessions_app.core.entries import Kind
from sessions_app.core.json_text import print_compact_json
from sessions_app.core.messages import Json, block_text, text_of, tool_calls_of
from sessions_app.core.projection import messages_of, project_entry
from sessions_app.core.tokens import UNITS_PER_TOKEN, utf16_length
from sessions_app.core.transcript import user_text_of
from sessions_app.models import Entry

_OPENING = "\n\n<carried>\n"
_CLOSING = "</carried>"
# A quarter of the window, in units of four to a token.
_SHARE = UNITS_PER_TOKEN // 4
_MOST_PINS = 200


class Carried(NamedTuple):
    """An entry that is carried, and its words."""

    entry: Entry
    text: str


def without_carried(summary: str | None) -> str | None:
    """A previous summary as the model wrote it: the block is built anew by every compaction."""
    if summary is None or not summary.rstrip().endswith(_CLOSING):
        return summary
    return summary.partition(_OPENING)[0]


def texts_to_carry(leaf: Entry, kept_depth: int) -> list[Carried]:
    """The pinned entries of the leaf's path and its newest user message, those above `kept_depth`, in path order.

    What a context edit took out is not carried; what one replaced is carried as it was replaced.
    """
    pinned = Entry.objects.filter(session_id=leaf.session_id, pin__isnull=False, depth__lt=kept_depth)
    trail = entry_log.Trail(leaf)
    chosen: dict[int, Carried] = {}
    for entry in pinned.select_related("pin").order_by("-seq")[:_MOST_PINS]:
        if entry in trail and (text := _words_in_force(entry, trail)):
            chosen[entry.pk] = Carried(entry, entry.pin.quote or text)
    newest = _newest_user_message(leaf, trail)
    if newest is not None and newest.entry.depth < kept_depth:
        chosen[newest.entry.pk] = newest
    return sorted(chosen.values(), key=lambda carried: carried.entry.depth)


def _newest_user_message(leaf: Entry, trail: entry_log.Trail) -> Carried | None:
    spoken = Entry.objects.filter(session_id=leaf.session_id, kind="message", role="user", seq__lte=leaf.seq)
    for entry in spoken.order_by("-seq").iterator(chunk_size=50):
        if entry in trail and (text := _words_in_force(entry, trail)):
            return Carried(entry, text)
    return None


def _words_in_force(entry: Entry, trail: entry_log.Trail) -> str:
    """What the entry says under the newest context edit of the path, as text; empty when it says nothing."""
    core = entry.as_core()
    edits = Entry.objects.filter(
        session_id=entry.session_id, kind=Kind.CONTEXT_EDIT, depth__gt=entry.depth, payload__contains=core.id
    )
    for edit in edits.order_by("-seq"):
        if edit.record.get("targetId") == core.id and edit in trail:
            return _words(project_entry(core, edit.as_core()).messages)
    return _words(messages_of(core))


def _words(messages: Iterable[Json]) -> str:
    """Words, and calls by name and arguments."""
    texts: list[str] = []
    for message in messages:
        if message.get("role") == "assistant":
            texts.append(text_of(message.get("content"), "\n"))
            texts.extend(
                f"{call.get('name')}({print_compact_json(call.get('arguments'))})"
                for call in tool_calls_of(message)
            )
        else:
            texts.append(
                user_text_of(message)
                or text_of(message.get("content"), "\n")
                or block_text(message, "summary")
            )
    return "\n".join(text for text in texts if text)


def carried_block(carried: Sequence[Carried], window: int) -> str:
    """The block behind the summary: ids and verbatim text, at most a quarter of the window in all.

    A text beyond its share keeps its head and tail, and says so. Empty for nothing to carry.
    """
    if not carried:
        return ""
    shares = _shares([utf16_length(item.text) for item in carried], max(1000, window * _SHARE))
    parts = [
        f'<entry id="{item.entry.entry_id}" role="{item.entry.role or item.entry.kind}">\n'
        f"{_fit(item.text, share)}\n</entry>\n"
        for item, share in zip(carried, shares, strict=True)
    ]
    return _OPENING + "".join(parts) + _CLOSING


def _shares(sizes: Sequence[int], room: int) -> list[int]:
    """Room for each: the small ones whole, the rest in equal parts."""
    shares = [0] * len(sizes)
    left = room
    for place, index in enumerate(sorted(range(len(sizes)), key=lambda index: sizes[index])):
        shares[index] = min(sizes[index], left // (len(sizes) - place))
        left -= shares[index]
    return shares


def _fit(text: str, units: int) -> str:
    if utf16_length(text) <= units:
        return text
    # A character takes at most two units.
    half = (units - 80) // 2 if text.isascii() else (units - 80) // 4
    half = max(half, 0)
    left_out = len(text) - 2 * half
    return f"{text[:half]}\n[… {left_out} characters are left out here …]\n{text[len(text) - half :]}"
