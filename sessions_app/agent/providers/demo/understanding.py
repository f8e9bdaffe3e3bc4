"""From a request to tasks: which job does which step, tried plainly, then translated, then with typing errors corrected."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache

from sessions_app.agent.providers.demo.changes import carry
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.following import resumed
from sessions_app.agent.providers.demo.jobs import (
    answering,
    changing,
    code_changes,
    code_facts,
    counting,
    creating,
    data,
    drafts,
    errors,
    extracting,
    facts,
    folders,
    git,
    keeping,
    looking,
    many,
    notes,
    overview,
    pages,
    repairing,
    running,
    saving,
    scripts,
    searching,
    summing_up,
    tables,
    talking,
)
from sessions_app.agent.providers.demo.keywords import STOP, keywords, stem
from sessions_app.agent.providers.demo.phrases import Ask, and_cuts, cuts, mask, polite, styled
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.sheets.sheet import is_table
from sessions_app.agent.providers.demo.words import (
    EXTENSIONS,
    VERBS,
    VOCABULARY,
    correct,
    in_english_turns,
    is_foreign,
    translate,
    word_set,
)

RULES: tuple[Rule, ...] = (
    *talking.FIRST_RULES,
    *talking.RULES,
    *overview.EARLY_RULES,
    *code_changes.RULES,
    *code_facts.RULES,
    *summing_up.RULES,
    *drafts.RULES,
    *scripts.RULES,
    *pages.RULES,
    *many.RULES,
    *extracting.RULES,
    *facts.RULES,
    *errors.RULES,
    *repairing.RULES,
    *git.RULES,
    *keeping.RULES,
    *changing.EARLY_RULES,
    *tables.EARLY_RULES,
    *notes.RULES,
    *searching.EARLY_RULES,
    *looking.PLAIN_RULES,
    *running.RULES,
    *saving.RULES,
    *folders.RULES,
    *creating.RULES,
    *changing.RULES,
    *data.RULES,
    *tables.RULES,
    *counting.RULES,
    *searching.RULES,
    *looking.RULES,
    *overview.RULES,
    *facts.LAST_RULES,
)
#: These take no free argument: a request with other matters in it means something else.
_NARROW = {
    counting.about_machine, git.log, git.status, git.difference, git.branches, git.authors, git.how_many_commits, git.most_changed, git.tags,
    overview.summarise_folder, overview.list_dependencies, overview.show_license, counting.count_lines, counting.largest,
    counting.disk_usage, counting.duplicate_names, counting.about_machine, searching.by_date, searching.empty_ones, searching.find_topic,
    searching.find_marks, running.run_tests, running.run_main, running.lint, running.check_syntax, looking.show_tree, talking.tell_time, talking.no_eyes,
    facts.how_to_run, facts.python_needed, creating.hello_world, keeping.permissions, keeping.show_changes, talking.random_value,
}  # fmt: skip
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
    data.data_question,
    facts.how_to_run,
}
_QUESTION = re.compile(
    r"(?:what|which|who|whom|whose|where|when|why|how|is|are|was|were|do|does|did|has|have|had|any|anything|can|could|should|will|would|tell|find|show|look|search|see|check|explain|describe|remind me (?:what|who|when|where|how)|know|wer|was|wo|wann|warum|wie|welche\w*|qui|que|quoi|où|quand|comment|pourquoi|qué|quién|cuándo|dónde|cómo)\b",
    re.I,
)
#: Matters that stand in no folder, or in every one by accident.
_ELSEWHERE = re.compile(
    r"(?:what|how)(?:'s| is| was| will)? (?:the )?weather\b|\b(?:weather|news|temperature) (?:today|tomorrow|outside|in [A-Z])|\bcapital (?:city )?of\b|\b(?:president|prime minister|king|queen) of\b|\b(?:in|of) the world\b|\bmeaning of life\b|\bstock price\b|\b(?:your|you) (?:favou?rite|feel|think|opinion|name|age|old)\b",
    re.I,
)
#: A sentence that only tells how things are asks for nothing.
_STATEMENT = re.compile(
    r"(?:i|we|he|she|they|it|this|that|there|my|our|the)(?:'m|'ve|'d|'s|'re)? (?!(?:want|need|would like|would love|have to)\b)[\w' ]*\b(?:got|have|has|had|am|is|are|was|were|just|inherited|found|received|downloaded|cloned|been|working|new|do not|don't|can't|cannot|thought|think|know|guess|forgot|lost|lied|said|like|love|hate)\b",
    re.I,
)
#: A second half that only says how the answer should look, or that the job does anyway.
_ABSORBED = re.compile(
    r"(?:explain|describe|tell me(?: about)?|show(?: me)?|summari[sz]e|report|say|give me)(?: the| any| what| me| about| which)*(?: first| last)? ?"
    r"(?:failures?|failing(?: tests?)?|failed|errors?|problems?|results?|output|outcome|went wrong|tests?|fails?|happens|happened|why it fails|it prints|it says|it outputs)\b.*$"
    r"|(?:explain|describe|tell me|say|show me) (?:why|what|how|which) .*$"
    r"|where (?:is|are|was|were) (?:it|they|that|this)\b[\w ]*$|how many (?:don't|do not|doesn't|aren't|are not|isn't|haven't|hasn't|not|didn't)\b[\w ]*$"
    r"|(?:group|sort|order|arrange|rank|count|number|list|print|show|display|tabulate|put)(?: me)? (?:them|these|those|the results?|the output|the list|everything)\b(?! (?:to|into|in) (?:a file|‹p)).*$"
    r"|(?:what|which|who|how much)(?:'s| is| are) (?:it|they|that|its name|their names?|the name)(?: called| named)?$"
    r"|(?:group|sort|order|rank)(?:ed|s)? (?:by|in|it by).*$|(?:show|tell|give)(?: me| us)? (?:the )?(?:diff|difference|changes?)$",
    re.I,
)
#: What the summary of a folder has told already.
_SAME_AGAIN = re.compile(
    r"what (?:does|is|do|are) (?:it|this|that|these|they)(?: all)?(?: (?:do|about|for|good for))?[?. ]*$",
    re.I,
)
#: A sentence beside the request that only says how it is wished.
_MANNER = re.compile(
    r"(?:(?:keep it |make it |be |very |just |only )*(?:short|brief|quick|concise|simple|briefly|quickly|in short)(?: answer)?(?: please| pls)?|(?:it|this|that|they)(?:'s| is| are) (?:in|under|on|inside|somewhere)\b.{0,40}|(?:there|it) should be .{0,40}|no rush|take your time|(?:please|thanks?|thank you)\b.{0,20})[.! ]*$",
    re.I,
)
_SAVED = re.compile(
    r"(?P<left>(?:summari[sz]e|list|find|count|explain|describe|search|collect|get|(?:write|create|make|give me|generate) (?:an? |the )?(?:\w+ )?(?:summary|overview|list|table|report) )\b.*?),? "
    r"(?:(?:and )?(?:save|write|put|store|export|dump) (?:it|that|this|them|the (?:results?|output|summary|list|table|answer)|everything)(?: all)? (?:to|into|in|as|under)|(?:to|into)) (?:an? |the )?(?:new )?(?:file )?(?:called |named )?(?P<file>‹p\d+›)$",
    re.I | re.S,
)
_CONVERTED = re.compile(
    r"(?:please )?(?:convert|turn|transform|export|change|make|save|write)\b.*‹p\d+›.*\b(?:to|into|as|in|a)\b.*\b(?:markdown|md|json|csv|table|html)\b.*\b(?:save|write|store|put|called|named|to|into|in|as)\b.*‹p\d+›[.!]*$",
    re.I,
)
_AGAIN = re.compile(r"(?:and |please )?(?:(?:do|run|try|show|repeat) )?(?:(?:it|that|this|the same(?: thing)?|the last (?:one|step|request)) )?(?:again|once more|one more time|repeat|repeat that|re-?do|re-?try|try again|continue|go on|proceed|carry on|weiter|nochmal|encore|otra vez|same again|the same again|keep going|resume|do it again|finish it|finish the job)[.!]*", re.I)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Task:
    """One recognised step."""

    ask: Ask
    rule: Rule
    match: re.Match[str]
    spoken: Ask | None = None  # as it was typed, when a word beside the verb was taken for a slip
    whole: tuple[str, int] | None = None  # of a wish: the words it stands for, and how many steps they are


@dataclass(frozen=True, slots=True)
class Understood:
    """What a request comes to: tasks in order; a part that no rule knows is a task of `not_recognised`."""

    tasks: tuple[Task, ...]
    foreign: bool = False
    style: tuple[str, int] | None = None

    @property
    def known(self) -> bool:
        """Whether every part was recognised."""
        return bool(self.tasks) and not any(task.rule.job is not_recognised for task in self.tasks)


def understand(text: str, desk: Desk) -> Understood:
    """Never guesses: what no rule matches is a task that says so."""
    english = in_english_turns(text)
    if english != text:
        return replace(understand(english, desk), foreign=True)
    if _AGAIN.fullmatch(text.strip()):
        earlier = [
            span.request for span in desk.spans if span.request and not _AGAIN.fullmatch(span.request.strip())
        ]
        if earlier:
            return understand(earlier[-1], Desk(desk.tools, desk.spans[:-1], desk.images))
    for other in resumed(text, desk):
        resolved = _understood(other, desk)
        if resolved.known:
            return resolved
    wanted = wished(text)
    if wanted:
        return Understood(wanted)
    plain, style = styled(text)
    understood = _understood(plain, desk)
    if (
        style is not None
        and not understood.known
        and not any(task.rule.job in OPEN for task in understood.tasks)
    ):
        return _understood(text, desk)
    return replace(understood, style=style)


def wished(text: str) -> tuple[Task, ...]:
    """The steps of a request that only wants changes; empty for any other."""
    asks = text.rstrip().endswith("?") and not re.match(r"(?:can|could|would|will) (?:you|we)\b", text, re.I)
    if asks or is_foreign(text) or len(text) > _LONGEST:
        return ()
    whole = mask(text)
    if whole.blocks:
        return ()
    steps = carry.steps(whole.with_text(polite(whole.text))) or []
    return tuple(
        replace(_whole(step, _WISHED), whole=(step.quoted(), 1) if number else (text, len(steps)))
        for number, step in enumerate(steps)
    )


def plainly(task: Task, desk: Desk) -> Understood:
    """What the rules make of a wish that the folder does not explain."""
    return _understood(task.whole[0] if task.whole else task.ask.quoted(), desk)


def _understood(text: str, desk: Desk) -> Understood:
    foreign = bool(is_foreign(text))
    whole = mask(text)
    if foreign:
        whole = whole.with_text(translate(whole.text))
    for form in dict.fromkeys((whole.text, polite(whole.text))):
        found = _match(whole.with_text(form), talking.FIRST_RULES)
        if found is not None:
            return Understood((found,), foreign)
    whole = whole.with_text(polite(whole.text))
    if _CONVERTED.match(whole.text):
        known = _match(whole, [r for r in tables.RULES if r.job is tables.convert])
        if known is not None:
            return Understood((known,), foreign)
    if (
        data.destination(whole)[1] is not None
        and is_table(whole.plain(whole.paths[-1]))
        and data.may_be_data(whole)
    ):
        # The rows themselves go into the file, not the answer about them.
        known = _match(whole, [r for r in RULES if r.job in {tables.convert, facts.save_output}])
        return Understood((known or _unknown(whole),), foreign)
    parts = cuts(whole)
    if len(parts) > 1 and whole.blocks:
        # A sentence that brings a block of code is one step, however it is punctuated.
        parts = [whole] if _try(whole) else parts
    tasks: list[Task] = []
    for part in parts:
        ask = part.with_text(polite(re.sub(r"^[^\w‹$./~]+(?=[\w‹])", "", part.text)))
        if not re.search(r"\w", ask.text) or (tasks and _adds_nothing(tasks[-1], ask)):
            continue
        once = {overview.summarise_folder, talking.help_text, running.run_tests}
        tasks.extend(
            t
            for t in _tasks_of(ask)
            if not (t.rule.job in once and t.rule.job in {d.rule.job for d in tasks})
        )
    if any(task.rule.job is not not_recognised for task in tasks):
        # A sentence around the request proper is no request of its own.
        around = [t for t in tasks if t.rule.job is not_recognised or t.rule in _LOOKED]
        tasks = [
            t
            for t in tasks
            if t not in around or not (_STATEMENT.match(t.ask.text) or not re.search(r"\w{3}", t.ask.text))
        ] or tasks
    if len(tasks) > 1 and all(task.rule in talking.LAST_RULES for task in tasks):
        tasks = tasks[:1]
    return Understood(tuple(tasks), foreign)


def _adds_nothing(before: Task, ask: Ask) -> bool:
    """Whether a part only says how the step before is wished, or asks what that one tells anyway."""
    told = before.rule.job is overview.summarise_folder and _SAME_AGAIN.match(ask.text)
    again = before.rule.job in {looking.explain, looking.explain_module, looking.explain_named} and re.match(
        r"explain (?:it|this|that)(?: to me)?(?: (?:like|as|in|for|so)\b.*)?$", ask.text, re.I
    )
    return bool(told or again or _ABSORBED.match(ask.text) or _MANNER.match(ask.text))


def _unknown(ask: Ask) -> Task:
    return _whole(ask, _UNKNOWN)


def _whole(ask: Ask, any_text: Rule) -> Task:
    match = any_text.pattern.match(ask.text)
    if match is None:
        raise AssertionError("every text matches")
    return Task(ask, any_text, match)


def understand_ask(ask: Ask) -> tuple[Task, ...]:
    """The tasks of a request whose files are named by their paths; empty when it is not wholly known."""
    plain, style = styled(ask.text)
    if style is not None:
        ask = ask.with_text(plain)
    found = _try(ask) or _try(ask.with_text(correct(ask.text)))
    return found or ()


def _tasks_of(ask: Ask) -> tuple[Task, ...]:
    """The tasks of one part in their order."""
    found = _try(ask)
    if found is not None:
        return found
    corrected = correct(ask.text)
    found = _try(ask.with_text(corrected))
    if found is not None:
        beside = ask.text.split(" ")[1:] != corrected.split(" ")[1:]
        return tuple(replace(task, spoken=ask) for task in found) if beside and len(found) == 1 else found
    return _pieces(ask) or _last_resort(ask) or (_unknown(ask),)


def _last_resort(ask: Ask) -> tuple[Task, ...] | None:
    """What needs understanding is refused; any other question is looked up in the files."""
    if len(ask.text) > _LONGEST:
        return None
    refused = _match(ask, talking.LAST_RULES[:1])
    if refused is None and _ELSEWHERE.search(ask.text):
        refused = _match(ask, talking.LAST_RULES[-1:])
    if refused is not None:
        return (refused,)
    if _QUESTION.match(ask.text) is None or (_CHANGES.match(ask.text) is not None):
        refused = _match(ask, talking.LAST_RULES[1:])
        if refused is not None:
            return (refused,)
        if (
            len(keywords(ask)) < 1
            or _CHANGES.match(ask.text)
            or not re.search(r"\s|\w{5}", ask.text)
            or _STATEMENT.match(ask.text)
        ):
            return None
        if not _QUESTION.match(ask.text) and not re.search(r"\?|\b(?:about|of|in|for|the)\b", ask.text):
            return None
    if not keywords(ask):
        return None
    found = _match(ask, list(_LOOKED))
    return (found,) if found is not None else None


def _try(ask: Ask) -> tuple[Task, ...] | None:
    """The tasks of one sentence; cut at "and VERB" where both sides are jobs of their own."""
    saved_output = _match(ask, facts.RULES[:3])
    if saved_output is not None:
        return (saved_output,)
    repaired = _match(ask, repairing.RULES[:2])
    if repaired is not None:
        return (repaired,)
    saved = _SAVED.match(ask.text) if len(ask.text) <= _LONGEST else None
    if saved:
        left = _try(ask.with_text(saved.group("left").strip()))
        right = _match(ask.with_text(f"save it to {saved.group('file')}"), saving.RULES)
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


def _pieces(ask: Ask) -> tuple[Task, ...] | None:
    """A sentence of several steps of which only some are known; None when none or there is one step only."""
    texts: list[str] = []
    rest = ask
    while bounds := and_cuts(rest):
        left, rest = bounds[0]
        texts.append(left.text)
    texts.append(rest.text)
    if len(texts) < 2:
        return None
    steps = [ask.with_text(polite(text)) for text in texts]
    found = [_match(step, RULES) for step in steps]
    if not any(found):
        return None
    return tuple(
        task or next(iter(_last_resort(step) or ()), _unknown(step))
        for task, step in zip(found, steps, strict=True)
        if task or not _ABSORBED.match(step.text)
    )


def _theirs(left: Ask, right: str) -> str:
    """ "… python files and count their lines": the second half means the same files."""
    if re.search(r"\bfiles?\b", left.text, re.I):
        right = re.sub(r"\b(largest|biggest|smallest|newest|oldest|longest)( one)?$", r"\1 file", right)
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
        if candidate.job is git.log and ask.has(
            r"\blines?\b|\blogs\b|\blog files?\b|\b(?:newest|latest|oldest|biggest) log\b"
        ):
            continue
        match = candidate.pattern.match(ask.text)
        plain = ask.text.rstrip(" .!?,")
        if match is not None and match.end() < len(plain):
            # Another branch of the pattern may reach the end where the first one stopped short.
            match = candidate.pattern.fullmatch(plain)
        whole = match is not None and match.end() >= len(plain)
        if match is None or not whole or (candidate.when is not None and not candidate.when(ask)):
            continue
        counts = candidate.job is counting.count_lines and ask.has(
            r"\blines of (?:\w+ )?(?:code|python|javascript|js|typescript|html|css|java|go|rust|shell)\b"
        )
        if (
            candidate.job in _NARROW
            and not counts
            and not match.groupdict().get("new")
            and _strays(ask, candidate)
        ):
            continue
        return Task(ask, candidate, match)
    return None


@cache
def _own_words(pattern: str) -> frozenset[str]:
    """The words a rule is made of, by their stems."""
    plain = re.sub(r"\\[a-zA-Z]|\?P?<\w+>", " ", pattern)
    # Groups within words ("licen[sc]e", "repo\\w*") count as far as they are letters.
    plain = re.sub(r"\[(\w)\w*\]", r"\1", plain)
    plain = re.sub(r"\(\?:([\w|]*)\)\??", r"\1 ", plain).replace("?", "")
    return frozenset(stem(word) for word in re.findall(r"[^\W\d_]{2,}", plain.lower()))


def _strays(ask: Ask, candidate: Rule) -> list[str]:
    """Words of the request that this rule knows nothing of: names and matters of its own."""
    own = _own_words(candidate.pattern.pattern)
    bare = re.sub(
        r"‹[pqc]\d+›|(?<=\s)-\w+|\b[\w-]+(?= (?:folder|directory|subfolder|package)\b)", " ", ask.text
    )
    if candidate.job is searching.find_topic:
        bare = re.sub(rf"\b(?:{searching.TOPIC_WORDS})\b", " ", bare, flags=re.I)
    strays = [
        word
        for word in re.findall(r"[^\W\d_][\w'-]{2,}", bare)
        if (lower := word.lower()) not in STOP
        and lower not in _ALLOWED
        and stem(lower) not in own
        and not any(len(part) > 3 and stem(lower).startswith(part) for part in own)
    ]
    return strays + (
        ["quoted"] if ask.quotes and candidate.job not in {searching.find_topic, git.log} else []
    )


_ALLOWED = (
    VOCABULARY
    | set(VERBS)
    | word_set("""
    site website tool server library program sha hash id ids message messages
    purpose goal goals aim point intent
    repo repository code codebase overall currently current happening recently lately actual actually detail details detailed new old clear
    simple plain complete whole total entire rough roughly exact brief english german french table sorted order group grouped newest
    please thanks cheers pls directory workspace app application package software thing stuff number numbers yesterday week weeks month
    months year years hour hours ago day days past recent author authors date dates time minutes tests test included including together altogether comments blank limit limited maximum allowed name names latest previous inside bytes
    kilobytes megabytes unit units version versions team someone colleague main info information statistics stats approximately approx
    quick rundown run-down tour human readable nice nicely show-me size sizes sort kinds kind type types lots source line lines hidden
    left remaining open organised organized structured arranged laid handle handled handles handling pending unfinished there's overall
    top level depth deep explanation reason failing failed fail failure failures works working compile compiles passing pass green red
