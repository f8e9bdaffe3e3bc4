"""What can be read off a file without understanding it: imports, definitions, headings, telling lines."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo.writing import clip, ending


@dataclass(frozen=True, slots=True)
class Item:
    """A definition: `kind` is function, method, class …; `line` counts from 1; `length` in lines, 0 when unknown."""

    kind: str
    name: str
    line: int
    length: int = 0
    note: str = ""


@dataclass(frozen=True, slots=True)
class Outline:
    """What was found in one file."""

    about: str
    imports: tuple[str, ...]
    items: tuple[Item, ...]
    headings: tuple[tuple[int, str, int], ...]
    telling: tuple[tuple[int, str], ...]
    problem: str = ""


_DEFINITIONS: dict[str, list[tuple[str, str]]] = {
    "js": [
        ("class", r"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+(\w+)"),
        ("function", r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*(\w+)"),
        ("function", r"^\s*(?:export\s+)?(?:const|let|var)\s+(\w+)\s*(?::[^=]+)?=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*(?::\s*[\w<>\[\]]+\s*)?=>"),
        ("interface", r"^\s*(?:export\s+)?interface\s+(\w+)"),
        ("type", r"^\s*(?:export\s+)?type\s+(\w+)\s*="),
    ],
    "go": [("function", r"^func\s+(?:\([^)]*\)\s*)?(\w+)"), ("type", r"^type\s+(\w+)")],
    "rs": [("function", r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:async\s+)?fn\s+(\w+)"), ("type", r"^\s*(?:pub\s+)?(?:struct|enum|trait)\s+(\w+)")],
    "java": [
        ("class", r"^\s*(?:public|private|protected|abstract|final|static|\s)*(?:class|interface|enum|record|object)\s+(\w+)"),
        ("method", r"^\s+(?:public|private|protected|static|final|override|fun|\s)+[\w<>\[\]]+\s+(\w+)\s*\([^;]*\{"),
    ],
    "c": [("function", r"^(?!\s|.*;\s*$|#|typedef|return|else)[\w\s*]+?\b(\w+)\s*\([^;]*\)\s*\{?\s*$"), ("type", r"^(?:typedef\s+)?(?:struct|enum|class)\s+(\w+)")],
    "rb": [("class", r"^\s*(?:class|module)\s+([\w:]+)"), ("function", r"^\s*def\s+([\w.?!]+)")],
    "php": [("class", r"^\s*(?:abstract\s+|final\s+)?(?:class|interface|trait)\s+(\w+)"), ("function", r"^\s*(?:public|private|protected|static|\s)*function\s+(\w+)")],
    "sh": [("function", r"^\s*(?:function\s+)?(\w+)\s*\(\)\s*\{?")],
    "css": [("rule", r"^([^\s@}/*][^{]*?)\s*\{")],
    "sql": [("table", r"^\s*create\s+table\s+(?:if\s+not\s+exists\s+)?([\w.\"`]+)")],
    "make": [("target", r"^([A-Za-z][\w.-]*)\s*:(?!=)")],
}  # fmt: skip
_SAME = {"ts": "js", "jsx": "js", "tsx": "js", "mjs": "js", "h": "c", "cpp": "c", "hpp": "c", "kt": "java", "cs": "java", "scala": "java", "bash": "sh", "scss": "css", "mk": "make"}  # fmt: skip
_IMPORT = re.compile(
    r"^\s*(?:import\s+.*?from\s+['\"]([^'\"]+)|import\s+['\"]([^'\"]+)|(?:const|let|var)\s+.*?require\(['\"]([^'\"]+)|use\s+([\w:]+)|#include\s*[<\"]([^>\"]+)"
    r"|require(?:_relative)?\s+['\"]([^'\"]+)|import\s+([\w.]+);?\s*$|source\s+(\S+))"
)
_TELLING = re.compile(
    r"if __name__ == |argparse|add_argument|@\w*(?:app|route|router|api)\b.*\(|app\.(?:get|post|listen|run)\(|createServer|urlpatterns|func main\(|fn main\(|int main\("
    r"|public static void main|module\.exports|export default|process\.argv|sys\.argv|raise SystemExit|subprocess|open\(|requests\.|fetch\(|SELECT |\bos\.environ|process\.env"
)


def outline(path: str, text: str) -> Outline:
    """Take `text` apart by the language its name tells."""
    kind = ending(path)
    if kind in {"md", "mdx", "rst", "txt"} or kind == "":
        name = path.rsplit("/", 1)[-1].lower()
        if name.startswith("makefile"):
            return _by_pattern("make", text)
        if text.startswith("#!") and "python" in text.split("\n", 1)[0]:
            return _python(text)
        return _prose(text)
    return _python(text) if kind in {"py", "pyi"} else _by_pattern(_SAME.get(kind, kind), text)


def _python(text: str) -> Outline:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        found = _by_lines(
            text, [("class", r"^\s*class\s+(\w+)"), ("function", r"^\s*(?:async\s+)?def\s+(\w+)")]
        )
        return Outline(
            _comment(text),
            (),
            found,
            (),
            _telling(text),
            f"not valid Python for this version: {error.args[0]}" + (f" (line {line})" if line else ""),
        )
    imports: list[str] = []
    items: list[Item] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imports.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imports.append("." * node.level + (node.module or ""))

    def visit(body: list[ast.stmt], owner: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                items.append(Item("class", owner + node.name, node.lineno, _length(node), _doc(node)))
                visit(node.body, f"{owner}{node.name}.")
            elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                arguments = ", ".join(
                    a.arg
                    for a in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
                    if a.arg not in {"self", "cls"}
                )
                items.append(
                    Item(
                        "method" if owner else "function",
                        f"{owner}{node.name}({arguments})",
                        node.lineno,
                        _length(node),
                        _doc(node),
                    )
                )

    visit(tree.body, "")
    return Outline(
        ast.get_docstring(tree) or _comment(text),
        tuple(dict.fromkeys(imports)),
        tuple(items),
        (),
        _telling(text),
    )


def _length(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def _doc(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> str:
    return clip((ast.get_docstring(node) or "").split("\n\n")[0], 120)


def _by_pattern(kind: str, text: str) -> Outline:
    imports = [next(g for g in m.groups() if g) for line in text.split("\n") if (m := _IMPORT.match(line))]
    return Outline(
        _comment(text),
        tuple(dict.fromkeys(imports)),
        _by_lines(text, _DEFINITIONS.get(kind, [])),
        (),
        _telling(text),
    )


def _by_lines(text: str, patterns: list[tuple[str, str]]) -> tuple[Item, ...]:
    compiled = [(kind, re.compile(pattern, re.I)) for kind, pattern in patterns]
    found: list[Item] = []
    for number, line in enumerate(text.split("\n"), 1):
        for kind, pattern in compiled:
            match = pattern.match(line)
            if match and match.group(1) not in {"if", "for", "while", "switch", "return", "catch"}:
                found.append(Item(kind, clip(match.group(1), 60), number))
                break
    return tuple(found)


def _prose(text: str) -> Outline:
    headings: list[tuple[int, str, int]] = []
    fenced = False
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if re.match(r"\s*(?:```|~~~)", line):
            fenced = not fenced
        match = re.match(r"(#{1,6})\s+(.+?)\s*#*$", line)
        if match and not fenced:
            headings.append((len(match.group(1)), match.group(2), number))
        elif (
            not fenced
            and number > 1
            and re.fullmatch(r"(=|-|~){3,}\s*", line)
            and lines[number - 2].strip()
            and not lines[number - 2].startswith(("|", "-"))
        ):
            headings.append((1 if line.startswith("=") else 2, lines[number - 2].strip(), number - 1))
    return Outline(first_paragraph(text), (), (), tuple(headings), ())


#: A salutation, a closing, a date, the names of those present: no sentence that tells what a text is about.
EMPTY = re.compile(
    r"(?:dear|hello|hi|hey|good (?:morning|day|evening)|to whom)\b.{0,60}$|(?:yours|kind regards|best (?:wishes|regards)|regards|sincerely|thank you|thanks|cheers|love)\b.{0,40}$|(?:date|present|apologies|from|to|cc|subject|tel|phone|by)\s*:|[\d\s./:-]+$|(?:next meeting)\b",
    re.I,
)


def first_paragraph(text: str) -> str:
    """The first running text of a Markdown file, badges, headings and code left out."""
    bare = re.sub(r"```.*?(?:```|\Z)|<!--.*?-->", "", text, flags=re.S)
    for block in re.split(r"\n\s*\n", bare):
        lines = [
            line
            for line in block.strip().split("\n")
            if line.strip()
            and not EMPTY.match(line.strip())
            and not re.match(r"\s*(?:#|\[?!\[|<|[=-]{3,}|\||\[[^\]]+\]:)", line)
        ]
        if lines and not re.fullmatch(r"[=-]{3,}", lines[-1]):
            plain = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", " ".join(lines))
            if re.search(r"\w{3}", plain) and not (
                len(lines) == 1 and re.search(rf"^{re.escape(lines[0])}\n[=-]{{3,}}", bare, re.M)
            ):
                return clip(plain, 320)
    return ""


def _comment(text: str) -> str:
    """The comment a source file begins with."""
    block = re.match(r"\s*(?:#![^\n]*\n)?\s*/\*+(.*?)\*/", text, re.S)
    if block:
        return clip(re.sub(r"^\s*\*\s?", "", block.group(1), flags=re.M), 300)
    lines: list[str] = []
    for line in text.split("\n")[:25]:
        if re.match(r"\s*['\"]use strict['\"];?\s*$", line):
            continue
        match = re.match(r"\s*(?:#(?!!|include|\[)|//+!?|--|;+)\s?(.*)", line)
        if match:
            lines.append(match.group(1))
        elif lines or (line.strip() and not line.startswith("#!")):
            break
    return clip(" ".join(lines), 300)


def _telling(text: str) -> tuple[tuple[int, str], ...]:
    return tuple(
        (number, clip(line, 100)) for number, line in enumerate(text.split("\n"), 1) if _TELLING.search(line)
    )[:6]
