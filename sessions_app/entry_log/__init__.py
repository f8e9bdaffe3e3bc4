"""The only code that writes an entry or moves a leaf, and the readers that cost no more in an old session."""

from __future__ import annotations

from sessions_app.entry_log.active_path import load_core_path
from sessions_app.entry_log.appending import (
    ANY_LEAF,
    METADATA_KINDS,
    LeafMoved,
    append,
    append_locked,
    append_record,
    continues,
    lock_session,
    move_leaf,
)
from sessions_app.entry_log.columns import stored_id
from sessions_app.entry_log.following import PathFollower
from sessions_app.entry_log.importing import Progress, import_records
from sessions_app.entry_log.reading import (
    Siblings,
    Trail,
    Window,
    active_path,
    common_depth,
    current_leaf,
    find_by_id,
    is_on_path,
    load_context,
    load_path,
    load_window,
    newest_below,
    path_to,
    replaced_depths,
    show_path,
    siblings,
)
from sessions_app.entry_log.removing import erase_text, remove_session

__all__ = [
    "ANY_LEAF",
    "METADATA_KINDS",
    "LeafMoved",
    "PathFollower",
    "Progress",
    "Siblings",
    "Trail",
    "Window",
    "active_path",
    "append",
    "append_locked",
    "append_record",
    "common_depth",
    "continues",
    "current_leaf",
    "erase_text",
    "find_by_id",
    "import_records",
    "is_on_path",
    "load_context",
    "load_core_path",
    "load_path",
    "load_window",
    "lock_session",
    "move_leaf",
    "newest_below",
    "path_to",
    "remove_session",
    "replaced_depths",
    "show_path",
    "siblings",
    "stored_id",
]