""")
)
_LOOKED: tuple[Rule, ...] = (rule(r".+", answering.look_up),)


def unexplained(task: Task) -> bool:
    """Whether a job that takes no free words would pass over some of the request's own."""
    if task.rule.job is looking.show_file and task.ask.has(r"\blines? \d|\b(?:first|last) (?:\d+ )?lines?\b"):
        return False
    return task.rule.job in _NO_WORDS and bool(_strays(task.ask, task.rule))


def looked_up(ask: Ask) -> tuple[Task, ...]:
    """The question as one that is looked up in the files it names."""
    found = _match(ask, list(_LOOKED))
    return (found,) if found is not None else ()


def not_recognised(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """The end of a request that neither a job nor the folder makes anything of. Raises CannotDo."""
    yield from ()
    raise CannotDo(talking.refusal(desk, ask.plain()))


def change_wished(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """A change that the folder explains in every word. Raises NotMine, CannotDo."""
    return (yield from carry.change(desk, ask))


_UNKNOWN = rule(r".*", not_recognised)
_WISHED = rule(r".*", change_wished)
#: Jobs that make one answer of several files.
TAKES_SEVERAL = {
    tables.compare, summing_up.summarise_files, counting.count_in_file, many.add_to_all, many.combine, looking.show_file, keeping.delete, extracting.extract,
    pages.check_all_links, creating.create_files, keeping.pack,
}  # fmt: skip
_NO_WORDS = {
    looking.explain, looking.show_file, looking.list_folder, looking.explain_named, looking.explain_module, overview.summarise_folder, keeping.delete, keeping.pack, counting.count_in_file,
    tables.check_json, tables.csv_overview, tables.compare, looking.show_tree,
}  # fmt: skip
#: Jobs that only say what they cannot do.
REFUSALS = {not_recognised, talking.cannot, talking.cannot_write, talking.no_eyes}
#: Jobs that take any words: what the folder itself tells of the request is tried before them.
OPEN = {answering.look_up, data.data_question, not_recognised, talking.cannot, talking.cannot_write}
