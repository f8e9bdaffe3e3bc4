"""The job that summarises a folder: a listing, the main files, half a page."""

from __future__ import annotations

import json
import re
import tomllib
from collections import Counter
from typing import Any

from sessions_app.agent.providers.demo import moves
from sessions_app.agent.providers.demo.desk import Desk, Rule, rule
from sessions_app.agent.providers.demo.jobs.looking import folder_of
from sessions_app.agent.providers.demo.outlines import first_paragraph, outline
from sessions_app.agent.providers.demo.phrases import Ask
from sessions_app.agent.providers.demo.script import Call, CannotDo, Script
from sessions_app.agent.providers.demo.writing import bullets, clip, code, count, ending, language, link

MANIFESTS = ("pyproject.toml", "package.json", "Cargo.toml", "go.mod", "setup.cfg", "requirements.txt", "composer.json", "pom.xml", "Gemfile", "Makefile", "Dockerfile", "compose.yaml", "docker-compose.yml")  # fmt: skip
_ENTRIES = ("main.py", "app.py", "manage.py", "cli.py", "__main__.py", "index.js", "server.js", "app.js", "main.js", "index.ts", "main.ts", "main.go", "main.rs", "lib.rs", "index.html", "run.py", "main.c", "main.cpp", "__init__.py")  # fmt: skip


def summarise_folder(desk: Desk, ask: Ask, _match: re.Match[str]) -> Script:
    path = folder_of(ask)
    prefix = "" if path == "." else path.rstrip("/") + "/"
    names = yield from moves.listing(
        desk, path, f"Looking at {'the folder' if path == '.' else code(path)} first."
    )
    every = [
        p
        for p in (yield from moves.every_path(desk, "Now everything below it.", path=path))
        if not p.endswith("/")
    ]
    if not every and not names:
        return f"{'This folder' if path == '.' else code(path)} is empty. “create a hello world in Python and run it” puts something in."
    chosen = _main_files(names or [], every, prefix)
    outcomes = yield from moves.calls(
        [Call("read", {"path": p}) for p in chosen] if "read" in desk.tools else [],
        "Reading the main files." if chosen else "",
    )
    texts = {
        p: moves.file_text(p, outcome).text
        for p, outcome in zip(chosen, outcomes, strict=False)
        if not outcome.is_error
    }
    failed = [p for p, outcome in zip(chosen, outcomes, strict=False) if outcome.is_error]
    beginnings: dict[str, str] = {}
    others = [p for p in every if p not in texts and ending(p) in _TELLS][:_MOST_BEGINNINGS]
    if others and len(every) <= _MOST_BEGINNINGS and "bash" in desk.tools:
        outcome = yield from moves.shell(
            desk,
            "head -n 6 -v -- " + " ".join(moves.quoted(p) for p in others),
            "And how the others begin.",
            check=False,
        )
        pieces = re.split(r"(?m)^==> (.+) <==$\n?", moves.output(outcome))
        beginnings = dict(zip((p.removeprefix("./") for p in pieces[1::2]), pieces[2::2], strict=False))
    return _half_page(path, prefix, names or [], every, {**texts, **beginnings}, failed)


_TELLS = frozenset(
    {
        "md",
        "txt",
        "csv",
        "tsv",
        "json",
        "html",
        "py",
        "js",
        "ts",
        "sh",
        "toml",
        "ini",
        "yml",
        "yaml",
        "log",
        "css",
        "sql",
        "",
    }
)
_MOST_BEGINNINGS = 30


def _about(path: str, text: str) -> str:
    """What a file is, in a line: its title and first sentence, its own description, or its columns."""
    kind = ending(path)
    first = next((line.strip() for line in text.split("\n") if line.strip()), "")
    if kind in {"csv", "tsv"}:
        columns = [clip(c.strip(), 24) for c in re.split(r"[,;\t]", first)[:8]]
        return f"a table with {', '.join(columns)}"
    seen = outline(path, text)
    title = seen.headings[0][1] if seen.headings else ""
    if kind in {"html", "htm"}:
        found = re.search(r"<title>(.*?)</title>|<h1[^>]*>(.*?)</h1>", text, re.S)
        plain = re.sub(r"<[^>]+>", "", next(g for g in found.groups() if g)) if found else ""
        return f"page “{clip(plain, 60)}”" if plain else "a page"
    said = clip(seen.about, 110) if seen.about else ""
    if kind in {"md", "txt", ""}:
        return (
            f"“{clip(title, 60)}”" + (f": {said}" if said and said != title else "")
            if title
            else said or clip(first, 90)
        )
    return said


