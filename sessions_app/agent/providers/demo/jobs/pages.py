"""Web pages: links that lead nowhere, titles, texts for images, colours of a style sheet, a new page like the others."""

from __future__ import annotations

import posixpath
import re
from html import escape

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import FileText, Move
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, code, count, ending, fence, head, link, table

_MOST_FILES = 40
_LINK = re.compile(r"(?:href|src)\s*=\s*[\"']([^\"']+)[\"']|\]\(<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\)", re.I)


def check_all_links(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Links of all pages and Markdown files, and which lead to no file. Web addresses are not tried."""
    every = yield from moves.every_path(desk, "Looking which files there are.")
    files = [p for p in ask.paths if ending(p) in {"html", "htm", "md"}] or [
        p for p in every if ending(p) in {"html", "htm", "md"}
    ]
    if not files:
        raise CannotDo("There are no HTML or Markdown files here with links.")
    have = {p.rstrip("/") for p in every}
    have |= {"/".join(p.split("/")[:n]) for p in every for n in range(1, p.count("/") + 1)}
    rows, broken, outside = [], [], 0
    for path in files[:_MOST_FILES]:
        text = yield from moves.reach(desk, path)
        for number, line in enumerate(text.lines, 1):
            for groups in _LINK.findall(line):
                target = next(g for g in groups if g)
                if re.match(r"[a-z][a-z0-9+.-]*:|//|#", target, re.I):
                    outside += not target.startswith(("#", "mailto:", "data:", "javascript:"))
                    rows.append(
                        (link(text.path, number), code(target), "not tried" if "//" in target else "")
                    )
                    continue
                plain = re.split(r"[?#]", target)[0]
                base = "" if plain.startswith("/") else posixpath.dirname(text.path)
                place = posixpath.normpath(posixpath.join(base, plain.lstrip("/")))
                there = place in have or place == "." or f"{place}/index.html" in have
                rows.append((link(text.path, number), code(target), "" if there else "**no such file**"))
                if not there:
                    broken.append(f"{link(text.path, number)} leads to {code(target)}")
    if not rows:
        return f"{count(len(files), 'file')} looked at, and none has a link."
    lead = (
        f"{count(len(rows), 'link')} in {count(len(files), 'file')}. {count(len(broken), 'link leads', 'links lead')} to no file"
        + (":\n\n" + bullets(broken) if broken else ".")
    )
    note = (
        f"\n\n{count(outside, 'web address', 'web addresses')} not tried: the demo model is offline."
        if outside
        else ""
    )
    if ask.has(r"\b(?:list|all|every)\b") or not broken:
        lead += f"\n\n{table(('where', 'link', ''), rows[:60])}"
    return lead + note


_PARTS = {
    "heading": ("h1", "h2", "h3", "h4"), "headline": ("h1",), "title": ("h1",), "text": ("body", "p", "html"), "font": ("body", "html"), "page": ("body", "html"), "body": ("body",),
    "background": ("body", "html"), "link": ("a", "a:link"), "button": ("button", ".button", ".btn"), "paragraph": ("p",), "footer": ("footer",), "header": ("header",), "menu": ("nav",), "navigation": ("nav",), "table": ("table",), "list": ("ul", "li"),
}  # fmt: skip
_PROPERTIES = (
    (r"background(?:[ -]?colou?r)?", ("background-color", "background")), (r"font[ -]?size|text[ -]?size|size", ("font-size",)), (r"font(?:[ -]?family)?|typeface", ("font-family", "font")),
    (r"margin", ("margin",)), (r"padding", ("padding",)), (r"width", ("width", "max-width")), (r"border", ("border",)), (r"colou?r", ("color",)),
)  # fmt: skip


def _declaration(
    lines: list[str], selectors: tuple[str, ...], properties: tuple[str, ...]
) -> tuple[int, re.Match[str]] | None:
    """The line of a style sheet that sets one of the properties for one of the selectors."""
    inside: list[str] = []
    for number, line in enumerate(lines):
        opened = re.match(r"\s*([^{}]+)\{", line)
        if opened:
            inside = [s.strip().lower() for s in opened.group(1).split(",")]
        if set(inside) & set(selectors):
            for name in properties:
                found = re.search(rf"(?<![\w-]){name}\s*:\s*([^;}}]+)", line)
                if found:
                    return number, found
        if "}" in line:
            inside = []
    return None


def _style_place(desk: Desk, ask: Ask, part: str, what: str) -> Move[tuple[FileText, int, re.Match[str]]]:
    """Where a style stands. Raises CannotDo when it stands nowhere or in several files."""
    properties = next((names for words, names in _PROPERTIES if re.fullmatch(words, what, re.I)), ("color",))
    selectors = _PARTS.get(part.lower().rstrip("s"), (part.lower(), f".{part.lower()}", f"#{part.lower()}"))
    if part.lower() in {"background", "font"}:
        properties = next(names for words, names in _PROPERTIES if re.fullmatch(words, part, re.I))
    every = yield from moves.every_path(desk, "Looking for style sheets.")
    files = [p for p in ask.paths if ending(p) in {"css", "html"}] or [p for p in every if ending(p) == "css"]
    found = []
    for path in files[:10]:
        text = yield from moves.reach(desk, path)
        place = _declaration(text.lines, selectors, properties)
        if place is not None:
            found.append((text, *place))
    if not found:
        raise CannotDo(
            f"Not found: no style sheet here sets {code(properties[0])} for {', '.join(code(s) for s in selectors[:3])}."
        )
    if len(found) > 1:
        used = []
        for text, number, match in found:
            hits = yield from moves.search(
                desk, text.path.rsplit("/", 1)[-1], "Which of them is used?", literal=True, limit=20
            )
            if any(h.path != text.path for h in hits):
                used.append((text, number, match))
        found = used
    if len(found) != 1:
        raise CannotDo("Not done: several style sheets set that. Name one with its path.")
    return found[0]


def change_style(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """One property of one part of the page, set in the style sheet that has it."""
    groups = match.groupdict()
    part = (
        groups.get("part")
        or groups.get("part2")
        or ("page" if re.match(r"background|font", groups.get("what") or "", re.I) else "")
    )
    if not part:
        raise CannotDo("Not changed: of which part of the page? For example: `make the headings green`.")
    text, number, found = yield from _style_place(
        desk, ask, part, groups.get("what") or groups.get("what2") or part
    )
    new = ask.plain(match.group("value")).strip().strip("\"'").rstrip(";.")
    if not re.fullmatch(r"[#\w(),.% -]{1,60}", new):
        raise CannotDo(f"Not changed: {code(new)} does not look like a value of a style.")
    line = text.lines[number]
    changed = line[: found.start(1)] + new + line[found.end(1) :]
    lines = list(text.lines)
    lines[number] = changed
    if changed == line:
        return f"{link(text.path, number + 1)} says so already: {code(line.strip())}."
    yield from put_lines(desk, text, lines)
    return f"{link(text.path, number + 1)} was {code(line.strip())} and is now {code(changed.strip())}."


def tell_style(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """What a style sheet sets for a part of the page."""
    part = match.group("part") or "text"
    text, number, found = yield from _style_place(desk, ask, part, match.group("what"))
    return f"{link(text.path, number + 1)} sets {code(found.group().strip())}: **{found.group(1).strip()}**."


def image_texts(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """An alt text for the one image of a page. Raises CannotDo when it is not clear which."""
    text = yield from moves.full(desk, desk.file_of(ask))
    given = ask.quotes[0] if ask.quotes else ""
    if not given:
        raise CannotDo('Which text? Give it in quotes: `add the alt text "…" to the image in index.html`.')
    images = [(n, m) for n, line in enumerate(text.lines) for m in re.finditer(r"<img\b[^>]*>", line, re.I)]
    if len(images) != 1:
        raise CannotDo(
            f"Not done: {link(text.path)} has {count(len(images), 'image')} in single lines; the demo model sets a text only where there is one."
        )
    number, tag = images[0]
    old = tag.group()
    value = f'alt="{escape(given, quote=True)}"'
    new = (
        re.sub(r"\balt\s*=\s*([\"']).*?\1", lambda _m: value, old, flags=re.I)
        if re.search(r"\balt\s*=", old, re.I)
        else re.sub(r"\s*/?>$", lambda m: f" {value}{m.group() if m.group().strip() == '>' else ' />'}", old)
    )
    lines = list(text.lines)
    lines[number] = lines[number][: tag.start()] + new + lines[number][tag.end() :]
    yield from put_lines(desk, text, lines)
    return f"{link(text.path, number + 1)} was {code(old)} and is now {code(new)}."


def titles(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """The title of every page."""
    every = yield from moves.every_path(desk, "Looking for pages.")
    files = [p for p in ask.paths if ending(p) in {"html", "htm"}] or [
        p for p in every if ending(p) in {"html", "htm"}
    ]
    if not files:
        raise CannotDo("There are no HTML pages here.")
    rows = []
    for path in files[:_MOST_FILES]:
        text = yield from moves.reach(desk, path)
        title = re.search(r"(?is)<title[^>]*>(.*?)</title>", text.text)
        heading = re.search(r"(?is)<h1[^>]*>(.*?)</h1>", text.text)
        rows.append(
            (
                link(path),
                title.group(1).strip() if title else "(none)",
                re.sub(r"<[^>]+>", "", heading.group(1)).strip() if heading else "(none)",
            )
        )
    return f"{count(len(rows), 'page')}:\n\n{table(('page', 'title', 'first heading'), rows)}"


def new_page(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A page with the head of an existing one, its own title, and room for text."""
    every = yield from moves.every_path(desk, "Which pages are there?")
    pages = sorted(
        (p for p in every if ending(p) == "html"),
        key=lambda p: (p.count("/"), not p.endswith("index.html"), p),
    )
    after = re.search(rf"\b(?:like|to|on|of|as) (?:the )?({P})", ask.text)
    like_page = ask.plain(after.group(1)) if after else None
    named = [p for p in ask.paths if ending(p) in {"html", "htm"} and p != like_page]
    wanted = match.groupdict().get("name") or ""
    path = (
        named[0]
        if named
        else f"{re.sub(r'[^a-z0-9]+', '-', ask.plain(wanted).strip().lower()).strip('-') or 'page'}.html"
    )
    title = next((q for q in ask.quotes), "") or _title(path)
    model = like_page or next((p for p in pages if p != path), None)
    if path in every or (yield from moves.exists(desk, path, f"Is {code(path)} free?")):
        raise CannotDo(f"{link(path)} exists already and was left as it is.")
    body = f"  <h1>{escape(title)}</h1>\n  <p>Replace this paragraph with your own words.</p>\n"
    if path.startswith("404"):
        body = '  <h1>Page not found</h1>\n  <p>There is no page at this address.</p>\n  <p><a href="/">Back to the start</a></p>\n'
        title = "Page not found"
    if model is None:
        text = f'<!doctype html>\n<html lang="en">\n<head>\n  <meta charset="utf-8">\n  <meta name="viewport" content="width=device-width, initial-scale=1">\n  <title>{escape(title)}</title>\n</head>\n<body>\n{body}</body>\n</html>\n'
        like = ""
    else:
        source = yield from moves.full(desk, model)
        opening = re.match(r"(?is).*?<body[^>]*>\n?", source.text)
        if opening is None:
            raise CannotDo(f"Not written: {link(model)} has no {code('<body>')} to take the frame from.")
        start = re.sub(
            r"(?is)(<title[^>]*>).*?(</title>)",
            lambda m: m.group(1) + escape(title) + m.group(2),
            opening.group(),
        )
        kept = "".join(
            m.group() + "\n" for m in re.finditer(r"(?is)^[ \t]*<(header|nav)\b.*?</\1>", source.text, re.M)
        )
        foot = "".join(
            m.group() + "\n" for m in re.finditer(r"(?is)^[ \t]*<footer\b.*?</footer>", source.text, re.M)
        )
        text = f"{start}{kept}{body}{foot}</body>\n</html>\n"
        like = f" with the frame of {link(model)}"
    yield from moves.write(desk, path, text, f"Writing {code(path)}.")
    shown, more = head(text, 18)
    tail = f"\n\n{count(more, 'more line')} in the file." if more else ""
    return f"Wrote {link(path)}{like}. Its text is a placeholder: the demo model writes none of its own.\n\n{fence(shown, 'html')}{tail}"


def _title(path: str) -> str:
    return re.sub(r"[_-]+", " ", path.rsplit("/", 1)[-1].rsplit(".", 1)[0]).capitalize()


def images_without_text(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    """Images of the pages that have no alt text."""
    every = yield from moves.every_path(desk, "Looking for pages.")
    files = [p for p in ask.paths if ending(p) in {"html", "htm"}] or [
        p for p in every if ending(p) in {"html", "htm"}
    ]
    rows, seen = [], 0
    for path in files[:_MOST_FILES]:
        text = yield from moves.reach(desk, path)
        for found in re.finditer(r"(?is)<img\b[^>]*>", text.text):
            seen += 1
            if not re.search(r"\balt\s*=\s*[\"'][^\"']+[\"']", found.group(), re.I):
                rows.append(
                    (link(text.path, text.text.count("\n", 0, found.start()) + 1), code(found.group()[:100]))
                )
    if not rows:
        return f"{count(seen, 'image')} in {count(len(files), 'page')}; none lacks an alt text."
    return f"{len(rows)} of {count(seen, 'image')} in {count(len(files), 'page')} {'has' if len(rows) == 1 else 'have'} no alt text:\n\n{table(('where', 'image'), rows)}"


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def add_link(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A link beside the last one of a page."""
    target, page = ask.plain(match.group("target")), ask.plain(match.group("page"))
    text = yield from moves.full(desk, page)
    if ending(text.path) not in {"html", "htm", "md"}:
        raise CannotDo(f"Links can be added to HTML and Markdown files; {link(text.path)} is neither.")
    shown = next((q for q in ask.quotes if q != target), "") or _title(target)
    if re.search(rf"(?:href=[\"']|\]\(){re.escape(target)}", text.text):
        return f"{link(text.path)} has a link to {code(target)} already; nothing changed."
    lines = list(text.lines)
    if ending(text.path) == "md":
        lines.append(f"[{shown}]({target})")
        place = len(lines) - 1
    else:
        anchors = [
            n for n, line in enumerate(lines) if re.match(r"\s*(?:<li>)?<a\b.*</a>(?:</li>)?\s*$", line, re.I)
        ]
        closing = next((n for n, line in enumerate(lines) if "</body>" in line.lower()), None)
        if not anchors and closing is None:
            raise CannotDo(f"Not added: {link(text.path)} has no {code('</body>')} to put it before.")
        place = anchors[-1] + 1 if anchors else closing or 0
        tag = f'<a href="{escape(target, quote=True)}">{escape(shown)}</a>'
        if anchors and "<li>" in lines[anchors[-1]].lower():
            tag = f"<li>{tag}</li>"
        lines.insert(place, (_indent(lines[anchors[-1]]) if anchors else "  ") + tag)
    yield from put_lines(desk, text, lines)
    return f"Added {code(lines[place].strip())} to {link(text.path, place + 1)}."


def add_meta(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A meta tag in the head of a page."""
    text = yield from moves.full(desk, desk.file_of(ask))
    name, value = match.group("name").lower(), next(iter(ask.quotes), "")
    tag = f'<meta name="{name}" content="{escape(value, quote=True)}">'
    lines = list(text.lines)
    old = next(
        (n for n, line in enumerate(lines) if re.search(rf"<meta\b[^>]*name=[\"']{name}[\"']", line, re.I)),
        None,
    )
    place = next((n for n, line in enumerate(lines) if re.search(r"</?title\b", line, re.I)), None)
    if old is not None:
        lines[old] = _indent(lines[old]) + tag
    elif place is not None:
        lines.insert(place + 1, _indent(lines[place]) + tag)
    else:
        raise CannotDo(f"Not added: {link(text.path)} has no title line to put it beside.")
    yield from put_lines(desk, text, lines)
    return f"{'Changed' if old is not None else 'Added'} {code(tag)} in {link(text.path)}."


def add_footer(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """A footer at the end of the body of one page or of every page; pages that have one stay as they are."""
    every = yield from moves.every_path(desk, "Looking for pages.")
    files = [p for p in ask.paths if ending(p) in {"html", "htm"}] or [
        p for p in every if ending(p) in {"html", "htm"}
    ]
    done, left = [], []
    for path in files[:_MOST_FILES]:
        text = yield from moves.full(desk, path)
        closing = next((n for n, line in enumerate(text.lines) if "</body>" in line.lower()), None)
        if closing is None or re.search(r"<footer\b", text.text, re.I):
            left.append(text.path)
            continue
        lines = list(text.lines)
        lines.insert(closing, f"  <footer>{escape(ask.quotes[0])}</footer>")
        yield from put_lines(desk, text, lines)
        done.append(text.path)
    kept = (
        f"\n\nLeft as they are (a footer is there, or no {code('</body>')}): {', '.join(link(p) for p in left)}."
        if left
        else ""
    )
    if not done:
        raise CannotDo(f"Not done: no page here can take a footer.{kept}")
    return f"Added {code(f'<footer>{escape(ask.quotes[0])}</footer>')} to {count(len(done), 'page')}:\n\n{bullets(link(p) for p in done)}{kept}"


_PART = r"(?P<part>headings?|headlines?|titles?|text|font|page|body|background|links?|buttons?|paragraphs?|footer|header|menu|navigation|tables?|lists?|h[1-6])"
_WHAT = r"(?P<what>(?:background |text |font )?(?:colou?rs?|size|family)|margin|padding|width|border|background|font)"

RULES: list[Rule] = [
    rule(rf"(?:add|put|insert|create)\b (?:an? |the |new )*(?:footer|foot line)\b.*{Q}.*|(?:add|put|insert) {Q} (?:in|into|as) (?:an? |the )?footer\b.*", add_footer, lambda ask: len(ask.quotes) == 1 and (any(ending(p) in {"html", "htm"} for p in ask.paths) or ask.has(r"\bpages?\b"))),
    rule(r"(?:find|list|show(?: me)?|which|what|are there|check)\b.*\b(?:images?|pictures?|imgs?)\b.*\b(?:without|no|missing|lack\w*|don't|doesn't|not)\b.*\b(?:alt|description|text)\w*\b.*|.*\bmissing alt\b.*", images_without_text),
    rule(rf"(?:add|put|insert|create|make)\b (?:an? |the |another |new )*link (?:to|for) (?:the )?(?P<target>{P}|{Q})(?: (?:called|named|with the text|saying) {Q})? (?:in|into|to|on|at the (?:end|bottom) of) (?:the )?(?P<page>{P})(?: (?:called|named|with the text|saying) {Q})?$", add_link),
    rule(rf"(?:add|put|insert|set|create|change)\b (?:an? |the |new )*(?:meta )?(?P<name>description|author|keywords|viewport|robots)(?: meta)?(?: tag)?\b.*(?:{P}|\bit\b).*{Q}.*", add_meta, lambda ask: ask.has(r"\bmeta\b|\btag\b") and any(ending(p) == "html" for p in ask.paths)),
    rule(r"(?:count|how many)\b.*\blinks?\b.*", check_all_links),
    rule(r"(?:make|turn|set)\b (?:the |all )*(?P<part>headings?|headlines?|titles?|text|font|page|body|background|links?|buttons?|paragraphs?|footer|header|menu|tables?)'?s?(?: (?P<what>colou?r|background))? (?P<value>(?:dark ?|light ?)?(?:red|green|blue|black|white|gr[ae]y|orange|purple|yellow|brown|pink|teal|navy)|#[0-9a-fA-F]{3,6})$", change_style),
    rule(rf"(?:check|find|list|show|test|verify|are there|which|what|do|is|look for|tell me|report)\b.*\b(?:broken|dead|missing|wrong) (?:links?|references?|images?)\b.*|(?:check|test|verify|list)\b(?: me)?(?: all| the| every| my| our| internal)* (?:links?|hyperlinks)\b(?: (?:in|of|on|for|from))?(?: (?:the|this|my|our|all|whole|{P}))*(?: ?(?:site|website|pages?|folder|project|files|html files))*(?:,? and .*(?:broken|work|lead|missing|dead|exist).*)?$|(?:do|are|which|what) (?:all |any |the |my |of )*links?\b.*\b(?:work|broken|dead|valid|go|lead|fail)\b.*", check_all_links, lambda ask: not ask.paths or any(ending(p) in {"html", "htm", "md"} or "." not in p for p in ask.paths)),
    rule(rf"(?:change|set|make|turn|update|switch)\b (?:the )?(?:{_PART}'?s? )?{_WHAT}(?: (?:of|for|on) (?:the |all )*(?P<part2>[\w.#-]+))?(?: (?:in|on) (?:the )?(?:{P}|site|page|website|css|stylesheet))? (?:to|into|=|as) (?:be )?(?P<value>‹q\d+›|[^‹]+?)(?: (?:in|on) (?:the )?(?:{P}|site|page|website|css|stylesheet))?$", change_style, lambda ask: ask.has(r"\b(?:colou?r|font|background|margin|padding|width|border|size)\b") and not ask.has(r"\b(?:column|row|constant|variable|max|limit|batch|cache)\b")),
    rule(rf"(?:make|turn)\b (?:the )?{_PART} (?P<what2>)(?P<value>(?:dark ?|light ?)?(?:red|green|blue|black|white|gr[ae]y|orange|purple|yellow|brown|pink|teal|navy)|#[0-9a-f]{{3,6}})$", change_style),
    rule(rf"(?:what|which|tell me|show(?: me)?)(?:'s| is| are)?(?: the)? {_WHAT}(?: (?:is|are|has|have|do|does|of|for))* (?:the |our |my )*{_PART}(?: in)?(?: .*)?$", tell_style),
    rule(rf"(?:add|put|set|give|insert|write|change)\b.*\balt(?:ernative)?[- ]?(?:text|attribute|tag)?s?\b.*{Q}.*(?:{P}|\bit\b).*|(?:give|describe) the image in {P} .*{Q}.*", image_texts),
    rule(r"(?:what|list|show(?: me)?|give me|which)\b(?:'s| are| is)?(?: all)?(?: the)? (?:titles?|page titles?|headlines?) (?:of|on|for|does|do)\b.*\bpages?\b.*|(?:list|show(?: me)?)(?: all)?(?: the)? pages? (?:with|and) (?:their )?titles?.*", titles),
    rule(rf"(?:create|make|add|write|build|generate|set up|i (?:need|want))\b(?: me| us)? (?:an? |another |the |new |simple |empty |small |basic )*(?P<name>[\w -]{{1,30}}?) ?(?:html |web)?page(?: (?:called|named) {P})?(?: (?:like|similar to|based on|in the style of|that looks like|with the same (?:style|layout|look|head) as) (?:the )?(?:{P}|others?|rest|other pages|existing ones?|[\w ]+))?(?: (?:titled|with the title) {Q})?$", new_page, lambda ask: ask.has(r"\b(?:404|about|contact|impressum|imprint|faq|error|not found|home|news|team|gallery|privacy|terms|jobs|events|menu|shop|price|opening|blog|landing|page (?:like|called|named|similar|based))")),
    rule(rf"(?:create|make|add|write|build|generate)\b(?: me| us)? (?:an? |another |the |new |simple |empty )*(?P<name>)(?:page |file )?{P}(?: page| file)?,? (?:like|similar to|based on|in the style of|that looks like|(?:with|in) the same (?:style|layout|look|head|design) (?:as|like)) (?:the )?(?:{P}|others?|rest|other pages|existing ones)$", new_page, lambda ask: any(ending(p) in {"html", "htm"} for p in ask.paths[:1])),
]  # fmt: skip
