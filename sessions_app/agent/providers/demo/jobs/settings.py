"""Jobs that change one setting of a JSON, TOML, YAML, INI or .env file: its line only, in its own style."""

from __future__ import annotations

import re

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.changing import put_lines
from sessions_app.agent.providers.demo.moves import Hit, Move
from sessions_app.agent.providers.demo.phrases import Ask, P, Q
from sessions_app.agent.providers.demo.script import CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, ending, link

_ENDINGS = {"json", "toml", "yml", "yaml", "ini", "cfg", "conf", "env", "properties", "py", "js"}
_ON = {"true": ("true", "false"), "false": ("true", "false"), "yes": ("yes", "no"), "no": ("yes", "no"), "on": ("on", "off"), "off": ("on", "off"), "1": ("1", "0"), "0": ("1", "0"), "enabled": ("enabled", "disabled"), "disabled": ("enabled", "disabled")}  # fmt: skip
_VALUE = r"(\"(?:[^\"\\]|\\.)*\"|'[^']*'|\[[^\]]*\]|[^\s,}\]#;][^,}\]#;\n]*?)(?=\s*(?:[,}\]#;]|$))"


def _pattern(key: str) -> re.Pattern[str]:
    """A line that sets the key, however its words are joined."""
    joined = r"[ _.-]?".join(re.escape(part) for part in re.split(r"[ _.-]+", key) if part)
    return re.compile(rf"((?<![\w-])[\"']?{joined}[\"']?\s*(?::|=)\s*){_VALUE}", re.I)


def _candidates(key: str) -> list[str]:
    """The key as said, then its last part, then its words one by one."""
    words = [w for w in re.split(r"[ _.-]+", key) if w]
    plain = re.sub(
        r"\b(?:mode|flag|setting|option|value|parameter|logging|output)\b", "", key, flags=re.I
    ).strip()
    return list(
        dict.fromkeys(
            k for k in (key, plain, key.rsplit(".", 1)[-1], *(words if len(words) < 4 else [])) if k
        )
    )


def _lines(desk: Desk, key: str, path: str | None) -> Move[list[tuple[Hit, re.Pattern[str]]]]:
    """The lines that set it: in the file named, else in any settings file."""
    for name in _candidates(key):
        pattern = _pattern(name)
        coarse = r"[ _.-]?".join(re.escape(part) for part in re.split(r"[ _.-]+", name) if part)
        hits = yield from moves.search(desk, coarse, f"Looking for the setting {code(name)}.", path=path or ".", ignore_case=True, limit=200)  # fmt: skip
        found = [
            (hit, pattern)
            for hit in hits
            if (path or ending(hit.path) in _ENDINGS or hit.path.rsplit("/", 1)[-1].startswith(".env"))
            and pattern.search(hit.text)
            and (
                ending(hit.path) not in {"py", "js"}
                or re.match(rf"(?:(?:export )?(?:const|let|var) )?{_pattern(name).pattern}", hit.text, re.I)
            )
            and not re.match(r"#|//|;", hit.text.strip())
        ]
        settings = [pair for pair in found if ending(pair[0].path) not in {"py", "js"}]
        if settings or found:
            return settings or found
    return []


def _named_file(desk: Desk, path: str) -> Move[str | None]:
    """The file of that name; None when the words name none."""
    if not re.search(r"[./]", path):
        return None
    if "/" not in path and not (yield from moves.exists(desk, path, f"Is {code(path)} there?")):
        return (yield from moves.locate(desk, path, known_missing=True))
    return path


def _inner_switch(lines: list[str], number: int, at: re.Match[str]) -> tuple[int, re.Match[str]]:
    """The key "enabled" of a setting that is an object; the setting itself when there is none."""
    inner = re.compile(r"([\"']?(?:enabled?|active)[\"']?\s*[:=]\s*)" + _VALUE, re.I)
    for n in range(number, min(number + 8, len(lines))):
        found = inner.search(lines[n], at.end(1) if n == number else 0)
        if found:
            return n, found
    return number, at


