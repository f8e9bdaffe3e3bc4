"""The first failure in the output of a test run or a program, read off by the habits of the common tools."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo.writing import code


@dataclass(frozen=True, slots=True)
class Failure:
    """What failed, what it said, where (path relative as printed, line from 1), and the two values compared."""

    name: str
    message: str
    path: str = ""
    line: int | None = None
    compared: str = ""


def first_failure(text: str) -> Failure | None:
    """None when the output shows none that is recognised."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", text)
    for reader in (_pytest, _unittest, _rust, _go, _node, _jest, _traceback, _generic):
        found = reader(text)
        if found is not None:
            return found
    return None


def _pytest(text: str) -> Failure | None:
    block = re.search(
        r"^_{3,} (?:ERROR (?:at \w+ of|collecting) )?(.+?) _{3,}\n(.*?)(?=^_{3,} |^={3,} |\Z)",
        text,
        re.M | re.S,
    )
    if block is None:
        short = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:::(\S+))?(?: - (.+))?$", text, re.M)
        return (
            Failure(short.group(2) or short.group(1), short.group(3) or "failed", short.group(1))
            if short
            else None
        )
    name, body = block.group(1), block.group(2)
    says = re.findall(r"^E\s+(.+)$", body, re.M)
    place = re.findall(
        r"^(?!/)([\w./\\-]+\.py):(\d+): ?(?:in |\w*(?:Error|Exception|Failed|Warning)|$)", body, re.M
    )
    path, line = place[-1] if place else ("", "")
    message = says[0] if says else "failed"
    return Failure(name, message, path, int(line) if line else None, _compared(message, says))


def _compared(message: str, says: list[str]) -> str:
    equal = re.search(r"assert (.+?) == (.+)$", message)
    if equal is None:
        return ""
    where = next((s for s in says[1:] if re.search(r"\+\s+where ", s)), "")
    came = re.search(r"where .+? = (.+)$", where)
    return f"It compares {code(equal.group(1).strip())}{' (from ' + code(came.group(1).strip()) + ')' if came else ''} with the expected {code(equal.group(2).strip())}."


def _unittest(text: str) -> Failure | None:
    block = re.search(
        r"^(?:FAIL|ERROR): (\S+)(?: \(([^)]*)\))?.*?\n-{20,}\n(.*?)(?=^={20,}|^-{20,}|\Z)", text, re.M | re.S
    )
    if block is None:
        return None
    places = re.findall(r'File "([^"]+)", line (\d+)', block.group(3))
    says = [
        line
        for line in block.group(3).strip().split("\n")
        if re.match(r"\w*(?:Error|Exception|Failure)\b", line)
    ]
    path, line = places[-1] if places else ("", "")
    message = says[0] if says else "failed"
    two = re.search(r"AssertionError: (.+?) != (.+?)(?: :|$)", message)
    compared = f"It compares {code(two.group(1))} with {code(two.group(2))}." if two else ""
    return Failure(block.group(1), message, _relative(path), int(line) if line else None, compared)


def _relative(path: str) -> str:
    """The part of an absolute path that may be reached from the folder, or empty."""
    return path if path and not path.startswith("/") else ""


def _rust(text: str) -> Failure | None:
    found = re.search(
        r"thread '([^']+)'.*? panicked at (?:'(.+?)', )?([\w./-]+\.rs):(\d+)(?::\d+)?:?\n?(.*)", text
    )
    if found:
        return Failure(found.group(1), found.group(2) or found.group(5), found.group(3), int(found.group(4)))
    error = re.search(r"^error(?:\[\w+\])?: (.+)\n\s*--> ([\w./-]+):(\d+)", text, re.M)
    return Failure("", error.group(1), error.group(2), int(error.group(3))) if error else None


def _go(text: str) -> Failure | None:
    found = re.search(r"--- FAIL: (\S+).*?\n\s+([\w./-]+\.go):(\d+): (.+)", text)
    if found:
        return Failure(found.group(1), found.group(4), found.group(2), int(found.group(3)))
    build = re.search(r"^(?:\./)?([\w./-]+\.go):(\d+):\d+: (.+)$", text, re.M)
    return Failure("", build.group(3), build.group(1), int(build.group(2))) if build else None


def _node(text: str) -> Failure | None:
    found = re.search(r"^\s*not ok \d+ - (.+)$", text, re.M) or re.search(
        r"^\s*✖ (?!failing)(.+?)(?: \([\d.]+ms\))?$", text, re.M
    )
    if found is None:
        return None
    rest = text[found.start() :]
    says = re.search(r"error: \|?-?\n?\s*'?(.+?)'?$|^\s*(\w*Error.*)$", rest, re.M)
    place = re.search(r"(?:at .*?\(|at |location: ')(?:file://)?([\w./-]+\.[cm]?[jt]sx?):(\d+)", rest)
    message = next((g for g in says.groups() if g), "failed") if says else "failed"
    return Failure(
        found.group(1),
        message,
        _relative(place.group(1)) if place else "",
        int(place.group(2)) if place else None,
    )


def _jest(text: str) -> Failure | None:
    found = re.search(r"^\s*● (.+)$", text, re.M)
    if found is None:
        return None
    rest = text[found.end() :]
    place = re.search(r"\(?([\w./-]+\.[jt]sx?):(\d+):\d+\)?", rest)
    expected, received = re.search(r"Expected: (.+)", rest), re.search(r"Received: (.+)", rest)
    compared = (
        f"Expected {code(expected.group(1))}, received {code(received.group(1))}."
        if expected and received
        else ""
    )
    says = next((line.strip() for line in rest.split("\n") if line.strip()), "failed")
    return Failure(
        found.group(1),
        says,
        place.group(1) if place else "",
        int(place.group(2)) if place else None,
        compared,
    )


def _traceback(text: str) -> Failure | None:
    found = re.search(
        r"Traceback \(most recent call last\):\n(.*?)^(\w[\w.]*(?:Error|Exception|Exit|Interrupt|Warning)?(?::.*)?)$",
        text,
        re.M | re.S,
    )
    if found is None:
        syntax = re.search(r'File "([^"]+)", line (\d+)\n(?:.*\n)*?(\w*Error: .+)', text)
        return (
            Failure("", syntax.group(3), _relative(syntax.group(1)), int(syntax.group(2))) if syntax else None
        )
    places = [
        (p, n) for p, n in re.findall(r'File "([^"]+)", line (\d+)', found.group(1)) if not p.startswith("<")
    ]
    path, line = places[-1] if places else ("", "")
    return Failure("", found.group(2), _relative(path), int(line) if line else None)


def _generic(text: str) -> Failure | None:
    found = re.search(
        r"^(.*\b(?:[Ee]rror|ERROR|fatal|FAILED|not found|No such file|denied)\b.*)$", text, re.M
    )
    return Failure("", found.group(1).strip()) if found else None
