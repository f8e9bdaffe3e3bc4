"""A session file in which every value that a stranger may choose tries to become script, and the rest of a hostile server.

`python -m tests.hostile FOLDER` fills the server of AGENTWEB_DATA with it and prints the keys of two such sessions.
"""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Json = dict[str, Any]

# Each alerts, loads from or leads to evil.example, or sends a command if it ever becomes more than text.
PAYLOADS = (
    "<img src=x onerror=alert(1)>",
    '"><script>alert(2)</script>',
    "' onmouseover='alert(3)' x='",
    "</script><script>alert(4)</script>",
    "<svg/onload=alert(5)>",
    "[click](javascript:alert(6))",
    "[click](java\tscript:alert(7)) [c](&#x6A;avascript:alert(7)) [d](data:text/html,<script>alert(7)</script>)",
    "![pic](http://evil.example/p.png)",
    '<a href="http://evil.example/" hx-get="/logout/" data-hx-post="/s/new/" hx-trigger="load" hx-on:load="alert(8)">x</a>',
    "{{ 7|add:'7' }}{% include 'base.html' %}${alert(9)}",
    '<iframe srcdoc="<script>parent.alert(10)</script>"></iframe>',
    "<style>*{background:url(http://evil.example/css)}</style><link rel=stylesheet href=http://evil.example/s>",
    '<form action="http://evil.example/"><button autofocus>Send</button></form>',
    '<meta http-equiv="refresh" content="0;url=http://evil.example/"><base href="http://evil.example/">',
    "\u202eevil\u2066 \x1b]8;;http://evil.example\x07link\x1b]8;;\x07 \x00 \ud83d",
    "<details open ontoggle=alert(11)><summary>x</summary></details><input autofocus onfocus=alert(12)>",
    "<math><mtext></form><form><mglyph><style></math><img src onerror=alert(13)>",
    "```html\n<img src=x onerror=alert(14)>\n```\n<run-state data-state=failed data-active></run-state>",
    "<template><img src=x onerror=alert(15)></template><session-stream data-socket='ws://evil.example/'>",
    "../../etc/passwd\n/s/new/?x=<b onclick=alert(16)>",
)
ALL = "\n\n".join(PAYLOADS)
_short = itertools.cycle(PAYLOADS)


def short() -> str:
    """The next of them."""
    return next(_short)


def image() -> Json:
    return {"type": "image", "data": "iVBORw0KGgo=", "mimeType": f"image/{short()}"}


def usage() -> Json:
    return {"input": short(), "output": 3, "totalTokens": short(), "cost": {"total": short(), "input": 0.1}}


def calls() -> list[tuple[str, Json, Json]]:
    """Name, arguments and the details of the result: each tool we know, and some nobody does."""
    diff = f"--- {short()}\n+++ {short()}\n@@ -1,2 +1,2 @@\n {short()}\n-{short()}\n+{short()}\n"
    full = {"fullOutput": {"sha256": short(), "size": short()}, "truncation": {"content": short()}}
    return [
        ("bash", {"command": ALL, "timeout": short()}, {"exitCode": short(), **full}),
        ("read", {"path": short(), "offset": short(), "limit": short()}, {"fullOutputPath": short()}),
        ("edit", {"path": short(), "edits": [{"oldText": ALL, "newText": short()}]}, {"diff": diff}),
        ("write", {"path": short(), "content": ALL}, {"diff": diff}),
        ("grep", {"pattern": short(), "path": short(), "glob": short()}, {}),
        ("find", {"pattern": short(), "path": short()}, {}),
        ("ls", {"path": short()}, {}),
        (short(), {short(): {short(): [short()]}}, {short(): short()}),
        (short(), {short(): short()}, {"diff": short(), "exitCode": short()}),
    ]


