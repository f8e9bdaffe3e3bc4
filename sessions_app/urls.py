"""The addresses of pages and commands; each leads to the view of the same name."""

from __future__ import annotations

from django.urls import include, path

from sessions_app import views

session_urls = [
    path("", views.session, name="session"),
    path("older/", views.session_older, name="session_older"),
    path("prompt/", views.submit_prompt, name="submit_prompt"),
    path("stop/", views.stop_run, name="stop_run"),
    path("commands/stop/", views.stop_commands, name="stop_commands"),
    path("continue/", views.continue_run, name="continue_run"),
    path("model/", views.choose_model, name="choose_model"),
    path("tools/", views.choose_tools, name="choose_tools"),
    path("questions/<int:id>/", views.answer_question, name="answer_question"),
    path("name/", views.rename_session, name="rename_session"),
    path("changes/", views.session_changes, name="session_changes"),
    path("changes/diff/", views.file_diff, name="file_diff"),
    path("changes/file/", views.changed_file, name="changed_file"),
    path("company/", views.company, name="company"),
    path("history/", views.session_history, name="session_history"),
    path("print/", views.session_print, name="session_print"),
    path("files/", views.file_names, name="file_names"),
    path("files/keep/", views.keep_files, name="keep_files"),
    path("queue/<int:id>/", views.edit_queued, name="edit_queued"),
    path("entries/<int:seq>/", views.entry, name="entry"),
    path("entries/<int:seq>/go/", views.navigate, name="navigate"),
    path("entries/<int:seq>/branch/", views.edit_and_branch, name="edit_and_branch"),
    path("entries/<int:seq>/label/", views.label, name="label"),
    path("entries/<int:seq>/pin/", views.pin, name="pin"),
    path("entries/<int:seq>/omit/", views.omit, name="omit"),
    path("entries/<int:seq>/replaced/", views.replaced, name="replaced"),
    path("compact/", views.compact, name="compact"),
    path("compact/problem/", views.compaction_problem, name="compaction_problem"),
    path("fork/", views.fork, name="fork"),
    path("clone/", views.clone, name="clone"),
    path("undo/", views.undo, name="undo"),
    path("tree/", views.session_tree, name="session_tree"),
    path("compare/", views.session_compare, name="session_compare"),
    path("compare/carry/", views.carry, name="carry"),
    path("tree/window/", views.tree_window, name="tree_window"),
    path("entries/<int:seq>/details/", views.entry_details, name="entry_details"),
    path("entries/<int:seq>/outcome/", views.mark_outcome, name="mark_outcome"),
    path("export/", views.session_export, name="session_export"),
    path("blobs/<str:sha>/<path:name>", views.session_blob, name="session_blob"),
]

urlpatterns = [
    path("", views.session_list, name="session_list"),
    path("login/", views.login, name="login"),
    path("login/<str:token>/", views.login_link, name="login_link"),
    path("logout/", views.logout, name="logout"),
    path("password/", views.password, name="password"),
    path("welcome/", views.welcome, name="welcome"),
    path("workspaces/new/", views.workspace_add, name="workspace_add"),
    path("workspaces/folders/", views.folder_listing, name="folder_listing"),
    path("keys/", views.provider_keys, name="provider_keys"),
    path("palette/", views.palette, name="palette"),
    path("health/", views.health, name="health"),
    path("version/", views.version, name="version"),
    path("s/new/", views.session_new, name="session_new"),
    path("s/import/", views.session_import, name="session_import"),
    path("s/<uuid:key>/", include(session_urls)),
]
