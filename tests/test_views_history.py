"""What happened in a session, and a branch as one page for paper."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from sessions_app import entry_log
from sessions_app.fragments import happened as happened_module
from sessions_app.fragments.happened import happened
from sessions_app.models import CompactionAttempt, Entry, Run, Session

HTMX = {"HX-Request": "true"}


def say(session: Session, role: str, words: str, **fields: Any) -> Entry:
    run = fields.pop("run", None)
    message = {"role": role, "content": [{"type": "text", "text": words}], "timestamp": 1, **fields}
    return entry_log.append(session.pk, {"type": "message", "message": message}, run=run)


def a_run(session: Session, author: User, status: str = Run.Status.COMPLETED, **fields: Any) -> Run:
    now = timezone.now()
    begun = now - timedelta(seconds=14)
    return Run.objects.create(
        session=session,
        author=author,
        status=status,
        enqueued_at=begun,
        started_at=begun,
        ended_at=now,
        **fields,
    )


def rows(session: Session, user: User) -> list[tuple[str, str]]:
    return [(row.words, row.facts) for row in happened(session, user).rows]


def test_a_run_tells_who_asked_what_and_what_it_took(session: Session, alice: User, bob: User) -> None:
    Session.objects.filter(pk=session.pk).update(created_at=timezone.now() - timedelta(hours=1))
    session.refresh_from_db()
    say(session, "user", "Fix the <b>clock</b>")
    run = a_run(session, bob, turns=3, tokens=1200, cost=0.25)
    say(session, "assistant", "Done", run=run, stopReason="stop")
    told = rows(session, alice)
    assert ("Finished", "3 turns · 14 s · 1.2k tokens · $0.25") in told
    assert ("Bob asked: “Fix the <b>clock</b>”", "Demo model") in told
    assert told[-1][0] == "Begun by you"


def test_losses_stops_retries_and_compactions_are_told(session: Session, alice: User, bob: User) -> None:
    say(session, "user", "Go")
    lost = a_run(session, alice, Run.Status.INTERRUPTED, error="The worker went away.")
    say(session, "assistant", "", run=lost, stopReason="error", errorMessage="529")
    a_run(session, alice, Run.Status.STOPPED, stop_author=bob)
    compacting = a_run(session, alice, kind=Run.Kind.COMPACTION)
    CompactionAttempt.objects.create(
        session=session, run=compacting, reason="manual", provider="demo", model="demo", settings="{}",
        tokens_before=141_200, tokens_after=23_400, outcome=CompactionAttempt.Outcome.COMPACTED, duration_ms=9000,
    )  # fmt: skip
    entry_log.append(session.pk, {"type": "session_info", "name": "Clocks"}, author=bob)
    told = dict(rows(session, alice))
    assert told["Interrupted: its worker was lost"].endswith(
        "The worker went away. · 1 request failed and tried again"
    )
    assert "Stopped by bob" in told
    assert told["Compacted"] == "by hand · 141.2k → 23.4k tokens · 9 s"
    assert told["Named “Clocks”"] == "bob"


def test_older_runs_come_a_page_at_a_time(
    alice_client: Client, session: Session, alice: User, monkeypatch: Any
) -> None:
    monkeypatch.setattr(happened_module, "MOST_RUNS", 2)
    for _ in range(5):
        a_run(session, alice)
    address = reverse("session_history", args=[session.key])
    page = alice_client.get(address).content.decode()
    assert page.count(">Finished</span>") == 2
    assert "Begun by you" not in page
    pks = list(Run.objects.order_by("-pk").values_list("pk", flat=True))
    assert f"?before={pks[1]}" in page
    last = alice_client.get(address, {"before": pks[3]}, headers=HTMX).content.decode()
    assert last.count(">Finished</span>") == 1
    assert "Begun by you" in last
    assert "Older" not in last


def test_the_printed_branch_is_complete_and_unfolded(
    alice_client: Client, session: Session, monkeypatch: Any
) -> None:
    from sessions_app.views import history

    monkeypatch.setattr(history, "PRINTED_AT_ONCE", 10)
    thought = {"type": "thinking", "thinking": "Deep in thought about <details>"}
    for number in range(25):
        say(session, "user", f"Question number {number}.")
    say(
        session,
        "assistant",
        "",
        content=[thought, {"type": "text", "text": "long " * 10_000}],
        stopReason="stop",
    )
    response = alice_client.get(reverse("session_print", args=[session.key]))
    page = response.getvalue().decode()
    places = [page.index(f"Question number {number}.") for number in range(25)]
    assert places == sorted(places)
    assert page.count('id="entry-') == 26
    assert page.count("long") >= 10_000
    assert '<details open class="think">' in page
    assert "about &lt;details&gt;" in page
