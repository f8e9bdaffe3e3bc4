"""Facts about code that can be read off it: what has no docstring, what has no test, how much of everything, which version is asked for."""

from __future__ import annotations

import ast
import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import look_up
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, code, count, ending, link, table

_MOST_FILES = 30


def _python_files(desk: Desk, ask: Ask, *, tests: bool) -> Move[list[str]]:
    """The Python files a request is about. Raises CannotDo when there are none."""
    named = [p for p in ask.paths if p.endswith(".py")]
    if named:
        return named
    every = yield from moves.every_path(desk, "Looking for Python files.")
    folders = [p.rstrip("/") + "/" for p in ask.paths if "." not in p]
    files = [p for p in every if p.endswith(".py") and (not folders or p.startswith(tuple(folders)))]
    files = [p for p in files if tests or not is_test(p)]
    if not files:
        raise CannotDo("There are no Python files here to look at.")
    return files[:_MOST_FILES]


def is_test(path: str) -> bool:
    """Whether a file holds tests, by its name."""
    name = path.rsplit("/", 1)[-1]
    return (
        name.startswith("test_")
        or name.endswith("_test.py")
        or name == "conftest.py"
        or "/tests/" in f"/{path}"
    )


def _trees(desk: Desk, files: list[str]) -> Move[list[tuple[str, ast.Module]]]:
    found = []
    for path in files:
        text = yield from moves.reach(desk, path)
        try:
            found.append((text.path, ast.parse(text.text)))
        except SyntaxError:
            continue
    return found


def undocumented(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Functions and classes without a docstring."""
    files = yield from _python_files(desk, ask, tests=False)
    trees = yield from _trees(desk, files)
    wanted = (
        (ast.ClassDef,)
        if ask.has(r"\bclass(?:es)?\b") and not ask.has(r"\bfunctions?\b")
        else (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    )
    rows, seen = [], 0
    for path, tree in trees:
        for node in ast.walk(tree):
            if isinstance(node, wanted) and not (node.name.startswith("__") and node.name.endswith("__")):
                seen += 1
                if ast.get_docstring(node) is None:
                    rows.append((code(node.name), link(path, node.lineno)))
    if not rows:
        return f"All {count(seen, 'function or class', 'functions and classes')} in {count(len(trees), 'Python file')} have a docstring."
    return f"{len(rows)} of {count(seen, 'function or class', 'functions and classes')} in {count(len(trees), 'Python file')} (tests left out) have no docstring:\n\n{table(('name', 'where'), rows[:60])}"


def untested(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Modules or functions that no test names."""
    files = [
        p
        for p in (yield from _python_files(desk, ask, tests=False))
        if not p.endswith(("__init__.py", "setup.py"))
    ]
    every = yield from moves.every_path(desk)
    tests = [p for p in every if p.endswith(".py") and is_test(p)]
    if not tests:
        return f"There are no test files here at all, so none of the {count(len(files), 'Python file')} has tests."
    text = ""
    for path in tests[:_MOST_FILES]:
        text += (yield from moves.reach(desk, path)).text + "\n"
    if ask.has(r"\b(?:functions?|methods?|class(?:es)?)\b"):
        trees = yield from _trees(desk, files)
        names = [
            (node.name, path, node.lineno)
            for path, tree in trees
            for node in tree.body
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef))
            and not node.name.startswith("_")
        ]
        missing = [
            (code(n), link(p, line)) for n, p, line in names if not re.search(rf"\b{re.escape(n)}\b", text)
        ]
        if not missing:
            return f"All {len(names)} public functions and classes are named in a test."
        return f"{len(missing)} of {len(names)} public functions and classes are named in no test:\n\n{table(('name', 'where'), missing[:60])}"
    without = [
        p
        for p in files
        if not re.search(
            rf"\b(?:import|from)\b.*\b{re.escape(p.rsplit('/', 1)[-1].removesuffix('.py'))}\b", text
        )
    ]
    if not without:
        return f"Each of the {count(len(files), 'Python file')} is imported by some test."
    return f"{len(without)} of {count(len(files), 'Python file')} {'is' if len(without) == 1 else 'are'} imported by no test:\n\n{bullets(link(p) for p in without)}\n\nThe tests are {', '.join(link(t) for t in tests[:6])}. This compares imports; what a test really runs needs a coverage tool."


