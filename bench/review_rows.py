"""The product's side of bench.reviews, in a process of its own with the server's environment.

    python -m bench.review_rows seed | report REVIEW | list COUNT

Each prints one line of JSON.
"""

from __future__ import annotations

import itertools
import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sessions_app.models import CompactionReview, Session

Json = dict[str, Any]

MESSAGES, TAIL = 1_000, 40
WORDS = [
    "the",
    "a",
    "to",
    "of",
    "lock",
    "table",
    "query",
    "index",
    "order",
    "grid",
    "berth",
    "clock",
    "change",
    "fix",
    "test",
    "harbour",
    "zone",
    "time",
    "value",
    "read",
    "file",
    "check",
    "run",
    "build",
    "error",
    "log",
]
TIMES = 7


def conversation(messages: int = MESSAGES) -> list[Json]:
    """Four messages a turn, about 2.6 KB."""
    chance = random.Random(1)

    def said(count: int) -> str:
        return " ".join(chance.choice(WORDS) for _ in range(count))

    found: list[Json] = []
    for turn in range(messages // 4):
        ask = f"Please look at src/mod_{turn}/file_{turn}.py and never change value_{turn}. {said(40)}"
        arguments = {"command": f"pytest tests/test_{turn}.py"}
        call = {"type": "toolCall", "id": f"c{turn}", "name": "bash", "arguments": arguments}
        words = {
            "type": "text",
            "text": f"I decided on handle_{turn}() because it takes {turn} ms. {said(80)}",
        }
        result = {"type": "text", "text": f"E ValueError: bad value {turn}\n{said(190)}"}
        found += [
            {"role": "user", "content": ask},
            {"role": "assistant", "content": [words, call]},
            {"role": "toolResult", "toolCallId": f"c{turn}", "toolName": "bash", "content": [result]},
            {"role": "assistant", "content": [{"type": "text", "text": said(140)}]},
        ]
    return found


def summary(messages: int = MESSAGES) -> str:
    lines = [
        f"- mod {turn} takes {turn} ms, see src/mod_{turn}/file_{turn}.py"
        for turn in range(0, messages // 4, 5)
    ]
    return "## Goal\n" + "\n".join(lines)


# --- steps ---


def seed() -> Json:
    """A session whose compaction replaces the range, edited once; the review's id and the session's key."""
    from django.contrib.auth.models import User

    from sessions_app import entry_log
    from sessions_app.models import CompactionReview, Session, Workspace
    from sessions_app.runner import review_records
    from sessions_app.services import reviews

    owner = User.objects.earliest("pk")
    session = Session.objects.create(
        workspace=Workspace.objects.earliest("pk"), owner=owner, file_id="reviews", title="A long range"
    )
    kept = ""
    for place, message in enumerate(conversation(MESSAGES + TAIL)):
        entry = entry_log.append(session.pk, {"type": "message", "message": {**message, "timestamp": place}})
        kept = entry.entry_id if place == MESSAGES else kept
    fields = {"type": "compaction", "summary": summary(), "firstKeptEntryId": kept, "tokensBefore": 1}
    entry_log.append(session.pk, fields)
    session.refresh_from_db()
    review_records.record_imported(session)
    review = CompactionReview.objects.get(session=session)
    reviews.edit(review=review, author=owner, summary=summary().replace("takes", "needs"))
    return {"review": review.pk, "key": str(session.key), "seq": review.entry.seq if review.entry else 0}


def report(review_pk: str) -> Json:
    """Milliseconds of CPU: what serialising the range costs a compaction, and what its report costs a worker."""
    from sessions_app.core.transcript import serialise
    from sessions_app.models import CompactionReview
    from sessions_app.runner import review_reports
    from sessions_app.services import reviews

    review = CompactionReview.objects.get(pk=review_pk)
    version = review.versions.get(number=1)
    messages = _replaced(review)
    text = serialise(messages)
    return {
        "messages": len(messages),
        "kb": len(text) / 1000,
        "things": len(review_reports.material_of(version).sources),
        "joined": best(lambda: serialise(messages)),
        "serialised": best(lambda: json.dumps({"prompt": serialise(_replaced(review))})),
        "reported": best(lambda: review_reports.compute(version.pk)),
        "typed": best(lambda: reviews.live_coverage(review=review, summary=summary())),
    }


def _replaced(review: CompactionReview) -> list[Json]:
    """The messages of the range, from the rows: read, parsed and projected, as a compaction has to."""
    from sessions_app.models import Entry
    from sessions_app.runner.compaction_plan import read_branch

    entry = Entry.objects.select_related("parent").get(review=review)
    assert entry.parent is not None
    branch = read_branch(entry.parent)
    kept = entry.record["firstKeptEntryId"]
    before = itertools.takewhile(lambda item: item.entry.id != kept, branch.context.entries)
    return [message for item in before for message in item.messages]


def many(count: str) -> Json:
    """So many reviews in all; for each list the queries and the milliseconds of one page."""
    from django.contrib.auth.models import User
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from sessions_app.models import CompactionReview, Session

    session = Session.objects.earliest("pk")
    CompactionReview.objects.bulk_create(
        _made_up(session, number) for number in range(int(count) - CompactionReview.objects.count())
    )
    client = Client(SERVER_NAME="127.0.0.1")
    client.force_login(User.objects.filter(is_superuser=True).earliest("pk"))
    found: Json = {}
    for name, address in LISTS.items():
        client.get(address)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            answer = client.get(address)
        if answer.status_code != 200:
            raise RuntimeError(f"{address}: {answer.status_code}")
        found[name] = [len(queries), best(lambda address=address: client.get(address))]  # type: ignore[misc]
    return found


LISTS = {
    "admin list": "/admin/sessions_app/compactionreview/",
    "reviews": "/reviews/",
    "admin dashboard": "/admin/sessions_app/compactionreview/dashboard/",
}


def _made_up(session: Session, number: int) -> CompactionReview:
    from django.utils import timezone

    from sessions_app.models import CompactionReview

    chance = random.Random(number)
    failed = chance.random() < 0.1
    before = chance.randrange(20_000, 180_000)
    return CompactionReview(
        session=session,
        reason=chance.choice(["manual", "threshold", "overflow"]),
        outcome="failed" if failed else "compacted",
        state=chance.choice(["unreviewed", "approved", "edited", "rejected"]),
        tokens_before=before,
        tokens_after=None if failed else before // 8,
        cost=chance.random(),
        coverage=None if failed else 100 * chance.random(),
        missing=None if failed else chance.randrange(30),
        own_missing=None if failed else chance.randrange(4),
        unsupported=0,
        risk=chance.randrange(100),
        created_at=timezone.now() - timedelta(minutes=4 * number),
    )


def best(work: Callable[[], object]) -> float:
    """Milliseconds of CPU, the median."""
    found = []
    for _ in range(TIMES):
        began = time.process_time()
        work()
        found.append((time.process_time() - began) * 1000)
    return statistics.median(found)


def main(arguments: list[str]) -> None:
    from agentweb.preparation import set_up_django

    set_up_django()
    steps: dict[str, Callable[..., Json]] = {"seed": seed, "report": report, "list": many}
    print(json.dumps(steps[arguments[0]](*arguments[1:])))


if __name__ == "__main__":
    main(sys.argv[1:])
