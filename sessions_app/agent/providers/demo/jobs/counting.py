"""Jobs that measure: lines, words, sizes, languages, doubles, and the machine they run on."""

from __future__ import annotations

import re
from collections import Counter, defaultdict

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.looking import folder_of
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.words import EXTENSIONS, LANGUAGES, word_set
from sessions_app.agent.providers.demo.writing import bullets, code, count, fence, link, size, table

_STOP_WORDS = word_set("""
    the a an and or of to in is it for on with as at by be are was this that from not if you we can will
    has have but they their its
""")


def count_in_file(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    if len(ask.paths) > 1:
        answers = []
        for one in ask.paths[:8]:
            kept = re.sub(r"‹p\d+›(?:,? and ‹p\d+›|, ‹p\d+›)*", "‹p0›", ask.text, count=1)
            answers.append((yield from count_in_file(desk, Ask(kept, (one,)), match)))
        return "\n\n".join(answers)
    path = desk.file_of(ask)
    wanted = [
        word
        for word in ("line", "word", "character")
        if ask.has(
            rf"\b{word}s?\b|\b{ {'line': 'loc', 'word': 'zz', 'character': 'chars?|letters'}[word] }\b"
        )
    ] or ["line", "word", "character"]
    if "bash" in desk.tools and ("." in path or "/" in path):
        outcome = yield from moves.shell(
            desk, f"wc {moves.quoted(path)}", f"Counting {code(path)}.", check=False
        )
        numbers = re.match(r"\s*(\d+)\s+(\d+)\s+(\d+)", outcome.text)
        if numbers and not outcome.is_error:
            found = dict(zip(("line", "word", "character"), map(int, numbers.groups()), strict=True))
            return (
                f"{link(path)}: "
                + ", ".join(count(found[w], "byte" if w == "character" else w) for w in wanted)
                + "."
            )
    text = yield from moves.reach(desk, path)
    if not text.whole:
        raise CannotDo(f"{link(text.path)} is longer than one read shows; counting it needs the tool `bash`.")
    found = {"line": len(text.lines), "word": len(text.text.split()), "character": len(text.text)}
    return f"{link(text.path)}: " + ", ".join(count(found[w], w) for w in wanted) + "."


def count_lines(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Lines per language of a whole folder."""
    where = folder_of(ask)
    said = re.search(r"\b(?:in|of|under) (?:the )?((?:[\w/-]+(?:, | and |, and )){1,5}[\w/-]+)", ask.text)
    several: list[str] = []
    if said and where == ".":
        every = yield from moves.every_path(desk, "Looking for these folders.")
        tops = {p.split("/")[0] for p in every if "/" in p}
        several = [w for w in re.split(r",? and |, ", said.group(1)) if w.strip("/") in tops]
    kind = re.search(
        rf"\b({'|'.join(re.escape(k) for k in sorted(EXTENSIONS, key=len, reverse=True) if len(k) > 1)})\b",
        ask.text,
        re.I,
    )
    ext = EXTENSIONS[kind.group(1).lower()] if kind else ""
    test = f" -name '*.{ext}'" if ext else ""
    unit = "w" if ask.has(r"\bwords\b") and not ask.has(r"\blines?\b") else "l"
    awk = (
        'awk \'{ n=$1; sub(/^ *[0-9]+ /, ""); if ($0 == "total") next; m=$0; sub(/.*\\//, "", m);'
        ' if (m ~ /.[.]/) sub(/.*[.]/, "", m); else m="-"; lines[m]+=n; files[m]++ } END { for (m in lines) print lines[m], files[m], m }\''
    )
    places = " ".join(moves.quoted(p) for p in several or [where])
    command = f"find {places} {moves.prune()} -o -type f{test} -exec wc -{unit} {{}} + | {awk} | sort -rn"
    outcome = yield from moves.shell(
        desk, command, f"Counting {'words' if unit == 'w' else 'lines'} by file type.", what="counting"
    )
    lines: dict[str, int] = defaultdict(int)
    files: dict[str, int] = defaultdict(int)
    unknown = 0
    for row in moves.lines_of(outcome):
        match = re.fullmatch(r"(\d+) (\d+) (\S+)", row.strip())
        if not match:
            continue
        name = LANGUAGES.get(match.group(3).lower(), "")
        if not name:
            unknown += int(match.group(2))
            continue
        lines[name] += int(match.group(1))
        files[name] += int(match.group(2))
    if not lines:
        return f"No {'*.' + ext + ' ' if ext else 'text '}files here."
    total, what = sum(lines.values()), "word" if unit == "w" else "line"
    if ext:
        return f"{count(total, what)} in {count(sum(files.values()), next(iter(lines)) + ' file')}."
    ordered = sorted(lines.items(), key=lambda pair: -pair[1])
    rows = [
        (name, f"{number:,}", str(files[name]), f"{100 * number / max(1, total):.0f} %")
        for name, number in ordered
    ]
    note = f"\n\n{count(unknown, 'file')} of other types not counted." if unknown else ""
    return f"{count(total, what)} in {count(sum(files.values()), 'file')}; blank lines and comments included, generated folders left out.\n\n{table(('language', what + 's', 'files', 'share'), rows)}{note}"


def largest(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    where = folder_of(ask)
    number = re.search(
        r"\b(\d{1,3}) (?:\w+ )?(?:largest|biggest|smallest|longest|files)|top (\d{1,3})", ask.text
    )
    most = (
        int(number.group(1) or number.group(2))
        if number
        else (
            1
            if ask.has(
                r"\b(?:largest|biggest|smallest|longest) (?:\w+ )?(?:file|one)\b(?!s)|\bfile (?:here )?is (?:the )?(?:largest|biggest|smallest|longest)\b"
            )
            else 10
        )
    )
    smallest = ask.has(r"\bsmallest|\bshortest|\btiniest")
    limit = re.search(
        r"(?:larger|bigger|more|over|above|greater|exceed\w*)(?: than)? (\d+(?:\.\d+)?) ?(b|bytes?|k|kb|m|mb|g|gb|megabytes?|kilobytes?)\b",
        ask.text,
        re.I,
    )
    lines = ask.has(r"\blongest|\bby lines|\bmost lines|\bshortest")
    kind = re.search(
        rf"\b({'|'.join(re.escape(k) for k in sorted(EXTENSIONS, key=len, reverse=True) if len(k) > 1)})\b",
        ask.text,
        re.I,
    )
    tests = f" -name '*.{EXTENSIONS[kind.group(1).lower()]}'" if kind else ""
    if limit:
        factor = {"b": 1, "k": 1024, "m": 1024**2, "g": 1024**3}[limit.group(2)[0].lower()]
        tests += f" -size +{int(float(limit.group(1)) * factor)}c"
        most = 30
    command = f"find {moves.quoted(where)} {moves.prune()} -o -type f{tests} -exec wc -{'l' if lines else 'c'} {{}} + | grep -v ' total$' | sort -{'n' if smallest else 'rn'} | head -{most}"
    outcome = yield from moves.shell(desk, command, "Measuring the files.", what="measuring files")
    rows = []
    for line in moves.lines_of(outcome):
        match = re.match(r"\s*(\d+) (?:\./)?(.+)", line)
        if match:
            rows.append(
                (
                    link(match.group(2)),
                    count(int(match.group(1)), "line") if lines else size(int(match.group(1))),
                )
            )
    if not rows:
        return f"No file is larger than {limit.group(1)} {limit.group(2)}." if limit else "No files here."
    word = ("Shortest" if lines else "Smallest") if smallest else ("Longest" if lines else "Largest")
    if len(rows) == 1:
        return f"The {word.lower()} file is {rows[0][0]} with {rows[0][1]}."
    return (
        f"{word} files, generated folders left out:\n\n{table(('file', 'lines' if lines else 'size'), rows)}"
    )


def disk_usage(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    if ask.has(r"\bfree\b|\bleft\b|\bavailable\b|\bdisk full\b"):
        outcome = yield from moves.shell(
            desk, "df -h .", "Asking for free space.", what="asking for free space"
        )
        return f"Space on this disk:\n\n{fence(moves.output(outcome))}"
    if ask.paths and not ask.paths[0].endswith("/") and "." in ask.paths[0].rsplit("/", 1)[-1]:
        outcome = yield from moves.shell(
            desk, f"wc -c {moves.quoted(ask.paths[0])}", f"Measuring {code(ask.paths[0])}."
        )
        number = re.match(r"\s*(\d+)", outcome.text)
        return f"{link(ask.paths[0])} has {size(int(number.group(1)))}." if number else fence(outcome.text)
    where = folder_of(ask)
    here = moves.quoted(where)
    outcome = yield from moves.shell(
        desk,
        f"du -sk {here} && find {here} -mindepth 1 -maxdepth 1 -exec du -sk {{}} + | sort -rn | head -12",
        "Measuring the folder.",
        what="measuring the folder",
    )
    pairs = [
        (int(m.group(1)) * 1024, m.group(2).removeprefix("./"))
        for line in moves.lines_of(outcome)
        if (m := re.match(r"(\d+)\s+(.+)", line))
    ]
    if not pairs:
        return fence(moves.output(outcome))
    rows = [(link(name), size(number)) for number, name in pairs[1:]]
    return f"{'This folder' if where == '.' else link(where + '/')} takes {size(pairs[0][0])} on disk.\n\n{table(('biggest in it', 'size'), rows)}"


def duplicate_names(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    if (
        ask.has(
            r"\bcontents?\b|\bidentical\b|\bsame (?:content|text)|\bduplicate files\b|\bduplicated files\b|\bcopies\b|\bduplicates\b"
        )
        and not ask.has(r"\bnames?\b")
        and "bash" in desk.tools
    ):
        command = f"find . {moves.prune()} -o -type f -size +0c -exec cksum {{}} + | sort | head -5000"
        outcome = yield from moves.shell(desk, command, "Comparing checksums of all files.")
        groups: dict[str, list[str]] = defaultdict(list)
        for line in moves.lines_of(outcome):
            match = re.match(r"(\d+ \d+) (?:\./)?(.+)", line)
            if match:
                groups[match.group(1)].append(match.group(2))
        same = [paths for paths in groups.values() if len(paths) > 1]
        if not same:
            return "No two files have the same content (empty ones not compared)."
        return f"{count(len(same), 'group')} of files with the same checksum and size:\n\n" + bullets(
            ", ".join(link(p) for p in paths) for paths in same[:25]
        )
    every = yield from moves.every_path(desk, "Comparing the file names.")
    names: dict[str, list[str]] = defaultdict(list)
    for path in every:
        if not path.endswith("/"):
            names[path.rsplit("/", 1)[-1]].append(path)
    doubled = {name: paths for name, paths in names.items() if len(paths) > 1}
    if not doubled:
        return "No file name occurs twice."
    rows = [
        (code(name), str(len(paths)), ", ".join(link(p) for p in paths[:6]))
        for name, paths in sorted(doubled.items(), key=lambda pair: -len(pair[1]))[:25]
    ]
    return f"{count(len(doubled), 'name')} used more than once:\n\n{table(('name', 'files', 'where'), rows)}"


def word_frequency(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    text = yield from moves.reach(desk, desk.file_of(ask))
    words = Counter(
        word for word in re.findall(r"[^\W\d_]{2,}", text.text.lower()) if word not in _STOP_WORDS
    )
    number = re.search(r"\b(\d{1,2})\b", ask.text)
    rows = [(word, str(times)) for word, times in words.most_common(int(number.group(1)) if number else 15)]
    if not rows:
        return f"{link(text.path)} has no words."
    return f"The most frequent words of {link(text.path)}{'' if text.whole else ' (the part one read shows)'}, common English words left out:\n\n{table(('word', 'times'), rows)}"


_ASKED: list[tuple[str, str]] = [
    (r"python", "python3 --version"), (r"\bnode(?:\.?js)?\b", "node --version"), (r"\bnpm\b", "npm --version"), (r"\bgit\b", "git --version"),
    (r"\bdocker\b", "docker --version"), (r"\brust|\bcargo\b", "cargo --version"), (r"\bgo(?:lang)?\b", "go version"), (r"\bjava\b", "java -version"),
    (r"\bruby\b", "ruby --version"), (r"\bphp\b", "php --version"), (r"\bgcc\b", "gcc --version"), (r"\bmake\b", "make --version"), (r"\bpip\b", "python3 -m pip --version"),
    (r"\bmemory\b|\bram\b", "free -h || vm_stat"), (r"\bcpus?\b|\bcores?\b|\bprocessor", "nproc || sysctl -n hw.ncpu"), (r"\buptime\b", "uptime"),
    (r"\bhost ?name\b", "hostname"), (r"\bwho ?am ?i\b|\busers?\b(?! data)|\bwho am i\b|logged in|user ?name", "whoami"), (r"\bprocess(?:es)?\b", "ps aux | head -15"),
    (r"\bshell\b", "echo $SHELL"), (r"\bpwd\b|\bpath of (?:this|the) folder|working directory|current (?:directory|folder|path)|where am i|full path", "pwd"),
    (r"\btime ?zone\b", "date +%Z"), (r"\bos\b|operating system|linux|platform|kernel|distribution", "uname -a; cat /etc/os-release 2>/dev/null | head -2"),
]  # fmt: skip


def about_machine(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    wanted = list(
        dict.fromkeys(command for pattern, command in _ASKED if re.search(pattern, match.group(), re.I))
    )
    if not wanted or ask.has(r"\benvironment\b|\bsystem info|\bsetup\b"):
        wanted = list(
            dict.fromkeys(
                [*wanted, "uname -sr", "python3 --version", "node --version", "git --version", "pwd"]
            )
        )
    command = "; ".join(f"{c} 2>&1" if ";" not in c and "|" not in c else c for c in wanted)
    outcome = yield from moves.shell(desk, command, "Asking the machine.", check=False)
    answer = f"{fence(moves.output(outcome) or '(no output)')}"
    missing = re.search(r"(\S+): (?:command )?not found", outcome.text)
    return (
        f"{code(missing.group(1))} is not installed here.\n\n" if missing else ""
    ) + f"The machine says ({code(command)}):\n\n{answer}"


_COUNT = r"(?:count|how many|how long|number of|what(?:'s| is) the (?:number|length|size|count) of|tell me how many|tell me how long|give me the (?:number|count) of|what is the (?:line|word) count|wc|calculate|compute|(?:show(?: me)?|get) (?:the )?(?:number|count|length) of)"
RULES: list[Rule] = [
    rule(rf"(?:.*\b)?(?:most (?:common|frequent|used)|word frequenc\w+|frequen\w+(?: of)?(?: the)? words|top \d+ words|how often .* words?)\b.*(?:words?|{P}|terms).*", word_frequency),
    rule(rf"{_COUNT}\b.*\b(?:lines?|words?|char(?:acter)?s?|letters|loc|long|length)\b.*?(?:{P}(?<!/)|{Q}|\b(?:it|its|this file|that file|the file)\b).*", count_in_file),
    rule(rf"(?:how long is|how many lines (?:is|are in|does|has)|wc(?: -[lwc])?|(?:(?:what(?:'s| is) the |give me the |show me the )?(?:line|word|character) count (?:of|for|in))|count)\b (?:the )?(?:{P}|its?\b|that file|this file).*", count_in_file),
    rule(r"(?:.*\b)?(?:count|how many|number of|total|show|what|sum|lines|give|calculate|compute)\b(?!.*‹p\d+›)(?!.*\b(?:longest|most|changed|added|deleted|commit|diff|todo|contain)\b).*\b(?:lines?|loc|words|sloc)\b(?:(?!‹[pq]).)*(?:\b(?:code|project|folder|files?|here|total|language|all|python|javascript|this|there|repo\w*|markdown|each|every|type|\w+ have|extension)\b.*)?$", count_lines),
    rule(r"(?:.*\b)?(?:line counts?|lines of code|lines per|code statistics|code stats|(?:stats|statistics|numbers|figures|metrics) (?:about|of|on|for) (?:this|the|my)|cloc|sloc|what languages?|which (?:programming )?languages?|languages? (?:used|breakdown|statistics|is|are)|programming languages?|what (?:programming )?language)\b(?!.*‹p).*", count_lines),
    rule(r"(?:.*\b)?(?:largest|biggest|smallest|longest|heaviest|shortest)\b(?!.*\b(?:function|class|line|word|commit|number|folder|director)).*\b(?:files?|ones?|scripts?|modules?|documents?|in (?:this|the) (?:folder|project)|here|\d+)\b.*", largest),
    rule(r"(?:find|list|show|which|what|are there|any|get)\b.*\bfiles?\b.*\b(?:larger|bigger|more|over|above|greater|exceed\w*)\b(?: than)? \d+.*|(?:largest|biggest) files?.*|(?:what|which) (?:one|file)\b.*\b(?:largest|biggest|smallest|longest|heaviest|most lines|takes (?:up )?the most space)\b.*|(?:list|show|sort)\b.*\bfiles?\b.*\b(?:by size|with (?:their )?sizes?|and (?:their )?sizes?).*", largest),
    rule(r"(?:.*\b)?(?:disk usage|disk space|space|how (?:big|large|much space|heavy)|size of|folder sizes?|total size|du\b(?: -\w+)?$|largest (?:folders?|director)|biggest (?:folders?|director))(?!.*\bwhite ?space).*", disk_usage),
    rule(r"(?:.*\b)?(?:duplicate[ds]?|identical|same name|twice|double)\b.*\b(?:files?|names?|contents?|copies|here|folder|project)\b.*|(?:find|show|list|are there|any)\b.* duplicates$|duplicates$", duplicate_names),
    rule(r"(?:what|which|show|list|is|print|get|tell|check|how much|how many|give|do (?:i|we|you) have|display|who am i|whoami|where am i)\b(?!.*\benvironment variables?\b)(?!.*\b(?:require|support|depend|import|in ‹p|files?\b|script|line|code|test|branch|commit|tag|run\b)).*(?:(?=.*\b(?:python|node|npm|git|docker|rust|cargo|go|java|ruby|php|gcc|make|pip|os|linux)\b)\b(?:version of|installed|versions?)\b.*|\b(?:environment|memory|ram|cpus?|cores|uptime|host ?name|operating system|os|platform|kernel|processes|processor|shell|system info\w*|time ?zone|machine|computer|working directory|pwd|whoami|(?:current|present) (?:directory|folder|path|user)|full path|username|user name|logged in|linux)\b.*)", about_machine),
    rule(r"(?:python|node|git|npm|docker|os|system) (?:version|info(?:rmation)?)|environment(?: info)?|whoami|pwd|uptime|hostname|uname(?: -\w+)?|system info(?:rmation)?|who am i", about_machine),
]  # fmt: skip
