"""Folders in which agents work: added within the operator's roots, listed, looked at."""

from __future__ import annotations

import difflib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from django.conf import settings

from sessions_app.models import Membership, Workspace
from sessions_app.services.errors import BadInput, NotAllowed, Unavailable
from sessions_app.transactions import write_transaction

_MOST_FOLDERS = 500


@dataclass(frozen=True, slots=True)
class FolderListing:
    """A folder within the roots: its real path, its parent if that is within them too, its subfolders' names, how
    many of them are not given, and how many things it holds in all."""

    path: str
    parent: str
    folders: list[str]
    allowed: bool
    more: int = 0
    items: int = 0


class NoSuchFolder(BadInput):
    """There is nothing at that path, so a folder can be made there. `path`: the real one."""

    def __init__(self, path: Path, remedy: str) -> None:
        super().__init__(f"No such folder: {path}.", remedy)
        self.path = path


def add_workspace(
    *, user: Any, path: str, name: str = "", create: bool = False, by_operator: bool = False
) -> Workspace:
    """The workspace of a folder, made when there is none; the user becomes its admin.

    A folder that others work in already can only be joined by their invitation. `by_operator`: the operator named
    it on the command line, so it need not lie within the roots. Raises BadInput, NotAllowed, Unavailable.
    """
    folder = _real_folder(path, create=create, anywhere=by_operator)
    with write_transaction():
        existing = Workspace.objects.filter(path=str(folder)).first()
        if existing is not None:
            if Workspace.objects.visible_to(user).filter(pk=existing.pk).exists():
                return existing
            raise NotAllowed(
                f"{folder} is a workspace of somebody else.", "Ask one of its admins to add you to it."
            )
        workspace = Workspace.objects.create(
            name=(name.strip() or folder.name or str(folder))[:120], path=str(folder)
        )
        Membership.objects.create(workspace=workspace, user=user, role=Membership.Role.ADMIN)
    return workspace


def list_folders(path: str = "") -> FolderListing:
    """The subfolders of a folder within the roots; with no path, the first root. Raises BadInput, NotAllowed."""
    wanted = _expanded(path or str(settings.WORKSPACE_ROOTS[0]))
    if not _within_roots(wanted):
        raise _outside(wanted)
    folder = _existing_folder(wanted)
    try:
        with os.scandir(folder) as found:
            items = list(found)
        names = sorted(
            (item.name for item in items if not item.name.startswith(".") and item.is_dir()),
            key=str.casefold,
        )
    except PermissionError as error:
        raise BadInput(f"The server may not read {folder}.") from error
    parent = folder.parent
    return FolderListing(
        str(folder),
        str(parent) if parent != folder and _within_roots(parent) else "",
        names[:_MOST_FOLDERS],
        allowed=True,
        more=max(0, len(names) - _MOST_FOLDERS),
        items=len(items),
    )


def folder_problem(workspace: Workspace) -> str:
    """What is wrong with a workspace's folder right now; empty when nothing is."""
    folder = Path(workspace.path)
    if not folder.exists():
        return f"The folder {folder} is gone. Put it back, or work in another folder."
    if not folder.is_dir():
        return f"{folder} is not a folder any more."
    if not os.access(folder, os.R_OK | os.X_OK):
        return f"The server may not read {folder}."
    if not os.access(folder, os.W_OK):
        return f"{folder} is read-only: agents can look, but change nothing."
    return ""


def _real_folder(path: str, *, create: bool, anywhere: bool) -> Path:
    wanted = _expanded(path)
    if not anywhere and not _within_roots(wanted):
        raise _outside(wanted)
    if not wanted.exists() and create:
        try:
            wanted.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Unavailable(f"{wanted} can't be made: {error.strerror}.") from error
    return _existing_folder(wanted)


def _existing_folder(wanted: Path) -> Path:
    if not wanted.exists():
        raise NoSuchFolder(wanted, _suggestion(wanted))
    if not wanted.is_dir():
        raise BadInput(f"{wanted} is a file, not a folder.", f"Its folder is {wanted.parent}.")
    return wanted


def _expanded(path: str) -> Path:
    """The real path, links followed: what counts is where a folder is, not what it is called."""
    text = path.strip()
    if not text:
        raise BadInput("Name a folder.")
    if "\0" in text:
        raise BadInput("A path can't hold a NUL character.")
    try:
        expanded = Path(text).expanduser()
        if not expanded.is_absolute():
            expanded = settings.WORKSPACE_ROOTS[0] / expanded
        return expanded.resolve()
    except (OSError, RuntimeError) as error:
        raise BadInput(f"{text} is not a path on this machine.") from error


def _within_roots(folder: Path) -> bool:
    return any(folder.is_relative_to(root) for root in settings.WORKSPACE_ROOTS)


def _outside(folder: Path) -> NotAllowed:
    roots = ", ".join(str(root) for root in settings.WORKSPACE_ROOTS)
    return NotAllowed(
        f"{folder} is outside the folders this server may use ({roots}).",
        "The operator sets them with AGENTWEB_ROOTS.",
    )


def _suggestion(wanted: Path) -> str:
    parent = wanted.parent
    while not parent.is_dir():
        parent = parent.parent
    try:
        names = [item.name for item in parent.iterdir() if item.is_dir()]
    except OSError:
        return ""
    missing = wanted.relative_to(parent).parts[0]
    close = difflib.get_close_matches(missing, names, n=1, cutoff=0.6)
    return f"Did you mean {parent / close[0]}?" if close else f"{parent} exists."
