"""Small jobs of their own: how to run it, which Python it needs, units, a dependency added, saved output, a fresh repository."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.jobs.overview import MANIFESTS, manifest_facts
from sessions_app.agent.providers.demo.jobs.running import first_program, run_shell
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.programs import run_command
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, fence, head, link


def how_to_run(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    """The commands that the README, the manifest and the scripts give, quoted with their places."""
    names = (yield from moves.listing(desk, ".", "Looking for a README, a manifest and scripts.")) or []
    every = [p for p in (yield from moves.every_path(desk, "And for what starts it.")) if not p.endswith("/")]
    found: list[str] = []
    readme = next((n for n in names if n.lower().startswith("readme")), None)
    if readme:
        text = yield from moves.read(desk, readme, f"Reading {code(readme)}.", check=False)
        found += _commands_in(readme, text.lines if text else [])
    manifest = next((m for m in MANIFESTS if m in names), None)
    if manifest:
        text = yield from moves.read(desk, manifest, f"Reading {code(manifest)}.", check=False)
        facts = manifest_facts(manifest, text.text) if text else {}
        for name, target in list((facts.get("scripts") or {}).items())[:6]:
            found.append(
                f"{link(manifest)} has {code('npm run ' + name if facts.get('npm') else name)} → {code(clip(str(target), 80))}"
            )
        if manifest == "Makefile" and text:
            found += [
                f"{link('Makefile', n)} has the target {code('make ' + m.group(1))}"
                for n, line in enumerate(text.lines, 1)
                if (m := re.match(r"([A-Za-z][\w-]*):(?!=)", line))
            ][:6]
    scripts = [p for p in every if re.search(r"\.(?:sh|bat)$", p) and "/" not in p][:4]
    found += [f"{link(p)} is a script: {code(run_command(p) or 'sh ' + p)}" for p in scripts]
    start = first_program(every)
    if start:
        path, command = start
        found.append(f"{link(path)} usually starts a program: {code(command)}")
    if "python" in " ".join(found) or any(ending(p) == "py" for p in every):
        mains = yield from moves.search(
            desk, r"^if __name__ ==", "Which Python files can be started?", glob="*.py"
        )
        for hit in mains[:5]:
            module = hit.path.removesuffix(".py").replace("/", ".")
            if "test" not in hit.path and not any(module in line or link(hit.path) in line for line in found):
                found.append(
                    f"{link(hit.path, hit.line)} can be started: {code(f'python3 -m {module}' if '/' in hit.path else f'python3 {hit.path}')}"
                )
    if not found:
        raise CannotDo(
            "Nothing here tells how it is run: no command in a README, no scripts in a manifest, no file with a usual start name."
        )
    return f"What the files say about running it:\n\n{bullets(dict.fromkeys(found[:12]))}"


def _commands_in(readme: str, lines: list[str]) -> list[str]:
    """Lines of code blocks, and others that name a usual command in backticks."""
    found, block = [], False
    for number, line in enumerate(lines, 1):
        if line.startswith("```"):
            block = not block
        elif (block and line.strip() and not line.strip().startswith("#")) or re.search(
            r"`[^`]*\b(?:python3?|npm|node|make|run|pip|cargo|go|docker|\./)\b[^`]*`", line
        ):
            found.append(f"{link(readme, number)} says {code(clip(line.strip().removeprefix('$ '), 120))}")
    return found


def python_needed(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    """The lines that state a version of the language."""
    hits = yield from moves.search(
        desk,
        r"requires-python|python_requires|python_version|[Pp]ython ?(>=|==|~=)? ?[23]\.[0-9]|\"node\": *\"|^go [0-9]|rust-version|\.python-version",
        "Searching for stated versions.",
        limit=60,
    )
    order = sorted(
        (h for h in hits if "test" not in h.path),
        key=lambda h: (
            not re.search(r"requires-python|python_requires|\"node\"|^go |rust-version", h.text),
            h.path,
        ),
    )
    if not order:
        return "No file here states which version it needs (no `requires-python`, no “Python 3.x” in a text)."
    return "Stated in the files:\n\n" + bullets(
        f"{link(h.path, h.line)} {code(clip(h.text, 120))}" for h in order[:6]
    )


_UNITS: dict[str, tuple[str, float]] = {
    "km": ("length", 1000), "kilometer": ("length", 1000), "kilometre": ("length", 1000), "m": ("length", 1), "meter": ("length", 1), "metre": ("length", 1), "cm": ("length", 0.01),
    "centimeter": ("length", 0.01), "mm": ("length", 0.001), "mile": ("length", 1609.344), "mi": ("length", 1609.344), "foot": ("length", 0.3048), "feet": ("length", 0.3048), "ft": ("length", 0.3048),
    "inch": ("length", 0.0254), "inches": ("length", 0.0254), "yard": ("length", 0.9144), "kg": ("mass", 1), "kilogram": ("mass", 1), "kilo": ("mass", 1), "g": ("mass", 0.001), "gram": ("mass", 0.001),
    "lb": ("mass", 0.45359237), "lbs": ("mass", 0.45359237), "pound": ("mass", 0.45359237), "oz": ("mass", 0.028349523125), "ounce": ("mass", 0.028349523125), "second": ("time", 1), "s": ("time", 1),
    "minute": ("time", 60), "min": ("time", 60), "hour": ("time", 3600), "h": ("time", 3600), "day": ("time", 86400), "week": ("time", 604800), "byte": ("data", 1), "b": ("data", 1), "kb": ("data", 1e3), "mb": ("data", 1e6), "gb": ("data", 1e9),
    "tb": ("data", 1e12), "kib": ("data", 1024), "mib": ("data", 1024**2), "gib": ("data", 1024**3), "liter": ("volume", 1), "litre": ("volume", 1), "l": ("volume", 1), "ml": ("volume", 0.001), "gallon": ("volume", 3.785411784),
}  # fmt: skip
_DEGREES = {
    "c": "c",
    "celsius": "c",
    "°c": "c",
    "f": "f",
    "fahrenheit": "f",
    "°f": "f",
    "k": "k",
    "kelvin": "k",
}


def convert_unit(_desk: Desk, _ask: Ask, match: re.Match[str]) -> Script:
    yield from ()
    number = float(match.group("number").replace(",", "."))
    source, target = match.group("source").lower().strip(), match.group("target").lower().strip()
    if source in _DEGREES and target in _DEGREES:
        kelvin = {"c": number + 273.15, "f": (number - 32) * 5 / 9 + 273.15, "k": number}[_DEGREES[source]]
        result = {"c": kelvin - 273.15, "f": (kelvin - 273.15) * 9 / 5 + 32, "k": kelvin}[_DEGREES[target]]
    else:
        one = _UNITS.get(source) or _UNITS.get(source.rstrip("s"))
        two = _UNITS.get(target) or _UNITS.get(target.rstrip("s"))
        if one is None or two is None or one[0] != two[0]:
            raise CannotDo(
                f"Not converted: {code(source)} to {code(target)} is no pair of units that the demo model knows (lengths, masses, times, temperatures, data, litres)."
            )
        result = number * one[1] / two[1]
    return f"{match.group('number')} {match.group('source')} = **{round(result, 6):,.10g} {match.group('target')}**"


def add_dependency(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A line in requirements.txt, or an item in the list of pyproject.toml; nothing is installed."""
    wanted = ask.plain(match.group("name")).strip().strip("\"'`")
    path = next(
        (p for p in ask.paths if re.search(r"requirements[\w.-]*\.txt$|pyproject\.toml$|package\.json$", p)),
        None,
    )
    if path is None:
        every = yield from moves.every_path(desk, "Looking for the list of dependencies.")
        path = next(
            (
                p
                for name in ("requirements.txt", "pyproject.toml")
                for p in every
                if p.rsplit("/", 1)[-1] == name
            ),
            None,
        )
    if path is None:
        raise CannotDo(
            "Not done: neither requirements.txt nor pyproject.toml is here. “create requirements.txt with the text …” makes one."
        )
    if path.endswith(".json"):
        raise CannotDo(
            f"Not done: a dependency in {link(path)} needs a version that the demo model cannot know; `run npm install {wanted}` does it."
        )
    text = yield from moves.reach(desk, path)
    base = re.split(r"[\s<>=~!\[;]", wanted)[0].lower().replace("_", "-")
    if any(
        re.match(rf"[\s\"']*{re.escape(base)}(?![\w-])", line.lower().replace("_", "-"))
        for line in text.lines
    ):
        return f"{link(text.path)} names {code(base)} already; nothing changed."
    if text.path.endswith(".txt"):
        yield from put_lines(desk, text, [*text.lines, wanted])
        return f"Added {code(wanted)} to {link(text.path, len(text.lines) + 1)}. It is not installed."
    at = next((n for n, line in enumerate(text.lines) if re.match(r"\s*dependencies\s*=\s*\[", line)), None)
    if at is None:
        raise CannotDo(f"Not done: {link(text.path)} has no list `dependencies = [`.")
    line, new = text.lines[at], list(text.lines)
    if "]" in line:
        new[at] = (
            re.sub(r"\[\s*\]", f'["{wanted}"]', line)
            if re.search(r"\[\s*\]", line)
            else line[: line.rindex("]")].rstrip().rstrip(",") + f', "{wanted}"' + line[line.rindex("]") :]
        )
    else:
        end = next((n for n in range(at, len(new)) if new[n].strip().startswith("]")), None)
        if end is None:
            raise CannotDo(
                f"Not done: the list of dependencies in {link(text.path)} has no end that is recognised."
            )
        indent = re.match(r"\s*", new[at + 1]).group() if end > at + 1 else "    "  # type: ignore[union-attr]
        if end > at + 1 and not new[end - 1].rstrip().endswith(","):
            new[end - 1] = new[end - 1].rstrip() + ","
        new.insert(end, f'{indent}"{wanted}",')
    yield from put_lines(desk, text, new)
    return f"Added {code(wanted)} to the dependencies in {link(text.path)}. It is not installed."