def _main_files(names: list[str], every: list[str], prefix: str) -> list[str]:
    """README, the manifests, and the files a program usually starts in: at most five."""
    files = [name for name in names if not name.endswith("/")]
    readme = sorted(
        (f for f in files if f.lower().startswith("readme")), key=lambda f: (not f.lower().endswith(".md"), f)
    )[:1]
    manifests = [m for m in MANIFESTS if m in files][:2]
    entries = sorted(
        (p for p in every if p.rsplit("/", 1)[-1] in _ENTRIES and "test" not in p),
        key=lambda p: (p.count("/"), _ENTRIES.index(p.rsplit("/", 1)[-1]), p),
    )
    chosen = [prefix + f for f in [*readme, *manifests]] + [
        p for p in entries if not p.endswith("__init__.py")
    ]
    if len(chosen) < 3:
        chosen += [p for p in every if language(p) and ending(p) not in {"json", "lock"} and p not in chosen]
    return list(dict.fromkeys(chosen))[: max(3, min(5, len(readme) + len(manifests) + 2))]


def _half_page(
    path: str, prefix: str, names: list[str], every: list[str], texts: dict[str, str], failed: list[str]
) -> str:
    parts: list[str] = []
    readme = next((p for p in texts if p.rsplit("/", 1)[-1].lower().startswith("readme")), None)
    manifest = next((p for p in texts if p.rsplit("/", 1)[-1] in MANIFESTS), None)
    facts = manifest_facts(manifest, texts[manifest]) if manifest else {}
    title = str(facts.get("name") or "") or ("This folder" if path == "." else path)
    about = str(facts.get("description") or "")
    said = first_paragraph(texts[readme]) if readme else ""
    parts.append(f"**{title}**" + (f" — {clip(about, 200)}" if about else ""))
    if said and said != about:
        parts.append(f"{link(readme or '')} says: “{said}”")
    kinds = Counter(language(p) or "other" for p in every)
    shown = kinds.most_common(5 if len(kinds) > 6 else 6)
    mix = ", ".join(f"{count(number, kind + ' file')}" for kind, number in shown)
    rest = kinds.most_common()[len(shown) :]
    if rest:
        mix += f", {sum(n for _, n in rest)} more ({', '.join(f'{n} {kind}' for kind, n in rest)})"
    loose = sum("/" not in p.removeprefix(prefix) for p in every)
    top = Counter(
        p.removeprefix(prefix).split("/", 1)[0] + "/" for p in every if "/" in p.removeprefix(prefix)
    )
    parts.append(f"{count(len(every), 'file')}: {mix}.")
    listed = [f"{link(prefix + name)} {count(number, 'file')}" for name, number in top.most_common(6)]
    others = top.most_common()[6:]
    if others:
        listed.append(f"{count(len(others), 'other folder')} with {count(sum(n for _, n in others), 'file')}")
    if loose and listed:
        listed.append(f"{count(loose, 'file')} beside them")
    folders = bullets(listed)
    if folders:
        parts.append(f"**Folders**\n\n{folders}")
    mains = []
    for p, text in texts.items():
        if p in {readme, manifest}:
            continue
        words = _about(p, text)
        defined = ", ".join(code(item.name.split("(")[0]) for item in outline(p, text).items[:4])
        tail = f"; defines {defined}" if defined and language(p) not in {"Markdown", "CSS"} else ""
        mains.append(f"{link(p)}{' — ' + words if words else ''}{tail}")
    if mains:
        parts.append("**What the files are**\n\n" + bullets(mains))
    how = _how_to(facts, names, texts.get(readme or "", ""))
    if how:
        parts.append("**Running it**\n\n" + bullets(how))
    tests = [
        p for p in every if re.search(r"(?:^|/)(?:tests?/|test_|__tests__/)|[._]test\.|\.spec\.|_test\.", p)
    ]
    if tests:
        parts.append(f"Tests: {count(len(tests), 'file')}, first {link(tests[0])}.")
    if failed:
        parts.append("Could not be read: " + ", ".join(link(p) for p in failed) + ".")
    parts.append("Put together from what the files say about themselves, not from understanding them.")
    return "\n\n".join(parts)


