"""Jobs on data files: JSON, CSV, Markdown tables of contents, comparisons of two files."""

from __future__ import annotations

import csv
import io
import json
import re
import statistics
from collections import Counter

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.likeness import side_by_side
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.outlines import outline
from sessions_app.agent.providers.demo.passages import PROSE
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.places import phrases
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.sheets.sheet import cell_of
from sessions_app.agent.providers.demo.writing import (
    clip,
    code,
    count,
    ending,
    fence,
    head,
    link,
    table,
)


def check_json(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    paths = ask.paths or ([desk.it() or ""] if ask.has(r"\bit\b|\bthat\b|\bthis\b") and desk.it() else [])
    if not paths:
        paths = [
            p
            for p in (yield from moves.every_path(desk, "Looking for JSON files.", pattern="*.json"))
            if p.endswith(".json")
        ][:8]
    if not paths:
        return "No JSON file here."
    pretty = (
        re.search(r"\b(?:pretty|format|indent|beautify|prettify|reformat)", match.group(), re.I) is not None
    )
    parts = []
    for path in paths:
        text = yield from moves.full(desk, path)
        try:
            value = json.loads(text.text)
        except json.JSONDecodeError as error:
            line = text.lines[error.lineno - 1] if error.lineno <= len(text.lines) else ""
            parts.append(
                f"{link(text.path, error.lineno)} is not valid JSON: {error.msg}, line {error.lineno}, column {error.colno}."
                + (f"\n\n{fence(line)}" if line.strip() else "")
            )
            continue
        if pretty:
            new = json.dumps(value, indent=2, ensure_ascii=False)
            if (
                ask.has(r"\b(?:save|in place|rewrite|write|file itself|overwrite)\b")
                and new.split("\n") != text.lines
            ):
                yield from put_lines(desk, text, new.split("\n"))
                parts.append(f"{link(text.path)} is valid JSON and now indented by two spaces.")
                continue
            shown, more = head(new, 60)
            parts.append(
                f"{link(text.path)}, indented (the file is unchanged):\n\n{fence(shown, 'json')}"
                + (f"\n\n{count(more, 'more line')} not shown." if more else "")
            )
        else:
            parts.append(f"{link(text.path)} is valid JSON: {_shape(value)}")
    return "\n\n".join(parts)


def _shape(value: object) -> str:
    if isinstance(value, dict):
        return f"an object with {count(len(value), 'key')}: {', '.join(code(str(k)) for k in list(value)[:15])}{' …' if len(value) > 15 else ''}."
    if isinstance(value, list):
        return f"a list of {count(len(value), 'item')}" + (
            f", the first is {_shape(value[0])}" if value else "."
        )
    return f"{type(value).__name__} {code(clip(json.dumps(value), 80))}."


def csv_overview(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    text, rows = yield from _csv(desk, ask)
    names, body = rows[0], rows[1:]
    wanted = _column(ask, names)
    if wanted is not None and not ask.has(r"\bcolumns\b|\boverview\b"):
        return _column_facts(text, names[wanted], [row[wanted] for row in body if len(row) > wanted])
    number = re.search(r"(?:first|top) (\d+)", ask.text)
    shown = body[: int(number.group(1)) if number else 5]
    partial = "" if text.whole else " (in the part one read shows)"
    facts = [
        (
            name,
            _kind([row[n] for row in body if len(row) > n]),
            code(clip(body[0][n], 40)) if body and len(body[0]) > n and body[0][n] else "",
        )
        for n, name in enumerate(names)
    ]
    return (
        f"{link(text.path)} has {count(len(body), 'row')}{partial} and {count(len(names), 'column')}.\n\n{table(('column', 'looks like', 'first value'), facts)}"
        + (
            f"\n\nThe first {count(len(shown), 'row')}:\n\n{table(names, [_fit(row, len(names)) for row in shown])}"
            if shown
            else ""
        )
    )


def _csv(desk: Desk, ask: Ask) -> Move[tuple[FileText, list[list[str]]]]:
    path = next((p for p in ask.paths if ending(p) in {"csv", "tsv", "txt"}), None) or (
        None if ask.paths else desk.it()
    )
    if path is None or (ending(path) not in {"csv", "tsv", "txt"} and not ask.paths):
        found = [
            p
            for p in (yield from moves.every_path(desk, "Looking for CSV files.", pattern="*.csv"))
            if p.endswith(".csv")
        ]
        if not found:
            raise CannotDo("No CSV file here.")
        path = found[0]
    text = yield from moves.reach(desk, path)
    sample = text.lines[0] if text.lines else ""
    mark = max(",;\t|", key=sample.count)
    rows = [row for row in csv.reader(io.StringIO(text.text), delimiter=mark) if row]
    if not rows:
        raise CannotDo(f"{link(text.path)} is empty.")
    return text, rows


def _fit(row: list[str], width: int) -> list[str]:
    return [clip(cell, 60) for cell in [*row, *[""] * width][:width]]


def _numbers(values: list[str]) -> list[float]:
    found = []
    for value in values:
        try:
            found.append(float(re.sub(r"[,$€£% ]", "", value)))
        except ValueError:
            continue
    return found


def _kind(values: list[str]) -> str:
    filled = [v for v in values if v.strip()]
    if not filled:
        return "empty"
    numbers = _numbers(filled)
    if len(numbers) == len(filled):
        return f"numbers, {min(numbers):g} to {max(numbers):g}"
    if all(re.match(r"\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4}", v) for v in filled):
        return f"dates, {min(filled)} to {max(filled)}" if re.match(r"\d{4}-", filled[0]) else "dates"
    return f"text, {count(len(set(filled)), 'different value')}"


def _column(ask: Ask, names: list[str]) -> int | None:
    text = ask.plain().lower()
    found = [
        n
        for n, name in enumerate(names)
        if name.strip() and re.search(rf"\b{re.escape(name.strip().lower())}s?\b", text)
    ]
    return max(found, key=lambda n: len(names[n])) if found else None


def _column_facts(text: FileText, name: str, values: list[str]) -> str:
    numbers = _numbers(values)
    where = f"column {code(name)} of {link(text.path)}{'' if text.whole else ' (the part one read shows)'}"
    if numbers and len(numbers) >= len([v for v in values if v.strip()]) / 2:
        rows = [
            ("sum", f"{sum(numbers):,.10g}"),
            ("average", f"{statistics.fmean(numbers):,.6g}"),
            ("median", f"{statistics.median(numbers):,.6g}"),
            ("smallest", f"{min(numbers):,.10g}"),
            ("largest", f"{max(numbers):,.10g}"),
            ("numbers", str(len(numbers))),
        ]
        skipped = len(values) - len(numbers)
        return f"The {where}:\n\n{table(('', 'value'), rows)}" + (
            f"\n\n{count(skipped, 'value')} not a number, left out." if skipped else ""
        )
    common = Counter(values).most_common(12)
    return f"The {where} has {count(len(set(values)), 'different value')}:\n\n{table(('value', 'rows'), [(clip(v, 60) or '(empty)', str(n)) for v, n in common])}"


def convert(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """CSV to a Markdown table or JSON, JSON list to CSV; written to a file when one is named."""
    target = re.search(
        rf"\b(?:to|into|as|in) (?:an? |the )?(?:markdown|md|json|csv|html)?(?: table| file| format)?(?:,? (?:called|named|in|to|(?:and )?(?:save|write|store|put) (?:it|that|this|the (?:result|table))? ?(?:to|as|in|into)(?: an? (?:new )?file(?: called| named)?)?|saved (?:as|in|to)|as))? ?({P})",
        ask.text,
        re.I,
    )
    out = ask.plain(target.group(1)) if target else None
    source = next((p for p in ask.paths if p != out), None)
    wanted = (
        ending(out)
        if out
        else next(
            (
                k
                for w, k in (
                    ("json", "json"),
                    ("markdown", "md"),
                    ("md", "md"),
                    ("table", "md"),
                    ("html", "html"),
                    ("csv", "csv"),
                )
                if re.search(rf"\b(?:to|into|as)\b.*\b{w}\b", ask.text, re.I)
            ),
            "md",
        )
    )
    plain = Ask("‹p0›", (source,)) if source else Ask("", ())
    if source and ending(source) == "json" and wanted in {"csv", "md"}:
        text = yield from moves.full(desk, source)
        try:
            items = json.loads(text.text)
        except json.JSONDecodeError as error:
            raise CannotDo(
                f"{link(text.path)} is not valid JSON: {error.msg}, line {error.lineno}."
            ) from None
        if not (isinstance(items, list) and items and all(isinstance(i, dict) for i in items)):
            raise CannotDo(f"{link(text.path)} is not a list of objects, so it is no table.")
        names = list(dict.fromkeys(k for i in items for k in i))
        rows = [names, *[[cell_of(i.get(k)) for k in names] for i in items]]
    else:
        if source and ending(source) not in {"csv", "tsv", "txt"}:
            raise CannotDo(
                f"Conversions the demo model can do: CSV to a Markdown table or JSON, a JSON list to CSV. {link(source)} is neither."
            )
        text, rows = yield from _csv(desk, plain)
        if not text.whole:
            raise CannotDo(f"{link(text.path)} is longer than one read shows; not converted.")
    result = _converted(rows, wanted)
    if result is None:
        raise CannotDo(
            "Conversions the demo model can do: CSV to a Markdown table or JSON, a JSON list to CSV."
        )
    if out is None and (len(rows) > 40 or re.search(r"\b(?:save|file|write)\b", ask.text)):
        out = re.sub(r"\.\w+$", "", text.path) + "." + wanted
    if out is None:
        return f"{link(text.path)} as {'a Markdown table' if wanted == 'md' else wanted.upper()}:\n\n" + (
            result if wanted == "md" else fence(result, wanted)
        )
    if (yield from moves.exists(desk, out, f"Is {code(out)} free?")):
        raise CannotDo(f"{link(out)} exists already and was left as it is.")
    yield from moves.write(desk, out, result.rstrip("\n") + "\n", f"Writing {code(out)}.")
    return f"Wrote {link(out)} with {count(len(rows) - 1, 'row')} of {link(text.path)}:\n\n{fence(head(result, 10)[0], wanted)}"


def _converted(rows: list[list[str]], wanted: str) -> str | None:
    names = rows[0]
    if wanted == "md":
        return table(names, [[*row, *[""] * len(names)][: len(names)] for row in rows[1:]])
    if wanted == "json":
        return json.dumps(
            [dict(zip(names, row, strict=False)) for row in rows[1:]], indent=2, ensure_ascii=False
        )
    if wanted == "csv":
        sink = io.StringIO()
        csv.writer(sink, lineterminator="\n").writerows(rows)
        return sink.getvalue()
    return None


def contents(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    text = yield from moves.full(desk, ask.paths[0] if ask.paths else (desk.it() or "README.md"))
    headings = [(level, title) for level, title, _ in outline("x.md", text.text).headings]
    first = (
        headings[1:]
        if headings and headings[0][0] == 1 and sum(level == 1 for level, _ in headings) == 1
        else headings
    )
    if not first:
        raise CannotDo(f"{link(text.path)} has no headings to list.")
    top = min(level for level, _ in first)
    lines = [f"{'  ' * (level - top)}- [{title}](#{_anchor(title)})" for level, title in first]
    if (
        re.match(r"(?:add|insert|put|write|include|generate and (?:add|insert))", match.group(), re.I)
        and "edit" in desk.tools
        and not ask.has(r"\bfor\b")
    ):
        if any(re.match(r"#+ (?:table of )?contents\s*$", line, re.I) for line in text.lines):
            raise CannotDo(f"{link(text.path)} has a contents section already; nothing changed.")
        title = next((n for n, line in enumerate(text.lines) if re.match(r"# ", line)), None)
        place = title + 1 if title is not None else 0
        new = [
            *text.lines[:place],
            *([""] if place else []),
            "## Contents",
            "",
            *lines,
            *([] if text.lines[place : place + 1] == [""] else [""]),
            *text.lines[place:],
        ]
        yield from put_lines(desk, text, new)
        return f"Added a table of contents with {count(len(lines), 'entry', 'entries')} to {link(text.path)}."
    return f"Table of contents of {link(text.path)}:\n\n{fence(chr(10).join(lines), 'md')}\n\n“add a table of contents to {text.path}” writes it into the file."


def _anchor(title: str) -> str:
    return re.sub(r"[\s]+", "-", re.sub(r"[^\w\s-]", "", title.lower()).strip())


def _described_pair(desk: Desk, ask: Ask) -> Move[list[str]]:
    """Two files that are described: "the two letters", "the March and April minutes"; empty when they are not clear."""
    every = yield from moves.every_path(desk, "Looking which two are meant.")
    text = re.sub(r"\b(?:two|both|three) (?=\w)", "both ", ask.text)
    shared = re.sub(
        r"\b([A-Z]\w+) (?:and|with|to) (?:the )?([A-Z]\w+) ((?:\w+ )?\w+?)(?=\b(?:[:,.?]|$| [-–]| what| which| how))",
        r"\1 \3 and the \2 \3",
        text,
    )
    for form in dict.fromkeys((text, shared)):
        found = [p for phrase in phrases(form, every) for p in phrase.paths if not p.endswith("/")]
        found = list(dict.fromkeys(found))
        if len(found) == 2:
            return found
    return []


def compare(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    names = [*ask.paths, *ask.quotes]
    bare = re.match(
        r"(?:compare|diff) (?:the )?([\w-]+) (?:and|with|to|against) (?:the )?([\w-]+)$", ask.text, re.I
    )
    if not names and bare:
        names = [bare.group(1), bare.group(2)]
    if len(names) < 2:
        names = (yield from _described_pair(desk, ask)) or names
    if len(names) < 2 and len(desk.listed()) >= 2:
        names = desk.listed()[:2]
    if len(names) < 2:
        raise CannotDo("Compare which two files? For example: `compare old.txt and new.txt`.")
    one = yield from moves.there(desk, names[0])
    two = yield from moves.there(desk, names[1])
    if one == two:
        raise CannotDo(f"Compare {link(one)} with which other file?")
    if ending(one) in PROSE and ending(two) in PROSE and not ask.has(r"\bdiff\b|\blines?\b"):
        texts = (yield from moves.reach(desk, one)), (yield from moves.reach(desk, two))
        if texts[0].text != texts[1].text:
            wanted = re.search(
                r"\b(?:what|which) (?P<word>(?!changed|is|are|was|were|differ)\w{4,})", ask.text, re.I
            )
            return side_by_side(one, texts[0].text, two, texts[1].text, wanted["word"] if wanted else "")
    outcome = yield from moves.shell(
        desk,
        f"diff -u {moves.quoted(one)} {moves.quoted(two)} || [ $? -eq 1 ]",
        f"Comparing {code(one)} with {code(two)}.",
        what="comparing files",
    )
    said = moves.output(outcome)
    if not said.strip():
        return f"{link(one)} and {link(two)} have the same content."
    plus = len(re.findall(r"^\+(?!\+\+)", said, re.M))
    minus = len(re.findall(r"^-(?!--)", said, re.M))
    shown, more = head(said, 60)
    tail = f"\n\n{count(more, 'more line')} in the result above." if more else ""
    return f"{link(two)} has {count(plus, 'line')} that {link(one)} has not, and lacks {minus} of its lines:\n\n{fence(shown, 'diff')}{tail}"


def sort_csv(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """Rows of a CSV file in the order of one column."""
    text = yield from moves.full(desk, desk.file_of(ask))
    sample = text.lines[0] if text.lines else ""
    mark = max(",;\t|", key=sample.count)
    names = next(csv.reader([sample], delimiter=mark), [])
    wanted = _column(Ask(match.group("column"), ask.values), names)
    if wanted is None:
        raise CannotDo(
            f"{link(text.path)} has no column {code(ask.plain(match.group('column')))}. Its columns: {', '.join(code(n) for n in names)}."
        )
    body = [line for line in text.lines[1:] if line.strip()]
    cells = [row[wanted] if len(row) > wanted else "" for row in csv.reader(body, delimiter=mark)]
    if len(cells) != len(body):
        raise CannotDo(
            f"{link(text.path)} has cells with line breaks; the demo model does not sort such a file."
        )
    numeric = len(_numbers(cells)) == len(cells)
    down = ask.has(r"\bdescend|\bhighest first|\blargest first|\bnewest first|\breverse")
    order = sorted(
        range(len(body)), key=lambda n: (_numbers([cells[n]])[0] if numeric else 0.0, cells[n]), reverse=down
    )
    new = [sample, *(body[n] for n in order)]
    if new == text.lines:
        return f"{link(text.path)} is sorted by {code(names[wanted])} already; nothing changed."
    yield from put_lines(desk, text, new)
    return f"Sorted the {count(len(body), 'row')} of {link(text.path)} by {code(names[wanted])}, {'falling' if down else 'rising'}. “undo” takes it back."


def set_key(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A key of a JSON object, new or not."""
    path = ask.plain(match.group("where"))
    text = yield from moves.full(desk, path)
    try:
        data = json.loads(text.text)
    except json.JSONDecodeError as error:
        raise CannotDo(
            f"{link(text.path)} is not valid JSON: {error.msg}, line {error.lineno}. Nothing changed."
        ) from None
    if not isinstance(data, dict):
        raise CannotDo(f"{link(text.path)} is not a JSON object. Nothing changed.")
    keys = ask.plain(match.group("key")).strip("\"'` ").split(".")
    word = ask.plain(match.group("value")).strip()
    try:
        value = json.loads(word)
    except json.JSONDecodeError:
        value = word.strip("\"'")
    inner = data
    for key in keys[:-1]:
        inner = inner.setdefault(key, {})
        if not isinstance(inner, dict):
            raise CannotDo(f"{code(key)} in {link(text.path)} is not an object. Nothing changed.")
    before = (
        f"was {code(json.dumps(inner[keys[-1]], ensure_ascii=False))} and is"
        if keys[-1] in inner
        else "is new:"
    )
    inner[keys[-1]] = value
    indent = re.search(r"\n( +)\"", text.text)
    new = json.dumps(data, indent=len(indent.group(1)) if indent else None, ensure_ascii=False)
    yield from put_lines(desk, text, new.split("\n"))
    return (
        f"{code('.'.join(keys))} in {link(text.path)} {before} {code(json.dumps(value, ensure_ascii=False))}."
    )


def _is_json(ask: Ask) -> bool:
    return any(path.lower().endswith(".json") for path in ask.paths)


#: Tried before the jobs that add or change lines of any file.
EARLY_RULES: list[Rule] = [
    rule(rf"(?:add|insert|put|write|include|create|make|generate|build|show|give me|produce)\b.*\b(?:table of contents|toc|contents (?:table|list))\b.*|(?:table of contents|toc) (?:of|for|in) .*{P}", contents),
    rule(rf"(?:add|insert|put|set)\b (?:an? |the |new )*(?:key|field|property|entry|setting|option|value|attribute)? ?(?:called |named )?(?P<key>{Q}|[\w.-]+) (?:with (?:the |a )?value(?: of)?|=|:|to|set to|and value|as) ?(?P<value>{Q}|\S+) (?:to|in|into) (?:the )?(?P<where>{P})$", set_key, _is_json),
    rule(rf"(?:set|change|update|bump)\b (?:the )?(?:value of |key )?(?P<key>{Q}|[\w.-]+) in (?P<where>{P}) (?:to|=) (?P<value>{Q}|\S+)$", set_key, _is_json),
    rule(rf"in (?P<where>{P}),? (?:set|change|update|add) (?:the )?(?P<key>{Q}|[\w.-]+) (?:to|=|:) (?P<value>.+)$", set_key, _is_json),
    rule(rf"(?:sort|order)\b (?:the )?(?:rows (?:of|in) |lines (?:of|in) |file )*{P} by (?:the )?(?:column )?(?P<column>.+)$", sort_csv, lambda ask: any(ending(p) in {"csv", "tsv"} for p in ask.paths)),
]  # fmt: skip

RULES: list[Rule] = [
    rule(r"(?:what|which|list|show|give|print|name)\b.*\bkeys\b.*‹p\d+›.*", check_json, _is_json),
    rule(rf"(?:convert|transform|turn|export|change|render|make|show|print|display|format|translate)\b.*(?:{P}|\bcsv\b|\bit\b).*\b(?:to|into|as|in)\b.*\b(?:markdown|md|json|csv|table|html)\b.*|(?:convert|turn)\b .*{P}.* (?:to|into) {P}.*", convert),
    rule(r"(?:pretty.?print|prettify|beautify|indent|format|reformat|validate|check|verify|lint|parse|is)\b.*(?:\bjson\b|‹p\d+›).*(?:json|valid|well.formed|pretty|indent|syntax|format)?.*(?<!python)$", check_json, lambda ask: "json" in ask.plain().lower()),
    rule(r"(?:tell me |say |check |see )?(?:if|whether) .*\bjson\b.*", check_json),
    rule(r"(?:.*\b)?(?:are|which|find)\b.*\bjson files?\b.*\b(?:valid|invalid|broken)\b.*", check_json),
    rule(rf"(?:compare|diff|difference|what(?:'s| is| are) (?:the )?(?:differences?|different|diff)|show (?:me )?(?:the )?(?:difference|diff)s?|is|are|how (?:do|does|is|are))\b.*(?:{P}|{Q}).*(?:{P}|{Q}).*", compare),
    rule(r"compare\b.*", compare),
    rule(rf"(?:(?:give|show|what|describe|summari[sz]e|analy[sz]e|overview|average|mean|sum|total|median|max(?:imum)?|min(?:imum)?|count|how many|list|load|read|open|calculate|compute|find|get|which|tell|stats|statistics|inspect|columns?|rows?|look)\b.*)?(?:\.csv|\bcsv\b|\bcolumns?\b|\brows?\b)(?!.*\b(?:delete|add)\b)(?:.*(?:{P}|csv|\bit\b).*)$|(?:(?:give|show|get|tell|find|calculate|compute)(?: me)? |what is |what's )?(?:the )?(?:sum|average|mean|median|total|max(?:imum)?|min(?:imum)?) of (?:the )?(?:column )?\w+(?: column)?$", csv_overview),
    rule(rf"(?:(?:give me |show me |what is |what's |calculate |compute |find |get |tell me )?(?:the )?(?:average|mean|sum|total|median|max(?:imum)?|min(?:imum)?|highest|lowest|statistics|stats))\b.*(?:{P}).*", csv_overview),
]  # fmt: skip
