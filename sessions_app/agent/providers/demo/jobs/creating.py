"""Jobs that make files: ready programs, skeletons, given content, tests to start from."""

from __future__ import annotations

import json
import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.descriptions import described, split_items
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.phrases import NAME, Ask, P, Q
from sessions_app.agent.providers.demo.programs import (
    HELLO,
    PROGRAMS,
    SKELETONS,
    Program,
    program_for,
    run_command,
)
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.words import EXTENSIONS
from sessions_app.agent.providers.demo.writing import (
    bullets,
    clip,
    code,
    count,
    ending,
    fence,
    fence_language,
    head,
    language,
    link,
)

_LANGUAGE_WORDS = r"python|javascript|typescript|js|ts|node(?:\.?js)?|bash|shell|sh|c\+\+|cpp|c|go(?:lang)?|rust|java|ruby|php|html"
_ALREADY = "exists already and was left as it is. “overwrite {path} with …” replaces it, another name makes a second one."


def _asked_language(ask: Ask, default: str = "py") -> str:
    if ask.paths and ending(ask.paths[0]):
        return ending(ask.paths[0])
    found = re.search(
        rf"\b(?:in|a|an|using|as|with|for)\b (?:an? )?(?:\w+ )?({_LANGUAGE_WORDS})\b(?!\+)", ask.text, re.I
    ) or re.search(
        r"\b(python|javascript|typescript|bash|shell|c\+\+|golang|rust|java|ruby|php|html|node)(?!\w)",
        ask.text,
        re.I,
    )
    return (
        EXTENSIONS.get(found.group(1).lower().replace(".", "").replace("nodejs", "node"), default)
        if found
        else default
    )