def manifest_facts(path: str, text: str) -> dict[str, Any]:
    """name, description, dependencies, scripts from a manifest, as far as it has them."""
    name = path.rsplit("/", 1)[-1]
    try:
        if name.endswith(".toml"):
            data = tomllib.loads(text)
            project = data.get("project") or data.get("package") or data.get("tool", {}).get("poetry") or {}
            wanted = project.get("dependencies") or data.get("dependencies") or []
            return {
                "name": project.get("name"), "description": project.get("description"), "dependencies": list(wanted),
                "development": [d for group in (project.get("optional-dependencies") or {}).values() for d in group] + [d for group in (data.get("dependency-groups") or {}).values() for d in group if isinstance(d, str)] + list(data.get("dev-dependencies") or {}),
                "scripts": project.get("scripts") or {},
            }  # fmt: skip
        if name.endswith(".json"):
            data = json.loads(text)
            return {
                "name": data.get("name"), "description": data.get("description"), "scripts": data.get("scripts") or {}, "npm": True,
                "dependencies": [f"{k} {v}" for k, v in (data.get("dependencies") or data.get("require") or {}).items()],
                "development": [f"{k} {v}" for k, v in (data.get("devDependencies") or {}).items()],
            }  # fmt: skip
    except (tomllib.TOMLDecodeError, json.JSONDecodeError, AttributeError, TypeError):
        return {}
    if name == "go.mod":
        module = re.search(r"^module (\S+)", text, re.M)
        return {
            "name": module.group(1) if module else None,
            "dependencies": re.findall(r"^\s+(\S+ v\S+)(?!.*indirect)", text, re.M),
        }
    if name.startswith("requirements"):
        return {
            "dependencies": [
                line.split("#")[0].strip() for line in text.split("\n") if re.match(r"[A-Za-z]", line)
            ]
        }
    if name == "Gemfile":
        return {"dependencies": re.findall(r"^\s*gem ['\"]([^'\"]+)", text, re.M)}
    return {}


def _how_to(facts: dict[str, Any], names: list[str], readme: str) -> list[str]:
    found = [
        f"{code('npm run ' + name)} → {code(clip(str(command), 60))}"
        for name, command in list((facts.get("scripts") or {}).items())[:4]
        if facts.get("npm")
    ]
    found += [
        f"command {code(name)} → {code(str(target))}"
        for name, target in list((facts.get("scripts") or {}).items())[:3]
        if not facts.get("npm")
    ]
    commands = re.findall(r"```(?:sh|bash|shell|console|text)?\n(.*?)```", readme, re.S)
    if commands:
        lines = [
            line.strip().removeprefix("$ ")
            for line in commands[0].strip().split("\n")
            if line.strip() and not line.lstrip().startswith("#")
        ][:3]
        found += [f"{code(line)} (from the README)" for line in lines]
    if "Makefile" in names:
        found.append(f"{link('Makefile')} has targets: “list the targets in Makefile” reads them")
    return found[:6]


