"""One request carried through: its tasks one after the other, with the words around them."""

from __future__ import annotations

import re
from collections.abc import Generator

from sessions_app.agent.providers.demo.conversation import STATEMENT, Now
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.talking import refusal
from sessions_app.agent.providers.demo.script import CannotDo, Outcome, Script, Step, ToolFailed
from sessions_app.agent.providers.demo.understanding import Task, Understood, understand
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, fence, head

#: A job that still asks for tools after so many turns is going in circles.
MOST_TURNS = 60


def understood_of(now: Now, desk: Desk) -> list[Understood]:
    """What each of the requests comes to; "also" in front of an added one is dropped."""
    return [
        understand(
            re.sub(
                r"^\W*(?:also|and|plus|additionally|auch|aussi|también)\b[,:]?\s*(?=\w)", "", text, flags=re.I
            )
            if number
            else text,
            desk,
        )
        for number, text in enumerate(now.requests)
    ]


def carried_out(now: Now, desk: Desk, *, first: bool) -> Script:
    """The script of a whole span. Its final answer says what the demo model is, the first time."""
    if now.turns >= MOST_TURNS:
        yield from ()
        return f"Stopped after {MOST_TURNS} steps without an end. What was done up to here stays."
    understood = understood_of(now, desk)
    tasks = [task for one in understood for task in one.tasks]
    said = ""
    for task in tasks:
        answer = yield from _one(task, desk)
        style = next((one.style for one in understood if task in one.tasks), None)
        answer = shortened(answer, style) if style else answer
        desk.answers.append(answer or refusal(desk, task.ask.plain()))
        said = f"{said}\n\n{desk.answers[-1]}".strip()
    if not tasks:
        said = f"{said}\n\n{_not_recognised(now, desk)}".strip()
    left = [text for one in understood for text in one.unknown] if tasks else []
    if left:
        said += (
            "\n\nNot recognised and left aside: " + ", ".join(f"“{clip(text, 80)}”" for text in left) + "."
        )
    if any(one.foreign for one in understood):
        said += "\n\nThe demo model knows some German, French and Spanish words and answers in English."
    return f"{said}\n\n*{STATEMENT}*" if first else said


def shortened(answer: str, style: tuple[str, int]) -> str:
    """The first sentences of an answer, or its telling lines as bullets; nothing is put in other words."""
    unit, number = style
    lines = [
        line.strip()
        for line in answer.split("\n")
        if line.strip()
        and not re.match(r"\||```|\*\*[^*]+\*\*$|Put together|This is read off|The demo model cannot", line)
    ]
    lines = [
        re.sub(r"^(?:[-*>] )+", "", line)
        for line in lines
        if not re.match(r"\[`[^`]*`\]\([^)]*\)(?: under .*)?$", line)
    ]
    if not lines or answer.startswith(("Not ", "No ")):
        return answer
    if unit == "bullets":
        return bullets(lines[:number])
    text = " ".join(lines)
    sentences = re.split(r"(?<=[.!?”])\s+(?=[A-Z\d\[*`“])", text)
    return " ".join(sentences[:number])


def opening(now: Now) -> str:
    """What the first answer after a message in the middle of a job begins with; empty otherwise."""
    if not now.fresh:
        return ""
    if len(now.requests) > 1:
        return f"Your new message is added to the job: “{clip(now.requests[-1], 80)}”.\n\n"
    if now.left_aside:
        return f"Your new message comes first. The job before it (“{clip(now.left_aside, 60)}”) stays unfinished.\n\n"
    return ""


def _not_recognised(now: Now, desk: Desk) -> str:
    wish = clip(" ".join(now.requests), 120)
    if now.images and not wish:
        return "The image was received, but the demo model cannot see images. Another model can (*Add a key* at the top)."
    return refusal(desk, wish)


def _one(task: Task, desk: Desk) -> Generator[Step, list[Outcome], str]:
    """The job's answer; the answers of all steps stand together at the end."""
    outcomes: list[Outcome] | None = None
    try:
        job = task.rule.job(desk, desk.resolved(task.ask), task.match)
        while True:
            step = next(job) if outcomes is None else job.send(outcomes)
            outcomes = yield step
            for call, outcome in zip(step.calls, outcomes, strict=True):
                path = call.arguments.get("path")
                if call.name in {"read", "write", "edit"} and isinstance(path, str) and not outcome.is_error:
                    desk.earlier = [path, *(p for p in desk.earlier if p != path)]
    except StopIteration as end:
        return str(end.value)
    except CannotDo as end:
        return str(end)
    except ToolFailed as error:
        return failed(error)


def failed(error: ToolFailed) -> str:
    """A tool's failure, in its own words."""
    shown, more = head(error.outcome.text or "(no message)", 20)
    arguments = error.call.arguments
    what = clip(str(arguments.get("path") or arguments.get("command") or arguments.get("pattern") or ""), 80)
    rest = f"\n\n{count(more, 'more line')} in the result above." if more else ""
    return f"Not done: {code(error.call.name)}{' on ' + code(what) if what else ''} failed:\n\n{fence(shown)}{rest}"
