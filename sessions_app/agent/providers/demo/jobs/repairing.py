"""Jobs on failing tests and new ones: only mechanical repairs, and a test whose expected value was computed by running."""

from __future__ import annotations

import difflib
import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.failures import Failure
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.jobs.running import failing_tests, run_of_tests
from sessions_app.agent.providers.demo.moves import Move
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, fence, fence_language, link

_CLOSE = 0.75


def fix_tests(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Run the tests, repair what is only a slip of spelling or punctuation, else show where it is."""
    run = yield from run_of_tests(desk, ask)
    if not run.failed:
        return f"Nothing to fix: the tests pass{': ' + code(run.summary) if run.summary else '.'}\n\nCommand: {code(run.command)}"
    names = failing_tests(run.text)
    head = f"The tests fail{': ' + code(run.summary) if run.summary else ''}."
    done = yield from _repaired(desk, run.text, run.failure)
    if done:
        again = yield from run_of_tests(desk, ask, say="Running the tests again.")
        state = "They pass now" if not again.failed else "They still fail"
        return f"{head}\n\n{done}\n\n{state}{': ' + code(again.summary) if again.summary else '.'}"
    parts = [head]
    if names:
        parts.append(bullets(f"failing: {code(name)}" for name in names[:10]))
    failure = run.failure
    if failure is not None:
        if failure.message:
            parts.append(
                f"It says {code(clip(failure.message, 200))}."
                + (f" {failure.compared}" if failure.compared else "")
            )
        shown = yield from _code_involved(desk, failure)
        if shown:
            parts.append(shown)
    parts.append(
        "Not fixed: this is no slip of spelling or punctuation, and deciding whether the test or the code is wrong needs a model that understands. Nothing was changed."
    )
    return "\n\n".join(parts)


def why_tests_fail(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Run the tests and lay the failing line beside the code it calls, with the comments in it. Changes nothing."""
    run = yield from run_of_tests(desk, ask)
    if not run.failed:
        return f"The tests pass{': ' + code(run.summary) if run.summary else '.'}\n\nCommand: {code(run.command)}"
    parts = [f"The tests fail{': ' + code(run.summary) if run.summary else ''}."]
    parts += [bullets(f"failing: {code(name)}" for name in failing_tests(run.text)[:10])]
    if run.failure is not None:
        says = run.failure.message
        if says:
            parts.append(
                f"It says {code(clip(says, 200))}."
                + (f" {run.failure.compared}" if run.failure.compared else "")
            )
        parts.append((yield from _code_involved(desk, run.failure)))
    shown = "\n\n".join(part for part in parts if part)
    remark = re.search(r"^\s*(?:#|//)\s*((?:FIXME|BUG|TODO|XXX|HACK)\b.*)$", shown, re.M)
    if remark:
        shown += f"\n\nA comment in that code names the reason: “{clip(remark.group(1), 160)}”."
    return f"{shown}\n\nThat is read from the output and the code; nothing was changed."


def _code_involved(desk: Desk, failure: Failure) -> Move[str]:
    """The failing line, and the definition of the function it calls."""
    if not failure.path or not failure.line or "read" not in desk.tools:
        return ""
    found = yield from moves.read(desk, failure.path, "Reading the failing place.", check=False)
    if found is None or failure.line > len(found.lines):
        return ""
    line = found.lines[failure.line - 1]
    parts = [
        f"The test, {link(failure.path, failure.line)}:\n\n{fence(line.strip(), fence_language(failure.path))}"
    ]
    for name in re.findall(r"\b([a-z_]\w*)\(", line):
        if name.startswith("assert") or name in {
            "list",
            "len",
            "str",
            "int",
            "print",
            "sorted",
            "dict",
            "set",
            "range",
            "repr",
            "float",
        }:
            continue
        hits = yield from moves.search(desk, rf"^\s*(async )?def {name}\b", f"Where is {code(name)} defined?")
        if not hits:
            continue
        text = yield from moves.read(desk, hits[0].path, f"Reading {code(name)}.", check=False)
        if text is None:
            continue
        item = next((i for i in outline(text.path, text.text).items if i.line == hits[0].line), None)
        body = "\n".join(
            text.lines[
                hits[0].line - 1 : hits[0].line - 1 + min(item.length if item and item.length else 12, 30)
            ]
        )
        parts.append(
            f"The code it calls, {link(text.path, hits[0].line)}:\n\n{fence(body, fence_language(text.path))}"
        )
        break
    return "\n\n".join(parts)


def _repaired(desk: Desk, output: str, failure: Failure | None) -> Move[str]:
    """What was repaired, in words; empty when nothing could be."""
    syntax = re.search(
        r'File "([^"\n]+)", line (\d+)\n(?:[^\n]*\n){1,4}?\s*(?:E\s+)?(SyntaxError|IndentationError|TabError): ([^\n]+)',
        output,
    )
    if syntax:
        return (yield from _syntax(desk, _inside(syntax.group(1)), int(syntax.group(2)), syntax.group(4)))
    module = re.search(r"ModuleNotFoundError: No module named '([\w.]+)'", output)
    if module:
        every = yield from moves.every_path(desk, "Which modules are there?", pattern="*.py")
        have = {re.sub(r"(?:/__init__)?\.py$", "", p).replace("/", ".") for p in every}
        return (
            yield from _renamed(
                desk,
                module.group(1),
                sorted(have | {m.rsplit(".", 1)[-1] for m in have}),
                r"^\s*(?:from|import)\b.*",
            )
        )
    name = re.search(r"ImportError: cannot import name '(\w+)' from '([\w.]+)'", output)
    if name:
        path = name.group(2).replace(".", "/")
        text = yield from moves.read(
            desk, f"{path}.py", f"What does {code(name.group(2))} define?", check=False
        )
        defined = (
            sorted(set(re.findall(r"^(?:def|class|async def) (\w+)|^(\w+) *=", text.text, re.M)))
            if text
            else []
        )
        names = [a or b for a, b in defined]
        return (yield from _renamed(desk, name.group(1), names, r"^.*\bimport\b.*|^.*"))
    unknown = re.search(
        r"NameError: name '(\w+)' is not defined|AttributeError: .*has no attribute '(\w+)'", output
    )
    if unknown and failure is not None and failure.path:
        wanted = unknown.group(1) or unknown.group(2)
        text = yield from moves.read(desk, failure.path, "Reading the place.", check=False)
        if text is None:
            return ""
        names = sorted(set(re.findall(r"[A-Za-z_]\w*", text.text)) - {wanted})
        if unknown.group(2):
            hits = yield from moves.search(
                desk, r"^\s*(async )?def \w+", "Which names are defined?", limit=300
            )
            names = sorted({m.group(1) for h in hits if (m := re.search(r"def (\w+)", h.text))})
        return (yield from _renamed(desk, wanted, names, r"^.*", only=failure.path))
    return ""


def _inside(path: str) -> str:
    """The path within the folder; the output may give it in full."""
    return path if not path.startswith("/") else path.rsplit("/", 1)[-1]


def _syntax(desk: Desk, path: str, number: int, says: str) -> Move[str]:
    """A missing colon or bracket at the end of a line; everything else is left."""
    text = yield from moves.reach(desk, path)
    if number > len(text.lines):
        return ""
    old = text.lines[number - 1]
    new = old
    if "expected ':'" in says or (
        re.match(r"\s*(?:def|class|if|elif|else|for|while|try|except|finally|with)\b", old)
        and not old.rstrip().endswith(":")
        and "invalid syntax" in says
    ):
        new = old.rstrip() + ":"
    closing = re.search(r"'([(\[{])' was never closed", says)
    if closing:
        new = old.rstrip() + {"(": ")", "[": "]", "{": "}"}[closing.group(1)]
        if re.match(r"\s*(?:def|class|if|elif|for|while|with)\b", old) and old.rstrip().endswith(":"):
            new = old.rstrip()[:-1] + {"(": ")", "[": "]", "{": "}"}[closing.group(1)] + ":"
    if new == old:
        return ""
    yield from put_lines(
        desk, text, [*text.lines[: number - 1], new, *text.lines[number:]], f"{says}. Mending line {number}."
    )
    return f"Fixed a slip of punctuation in {link(text.path, number)} ({says}): {code(old.strip())} is now {code(new.strip())}."


def _renamed(desk: Desk, wrong: str, names: list[str], on: str, only: str = "") -> Move[str]:
    """A misspelt name replaced where exactly one known name is close."""
    close = difflib.get_close_matches(wrong, [n for n in names if n and n != wrong], n=2, cutoff=_CLOSE)
    if len(close) != 1 and not (
        len(close) == 2
        and difflib.SequenceMatcher(None, wrong, close[0]).ratio()
        > difflib.SequenceMatcher(None, wrong, close[1]).ratio() + 0.08
    ):
        return ""
    right = close[0]
    hits = yield from moves.search(
        desk,
        rf"\b{re.escape(wrong)}\b",
        f"{code(wrong)} is nearly {code(right)}. Where does it stand?",
        glob="*.py",
    )
    places = [h for h in hits if re.match(on, h.text) and (not only or h.path == only)]
    if not places or len({h.path for h in places}) > 3:
        return ""
    done = []
    for path in dict.fromkeys(h.path for h in places):
        text = yield from moves.full(desk, path)
        new = [
            re.sub(rf"\b{re.escape(wrong)}\b", right, line) if re.match(on, line) else line
            for line in text.lines
        ]
        if new != text.lines:
            yield from put_lines(desk, text, new)
            done.append(link(path))
    return f"Fixed a misspelt name: {code(wrong)} is now {code(right)} in {', '.join(done)}." if done else ""


def add_test(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A test of one call, in the style of the tests there are; its expected value is what the call gives now."""
    said = match.group("call")
    if "(" in said:
        # Quotation marks inside the brackets belong to the call.
        said = re.sub(r"‹q(\d+)›", lambda m: repr(ask.values[int(m.group(1))]).replace("'", '"'), said)
    wanted = ask.plain(said).strip().strip("`").rstrip(".,")
    parts = re.match(r"([A-Za-z_][\w.]*)\s*(?:\((.*)\))?$", wanted, re.S)
    if parts is None:
        raise CannotDo("Add a test for which call? For example: `add a test for total([])`.")
    name, arguments = parts.group(1).rsplit(".", 1)[-1], parts.group(2)
    hits = yield from moves.search(
        desk, rf"^\s*(async )?def {name}\b", f"Looking for {code(name)}.", glob="*.py"
    )
    hits = [h for h in hits if "test" not in h.path.rsplit("/", 1)[-1]]
    if not hits:
        raise CannotDo(f"Not done: no function {code(name)} is defined in the Python files here.")
    if len({h.path for h in hits}) > 1:
        raise CannotDo(
            f"Not done: {code(name)} is defined in several files: {', '.join(link(h.path, h.line) for h in hits[:5])}. Name one."
        )
    module = hits[0].path.removesuffix(".py").removesuffix("/__init__").replace("/", ".").removeprefix("src.")
    needs = re.search(rf"def {name}\s*\(([^)]*)\)", hits[0].text)
    required = [
        p
        for p in (needs.group(1).split(",") if needs else [])
        if p.strip() and "=" not in p and p.strip() not in {"self", "cls", "*", "/"}
    ]
    if arguments is None:
        if required:
            raise CannotDo(
                f"Not done: {code(name)} needs {count(len(required), 'argument')} ({', '.join(code(p.strip()) for p in required)}). Give a call, for example “add a test for {name}(…)”."
            )
        arguments = ""
    given = re.search(
        r"\b(?:returns?|gives?|equals?|is|be|==|expect\w*|should (?:return|give|be|equal))\s+(\S.*)$",
        ask.plain(match.groupdict().get("expected") or ""),
    )
    expected = given.group(1).strip().rstrip(".") if given else ""
    origin = "the value you gave"
    if not expected:
        command = (
            f"python3 -c {moves.quoted(f'from {module} import {name}; print(repr({name}({arguments})))')}"
        )
        outcome = yield from moves.shell(
            desk, command, f"What does {code(f'{name}({arguments})')} give now?", check=False
        )
        if outcome.is_error:
            says = next(
                (line for line in reversed(moves.output(outcome).split("\n")) if line.strip()), "it failed"
            )
            raise CannotDo(
                f"Not done: {code(f'{name}({arguments})')} fails when run: {code(clip(says, 160))}. What it should do instead, the demo model does not know."
            )
        expected = moves.output(outcome).strip().split("\n")[-1]
        origin = "what the function returns today, found by running it"
    tests = yield from moves.search(
        desk,
        rf"\b{re.escape(module.rsplit('.', 1)[-1])}\b.*import|import .*\b{name}\b",
        "Which test file uses it?",
        glob="*test*.py",
    )
    path = next((h.path for h in tests if re.search(r"(?:^|/)test_[^/]*\.py$|_test\.py$", h.path)), None)
    label = re.sub(r"\W+", "_", f"{name}_{arguments}".lower().replace("-", "minus_")).strip("_")[:60] or name
    if path is None:
        path = f"tests/test_{module.rsplit('.', 1)[-1]}.py"
        if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
            raise CannotDo(
                f"Not done: {link(path)} exists and does not import {code(name)}; name the test file."
            )
        content = f"import unittest\n\nfrom {module} import {name}\n\n\nclass {name.title().replace('_', '')}Test(unittest.TestCase):\n    def test_{label}(self):\n        self.assertEqual({name}({arguments}), {expected})\n"
        yield from moves.write(desk, path, content, f"No test file for it yet. Writing {code(path)}.")
    else:
        text = yield from moves.full(desk, path)
        lines = _with_test(text.lines, name, module, label, arguments, expected)
        yield from put_lines(desk, text, lines, f"Adding the test to {code(path)}.")
    run = yield from run_of_tests(desk, Ask("‹p0›", (path,)), say="Running that file.")
    state = f"The tests of the file {'fail' if run.failed else 'pass'}{': ' + code(run.summary) if run.summary else '.'}"
    return f"Added {code('test_' + label)} to {link(path)}: {code(f'{name}({arguments})')} is expected to give {code(expected)} — {origin}; whether that is right is for you to judge.\n\n{state}"


def _with_test(
    lines: list[str], name: str, module: str, label: str, arguments: str, expected: str
) -> list[str]:
    """The test file's lines with one more test, in its own style, and the import when it is missing."""
    new = list(lines)
    label = next(
        f"{label}{n}"
        for n in ("", *(f"_{i}" for i in range(2, 50)))
        if not any(f"def test_{label}{n}(" in line for line in lines)
    )
    case = next(
        (n for n in range(len(new) - 1, -1, -1) if re.match(r"class \w+\(.*TestCase\)", new[n])), None
    )
    end = len(new)
    main = next((n for n, line in enumerate(new) if line.startswith("if __name__")), None)
    if main is not None:
        end = main
    while end > 0 and not new[end - 1].strip():
        end -= 1
    if case is not None:
        indents = [found.group(1) for line in new[case:] if (found := re.match(r"(\s+)def test", line))]
        indent = indents[0] if indents else "    "
        after = next(
            (n for n in range(case + 1, end) if new[n].strip() and not new[n].startswith((" ", "\t"))), end
        )
        while after > case and not new[after - 1].strip():
            after -= 1
        added = [
            "",
            f"{indent}def test_{label}(self):",
            f"{indent * 2}self.assertEqual({name}({arguments}), {expected})",
        ]
        new[after:after] = added
    else:
        new[end:end] = ["", "", f"def test_{label}():", f"    assert {name}({arguments}) == {expected}"]
    if not any(re.search(rf"\bimport\b.*\b{name}\b", line) for line in lines) and f"{name}," not in "".join(
        lines[:25]
    ).replace(" ", ""):
        last = max((n for n, line in enumerate(new) if re.match(r"(?:from|import) ", line)), default=-1)
        new.insert(last + 1, f"from {module} import {name}")
    return new


_FAILS = r"(?:fail(?:s|ed|ing|ure)?|broken|red|break(?:s|ing)?)"
RULES: list[Rule] = [
    rule(r"why\b(?!.*\bfix\b(?! it$)).*\btests?\b.*\bfail\w*.*|why\b.*\bfail\w*.*\btests?\b.*", why_tests_fail, lambda ask: not ask.paths),
    rule(rf"(?:.*\b)?(?:fix|repair|correct|mend|solve|debug|sort out|resolve)\b.*\b(?:failing|broken|failed|red)? ?(?:unit )?tests?\b.*|(?:.*\b)?tests?\b.*\b{_FAILS}\b.*\b(?:fix|repair|correct|mend|solve|sort)\b.*|(?:make|get)\b.*\btests?\b.*\b(?:pass|green|work)\b.*|(?:fix|repair|correct)\b (?:the |all |any |this |that )*(?:syntax errors?|failures?|import errors?|broken imports?)\b.*", fix_tests),
    rule(r"(?:add|write|create|make|append|put|insert)\b (?:me )?(?:an? |another |one more |one |the )?(?:new )?(?:unit ?|little |small |simple )?test(?: case)?(?: to ‹p\d+›)? (?:for|of|that (?:calls|checks|tests|covers)|checking|covering|calling) (?:the function |the call |function |that |whether |if )?(?P<call>[A-Za-z_][\w.]*\([^)]*\)|‹q\d+›|[A-Za-z]\w*_\w+)(?P<expected>(?: (?:which |that |and )?(?:returns?|gives?|equals?|is|should|==|expect\w*|to be|being)\b.*)?)(?: (?:in|to|into) ‹p\d+›)?$", add_test),
]  # fmt: skip
