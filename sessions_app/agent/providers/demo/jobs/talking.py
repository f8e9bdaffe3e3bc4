"""Answers without a job: greetings, what is possible, sums, the time, what was done, and what cannot be done."""

from __future__ import annotations

import ast
import math
import operator
import re
from collections.abc import Callable

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.conversation import Span
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.creating import no_template
from sessions_app.agent.providers.demo.jobs.keeping import changed_so_far
from sessions_app.agent.providers.demo.keywords import STOP, stem
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, link

ABILITIES = (
    (
        "Look",
        "list files, show a tree, read a file or some lines, explain a file, summarise a file or folder in its own sentences",
    ),
    ("Answer", "questions about what stands in the files, with the lines quoted"),
    (
        "Tables",
        "of CSV, TSV or JSON: filter, sort, count, add up, group, join, add, change or remove rows, write them to a file",
    ),
    (
        "Search",
        "text, TODOs, definitions and uses, files by name, type, size or date; pick out addresses, dates, links",
    ),
    ("Count", "files, lines by language, words, sizes, duplicates"),
    (
        "Make",
        "small programs from templates, a README, CONTRIBUTING, Dockerfile, .gitignore, HTML page, files with your text, folders",
    ),
    ("Change", "replace text, rename a name everywhere, add or delete lines and headings, sort lines, undo"),
    ("Run", "a command, a script, the tests with the first failure read out"),
    ("Git", "status, history, differences, branches, authors, commit, a CHANGELOG entry"),
    (
        "Code and pages",
        "what has no docstring or test, unused names, versions, broken links, styles, one setting",
    ),
    ("Convert", "CSV, JSON and Markdown tables; check JSON, compare two files, put files together"),
)


def possible() -> str:
    """The list of jobs, for every answer that has to refuse."""
    return bullets(f"**{name}**: {what}" for name, what in ABILITIES)


#: Requests that work, to choose the nearest from.
EXAMPLES = (
    "summarise this folder", "explain README.md", "read README.md", "find every TODO", 'find "timeout" in all files', "list the files", "show the folder structure as a tree",
    "run the tests and explain the first failure", "list the functions in main.py", "where is main defined?", "how many lines of code are there?", "what are the biggest files?",
    "which files changed recently?", "show the git log", "who wrote this?", "commit everything with the message \"…\"", "create a branch called try-it",
    'create notes.txt with the text "…"', "create a list.md with three bullet points apples, pears and plums", 'add the line "done" to notes.txt', 'replace "colour" with "color" in README.md',
    "rename old_name to new_name everywhere", "sort the lines in notes.txt", "remove trailing whitespace from notes.txt", "turn off debug", "set the timeout to 30",
    "how much is the total in data.csv?", "average amount per category in data.csv", "top 3 rows by amount in data.csv", "convert data.csv to markdown", "is config.json valid JSON?",
    "compare old.txt and new.txt", "create a hello world in Python and run it", "write a Python script that prints the Fibonacci numbers", "run main.py and save its output to out.txt",
    "add a test for total([])", "add docstrings to main.py", "how do I run this?", "what are the dependencies?", "add requests to the dependencies", "delete old/notes.txt", "move notes.txt to docs",
    "undo", "what is 15% of 240?", "convert 5 km to miles", "find hard-coded passwords", "check the Python files for syntax errors", "run pip install NAME", "add \"buy paper\" to the todo list",
)  # fmt: skip


def nearest(wish: str) -> list[str]:
    """The two example requests that share most with a wish."""
    wanted = {stem(w) for w in re.findall(r"[^\W\d_]{3,}", wish.lower())}
    shared = {
        e: sum(
            stem(w) in wanted for w in dict.fromkeys(re.findall(r"[^\W\d_]{3,}", e.lower())) if w not in STOP
        )
        for e in EXAMPLES
    }
    best = sorted(EXAMPLES, key=lambda e: (-shared[e], EXAMPLES.index(e)))[:2]
    return best if shared[best[0]] else ["summarise this folder", "find every TODO"]


def refusal(desk: Desk, wish: str, why: str = "", hint: str = "") -> str:
    """What an answer says that cannot do it: that it was not understood, and in one sentence what is possible."""
    start = f"Not done: “{clip(wish, 120)}” — {why or 'the demo model did not understand it'}."
    told = any(
        _IN_SHORT in answer
        for answer in (*desk.answers, *(turn.text for span in desk.spans for turn in span.turns))
    )
    near = hint or "Nearest: " + " or ".join(f"“{e}”" for e in nearest(wish)) + "."
    return f"{start} {near}" if told else f"{start} {_IN_SHORT} {near}"