def change_setting(desk: Desk, ask: Ask, match: re.Match[str]) -> Script:
    """ "turn off debug", "set the timeout to 30", "increase retries by 2": exactly one line is changed."""
    groups = match.groupdict()
    key = ask.plain(groups["key"]).strip().strip("\"'`")
    key = re.sub(
        r"^(?:the|its|my|our|this|value of|value of the|setting|option|key|flag)\s+(?:the )?",
        "",
        key,
        flags=re.I,
    )
    key = re.sub(r"(?:'s)? (?:value|setting|option|flag)$", "", key, flags=re.I).strip()
    where = ask.plain(groups.get("where") or "").strip()
    path = yield from _named_file(desk, where)
    if (
        path is None
        and where
        and not re.search(
            r"\b(?:config\w*|settings?|preferences|project|folder|code|file|options)\b", where, re.I
        )
    ):
        raise CannotDo(f"Not changed: which file is meant by {code(where)}? Name it with its path.")
    found = yield from _lines(desk, key, path)
    if (
        path is None
        and len({(h.path, h.line) for h, _ in found}) > 1
        and desk.it() in {h.path for h, _ in found}
    ):
        found = [(h, p) for h, p in found if h.path == desk.it()]
    if key.lower() == "version" and path is None:
        main = [
            (h, p)
            for h, p in found
            if h.path in {"pyproject.toml", "package.json", "Cargo.toml", "setup.cfg"}
            and re.match(r"[\"']?version", h.text)
        ]
        found = main or found
    places = list({(h.path, h.line): (h, p) for h, p in found}.values())
    if not places:
        raise CannotDo(
            f"Not changed: no line of {link(path) if path else 'a settings file here'} sets {code(key)}."
        )
    if len(places) > 1:
        listed = bullets(f"{link(h.path, h.line)} {code(clip(h.text, 80))}" for h, _ in places[:8])
        raise CannotDo(
            f"Not changed: {len(places)} lines set {code(key)}. Name the file, for example “set {key} to … in {places[0][0].path}”:\n\n{listed}"
        )
    hit, pattern = places[0]
    text = yield from moves.full(desk, hit.path)
    number = hit.line - 1
    old = text.lines[number]
    at = pattern.search(old)
    if at is None:
        raise CannotDo(f"Not changed: {link(hit.path, hit.line)} reads differently now.")
    if at.group(2).lstrip().startswith("{") and match.groupdict().get("switch"):
        number, at = _inner_switch(text.lines, number, at)
        old = text.lines[number]
    new = new_value(at.group(2), ask, match, ending(hit.path))
    line = old[: at.start(2)] + new + old[at.end(2) :]
    if line == old:
        return f"{link(hit.path, number + 1)} is so already: {code(old.strip())}. Nothing changed."
    yield from put_lines(desk, text, [*text.lines[:number], line, *text.lines[number + 1 :]])
    return f"{link(text.path, number + 1)} was {code(clip(old.strip(), 100))} and is now {code(clip(line.strip(), 100))}."


