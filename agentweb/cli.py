"""`agentweb`: the commands a person types. Each imports what it needs when it is called."""

from __future__ import annotations

import argparse
import contextlib
import errno
import io
import json
import os
import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

from agentweb.data_directory import chosen_directory
from agentweb.problems import USAGE, Problem

Command = Callable[[argparse.Namespace], int]


def main(arguments: list[str] | None = None) -> int:
    """Runs one command; its exit code (0 fine, 1 failed, 2 usage, 3 not available; `prompt` has more)."""
    from sessions_app.agent.sandboxes.own_memory import hide_from_commands

    # Supervisor, web server, worker and `prompt` all come through here, with keys in their environments.
    hide_from_commands()
    for stream in (sys.stdout, sys.stderr):
        # A terminal that can't show a character must not end the command.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    options = parser().parse_args(arguments)
    if options.data:
        os.environ["AGENTWEB_DATA"] = str(Path(options.data).expanduser().resolve())
    command: Command = options.command
    try:
        return command(options)
    except Problem as problem:
        return told(problem)
    except BrokenPipeError:
        # Whoever read our output has gone; Python must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        trouble = known_trouble(error)
        if trouble is None:
            raise
        return told(trouble)


def told(problem: Problem) -> int:
    print(f"agentweb: {problem.message}", file=sys.stderr)
    if problem.remedy:
        print(f"  {problem.remedy}", file=sys.stderr)
    return problem.code


def known_trouble(error: Exception) -> Problem | None:
    """What a person can do about a database or a disk that fails in the middle; None for a fault of ours."""
    if isinstance(error, OSError) and error.errno in {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES}:
        where = f" ({error.filename})" if error.filename else ""
        return Problem(f"{error.strerror}{where}.", "Free some space or mend the rights, then try again.")
    if "django.db" in sys.modules:
        from django.db import DatabaseError

        from agentweb.database_upgrade import explained

        if isinstance(error, DatabaseError):
            return explained(error)
    return None


def standard_input() -> str:
    """All of it. A `Problem` for what is no text."""
    # Python's word for a closed one; its type does not tell.
    if not sys.stdin:
        raise Problem(
            "Standard input is closed.", "Give the prompt as an argument, or pipe it in.", code=USAGE
        )
    content = sys.stdin.buffer.read()
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(
            f"What came on standard input is not UTF-8 text (at byte {error.start + 1}).",
            "Put it into a file in the folder and name the file in the prompt.",
            code=USAGE,
        ) from error


def parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--data", metavar="DIR", help="data directory (AGENTWEB_DATA, ~/.agentweb)")
    root = argparse.ArgumentParser(prog="agentweb", description="A self-hosted web workspace for AI agents.")
    commands = root.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Command, text: str) -> argparse.ArgumentParser:
        new = commands.add_parser(
            name, help=text, description=f"{text[0].upper()}{text[1:]}.", parents=[common]
        )
        new.set_defaults(command=command)
        return new

    up = add("up", up_command, "start everything and print a sign-in link")
    up.add_argument("--host", default=os.environ.get("AGENTWEB_HOST", "127.0.0.1"))
    up.add_argument(
        "--port", type=port, default=os.environ.get("AGENTWEB_PORT", "8420"), help="0: any free one"
    )
    up.add_argument("--workspace", metavar="DIR", default="", help="add this folder as a workspace")
    up.add_argument(
        "--workers", type=positive, metavar="N", help="runs at once (AGENTWEB_WORKER_THREADS, 64)"
    )
    up.add_argument("--verbose", action="store_true", help="show times and what the processes say")

    prompt = add("prompt", prompt_command, "send one prompt and print the answer")
    prompt.add_argument("text", help="the prompt; - reads it from standard input")
    prompt.add_argument("--workspace", metavar="DIR", default="", help="folder to work in (default: here)")
    prompt.add_argument(
        "--session",
        metavar="ID",
        default="",
        help="go on with this session (key or its beginning; see sessions)",
    )
    prompt.add_argument("--model", metavar="M", default="", help="provider/model, or a model's name alone")
    prompt.add_argument(
        "--tools",
        choices=["all", "edit", "read-only", "ask"],
        default="",
        help="what the agent may do; ask: before bash, edit and write, on the terminal",
    )
    prompt.add_argument("--queue", action="store_true", help="wait in line when the session is at work")
    prompt.add_argument("--json", action="store_true", help="print events, one JSON object a line")

    add("sessions", sessions_command, "list sessions: key, when, folder, state and name, the newest first")
    checked = add("check", check_command, "verify what every session rests on")
    checked.add_argument("--repair", action="store_true", help="mend what is found; nothing is deleted")
    add("doctor", doctor_command, "look for what is wrong or missing, with remedies")
    user = add("user", user_command, "add people")
    user.add_argument("action", choices=["add"])
    user.add_argument("name")
    user.add_argument("--admin", action="store_true")
    user.add_argument("--password-stdin", action="store_true", help="read the password from standard input")
    link = add("login-link", login_link_command, "print a fresh one-time sign-in link (15 minutes)")
    link.add_argument("name", nargs="?", default="")
    imported = add("import", import_command, "bring in session files")
    imported.add_argument("files", nargs="+", metavar="FILE")
    imported.add_argument(
        "--workspace", metavar="DIR", default="", help="folder they belong to (default: here)"
    )
    export = add("export", export_command, "write a session's file to standard output")
    export.add_argument("session", help="its key, or the beginning of it")
    export.add_argument("--html", action="store_true", help="a page to read in a browser, with every branch")
    add("version", version_command, "print the version")

    # For setups in which something else starts the processes, such as compose.yaml.
    prepare = add("prepare", prepare_command, "bring database and static files up to date (compose)")
    prepare.add_argument("--workspace", metavar="DIR", default="")
    prepare.add_argument("--json", action="store_true")
    add("web", web_command, "serve pages and nothing else (compose)")
    worker = add("worker", worker_command, "carry out runs and nothing else (compose)")
    worker.add_argument("--workers", type=positive, metavar="N")
    return root


