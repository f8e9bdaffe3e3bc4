"""One request carried through: its tasks one after the other, with the words around them."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TypeVar, cast

from sessions_app.agent.providers.demo.changes.ground import NotMine
from sessions_app.agent.providers.demo.conversation import STATEMENT, Now
from sessions_app.agent.providers.demo.desk import Desk
from sessions_app.agent.providers.demo.jobs.creating import create_file
from sessions_app.agent.providers.demo.jobs.data import destination, table_answer
from sessions_app.agent.providers.demo.jobs.groups import group_answer
from sessions_app.agent.providers.demo.jobs.rows import is_change, rows_changed
from sessions_app.agent.providers.demo.jobs.talking import refusal
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.places import grounded
from sessions_app.agent.providers.demo.script import CannotDo, Outcome, Script, Step, ToolFailed
from sessions_app.agent.providers.demo.sheets.sheet import is_table
from sessions_app.agent.providers.demo.understanding import (
    OPEN,
    REFUSALS,
    TAKES_SEVERAL,
    Task,
    Understood,
    change_wished,
    looked_up,
    plainly,
    understand,
    understand_ask,
    unexplained,
)
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, fence, head

#: A job that still asks for tools after so many turns is going in circles.
MOST_TURNS = 60
T = TypeVar("T")


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


def carried_out(now: Now, desk: Desk) -> Script:
    """The script of a whole span: its steps in order until one is not done. Its final answer says what the demo model is."""
    if now.turns >= MOST_TURNS:
        yield from ()
        return f"Stopped after {MOST_TURNS} steps without an end. What was done up to here stays."
    understood = understood_of(now, desk)
    steps = [(task, one.style) for one in understood for task in one.tasks]
    said: list[str] = []
    undone: list[str] = []
    number = -1
    while (number := number + 1) < len(steps):
        task, style = steps[number]
        desk.style, desk.styled, desk.looked = style, False, False
        try:
            answer, done = yield from one_step(task, desk)
        except NotMine:
            # Only the rules know it; the whole request when this was the first of its steps.
            plain = plainly(task, desk)
            steps[number : number + (task.whole or ("", 1))[1]] = [(t, plain.style) for t in plain.tasks]
            number -= 1
            continue
        answer = shortened(answer, style) if style and done and not desk.styled else answer
        answer = answer or refusal(desk, task.ask.plain())
        desk.answers.append(answer)
        desk.asked.insert(0, task.ask.plain())
        if answer not in said:
            said.append(answer)
        following = steps[number + 1][0].ask if number + 1 < len(steps) else None
        if (
            done
            and following is not None
            and is_change(following)
            and (desk.looked or answer.startswith("Not "))
        ):
            # What was only looked for, not understood, is no ground to change anything.
            done = False
        if not done:
            undone = [later.ask.plain() for later, _ in steps[number + 1 :]]
            break
    if not steps:
        said.append(_not_recognised(now, desk))
    if undone:
        said.append(
            "Not begun, because the step before was not done: "
            + ", ".join(f"“{clip(text, 80)}”" for text in undone)
            + "."
        )
    if any(one.foreign for one in understood):
        said.append("The demo model knows some German, French and Spanish words and answers in English.")
    whole = "\n\n".join(said)
    return f"{whole}\n\n*{STATEMENT}*"


def shortened(answer: str, style: tuple[str, int]) -> str:
    """The first sentences of an answer, or its telling lines as bullets; nothing is put in other words."""
    unit, number = style
    lines = [
        line.strip()
        for line in answer.split("\n")
        if line.strip()
        and not re.match(
            r"\||```|\*\*[^*]+\*\*$|Put together|This is read off|(?:This passage|These passages) answers? best|The demo model cannot",
            line,
        )
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


def one_step(task: Task, desk: Desk) -> Generator[Step, list[Outcome], tuple[str, bool]]:
    """(answer, whether the step was done). What a job cannot do as it is worded is tried with what the folder tells."""
    try:
        ask = desk.resolved(task.ask)
    except CannotDo as end:
        return str(end), False
    if task.rule.job is change_wished:
        return (yield from _wish(task, ask, desk))
    spoken = task.spoken or ask
    if task.rule.job in OPEN or task.spoken is not None or _rows_into_a_file(task, ask):
        answer, problem = yield from _tried(desk, spoken)
        if answer is not None:
            return answer, True
        if problem and task.rule.job in OPEN:
            return problem, False
    tried = len(desk.written)
    try:
        said = yield from _watched(task.rule.job(desk, ask, task.match), desk)
        return said or "", said != ""
    except CannotDo as end:
        problem = str(end)
    except ToolFailed as error:
        if error.call.name not in {"read", "grep", "find", "ls"}:
            return failed(error), False
        # A look at a place that is not there: perhaps it was described, not named.
        problem = failed(error)
    if len(desk.written) == tried and task.rule.job not in OPEN:
        answer, _ = yield from _tried(desk, spoken)
        if answer is not None:
            return answer, True
    return problem, False


def _wish(task: Task, ask: Ask, desk: Desk) -> Generator[Step, list[Outcome], tuple[str, bool]]:
    """A change that the folder explains. Raises NotMine when it does not."""
    try:
        return (yield from _watched(task.rule.job(desk, ask, task.match), desk)), True
    except CannotDo as end:
        return str(end), False
    except ToolFailed as error:
        return failed(error), False


def _rows_into_a_file(task: Task, ask: Ask) -> bool:
    """Whether a new file is to hold what a table says, not a text that is given."""
    return task.rule.job is create_file and destination(ask)[1] is not None and not ask.quotes


def _tried(desk: Desk, ask: Ask) -> Generator[Step, list[Outcome], tuple[str | None, str]]:
    """(the folder's answer, what stood against it)."""
    try:
        answer = yield from _watched(from_the_folder(desk, ask), desk)
    except CannotDo as end:
        return None, str(end)
    except ToolFailed as error:
        return None, failed(error)
    return answer, ""


def _watched(job: Generator[Step, list[Outcome], T], desk: Desk) -> Generator[Step, list[Outcome], T]:
    """The job, while the desk takes note of the files it touches."""
    outcomes: list[Outcome] | None = None
    while True:
        try:
            step = next(job) if outcomes is None else job.send(outcomes)
        except StopIteration as end:
            return cast(T, end.value)
        outcomes = yield step
        for call, outcome in zip(step.calls, outcomes, strict=True):
            path = call.arguments.get("path")
            if call.name in {"read", "write", "edit"} and isinstance(path, str) and not outcome.is_error:
                desk.earlier = [path, *(p for p in desk.earlier if p != path)]
                if call.name != "read":
                    desk.written.append(path)
            if call.name in {"write", "edit", "bash"}:
                desk.kept.clear()


def from_the_folder(desk: Desk, ask: Ask) -> Generator[Step, list[Outcome], str | None]:
    """What the rows of a table, a group of files, or files named by description make of a request; None when nothing does."""
    problem: CannotDo | None = None
    for attempt in (rows_changed, table_answer, group_answer):
        if attempt is table_answer and (
            (is_change(ask) and destination(ask)[1] is None) or desk.style is not None
        ):
            continue
        try:
            answer = yield from attempt(desk, ask)
        except CannotDo as end:
            problem = problem or end
            continue
        if answer is not None:
            return answer
    question, target = destination(ask)
    if target is not None:
        answer = yield from group_answer(desk, question)
        if answer is not None:
            desk.answers.append(answer)
            saved = understand_ask(Ask("save it to ‹p0›", (target,)))
            done = yield from saved[0].rule.job(desk, saved[0].ask, saved[0].match)
            return f"{answer}\n\n{done}"
    try:
        answer = yield from _with_described_files(desk, ask)
    except CannotDo as end:
        problem = problem or end
        answer = None
    if answer is not None:
        return answer
    if problem is not None:
        raise problem
    return None


def _with_described_files(desk: Desk, ask: Ask) -> Generator[Step, list[Outcome], str | None]:
    """The request again with the paths of the files it describes; None when it describes none or no job fits."""
    clear = yield from grounded(desk, ask)
    tasks = understand_ask(clear) if clear is not None else ()
    if any(unexplained(task) for task in tasks):
        tasks = ()
    if (
        not tasks
        and clear is not None
        and re.match(r"(?:what|when|where|who|why|which|how|does|is|are)\b", ask.text, re.I)
        and not is_table(clear.paths[-1])
    ):
        # A question about a described file that no job answers is looked up in that file.
        tasks = looked_up(clear)
    problem: CannotDo | None = None
    if tasks and not any(task.rule.job in REFUSALS for task in tasks):
        answers: list[str] = []
        missed: list[str] = []
        for task in each_file(tasks, ask):
            try:
                said = yield from task.rule.job(desk, task.ask, task.match)
                answers.append(said)
            except CannotDo as end:
                problem = problem or end
                missed.append(str(end))
        if any(answers):
            return "\n\n".join(dict.fromkeys(a for a in [*answers, *missed] if a))
    if problem is not None:
        raise problem
    return None


def each_file(tasks: tuple[Task, ...], ask: Ask) -> list[Task]:
    """A task over several described files as one task for each, unless its job takes several by itself."""
    found: list[Task] = []
    for task in tasks:
        group = re.search(r"‹p\d+›(?:(?:, | and )‹p\d+›)+", task.ask.text)
        if group is None or len(task.ask.paths) <= len(ask.paths) + 1 or task.rule.job in TAKES_SEVERAL:
            found.append(task)
            continue
        for mark in re.findall(r"‹p\d+›", group.group()):
            one = task.ask.with_text(task.ask.text[: group.start()] + mark + task.ask.text[group.end() :])
            found += understand_ask(one)
    return found


def failed(error: ToolFailed) -> str:
    """A tool's failure, in its own words."""
    shown, more = head(error.outcome.text or "(no message)", 20)
    arguments = error.call.arguments
    what = clip(str(arguments.get("path") or arguments.get("command") or arguments.get("pattern") or ""), 80)
    rest = f"\n\n{count(more, 'more line')} in the result above." if more else ""
    return f"Not done: {code(error.call.name)}{' on ' + code(what) if what else ''} failed:\n\n{fence(shown)}{rest}"
