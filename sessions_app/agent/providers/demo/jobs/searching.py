"""Jobs that search: text, TODOs, definitions and uses, files by name, size and date."""

from __future__ import annotations

import re
from collections import Counter

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.answering import by_file, look_up
from sessions_app.agent.providers.demo.jobs.counting import duplicate_names
from sessions_app.agent.providers.demo.jobs.looking import folder_of
from sessions_app.agent.providers.demo.phrases import NAME, Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.words import EXTENSIONS
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, link, table

_MARKS = r"\b(TODO|FIXME|XXX|HACK)\b"
_TOPICS: list[tuple[str, str, str]] = [
    (r"environment variables?|env(?:ironment)? vars?", r"os\.environ|getenv|process\.env|env::var|ENV\[", "environment variables"),
    (r"(?:api )?(?:routes?|endpoints?)|urls? patterns?", r"@\w+\.(get|post|put|delete|patch|route)\(|\.(get|post|put|delete|patch)\(['\"]/|urlpatterns|\bpath\(['\"]|HandleFunc\(", "routes"),
    (r"secrets?|passwords?|api.?keys?|credentials?|hard.?coded", r"(password|passwd|secret|api_?key|token)['\"]?\s*[:=]\s*['\"][^'\"]{4,}", "lines that look like secrets"),
    (r"print statements?|prints?|debug (?:output|prints?|statements?)", r"^\s*print\(|console\.(log|debug)\(|println!\(|fmt\.Println\(|var_dump\(|dbg!\(", "print statements"),
    (r"console\.?logs?", r"console\.(log|debug)\(", "console.log calls"),
    (r"bare excepts?|broad excepts?|exception handlers?", r"except(\s+Exception)?\s*:", "broad except clauses"),
    (r"urls?|links?|web addresses", r"https?://[^\s\"'<>)]+", "URLs"),
    (r"e-?mail(?: address(?:es)?)?s?", r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+\.[A-Za-z]{2,}", "e-mail addresses"),
    (r"ip address(?:es)?", r"\b[0-9]{1,3}(\.[0-9]{1,3}){3}\b", "IP addresses"),
    (r"ports?", r"\b[Pp][Oo][Rr][Tt]\b['\"]?\s*[:=,]?\s*[0-9]{2,5}|(localhost|127\.0\.0\.1|0\.0\.0\.0):[0-9]{2,5}", "ports"),
    (r"trailing (?:white ?space|spaces?)", r"[ \t]+$", "lines with trailing whitespace"),
    (r"(?:merge )?conflict(?: marker)?s?", r"^(<<<<<<<|>>>>>>>) ", "conflict markers"),
    (r"(?:handles?|catch(?:es)?|raises?|throws?|handling) (?:errors?|exceptions?)|(?:errors?|exceptions?) (?:handling|are handled|get handled|is handled|handled)|error handling|exceptions", r"\bexcept\b|\bcatch ?\(|\braise\b|\bthrow\b|\brescue\b|panic\(", "error handling"),
    (r"functions|methods", r"^\s*(export\s+|pub\s+)?(default\s+|async\s+)?(def|function|func|fn)\s+\w+", "functions"),
    (r"classes", r"^\s*(export\s+|public\s+)?(default\s+|abstract\s+)?class\s+\w+", "classes"),
    (r"entry ?points?", r"if __name__ ==|func main\(|fn main\(|int main\(|public static void main|\[project\.scripts\]|\"main\":", "entry points"),
]  # fmt: skip


def find_marks(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    wanted = [w.upper() for w in re.findall(r"\b(todo|fixme|xxx|hack)s?\b", match.group(), re.I)]
    pattern = rf"\b({'|'.join(dict.fromkeys(wanted))})\b" if wanted else _MARKS
    where = ask.paths[0] if ask.paths else folder_of(ask)
    hits = yield from moves.search(
        desk,
        pattern,
        "Searching for " + ", ".join(code(w) for w in dict.fromkeys(wanted or ["TODO"])) + ".",
        path=where,
    )
    if not hits:
        return f"No {' or '.join(dict.fromkeys(wanted or ['TODO']))} in {'this folder' if where == '.' else code(where)}."
    return by_file(hits, f"{count(len(hits), 'mark')} in {count(len({h.path for h in hits}), 'file')}")


def find_text(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    wanted = ask.plain(match.group("what")).strip().strip("\"'.,?")
    wanted = re.sub(
        r"^(?:the |a |an |any |all |every |each )?(?:word|text|string|term|phrase|occurrences? of|uses? of|usages? of|mentions? of|references? to|lines? (?:with|containing|matching)|keyword|expression|pattern)s? ",
        "",
        wanted,
        flags=re.I,
    )
    wanted = (
        re.sub(r"^(?:the |an? |any |all |every )(?=\S)", "", wanted, flags=re.I) if not ask.quotes else wanted
    )
    if ask.quotes:
        wanted = ask.quotes[0]
    if not ask.quotes and re.match(
        r"(?:.* )?(?:no|without|not|where|how|why|that|which|missing|broken|unused|bad|wrong|slow|anything|something)\b",
        wanted,
        re.I,
    ):
        return (yield from look_up(desk, ask, match))
    if not wanted or (
        not match.groupdict().get("where")
        and re.fullmatch(
            r"(?:it|this|that|something|anything|stuff|bugs?|errors?|problems?|issues?|mistakes?)",
            wanted,
            re.I,
        )
    ):
        raise CannotDo('Search for which text? For example: `find "timeout" in all files`.')
    where = match.groupdict().get("where")
    path = ask.plain(where) if where else next((p for p in ask.paths if p != wanted), ".")
    path = (
        "."
        if re.fullmatch(
            r"(?:the |this |all |every |my |our |any )*(?:files?|folders?|project|code|codebase|repo\w*|here|directory|of them|source|everywhere|subfolders)",
            path,
            re.I,
        )
        else path
    )
    glob = ""
    kind = re.search(
        r"\b(?:in|inside|within) (?:the |all |all the |every |any )?([\w+]+) (?:files?|code|scripts|sources?)\b",
        ask.text,
        re.I,
    )
    if kind and kind.group(1).lower() in EXTENSIONS:
        glob, path = f"*.{EXTENSIONS[kind.group(1).lower()]}", "."
    regex = bool(re.search(r"\bregex|regular expression|/.+/", ask.text))
    insensitive = wanted == wanted.lower() or ask.has(r"case.?insensitiv|ignor\w+ case")
    hits = yield from moves.search(
        desk,
        wanted,
        f"Searching for {code(wanted)}.",
        path=path,
        literal=not regex,
        ignore_case=insensitive,
        glob=glob,
    )
    if not hits:
        names = [
            p
            for p in (yield from moves.every_path(desk, "No line has it. Looking at the file names, too."))
            if wanted.lower() in p.lower().rsplit("/", 1)[-1]
        ]
        if not names and re.search(r"\w\W+\w", wanted) and not ask.quotes:
            return (yield from look_up(desk, ask, match))
        if names:
            return f"No line contains {code(wanted)}, but {count(len(names), 'name')} {'does' if len(names) == 1 else 'do'}:\n\n{bullets(link(n) for n in names[:30])}"
        return f"Nothing contains {code(wanted)}{'' if path == '.' else f' in {code(path)}'}: no line and no file name. The search is by letters, not by meaning."
    return by_file(
        hits,
        f"{code(wanted)} stands in {count(len(hits), 'line')} of {count(len({h.path for h in hits}), 'file')}",
    )


def find_topic(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    for words, pattern, name in _TOPICS:
        if re.search(rf"\b(?:{words})\b", match.group(), re.I):
            where = ask.paths[0] if ask.paths else "."
            hits = yield from moves.search(
                desk,
                pattern,
                f"Searching for {name}.",
                path=where,
                ignore_case=name.startswith("lines that look"),
            )
            if not hits:
                return f"No {name} found by the usual patterns. That is a search, not a proof."
            return by_file(
                hits,
                f"{count(len(hits), 'line')} with {name} in {count(len({h.path for h in hits}), 'file')}",
            )
    raise CannotDo("That is none of the things the demo model can search for.")


def where_is(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    name = ask.plain(match.group("what")).strip("`\"'()?. ").removesuffix("()")
    name = re.sub(
        r"^(?:we|i|you|they|do we|do i|does it|it) (?:use|call|import|define|set|have|need) ", "", name
    )
    name = re.sub(
        r"^(?:the |a )?(?:function|class|method|variable|constant|symbol|file|type|struct) ",
        "",
        name,
        flags=re.I,
    )
    name = re.sub(
        r" (?:function|class|method|variable|constant|symbol|type|struct)$", "", name, flags=re.I
    ).removeprefix("the ")
    uses = ask.has(r"\b(?:used|called|imported|referenced|use|uses|calls|call|usages?|references?|invoked)\b")
    if ask.paths and name in ask.paths and not uses:
        return (yield from find_named(desk, ask, match, name))
    if re.search(r"\s", name):
        if ask.quotes:
            return (yield from look_up(desk, ask, match))
        hits = yield from moves.search(
            desk, name, f"Searching for {code(name)}.", literal=True, ignore_case=True
        )
        if not hits:
            return (yield from look_up(desk, ask, match))
        return by_file(hits, f"{code(name)} stands in {count(len(hits), 'line')}")
    stem = re.escape(name.rsplit("/", 1)[-1].rsplit(".", 1)[0] if ask.paths else name)
    hits = yield from moves.search(desk, rf"\b{stem}\b", f"Searching for {code(name)}.")
    definitions = [h for h in hits if _defines(h.text, name)]
    others = [h for h in hits if h not in definitions]
    if not hits:
        names = yield from moves.every_path(desk, "No line has it. Looking at the file names, too.")
        near = [p for p in names if name.lower() in p.lower()]
        return f"{code(name)} stands in no file." + (
            f" File names that contain it: {', '.join(link(p) for p in near[:5])}." if near else ""
        )
    parts = []
    if definitions:
        parts.append(
            f"{code(name)} is defined in:\n\n{bullets(f'{link(h.path, h.line)} {code(clip(h.text, 90))}' for h in definitions[:10])}"
        )
    elif not uses:
        parts.append(f"No line looks like a definition of {code(name)}.")
    if others:
        parts.append(
            by_file(
                others,
                f"{'Used' if definitions or uses else 'It stands'} in {count(len(others), 'line')} of {count(len({h.path for h in others}), 'file')}",
                25,
            )
        )
    elif uses:
        parts.append(f"No other line names {code(name)}.")
    return "\n\n".join(parts)


def _defines(line: str, name: str) -> bool:
    plain = re.escape(name.rsplit(".", 1)[-1])
    return bool(
        re.search(
            rf"\b(?:def|class|function|func|fn|struct|enum|trait|interface|type|const|let|var|module|macro_rules!|#define)\s+(?:\([^)]*\)\s*)?{plain}\b",
            line,
        )
        or re.match(rf"(?:export\s+)?{plain}\s*(?::[^=]+)?=(?!=)", line)
        or re.match(rf"{plain}\s*\(\)\s*\{{", line)
    )


def find_named(desk: Desk, ask: Ask, _match: re.Match[str], name: str = "") -> Script:
    """Files by name, extension or pattern."""
    pattern, what = _name_pattern(ask, name)
    where = folder_of(ask) if not name and not ask.paths else "."
    found = yield from moves.every_path(desk, f"Looking for {what}.", path=where, pattern=pattern)
    if ask.has(r"\bfiles?\b") and not ask.has(r"\bfolders?\b|\bdirector"):
        found = [p for p in found if not p.endswith("/")]
    if what == "test files":
        found = [
            p
            for p in found
            if re.search(r"(?:^|/)(?:tests?/.+|test_[^/]*|__tests__/.+)$|[._]test\.|\.spec\.|_test\.", p)
        ]
    if not found:
        return f"No {what} here."
    if ask.has(r"how many|count|number of"):
        return f"{count(len(found), 'file')}: {what}." + _groups(found)
    more = f"\n\n{len(found) - 60} more are in the result above." if len(found) > 60 else ""
    return f"{count(len(found), 'path')} for {what}:\n\n{bullets(link(p) for p in found[:60])}{more}"


def _groups(found: list[str]) -> str:
    folders = Counter(p.rsplit("/", 1)[0] + "/" if "/" in p else "./" for p in found)
    if len(folders) == 1:
        return f" All in {code(next(iter(folders)))}."
    return "\n\n" + table(("folder", "files"), [(code(f), str(n)) for f, n in folders.most_common(12)])


def _name_pattern(ask: Ask, name: str) -> tuple[str, str]:
    if name:
        return name.rsplit("/", 1)[-1], f"files called {code(name)}"
    star = re.search(r"(\*\.?[\w.*]+|[\w*]+\*[\w.*]*)", ask.text)
    if star:
        return star.group(1), f"files like {code(star.group(1))}"
    if ask.has(r"\btests?(?: files?)?\b") and not ask.paths and not ask.quotes:
        return "*", "test files"
    if ask.has(r"\bhidden\b|\bdot ?files\b"):
        return ".*", "hidden files"
    suffix = re.search(
        r"\.([a-z]\w{0,4})\b(?! ?[./])|(?:ending|end|extension|ends) (?:in|with|of|is)?:? ?\.?(\w+)",
        ask.plain(),
        re.I,
    )
    kind = re.search(
        rf"\b({'|'.join(re.escape(k) for k in sorted(EXTENSIONS, key=len, reverse=True))}) (?:source |code |test |data )?(?:files?|scripts?|sources?|modules?|documents?|pages?)\b",
        ask.text,
        re.I,
    )
    if kind:
        ext = EXTENSIONS[kind.group(1).lower()]
        return f"*.{ext}", f"{kind.group(1)} files ({code('*.' + ext)})"
    called = re.search(
        rf"(?:called|named|name|with the name|containing|matching|with|starting with|beginning with|start(?:s)? with|like)(?: the name)? ({NAME})(?: in (?:the|their|its) names?)?$",
        ask.text,
        re.I,
    )
    if ask.paths and not suffix:
        return ask.paths[0].rstrip("/").rsplit("/", 1)[-1], f"files called {code(ask.paths[0])}"
    if suffix and not (ask.paths and len(ending(ask.paths[0])) and not ask.paths[0].startswith(".")):
        ext = suffix.group(1) or suffix.group(2)
        return f"*.{ext}", f"files ending in {code('.' + ext)}"
    if ask.paths:
        return ask.paths[0].rsplit("/", 1)[-1], f"files called {code(ask.paths[0])}"
    if called or ask.quotes:
        word = ask.quotes[0] if ask.quotes else ask.plain(called.group(1) if called else "")
        starts = ask.has(r"\b(?:starting|beginning|starts?|begins?) with")
        return (
            f"{word}*" if starts else f"*{word}*"
        ), f"names {'beginning with' if starts else 'containing'} {code(word)}"
    return "*", "files"


def count_of_files(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    if re.search(r"\b(?:folders?|director(?:y|ies)|subfolders?)\b", match.group(), re.I) and not ask.has(
        r"\bfiles?\b"
    ):
        every = yield from moves.every_path(desk, "Counting folders.", path=".")
        folders = {
            "/".join(p.rstrip("/").split("/")[: depth + 1])
            for p in every
            for depth in range(p.rstrip("/").count("/"))
        } | {p.rstrip("/") for p in every if p.endswith("/")}
        return f"{count(len(folders), 'folder')} below this one, generated ones left out:\n\n{bullets(link(f + '/') for f in sorted(folders)[:30])}"
    specific = (
        ask.paths
        or ask.quotes
        or ask.has(
            rf"\b(?:{'|'.join(re.escape(k) for k in EXTENSIONS)})\b (?:\w+ )?(?:files?|scripts?|modules?|sources?)|\btest|\.\w+ files|\*\.|hidden|ending"
        )
    )
    if specific and not (ask.paths and ask.paths[0].endswith("/")):
        return (yield from find_named(desk, ask, match))
    where = folder_of(ask)
    every = yield from moves.every_path(desk, "Counting files.", path=where)
    files = [p for p in every if not p.endswith("/")]
    kinds = Counter("." + ending(p) if ending(p) else "(none)" for p in files)
    common = kinds.most_common(15)
    rows = [(code(kind), str(number)) for kind, number in common]
    rest = kinds.most_common()[15:]
    if rest:
        rows.append(
            ("other: " + ", ".join(code(kind) for kind, _ in rest[:30]), str(sum(n for _, n in rest)))
        )
    place = "below this folder" if where == "." else f"below {link(where + '/')}"
    return (
        f"{count(len(files), 'file')} {place}, generated folders left out.\n\n{table(('ending', 'files'), rows)}"
        if files
        else f"No files {place}."
    )


def by_date(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    days = next(
        (
            number
            for pattern, number in (
                ("today|24 hours|last day", 1),
                ("yesterday|two days|2 days", 2),
                ("this week|last week|past week|7 days|recent week", 7),
                ("month|30 days", 30),
            )
            if ask.has(pattern)
        ),
        0,
    )
    spelled = re.search(r"(\d+) (day|week|hour)s?", ask.text)
    if spelled:
        days = max(1, int(spelled.group(1)) * {"day": 1, "week": 7, "hour": 1}[spelled.group(2)])
    oldest = ask.has(r"\boldest\b|least recent|untouched")
    number = re.search(
        r"\b(\d{1,2}) (?:newest|oldest|most recent|latest|last|recent|files)|(?:top|last|latest|newest) (\d{1,2})",
        ask.text,
    )
    most = int(number.group(1) or number.group(2)) if number and not spelled else 15
    test = f" -mtime -{days}" if days else ""
    command = (
        f"find . {moves.prune()} -o -type f{test} -exec ls -ld{'tr' if oldest else 't'} {{}} + | head -{most}"
    )
    outcome = yield from moves.shell(desk, command, "Sorting files by date.", what="sorting by date")
    rows = []
    for line in moves.lines_of(outcome):
        parts = line.split(None, 8)
        if len(parts) == 9:
            rows.append((link(parts[8].removeprefix("./")), " ".join(parts[5:8]), f"{parts[4]} B"))
    if not rows:
        return f"No file was changed in the last {count(days, 'day')}." if days else "No files here."
    title = (
        f"Changed in the last {count(days, 'day')}"
        if days
        else ("Oldest files" if oldest else "Newest files")
    )
    return f"{title}, {'oldest' if oldest else 'newest'} first:\n\n{table(('file', 'changed', 'size'), rows)}"


def empty_ones(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    if ask.has(r"\bduplicates?\b"):
        doubled = yield from duplicate_names(desk, ask, match)
        empty = yield from empty_ones(desk, ask.with_text(re.sub(r"\bduplicates?\b", "", ask.text)), match)
        return f"{empty}\n\n{doubled}"
    kind = "d" if ask.has(r"\bfolders?|\bdirector") else "f"
    outcome = yield from moves.shell(
        desk,
        f"find . {moves.prune()} -o -type {kind} -empty -print | head -100",
        "Looking for empty ones.",
        what="finding empty files",
    )
    found = [line.removeprefix("./") for line in moves.lines_of(outcome)]
    name = "empty folder" if kind == "d" else "empty file"
    return (
        f"{count(len(found), name)}:\n\n{bullets(link(p) for p in found)}" if found else f"No {name}s here."
    )


_FIND = r"(?:find|search|grep|look|locate|check|show|list|get|give|scan|look up|hunt|spot|identify|detect|collect|display|print|see|seek|extract)"
_SEARCH = r"(?:(?!.*\b(?:web|internet|online|google)\b)search|grep|look|hunt|scan|query|ctrl.?f)"
_TIME = r"(?:modified|changed|edited|touched|updated|created|newest|oldest|latest|recent(?:ly)?|last)"
TOPIC_WORDS = "|".join(words for words, _, _ in _TOPICS)

#: Tried before the jobs that count lines and words.
EARLY_RULES: list[Rule] = [
    rule(rf"(?:does|do) (?:the |a )?(?:file |folder )?(?:called |named )?{P} (?:already |even |still )?exists?(?: (?:here|anywhere|in .*))?$", find_named),
    rule(rf"(?:show|list|print|find|give|get|display)\b (?:me )?(?:all |every |the |any )*(?P<what>{Q}|(?!(?:first|last|top|blank|empty|duplicate)\b)[\w-]+) lines (?:in|of|from) (?:the )?(?:file )?(?P<where>{P})$", find_text),
    rule(rf"count (?:the |all )*(?:number of )?(?:occurrences|instances|mentions|uses|matches) of (?:the )?(?:word |text |string )?(?P<what>{Q}|{P}|[\w.]+)(?: (?:in|inside|across|within) (?P<where>{P}|.+))?$", find_text),
    rule(rf"(?:count |tell me |find out )?how (?:many times|often) (?:does |is |do |has )?(?:the )?(?:word |text |string )?(?P<what>{Q}|\S+) (?:appear|occur|used|mentioned|come up|show up|written|called)s?(?: (?:in|inside) (?P<where>{P}|.+))?.*$", find_text),
    rule(r"(?:does|do|has|have|is|are)\b.*\b(?:have|has|there)\b(?: any| some| unit| automated)* tests?(?: here| in .*)?$", find_named),
]  # fmt: skip

RULES: list[Rule] = [
    rule(r"(?!(?:add|insert|write|create|append|remove|delete|resolve|fix|do|replace|build|make|implement)\b).*\b(?:todo|fixme|xxx|hack)s?\b(?! (?:list|app|cli|program|script|application|manager)).*", find_marks),
    rule(rf"(?!.*\b(?:functions|methods|classes)\b.*(?:\b(?:unused|longest|named|called|that|with)\b|‹p))(?:{_FIND}|where|what|which|are there|is there|do(?:es)? .*|any|how many|count)\b(?: me| for| out)?.*?\b(?:{TOPIC_WORDS})\b(?!.*\b(?:of the machine|is set|this machine|open on)\b).*", find_topic),
    rule(r"(?:.*\b)?(?:find|show|list|what|which|are there|any|get|delete)\b.*\bempty (?:files?|folders?|director(?:y|ies))\b.*|empty files|(?:which|what|is any|are any|are there|is there any|any)(?: of the)? (?:files?|folders?) (?:that )?(?:is|are)? ?(?:completely )?empty(?: here)?", empty_ones),
    rule(rf"(?:{_FIND}|what|which|when|sort)\b(?!.*\b(?:commit|branch|line|word|git|version|python)\b)(?!.*\bfunction).*\b{_TIME}\b(?:(?!‹[pq]).)*\b(?:files?|items?|today|yesterday|week|days?|ones?|things?|modified|changed|documents?|in (?:this|the) (?:folder|project))\b.*", by_date),
    rule(rf"(?:{_FIND}|what|which|sort)\b(?!.*\b(?:commit|branch|line|word|git|version)\b).*\bfiles?\b.*\b(?:{_TIME}|by (?:date|time|age)|since|within)\b.*", by_date),
    rule(r"(?:newest|oldest|latest|most recent(?:ly changed)?|recently (?:changed|modified)) (?:\d+ )?files?.*", by_date),
    rule(rf"(?:how many|count|number of|what is the number of|tell me how many|give me the number of)\b (?:up )?(?:the |all |all the |of |of the |number of (?:the )?|different )*(?:(?:[\w+.*]+|{P}) )?(?:(?:source|code|test|hidden) )?(?:files?|folders?|directories|subfolders|scripts|modules|documents)\b(?!.*\b(?:lines|words|commits?|characters)\b).*", count_of_files),
    rule(r"(?:where|in (?:which|what) files?|in (?:which|what) (?:module|place)s?|which files? (?:use|uses|import|imports|call|calls|reference|references|mention|mentions|define|defines|contain|contains|has|have)|who (?:uses|calls)|what (?:uses|calls|imports))\b (?:is |are |does |do |can i find |did |was )?(?:the |a |an )?(?P<what>.+?)(?: (?:is |are |get |gets )?(?:defined|used|declared|implemented|located|called|imported|referenced|set|mentioned|created|come from|live|happens?|handled|stored|configured|in (?:this|the) (?:code|project|codebase|repo|folder)))*$", where_is),
    rule(r"(?:find|show|list|get|locate|search for|look for|give me|look up)\b (?:me )?(?:all |the |every |any |where )*(?:definitions?|usages?|uses|references?|calls?|callers?|implementation|declaration)s? (?:of|to|for) (?:the )?(?P<what>.+?)(?: in .*)?$", where_is),
    rule(rf"(?:find|locate|search for|look for|show|go to)\b (?:me )?(?:the |all |every )*(?:functions?|class(?:es)?|methods?|variables?|constants?|symbols?|definition) (?:called |named |of )?(?P<what>(?:{Q}|{P}|\w[\w.]+)(?:\(\))?)(?: is defined| is used| defined| in .*)?$", where_is),
    rule(r"(?:find|locate|search for|look for|show)\b (?:me )?where (?P<what>.+?)(?: is| are| gets?)? (?:defined|used|declared|implemented|called|imported|set|handled|mentioned).*$", where_is),
    rule(rf"(?:{_FIND}|what|which|are there|is there|do (?:we|i|you) have|any)\b (?:me |for |out |there )?(?:up )?(?:the |all |all the |every |any |is the |are |are the |each |of the |a )*(?:(?:[\w+*.]+|{P}) )?(?:source |code |test |data |config |hidden )?(?:files?|scripts?|documents?|folders?|director(?:y|ies)|modules|tests)\b(?!.*\b(?:larg|bigg|small|size|line|todo|duplic|git|stag|commit))(?: (?:there|are|is|exist|do))*(?: (?:called|named|ending|that|with|matching|whose|starting|beginning|of|in|by|under|inside|like|here|anywhere|containing|we|you|have|this|{P}|{Q}|\*).*)?$", find_named),
    rule(rf"(?:find|locate|where is|search for|look for|is there(?: a| an)?|do (?:we|i|you) have(?: a| an)?|does .* have(?: a| an)?)\b (?:me )?(?:the |a |an |any |all )*(?:file )?(?:called |named )?(?:{P}|\*\.\w+)(?: files?| here| anywhere| in (?:this|the) .*)?$", find_named),
    rule(rf"{_SEARCH}\b (?:through |in |inside |within |all |the |every |my |this |across |over |at )*(?:files?|project|code|codebase|folder|repo\w*|directory|everything|(?P<where>{P}|[\w-]+/)) ?(?:here )?(?:for|to find) (?P<what>.+)$", find_text),
    rule(rf"(?:find|search|search for|grep|grep for|look for|locate|look up|scan for|hunt for|list|show|get|highlight|spot|print)\b (?:me |up )?(?:all |the |every |any |each )*(?:lines?|files?|places?|occurrences?|mentions?|instances?|matches|references|usages|uses)? ?(?:where |that |which |with |of |for |containing |contain |contains |mention |mentions |mentioning |matching |include |including |has |have |to )+(?:the )?(?:word |text |string |term )?(?P<what>{Q}|{P}|.+?)(?: (?:in|inside|within|across|under|from|of) (?P<where>{P}|[\w-]+/?(?: folder| directory)?|(?:the |this |all |every |any |my )+[\w ]+))?$", find_text),
    rule(rf"(?:find|search|search for|grep|grep for|look for|locate|look up|scan for|hunt for)\b (?:me |up |-\w+ )?(?P<what>{Q}|{P}|.+?)(?: (?:in|inside|within|across|under|anywhere in|throughout) (?P<where>{P}|[\w-]+/?(?: folder| directory)?|(?:the |this |all |every |any |my )+[\w ]+))?$", find_text),
    rule(r"(?:is|are) there (?:a |an |any |anything |something )*(?:about |called |on |like |mentions? of |references? to |code for |related to |with |to do with )+(?P<what>.+?)(?: (?:in|here|anywhere).*)?$", find_text),
    rule(r"does (?:any|the|this|some) (?:file|code|project|folder|codebase|repo\w*)s? (?:mention|contain|use|have|say|include|talk about|reference|refer to) (?:a |an |any |anything about )?(?P<what>.+?)(?: (?:anywhere|somewhere))?$", find_text),
]  # fmt: skip
