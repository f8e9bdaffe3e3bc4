"""Small session trees written as one line: `tree("u a t | e2: u a")`."""

from __future__ import annotations

from typing import Any

from sessions_app.core import entries as kinds
from sessions_app.core.entries import Entry
from sessions_app.core.messages import Json, assistant_message, tool_result_message, user_message
from sessions_app.core.times import iso_of
from sessions_app.core.tree import Tree

START = 1_900_000_000_000
MODEL = ("acme", "m-one")


def tree(text: str) -> Tree:
    """A tree of entries `e1`, `e2`, … one second apart, each the child of the one before.

    Words: `u` user, `a` assistant, `t` tool result (of a call added to the answer before it), `sys` system
    message, `bash` user's command, `note` custom message, `bs` branch summary, `meta` custom state,
    `model` model change, `label@e1`, `omit@e1`, `swap@e1` (replacement), `cut@e1` compaction that keeps
    from e1 (`cut@-` keeps nothing). `u:60` has about 60 tokens. `| e2:` goes on from e2, `| root:` anew.
    """
    built: list[Entry] = []
    parent: str | None = None
    for branch in text.split("|"):
        words = branch.split()
        if words and words[0].endswith(":"):
            name = words.pop(0)[:-1]
            parent = None if name == "root" else name
        for word in words:
            entry = _entry(word, f"e{len(built) + 1}", parent, built)
            built.append(Entry(entry.record, len(built) + 1))
            parent = entry.id
    return Tree(built)


def path(text: str) -> list[Entry]:
    """The path to the last entry of such a tree."""
    built = tree(text)
    return built.path(built.last_id())


def words(tokens: int, name: str) -> str:
    """Text of exactly so many estimated tokens."""
    return (f"{name} " * (tokens * 4))[: tokens * 4]


def usage(tokens: int = 0, output: int = 0) -> Json:
    cost = {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0, "total": 0}
    return {
        "input": tokens - output,
        "output": output,
        "cacheRead": 0,
        "cacheWrite": 0,
        "totalTokens": tokens,
        "cost": cost,
    }


def answer(text: str = "answer", **fields: Any) -> Json:
    """An assistant message of the usual model."""
    message = assistant_message(
        [{"type": "text", "text": text}], api="fake", provider=MODEL[0], model=MODEL[1], timestamp=START
    )
    return {**message, **fields}


def call(name: str, call_id: str = "c1", **arguments: Any) -> Json:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}


def message_entry(entry_id: str, parent_id: str | None, message: Json) -> Entry:
    return kinds.message_entry(entry_id, parent_id, iso_of(START), message)


def chain(*messages: Json) -> list[Entry]:
    """A path of message entries e1, e2, …"""
    return [
        message_entry(f"e{number}", f"e{number - 1}" if number > 1 else None, message)
        for number, message in enumerate(messages, start=1)
    ]


def _entry(word: str, entry_id: str, parent: str | None, built: list[Entry]) -> Entry:
    word, _, size = word.partition(":")
    word, _, target = word.partition("@")
    tokens = int(size) if size else 10
    at = START + 1000 * (len(built) + 1)
    place = (entry_id, parent, iso_of(at))
    text = words(tokens, entry_id)
    match word:
        case "u":
            return kinds.message_entry(*place, user_message(text, timestamp=at))
        case "a":
            return kinds.message_entry(*place, answer(text, timestamp=at))
        case "t":
            _call_from(parent, entry_id, built)
            content = [{"type": "text", "text": text}]
            return kinds.message_entry(
                *place, tool_result_message(f"call-{entry_id}", "bash", content, timestamp=at)
            )
        case "sys":
            return kinds.message_entry(*place, {"role": "system", "content": text, "timestamp": at})
        case "bash":
            message = {"role": "bashExecution", "command": "ls", "output": text, "timestamp": at}
            return kinds.message_entry(*place, {**message, "cancelled": False, "truncated": False})
        case "note":
            return kinds.custom_message_entry(*place, custom_type="note", content=text)
        case "bs":
            return kinds.branch_summary_entry(*place, summary=text, from_id=None)
        case "meta":
            return kinds.custom_entry(*place, custom_type="state", data={})
        case "model":
            return kinds.model_change_entry(*place, provider="acme", model_id="m-two")
        case "label":
            return kinds.label_entry(*place, target_id=target, label="here")
        case "omit":
            return kinds.context_edit_entry(*place, target_id=target, replacement=None)
        case "swap":
            return kinds.context_edit_entry(*place, target_id=target, replacement={"content": text})
        case "cut":
            kept = None if target == "-" else target
            return kinds.compaction_entry(*place, summary=text, tokens_before=1000, first_kept_entry_id=kept)
    raise ValueError(f"no such word: {word!r}")


def _call_from(parent: str | None, result_id: str, built: list[Entry]) -> None:
    """Give the nearest answer above the call that this result belongs to."""
    for entry in reversed(Tree(built).path(parent)):
        message = entry.message
        if message is not None and message["role"] == "assistant":
            message["content"].append(call("bash", f"call-{result_id}", command="ls"))
            return
    raise ValueError("a tool result needs an answer before it")