def hello_world(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    kind = _asked_language(ask)
    program = HELLO.get(kind)
    if program is None:
        raise CannotDo(
            f"No hello world for {code(kind)} among the templates. There is one for: {', '.join(code(k) for k in HELLO)}."
        )
    return (yield from _write_program(desk, ask, program, program.text()))


def write_program(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    program = program_for(ask.plain())
    if program is None:
        raise CannotDo(no_template(ask.plain()))
    kind = _asked_language(ask, program.language)
    if kind != program.language and kind not in {"md", "txt"}:
        raise CannotDo(
            f"The template for this is written in {language(program.name)}, there is none in {language('x.' + kind) or code(kind)}. Say it without the language to get {code(program.name)}."
        )
    return (yield from _write_program(desk, ask, program, program.text()))


def no_template(wanted: str) -> str:
    names = ", ".join(code(p.name) for p in PROGRAMS)
    return (
        f"Not written: “{clip(wanted, 120)}” is not among the templates, and the demo model cannot write code of its own.\n\n"
        f"Templates: hello world (Python, JavaScript, shell, C, Go, Rust …), {names}. "
        'A skeleton is possible too: “create an empty script called tool.py”. So is a file with text that you give: `create notes.txt with the text "…"`.'
    )


def _write_program(desk: Desk, ask: Ask, program: Program, content: str) -> Script:
    if program.name == "test_example.py" and ask.has(
        r"\btests? (?:for|of) (?!me\b|this\b|us\b|python\b|javascript\b|an? )"
    ):
        raise CannotDo(
            "Not written: what a test expects is to be said. Give a call, for example “add a test for total([1, 2])”; the demo model writes down what the function gives for it."
        )
    path = yield from place_for(desk, ask, program.name)
    yield from moves.write(desk, path, content, f"Writing {code(path)} from a template.")
    runs = run_command(path)
    tip = f" “run it” does {code(runs)}." if runs and program.runs else ""
    return f"Wrote {link(path)} ({count(content.count(chr(10)), 'line')}): {program.about}. It is a ready template, not written for you.{tip}"


def place_for(desk: Desk, ask: Ask, usual: str) -> Move[str]:
    """The path asked for, if it is free; else the usual name, with a number when taken."""
    if ask.paths:
        path = ask.paths[0]
        if path.endswith("/"):
            path += usual
        elif "." not in path.rsplit("/", 1)[-1] and "/" in path:
            path += "/" + usual
        overwrite = ask.has(r"\boverwrite\b|\breplace it\b|\beven if\b")
        if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
            if not overwrite:
                raise CannotDo(f"{link(path)} {_ALREADY.format(path=path)}")
            yield from moves.read(
                desk, path, "It exists. Reading it first, so that “undo” can bring it back.", check=False
            )
        return path
    named = re.search(rf"\b(?:called|named|call it|name it|as) ({NAME})", ask.text, re.I)
    usual = _with_ending(ask.plain(named.group(1)), usual) if named else usual
    stem, dot, ext = usual.rpartition(".")
    for number in range(1, 6):
        path = usual if number == 1 else (f"{stem}_{number}.{ext}" if dot and stem else f"{usual}_{number}")
        if not (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
            return path
    raise CannotDo(f"{code(usual)} and four numbered names after it exist. Name the file to write.")


def _with_ending(name: str, usual: str) -> str:
    return name if "." in name or "." not in usual else f"{name}.{usual.rsplit('.', 1)[-1]}"


def create_file(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A file with given content, or else a skeleton that fits its name."""
    path = _asked_name(ask)
    if re.match(r"(?:add|put|insert)\b.* (?:to|in|into) ‹p\d+›", match.group(), re.I) and not ask.has(
        r"\bnew file\b"
    ):
        raise CannotDo(
            f'Not done: “{clip(ask.plain(), 80)}” is a wish, and the demo model cannot write code or text of its own. Give the text in quotes: `add the line "…" to {path}`.'
        )
    given = _given_content(ask, path, match.groupdict().get("text"))
    if given is None and not ask.has(r"\bempty\b|\bblank\b|\btouch\b"):
        program = program_for(_without_name(ask)) if ending(path) in {"py", "sh", ""} else None
        if program is not None:
            return (yield from _write_program(desk, ask, program, program.text()))
        if re.search(r"hello[, ]*world", ask.text, re.I) and ending(path) in HELLO:
            return (yield from hello_world(desk, ask, match))
        if (
            ending(path) in {"py", "sh", "js", "ts"}
            and not ask.has(r"\b(?:skeleton|template|new file)\b")
            and ask.has(r"\b(?:that|which|to|for|with) \w+")
        ):
            raise CannotDo(no_template(ask.plain()))
    if given is None and ask.has(
        r"\b(?:from|like|based on|similar to|copy of|out of|sorted|table of|list of all)\b"
    ):
        raise CannotDo(
            f"Not written: “{clip(ask.plain(), 80)}” asks for more than an empty file or a template, and the demo model writes no text of its own. Give the text in quotes."
        )
    # A name of the person's own is taken as it is; a usual one gets a number when it is taken.
    own = bool(ask.paths) or ask.has(r"\b(?:called|named)\b")
    place = yield from place_for(
        desk,
        Ask("‹p0›" + (" overwrite" if ask.has(r"\boverwrite\b") else ""), (path,)) if own else Ask("", ()),
        path,
    )
    note = ""
    if given is None:
        given, note = _skeleton(ask, place)
    if given is None and not ask.has(
        r"\b(?:about|describing|explaining|listing|with|that|containing|for|which|of)\b"
    ):
        given, note = "", ", empty: no text for it was given."
    if given is None:
        raise CannotDo(
            f'Not written: what should stand in {code(place)}? Give the text in quotes: `create {place} with the text "…"`. “create an empty {place}” works too.'
        )
    yield from moves.write(
        desk, place, given if given.endswith("\n") or not given else given + "\n", f"Writing {code(place)}."
    )
    shown, more = head(given, 12)
    body = f"\n\n{fence(shown, fence_language(place))}" if given.strip() else ""
    return f"Wrote {link(place)}{note or (', empty.' if not given else ':')}{body}" + (
        f"\n\n{count(more, 'more line')} in the file." if more else ""
    )


def _asked_name(ask: Ask) -> str:
    if ask.paths and ask.paths[0].lower() in {"readme", "changelog"}:
        return f"{ask.paths[0].upper()}.md"
    if ask.paths:
        return (
            ask.paths[-1]
            if re.search(
                rf"\b(?:to|into|in|as) (?:a |the )?(?:new )?(?:file )?(?:called |named )?{P}$", ask.text
            )
            and not ask.has(rf"(?:create|make|write|new file|touch) (?:an? |the )?(?:\w+ )?(?:file )?{P}")
            else ask.paths[0]
        )
    named = re.search(rf"\b(?:called|named|call it|name it) ({Q}|[\w.-]+)", ask.text, re.I)
    kind = next(
        (
            key
            for key in (
                "readme",
                "gitignore",
                "license",
                "dockerfile",
                "makefile",
                "pyproject",
                "package",
                "changelog",
            )
            if ask.has(rf"\.?{key}\b|{'licence' if key == 'license' else key}")
        ),
        "",
    )
    if kind:
        return ".gitignore" if kind == "gitignore" else SKELETONS[kind].name
    if ask.has(r"\b(?:web ?site|web ?page|page)\b"):
        return "index.html"
    spoken = re.search(
        rf"\b({'|'.join(re.escape(k) for k in sorted(EXTENSIONS, key=len, reverse=True) if len(k) > 1)})\b",
        ask.text,
        re.I,
    )
    ext = EXTENSIONS[spoken.group(1).lower()] if spoken else ("py" if ask.has(r"\bscript\b") else "txt")
    if named:
        return _with_ending(ask.plain(named.group(1)), f"x.{ext}")
    return {
        "html": "index.html",
        "css": "style.css",
        "json": "data.json",
        "csv": "example.csv",
        "yml": "config.yml",
        "md": "notes.md",
        "txt": "notes.txt",
    }.get(ext, f"script.{ext}")


def _without_name(ask: Ask) -> str:
    """The request's words, and the file name's too: "create fibonacci.py" is a wish as well."""
    return re.sub(r"[_-]", " ", ask.plain())


def _given_content(ask: Ask, path: str, text: str | None = None) -> str | None:
    if ask.blocks:
        return ask.blocks[0]
    if text is not None:
        return ask.plain(text).strip()
    told = described(ask, path)
    if told is not None:
        return told
    quotes = [q for q in ask.quotes if q != path]
    if quotes and not re.search(rf"\b(?:called|named) {Q}", ask.text):
        if ask.has(r"\btitle\b|\bheading\b") and ending(path) in {"html", "md"}:
            return None
        if len(quotes) == 1 and "," in quotes[0] and ask.has(r"\bwith (?:the |these |following )*lines:? ‹q"):
            return "\n".join(split_items(ask, quotes[0]))
        return (
            "\n".join(quotes)
            if len(quotes) > 1 and ask.has(r"\blines?\b")
            else quotes[0].replace("\\n", "\n")
        )
    if ask.has(r"\bempty\b|\bblank\b|^touch\b"):
        return ""
    pairs = (
        re.findall(
            r"\b(\w+)(?: is| =|=|:| of|) (‹q\d+›|[A-Z]\w*|\d+(?:\.\d+)?|true|false)\b",
            ask.text.split(" with ", 1)[1],
        )
        if " with " in ask.text and ending(path) == "json"
        else []
    )
    if pairs:
        return (
            json.dumps(
                {
                    key: _json_value(ask.plain(value))
                    for key, value in pairs
                    if key not in {"and", "the", "keys"}
                },
                indent=2,
                ensure_ascii=False,
            )
            + "\n"
        )
    return None


def _json_value(word: str) -> object:
    try:
        return json.loads(word)
    except json.JSONDecodeError:
        return word


def _skeleton(ask: Ask, path: str) -> tuple[str | None, str]:
    name = path.rsplit("/", 1)[-1].lower()
    key = next(
        (
            k
            for k in (
                "readme",
                "gitignore",
                "license",
                "dockerfile",
                "makefile",
                "pyproject",
                "package",
                "changelog",
            )
            if k in name
        ),
        "",
    ) or {"htm": "html", "yaml": "yaml", "yml": "yaml", "mjs": "js", "bash": "sh"}.get(
        ending(path), ending(path)
    )
    if (
        key == "md"
        and not ask.has(r"\b(?:title|heading|titled)\b")
        and ask.has(r"\b(?:about|with|list|describing|that|containing|of|for)\b")
    ):
        return None, ""
    if key == "md":
        title = ask.quotes[0] if ask.quotes else re.sub(r"[_-]", " ", name.rsplit(".", 1)[0]).capitalize()
        return f"# {title}\n", " with a title and nothing else:"
    program = SKELETONS.get(key)
    if program is None:
        return None, ""
    titled = re.search(
        r"\b(?:titled?|heading|called|named|about|for) (?:of |is |as |a |the )?(‹q\d+›|[A-Z][\w ]+)", ask.text
    )
    title = (
        ask.plain(titled.group(1))
        if titled
        else {"readme": "Project", "html": "My page"}.get(key, "A script to fill in.")
    )
    text = program.text().replace("@TITLE@", title).replace("@NAME@", "example")
    does = (
        " It does nothing yet: the demo model cannot write code of its own."
        if key in {"py", "sh", "js"}
        else ""
    )
    if key == "gitignore":
        more = [p for p in [*ask.paths, *ask.quotes] if "gitignore" not in p]
        text += "".join(f"{p}\n" for p in more if p not in text.split("\n"))
    return text, f", a skeleton with {program.about}.{does}"


def create_tests(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Tests that a module can be imported and has its functions: a start that runs."""
    if not ask.paths and not desk.it():
        return (yield from write_program(desk, ask, match))
    source = yield from moves.reach(desk, desk.file_of(ask))
    if ending(source.path) != "py":
        raise CannotDo(f"Test skeletons are possible for Python files only; {link(source.path)} is not one.")
    found = [
        i
        for i in outline(source.path, source.text).items
        if i.kind in {"function", "class"} and not i.name.startswith("_")
    ]
    if not found:
        raise CannotDo(f"{link(source.path)} has no functions or classes to test.")
    module = source.path.rsplit("/", 1)[-1].removesuffix(".py")
    path = (
        f"test_{module}.py" if "/" not in source.path else f"{source.path.rsplit('/', 1)[0]}/test_{module}.py"
    )
    lines = [f'"""A start for tests of {module}: that everything is there. Expected results are yours to add."""', "", "import importlib.util", "from pathlib import Path", "",
             f'SPEC = importlib.util.spec_from_file_location("{module}", Path(__file__).with_name("{module}.py"))', "MODULE = importlib.util.module_from_spec(SPEC)", "SPEC.loader.exec_module(MODULE)"]  # fmt: skip
    for item in found:
        name = item.name.split("(")[0]
        lines += ["", "", f"def test_{name.lower()}_is_there():", f"    assert callable(MODULE.{name})"]
    if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
        raise CannotDo(f"{link(path)} {_ALREADY.format(path=path)}")
    yield from moves.write(desk, path, "\n".join(lines) + "\n", f"Writing {code(path)}.")
    return f"Wrote {link(path)} with {count(len(found), 'test')} for {link(source.path)}. They check only that each function or class is there: what it should return, the demo model does not know. “run the tests” runs them."


def create_list(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """ "a shopping list with milk, eggs and bread": the items as a Markdown list."""
    items = [
        item.strip()
        for item in re.split(r",\s*(?:and\s+)?|\s+and\s+", ask.plain(match.group("items")))
        if item.strip()
    ]
    name = (match.groupdict().get("name") or "").strip().lower().replace(" ", "-")
    path = yield from place_for(desk, Ask("", ()), f"{name + '-' if name else ''}list.md")
    title = f"# {name.replace('-', ' ').capitalize()} list\n\n" if name else ""
    yield from moves.write(desk, path, title + bullets(items) + "\n", f"Writing {code(path)}.")
    return f"Wrote {link(path)} with {count(len(items), 'item')}:\n\n{bullets(items)}"


def create_files(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Several files at once."""
    made, kept = [], []
    content = _given_content(ask, "")
    for path in ask.paths:
        if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
            kept.append(path)
            continue
        yield from moves.write(desk, path, content + "\n" if content else "", f"Writing {code(path)}.")
        made.append(path)
    parts = (
        [
            f"Wrote {count(len(made), 'file')}{' with the text given' if content else ', empty'}:\n\n{bullets(link(p) for p in made)}"
        ]
        if made
        else []
    )
    if kept:
        parts.append(f"Left as they are, because they exist: {', '.join(link(p) for p in kept)}.")
    return "\n\n".join(parts)


_MAKE = r"(?:create|make|write|generate|add|build|give me|produce|set up|touch|new|i (?:want|need)|code|program|implement|develop|prepare|overwrite|put|draft|initiali[sz]e|save)"
_SCRIPT = r"(?:script|program|app|application|function|code|tool|example|snippet|game|class|algorithm|utility|cli|file|module|page|server|method|test|tests|unit test|command.line \w+)"
_TEMPLATE = "|".join(p.words for p in PROGRAMS)
_FILE_WORDS = r"(?:readme|\.?gitignore|licen[sc]e|dockerfile|makefile|pyproject(?:\.toml)?|changelog|(?:\w+ )?(?:file|page|document|script|skeleton|website|webpage|stylesheet|style sheet|template))"

RULES: list[Rule] = [
    rule(rf"{_MAKE}\b(?!.*\bto ‹p\d+›).*?\bhello,? ?-?world\b(?!‹).*", hello_world),
    rule(rf"hello,? ?world (?:in|program|script|using).*|(?:an? )?{_LANGUAGE_WORDS} hello world.*", hello_world),
    rule(rf"{_MAKE}\b.*\b(?:unit ?tests?|tests?|test (?:file|case|suite|skeleton)s?|pytest)\b.*\b(?:for|of)\b.*(?:{P}|\bit\b|that file|this file).*", create_tests),
    rule(rf"{_MAKE}\b(?: \d+| some| the| three| two| few| these| empty| new| following)* (?:files?|documents?)?:? ?(?:called |named )?{P},? (?:and )?{P}.*", create_files),
    rule(rf"(?:overwrite|replace the (?:whole )?contents? of|empty|truncate)\b (?:the )?(?:file )?{P} (?:with|by).*", create_file),
    rule(rf"(?:create|make|write|generate|build|code|program|implement|develop|prepare)\b(?!(?: me)? an? (?:backup|copy)\b(?!.*\bscript))(?!.* (?:to|in|into|at) (?:the )?(?:end|top|bottom|beginning|start)? ?(?:of )?(?:the |my |existing )?(?:file )?‹p\d+›$)(?!.*\b(?:line|heading|section|entry|comment|docstring|item|row|column)\b.*‹p).*?(?:{_SCRIPT}|{P})?.*\b(?:{_TEMPLATE})\b.*", write_program),
    rule(rf"{_MAKE}\b(?!.* (?:to|in|into|at) (?:the )?(?:end|top|bottom|beginning|start)? ?(?:of )?(?:the |my |existing )?(?:file )?‹p\d+›$)(?!.*\b(?:line|heading|section|entry|comment|docstring|item|row|column)\b.*‹p).*?{_SCRIPT}\b.*\b(?:{_TEMPLATE})\b.*", write_program),
    rule(rf"(?:create|add|make|write|generate|touch|new|build|set up|start|overwrite|produce|prepare|draft|initiali[sz]e|i (?:want|need)|give me|save)\b(?: me| us)? (?:an? |the |some |my |another )*(?:new |empty |blank |simple |basic |small |sample |short |example |minimal |little |plain |standard |good |default |usual |proper )*(?:file|{_FILE_WORDS}|(?:\w+ )?file)? ?(?:(?:called|named|at|in|to|as|with the name) )?(?:the file )?{P}.*", create_file),
    rule(rf"(?:create|make|write|generate|touch|new|build|set up|start|produce|prepare|draft|add|initiali[sz]e|i (?:want|need)|give me)\b(?: me| us)? (?:an? |the |some |my |another )*(?:new |empty |blank |simple |basic |small |sample |short |example |minimal |little |plain |standard |good |default |usual |proper )*(?:html5? |css |json |yaml |markdown |python |text |txt |shell |bash |csv |js |javascript |web |mit |config |configuration |todo )*{_FILE_WORDS}\b(?!.*\b(?:entry|section)\b)(?:(?!‹p).)*$", create_file),
    rule(r"(?:create|make|write)\b(?: me)? (?:an? |the |my )(?P<name>[\w ]{0,30}?) ?(?:check ?)?list (?:with|of|containing|:)(?: the items?)?:? (?P<items>[^‹]+,[^‹]+)$", create_list),
    rule(rf"(?:write|put|save|store)\b (?P<text>{Q}|‹c\d+›|(?!(?:an?|the|some|all|every|each|my|your|its|this|these|two|three|four|five|ten|several|\d+) )[^‹]+?) (?:into|to|(?<=›) in) (?:an? |the )?(?:new |text )*(?:file )?(?:called |named )?{P}$", create_file),
]  # fmt: skip