def records() -> Iterator[Json]:
    """Without ids and parents."""
    for role in ("user", "system", "custom", "branchSummary", "compactionSummary", short()):
        yield message(role, content=ALL, summary=ALL, sections={short(): ALL}, customType=short())
        yield message(
            role, content=[{"type": "text", "text": ALL}, image(), {"type": short(), short(): short()}]
        )
    yield message("bashExecution", command=ALL, output=ALL, exitCode=short(), fullOutputPath=short())
    for name, arguments, details in calls():
        identity = short()
        call = {"type": "toolCall", "id": identity, "name": name, "arguments": arguments}
        thought = {"type": "thinking", "thinking": ALL, "thinkingSignature": short(), "durationMs": 1000}
        yield answer([thought, {"type": "text", "text": ALL}, call], "toolUse")
        content = [
            {"type": "text", "text": ALL},
            image(),
            {"type": "image", "blob": short(), "mimeType": short()},
        ]
        yield message("toolResult", toolCallId=identity, toolName=name, content=content, details=details,
                      isError=name == "read", durationMs=short())  # fmt: skip
    for reason in ("error", "aborted", "length", short()):
        note = {"type": "provider_error", "kind": short()}
        yield answer([{"type": "text", "text": short()}], reason, errorMessage=ALL, diagnostics=[note])
    yield {"type": "compaction", "summary": ALL, "tokensBefore": short(), "firstKeptEntryId": short(),
           "details": {"readFiles": [short()], "modifiedFiles": [short()]}}  # fmt: skip
    yield {"type": "branch_summary", "summary": ALL, "fromId": short(), "details": {"readFiles": [short()]}}
    yield {"type": "custom", "customType": short(), "data": {"text": ALL, short(): short()}}
    yield {"type": "custom", "customType": short(), "data": {short(): ALL}}
    for shown in (True, False):
        yield {
            "type": "custom_message",
            "customType": short(),
            "content": ALL,
            "display": shown,
            "details": short(),
        }
    yield {"type": "context_edit", "targetId": "e1", "replacement": {"content": ALL}}
    for odd in (PAYLOADS[14], 7, None, ["e1"], {"a": "e1"}, "", "e1\x00"):
        yield {"type": "context_edit", "targetId": odd, "replacement": None}
        yield {"type": "label", "targetId": odd, "label": odd}
        yield {"type": "branch_summary", "summary": odd, "fromId": odd, "details": odd}
        yield {"type": "session_info", "name": odd}
        yield message("toolResult", toolCallId=odd, toolName=odd, content=odd, details=odd, isError=odd)
        yield message(str(odd), content=[odd, {"type": odd}, {"type": "toolCall", "id": odd, "name": odd}])
        yield answer([{"type": "toolCall", "id": odd, "name": odd, "arguments": odd}], "toolUse", usage=odd)
    yield {"type": "model_change", "provider": short(), "modelId": short()}
    yield {"type": "thinking_level_change", "thinkingLevel": short()}
    yield {"type": "usage", "kind": short(), "note": short(), "usage": usage()}
    yield {"type": short(), short(): ALL}
    yield {"type": "label", "targetId": "e0", "label": short()}
    yield {"type": "session_info", "name": PAYLOADS[0] + PAYLOADS[1]}
    yield answer(
        [{"type": "toolCall", "id": short(), "name": short(), "arguments": {short(): short()}}], "toolUse"
    )


def message(role: str, **fields: Any) -> Json:
    return {"type": "message", "message": {"role": role, "timestamp": 1_793_000_000_000, **fields}}


def answer(content: list[Json], reason: str, **fields: Any) -> Json:
    return message("assistant", content=content, stopReason=reason, provider=short(), model=short(), api=short(),
                   responseId=short(), **{"usage": usage(), **fields})  # fmt: skip


def session_file(shift: int = 0) -> str:
    """One path with every kind, a branch at its beginning, ids that are hostile too.

    `shift` (0 to 19) puts another payload into each of the short fields.
    """
    global _short
    _short = itertools.cycle(PAYLOADS[shift:] + PAYLOADS[:shift])
    header = {"type": "session", "version": 3, "id": short(), "timestamp": "2026-11-30T12:00:00.000Z",
              "cwd": short(), short(): short()}  # fmt: skip
    lines, parent = [header], None
    for number, record in enumerate(records()):
        identity = f"e{number}" if number < 5 else f"e{number}{short()}"
        lines.append({**record, "id": identity, "parentId": parent, "timestamp": "2026-11-30T12:00:00.000Z"})
        parent = identity
    branch = message("user", content=ALL)
    lines.insert(4, {**branch, "id": "branch", "parentId": "e0", "timestamp": short()})
    return "".join(json.dumps(line) + "\n" for line in lines)


def main(folder: Path) -> None:
    import django

    django.setup()
    from django.contrib.auth.models import User

    from sessions_app import provider_keys
    from sessions_app.models import Membership, Workspace
    from sessions_app.services import sessions

    owner = User.objects.get()
    # Made past the checks of names: an administrator's pages do not have ours.
    stranger = User.objects.create(username=PAYLOADS[0], is_active=False)
    place = folder / "<img src=x onerror=alert(17)>"
    place.mkdir()
    (place / "AGENTS.md").write_text(ALL.encode(errors="replace").decode(), encoding="utf-8")
    (place / "<svg onload=alert(18)>").mkdir()
    workspace = Workspace.objects.create(name=PAYLOADS[1], path=str(place))
    for user in (owner, stranger):
        Membership.objects.create(workspace=workspace, user=user, role=Membership.Role.ADMIN)
    models = "\n".join(text.splitlines()[0] for text in PAYLOADS if "\x00" not in text)
    provider_keys.save_key(
        user=owner, provider="openai-compatible", base_url=PAYLOADS[1], models_offered=models
    )
    for _ in range(2):
        session = sessions.import_session_text(
            workspace=workspace, owner=owner, text=session_file(), name=PAYLOADS[4]
        )
        fill(session, owner, stranger)
        print(session.key)


def fill(session: Any, owner: Any, stranger: Any) -> None:
    """What a file can't hold: whose words they are, what waits, and how the last run failed."""
    from sessions_app.models import QueuedMessage, Run

    session.entries.filter(role="user").update(author=stranger)
    shown = ALL.replace("\x00", "").encode(errors="replace").decode()
    QueuedMessage.objects.create(session=session, author=stranger, text=shown, position=0)
    Run.objects.create(
        session=session, author=owner, status=Run.Status.FAILED, error=shown, error_kind=PAYLOADS[3][:30]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
