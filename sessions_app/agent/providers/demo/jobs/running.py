"""Jobs that run something: commands as given, scripts, the tests with their first failure read out."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.failures import Failure, first_failure
from sessions_app.agent.providers.demo.jobs.tables import check_json
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.programs import run_command
from sessions_app.agent.providers.demo.script import CannotDo, Outcome, Script
from sessions_app.agent.providers.demo.words import word_list, word_set
from sessions_app.agent.providers.demo.writing import clip, code, count, fence, fence_language, head, link

_COMMANDS = word_list("""
    git npm npx yarn pnpm node python python3 pip pip3 pytest make cargo go rustc docker docker-compose
    kubectl ls cat head tail grep rg find wc sort uniq cut awk sed tr echo printf pwd whoami date cal
    uname df du ps top env printenv which type file stat chmod mkdir rmdir touch cp mv rm ln tar zip
    unzip gzip curl wget ssh ping tree diff cmp md5sum sha256sum cksum xargs tee jq yq ruff mypy black
    flake8 eslint prettier tsc gcc cc clang java javac ruby php perl bash sh sleep true false seq
    hostname id uptime free nproc basename dirname realpath tac rev nl fold expr bc test cd export
    source uv poetry tox nox ./manage.py deno bun
""")
_DANGEROUS = re.compile(
    r"\brm\s+(?:-\w+\s+)*(?:/|~|\.|\.\.|\*|/\*|\$HOME|\./?\*?)(?:\s|$)|\bmkfs|\bdd\b.*\bof=/dev|:\(\)\s*\{|\bshutdown\b|\breboot\b|\bhalt\b|>\s*/dev/sd|\bchmod\s+-R\s+\d+\s+/(?:\s|$)|\bsudo\b"
)
_ENDLESS = re.compile(
    r"\b(?:npm (?:start|run (?:dev|start|serve|watch))|runserver|http\.server|flask run|uvicorn|gunicorn|watch|tail -f|top|htop|vim?|nano|less|more|serve)\b"
)


def run_given(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    command = ask.plain(match.group("command")).strip()
    if ask.blocks:
        command = ask.blocks[0].strip()
    elif ask.quotes and (
        match.group("command").startswith("‹q") or re.search(r"\bcommand\b", match.group(), re.I)
    ):
        command = ask.quotes[0]
    command = re.sub(r"^\$\s+", "", command)
    return (yield from run_shell(desk, command))


def run_shell(desk: Desk, command: str) -> Script:
    if _DANGEROUS.search(command):
        raise CannotDo(
            f"Not run: {code(command)} could destroy more than this folder. Run it yourself with `!` in front, if you mean it."
        )
    timeout = 20 if _ENDLESS.search(command) else 300
    outcome = yield from moves.shell(
        desk, command, f"Running {code(clip(command, 80))}.", timeout=timeout, check=False
    )
    return result_text(command, outcome) + (
        " It does not end by itself; it was given 20 s." if timeout == 20 and outcome.is_error else ""
    )


def result_text(command: str, outcome: Outcome) -> str:
    """What a command did, its output shortened to the end that matters."""
    text = moves.output(outcome)
    lines = text.split("\n")
    shown = "\n".join(lines[-25:]) if len(lines) > 25 else text
    cut = f" (last 25 of {count(len(lines), 'line')})" if len(lines) > 25 else ""
    body = f"\n\n{fence(shown)}" if text else ""
    if outcome.is_error:
        found = first_failure(text)
        why = (
            f"\n\nThe line that tells most: {code(clip(found.message, 160))}"
            + (f" at {link(found.path, found.line)}" if found.path else "")
            + "."
            if found
            else ""
        )
        return f"{code(clip(command, 100))} failed{cut}:{body}{why}"
    return f"{code(clip(command, 100))} ran{cut}" + (f":{body}" if text else " and printed nothing.")


def run_file(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    on_file = re.search(
        rf"\b(?:it|that|this|script|program|code)\b.* (?:on|with|using|for) (?:the )?(?:file )?{P}", ask.text
    )
    path = desk.file_of(Ask("", ()) if on_file else ask)
    command = run_command(path)
    if not command:
        if path.lower().rsplit("/", 1)[-1] == "makefile":
            return (yield from run_shell(desk, "make"))
        raise CannotDo(f"How {link(path)} is run, the demo model does not know. Give the command: `run …`.")
    if (
        "/" not in path
        and "bash" in desk.tools
        and not (yield from moves.exists(desk, path, f"Is {code(path)} there?"))
    ):
        path = yield from moves.locate(desk, path, known_missing=True)
        command = run_command(path)
    given = re.search(
        r"\b(?:with (?:the )?(?:arguments?|args?|parameters?|inputs?|options?)?|on) ?(.+)$", ask.text, re.I
    )
    if given:
        command += " " + ask.plain(given.group(1)).strip("\"'")
    timeout = 30
    outcome = yield from moves.shell(desk, command, f"Running {code(command)}.", timeout=timeout, check=False)
    waits = " It may wait for input, which a command here does not get." if "EOFError" in outcome.text else ""
    return result_text(command, outcome) + waits


def run_main(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    """The program of the folder: the file that usually starts one."""
    every = yield from moves.every_path(desk, "Looking for the file that starts it.")
    found = first_program(every)
    if found is None:
        raise CannotDo(
            f"No file here is called {', '.join(code(n) for n in _STARTS[:4])} or the like. Name the one to run, or ask “how do I run this”."
        )
    return (yield from run_shell(desk, found[1]))


def first_program(every: list[str]) -> tuple[str, str] | None:
    """(path, command) of the file that usually starts a program; None when there is none."""
    found = [p for name in _STARTS for p in every if p.rsplit("/", 1)[-1] == name and "test" not in p]
    if not found:
        return None
    path = min(found, key=lambda p: (p.count("/"), found.index(p)))
    command = (
        f"python3 -m {path.removesuffix('.py').replace('/', '.')}"
        if path.endswith(".py") and "/" in path
        else run_command(path)
    )
    return path, command or path


def make_environment(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    return (
        yield from run_shell(desk, "[ -e .venv ] && echo '.venv exists already' || python3 -m venv .venv")
    )


@dataclass(frozen=True, slots=True)
class TestRun:
    """One run of the tests: the command that ran, its output, and what can be read off it."""

    __test__ = False
    command: str
    text: str
    failed: bool
    summary: str
    failure: Failure | None


def run_of_tests(desk: Desk, ask: Ask, say: str = "") -> Move[TestRun]:
    """Run the tests of the folder, or of the file the ask names."""
    found, command = yield from _test_command(desk)
    if ask.paths and ("pytest" in command or "unittest" in command):
        command = (
            f"{command} {moves.quoted(ask.paths[0])}"
            if "pytest" in command
            else f"python3 -m unittest {moves.quoted(ask.paths[0])}"
        )
    outcome = yield from moves.shell(
        desk,
        command,
        say or f"{found} Running {code(command)}.",
        what="running the tests",
        timeout=600,
        check=False,
    )
    if outcome.is_error and "No module named pytest" in outcome.text:
        first = command
        command = (
            "python3 -m unittest discover"
            if not ask.paths
            else f"python3 -m unittest {moves.quoted(ask.paths[0])}"
        )
        outcome = yield from moves.shell(
            desk,
            command,
            f"{code(first)} says that pytest is not installed. Trying {code(command)}.",
            timeout=600,
            check=False,
        )
    text = moves.output(outcome)
    return TestRun(
        command,
        text,
        outcome.is_error,
        _summary_line(text),
        first_failure(text) if outcome.is_error else None,
    )


def failing_tests(text: str) -> list[str]:
    """The names of the tests that failed, as the runner's output gives them."""
    found = re.findall(r"^(?:FAILED|ERROR) (\S+)|^(?:FAIL|ERROR): (\w+ \([\w.]+\)|\w+)", text, re.M)
    return list(dict.fromkeys(a or b for a, b in found))