_IN_SHORT = (
    "It is a script: it can list, read, search, count and summarise files, answer from tables and texts, create and "
    "change files, run commands and tests, and use git; “what can you do?” lists everything."
)


def greet(_desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    return f"Hello. The demo model does plain jobs with real tools in this folder. For example: “summarise this folder”, “find every TODO”, “create a hello world in Python and run it”.\n\n{possible()}"


def thank(_desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    return "You are welcome. Everything done so far stays in the session tree; go back to any message there and try another way."


def help_text(_desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    return f"The demo model is a script that recognises plain requests and does them with the real tools in your folder. It has no understanding and needs no network. It can:\n\n{possible()}\n\nSeveral steps in one message work (“create … and run it”), and so do “it”, “the second one”, “again”. Messages sent while it works are taken up at the next step. With a key, a real model answers in its place."


def what_was_done(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    spans = [span for span in desk.spans if span.request and span.turns]
    if not spans:
        return "Nothing yet: this is the beginning of what the demo model sees."
    lines = [f"“{clip(span.request, 80)}” → {_did(span)}" for span in spans[-12:]]
    changed = changed_so_far(desk.spans)
    left_out = f"{count(len(spans) - 12, 'earlier request')} left out.\n\n" if len(spans) > 12 else ""
    return f"So far:\n\n{left_out}{bullets(lines)}\n\n" + (
        f"Files written or changed: {', '.join(link(p) for p in changed[:12])}."
        if changed
        else "No file was written or changed with the file tools."
    )


def _did(span: Span) -> str:
    results = span.results()
    if not results:
        return "answered without tools"
    names: dict[str, int] = {}
    for call, _ in results:
        names[call.name] = names.get(call.name, 0) + 1
    failed = sum(outcome.is_error for _, outcome in results)
    used = ", ".join(
        f"{code(name)} {number}×" if number > 1 else code(name) for name, number in names.items()
    )
    return f"{used}{f', {failed} failed' if failed else ''}{'' if span.finished else ', not finished'}"


def no_eyes(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    which = f"The image {link(ask.paths[0])}" if ask.paths else "The image" if desk.images else "An image"
    return f"{which} cannot be described: the demo model cannot see images. Another model can (*Add a key* at the top)."


def tell_time(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    outcome = yield from moves.shell(
        desk, "date '+%A, %d %B %Y, %H:%M:%S %Z, week %V'", "Asking the clock.", what="telling the time"
    )
    return f"The machine's clock says: {moves.output(outcome).strip()}."


def _between(wanted: str) -> str:
    bounds = re.search(r"(?:between|from) (\d+) (?:and|to) (\d+)", wanted)
    low, high = (int(bounds.group(1)), int(bounds.group(2))) if bounds else (1, 100)
    return f"secrets.randbelow({abs(high - low) + 1}) + {min(low, high)}"


def random_value(desk: Desk, _ask: Ask, match: re.Match[str]) -> Script:
    wanted = match.group().lower()
    expression = (
        "str(uuid.uuid4())"
        if "uuid" in wanted
        else "secrets.token_urlsafe(15)"
        if "password" in wanted or "token" in wanted or "string" in wanted
        else _between(wanted)
    )
    command = f"python3 -c 'import secrets, uuid; print({expression})'"
    outcome = yield from moves.shell(
        desk, command, "Drawing it from the system's random source.", what="drawing random values"
    )
    return f"{code(moves.output(outcome).strip())}, drawn by {code(command)}." + (
        " It stands in this session now; for a real account make one elsewhere."
        if "password" in wanted or "token" in wanted
        else ""
    )


_OPERATORS: dict[type[ast.AST], Callable[..., float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv, ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod, ast.USub: operator.neg, ast.UAdd: operator.pos,
}  # fmt: skip


def arithmetic(text: str) -> float:
    """The value of an expression of numbers. Raises ValueError for anything else."""

    def value(node: ast.AST) -> float:
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return number
            case ast.BinOp(left=left, op=ast.Pow(), right=right):
                base, power = value(left), value(right)
                if abs(power) > 200 or abs(base) > 1e12:
                    raise ValueError("too large")
                return float(base**power) if isinstance(base**power, float) else base**power
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](value(left), value(right))
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _OPERATORS:
                return _OPERATORS[type(op)](value(operand))
            case ast.Call(func=ast.Name(id="sqrt"), args=[argument]):
                return math.sqrt(value(argument))
        raise ValueError("not arithmetic")

    try:
        return value(ast.parse(text, mode="eval").body)
    except (SyntaxError, ZeroDivisionError, OverflowError, TypeError) as error:
        raise ValueError(str(error)) from None


def as_expression(words: str) -> str:
    """ "15 % of 240", "3 times 4", "2^10" as an expression."""
    text = (
        words.lower()
        .strip()
        .rstrip("=?.! ")
        .replace("×", "*")
        .replace("÷", "/")
        .replace("−", "-")
        .replace("^", "**")
    )
    text = re.sub(r"(?<=\d),(?=\d{3}\b)", "", text)
    text = re.sub(r"(?<=\d),(?=\d)", ".", text)
    text = re.sub(r"(\d+(?:\.\d+)?) ?(?:%|percent) of (\d+(?:\.\d+)?)", r"(\1 / 100 * \2)", text)
    for pattern, sign in ((r"\bplus\b", "+"), (r"\bminus\b", "-"), (r"\b(?:times|multiplied by)\b|(?<=\d) ?x ?(?=\d)", "*"), (r"\b(?:divided by|over)\b", "/"), (r"\bto the power of\b", "**"), (r"\bsquared\b", "**2"), (r"\bcubed\b", "**3"), (r"\bmod(?:ulo)?\b", "%"), (r"√|\bsquare root of\b|\broot of\b", "sqrt ")):  # fmt: skip
        text = re.sub(pattern, sign, text)
    return re.sub(r"sqrt +\(?(\d+(?:\.\d+)?)\)?", r"sqrt(\1)", re.sub(r"\bthe\b", "", text)).strip()


def calculate(_desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    yield from ()
    words = ask.plain(match.group("sum"))
    try:
        result = arithmetic(as_expression(words))
    except ValueError:
        raise CannotDo(
            f"{code(clip(words, 60))} is no arithmetic that the demo model can evaluate. It knows + − × ÷, powers, roots, “15 % of 240”."
        ) from None
    return (
        f"{words.strip().rstrip('=?')} = **{result:,.12g}**"
        if not isinstance(result, int)
        else f"{words.strip().rstrip('=?')} = **{result:,}**"
    )


def stop_here(_desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    return "Stopped here. What the tools did up to now stays; “what did you do so far” lists it, “undo” takes back the last change."


def cannot(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """What needs understanding, with the nearest thing that is possible."""
    yield from ()
    hint = next((hint for pattern, hint in _NEAREST if re.search(pattern, match.group(), re.I)), "")
    raise CannotDo(
        refusal(
            desk, ask.plain(), "that needs a model that understands, and the demo model is a script", hint
        )
    )


def cannot_write(_desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    yield from ()
    raise CannotDo(no_template(ask.plain()))


_NEAREST = [
    (r"\b(?:fix|bug|debug|error|fail)", "Nearest: “run the tests and explain the first failure”, “replace \"x\" with \"y\" in file.py”."),
    (r"\b(?:refactor|improve|optimi|clean|simplif|modern|restructure|split)", "Nearest: “list the functions in file.py”, “rename old_name to new_name everywhere”, “lint this folder”."),
    (r"\b(?:review|critique|audit|assess|evaluat|quality|security|vulnerab)", "Nearest: “check the Python files for syntax errors”, “find every TODO”, “find hard-coded passwords”, “lint this folder”."),
    (r"\b(?:translat)", "Nearest: “read README.md”."),
    (r"\b(?:install|upgrade|update|outdated)", "Nearest: “run pip install NAME” or another command that you give."),
    (r"\b(?:document|comment|docstring)", "Nearest: “add docstrings to file.py” writes stubs from the names, “explain file.py” reads it out."),
    (r"\b(?:test)", "Nearest: “create a unit test for file.py” writes a start."),
    (r"\b(?:open|browser|website|internet|online|google|download|weather|news|web)\b", "It is offline; “run curl …” is a command you can give."),
    (r"\b(?:server|deploy|start|docker)", "Nearest: “run …” with the command; it gets 20 s if it does not end by itself."),
    (r"\b(?:picture|image|draw|diagram|chart|plot|graph|logo)", "Nearest: “show the folder structure as a tree”."),
    (r"\b(?:poem|joke|story|haiku|song|essay|letter|email|e-mail|tweet|blog)", "Nearest: “create notes.txt with the text \"…\"” writes your words."),
]  # fmt: skip

_UNDERSTANDING = (
    "fix|debug|solve|repair|refactor|optimi[sz]e|improve|clean(?: up)?|simplify|moderni[sz]e|rewrite|restructure|redesign|review|critique|audit|assess|evaluate|translate|"
    "implement|integrate|migrate|upgrade|port|design|architect|plan|brainstorm|research|investigate|recommend|suggest|advise|think|decide|predict|guess|imagine|invent|"
    "compose|draw|paint|sketch|plot|visuali[sz]e|chart|deploy|publish|release|ship|host|install|uninstall|download|upload|send|email|post|call|book|order|buy|browse|google|"
    "play|sing|speed up|make it (?:faster|better|nicer|work|prettier|responsive)|secure|harden|document|comment|annotate|complete|finish|extend|enhance|adapt|proofread|correct|"
    "paraphrase|rephrase|shorten|expand|elaborate|prove|teach|tutor|roleplay|pretend|learn|train|scrape|crawl|monitor|schedule|remind|update (?:the )?(?:dependenc|packages)|split|merge|resolve|handle|"
    "remove unused|find (?:the |any |all )*(?:bugs?|vulnerabilit\\w+|security|mistakes|issues|problems|memory leaks?|errors?)|are there (?:any )?(?:bugs?|vulnerabilit\\w+|security|mistakes|issues|problems|errors)"
    "|check (?:\\w+ )*for (?:bugs?|errors|mistakes|problems|issues|vulnerabilit\\w+)|is (?:this|the|my|it) (?:\\w+ )*(?:good|secure|safe|correct|efficient|clean|well[- ]written|ok|okay|fast|production[- ]ready)"
)

FIRST_RULES: list[Rule] = [
    rule(r"(?:search|look|google|browse|check|find)\b.*\b(?:the web|internet|online|google)\b.*", cannot),
    rule(r"(?:hi|hello|hey|hallo|howdy|greetings|good (?:morning|afternoon|evening|day)|yo|hola|bonjour|salut|moin|servus|guten (?:tag|morgen|abend))\b(?: (?:there|demo|agent|model|all|everyone|you|again|world))*[!.,? ]*(?:how are you\??|how(?:'s| is) it going\??|what's up\??)?$|how are you.*|what's up\??$", greet),
    rule(r"(?:thanks?|thank you|thx|ty|great|perfect|nice|cool|awesome|good job|well done|danke|merci|gracias|bye|goodbye|ok|okay|got it|good|yes|no|super|wonderful|excellent|very good|see you|nice work)\b(?: (?:a lot|very much|so much|you|for .*|work|job|thanks?|that's all|later|it))*[!. ]*$", thank),
    rule(r"(?!what (?:do|are|does|could) (?:i|we|it|this)\b(?! (?:do|ask|say|type|write|able)\b))(?:what|which)(?: (?:jobs|tasks|things|tools|kinds? of \w+|commands|sort of \w+))? (?:can|could|do|are) (?:you|i|the demo model|it|this|we)(?: able to)?(?: all)? ?(?:do|can do|here|with you|ask(?: you)?|know|support|use|have|offer|capable of|good at|help(?: me)? with)(?: .*)?[?. ]*$|(?:help|\?|/help|commands|usage|instructions|abilities|features|capabilities)[?!. ]*$|(?:who|what) are you.*|(?:what|which) (?:model|ai|llm)\b.*|(?:are you|is this) (?:an? |really |the |real )*(?:ai|bot|llm|human|model|gpt|claude|chatgpt|script|real|robot|assistant|person)\b.*|how (?:do|does|can) (?:you|i) (?:work|use|start|help|begin)(?: (?:you|here|with you|talking to you|the demo model))?[?!. ]*$|what (?:is|are) (?:your|the demo model's?|the demo model)\b.*|(?:tell|show) me what you can do.*|what should i (?:ask|try|do)\b.*|help me$|introduce yourself.*|what do you (?:do|know|offer)$|list (?:all )?(?:of )?(?:your |the )?(?:tools|abilities|capabilities|features|commands)(?: you (?:have|can use))?$|what tools .*|do you have (?:any )?tools.*|can you (?:write|read|edit|change|create|delete|run|execute|search|use|open)(?: to)? (?:files?|commands?|tools|code|scripts?|git|folders|things|anything)[?. ]*$|(?:do|can) you (?:have access to|access|see|read|touch|change|edit)\b(?!.*\b(?:image|picture|photo|screenshot)).*\bfiles\b(?! (?:here|in)).*|is (?:this|it) (?:safe|offline|local|online|free)\b.*", help_text),
    rule(r"(?:what (?:did|have|has) (?:you|we|the agent|it|been) (?:do|done|did|been doing|accomplish\w*|achieve\w*|change[d]?)\b(?! (?:in|on|at|about|with|for|during|when|after|before) (?!this|the (?:session|conversation|folder|files?))).*|(?:recap|summari[sz]e|sum up|summary of|give me a summary of|list|review)(?: (?:this|the|our|your|all|what))* (?:conversation|chat|session|discussion|you did|you have done|you've done|we did|we have done|was done|steps|actions|progress|work so far|happened)\b.*|recap|what happened(?: so far)?|what was done.*|progress\??|what have you been up to.*)$", what_was_done),
    rule(r"(?:stop|cancel|abort|halt|never ?mind|forget (?:it|that)|wait|don'?t do (?:it|that)|leave it|enough|quit|exit|stop (?:it|that|this|now|everything|the job))[.! ]*$", stop_here),
]  # fmt: skip

RULES: list[Rule] = [
    rule(r"(?:what(?:'s| is)|describe|explain|tell me (?:about|what)|can you see|do you see|analy[sz]e|look at|see|read|transcribe|what do you see|ocr|recogni[sz]e|who is)\b(?!.*\bfiles\b).*\b(?:images?|pictures?|photos?|screenshots?|drawing|figure)\b.*", no_eyes),
    rule(r"(?:what(?:'s| is)? (?:the |today's |current |is the )*(?:time|date|day|week|year|month)\b(?:.*(?:today|now|is it|it is|here|and time|and date|current|local))?|what time is it.*|what day .*|today'?s date|(?:show|tell|give|print)(?: me| us)? (?:the )?(?:current |today's )?(?:time|date|date and time|time and date)|(?:current|today's) (?:date|time)|date|time|which day.*|what's today.*|what year .*)[?. ]*$", tell_time),
    rule(r"(?:generate|create|make|give me|pick|choose|draw|i need|get|show me)(?: me)? (?:an? |some |the )?(?:new |strong |secure |good )*(?:random )?(?:password|uuid|guid|(?<=random )(?:number|token|string|integer|value))\b(?!.*\b(?:script|program|app|tool|generator|function|file|in python)\b).*", random_value),
    rule(r"(?:what(?:'s| is| are)|calculate|compute|evaluate|solve|how much is|how much are|work out|tell me)? ?(?:the (?:result|value|sum|product) of )?:? ?(?P<sum>(?:sqrt|√|square root of|the square root of)? ?[(\d−-][\d\s.,()+*/^%×÷−x-]*(?:(?:plus|minus|times|multiplied by|divided by|over|percent of|percent|% of|of|to the power of|squared|cubed|mod|modulo|x|sqrt)[\d\s.,()+*/^%×÷−-]*)*)(?:=|\?|\.)*$", calculate),
]  # fmt: skip

LAST_RULES: list[Rule] = [
    rule(rf"(?:{_UNDERSTANDING})\b.*", cannot),
    rule(r"(?:write|create|make|generate|build|code|develop|program|give me)\b(?!.*\b(?:poem|joke|story|haiku|song|essay|letter|e-?mail|tweet|blog|article|documentation|docs|logo|picture|image|diagram|chart|plot|graph|presentation|report|summary|plan|website for|explanation)\b).*\b(?:script|program|app|application|function|code|tool|game|class|algorithm|bot|api|server|cli|library|component|query|regex|website|page)\b.*", cannot_write),
    rule(r"(?:write|create|make|generate|build|add|give|tell|why|how|should|would|could|who|when|draw|compose|show|is|are|do|does|can|explain|describe|what|which|open|start|set|use|change|update|check)\b.*", cannot),
]  # fmt: skip