def list_dependencies(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    names = (yield from moves.listing(desk, ".", "Looking for a manifest.")) or []
    found = [
        name for name in names if name in MANIFESTS[:9] or re.fullmatch(r"requirements[\w.-]*\.txt", name)
    ]
    if not found:
        every = yield from moves.every_path(desk, "None at the top. Looking below.")
        found = [
            p
            for p in every
            if p.rsplit("/", 1)[-1]
            in {"pyproject.toml", "package.json", "Cargo.toml", "go.mod", "requirements.txt", "base.txt"}
        ][:3]
    if not found:
        raise CannotDo(
            "No dependency list: neither pyproject.toml, package.json, Cargo.toml, go.mod nor requirements.txt is here."
        )
    need_read = moves.need(desk, "read", what="reading the manifest")
    outcomes = yield from moves.calls(
        [Call(need_read, {"path": p}) for p in found[:3]],
        "Reading " + ", ".join(code(p) for p in found[:3]) + ".",
    )
    parts = []
    for p, outcome in zip(found[:3], outcomes, strict=True):
        if outcome.is_error:
            parts.append(f"{link(p)} could not be read: {clip(outcome.text, 200)}")
            continue
        facts = manifest_facts(p, moves.file_text(p, outcome).text)
        needed, development = facts.get("dependencies") or [], facts.get("development") or []
        parts.append(
            f"{link(p)} names {count(len(needed), 'dependency', 'dependencies')}"
            + (f":\n\n{bullets(code(str(d)) for d in needed[:40])}" if needed else ".")
        )
        if development:
            parts.append(
                f"For development ({len(development)}): "
                + ", ".join(code(str(d)) for d in development[:30])
                + "."
            )
    return "\n\n".join(parts)


def show_license(desk: Desk, _ask: Ask, _match: re.Match[str]) -> Script:
    names = (yield from moves.listing(desk, ".", "Looking for a licence file.")) or []
    found = next((n for n in names if re.match(r"(?:licen[sc]e|copying)", n, re.I)), None)
    if found is not None:
        text = yield from moves.read(desk, found, f"Reading {code(found)}.", limit=30)
        first = next((line.strip() for line in (text.lines if text else []) if line.strip()), "")
        return f"{link(found)} begins: “{clip(first, 120)}”"
    hits = yield from moves.search(
        desk, r"licen[cs]e", "No licence file. Do other files name one?", ignore_case=True, limit=20
    )
    if not hits:
        return "No licence file, and no file names a licence."
    return "No licence file. Lines that name one:\n\n" + bullets(
        f"{link(h.path, h.line)} {code(clip(h.text, 90))}" for h in hits[:8]
    )


_PROJECT = r"(?:this |the |my |our |current |whole |entire )*(?:folder|project|directory|repo|repository|codebase|code base|code|app|application|workspace|package|program|software|place|thing)"

#: A folder that somebody sees for the first time is told about, not only listed.
EARLY_RULES: list[Rule] = [
    rule(
        r"(?:(?:have|take) a (?:good |quick |closer )?look(?: around| round)?|look (?:a)?round)(?: (?:here|in here|this folder|the folder|in this folder))?$|(?:tell me |show me |explain |and )?what(?:'s| is| do we have| have we got| have i got) (?:all )?in (?:here|there)$",
        summarise_folder,
    ),
]
RULES: list[Rule] = [
    rule(r"(?:.*\b)?(?:dependenc(?:y|ies)|third.party (?:packages|libraries|modules)|(?:packages|libraries|modules|requirements) (?:does|do|is|are|needed|used|required|this)|(?:list|show|what are)(?: me)?(?: the| all)* (?:packages|libraries|requirements))\b(?!.*\b(?:install|update|upgrade|add|remove|outdated)\b).*", list_dependencies),
    rule(rf"(?:summari[sz]e|summary of|describe|explain|overview of|introduce|analy[sz]e|understand|explore|inspect|scan|sum up|tl;?dr|study|walk me through|get (?:an )?overview of|get familiar with|familiari[sz]e yourself with|look (?:at|through|around)|read through|tell (?:me|us) (?:more )?(?:about|what)|give (?:me |us )?(?:a |an )?(?:\w+ )?(?:\w+ )?(?:summary|overview|description|idea|tour|explanation|introduction|intro)(?: of| about| to)?|write (?:me )?(?:a |an )?(?:\w+ )?(?:summary|overview) (?:of|about)) {_PROJECT}\b.*", summarise_folder),
    rule(rf"(?:what(?:'s| is| does| do| are)?|how does|tell me what|what kind of|what sort of|which kind of|why does)\b.*?{_PROJECT}\b(?: is| does)?(?: all)?(?: (?:about|do|for|exactly|here|work|mean|good for|this|is this|in|exist|actually))*$", summarise_folder),
    rule(r"(?:what|which|is|show|tell|under|find|check)\b.*\blicen[sc]e\b.*|licen[sc]e$", show_license),
    rule(rf"how (?:do|can|to|would|should|is|are)\b.*\b(?:run|start|use|install|build|launch|set ?up|execute|started)\b.*(?:this|it|{_PROJECT}|started)?$", summarise_folder),
    rule(r"(?:summari[sz]e|describe|explain|overview|summary|tl;?dr)(?: (?:it all|everything|all of (?:this|it)|all files|all the files|(?:the |this )?files(?: here| in here)?))?$", summarise_folder),
    rule(r"(?:summari[sz]e|describe|explain|give (?:me )?an? (?:overview|summary) of) (?:the |my )?(?:‹p\d+›|[\w-]+)/? ?(?:folder|directory|dir|package|module|subfolder)$", summarise_folder),
    rule(r"(?:summari[sz]e|describe|overview of) (?:the )?(?:src|tests?|docs?|lib|app|source)$", summarise_folder),
    rule(rf"(?:give|show|i want|i need|get)\b.*\b(?:rundown|run-?through|walk-?through|overview|introduction|orientation|briefing)\b.*|what(?:'s| is) (?:going on|happening) in {_PROJECT}$", summarise_folder),
    rule(r"what (?:it|this|that)(?:'s| is)?(?: all)? (?:about|for)$|(?:what|which) (?:files?|parts?) (?:is|are|seem|look)?\b.*\b(?:important|main|relevant|interesting|central|key|worth reading)\b.*|where (?:should|do|can) i (?:start|begin)\b.*", summarise_folder),
    rule(rf"(?:give|tell|show)(?: me| us)? (?:the |a |an )?(?:\w+ )?(?:gist|tl;?dr|big picture|lowdown|idea|essence|summary|elevator pitch)(?: of (?:it|this|{_PROJECT}|everything|all this))?$|(?:the )?(?:gist|big picture|essence)(?: of (?:it|this|{_PROJECT}))?$|what (?:it|this|this thing|that)(?: all)? does$", summarise_folder),
    rule(r"(?:what(?:'s| is) (?:this|all this|going on here|the point of this)|what do we have here|what am i looking at)(?: about| for)?$", summarise_folder),
]  # fmt: skip