def run_tests(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    run = yield from run_of_tests(desk, ask)
    text, summary, command = run.text, run.summary, run.command
    if not run.failed:
        ran = (
            " No test ran." if re.search(r"\bran 0 tests|no tests ran|collected 0 items", text, re.I) else ""
        )
        return f"The tests pass{': ' + code(summary) if summary else '.'}{ran}\n\nCommand: {code(command)}"
    failure = run.failure
    if failure is None:
        shown = "\n".join(text.split("\n")[-20:])
        return f"{code(command)} failed, and its output names no failing test that the demo model recognises. Its end:\n\n{fence(shown)}"
    excerpt = yield from _around(desk, failure)
    names = failing_tests(text)
    parts = [f"The tests fail{': ' + code(summary) if summary else ''}."]
    if len(names) > 1:
        parts[0] += (
            f" Failing: {', '.join(code(name) for name in names[:10])}{' …' if len(names) > 10 else '.'}"
        )
    parts[0] += " The first failure:"
    rows = [
        f"**Test** {code(failure.name)}" if failure.name else "",
        f"**Says** {code(clip(failure.message, 200))}" if failure.message else "",
        f"**Where** {link(failure.path, failure.line)}" if failure.path else "",
    ]
    parts.append("\n".join(f"- {row}" for row in rows if row))
    if failure.compared:
        parts.append(failure.compared)
    if excerpt:
        parts.append(excerpt)
    parts.append("That is read from the output. Why the code does this, the demo model does not know.")
    return "\n\n".join(parts)


def _test_command(desk: Desk) -> Move[tuple[str, str]]:
    """(what was found, the command) by the files at the top. Raises CannotDo when nothing tells."""
    names = (yield from moves.listing(desk, ".", "Looking for what runs the tests.")) or []
    have = set(names)
    python = (
        ".venv/bin/python"
        if ".venv/" in have
        and "bash" in desk.tools
        and (yield from moves.exists(desk, ".venv/bin/pytest", "Does the virtual environment have pytest?"))
        else "python3"
    )
    if "package.json" in have and "read" in desk.tools:
        manifest = yield from moves.read(
            desk, "package.json", "A package.json. Does it have a test script?", check=False
        )
        if manifest is not None and _test_script(manifest.text):
            return "It has a test script.", "npm test --silent"
    if "Cargo.toml" in have:
        return "A Cargo project.", "cargo test"
    if "go.mod" in have:
        return "A Go module.", "go test ./..."
    tests = [n for n in names if re.fullmatch(r"tests?/|test_.*\.py|.*_test\.py", n)]
    if tests or have & {"pytest.ini", "conftest.py", "tox.ini"}:
        return f"Python tests ({code(tests[0] if tests else 'pytest.ini')}).", f"{python} -m pytest -q"
    if "Makefile" in have and "read" in desk.tools:
        makefile = yield from moves.read(
            desk, "Makefile", "A Makefile. Does it have a test target?", check=False
        )
        if makefile is not None and re.search(r"^test\b[^=]*:", makefile.text, re.M):
            return "It has the target test.", "make test"
    every = yield from moves.every_path(desk, "Nothing at the top tells. Looking for test files below.")
    if any(re.search(r"(?:^|/)test_[^/]*\.py$|_test\.py$", p) for p in every):
        return "Python test files.", f"{python} -m pytest -q"
    if any(re.search(r"\.test\.[cm]?js$|(?:^|/)test/.*\.[cm]?js$", p) for p in every):
        return "JavaScript test files.", "node --test"
    raise CannotDo(
        "No tests found: no test files by the usual names, no test script in package.json, no target in a Makefile. “create a unit test” writes one to start from."
    )


def _test_script(text: str) -> bool:
    try:
        script = str(json.loads(text).get("scripts", {}).get("test", ""))
    except (json.JSONDecodeError, AttributeError):
        return False
    return bool(script) and "no test specified" not in script


def _summary_line(text: str) -> str:
    for line in reversed(text.split("\n")):
        plain = line.strip().strip("= ")
        if re.search(
            r"\b\d+ (?:passed|failed|errors?|passing|failing)\b|^(?:OK|FAILED) ?\(|^OK$|^Ran \d+|test result:|^# (?:pass|fail) \d+|^Tests:",
            plain,
        ):
            return clip(plain, 120)
    return ""


def _around(desk: Desk, failure: Failure) -> Move[str]:
    """The lines around the failing one."""
    if not failure.path or not failure.line or "read" not in desk.tools or failure.path.startswith("/"):
        return ""
    first = max(1, failure.line - 8)
    found = yield from moves.read(
        desk, failure.path, "Reading the place.", offset=first, limit=12, check=False
    )
    if found is None:
        return ""
    numbered = "\n".join(
        f"{n:4}{'>' if n == failure.line else ' '} {line}" for n, line in enumerate(found.lines, first)
    )
    return f"{link(failure.path, failure.line)}:\n\n{fence(numbered, fence_language(failure.path))}"


def check_syntax(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Compile Python files without running them; other languages by their own checkers."""
    paths = (
        ask.paths
        or [
            p
            for p in (yield from moves.every_path(desk, "Looking for source files."))
            if re.search(r"\.(?:py|js|sh|json)$", p)
        ][:60]
    )
    groups = {
        "py": "python3 -c \"import ast,sys\nfor p in sys.argv[1:]:\n    try: ast.parse(open(p,encoding='utf-8').read(), p)\n    except (SyntaxError, ValueError) as e: print(f'{p}:{getattr(e,\\\"lineno\\\",0)}: {e}')\"",
        "js": "node --check",
        "sh": "bash -n",
        "json": "python3 -m json.tool",
    }
    parts = []
    for ext, checker in groups.items():
        files = [p for p in paths if p.endswith("." + ext)]
        if not files:
            continue
        command = (
            f"{checker} {' '.join(map(moves.quoted, files))}"
            if ext == "py"
            else "; ".join(
                f"{checker} {moves.quoted(f)} >/dev/null || echo '{f}: failed'" for f in files[:20]
            )
        )
        outcome = yield from moves.shell(
            desk,
            command,
            f"Checking {count(len(files), ext + ' file')}.",
            what="checking the syntax",
            check=False,
        )
        said = moves.output(outcome)
        parts.append(
            f"{count(len(files), f'`.{ext}` file')}: "
            + (f"\n\n{fence(head(said, 15)[0])}" if said else "no syntax error.")
        )
    if not parts:
        raise CannotDo("No Python, JavaScript, shell or JSON file to check.")
    return "\n\n".join(parts) + "\n\nThat is the syntax only, not whether the code is right."


def lint(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    if ask.paths and all(path.endswith(".json") for path in ask.paths):
        return (yield from check_json(desk, ask, match))
    tool = "format" if re.match(r"format|reformat|prettify|auto.?format", match.group(), re.I) else "check"
    target = moves.quoted(ask.paths[0]) if ask.paths else "."
    command = (
        f"if command -v ruff >/dev/null; then ruff {tool} {target}; elif [ -x .venv/bin/ruff ]; then .venv/bin/ruff {tool} {target}; "
        + (
            f"elif command -v black >/dev/null; then black {target}; "
            if tool == "format"
            else f"elif command -v flake8 >/dev/null; then flake8 {target}; elif command -v pyflakes >/dev/null; then pyflakes {target}; "
        )
        + f"elif [ -x node_modules/.bin/{'prettier' if tool == 'format' else 'eslint'} ]; then node_modules/.bin/{'prettier --write' if tool == 'format' else 'eslint'} {target}; "
        + "else echo 'none of ruff, black, flake8, prettier, eslint is installed here'; exit 127; fi"
    )
    outcome = yield from moves.shell(
        desk,
        command,
        "Looking for a formatter or linter and running it.",
        what="running a linter",
        timeout=120,
        check=False,
    )
    if "is installed here" in outcome.text:
        return "Not done: none of ruff, black, flake8, prettier or eslint is installed here, and the demo model has no judgement of its own."
    shown, more = head(moves.output(outcome) or "(no output)", 25)
    return f"The tool said:\n\n{fence(shown)}" + (
        f"\n\n{count(more, 'more line')} in the result above." if more else ""
    )


_RUN = r"(?:run|execute|exec|launch|start|try|invoke|call|do|perform|rerun|re-run|test out|test)"
_FIRST = "|".join(re.escape(c) for c in sorted(_COMMANDS, key=len, reverse=True))
_RAW = "|".join(
    re.escape(c)
    for c in sorted(
        set(_COMMANDS)
        - word_set("""
    grep rg find sort file type test tree date source head tail cut which diff true false make touch env
    top id nl go cp mv rm node python free tee cal bun uptime hostname pwd whoami
"""),
        key=len,
        reverse=True,
    )
)

_STARTS = (
    "main.py",
    "__main__.py",
    "app.py",
    "cli.py",
    "run.py",
    "main.js",
    "index.js",
    "app.js",
    "main.go",
    "main.sh",
    "run.sh",
)

RULES: list[Rule] = [
    rule(r"(?:run|start|launch|execute)\b (?:the |this |my |our )*(?:main (?:script|program|file|module|app)|programs?|project|app|application|main)(?: and .*)?$", run_main),
    rule(r"(?:create|make|set ?up|add|prepare)\b(?: me)? (?:an? |the )?(?:new |python )*(?:virtual ?env(?:ironment)?|venv)\b.*", make_environment),
    rule(r"(?:explain|describe|show(?: me)?|tell me about|what(?:'s| is)|why (?:is|does|do|are))\b.*\b(?:errors?|failures?|problems?|fail\w*|red|broken|wrong)\b.*\btests?\b.*|(?:explain|describe|show(?: me)?|what(?:'s| is)|why (?:is|does|do|are))\b.*\btests?\b.*\b(?:errors?|failures?|fail\w*|red|broken|wrong)\b.*", run_tests, lambda ask: not ask.paths),
    rule(rf"{_RUN}\b (?:me )?(?:all |the |all the |this |my |our |its |these |unit |full |whole |project'?s? |python |available |existing )*(?:tests?|test suites?|specs|unit tests?|test cases?|pytest|tests? (?:in|from|of) .*)\b(?! (?:file|script) ‹p).*", run_tests),
    rule(r"(?:do|are|is|will) (?:the |all |all the |my |our |there )*(?:unit )?(?:tests?|test suite|any failing tests|build)(?: all)? (?:pass|passing|green|ok|work|succeed|fail|failing|broken|red|run).*|(?:which|what) tests? (?:fails?|are failing|is failing|break)s?.*|are there (?:any )?(?:failing|broken) tests.*|check (?:if|whether|that) (?:the |all |all the )*tests? .*|(?:show|find|explain|what is|what's)\b.*\b(?:first |failing |test )(?:failure|failing test|test failure|failing)s?.*|run pytest$|test (?:everything|the (?:code|project|app))$|verify (?:that )?(?:the )?tests.*|why (?:do|does|is|are|did)\b.*\btest(?:s|_\w+)?\b.*\b(?:fail|failing|failed|broken|red)\b.*", run_tests),
    rule(rf"(?:check|validate|verify|lint|are there|is|find|does|test|look for|compile)\b.*\b(?:syntax|compiles?|parse[sd]?|valid (?:python|javascript|code))\b.*|(?:compile) (?:the |all )*(?:{P}|python files?|code).*", check_syntax),
    rule(r"(?:lint|format|reformat|auto.?format|prettify|run (?:the |a )?(?:linter|formatter)|(?:find|check|are there|list|show|remove)\b.*\b(?:unused (?:imports?|variables?|code)|lint\w*|style (?:errors?|problems|issues)|pep ?8|code style|dead code))\b(?!.*\bjson\b)(?!.*‹p\d+›.*\bas a?\b ?\w*table).*", lint),
    rule(rf"(?:run|execute|exec|invoke|launch)\b (?:the |this |following |shell |bash |a )*(?:commands?|command line|shell commands?)?:? ?(?P<command>(?:{Q}|‹c\d+›))(?: .*)?$", run_given),
    rule(r"(?:run|execute|exec|invoke|launch)\b (?:the |this |following |shell |bash |a )*(?:commands?|command line|shell commands?):? (?P<command>.+)$", run_given),
    rule(rf"(?:run|execute|exec|invoke|launch|try) (?P<command>(?:{_FIRST})(?![\w-]*›)(?:\s.*)?)$", run_given),
    rule(rf"(?:run|execute|exec|invoke|launch|start|try(?: out)?|test|rerun|re-run|call|use)\b (?:me )?(?:the |this |that |my |our |new |generated |created )*(?:file |script |program |code |python |it with |module |it |with )*(?:called |named )?(?:{P}|\bit\b|that|this|the (?:script|file|program|code)|script|program|code|file|them)?(?: (?:with|on|using|again|please|in|now|for|to see|and see|from|once|to check|through|via)\b.*)?$", run_file),
    rule(r"\$ ?(?P<command>.+)$", run_given),
    rule(rf"(?!export (?!\w+=))(?P<command>(?:{_RAW})(?: (?!me\b|the\b|all\b|for\b|an?\b|it\b|my\b|some\b|new\b|this\b|every\b|sure\b).*)?)$", run_given),
    rule(r"(?!make (?:an?|the|my|it|all|me|some|new|this|every|sure)\b)(?P<command>(?:node|python|python3|make|go|cp|mv|rm|echo|head|tail|tree|date|which|file|diff|sort|touch|env|id|cal|find(?= [./-])|grep(?= -)|rg(?= -)) (?:-{1,2}\w.*|‹[pq]\d+›(?: ‹[pq]\d+›)*|\S+ ‹[pq]\d+›.*|\. .*))$", run_given),
]  # fmt: skip
