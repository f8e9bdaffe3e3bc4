"""What of the server's environment a command gets to see."""

from __future__ import annotations

import os
import sys

from sessions_app.agent.sandboxes.environment import ALLOWED, command_environment

SERVER = {"PATH": "/usr/bin:/bin", "HOME": "/home/a", "SECRET_KEY": "k", "OPENAI_API_KEY": "k", "LC_ALL": "C"}


def test_only_allowed_variables_pass() -> None:
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
