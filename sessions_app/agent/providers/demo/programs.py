"""Small ready programs and files the demo model can write; each is a template and is called one in the answer."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True, slots=True)
class Program:
    """`words` is a pattern for the request, `language` an ending, `name` the usual file name, `runs` whether
    running it ends by itself without input, `arguments` what a trial run gets."""

    words: str
    language: str
    name: str
    about: str
    runs: bool = True
    arguments: str = ""

    def text(self) -> str:
        return (files(__package__) / "templates" / f"{self.name}.txt").read_text(encoding="utf-8")


PROGRAMS: tuple[Program, ...] = (
    Program(r"fibonacci|fibonnaci|fibonaci", "py", "fibonacci.py", "prints the first Fibonacci numbers"),
    Program(r"prime", "py", "primes.py", "prints the primes up to a limit"),
    Program(r"fizz ?-?buzz", "py", "fizzbuzz.py", "prints FizzBuzz from 1 to 100"),
    Program(r"factorial", "py", "factorial.py", "computes factorials"),
    Program(r"palindrom", "py", "palindrome.py", "tells whether words are palindromes"),
    Program(r"revers\w* (?:a |the |of )?(?:strings?|words?|texts?)|(?:strings?|text) revers", "py", "reverse.py", "reverses text"),
    Program(r"(?:word|line)s?[- ]?(?:count|frequen)|count\w* (?:the )?words|wc clone", "py", "word_count.py", "counts lines, words and the most frequent words"),
    Program(r"to-?do(?: list)?|task (?:list|manager)", "py", "todo.py", "a to-do list for the command line", arguments="list"),
    Program(r"(?:http|web|file) ?-?server|simple server", "py", "serve.py", "serves the folder on localhost", runs=False),
    Program(r"flask|web app\b", "py", "app.py", "a minimal Flask app (needs Flask)", runs=False),
    Program(r"calculator", "py", "calculator.py", "evaluates arithmetic given as arguments", arguments="'2 * (3 + 4)'"),
    Program(r"guess\w*(?: the)?(?: number)?|number game", "py", "guess.py", "a number guessing game (asks for input)", runs=False),
    Program(r"csv (?:reader|parser|file reader)|(?:reads?|parses?|loads?) (?:a |the )?csv", "py", "read_csv.py", "shows the columns and first rows of a CSV file", arguments="--help"),
    Program(r"unit ?tests?|test (?:file|case|suite|class)|pytest|\btests? for\b", "py", "test_example.py", "a unit test to start from"),
    Program(r"bubble ?sort|sort(?:s|ing)? (?:algorithm|a list|an array|numbers|a)|quick ?sort|merge ?sort|insertion sort", "py", "sorting.py", "bubble, insertion and quick sort side by side"),
    Program(r"binary search", "py", "binary_search.py", "finds a number in a sorted list"),
    Program(r"temperature|celsius|fahrenheit", "py", "temperature.py", "converts between Celsius and Fahrenheit"),
    Program(r"password.*(?:script|program|tool|generator|app)|(?:script|program|tool|generator|app).*password", "py", "password.py", "makes random passwords"),
    Program(r"dice|\bdie\b", "py", "dice.py", "rolls dice"),
    Program(r"rock,? ?-?paper,? ?-?(?:and )?scissors", "py", "rock_paper_scissors.py", "rock, paper, scissors (asks for input)", runs=False),
    Program(r"countdown|timer|stopwatch", "py", "countdown.py", "counts down some seconds", arguments="3"),
    Program(r"multiplication table|times table", "py", "times_table.py", "prints a multiplication table"),
    Program(r"leap ?year", "py", "leap_year.py", "tells which years are leap years"),
    Program(r"current (?:date|time)|prints? (?:the )?(?:date|time|today)|clock", "py", "today.py", "prints today's date and the time"),
    Program(r"random number|random (?:int|value)", "py", "random_numbers.py", "prints random numbers"),
    Program(r"sums? (?:of )?(?:two |the |a list|all |up )?(?:numbers?|integers|list|array)|add(?:s|ing)? two numbers|average|adds numbers", "py", "add_numbers.py", "adds the numbers it is given", arguments="2 3 4"),
    Program(r"back(?:s|ing)?[ -]?up", "sh", "backup.sh", "packs the folder into a dated archive beside it", runs=False),
    Program(r"lists? (?:all |the )?(?:files|directory|folder)|directory listing|walks? (?:the |through )", "py", "list_files.py", "lists the files below a folder with their sizes"),
)  # fmt: skip

HELLO: dict[str, Program] = {
    ending: Program("hello", ending, f"hello.{ending}", "prints a greeting")
    for ending in ("py", "js", "ts", "sh", "c", "cpp", "go", "rs", "java", "rb", "php", "html")
}

SKELETONS: dict[str, Program] = {
    "readme": Program("readme", "md", "README.md", "title, what, install, use, licence"),
    "gitignore": Program("gitignore", "", "gitignore", "usual entries for Python, Node and editors"),
    "html": Program("html", "html", "index.html", "an HTML page with a style block"),
    "css": Program("css", "css", "style.css", "a small style sheet"),
    "json": Program("json", "json", "data.json", "a small JSON object"),
    "license": Program("mit", "", "LICENSE", "the MIT licence"),
    "dockerfile": Program("dockerfile", "", "Dockerfile", "a Dockerfile for a Python program"),
    "makefile": Program("makefile", "", "Makefile", "targets run, test and clean"),
    "pyproject": Program("pyproject", "toml", "pyproject.toml", "project table and pytest settings"),
    "package": Program("package.json", "json", "package.json", "name, version and scripts"),
    "changelog": Program("changelog", "md", "CHANGELOG.md", "an Unreleased section"),
    "csv": Program("csv", "csv", "example.csv", "three columns, four rows"),
    "yaml": Program("yaml|yml", "yml", "config.yml", "a few settings"),
    "py": Program("python", "py", "script.py", "a main function and an argument parser"),
    "sh": Program("shell|bash", "sh", "script.sh", "a strict shell script"),
    "js": Program("javascript", "js", "script.js", "a main function"),
}


def program_for(text: str) -> Program | None:
    """The template a request describes, if the library has it."""
    lower = text.lower()
    return next((program for program in PROGRAMS if re.search(program.words, lower)), None)


def run_command(path: str) -> str:
    """How a file of this name is run; empty when the demo model does not know."""
    quoted = path if re.fullmatch(r"[\w./+-]+", path) else "'" + path.replace("'", "'\\''") + "'"
    stem = re.sub(r"\.\w+$", "", quoted)
    return {
        "py": f"python3 {quoted}", "js": f"node {quoted}", "mjs": f"node {quoted}", "ts": f"npx ts-node {quoted}", "sh": f"bash {quoted}",
        "rb": f"ruby {quoted}", "php": f"php {quoted}", "go": f"go run {quoted}", "java": f"java {quoted}", "pl": f"perl {quoted}", "lua": f"lua {quoted}",
        "c": f"cc {quoted} -o {stem}.out && ./{stem}.out", "cpp": f"c++ {quoted} -o {stem}.out && ./{stem}.out",
        "rs": f"rustc {quoted} -o {stem}.out && ./{stem}.out",
    }.get(path.rsplit(".", 1)[-1].lower() if "." in path else "", "")  # fmt: skip
