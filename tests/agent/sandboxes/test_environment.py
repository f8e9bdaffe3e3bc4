"""What of the server's environment a command gets to see."""

from __future__ import annotations

import os
import subprocess
import sys

from sessions_app.agent.sandboxes.environment import ALLOWED, command_environment

SERVER = {"PATH": "/usr/bin:/bin", "HOME": "/home/a", "SECRET_KEY": "k", "OPENAI_API_KEY": "k", "LC_ALL": "C"}


def test_only_allowed_variables_pass() -> None:
    """08 IS-05."""
    seen = command_environment(ALLOWED, {}, server=SERVER)
    assert seen["HOME"] == "/home/a"
    assert seen["LC_ALL"] == "C"
    assert "k" not in seen.values()


def test_the_operator_may_allow_more() -> None:
    assert command_environment([*ALLOWED, "SECRET_KEY"], {}, server=SERVER)["SECRET_KEY"] == "k"


def test_without_a_path_a_usual_one_is_given() -> None:
    assert "/usr/bin" in command_environment(ALLOWED, {}, server={})["PATH"]


def test_the_servers_own_virtual_environment_is_not_on_the_path() -> None:
    own = os.path.join(sys.prefix, "bin")
    path = command_environment(ALLOWED, {}, server={"PATH": f"{own}:/usr/bin"})["PATH"]
    assert path == ("/usr/bin" if sys.prefix != sys.base_prefix else f"{own}:/usr/bin")


def test_a_command_cannot_read_the_environment_of_the_process_that_runs_it() -> None:
    """As somebody who is not the superuser, who may read everything."""
    program = """
import os, tempfile
from pathlib import Path
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.agent.stop import StopSignal
folder = Path(tempfile.mkdtemp())
os.chmod(folder, 0o755)
if os.getuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
heard = []
command = "cat /proc/$PPID/environ; cat /proc/$PPID/maps; cat /proc/$$/environ | tr '\\\\0' '\\\\n' | grep -c AI_AGENT"
sandbox = LocalSandbox(folder, run_marker="x")
sandbox.exec(command, stop=StopSignal(), on_data=heard.append)
print(b"".join(heard).decode())
"""
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PROVIDER_KEY": "sk-secret"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "sk-secret" not in done.stdout
    assert done.stdout.count("Permission denied") == 2, done.stdout + done.stderr
    assert "\n1\n" in done.stdout
