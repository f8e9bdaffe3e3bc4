"""Sessions: made, named, labelled, given a model, brought in from files and taken out again."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

from django.conf import settings
from django.utils import timezone

from sessions_app import blobs, entry_log, live, provider_keys
from sessions_app.agent.models_catalogue import (
    ANTHROPIC_MODELS,
    DEMO_MODEL,
    LEVELS,
    SCRIPTED_MODEL,
    ModelInfo,
    clamp_level,
    describe_model,
)
from sessions_app.core.entries import Entry as CoreEntry
from sessions_app.core.errors import SessionError
from sessions_app.core.json_text import parse_json
from sessions_app.formats import jsonl
from sessions_app.models import Entry, Session, ToolPreset, Workspace
from sessions_app.runner import review_records
from sessions_app.services.errors import BadInput
from sessions_app.transactions import write_transaction

_LONGEST_LABEL = 200
_MOST_REPAIRS_TOLD = 20


@dataclass(frozen=True, slots=True)
class ModelChoice:
    """One line of the model picker. `value` is `provider/model`."""

    provider: str
    model: str
    label: str
    group: str
    missing_key: bool
    context_window: int
    levels: tuple[str, ...]

    @property
    def value(self) -> str:
        return f"{self.provider}/{self.model}"

    @property
    def reasoning(self) -> bool:
        return bool(self.levels)


def available_models(user: Any) -> list[ModelChoice]:
    """All models a session of this user may name, the demo model first; those without a key say so."""
    keyless = not provider_keys.credentials(user, "anthropic").usable_for("anthropic")
    own_server = provider_keys.credentials(user, "openai-compatible")
    choices = [_as_choice(DEMO_MODEL, "Offline")]
    choices += [_as_choice(model, "Anthropic", missing_key=keyless) for model in ANTHROPIC_MODELS]
    choices += [
        _as_choice(
            describe_model("openai-compatible", name), "Your server", missing_key=not own_server.base_url
        )
        for name in own_server.models
    ]
    if settings.SCRIPTED_PROVIDER_FILE:
        choices.append(_as_choice(SCRIPTED_MODEL, "Tests"))
    return choices


def _as_choice(model: ModelInfo, group: str, *, missing_key: bool = False) -> ModelChoice:
    return ModelChoice(
        model.provider, model.id, model.name, group, missing_key, model.context_window, tuple(model.levels)
    )


def default_model(user: Any) -> ModelChoice:
    """The model of this user's newest session if it still has a key, else the first with a key, else the demo model."""
    choices = available_models(user)
    usable = [choice for choice in choices if not choice.missing_key]
    newest = (
        Session.objects.filter(owner=user).order_by("-updated_at").values_list("provider", "model").first()
    )
    for choice in usable:
        if newest == (choice.provider, choice.model):
            return choice
    with_key = [choice for choice in usable if choice.provider not in provider_keys.KEYLESS]
    return with_key[0] if with_key else usable[0]


def create_session(
    *,
    workspace: Workspace,
    owner: Any,
    provider: str | None = None,
    model: str | None = None,
    thinking_level: str | None = None,
    tool_preset: str = ToolPreset.ALL,
) -> Session:
    """An empty session. Raises BadInput for a model or tools that are not there."""
    _check_preset(tool_preset)
    choice = _choice(owner, provider, model) if provider and model else default_model(owner)
    level = _clamped(thinking_level or ("medium" if choice.levels else "off"), choice)
    key = uuid.uuid4()
    return Session.objects.create(
        key=key,
        file_id=str(key),
        workspace=workspace,
        owner=owner,
        provider=choice.provider,
        model=choice.model,
        thinking_level=level,
        tool_preset=tool_preset,
    )


def choose_model(
    *, session: Session, author: Any, provider: str, model: str, thinking_level: str | None = None
) -> Session:
    """The model and thinking level of the next request; a change is an entry (04 §6). Raises BadInput."""
    choice = _choice(author, provider, model)
    with write_transaction():
        locked = entry_log.lock_session(session.pk)
        level = _clamped(thinking_level or locked.thinking_level, choice)
        if (locked.provider, locked.model) != (choice.provider, choice.model):
            fields = {"type": "model_change", "provider": choice.provider, "modelId": choice.model}
            if locked.leaf_id is not None:
                entry_log.append_locked(locked, fields, author=author)
        if locked.thinking_level != level and locked.leaf_id is not None:
            fields = {"type": "thinking_level_change", "thinkingLevel": level}
            entry_log.append_locked(locked, fields, author=author)
        Session.objects.filter(pk=locked.pk).update(
            provider=choice.provider, model=choice.model, thinking_level=level
        )
    live.notify(session.pk, "session")
    session.refresh_from_db()
    return session


def choose_tools(*, session: Session, author: Any, preset: str) -> Session:
    """What the agent may do from its next request on, also within a job. Raises BadInput."""
    _check_preset(preset)
    Session.objects.filter(pk=session.pk).update(tool_preset=preset)
    live.notify(session.pk, "session")
    session.refresh_from_db()
    return session


def _check_preset(preset: str) -> None:
    if preset not in ToolPreset.values:
        raise BadInput(f"{preset!r} is no choice of tools.", f"There are {', '.join(ToolPreset.values)}.")


def rename_session(*, session: Session, author: Any, name: str) -> Session:
    """Set or (empty) clear the name: a session_info entry (01 NM-01)."""
    tidy = " ".join(name.split())[:300]
    if tidy != session.name:
        entry_log.append(session.pk, {"type": "session_info", "name": tidy}, author=author)
        live.notify(session.pk, "session")
        session.refresh_from_db()
    return session


