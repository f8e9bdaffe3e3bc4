"""One entry as one article: which template shows a kind, and what that template is given."""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from sessions_app import entry_log
from sessions_app.agent.models_catalogue import spoken_name
from sessions_app.agent.remedies import remedy_of
from sessions_app.core.bare_words import bare_words
from sessions_app.core.entries import REPAIRED, Kind
from sessions_app.core.messages import blocks_of, number_of, text_of
from sessions_app.core.projection import EDITABLE_ROLES
from sessions_app.fragments import wording
from sessions_app.fragments.diffs import Piece
from sessions_app.fragments.folds import Fold, split_summary
from sessions_app.fragments.left_branch import left_branch
from sessions_app.fragments.plain_text import MAX_SCANNED, excerpt, one_line, visible
from sessions_app.fragments.speakers import speaker
from sessions_app.fragments.surroundings import Surroundings
from sessions_app.fragments.tool_cards import command_card, images_of, open_card, pretty, result_card
from sessions_app.markdown import render_markdown
from sessions_app.models import Entry

Json = dict[str, Any]
Described = tuple[str, Json]

MAX_PROSE = 24_000
"""Characters of a message on the page; the rest comes with *Show all*."""

_INLINE_CODE = re.compile(r"`([^`\n]+)`")


def describe(entry: Entry, around: Surroundings, form: str = "") -> Described:
    """The template of an entry's article and its context. Malformed records of any kind give an article too.

    `form` opens one inside: `edit` (a user message's text) or `label`.
    """
    record = entry.record
    if entry.kind == Kind.MESSAGE:
        message = record.get("message")
        message = message if isinstance(message, dict) else {}
        describe_role = _ROLES.get(_text(message.get("role")))
        template, context = (
            describe_role(entry, message, around) if describe_role else _unknown(entry, record, around)
        )
    else:
        describe_kind = _KINDS.get(entry.kind, _unknown)
        template, context = describe_kind(entry, record, around)
    moment = _moment(entry, record)
    clock = wording.clock(moment)
    name = context.pop("name")
    version = around.versions.get(entry.pk)
    label = around.labels.get(entry.entry_id, "")
    title = f"{name}, {clock}" + (f", version {version.index} of {version.count}" if version else "")
    common: Json = {
        "seq": entry.seq,
        "key": around.key,
        "may_edit": around.may_edit,
        "title": title,
        "moment": moment,
        "clock": clock,
        "version": version,
        "label": one_line(label, 60),
        "form": form,
        "told": {
            "pinned": entry.pk in around.pinned,
            "edited": around.edited.get(entry.pk, ""),
            "editable": entry.kind == Kind.CUSTOM_MESSAGE or entry.role in EDITABLE_ROLES,
        },
        "attempt": around.attempts.get(entry.pk),
    }
    return f"sessions_app/entries/{template}.html", common | context


def _user(entry: Entry, message: Json, around: Surroundings) -> Described:
    text = text_of(message.get("content"), "\n")
    shown, cut = _capped(text, around.full)
    author = around.author_of(entry)
    return "user", {
        "source": source_of(entry),
        "once": uuid.uuid4().hex,
        "name": author,
        "author": author,
        "pieces": inline_code(visible(shown)),
        "images": images_of(message.get("content")),
        "more": cut,
    }


def inline_code(text: str) -> tuple[Piece, ...]:
    """A person's words with `code` marked; everything else stays as it was typed."""
    pieces: list[Piece] = []
    for index, part in enumerate(_INLINE_CODE.split(text)):
        if part:
            pieces.append(Piece(part, marked=bool(index % 2)))
    return tuple(pieces)


def _assistant(entry: Entry, message: Json, around: Surroundings) -> Described:
    model = speaker(message) or "assistant"
    parts: list[Json] = []
    more = has_head = False
    for block in blocks_of(message.get("content")):
        if block.get("type") == "thinking" and (thought := _text(block.get("thinking"))).strip():
            parts.append(thinking_part(thought, number_of(block.get("durationMs"))))
        elif block.get("type") == "thinking" and block.get("redacted") is True:
            parts.append({"kind": "thinking", "first": "kept secret by the provider", "text": "", "took": ""})
        elif block.get("type") == "text" and (text := _text(block.get("text"))).strip():
            shown, cut = _capped(text, around.full)
            more = more or cut
            parts.append({"kind": "text", "html": render_markdown(visible(shown)), "head": not has_head})
            has_head = True
    return "assistant", {
        "name": "Assistant",
        "model": model,
        "parts": parts,
        "ending": _ending(entry, message, around),
        "open_cards": [open_card(call) for call in around.unanswered.get(entry.pk, ())],
        "facts": _answer_facts(message),
        "more": more,
    }