def save_output(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A command's or program's output into a file, by redirection."""
    what, out = ask.plain(match.group("command")).strip().strip("`"), ask.plain(match.group("out"))
    what = re.sub(r"^(?:the )?(?:command|program|output of)\s+", "", what)
    known = re.match(
        r"(?:python3?|node|sh|bash|make|npm|cargo|go|ls|cat|git|find|grep|wc|sort|echo|date|head|tail|tree|du|df|pip|\./|ruby|perl|pytest|env|uname|whoami|pwd|ps|awk|sed|seq|printf)\b",
        what,
    ) or what.startswith("./")
    if not known:
        every = yield from moves.every_path(desk, f"Looking for {code(clip(what, 40))}.")
        name = re.sub(
            r"^(?:the |my |our |this )|(?: script| program| file| module)$", "", what.strip(), flags=re.I
        ).strip()
        fits = [
            p
            for p in every
            if not p.endswith("/")
            and run_command(p)
            and (
                p == name
                or p.rsplit("/", 1)[-1] == name
                or p.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower() == name.lower()
            )
        ]
        if not fits and name.lower() in {"it", "main", "app", "project", "script", "program", "code"}:
            start = first_program(every)
            fits = [start[0]] if start else []
        if len(fits) > 1:
            fits = [p for p in fits if p.endswith(".py")] or fits
        if len(fits) != 1:
            raise CannotDo(
                f"Not done: which program is “{clip(what, 60)}”?"
                + (
                    f" These fit: {', '.join(link(p) for p in fits[:5])}."
                    if fits
                    else f" No file that can be run is called so. Give the command: `run python3 … > {out}`."
                )
            )
        what = started_by(fits[0])
    exists = yield from moves.exists(desk, out, f"Is {code(out)} free?")
    if exists and not ask.has(r"\b(?:overwrite|append|add)\b"):
        raise CannotDo(
            f"Not done: {link(out)} exists already and was left as it is. Say “overwrite” or take another name."
        )
    sign = ">>" if ask.has(r"\bappend\b") else ">"
    command = f"{what} {sign} {moves.quoted(out)}"
    outcome = yield from moves.shell(
        desk, command, f"Running {code(clip(what, 80))} into {code(out)}.", timeout=60, check=False
    )
    seen = yield from moves.shell(
        desk,
        f"wc -l {moves.quoted(out)}; head -n 12 {moves.quoted(out)}",
        f"What stands in {code(out)} now?",
        check=False,
    )
    lines = moves.output(seen).split("\n")
    number = re.match(r"\s*(\d+)", lines[0])
    shown = "\n".join(lines[1:])
    if outcome.is_error:
        return f"{code(command)} failed:\n\n{fence(head(moves.output(outcome), 12)[0] or '(no message)')}\n\n{link(out)} has what it printed before that."
    return (
        f"{code(command)} ran; {link(out)} has {count(int(number.group(1)), 'line') if number else 'its output'}{':' if shown.strip() else '.'}"
        + (f"\n\n{fence(shown)}" if shown.strip() else "")
    )


def started_by(path: str) -> str:
    """The command for a program: a Python file of a package as a module."""
    return (
        f"python3 -m {path.removesuffix('.py').replace('/', '.')}"
        if path.endswith(".py") and "/" in path
        else run_command(path) or path
    )


def run_named(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """ "run the report": the one program of that name."""
    name = ask.plain(match.group("name")).strip()
    every = yield from moves.every_path(desk, f"Looking for a program called {code(name)}.")
    fits = [
        p
        for p in every
        if not p.endswith("/")
        and run_command(p)
        and name.lower().replace(" ", "_") == p.rsplit("/", 1)[-1].rsplit(".", 1)[0].lower()
    ]
    if len(fits) != 1:
        raise CannotDo(
            f"Not run: {'several programs are' if fits else 'no program is'} called {code(name)}."
            + (
                f" Which one: {', '.join(link(p) for p in fits[:6])}?"
                if fits
                else " “how do I run this” reads out what the files say."
            )
        )
    return (yield from run_shell(desk, started_by(fits[0])))


def start_repository(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    if (yield from moves.exists(desk, ".git", "Is there a repository already?")):
        return "This folder is a git repository already; nothing changed."
    return (yield from run_shell(desk, "git init"))


def install(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Only what is said literally: pip or npm with the names given."""
    return (
        yield from run_shell(
            desk,
            f"{'npm install' if match.group('tool').lower() == 'npm' else 'python3 -m pip install'} {ask.plain(match.group('what')).strip()}",
        )
    )


_PRINTS = r"(?:what (?:it|that) (?:prints|outputs|says|writes|shows)|(?:its|the|all|that) (?:\w+ )?(?:output|result|results|printout)|it|that|everything(?: it prints)?|the result)"
_SAVE = r"(?:save|store|write|put|dump|redirect|capture|keep|pipe|export|append|send)"
RULES: list[Rule] = [
    rule(rf"(?:run|execute|start|call|launch) (?P<command>.+?),? (?:and |then |& )(?:then )?{_SAVE} {_PRINTS} (?:to|into|in|as|under) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?(?P<out>{P})$", save_output),
    rule(rf"{_SAVE} (?:the )?(?:output|result|results) of (?:running )?(?:the command )?(?P<command>.+?) (?:to|into|in|as) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?(?P<out>{P})$", save_output),
    rule(rf"(?:run|execute) (?P<command>.+?) (?:with (?:the |its )?output (?:to|into|in)|>|into) (?:an? |the )?(?:file )?(?P<out>{P})$", save_output, lambda ask: len(ask.paths) >= 1 and not ask.has(r"\bcopy\b")),
    rule(r"(?:.*\b)?how (?:do|does|can|could|to|would|should|am|is|are) ?(?:i|we|you|one|someone|it|this)?\b.*\b(?:run|start|use|launch|execute|started|invoke|build|install|set ?up)\b(?!.*(?:\btests?\b|‹q)).*|(?:what|which) (?:is the |are the |'s the )?commands? (?:to|for|do i use to|do i need to) (?:run|start|launch).*|(?:instructions|command) (?:for|to) (?:running|run|start|starting).*", how_to_run),
    rule(r"(?:which|what|does|is|needs?|minimum|required|show|tell|find)\b.*\b(?:python|node|go|rust)\b.*\b(?:need|needs|needed|require|requires|required|support|supports|supported|minimum|work with|compatible)\b.*|(?:minimum|required|supported) (?:python|node) versions?.*|(?:which|what) (?:python|node) versions?(?: is| are)? (?:this|it|the project|needed|required|supported|does this|do i).*", python_needed),
    rule(r"(?:convert |what(?:'s| is| are) |how (?:much|many|far|hot|long) (?:is|are) |change |turn )?(?P<number>-?\d+(?:[.,]\d+)?) ?(?:degrees? )?(?P<source>°?[a-z]+) (?:in|to|into|as|=) (?:degrees? )?(?P<target>°?[a-z]+)$", convert_unit, lambda ask: all(w in _UNITS or w.rstrip("s") in _UNITS or w in _DEGREES for w in re.findall(r"°?[a-z]+", re.sub(r"^(?:convert|what(?:'s| is| are)|how \w+ (?:is|are)|change|turn)\b|\b(?:in|to|into|as|degrees?)\b", "", ask.text.lower())))),
    rule(r"how many (?P<target>[a-z]+) (?:are |is )?(?:there )?(?:in|are) (?:an? )?(?P<number>\d+(?:[.,]\d+)?) ?(?P<source>[a-z]+)$", convert_unit, lambda ask: not ask.paths),
    rule(rf"(?:add|put|include|append) (?:the )?(?:new )?(?:(?:dependency|package|library|requirement|module) )?(?:on |called )?(?P<name>{Q}|[\w.\[\]-]+(?: ?(?:[<>=~!]=?) ?[\w.*]+)?) (?:as (?:an? )?(?:new )?(?:dependency|requirement) )?(?:to|in|into|of) (?:the |my |our )?(?:(?:project )?dependencies|requirements|(?:list of )?(?:dependencies|requirements)|‹p\d+›)(?: (?:of|in) (?:the project|‹p\d+›)| as (?:an? )?(?:new )?dependency)?$", add_dependency, lambda ask: (ask.has(r"\b(?:dependenc\w+|requirements)\b") or any(p.endswith("requirements.txt") for p in ask.paths)) and not ask.has(r"\b(?:line|heading|section|comment)\b")),
    rule(r"(?:run |execute |use )?(?P<tool>pip3?|npm)(?: install)? (?:install |to install )?(?P<what>[\w@/.\[\]<>=~ -]+)$", install, lambda ask: ask.has(r"\binstall\b") and not ask.has(r"^(?:pip|npm) (?!install)")),
    rule(r"(?:git init|init(?:iali[sz]e)? (?:an? |the |new )*(?:git|repo|repository|git repo\w*)(?: (?:here|in this folder|repository|repo))*|(?:create|make|start|set ?up|turn this (?:folder )?into) (?:an? |the |new )*(?:local )?git(?: repo\w*)?(?: here| in .*)?|put this (?:folder )?under (?:git|version control))$", start_repository),
]  # fmt: skip
LAST_RULES: list[Rule] = [
    rule(r"(?:run|start|execute|launch) (?:the |my |our )(?P<name>[\w-]+)(?: (?:script|program|module|thing|tool|command))?$", run_named),
]  # fmt: skip