def set_label(*, session: Session, author: Any, entry: Entry, label: str) -> Entry:
    """Set or (empty) clear an entry's label: a label entry at the leaf (01 LB-01)."""
    if entry.session_id != session.pk:
        raise BadInput("That entry belongs to another session.")
    tidy = " ".join(label.split())
    if len(tidy) > _LONGEST_LABEL:
        raise BadInput(f"A label has at most {_LONGEST_LABEL} characters.")
    fields: dict[str, Any] = {"type": "label", "targetId": entry.entry_id}
    if tidy:
        fields["label"] = tidy
    written = entry_log.append(session.pk, fields, author=author)
    live.notify(session.pk, "leaf", seq=written.seq)
    return written


def import_session_text(
    *,
    workspace: Workspace,
    owner: Any,
    text: jsonl.Source,
    name: str = "",
    key: str = "",
    progress: entry_log.Progress | None = None,
    repaired: Callable[[str], None] = lambda sentence: None,
) -> Session:
    """A session from the text of a session file, all branches (01 SF-*). Raises BadInput naming the line.

    `progress` is told how many of all entries are written; with a `key`, `import_progress` tells it too. `repaired` is
    told afterwards, in a sentence each, what was mended in the file or passed over.
    """
    if key:
        progress = partial(live.tell_progress, f"{owner.pk}:{key}")
    try:
        file = jsonl.read_session(text, lambda: uuid.uuid4().hex[:8], accept_byte_order_mark=True)
        session = import_session_file(workspace=workspace, owner=owner, file=file, progress=progress)
    except SessionError as error:
        raise BadInput(f"{name or 'This file'} is not a session that can be opened: {error}") from error
    for sentence in _told_repairs(file):
        repaired(sentence)
    return session


def _told_repairs(file: jsonl.SessionFile) -> Iterator[str]:
    """The first of them by their lines; and that a file held nothing, or is of a version nobody knows yet."""
    if file.header is None:
        yield "The file is empty: the session is a new one."
    if file.version > jsonl.CURRENT_VERSION:
        yield f"The file is of version {file.version:g}, newer than {jsonl.CURRENT_VERSION}: it is read as it is."
    for repair in file.repairs[:_MOST_REPAIRS_TOLD]:
        yield f"Line {repair.line}: {repair.what}."
    if (more := len(file.repairs) - _MOST_REPAIRS_TOLD) > 0:
        yield f"And {more} more."


def import_progress(user: Any, key: str) -> tuple[int, int] | None:
    """How many entries of how many are written of the import that this user gave the key; None: not known (yet)."""
    return live.progress_of(f"{user.pk}:{key}")


def import_session_file(
    *,
    workspace: Workspace,
    owner: Any,
    file: jsonl.SessionFile,
    progress: entry_log.Progress | None = None,
) -> Session:
    """The rows of a session file that has been read, in one transaction. Raises CyclicTree."""
    choice = default_model(owner)
    with write_transaction():
        session = Session.objects.create(
            file_id=entry_log.stored_id(file.session_id or str(uuid.uuid4())),
            header=file.header_line or "",
            workspace=workspace,
            owner=owner,
            provider=choice.provider,
            model=choice.model,
            created_at=timezone.now(),
        )
        entry_log.import_records(session, file.entries, file.lines, progress=progress)
        review_records.record_imported(session)
    return session


def export_session_text(*, session: Session, whole: bool = False) -> str:
    """The active branch as a session file, re-chained (01 IO-01), or with `whole` all entries as they were written."""
    if whole:
        rows = list(session.entries.order_by("seq"))
        cores = [_with_images(row) for row in rows]
        lines = [
            row.payload if core.record == row.record else None for row, core in zip(rows, cores, strict=True)
        ]
        return "".join(jsonl.write_session(session.header or _header(session), cores, lines))
    path = entry_log.path_to(session.leaf) if session.leaf else []
    return "".join(jsonl.write_branch(_header(session), [_with_images(row) for row in path]))


def exported_entries(*, session: Session) -> tuple[dict[str, Any], list[tuple[CoreEntry, int | None]]]:
    """The header and all entries in the order of writing, images inlined, each with its parent's seq (01 IO-02).

    Raises BadInput when nothing has been said yet.
    """
    rows = list(session.entries.select_related("parent").order_by("seq"))
    if not rows:
        raise BadInput("There is nothing to export yet.", "Say something first.")
    header = _parsed_header(session)
    return header, [(_with_images(row), row.parent.seq if row.parent else None) for row in rows]


def _parsed_header(session: Session) -> dict[str, Any]:
    """The imported header if it can be read, else our own."""
    try:
        header = parse_json(session.header)
    except ValueError:
        header = None
    return header if isinstance(header, dict) else _header(session)


def _header(session: Session) -> dict[str, Any]:
    started = session.created_at.strftime("%Y-%m-%dT%H:%M:%S.000Z")
    return jsonl.new_header(session.file_id, started, session.workspace.path)


def _with_images(row: Entry) -> CoreEntry:
    core = row.as_core()
    if core.message is None:
        return core
    inlined = blobs.inline_images([core.message], session_pk=row.session_id)[0]
    return core if inlined is core.message else type(core)({**core.record, "message": inlined}, core.seq)


def _choice(user: Any, provider: str, model: str) -> ModelChoice:
    for choice in available_models(user):
        if (choice.provider, choice.model) == (provider, model):
            return choice
    raise BadInput(f"There is no model {model!r} of {provider!r} here.", "Choose one from the list.")


def _clamped(level: str, choice: ModelChoice) -> str:
    """The next level up that the model knows, else the next one down (04 §6)."""
    if level not in LEVELS:
        raise BadInput(f"{level!r} is no thinking level.", f"There are {', '.join(LEVELS)}.")
    return clamp_level(level, describe_model(choice.provider, choice.model))
