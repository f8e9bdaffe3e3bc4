"""Where the tools and commands of a run act: the session's folder, within the operator's bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from django.conf import settings

from sessions_app.agent.sandboxes.base import SandboxError
from sessions_app.agent.sandboxes.environment import ALLOWED
from sessions_app.agent.sandboxes.local import LocalSandbox
from sessions_app.models import Run, Session
from sessions_app.runner.execution_policy import local_execution_problem
from sessions_app.runner.providers import CannotStart


def spill_dir_of(run: Run) -> Path:
    """A folder of the run's own for long outputs, so that no run reads another's."""
    return Path(settings.SPILL_DIR) / run.marker


def open_sandbox(
    run: Run, session: Session, *, session_env: Callable[[], Mapping[str, str]] | None = None
) -> LocalSandbox:
    """Raises CannotStart with what a person can do."""
    if problem := local_execution_problem():
        raise CannotStart(problem, "execution_not_allowed")
    folder = Path(session.workspace.path)
    if not folder.is_dir():
        raise CannotStart(
            f"The folder {folder} is gone. Put it back, or start a session in another folder.",
            "missing_folder",
        )
    spill_dir = spill_dir_of(run)
    spill_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        return LocalSandbox(
            folder,
            roots=settings.TOOL_ROOTS,
            run_marker=run.marker,
            env_allow=(*ALLOWED, *settings.TOOL_ENVIRONMENT),
            session_env=session_env,
            shell=settings.TOOL_SHELL or None,
            command_prefix=settings.TOOL_COMMAND_PREFIX,
            max_timeout=settings.TOOL_MAX_SECONDS,
            spill_dir=spill_dir,
            readable=[settings.AGENT_DIR / "skills"],
            # One that has waited for a person may have left processes in the background.
            begins_run=not run.questions.exists(),
        )
    except SandboxError as error:
        raise CannotStart(str(error), "missing_folder") from error


def session_variables(session: Session) -> dict[str, str]:
    """What commands of the agent may know of their session (05 §6); nothing of it is secret."""
    return {
        "AGENTWEB_SESSION_ID": str(session.key),
        "AGENTWEB_SESSION_PROVIDER": session.provider,
        "AGENTWEB_SESSION_MODEL": session.model,
        "AGENTWEB_SESSION_THINKING": session.thinking_level,
    }
