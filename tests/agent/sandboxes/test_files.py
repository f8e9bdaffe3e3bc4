"""Files can be reached inside the roots only, by whatever path they are named."""

from __future__ import annotations

import errno
import os
import shutil
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from sessions_app.agent.sandboxes import file_errors
from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.sandboxes.rooted_files import RootedFiles
from sessions_app.agent.stop import StopSignal
from tests.agent.sandboxes.workspace import Workspace


def code_of(call: object, *arguments: object) -> str:
    with pytest.raises(SandboxError) as caught:
        call(*arguments)  # type: ignore[operator]
    return caught.value.code


@pytest.mark.parametrize(
    "named", ["a.txt", "./a.txt", "@a.txt", "sub/../a.txt", "file://{cwd}/a.txt", "{cwd}/a.txt"]
)
def test_a_file_of_the_workspace_is_found_by_every_way_to_name_it(workspace: Workspace, named: str) -> None:
    """05 §2.1."""
    path = workspace.file("a.txt", "x")
    assert workspace.sandbox().resolve(named.format(cwd=workspace.folder)) == path


def test_the_home_folder_can_be_named_with_a_tilde(
    workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """05 §2.1."""
    monkeypatch.setenv("HOME", str(workspace.folder))
    path = workspace.file("a.txt", "x")
    assert workspace.sandbox().resolve("~/a.txt") == path
    assert workspace.sandbox().resolve("~") == workspace.folder


def test_unicode_spaces_stand_for_plain_ones_and_literal_names_come_first(workspace: Workspace) -> None:
    """05 §2.1."""
    plain, literal = workspace.file("a b.txt"), workspace.file("@types/c\u00a0d.txt")
    assert workspace.sandbox().resolve("a\u00a0b.txt") == plain
    assert workspace.sandbox().resolve("@types/c\u00a0d.txt") == literal


def test_percent_signs_are_decoded_in_addresses_only(workspace: Workspace) -> None:
    path = workspace.file("a b.txt")
    assert workspace.sandbox().resolve(f"file://{workspace.folder}/a%20b.txt") == path
    assert workspace.sandbox().resolve("..%2fx") == workspace.folder / "..%2fx"


@pytest.mark.parametrize(
    "named",
    [
        "../secret",
        "/etc/passwd",
        "a/../../secret",
        "~/secret",
        "file:///etc/passwd",
        "file://host/x",
        "link",
        "link/x",
        "/",
    ],
)
def test_whatever_lies_outside_is_refused(workspace: Workspace, named: str) -> None:
    """B53."""
    workspace.file("a/x")
    (workspace.folder.parent / "secret").write_text("s")
    (workspace.folder / "link").symlink_to(workspace.folder.parent)
    assert code_of(workspace.sandbox().resolve, named) == "outside"


@pytest.mark.parametrize("call", ["open_read", "stat", "list_dir", "read_bytes"])
@pytest.mark.parametrize("named", ["../secret", "/etc/passwd", "link/secret", "a/../.."])
def test_no_call_takes_a_path_outside_even_unresolved(workspace: Workspace, call: str, named: str) -> None:
    (workspace.folder.parent / "secret").write_text("s")
    (workspace.folder / "link").symlink_to(workspace.folder.parent)
    assert code_of(getattr(workspace.sandbox(), call), workspace.folder / named) == "outside"
    assert code_of(workspace.sandbox().write_bytes, workspace.folder / named, b"") == "outside"


@pytest.mark.parametrize("named", ["", " ", "a\0b"])
def test_an_impossible_path_is_refused(workspace: Workspace, named: str) -> None:
    with pytest.raises(SandboxError):
        workspace.sandbox().resolve(named)


def test_further_roots_of_the_operator_may_be_used(workspace: Workspace, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    sandbox = LocalSandbox(workspace.folder, [shared], run_marker=workspace.marker)
    sandbox.write_bytes(sandbox.resolve(f"{shared}/x"), b"1")
    assert sandbox.read_bytes(shared / "x") == b"1"
    assert code_of(sandbox.resolve, f"{shared}-other/x") == "outside"


def test_links_inside_are_followed_and_writing_keeps_them(workspace: Workspace) -> None:
    target = workspace.file("real/a.txt", "old")
    (workspace.folder / "link.txt").symlink_to("real/a.txt")
    sandbox = workspace.sandbox()
    sandbox.write_bytes(sandbox.resolve("link.txt"), b"new")
    assert target.read_text() == "new"
    assert (workspace.folder / "link.txt").is_symlink()


def test_a_link_that_appears_between_check_and_use_is_not_followed(workspace: Workspace) -> None:
    """B53."""
    secret = workspace.folder.parent / "outside"
    secret.mkdir()
    (secret / "a.txt").write_text("secret")
    workspace.file("sub/a.txt", "mine")
    (workspace.folder / "alias").symlink_to("sub")

    class Swapping(RootedFiles):
        def real(self, path: Path) -> Path:
            checked = super().real(path)
            (workspace.folder / "sub").rename(workspace.folder / "moved")
            (workspace.folder / "sub").symlink_to(secret)
            return checked

    with pytest.raises(SandboxError):
        Swapping([workspace.folder]).open_read(workspace.folder / "alias/a.txt")
    (workspace.folder / "sub").unlink()
    (workspace.folder / "moved").rename(workspace.folder / "sub")
    with pytest.raises(SandboxError):
        Swapping([workspace.folder]).write(workspace.folder / "alias/a.txt", b"mine")
    assert (secret / "a.txt").read_text() == "secret"


def test_links_swapped_all_the_time_never_show_what_lies_outside(workspace: Workspace) -> None:
    """B53."""
    secret = workspace.folder.parent / "secret.txt"
    secret.write_text("secret")
    inside, moving = workspace.file("inside.txt", "mine"), workspace.folder / "moving.txt"
    over = threading.Event()

    def swap() -> None:
        spare = workspace.folder / "spare"
        while not over.is_set():
            for target in (inside, secret):
                spare.symlink_to(target)
                spare.rename(moving)

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        until = time.monotonic() + 0.5
        while time.monotonic() < until:
            try:
                seen.add(workspace.sandbox().read_bytes(moving))
            except SandboxError:
                continue
    finally:
        over.set()
        swapping.join()
    assert b"secret" not in seen


def test_special_files_are_refused_without_waiting(workspace: Workspace) -> None:
    os.mkfifo(workspace.folder / "pipe")
    listening = socket.socket(socket.AF_UNIX)
    try:
        listening.bind(str(workspace.folder / "socket"))
        started = time.monotonic()
        for name in ("pipe", "socket"):
            assert code_of(workspace.sandbox().open_read, workspace.folder / name) == "special"
            assert code_of(workspace.sandbox().write_bytes, workspace.folder / name, b"") == "special"
        assert time.monotonic() - started < 5
    finally:
        listening.close()
    devices = LocalSandbox(workspace.folder, [Path("/dev")], run_marker=workspace.marker)
    assert code_of(devices.open_read, Path("/dev/zero")) == "special"
    assert code_of(devices.write_bytes, Path("/dev/null"), b"") == "special"


def test_folders_and_missing_files_are_named_as_such(workspace: Workspace) -> None:
    workspace.file("a/b.txt")
    sandbox = workspace.sandbox()
    assert code_of(sandbox.open_read, workspace.folder / "a") == "is_a_directory"
    assert code_of(sandbox.write_bytes, workspace.folder / "a", b"") == "is_a_directory"
    assert code_of(sandbox.open_read, workspace.folder / "zz") == "missing"
    assert code_of(sandbox.open_read, workspace.folder / "a/b.txt/c") == "not_a_directory"
    assert code_of(sandbox.list_dir, workspace.folder / "a/b.txt") == "not_a_directory"
    assert sandbox.stat(workspace.folder / "a/b.txt/c") is None
    (workspace.folder / "circle").symlink_to("circle")
    with pytest.raises(SandboxError):
        sandbox.open_read(workspace.folder / "circle")


def test_writing_makes_folders_and_keeps_the_mode(workspace: Workspace) -> None:
    sandbox = workspace.sandbox()
    sandbox.write_bytes(workspace.folder / "new/deep/run.sh", b"1")
    path = workspace.folder / "new/deep/run.sh"
    path.chmod(0o751)
    sandbox.write_bytes(path, b"2")
    assert path.read_bytes() == b"2"
    assert stat.S_IMODE(path.stat().st_mode) == 0o751
    assert os.listdir(path.parent) == ["run.sh"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other() -> None:
    """In a process of its own: the limit for file sizes is one of the whole process."""
    program = """
import os, resource, sys, tempfile
from pathlib import Path
from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.local import LocalSandbox
folder = Path(tempfile.mkdtemp())
(folder / "a").write_bytes(b"old")
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    LocalSandbox(folder, run_marker="x").write_bytes(folder / "a", b"n" * 5000)
except SandboxError as error:
    print(error.code, (folder / "a").read_bytes().decode(), *os.listdir(folder))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "too_large old a\n", done.stderr


def test_a_folder_that_may_not_be_written_is_named() -> None:
    """As somebody who is not the superuser, who may write everything."""
    program = """
import os, tempfile
from pathlib import Path
from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.local import LocalSandbox
folder = Path(tempfile.mkdtemp())
(folder / "closed").mkdir()
(folder / "closed" / "a").write_text("x")
(folder / "secret").write_text("x")
os.chmod(folder, 0o755)
os.chmod(folder / "closed", 0o555)
os.chmod(folder / "secret", 0o000)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
sandbox = LocalSandbox(folder, run_marker="x")
for call, arguments in (
    (sandbox.write_bytes, (folder / "closed/a", b"")),
    (sandbox.write_bytes, (folder / "closed/new/b", b"")),
    (sandbox.open_read, (folder / "secret",)),
):
    try:
        call(*arguments)
    except SandboxError as error:
        print(error.code, "server's user" in str(error))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stdout == "denied True\n" * 3, done.stderr


@pytest.mark.parametrize(
    ("number", "code", "remedy"),
    [
        (errno.ENOSPC, "full", "delete something"),
        (errno.EDQUOT, "full", "delete something"),
        (errno.EROFS, "read_only", "choose a place"),
        (errno.EACCES, "denied", "permissions"),
        (errno.EIO, "error", "could not be used"),
    ],
)
def test_the_systems_errors_are_named_with_a_remedy(number: int, code: str, remedy: str) -> None:
    error = file_errors.in_words(OSError(number, os.strerror(number)), "/w/a")
    assert error.code == code
    assert "'/w/a'" in str(error)
    assert remedy in str(error)


def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    """On a tiny file system where one can be mounted, else on the device that is always full."""
    program = f"""
import os
from pathlib import Path
from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.local import LocalSandbox
folder = Path({str(tmp_path)!r})
(folder / "a").write_bytes(b"old")
try:
    LocalSandbox(folder, run_marker="x").write_bytes(folder / "a", b"n" * 500_000)
except SandboxError as error:
    print(error.code, (folder / "a").read_bytes().decode(), *os.listdir(folder))
"""
    mounted = f'mount -t tmpfs -o size=128k tmpfs {tmp_path} && exec {sys.executable} -c "$0"'
    if shutil.which("unshare") is not None:
        done = subprocess.run(
            ["unshare", "-m", "sh", "-c", mounted, program], capture_output=True, text=True, check=False
        )
        if done.returncode == 0:
            assert done.stdout == "full old a\n", done.stderr
            return
    with pytest.raises(OSError) as caught, open("/dev/full", "wb", buffering=0) as full:
        full.write(b"x")
    assert file_errors.in_words(caught.value, "x").code == "full"


def test_long_outputs_can_be_read_but_not_changed(workspace: Workspace) -> None:
    sandbox = workspace.sandbox()
    file, path = sandbox.new_output_file()
    with file:
        file.write(b"all of it")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sandbox.read_bytes(sandbox.resolve(str(path))) == b"all of it"
    assert code_of(sandbox.write_bytes, path, b"") == "denied"


def test_a_sandbox_without_a_folder_for_outputs_makes_a_private_one(workspace: Workspace) -> None:
    sandbox = LocalSandbox(workspace.folder, run_marker=workspace.marker)
    file, path = sandbox.new_output_file()
    file.close()
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert sandbox.read_bytes(path) == b""
    path.unlink()
    path.parent.rmdir()


def test_walking_leaves_out_what_ignore_files_say(workspace: Workspace) -> None:
    for name in (
        "keep.py", "drop.log", ".hidden", "build/out.o", "src/a.py", "src/gen/x.py", "src/anchored.txt",
        "other/anchored.txt", "logs/important.log", "logs/other.log", ".git/config", "src/.git", "vendor/deep/y",
    ):  # fmt: skip
        workspace.file(name)
    workspace.file(".gitignore", "*.log\n/build/\nvendor/*\n!vendor/deep\n[bad\n")
    workspace.file("src/.gitignore", "/anchored.txt\ngen\n")
    workspace.file("logs/.gitignore", "!important.log\n")
    (workspace.folder / "loop").symlink_to(".")
    found = [
        path.relative_to(workspace.folder).as_posix() + "/" * is_dir
        for path, is_dir in workspace.sandbox().walk(workspace.folder, StopSignal())
    ]
    assert found == [
        ".gitignore", ".hidden", "keep.py", "logs/", "logs/.gitignore", "logs/important.log", "loop", "other/",
        "other/anchored.txt", "src/", "src/.gitignore", "src/a.py", "vendor/", "vendor/deep/", "vendor/deep/y",
    ]  # fmt: skip


def test_rules_from_above_the_searched_folder_count_unless_it_is_ignored_itself(workspace: Workspace) -> None:
    workspace.file(".gitignore", "*.log\nvendor\n")
    for name in ("src/a.log", "src/a.py", "vendor/a.log", "vendor/a.py"):
        workspace.file(name)
    sandbox = workspace.sandbox()

    def below(name: str) -> list[str]:
        return [path.name for path, _ in sandbox.walk(workspace.folder / name, StopSignal())]

    assert below("src") == ["a.py"]
    assert below("vendor") == ["a.log", "a.py"]


def test_rules_from_above_the_workspace_do_not_count(workspace: Workspace) -> None:
    (workspace.folder.parent / ".gitignore").write_text("*\n")
    workspace.file("a.py")
    assert [path.name for path, _ in workspace.sandbox().walk(workspace.folder, StopSignal())] == ["a.py"]


def test_a_hostile_ignore_file_costs_no_time(workspace: Workspace) -> None:
    workspace.file(".gitignore", "*a" * 30 + "b\n" + "**/" * 40 + "x\n" + "*.log\n")
    workspace.file("a" * 200)
    workspace.file("a.log")
    started = time.monotonic()
    found = [path.name for path, _ in workspace.sandbox().walk(workspace.folder, StopSignal())]
    assert found == [".gitignore", "a" * 200]
    assert time.monotonic() - started < 5


def test_walking_ends_with_a_stop(workspace: Workspace) -> None:
    for number in range(5):
        workspace.file(f"{number}")
    stop = StopSignal()
    walking = workspace.sandbox().walk(workspace.folder, stop)
    next(walking)
    stop.request()
    assert list(walking) == []
