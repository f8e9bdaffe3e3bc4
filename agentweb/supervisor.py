"""`agentweb up`: broker, worker and web server as children of one small process that outlives none of them.

Order: hold the data directory, let the web server import what it needs, start the broker, prepare (database,
static files) in a process that ends again, let the web server begin, start the worker, wait until the pages
answer. Nothing here imports Django: what idles all
day should be small. Recovery of runs sweeps in the worker and in the web server, so it also happens while one
of them is dead.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from agentweb import broker
from agentweb.addresses import pages_answer, usable_port
from agentweb.children import Child, ChildSpec, environment_for_children, without_secrets
from agentweb.data_directory import SOCKET_NAME, RunningServer, held, offers, runtime_directory, write_server
from agentweb.problems import Problem

READY_SECONDS = 90.0
# What running commands and answers get to store their part of the work.
WORKER_STOP_SECONDS = 15.0
TICK_SECONDS = 0.2


@dataclass(frozen=True, slots=True)
class Options:
    """What `up` was asked to do; `port` 0 takes a free one, `web` False serves no pages."""

    data: Path
    host: str = "127.0.0.1"
    port: int = 8420
    workers: int | None = None
    workspace: str = ""
    web: bool = True
    verbose: bool = False


class Supervisor:
    """Starts and keeps the children; `stop()` may be called from any thread or signal handler."""

    def __init__(self, options: Options, say: Callable[[str], None]) -> None:
        self.options = options
        self.say = say
        self.stopping = threading.Event()
        self.impatient = False
        self.ready = threading.Event()
        self.children: list[Child] = []
        self.port = options.port
        self.login_path = ""
        self.began = time.monotonic()

    def stop(self) -> None:
        # A second request means: at once.
        self.impatient = self.stopping.is_set()
        self.stopping.set()

    def run(self, on_ready: Callable[[], None]) -> None:
        """Starts everything, calls `on_ready`, and tends the children until `stop`; a `Problem` if it can't."""
        with held(self.options.data):
            if self.options.web:
                self.port = usable_port(self.options.host, self.options.port)
            try:
                self.start()
                if not self.stopping.is_set():
                    self.ready.set()
                    on_ready()
                while not self.stopping.wait(TICK_SECONDS):
                    self.tend()
                    if not self.options.web:
                        self.refuse_broken_children()
            finally:
                self.stopping.set()
                self.end()

    def start(self) -> None:
        options = self.options
        write_server(
            options.data, RunningServer(os.getpid(), options.host, self.port if options.web else 0, offers())
        )
        (options.data / "logs").mkdir(exist_ok=True, mode=0o700)
        # It takes the longest to start, so it starts first, and waits for the word before it does anything.
        web = (
            self.add(ChildSpec("web server", ("web", *self.data_option), 5.0), waits=True)
            if options.web
            else None
        )
        if not uses_external_broker():
            self.start_broker()
        self.time("broker")
        self.prepare()
        self.time("database and static files")
        if self.stopping.is_set():
            return
        if web:
            web.go_ahead()
        workers = ["--workers", str(options.workers)] if options.workers else []
        self.add(ChildSpec("worker", ("worker", *self.data_option, *workers), WORKER_STOP_SECONDS))
        if web:
            self.wait_for_pages(web)
        self.time("web server")

    def start_broker(self) -> None:
        """Waits until it answers. Files it can't load are moved aside: their content is not needed."""
        folder = runtime_directory(self.options.data)
        broker.prepare_folders(self.options.data, folder)
        path = folder / SOCKET_NAME
        broker.wait_until_gone(path)
        command = broker.valkey_command(broker.find_valkey(), self.options.data, path)
        child = self.add(ChildSpec("broker", ("--exec", *command), 5.0))
        deadline = time.monotonic() + broker.START_SECONDS
        set_aside = False
        while not broker.answers(path) and not self.stopping.is_set():
            if not child.alive:
                words = " / ".join(list(child.last_lines)[-3:])
                if set_aside:
                    raise does_not_start(child)
                self.say(f"The broker can't load its files ({words}); they are now in "
                         f"{broker.set_aside(self.options.data)}.")  # fmt: skip
                set_aside = True
                child.start()
            elif time.monotonic() > deadline:
                raise Problem("The embedded broker does not answer.", f"See {child.log}.")
            self.stopping.wait(0.02)

    def prepare(self) -> None:
        """Database and static files, in a process that gives its memory back; learns the sign-in link's path."""
        arguments = ["--workspace", self.options.workspace] if self.options.workspace else []
        code, output, errors = self.run_once("prepare", "--json", *arguments)
        if self.stopping.is_set():
            return
        try:
            result = json.loads(output.splitlines()[-1])
        except (ValueError, IndexError):
            raise Problem("The preparation failed.", errors.strip(), code=1) from None
        if code:
            raise Problem(result["message"], result["remedy"], code=code)
        for line in result["notes"]:
            self.say(line)
        self.login_path = result["login_path"]

    def run_once(self, *arguments: str) -> tuple[int, str, str]:
        """Runs one of our own commands to its end; ends it early when we are told to stop."""
        reading, writing = os.pipe()
        try:
            with subprocess.Popen(
                [sys.executable, "-m", "agentweb.child", *arguments],
                stdin=reading,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                env=self.environment(),
                start_new_session=True,
            ) as process:
                while True:
                    try:
                        output, errors = process.communicate(timeout=TICK_SECONDS)
                    except subprocess.TimeoutExpired:
                        if self.stopping.is_set():
                            process.terminate()
                    else:
                        return process.returncode, output, errors
        finally:
            os.close(reading)
            os.close(writing)

    def wait_for_pages(self, web: Child) -> None:
        deadline = time.monotonic() + READY_SECONDS
        while not self.stopping.is_set() and not pages_answer(self.options.host, self.port):
            self.tend()
            self.refuse_broken_children()
            if time.monotonic() > deadline:
                raise does_not_start(web)
            self.stopping.wait(0.02)

    def refuse_broken_children(self) -> None:
        """Nobody waits for a process that dies again and again; a server that has been up goes on trying."""
        for child in self.children:
            if child.failures >= 3:
                raise does_not_start(child)

    def tend(self) -> None:
        for child in self.children:
            child.tend(self.say)

    def end(self) -> None:
        """Web server and worker first, both at once; the broker last, because the worker still needs it."""
        if self.options.web and self.children:
            self.say("Stopping…")
        inner = [child for child in self.children if child.spec.name != "broker"]
        for group in (inner, [child for child in self.children if child.spec.name == "broker"]):
            began = time.monotonic()
            for child in group:
                child.ask_to_end()
            for child in group:
                self.wait_patiently(child, began + child.spec.stop_seconds)
        if any(child.killed and child.spec.name == "worker" for child in self.children):
            # A worker that was killed could not end the commands of its runs.
            subprocess.run(
                [sys.executable, "-m", "agentweb.leftovers"],
                env=self.environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=30, check=False,
            )  # fmt: skip
        self.time("stop")

    def wait_patiently(self, child: Child, deadline: float) -> None:
        while child.alive and time.monotonic() < deadline and not self.impatient:
            time.sleep(0.02)
        child.end_by(time.monotonic())

    @property
    def data_option(self) -> tuple[str, str]:
        """Also in their environment; here so that `ps` tells the servers of two data directories apart."""
        return ("--data", str(self.options.data))

    def environment(self) -> dict[str, str]:
        return environment_for_children(
            AGENTWEB_DATA=str(self.options.data),
            AGENTWEB_HOST=self.options.host,
            AGENTWEB_PORT=str(self.port),
        )

    def add(self, spec: ChildSpec, *, waits: bool = False) -> Child:
        log = self.options.data / "logs" / f"{spec.name.replace(' ', '-')}.log"
        environment = self.environment()
        if spec.command[0] == "--exec":
            environment = without_secrets(environment)
        child = Child(spec, environment, log, echo=self.options.verbose, waits=waits)
        self.children.append(child)
        child.start()
        return child

    def time(self, what: str) -> None:
        if self.options.verbose:
            self.say(f"{time.monotonic() - self.began:6.2f} s  {what}")


def does_not_start(child: Child) -> Problem:
    words = " / ".join(list(child.last_lines)[-3:])
    return Problem(f"The {child.spec.name} does not start: {words}", f"See {child.log}.")


def uses_external_broker() -> bool:
    return bool(os.environ.get("REDIS_URL") or os.environ.get("REDIS_URL_FILE"))


@contextlib.contextmanager
def stopped_by_signals(supervisor: Supervisor) -> Iterator[None]:
    """Ctrl-C, SIGTERM and a closed terminal stop it in order; a second one stops it at once."""

    def stop(number: int, frame: FrameType | None) -> None:
        supervisor.stop()

    before = {
        number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