def port(text: str) -> int:
    number = int(text)
    if not 0 <= number < 65536:
        raise argparse.ArgumentTypeError(f"{text} is not a port")
    return number


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return number


def up_command(options: argparse.Namespace) -> int:
    from agentweb.addresses import address
    from agentweb.supervisor import Options, Supervisor, stopped_by_signals

    if options.workspace and not Path(options.workspace).expanduser().is_dir():
        raise Problem(f"There is no folder {options.workspace!r}.", "Make it first.", code=USAGE)
    supervisor = Supervisor(
        Options(
            data=chosen_directory(),
            host=options.host,
            port=options.port,
            workers=options.workers,
            workspace=str(Path(options.workspace).expanduser().resolve()) if options.workspace else "",
            verbose=options.verbose,
        ),
        say=lambda line: print(line, file=sys.stderr, flush=True),
    )

    def greet() -> None:
        link = f"{address(options.host, supervisor.port)}{supervisor.login_path}"
        print(f"Ready. Sign in once within 15 minutes: {link}", flush=True)

    if os.geteuid() == 0:
        print("Running as root: commands of agents may do everything on this machine.", file=sys.stderr)
    with stopped_by_signals(supervisor):
        supervisor.run(greet)
    print("Stopped.", file=sys.stderr, flush=True)
    return 0


def prompt_command(options: argparse.Namespace) -> int:
    from agentweb.prompt import Request, prompt

    text = standard_input() if options.text == "-" else options.text
    return prompt(
        Request(
            text=text,
            workspace=options.workspace,
            session=options.session,
            model=options.model,
            tools=options.tools.replace("-", "_"),
            queue=options.queue,
            as_json=options.json,
        )
    )


def sessions_command(options: argparse.Namespace) -> int:
    from agentweb.administration import listed_sessions

    for line in listed_sessions():
        print(line)
    return 0


def check_command(options: argparse.Namespace) -> int:
    from agentweb.administration import checked_sessions

    sound = True
    for line, is_sound in checked_sessions(repair=options.repair):
        print(line)
        sound = sound and is_sound
    return 0 if sound or options.repair else 1


def doctor_command(options: argparse.Namespace) -> int:
    from agentweb.doctor import examine

    return examine(lambda line: print(line))


def user_command(options: argparse.Namespace) -> int:
    from agentweb.administration import add_user

    password = sys.stdin.readline().rstrip("\n") if options.password_stdin else None
    print(add_user(options.name, admin=options.admin, password=password))
    return 0


def login_link_command(options: argparse.Namespace) -> int:
    from agentweb.administration import login_link

    print(login_link(options.name))
    return 0


def import_command(options: argparse.Namespace) -> int:
    from agentweb.administration import import_files

    # How far it has come is for who is watching; it goes away again.
    watched = sys.stderr.isatty()

    def tell(words: str) -> None:
        if watched:
            print(f"\r\x1b[K{words}", end="", file=sys.stderr, flush=True)

    for line in import_files(options.files, options.workspace, tell):
        tell("")
        print(line)
    return 0


def export_command(options: argparse.Namespace) -> int:
    from agentweb.administration import export_session

    sys.stdout.buffer.write(export_session(options.session, as_page=options.html))
    sys.stdout.buffer.flush()
    return 0


def version_command(options: argparse.Namespace) -> int:
    print(metadata.version("agentweb"))
    return 0


def prepare_command(options: argparse.Namespace) -> int:
    from agentweb.preparation import prepare

    # What libraries print must not come between the lines that the supervisor reads.
    with contextlib.redirect_stdout(sys.stderr):
        try:
            prepared = prepare(options.workspace)
        except Problem as problem:
            if not options.json:
                raise
            print(json.dumps({"message": problem.message, "remedy": problem.remedy}), file=sys.__stdout__)
            return problem.code
    if options.json:
        print(json.dumps({"login_path": prepared.login_path, "notes": prepared.notes}))
    else:
        for line in prepared.notes:
            print(line)
    return 0


def web_command(options: argparse.Namespace) -> int:
    from agentweb.processes import serve_pages

    return serve_pages()


def worker_command(options: argparse.Namespace) -> int:
    from agentweb.processes import work

    return work(options.workers)


if __name__ == "__main__":
    sys.exit(main())
