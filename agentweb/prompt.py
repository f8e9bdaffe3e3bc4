"""`agentweb prompt`: one prompt through the running server, or through a broker and worker of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from agentweb.data_directory import OFFERED, chosen_directory, running_server
from agentweb.preparation import set_up_django, try_broker
from agentweb.problems import ASKS, BUSY, CEILING, FAILED, NOT_AVAILABLE, STOPPED, USAGE, Problem
from agentweb.supervisor import Options, Supervisor, uses_external_broker

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from agentweb.following import Follower
    from sessions_app.models import Session, Workspace
    from sessions_app.services.runs import Submission
    from sessions_app.services.sessions import ModelChoice

# A server that has just been started needs a while.
BROKER_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked on the command line; `session`, `model` and `tools` empty: a new one, the usual ones."""

    text: str
    workspace: str = ""
    session: str = ""
    model: str = ""
    tools: str = ""
    queue: bool = False
    as_json: bool = False


def prompt(request: Request) -> int:
    """Sends it, prints what comes, returns the exit code of `agentweb prompt`."""
    if not request.text.strip():
        raise Problem("The prompt is empty.", 'Say what should be done: agentweb prompt "…"', code=USAGE)
    interruption = Interruption()
    with interruption.watching(), working_server(interruption):
        return submit_and_follow(request, interruption)