def _answer_facts(message: Json) -> str:
    """What the answer took, for the row of actions."""
    usage = message.get("usage")
    if not isinstance(usage, dict):
        return ""
    facts = [f"{wording.tokens(output)} tokens"] if (output := number_of(usage.get("output"))) else []
    cost = usage.get("cost")
    if isinstance(cost, dict) and (dollars := number_of(cost.get("total"))):
        facts.append(wording.money(dollars))
    return " · ".join(facts)


def thinking_part(text: str, milliseconds: float | None) -> Json:
    """A folded row: how long, the first words, and all of it inside."""
    return {
        "kind": "thinking",
        "first": one_line(bare_words(text[:1000]), 120),
        "text": visible(text[:MAX_SCANNED]),
        "took": wording.duration(milliseconds) if milliseconds else "",
    }


def _ending(entry: Entry, message: Json, around: Surroundings) -> Json | None:
    """What is said below an answer that did not simply end."""
    reason = message.get("stopReason")
    if reason == "aborted":
        run = entry.run
        mine = run is not None and run.stop_author_id is not None and run.stop_author_id == around.user_id
        # One that was stopped before it had begun says nothing by how long it took.
        took = _since_parent(entry) if message.get("content") else ""
        words = "Stopped by you" if mine else "Stopped"
        return {"kind": "stopped", "text": f"{words} after {took}" if took else words}
    if reason == "length":
        return {"kind": "length", "text": "The answer reached the model's limit for one reply."}
    if reason != "error":
        return None
    what = (
        visible(_text(message.get("errorMessage"))[:2000]) or "The provider ended the answer with an error."
    )
    first, _, rest = what.partition("\n")
    if around.edited.get(entry.pk) == "omitted":
        # It was tried again, or somebody left it out: no longer what the reader has to deal with.
        words = one_line(first, 300).rstrip(".")
        return {"kind": "retried", "text": f"{words}. The model is not told of this attempt."}
    return {
        "kind": "error",
        "text": one_line(first, 300),
        "rest": rest.strip(),
        "remedy": remedy_of(_fault_kind(message)),
        "kept": bool(blocks_of(message.get("content"))),
        "keys": _fault_kind(message) in {"auth", "quota", "network"},
        "above": entry.parent.seq if entry.parent is not None else None,
    }


def _fault_kind(message: Json) -> str:
    """The kind of the provider's fault, where the loop has noted it."""
    diagnostics = message.get("diagnostics")
    found = diagnostics if isinstance(diagnostics, list) else []
    kinds = (it.get("kind") for it in found if isinstance(it, dict) and it.get("type") == "provider_error")
    return next((kind for kind in kinds if isinstance(kind, str)), "")


def _since_parent(entry: Entry) -> str:
    """Time since what the answer replied to; empty where a file's clock makes no sense."""
    parent = entry.parent
    start = wording.moment_of(parent.record.get("timestamp")) if parent is not None else None
    end = wording.moment_of(entry.record.get("timestamp"))
    if start is None or end is None:
        return ""
    seconds = (end - start).total_seconds()
    return wording.duration(seconds * 1000) if 0.05 < seconds < 86_400 else ""


def _tool_result(entry: Entry, message: Json, around: Surroundings) -> Described:
    card = result_card(message, around.calls.get(entry.pk), full=around.full)
    return "tool_result", {
        "name": card.title,
        "card": card,
        "call_id": one_line(_text(message.get("toolCallId")), 200),
    }


def _bash_execution(entry: Entry, message: Json, around: Surroundings) -> Described:
    return "bash_execution", {"name": "Your command", "card": command_card(message, full=around.full)}


def _system(entry: Entry, message: Json, around: Surroundings) -> Described:
    tools = message.get("toolsAdded")
    sections = message.get("sections")
    texts = [text_of(message.get("content"))]
    if isinstance(sections, dict):
        texts += [value for value in sections.values() if isinstance(value, str)]
    count = len(tools) if isinstance(tools, list) else 0
    words = "Instructions to the model" + (f" and {wording.plural(count, 'tool')}" if count else "")
    template, context = _note(
        "Instructions",
        f"{words} · {wording.tokens(entry.tokens)} tokens",
        details=visible("\n\n".join(filter(None, texts))[:MAX_SCANNED]),
    )
    return template, context | {"quiet": True}


