"""What tool results and error messages say: which step failed and why, and what a usual error means."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import look_up
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import clip, code


def last_results(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """ "Which of them failed and why?": the lines of the last tool results that tell it."""
    yield from ()
    span = next((span for span in reversed(desk.spans) if span.results()), None)
    if span is None:
        raise CannotDo("No tool has run in this conversation yet, so there is no result to answer from.")
    text = "\n".join(outcome.text for _, outcome in span.results())
    failing = list(
        dict.fromkeys(re.findall(r"^(?:FAILED|ERROR)[: ]+(.+)$|^(?:FAIL|ERROR): (.+)$", text, re.M))
    )
    names = [clip(next(g for g in groups if g), 160) for groups in failing]
    says = list(
        dict.fromkeys(
            m.strip() for m in re.findall(r"^(?:E\s+)?(\w*(?:Error|Exception|Failure)\b.*)$", text, re.M)
        )
    )
    if names or says:
        parts = [f"The results of “{clip(span.request, 60)}” say:"]
        if names:
            parts.append("\n".join(f"- failed: {code(name)}" for name in names[:12]))
        if says:
            parts.append(
                "Why, in the output's own words:\n\n" + "\n".join(f"- {code(clip(s, 200))}" for s in says[:8])
            )
        return "\n\n".join(parts)
    if any(outcome.is_error for _, outcome in span.results()):
        lines = [
            clip(line, 160)
            for _, o in span.results()
            if o.is_error
            for line in o.text.split("\n")
            if line.strip()
        ]
        return "The last step that failed said:\n\n" + "\n".join(f"- {code(line)}" for line in lines[-6:])
    return f"Nothing failed: no result of “{clip(span.request, 60)}” reports a failure or an error."


_ERRORS = {
    "ModuleNotFoundError": "Python finds no module of that name: it is misspelt, not installed, or the command was started from another folder.",
    "ImportError": "A module was found, but the name to be imported from it is not there.",
    "KeyError": "A dictionary was asked for a key that it does not have.",
    "IndexError": "A list was asked for a place beyond its end.",
    "TypeError": "A value has another type than the operation or function takes, or the number of arguments is wrong.",
    "ValueError": "A value has the right type but not a form that can be used, for example letters where digits are needed.",
    "AttributeError": "The object has no attribute or method of that name; often it is None or the name is misspelt.",
    "NameError": "A name is used that was never assigned, defined or imported.",
    "SyntaxError": "The text of the program is not valid; the mistake is on the line named or just before it.",
    "IndentationError": "The spaces at the beginning of a line do not fit the block.",
    "FileNotFoundError": "There is no file at that path, seen from the folder the command was started in.",
    "PermissionError": "The user may not read or write that file.",
    "ZeroDivisionError": "A number was divided by zero; often a list was empty.",
    "AssertionError": "A check (assert) found something else than was expected.",
    "RecursionError": "A function called itself without an end.",
    "UnicodeDecodeError": "The bytes of a file are not text in the encoding it was read with.",
    "command not found": "No program of that name is installed or on the search path.",
    "Permission denied": "The file may not be read, written or run; for a script, the right to execute may be missing.",
    "No such file or directory": "There is nothing at that path, seen from the current folder.",
}


def explain_error(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """What a usual error means in general, and the lines here that name it."""
    text = ask.plain(match.groupdict().get("error") or "")
    name = next((n for n in _ERRORS if n.lower() in text.lower()), "")
    general = f"In general, {code(name)}: {_ERRORS[name]}\n\n" if name else ""
    inner = Ask(
        "".join(f"‹q{n}› " for n in range(len(ask.quotes)))
        + re.sub(r"\b\w*(?:Error|Exception)\b:?|‹q\d+›", " ", text),
        tuple(ask.quotes),
    )
    try:
        found = yield from look_up(desk, inner)
    except CannotDo as error:
        if not general:
            raise
        return f"{general}{str(error).removeprefix('Not found: ').capitalize()}".strip()
    return general + found


RULES: list[Rule] = [
    rule(r"(?:(?:which|what)(?: one| ones)? (?:of (?:them|those|these|the tests) )?(?:failed|fails|is failing|are failing|broke|went wrong)\b.*|why (?:did|does|do) (?:it|that|they|this|those) (?:fail|break|not work|crash)\w*.*|what (?:was|is|were) the (?:error|errors|problem|failure|reason)\b(?: there| then| again)?|what went wrong.*|what failed.*|and why)$", last_results, lambda ask: not ask.paths),
    rule(r"(?:explain|what does|what is|what's|what means|help me (?:with|understand)|i (?:get|got|see|have)|why do i get|how (?:do|can) i (?:fix|solve))\b(?: me)?(?: with)?(?: this| the| an?| following)*(?: (?:error|exception|message|traceback))*(?: mean)?:? (?P<error>.*(?:\b\w+(?:Error|Exception)\b|command not found|permission denied|no such file).*)$", explain_error),
]  # fmt: skip
