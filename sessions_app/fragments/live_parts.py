"""What is shown while an answer is being written and tools are at work, until their entries arrive."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.html import escape

from sessions_app.core.messages import block_text, blocks_of, call_id_of, number_of
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import excerpt, one_line, visible
from sessions_app.fragments.speakers import speaker
from sessions_app.fragments.tool_cards import LIVE_LINES, open_card, running_card
from sessions_app.markdown import render_markdown

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LiveBlock:
    """One content block of a growing answer. `stable` and `tail` are safe HTML; `tail` is still open.

    For a tool call that is being written `tail` stays empty and `name` is the tool's.
    """

    index: int
    kind: Literal["text", "thinking", "toolCall"]
    stable: str = ""
    tail: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True)
class LiveMessage:
    """An answer that is being written. `key` names it in the frames of the socket, `model` is who speaks."""

    key: str
    model: str
    blocks: tuple[LiveBlock, ...] = ()


def live_message_of(key: str, message: Json) -> LiveMessage:
    """An unfinished answer as a placeholder: its text so far as Markdown, its thinking as plain text."""
    blocks: list[LiveBlock] = []
    for index, block in enumerate(blocks_of(message.get("content"))):
        match block.get("type"):
            case "text":
                blocks.append(LiveBlock(index, "text", stable=render_markdown(visible(block_text(block)))))
            case "thinking":
                blocks.append(
                    LiveBlock(index, "thinking", stable=escape(visible(block_text(block, "thinking"))))
                )
            case "toolCall":
                blocks.append(LiveBlock(index, "toolCall", name=block_text(block, "name")))
    return LiveMessage(key, speaker(message), tuple(blocks))


def render_live_message(message: LiveMessage) -> str:
    """The placeholder article of a growing answer, with a slot for each block it has so far."""
    blocks = "".join(render_live_block(block, message.model) for block in message.blocks)
    return render_to_string(
        "sessions_app/entries/_live_message.html",
        {"key": message.key, "model": one_line(message.model, 60), "blocks": blocks},
    )


def render_live_block(block: LiveBlock, model: str = "") -> str:
    """The slot of one block: `<div data-block="0" …><div class="stable"></div><div class="tail"></div></div>`."""
    context = {"block": block, "model": one_line(model, 60), "name": one_line(block.name, 60)}
    return render_to_string("sessions_app/entries/_live_block.html", context)


def render_tool_running(call: Json, *, tail: str = "", ended: bool = False, since: str = "") -> str:
    """The card of a tool at work; its `<pre class="tool__tail">` takes the end of the output. `ended`: the tool is
    done, but its entry waits for others of the batch. `since`: the ISO time it began."""
    card = running_card(call, tail=tail, ended=ended, since=since)
    return render_to_string(
        "sessions_app/entries/_tool_running.html", {"card": card, "call_id": _call_id(call)}
    )


def render_compacting(key: str, reason: str) -> str:
    """The row of a compaction that happens within a job."""
    return render_to_string(
        "sessions_app/entries/_compacting.html",
        {"key": key, "overflow": reason == "overflow", "since": timezone.now().isoformat()},
    )


def render_retrying(key: str, event: Json) -> str:
    """The row of a failed request that is sent again after a while; `event` is the wire's `auto_retry_start`."""
    milliseconds = number_of(event.get("delayMs")) or 0
    until = timezone.now() + timedelta(milliseconds=milliseconds)
    return render_to_string(
        "sessions_app/entries/_retrying.html",
        {
            "key": key,
            "why": one_line(str(event.get("errorMessage") or ""), 200),
            "until": until.isoformat(),
            "wait": wording.duration(milliseconds),
            "attempt": number_of(event.get("attempt")) or 1,
            "most": number_of(event.get("maxAttempts")) or 1,
        },
    )


def render_live_note(key: str, words: str) -> str:
    """The row of something that happened beside answers and tools."""
    return render_to_string("sessions_app/entries/_live_note.html", {"key": key, "words": words})


def render_tool_open(call: Json) -> str:
    """The card of a call that has no result though nothing runs any more."""
    card = open_card(call)
    return render_to_string(
        "sessions_app/entries/_tool_running.html", {"card": card, "call_id": _call_id(call)}
    )


def tail_of(text: str) -> str:
    """The last lines of a running tool's output, as its card shows them."""
    return excerpt(text, LIVE_LINES, tail=True).text


def _call_id(call: Json) -> str:
    # As the article of its result has it; an imported id may hold what no page can be encoded with.
    return one_line(call_id_of(call.get("id")), 200)