def _custom_role(entry: Entry, message: Json, around: Surroundings) -> Described:
    return _custom_message(entry, message, around)


def _summary_role(entry: Entry, message: Json, around: Surroundings) -> Described:
    return _note(
        "Summary", "A summary kept as a message", details=visible(_text(message.get("summary"))[:MAX_SCANNED])
    )


def _compaction(entry: Entry, record: Json, around: Surroundings) -> Described:
    written, carried = split_summary(_text(record.get("summary")))
    summary, cut = _capped(written, around.full)
    fold = around.folds.get(entry.pk) or Fold(1, None, None)
    start, end = entry_log.replaced_depths(entry)
    return "compaction", {
        "name": f"Compaction {fold.number}",
        "fold": fold,
        "replaced": max(0, end - start),
        "before": number_of(record.get("tokensBefore")),
        "after": entry.tokens,
        "cost": _cost(record),
        "by_extension": record.get("fromHook") is True,
        "html": render_markdown(visible(summary)) if summary.strip() else "",
        "carried": carried,
        "above": entry.parent.seq if entry.parent is not None else None,
        "files": _files(record),
        "more": cut,
    }


def _branch_summary(entry: Entry, record: Json, around: Surroundings) -> Described:
    written, _ = split_summary(_text(record.get("summary")))
    summary, cut = _capped(written, around.full)
    source = entry_log.find_by_id(entry.session_id, record.get("fromId"))
    return "branch_summary", {
        "name": "Branch summary",
        "left": left_branch(source, entry) if source else None,
        "cost": _cost(record),
        "by_extension": record.get("fromHook") is True,
        "html": render_markdown(visible(summary)) if summary.strip() else "",
        "files": _files(record),
        "more": cut,
    }


def _context_edit(entry: Entry, record: Json, around: Surroundings) -> Described:
    replacement = record.get("replacement")
    content = replacement.get("content") if isinstance(replacement, dict) else None
    omitted = not isinstance(replacement, dict)
    target = entry_log.find_by_id(entry.session_id, record.get("targetId"))
    template, context = _note(
        "Left out" if omitted else "Changed",
        "An entry is left out of what the model sees"
        if omitted
        else "The model sees another text of an entry",
        glyph="omit",
        target=target.seq if target else None,
        details="" if omitted else visible(text_of(content, "\n")[:MAX_SCANNED]),
    )
    # A failed attempt says itself that it was made again.
    return template, context | {"bare": omitted and target is not None and _has_failed(target)}


def _has_failed(entry: Entry) -> bool:
    message = entry.record.get("message")
    return isinstance(message, dict) and message.get("stopReason") == "error"


def _label(entry: Entry, record: Json, around: Surroundings) -> Described:
    label = one_line(_text(record.get("label")), 80)
    words = f"Labelled “{label}”" if label else "Label removed"
    return _note("Label", words, icon="tag", target=_target(entry, record))


def _session_info(entry: Entry, record: Json, around: Surroundings) -> Described:
    name = one_line(_text(record.get("name")), 120)
    return _note("Name", f"Named “{name}”" if name else "Name removed")


def _model_change(entry: Entry, record: Json, around: Surroundings) -> Described:
    provider, model = one_line(_text(record.get("provider")), 60), one_line(_text(record.get("modelId")), 100)
    name = spoken_name(provider, model)
    known = name != model or not provider
    return _note("Model", f"Model: {name or 'unknown'}" + ("" if known else f" · {provider}"))


def _thinking_level_change(entry: Entry, record: Json, around: Surroundings) -> Described:
    return _note("Thinking", f"Thinking: {one_line(_text(record.get('thinkingLevel')), 40) or 'unknown'}")


def _usage(entry: Entry, record: Json, around: Surroundings) -> Described:
    usage = record.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    used = sum(number_of(usage.get(part)) or 0 for part in ("input", "output", "cacheRead", "cacheWrite"))
    what = one_line(_text(record.get("kind")), 40).replace("_", " ") or "other use"
    note = one_line(_text(record.get("note")), 200)
    cost = _cost(record)
    words = f"{what[:1].upper()}{what[1:]} · {wording.tokens(used)} tokens" + (
        f" · {wording.money(cost)}" if cost else ""
    )
    return _note("Usage", words + (f" · {note}" if note else ""))