def how_much_code(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Functions, methods, classes and tests by file."""
    files = yield from _python_files(desk, ask, tests=True)
    trees = yield from _trees(desk, files)
    rows, total = [], [0, 0, 0, 0]
    for path, tree in trees:
        methods = {
            id(n)
            for c in ast.walk(tree)
            if isinstance(c, ast.ClassDef)
            for n in c.body
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        }
        every = [n for n in ast.walk(tree) if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))]
        tests = sum(n.name.startswith("test") for n in every) if is_test(path) else 0
        numbers = [
            sum(id(n) not in methods for n in every),
            len(methods),
            sum(isinstance(n, ast.ClassDef) for n in ast.walk(tree)),
            tests,
        ]
        total = [a + b for a, b in zip(total, numbers, strict=True)]
        if any(numbers):
            rows.append((link(path), *map(str, numbers)))
    lead = f"**{count(total[0], 'function')}**, **{count(total[1], 'method')}** and **{count(total[2], 'class', 'classes')}** in {count(len(trees), 'Python file')}; {count(total[3], 'of them is a test', 'of them are tests')}."
    return f"{lead}\n\n{table(('file', 'functions', 'methods', 'classes', 'tests'), rows[:40])}"


def longest_function(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Functions by their length."""
    trees = yield from _trees(desk, (yield from _python_files(desk, ask, tests=True)))
    found = sorted(
        (
            (-((n.end_lineno or n.lineno) - n.lineno + 1), n.name, path, n.lineno)
            for path, tree in trees
            for n in ast.walk(tree)
            if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef))
        )
    )
    if not found:
        raise CannotDo("The Python files here have no functions.")
    if ask.has(r"\bshortest\b"):
        found.reverse()
    return f"The {'shortest' if ask.has(r'shortest') else 'longest'} function is {code(found[0][1])} at {link(found[0][2], found[0][3])} with {count(-found[0][0], 'line')}:\n\n{table(('function', 'lines', 'where'), [(code(n), str(-length), link(p, line)) for length, n, p, line in found[:8]])}"