class Interruption:
    """Ctrl-C or SIGTERM: noticed by whoever waits; the second one ends the command on the spot."""

    def __init__(self) -> None:
        self.wanted = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        if self.wanted:
            raise KeyboardInterrupt
        self.wanted = True

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        before = {number: signal.signal(number, self) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


@contextlib.contextmanager
def working_server(interruption: Interruption) -> Iterator[None]:
    """Until the end of the block there are a migrated database, a broker and a worker; Django is set up."""
    data = chosen_directory()
    server = running_server(data)
    if server is not None and not server.port:
        raise Problem(
            f"Another `agentweb prompt` works in {str(data)!r} (process {server.pid}).",
            "Wait for it, or start `agentweb up`, which serves many at once.",
        )
    if server is not None:
        # Which models there are is the server's to say: its environment, not this terminal's.
        for name in OFFERED:
            os.environ.pop(name, None)
        os.environ.update(server.offers)
    if server is not None or uses_external_broker():
        set_up_django()
        wait_for_broker(interruption)
        yield
        return
    with own_worker(data, interruption):
        set_up_django()
        yield


def wait_for_broker(interruption: Interruption) -> None:
    from django.conf import settings

    deadline = time.monotonic() + BROKER_SECONDS
    while True:
        try:
            try_broker(settings.REDIS_URL)
        except Problem:
            if interruption.wanted or time.monotonic() > deadline:
                raise
            time.sleep(0.3)
        else:
            return


@contextlib.contextmanager
def own_worker(data: Path, interruption: Interruption) -> Iterator[None]:
    """What `agentweb up` starts, without pages, in a thread of its own for as long as the block lasts."""
    supervisor = Supervisor(Options(data=data, web=False), say=lambda line: print(line, file=sys.stderr))
    problems: list[BaseException] = []
    ready = threading.Event()

    def supervise() -> None:
        try:
            supervisor.run(ready.set)
        except BaseException as error:  # noqa: BLE001  (raised again in the main thread)
            problems.append(error)
            interruption.wanted = True
        finally:
            ready.set()

    thread = threading.Thread(target=supervise, name="supervisor")
    thread.start()
    try:
        while not ready.wait(0.1):
            if interruption.wanted:
                supervisor.stop()
        if problems:
            raise problems[0]
        if interruption.wanted:
            raise Problem("Stopped.", code=STOPPED)
        yield
        if problems:
            raise problems[0]
    finally:
        supervisor.stop()
        thread.join()


def submit_and_follow(request: Request, interruption: Interruption) -> int:
    from agentweb.asking import ask_on_terminal, can_ask
    from agentweb.following import Follower, JsonPrinter, TextPrinter
    from sessions_app.services import accounts, runs
    from sessions_app.services.errors import ServiceError

    user = accounts.first_user()
    try:
        with new_things_only_for_a_run(user):
            session = chosen_session(user, request)
            own = runs.command_in(request.text)
            if not request.queue and not own:
                refuse_when_busy(session)
            key = uuid.uuid4().hex
            submitted = (
                own_command(session, user, *own, key=key)
                if own
                else runs.submit_prompt(
                    session=session, author=user, text=request.text, mode="follow_up", key=key
                )
            )
        if submitted.queued is not None and not request.queue:
            # Somebody else was quicker by a hair.
            runs.remove_queued(session=session, author=user, queued_id=submitted.queued.pk)
            refuse_when_busy(session, certain=True)
    except ServiceError as error:
        code = {400: USAGE, 403: USAGE, 409: BUSY}.get(error.status, NOT_AVAILABLE)
        raise Problem(str(error), error.remedy, code=code) from error
    printer = JsonPrinter(sys.stdout) if request.as_json else TextPrinter(sys.stdout)
    ask = None
    if can_ask() and not request.as_json:
        ask = partial(ask_on_terminal, session, user, lambda: interruption.wanted)
    follower = Follower(session, submitted, printer, ask)
    try:
        printer.begin(session)
        outcome = follower.follow(lambda: interruption.wanted, lambda: stop(session, user, own is not None))
    except BrokenPipeError:
        stop_unless_served(session, user, own is not None)
        raise
    code = told(outcome, follower)
    if not request.as_json and code not in {FAILED, CEILING, ASKS}:
        print(f"Session {session.key}", file=sys.stderr)
    return code


@contextlib.contextmanager
def new_things_only_for_a_run(user: User) -> Iterator[None]:
    """A session or folder that was made for a prompt goes again when the prompt is refused."""
    from sessions_app.models import Session, Workspace

    sessions, folders = Session.objects.filter(owner=user), Workspace.objects.visible_to(user)
    known_sessions = set(sessions.values_list("pk", flat=True))
    known_folders = set(folders.values_list("pk", flat=True))
    try:
        yield
    except Exception:
        sessions.exclude(pk__in=known_sessions).filter(leaf=None, runs=None).delete()
        Workspace.objects.filter(
            pk__in=set(folders.values_list("pk", flat=True)) - known_folders, sessions=None
        ).delete()
        raise


def own_command(session: Session, user: User, command: str, exclude: bool, *, key: str) -> Submission:
    from sessions_app.services import runs

    run = runs.run_command(session=session, author=user, command=command, exclude=exclude, key=key)
    return runs.Submission(run, None, None)


def chosen_session(user: User, request: Request) -> Session:
    """The session named, or a new one in the folder; with the model that was asked for."""
    from sessions_app.services import sessions

    choice = None
    if request.model:
        choices = sessions.available_models(user)
        choice = next((c for c in choices if request.model in {f"{c.provider}/{c.model}", c.model}), None)
        if choice is None:
            raise unknown_model(request.model, choices)
    if not request.session:
        workspace = added_workspace(user, request.workspace)
        return sessions.create_session(
            workspace=workspace,
            owner=user,
            provider=choice.provider if choice else None,
            model=choice.model if choice else None,
            tool_preset=request.tools or "all",
        )
    session = session_by_key(user, request.session)
    if request.tools and request.tools != session.tool_preset:
        session = sessions.choose_tools(session=session, author=user, preset=request.tools)
    if choice and (session.provider, session.model) != (choice.provider, choice.model):
        return sessions.choose_model(
            session=session, author=user, provider=choice.provider, model=choice.model
        )
    return session


def unknown_model(wanted: str, choices: list[ModelChoice]) -> Problem:
    """Names the models that would answer, and how to get more."""
    usable = ", ".join(choice.value for choice in choices if not choice.missing_key)
    more = ""
    if any(choice.missing_key for choice in choices):
        more = " More with a key: “Models and keys”, or ANTHROPIC_API_KEY."
    if wanted.startswith("openai-compatible/"):
        more = " Models of your own server are named under “Models and keys”, or in OPENAI_COMPATIBLE_MODELS."
    return Problem(f"There is no model {wanted!r}.", f"There are: {usable}.{more}", code=USAGE)


def added_workspace(user: User, folder: str) -> Workspace:
    from sessions_app.services import workspaces

    path = str(Path(folder or ".").expanduser().resolve())
    return workspaces.add_workspace(user=user, path=path, by_operator=True)


def session_by_key(user: User, beginning: str) -> Session:
    """The one session of the user whose key begins so."""
    from sessions_app.models import Session

    wanted = beginning.replace("-", "").lower()
    keys = Session.objects.visible_to(user).values_list("pk", "key")
    found = [pk for pk, key in keys if key.hex.startswith(wanted)]
    if len(found) != 1:
        what = "No session" if not found else f"{len(found)} sessions"
        raise Problem(f"{what} with a key that begins with {beginning!r}.", "`agentweb sessions` lists them.",
                      code=USAGE)  # fmt: skip
    return Session.objects.get(pk=found[0])


def refuse_when_busy(session: Session, *, certain: bool = False) -> None:
    from sessions_app.models import Run

    if certain or Run.objects.active().filter(session=session).exists():
        raise Problem(
            "This session is at work.", "Wait until it is done, or add --queue to be next in line.", code=BUSY
        )


def stop(session: Session, user: User, is_own: bool) -> None:
    """What was asked for: the person's own commands, or the agent's work."""
    from sessions_app.services import runs

    if is_own:
        runs.stop_commands(session=session, author=user)
    else:
        runs.stop_run(session=session, author=user)


def stop_unless_served(session: Session, user: User, is_own: bool) -> None:
    """Nobody reads on. A server goes on with the work; a worker of our own is about to go."""
    server = running_server(chosen_directory())
    if server is not None and server.pid == os.getpid():
        stop(session, user, is_own)


def told(outcome: str, follower: Follower) -> int:
    """The exit code; what went wrong and what to do goes to standard error."""
    from sessions_app.agent.remedies import remedy_of

    if outcome == "asking":
        print("agentweb: The agent asks for a permission, and nobody is here to give it.", file=sys.stderr)
        print("  Answer in the browser, or choose other tools with --tools; "
              f"session {follower.session.key} waits.", file=sys.stderr)  # fmt: skip
        return ASKS
    if outcome == "reviewing":
        print("agentweb: The compaction of this session waits for a reviewer.", file=sys.stderr)
        print("  Approve or reject it in the browser under Compaction reviews; "
              f"session {follower.session.key} waits.", file=sys.stderr)  # fmt: skip
        return ASKS
    code = {"completed": 0, "limited": CEILING, "stopped": STOPPED}.get(outcome, FAILED)
    if code and follower.error:
        print(f"agentweb: {follower.error}", file=sys.stderr)
        if remedy := remedy_of(follower.error_kind):
            print(f"  {remedy}", file=sys.stderr)
    if code in {FAILED, CEILING}:
        print(f"  Everything up to here is kept in session {follower.session.key}.", file=sys.stderr)
    if not code and follower.cut_short:
        print("agentweb: The answer reached the model's limit for one reply.", file=sys.stderr)
        print("  Go on with: agentweb prompt --session "
              f"{str(follower.session.key)[:8]} \"Go on\"", file=sys.stderr)  # fmt: skip
    return code