def _custom(entry: Entry, record: Json, around: Surroundings) -> Described:
    data = record.get("data")
    if record.get("customType") == REPAIRED and isinstance(data, dict):
        repairs = [f"· {visible(repair)}" for repair in _strings(data.get("repairs"))]
        details = "\n".join([*repairs, "", "Only the request was changed; what is stored stays as it is."])
        return _note(
            "Put in order", "The history was put in order for the model", details=details, icon="check"
        )
    told = _text(data.get("text")) if isinstance(data, dict) else ""
    kind = one_line(_text(record.get("customType")), 80)
    if told:
        return _note(
            "Note", one_line(told, 300), details=visible(told[:MAX_SCANNED]) if len(told) > 300 else ""
        )
    return _note("Extension data", f"Kept for an extension: {kind or 'unnamed'}", details=_json_text(data))


def _custom_message(entry: Entry, record: Json, around: Surroundings) -> Described:
    text = text_of(record.get("content"), "\n")
    kind = one_line(_text(record.get("customType")), 80) or "extension"
    if record.get("display") is False:
        return _note(
            "From an extension",
            f"Told to the model by {kind}",
            glyph="custom",
            details=visible(text[:MAX_SCANNED]),
        )
    shown, cut = _capped(text, around.full)
    return "custom_message", {
        "name": "From an extension",
        "kind": kind,
        "html": render_markdown(visible(shown)) if shown.strip() else "",
        "images": images_of(record.get("content")),
        "more": cut,
    }


def _unknown(entry: Entry, record: Json, around: Surroundings) -> Described:
    kind = one_line(entry.kind if entry.kind != Kind.MESSAGE else entry.role or "message", 60)
    return "unknown", {
        "name": "Unknown entry",
        "kind": kind or "without a kind",
        "details": _json_text(record),
    }


def _note(
    name: str,
    words: str,
    *,
    glyph: str = "note",
    icon: str = "",
    details: str = "",
    target: int | None = None,
) -> Described:
    """One grey row; what does not fit a row opens below it."""
    return "note", {
        "name": name,
        "words": words,
        "glyph": glyph,
        "icon": icon,
        "details": details,
        "target": target,
    }


def source_of(entry: Entry) -> str:
    """The words of an entry as they were written, for copying and editing."""
    record = entry.record
    message = record.get("message")
    holder = message if isinstance(message, dict) else record
    for field in ("summary", "output"):
        if isinstance(holder.get(field), str):
            return visible(holder[field])
    separator = "\n\n" if entry.role == "assistant" else "\n"
    return visible(text_of(holder.get("content"), separator))


def _target(entry: Entry, record: Json) -> int | None:
    found = entry_log.find_by_id(entry.session_id, record.get("targetId"))
    return found.seq if found else None


def _moment(entry: Entry, record: Json) -> datetime:
    return wording.moment_of(record.get("timestamp")) or entry.created_at


def _capped(text: str, full: bool) -> tuple[str, bool]:
    limit = MAX_SCANNED if full else MAX_PROSE
    return (text, False) if len(text) <= limit else (text[:limit] + "…", not full)


def _cost(record: Json) -> float | None:
    usage = record.get("usage")
    cost = usage.get("cost") if isinstance(usage, dict) else None
    return number_of(cost.get("total")) if isinstance(cost, dict) else None


def _files(record: Json) -> Json:
    details = record.get("details")
    details = details if isinstance(details, dict) else {}
    return {
        name: [one_line(path, 200) for path in _strings(details.get(field))[:60]]
        for name, field in _FILE_FIELDS
    }


_FILE_FIELDS = (("read", "readFiles"), ("changed", "modifiedFiles"))


def _strings(value: Any) -> list[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def _json_text(value: Any) -> str:
    return excerpt(pretty(value)[:MAX_SCANNED], 200).text if value is not None else ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_ROLES: dict[str, Callable[[Entry, Json, Surroundings], Described]] = {
    "user": _user,
    "assistant": _assistant,
    "toolResult": _tool_result,
    "bashExecution": _bash_execution,
    "system": _system,
    "custom": _custom_role,
    "branchSummary": _summary_role,
    "compactionSummary": _summary_role,
}
_KINDS: dict[str, Callable[[Entry, Json, Surroundings], Described]] = {
    Kind.COMPACTION: _compaction,
    Kind.BRANCH_SUMMARY: _branch_summary,
    Kind.CONTEXT_EDIT: _context_edit,
    Kind.LABEL: _label,
    Kind.SESSION_INFO: _session_info,
    Kind.MODEL_CHANGE: _model_change,
    Kind.THINKING_LEVEL_CHANGE: _thinking_level_change,
    Kind.USAGE: _usage,
    Kind.CUSTOM: _custom,
    Kind.CUSTOM_MESSAGE: _custom_message,
}