def version_of(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Where a dependency is asked for, and which version."""
    name = ask.plain(match.group("name")).strip()
    hits = yield from moves.search(
        desk, rf"\b{re.escape(name)}\b", f"Where is {code(name)} asked for?", ignore_case=True, limit=60
    )
    manifests = [
        h
        for h in hits
        if re.search(
            r"(?:requirements[\w-]*\.txt|requirements/.*\.txt|pyproject\.toml|setup\.(?:py|cfg)|package\.json|Pipfile|Cargo\.toml|go\.mod|Gemfile|environment\.yml|composer\.json)$",
            h.path,
        )
    ]
    asked = [
        (h, m.group())
        for h in manifests
        if (
            m := re.search(
                rf"\b{re.escape(name)}\b\"?'?(?:\[[\w,]+\])?\s*(?:[:=]\s*)?[\"']?\s*(?:[=~^<>!]=?[^\"'#\n,;]*|[\d^~][^\"'#\n,;]*)",
                h.text,
                re.I,
            )
        )
    ]
    if not asked and manifests:
        return f"{code(name)} is asked for without a version in {', '.join(link(h.path, h.line) for h in manifests[:5])}."
    if not asked:
        raise CannotDo(f"Not found: no file of dependencies here names {code(name)}.")
    lines = [f"{link(h.path, h.line)}: {code(text.strip().rstrip(','))}" for h, text in asked[:8]]
    return f"{code(name)} is asked for so:\n\n{bullets(lines)}"


def doubled_lines(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Lines that stand more than once in a file."""
    text = yield from moves.reach(desk, desk.file_of(ask))
    places: dict[str, list[int]] = {}
    for number, line in enumerate(text.lines, 1):
        if line.strip():
            places.setdefault(line.strip(), []).append(number)
    doubled = {line: at for line, at in places.items() if len(at) > 1}
    if not doubled:
        return f"No line stands twice in {link(text.path)}."
    rows = [(code(line[:100]), ", ".join(map(str, at))) for line, at in list(doubled.items())[:40]]
    return f"{count(len(doubled), 'line')} of {link(text.path)} {'stands' if len(doubled) == 1 else 'stand'} more than once:\n\n{table(('line', 'at'), rows)}"


def unused(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Functions and classes whose name stands nowhere but in their definition."""
    every = yield from moves.every_path(desk, "Looking for code.")
    kinds = {"js", "ts", "mjs"} if ask.has(r"\b(?:javascript|js|typescript)\b") else {"py", "js", "ts", "mjs"}
    files = [p for p in every if ending(p) in kinds][:_MOST_FILES]
    if not files:
        raise CannotDo("There is no Python or JavaScript code here to look at.")
    texts = {}
    for path in files:
        texts[path] = (yield from moves.reach(desk, path)).text
    pages = [p for p in every if ending(p) in {"html", "vue", "svelte"}][:_MOST_FILES]
    whole = "\n".join(texts.values())
    for path in pages:
        whole += "\n" + (yield from moves.reach(desk, path)).text
    rows, seen = [], 0
    for path, text in texts.items():
        if is_test(path):
            continue
        for item in outline(path, text).items:
            name = item.name.split("(")[0].rsplit(".", 1)[-1]
            if item.kind not in {"function", "class", "method"} or name.startswith("__") or name == "main":
                continue
            seen += 1
            if len(re.findall(rf"(?<!\w){re.escape(name)}(?!\w)", whole)) == 1:
                rows.append((code(name), item.kind, link(path, item.line)))
    if not rows:
        return f"The names of all {count(seen, 'function or class', 'functions and classes')} stand in more than their definition."
    return f"{len(rows)} of {count(seen, 'function or class', 'functions and classes')} are named nowhere but in their definition:\n\n{table(('name', 'kind', 'where'), rows[:40])}\n\nThis compares names; code may still be called from outside."


def all_imports(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """What every file imports."""
    every = yield from moves.every_path(desk, "Looking for code.")
    files = [p for p in ask.paths if "." in p] or [
        p for p in every if ending(p) in {"py", "js", "ts", "mjs", "go", "rs", "java"}
    ][:_MOST_FILES]
    rows = []
    for path in files:
        text = yield from moves.reach(desk, path)
        found = outline(text.path, text.text).imports
        if found:
            rows.append((link(text.path), ", ".join(code(n) for n in found[:12])))
    if not rows:
        return f"None of the {count(len(files), 'file')} imports anything."
    return (
        f"{len(rows)} of {count(len(files), 'file')} import something:\n\n{table(('file', 'imports'), rows)}"
    )


def own_version(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """The version the project says it has."""
    hits = yield from moves.search(
        desk, r"^\s*\"?(version|__version__)\"?\s*[:=]", "Where does the version stand?", limit=40
    )
    named = [
        h
        for h in hits
        if re.search(
            r"(?:pyproject\.toml|package\.json|setup\.(?:cfg|py)|Cargo\.toml|__init__\.py|version\.\w+|composer\.json)$",
            h.path,
        )
    ]
    if not named:
        return (yield from look_up(desk, ask, _match))
    lines = [f"{link(h.path, h.line)}: {code(h.text.strip().rstrip(','))}" for h in named[:6]]
    said = re.search(r"\d+(?:\.\d+)+[\w.-]*", named[0].text)
    return f"Version **{said.group() if said else named[0].text.strip()}**:\n\n{bullets(lines)}"


def longest_in_file(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The longest or shortest word or line of a file."""
    text = yield from moves.reach(desk, desk.file_of(ask))
    words = match.group("what").lower().startswith("word")
    items = (
        re.findall(r"[^\W_][\w'-]*", text.text) if words else [line for line in text.lines if line.strip()]
    )
    if not items:
        return f"{link(text.path)} has none."
    longest = match.group("how").lower() == "longest"
    edge = (max if longest else min)(map(len, items))
    found = list(dict.fromkeys(item for item in items if len(item) == edge))
    part = "" if text.whole else " in the part one read shows"
    return f"The {match.group('how').lower()} {match.group('what').lower()} of {link(text.path)}{part} has {count(edge, 'character')}: {', '.join(code(f[:200]) for f in found[:5])}."


_ASK = r"(?:which|what|list|show(?: me)?|find|are there|is there|do (?:we|i) have|tell me which|give me|check(?: which)?)"

RULES: list[Rule] = [
    rule(r"(?!.*\b(?:python|node|npm|git|docker|rust|go|java|ruby|php|pip)\b)(?:(?:what|which|where|whats|tell me|show(?: me)?|find|is|give me|at)\b.*)?\bversion(?: number)?\b(?!.*\b(?:python|node|npm|git|docker|rust|go|java|ruby|php|pip|first|release[sd]?|when|(?:of|for) (?!(?:this|the|it|our|my)\b)\S+|change\w*|bump\w*)\b).*", own_version),
    rule(r"(?:what(?:'s| is| are)?|which|find|show(?: me)?|print|tell me)\b(?: is)?(?: the)? (?P<how>longest|shortest) (?P<what>words?|lines?)\b.*(?:‹p\d+›|\bit\b).*", longest_in_file),
    rule(rf"{_ASK}\b.*\b(?:unused|never (?:called|used)|not (?:called|used|needed)|dead|uncalled)\b.*\b(?:functions?|methods?|class(?:es)?|code|javascript|js|python)\b.*|{_ASK}\b.*\b(?:functions?|methods?|class(?:es)?|code|javascript|js|python)\b.*\b(?:unused|never (?:called|used)|not (?:called|used|needed)|isn't (?:called|used)|aren't (?:called|used)|nobody (?:calls|uses))\b.*", unused, lambda ask: not ask.has(r"\bimports?\b|\bvariables?\b")),
    rule(r"(?:list|show(?: me)?|what(?: are)?|which|give me|find)\b(?: all| the| every| are)* (?:imports?|imported (?:modules?|packages?|libraries)|modules (?:are )?(?:imported|used))(?: (?:in|of|from|used|are|by|there|here|this|the|all|every|project|code|files?|python|‹p\d+›))*$", all_imports, lambda ask: not ask.has(r"\bunused\b") and len(ask.paths) != 1),
    rule(rf"{_ASK}\b.*\b(?:functions?|methods?|class(?:es)?|modules?|code|things|definitions)\b.*\b(?:without|no|not|missing|lack\w*|undocumented|don't|doesn't)\b.*\b(?:doc ?strings?|document\w*|comments?)\b.*|{_ASK}\b.*\bundocumented\b.*", undocumented),
    rule(rf"{_ASK}\b.*\b(?:functions?|methods?|class(?:es)?|modules?|files?|scripts?|code)\b.*\b(?:without|no|not|missing|lack\w*|untested|don't|doesn't|isn't|aren't)\b.*\b(?:tests?|tested|covered)\b.*|{_ASK}\b.*\buntested\b.*|(?:how|what)(?:'s| is| good is)(?: the| our)? (?:test )?coverage\b.*|(?:what|which \w+|is there anything|is anything)\b.*\b(?:isn't|is not|not|aren't|are not) (?:yet )?(?:tested|covered)\b.*", untested, lambda ask: not ask.has(r"\bpass\w*\b|\bfail\w*\b|\brun\b")),
    rule(r"(?:how many|count|number of)\b(?: the| all| of)* (?:different )?(?:functions?|methods?|class(?:es)?|unit ?tests?|tests?|test cases)(?:(?:,? and|,|&) (?:the )?(?:functions?|methods?|class(?:es)?|tests?))*(?: are| do| does| have| we| i| is| there| in| here| the| this| project| code| package| folder| total| overall| altogether| exist| defined| got|‹p\d+›)*$", how_much_code, lambda ask: not ask.paths or all(p.endswith(".py") or "." not in p for p in ask.paths)),
    rule(r"(?:which|what|find|show(?: me)?)\b.*\b(?:longest|shortest|biggest|largest) (?:function|method)s?\b.*|(?:which|what) (?:function|method) is (?:the )?(?:longest|shortest|biggest)\b.*", longest_function),
    rule(r"(?:what|which)(?:'s| is| are)? (?:the )?(?:version|release)s? (?:of|for) (?P<name>‹q\d+›|(?!(?:python|node|git|this|the|our|my|it|that)\b)[A-Za-z][\w.-]+)\b(?: .*)?$", version_of),
    rule(r"(?:are|is) there (?:any )?(?:duplicate[ds]?|double[d]?|repeated) (?:lines?|entries|words)\b.*(?:in|of) .*‹p\d+›.*|(?:which|what|find|show|list)\b.*\b(?:duplicate[ds]?|doubled?|repeated) (?:lines?|entries|words|names|items)\b.*(?:in|of) .*‹p\d+›", doubled_lines),
]  # fmt: skip
