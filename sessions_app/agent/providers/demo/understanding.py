"""From a request to tasks: which job does which step, tried plainly, then translated, then with typing errors corrected."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo.desk import Desk, Rule
from sessions_app.agent.providers.demo.jobs import (
    changing,
    counting,
    creating,
    git,
    keeping,
    looking,
    overview,
    running,
    searching,
    tables,
    talking,
)
from sessions_app.agent.providers.demo.phrases import Ask, and_cuts, cuts, mask, polite
from sessions_app.agent.providers.demo.words import EXTENSIONS, correct, is_foreign, translate

RULES: tuple[Rule, ...] = (
    *talking.FIRST_RULES,
    *talking.RULES,
    *git.RULES,
    *keeping.RULES,
    *changing.EARLY_RULES,
    *tables.EARLY_RULES,
    *searching.EARLY_RULES,
    *looking.PLAIN_RULES,
    *running.RULES,
    *creating.RULES,
    *changing.RULES,
    *tables.RULES,
    *counting.RULES,
    *searching.RULES,
    *looking.RULES,
    *overview.RULES,
)
#: A wish to change something is never answered by a job that only looks.
_CHANGES = re.compile(
    r"(?:add|append|change|clean|commit|copy|correct|create|delete|drop|edit|erase|fix|improve|insert|make|modify|move|optimi[sz]e|prepend|put|refactor|remove|rename|replace"
    r"|revert|rewrite|set|split|undo|update|write|find and (?:remove|delete|fix|replace)|merge|translate|implement|reset|squash|push|pull|rebase)\b",
    re.I,
)
#: A longer sentence is no plain request, and the patterns are not made for it.
_LONGEST = 600
_MOST_CUTS = 6
_ONLY_LOOKS = {
    candidate.job
    for rules in (looking.PLAIN_RULES, looking.RULES, counting.RULES, searching.EARLY_RULES, searching.RULES)
    for candidate in rules
} | {
    git.status,
    git.log,
    git.difference,
    git.authors,
    git.blame,
    git.how_many_commits,
    git.most_changed,
    git.tags,
    tables.csv_overview,
    tables.check_links,
}
#: A second half that only says how the answer should look, or that the job does anyway.
_ABSORBED = re.compile(
    r"(?:explain|describe|tell me(?: about)?|show(?: me)?|summari[sz]e|report|say|give me)(?: the| any| what| me| about| which)*(?: first| last)? ?"
    r"(?:failures?|failing(?: tests?)?|failed|errors?|problems?|results?|output|outcome|went wrong|tests?|fails?|happens|happened|why it fails|it prints|it says|it outputs)\b.*$"
    r"|(?:explain|describe|tell me|say|show me) (?:why|what|how|which) .*$"
    r"|(?:group|sort|order|arrange|rank|count|number|list|print|show|display|tabulate|put)(?: me)? (?:them|these|those|the results?|the output|the list|everything)\b(?! (?:to|into|in) (?:a file|‹p)).*$"
    r"|(?:group|sort|order|rank)(?:ed|s)? (?:by|in|it by).*$|(?:show|tell|give)(?: me| us)? (?:the )?(?:diff|difference|changes?)$",
    re.I,
)
_SAVED = re.compile(
    r"(?P<left>(?:summari[sz]e|list|find|count|explain|describe|search|collect|get|(?:write|create|make|give me|generate) (?:an? |the )?(?:\w+ )?(?:summary|overview|list|table|report) )\b.*?),? "
    r"(?:(?:and )?(?:save|write|put|store|export|dump) (?:it|that|this|them|the (?:results?|output|summary|list|table|answer)|everything)(?: all)? (?:to|into|in|as|under)|(?:to|into)) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?(?P<file>‹p\d+›)$",
    re.I | re.S,
)
_AGAIN = re.compile(r"(?:and |please )?(?:(?:do|run|try|show|repeat) )?(?:(?:it|that|this|the same(?: thing)?|the last (?:one|step|request)) )?(?:again|once more|one more time|repeat|repeat that|re-?do|re-?try|try again|continue|go on|proceed|carry on|weiter|nochmal|encore|otra vez|same again|the same again|keep going|resume|do it again|finish it|finish the job)[.!]*", re.I)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """One recognised step."""

    ask: Ask
    rule: Rule
    match: re.Match[str]


@dataclass(frozen=True, slots=True)
class Understood:
    """What a request comes to: tasks in order, and the parts nothing was found for."""

    tasks: tuple[Task, ...]
    unknown: tuple[str, ...] = ()
    foreign: bool = False


def understand(text: str, desk: Desk) -> Understood:
    """Never guesses: what no rule matches is returned as unknown."""
    if _AGAIN.fullmatch(text.strip()):
        earlier = [
            span.request for span in desk.spans if span.request and not _AGAIN.fullmatch(span.request.strip())
        ]
        if earlier:
            return understand(earlier[-1], Desk(desk.tools, desk.spans[:-1], desk.images))
    foreign = bool(is_foreign(text))
    whole = mask(text)
    if foreign:
        whole = whole.with_text(translate(whole.text))
    for form in dict.fromkeys((whole.text, polite(whole.text))):
        found = _match(whole.with_text(form), talking.FIRST_RULES)
        if found is not None:
            return Understood((found,), (), foreign)
    whole = whole.with_text(polite(whole.text))
    parts = cuts(whole)
    if len(parts) > 1 and whole.blocks:
        # A sentence that brings a block of code is one step, however it is punctuated.
        parts = [whole] if _try(whole) else parts
    tasks: list[Task] = []
    unknown: list[str] = []
    for part in parts:
        ask = part.with_text(polite(part.text))
        found_tasks, missed = _tasks_of(ask)
        unknown.extend(missed)
        if found_tasks is not None:
            once = {overview.summarise_folder, talking.help_text, running.run_tests}
            tasks.extend(
                t
                for t in found_tasks
                if not (t.rule.job in once and t.rule.job in {d.rule.job for d in tasks})
            )
        elif ask.text.strip() and not (tasks and _ABSORBED.match(ask.text)):
            unknown.append(ask.plain())
    if len(tasks) > 1 and all(task.rule in talking.LAST_RULES for task in tasks):
        tasks = tasks[:1]
    return Understood(tuple(tasks), tuple(unknown), foreign)


def _tasks_of(ask: Ask) -> tuple[tuple[Task, ...] | None, list[str]]:
    """The tasks of one part, and the words in it that are not understood."""
    found = _try(ask) or _try(ask.with_text(correct(ask.text)))
    if found is not None:
        return found, []
    found, missed = _pieces(ask)
    if found is not None:
        return found, missed
    return _try(ask, last=True), []


def _try(ask: Ask, *, last: bool = False) -> tuple[Task, ...] | None:
    """The tasks of one sentence; cut at "and VERB" where both sides are jobs of their own."""
    if last:
        found = _match(ask, (*RULES, *talking.LAST_RULES))
        return (found,) if found is not None else None
    saved = _SAVED.match(ask.text) if len(ask.text) <= _LONGEST else None
    if saved:
        left = _try(ask.with_text(saved.group("left").strip()))
        right = _match(ask.with_text(f"save it to {saved.group('file')}"), creating.RULES)
        if left and right:
            return (*left, right)
    cut_places = and_cuts(ask)
    for left_ask, right_ask in cut_places if len(cut_places) <= _MOST_CUTS else ():
        absorbed = _ABSORBED.match(right_ask.text)
        right_ask = right_ask.with_text(_theirs(left_ask, polite(right_ask.text)))
        left_task = _match(left_ask, RULES)
        if left_task is None:
            continue
        if absorbed or _ABSORBED.match(right_ask.text):
            return (left_task,)
        right_tasks = _try(right_ask)
        if right_tasks is not None:
            return (left_task, *right_tasks)
    found = _match(ask, RULES)
    return (found,) if found is not None else None


def _pieces(ask: Ask) -> tuple[tuple[Task, ...] | None, list[str]]:
    """A sentence of several steps of which only some are known: (those, the words of the others)."""
    bounds = [*and_cuts(ask)]
    texts: list[str] = []
    rest = ask
    while bounds:
        left, rest = bounds[0]
        texts.append(left.text)
        bounds = [*and_cuts(rest)]
    texts.append(rest.text)
    if len(texts) < 2:
        return None, []
    tried = [(text, _match(ask.with_text(polite(text)), RULES)) for text in texts]
    tasks = tuple(task for _, task in tried if task is not None)
    return (tasks, [ask.plain(text) for text, task in tried if task is None]) if tasks else (None, [])


def _theirs(left: Ask, right: str) -> str:
    """ "… python files and count their lines": the second half means the same files."""
    kind = re.search(
        rf"\b({'|'.join(re.escape(k) for k in EXTENSIONS if len(k) > 1)}) files\b", left.text, re.I
    )
    return re.sub(r"\btheir lines\b", f"the lines of {kind.group(1)} code", right) if kind else right


def _match(ask: Ask, rules: tuple[Rule, ...] | list[Rule]) -> Task | None:
    if len(ask.text) > _LONGEST:
        return None
    changes = _CHANGES.match(ask.text) is not None
    for candidate in rules:
        if changes and candidate.job in _ONLY_LOOKS:
            continue
        match = candidate.pattern.match(ask.text)
        whole = match is not None and match.end() >= len(ask.text.rstrip(" .!?,"))
        if match is not None and whole and (candidate.when is None or candidate.when(ask)):
            return Task(ask, candidate, match)
    return None