def new_value(old: str, ask: Ask, match: re.Match[str], kind: str) -> str:
    """The value wanted, written as the old one is. Raises CannotDo when it cannot be."""
    groups = match.groupdict()
    quote = old[:1] if old[:1] in "\"'" else ""
    bare = old.strip("\"'")
    switch = groups.get("switch") or groups.get("switch2")
    if switch:
        on = switch.lower() in {"on", "enable", "activate", "allow"}
        style = _ON.get(bare.lower())
        if style is None:
            raise CannotDo(f"Not changed: its value is {code(old)}, which is neither on nor off.")
        word = style[0 if on else 1]
        word = (
            word.capitalize()
            if bare[:1].isupper() and not bare.isupper()
            else word.upper()
            if bare.isupper()
            else word
        )
        return f"{quote}{word}{quote}"
    if groups.get("step"):
        number = re.fullmatch(r"-?\d+(?:\.\d+)?", bare)
        if number is None:
            raise CannotDo(f"Not changed: its value is {code(old)}, which is not a number.")
        step = float(groups["step"]) * (
            -1 if re.match(r"decrease|lower|reduce|shorten", match.group(), re.I) else 1
        )
        return f"{quote}{float(bare) + step:.12g}{quote}"
    part = groups.get("part")
    if part or "value" not in groups:
        numbers = re.fullmatch(r"(\d+)\.(\d+)(?:\.(\d+))?", bare)
        if numbers is None:
            raise CannotDo(f"Not changed: {code(old)} is no version of the form 1.2.3. Name the new one.")
        major, minor, patch = (int(n or 0) for n in numbers.groups())
        new = {"major": f"{major + 1}.0.0", "minor": f"{major}.{minor + 1}.0"}.get(
            (part or "patch").lower(), f"{major}.{minor}.{patch + 1}"
        )
        return f"{quote}{new}{quote}"
    value = ask.plain(groups["value"]).strip()
    quoted = bool(re.match(r"[\"'`‹]", groups["value"])) and "‹q" in groups["value"]
    value = value.strip("\"'`")
    style = _ON.get(bare.lower())
    if style and value.lower() in _ON and not bare.isdigit():
        on = value.lower() == _ON[value.lower()][0]
        word = style[0 if on else 1]
        return f"{quote}{word.capitalize() if bare[:1].isupper() else word}{quote}"
    if quote:
        return f"{quote}{value}{quote}"
    literal = (
        re.fullmatch(r"-?\d+(?:\.\d+)?|true|false|null|True|False|None|\[.*\]|\{.*\}", value) is not None
    )
    if kind in {"json", "toml", "py", "js"} and (quoted or not literal):
        return f'"{value}"'
    return value


_WHERE = rf"(?: (?:in|inside|of|from) (?:the |my )?(?:file )?(?P<where>{P}|[\w-]+(?: (?:config\w*|settings|file))?))?"
_KEY = rf"(?P<key>{Q}|(?!it\b|line\b|lines\b|everything\b|the file\b)[\w.-]+(?: [\w.-]+){{0,4}}?)"


def _no_other_matter(ask: Ask) -> bool:
    return not ask.has(
        r"\b(?:line \d|title|heading|branch|function|class|variable|word|text|permission|executable|files?\b(?! ‹p)|column|row|spaces|uppercase|lowercase|colou?r of|every|all)\b"
    )


RULES: list[Rule] = [
    rule(rf"(?:turn|switch) (?P<switch>on|off) (?:the )?{_KEY}{_WHERE}$", change_setting, _no_other_matter),
    rule(rf"(?:turn|switch|set) (?:the )?{_KEY} (?:to )?(?P<switch>on|off){_WHERE}$", change_setting, _no_other_matter),
    rule(rf"(?P<switch>enable|disable|activate|deactivate) (?:the )?{_KEY}{_WHERE}$", change_setting, _no_other_matter),
    rule(rf"(?:increase|decrease|raise|lower|reduce|bump|extend|shorten) (?:the )?{_KEY} by (?P<step>\d+(?:\.\d+)?){_WHERE}$", change_setting, _no_other_matter),
    rule(rf"(?:set|change|update|switch|make|increase|decrease|raise|lower|reduce|configure|put|adjust|use) (?:the )?(?:value of |setting |option |key )*{_KEY} ?{_WHERE}(?: to be| to|=|:)(?: be)? (?P<value>{Q}|[^\s‹]+)(?: (?:seconds|minutes|secs?|ms|instead|now))*$", change_setting, _no_other_matter),
    rule(rf"(?:set|change|update|bump|switch|make|increase|decrease|raise|lower|reduce|configure|put|adjust) (?:the )?(?:value of |setting |option |key )*{_KEY} (?:to be|to|=|:|from \S+ to) ?(?P<value>{Q}|[^\s‹]+){_WHERE}$", change_setting, _no_other_matter),
    rule(rf"(?:bump|increase|increment|raise) (?:the |its )?(?:(?P<part>patch|minor|major) )?(?P<key>version)(?: number)?{_WHERE}$", change_setting),
    rule(rf"in (?:the )?(?P<where>{P}),? (?:set|change|update|switch) (?:the )?{_KEY} (?:to|=) ?(?P<value>{Q}|\S+)$", change_setting, _no_other_matter),
]  # fmt: skip
