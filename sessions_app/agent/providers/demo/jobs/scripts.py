"""Small Python scripts over the lines of a file, put together from the few things that a request says they shall do."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.phrases import NAME, Ask, P
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import code, fence, link


@dataclass(frozen=True, slots=True)
class Doing:
    """One thing a script can do: the words for it, its usual name, what it says of itself, and the code over `lines`."""

    words: str
    name: str
    about: str
    body: str


_DOINGS = (
    Doing(r"reverses? (?:each|every|all|the) lines?|reverses? (?:the )?(?:text|characters|words) (?:of|in) (?:each|every) line", "reverse_lines.py", "Print every line of a file with its characters reversed.", "for line in lines:\n        print(line[::-1])"),
    Doing(r"reverses? (?:the )?order of (?:the |all )?lines|prints? (?:the |all )?lines (?:backwards|in reverse(?:d)?(?: order)?)", "backwards.py", "Print the lines of a file from the last to the first.", "for line in reversed(lines):\n        print(line)"),
    Doing(r"sorts? (?:the |all )?lines(?: (?:of|in) (?:a|the) (?:text )?file)?(?: alphabetically)?", "sort_lines.py", "Print the lines of a file in alphabetical order.", "for line in sorted(lines, key=str.lower):\n        print(line)"),
    Doing(r"removes? (?:the |all |any )?(?:duplicate|double|doubled|repeated) lines|prints? (?:only )?(?:the )?unique lines", "unique_lines.py", "Print the lines of a file, each only once.", "for line in dict.fromkeys(lines):\n        print(line)"),
    Doing(r"counts? (?:the |all )?(?:number of )?lines|prints? (?:the )?number of lines|how many lines", "count_lines.py", "Print how many lines a file has.", "print(len(lines))"),
    Doing(r"counts? (?:the |all )?(?:number of )?words|prints? (?:the )?number of words|how many words", "count_words.py", "Print how many words a file has.", "print(sum(len(line.split()) for line in lines))"),
    Doing(r"counts? (?:the |all )?(?:number of )?(?:characters|letters)", "count_characters.py", "Print how many characters a file has, line breaks left out.", "print(sum(len(line) for line in lines))"),
    Doing(r"(?:prints?|finds?|shows?) (?:the )?longest line", "longest_line.py", "Print the longest line of a file.", "print(max(lines, key=len, default=\"\"))"),
    Doing(r"(?:prints?|finds?|shows?) (?:the )?longest word", "longest_word.py", "Print the longest word of a file.", "print(max((word for line in lines for word in line.split()), key=len, default=\"\"))"),
    Doing(r"(?:converts?|turns?|changes?|prints?) .*\b(?:upper ?case|capitals|capital letters)|upper-?cases?", "upper_case.py", "Print the lines of a file in capital letters.", "for line in lines:\n        print(line.upper())"),
    Doing(r"(?:converts?|turns?|changes?|prints?) .*\b(?:lower ?case|small letters)|lower-?cases?", "lower_case.py", "Print the lines of a file in small letters.", "for line in lines:\n        print(line.lower())"),
    Doing(r"numbers? (?:the |all |each |every )?lines?|prints? (?:the )?lines with (?:their )?(?:line )?numbers", "number_lines.py", "Print the lines of a file with their numbers.", "for number, line in enumerate(lines, 1):\n        print(number, line)"),
    Doing(r"removes? (?:the |all |any )?(?:empty|blank) lines", "no_empty_lines.py", "Print the lines of a file without the empty ones.", "for line in lines:\n        if line.strip():\n            print(line)"),
    Doing(r"(?:sums?(?: up)?|adds? up|totals?) (?:the |all )?numbers(?: (?:in|of|from) (?:a|the|each) (?:file|line)s?)?", "sum_numbers.py", "Print the sum of all numbers in a file.", "import re\n\n    print(sum(float(number) for line in lines for number in re.findall(r\"-?\\d+(?:\\.\\d+)?\", line)))"),
)  # fmt: skip
_COUNTED = re.compile(
    r"counts? (?:the |all |how many )*(?:lines? )?(?:(?:with|containing|that (?:contain|have|mention)) )?(?:the (?:word|text) )?(?P<what>‹q\d+›|(?:errors?|warnings?|todos?|fixmes?))\b",
    re.I,
)
_GREPPED = re.compile(
    r"(?:prints?|shows?|finds?|lists?) (?:only )?(?:the |all |every )*lines? (?:with|containing|that (?:contains?|has|have|mentions?)) (?:the (?:word|text) )?(?P<what>‹q\d+›|\w+)",
    re.I,
)


def _doing(ask: Ask) -> Doing | None:
    if found := _COUNTED.search(ask.text):
        word = ask.plain(found["what"])
        plain = word if found["what"].startswith("‹") else word.rstrip("s").upper()
        return Doing(
            "",
            f"count_{re.sub(r'[^a-z]+', '_', plain.lower())}.py",
            f"Print how many lines of each file have {plain}.",
            f"print(sum({plain!r} in line for line in lines))",
        )
    if found := _GREPPED.search(ask.text):
        word = ask.plain(found["what"])
        return Doing(
            "",
            "find_lines.py",
            f"Print the lines of a file that have {word}.",
            f"for line in lines:\n        if {word!r} in line:\n            print(line)",
        )
    fitting = [doing for doing in _DOINGS if re.search(rf"\b(?:{doing.words})\b", ask.text, re.I)]
    return fitting[0] if len(fitting) == 1 else None


def text_of_script(doing: Doing) -> str:
    """The whole script: it takes file names and does its one thing with each."""
    return (
        f'"""{doing.about}"""\n\nimport sys\nfrom pathlib import Path\n\n\ndef work(path):\n'
        f'    lines = Path(path).read_text(encoding="utf-8").splitlines()\n    {doing.body}\n\n\n'
        'if __name__ == "__main__":\n    if len(sys.argv) < 2:\n        sys.exit("usage: " + sys.argv[0] + " FILE...")\n'
        "    for name in sys.argv[1:]:\n        work(name)\n"
    )


def line_script(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """The script written and tried on a file of the folder. Raises CannotDo for what it is not made of."""
    doing = _doing(ask)
    if doing is None:
        raise CannotDo(
            "Not written: the demo model writes no code of its own beyond its templates and plain things with the lines of a file (count, sort, reverse, number, find, upper case, unique)."
        )
    path = next((p for p in ask.paths if p.endswith(".py")), None) or doing.name
    if (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
        raise CannotDo(f"{link(path)} exists already and was left as it is.")
    text = text_of_script(doing)
    yield from moves.write(desk, path, text, f"Writing {code(path)}.")
    every = yield from moves.every_path(desk)
    sample = next((p for p in ask.paths if p != path and "." in p), None) or next(
        (
            p
            for p in sorted(every, key=lambda p: (p.count("/"), p))
            if p.endswith((".txt", ".md", ".csv", ".log"))
        ),
        None,
    )
    tried = ""
    if sample is not None and "bash" in desk.tools:
        outcome = yield from moves.shell(
            desk,
            f"python3 {moves.quoted(path)} {moves.quoted(sample)} | head -5",
            f"Trying it on {code(sample)}.",
            check=False,
        )
        tried = f"\n\nTried on {link(sample)}, it printed:\n\n{fence(moves.output(outcome).strip() or '(nothing)')}"
    return f"Wrote {link(path)}, put together from a template:\n\n{fence(text, 'py')}{tried}"


RULES: list[Rule] = [
    rule(
        rf"(?:create|make|write|generate|build|give me|i (?:want|need)|code)\b(?: me| us)? (?:an? |the |small |short |simple |little |new |quick )*(?:python |py )?(?:script|program|tool|file)?(?: (?:called|named))? ?(?:{P}|{NAME})?,? ?(?:in python )?(?:that|which|to) .*$",
        line_script,
        lambda ask: ask.has(r"\b(?:script|program|tool)\b|‹p") and ask.has(r"\blines?\b|\bwords?\b|\bnumbers\b|\berrors?\b|\bwarnings?\b|\bcharacters\b|\bletters\b|\bcase\b") and not ask.has(r"\b(?:shell|bash|javascript|js|node|ruby|rust|go|java|csv|json|fibonacci|primes?|password|random|guess\w*|server|api|website|game|two numbers)\b") and _doing(ask) is not None,
    ),
]  # fmt: skip
