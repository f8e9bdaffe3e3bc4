"""What each address does, by the name it has in `urls.py`."""

from __future__ import annotations

from sessions_app.views.accounts import login, login_link, logout, password
from sessions_app.views.blobs import session_blob
from sessions_app.views.branches import clone, copy_to_folder, fork, hide, omit, pin
from sessions_app.views.changes import changed_file, file_diff, session_changes
from sessions_app.views.compaction import compact, compaction_problem, replaced
from sessions_app.views.compare import carry, session_compare
from sessions_app.views.entries import edit_and_branch, entry, label, navigate
from sessions_app.views.exports import session_export
from sessions_app.views.health import health, version
from sessions_app.views.history import company, session_history, session_print
from sessions_app.views.home import palette, session_list, welcome
from sessions_app.views.keys import provider_keys
from sessions_app.views.questions import answer_question, choose_tools
from sessions_app.views.reviews import (
    approve_reviews,
    attempt_act,
    attempt_coverage,
    attempt_review,
    compaction_review,
    export_reviews,
    review_act,
    review_coverage,
    review_list_page,
)
from sessions_app.views.sessions import (
    choose_model,
    continue_run,
    edit_queued,
    import_progress,
    rename_session,
    session,
    session_import,
    session_new,
    session_older,
    stop_commands,
    stop_run,
    submit_prompt,
    undo,
)
from sessions_app.views.shelf import erase, put_away, shelved
from sessions_app.views.tree import entry_details, mark_outcome, session_tree, tree_window
from sessions_app.views.workspace_files import file_names, keep_files
from sessions_app.views.workspaces import folder_listing, workspace_add

__all__ = [
    "answer_question",
    "approve_reviews",
    "attempt_act",
    "attempt_coverage",
    "attempt_review",
    "carry",
    "changed_file",
    "choose_model",
    "choose_tools",
    "clone",
    "compact",
    "compaction_problem",
    "compaction_review",
    "company",
    "continue_run",
    "copy_to_folder",
    "edit_and_branch",
    "edit_queued",
    "entry",
    "entry_details",
    "erase",
    "export_reviews",
    "file_diff",
    "file_names",
    "folder_listing",
    "fork",
    "health",
    "hide",
    "import_progress",
    "keep_files",
    "label",
    "login",
    "login_link",
    "logout",
    "mark_outcome",
    "navigate",
    "omit",
    "palette",
    "password",
    "pin",
    "provider_keys",
    "put_away",
    "rename_session",
    "replaced",
    "review_act",
    "review_coverage",
    "review_list_page",
    "session",
    "session_blob",
    "session_changes",
    "session_compare",
    "session_export",
    "session_history",
    "session_import",
    "session_list",
    "session_new",
    "session_older",
    "session_print",
    "session_tree",
    "shelved",
    "stop_commands",
    "stop_run",
    "submit_prompt",
    "tree_window",
    "undo",
    "version",
    "welcome",
    "workspace_add",
]
