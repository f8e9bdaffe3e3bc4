"""Compactions, attempts and branch summaries from before there were reviews get theirs, with what can be told."""

from __future__ import annotations

import json

from django.db import migrations

SUMMARIES = ["compaction", "branch_summary"]
RISKS = {"failed": 60, "not_smaller": 35, "refused": 30, "cancelled": 5}
CARRIED = "\n\n<carried>\n"


def record(apps, schema_editor):
    """Attempts first: they know more than the entry they became."""
    names = ("CompactionAttempt", "CompactionReview", "Entry", "SummaryVersion")
    Attempt, Review, Entry, Version = (apps.get_model("sessions_app", name) for name in names)
    for attempt in Attempt.objects.filter(review=None).exclude(outcome="started").iterator(chunk_size=200):
        review = Review.objects.create(
            session_id=attempt.session_id,
            attempt=attempt,
            entry_id=attempt.entry_id,
            reason=attempt.reason,
            outcome=attempt.outcome,
            tokens_before=attempt.tokens_before,
            tokens_after=attempt.tokens_after,
            cost=_cost(attempt.usage),
            risk=RISKS.get(attempt.outcome, 0),
            created_at=attempt.created_at,
        )
        if attempt.entry is not None:
            _first_version(apps, review, attempt.entry, provider=attempt.provider, model=attempt.model)
    known = Version.objects.exclude(entry=None).values("entry")
    older = Entry.objects.filter(kind__in=SUMMARIES, review=None).exclude(pk__in=known)
    for entry in older.order_by("pk").iterator(chunk_size=200):
        is_branch = entry.kind == "branch_summary"
        review = Review.objects.create(
            session_id=entry.session_id,
            entry=entry,
            kind=entry.kind,
            reason="branch" if is_branch else "imported" if entry.run_id is None else "manual",
            outcome="compacted",
            cost=_cost(json.dumps(_record(entry).get("usage"))),
            created_at=entry.created_at,
        )
        _first_version(apps, review, entry)


def _first_version(apps, review, entry, **facts):
    fields = _record(entry)
    summary = _storable(fields.get("summary"))
    carried = CARRIED + summary.partition(CARRIED)[2] if summary.rstrip().endswith("</carried>") else ""
    version = apps.get_model("sessions_app", "SummaryVersion").objects.create(
        review=review,
        number=1,
        entry=entry,
        author_id=entry.author_id,
        summary=summary[: len(summary) - len(carried)],
        carried=carried,
        details=json.dumps(fields["details"]) if fields.get("details") is not None else "",
        first_kept=_storable(fields.get("firstKeptEntryId"))[:200],
        created_at=entry.created_at,
        **facts,
    )
    # The worker's sweep finds it and computes the report.
    apps.get_model("sessions_app", "QualityReport").objects.create(version=version)


def _record(entry):
    try:
        found = json.loads(entry.payload)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _cost(usage):
    try:
        cost = json.loads(usage or "null")["cost"]["total"]
        return max(0.0, min(float(cost), 1e9))
    except (ValueError, TypeError, KeyError):
        return 0.0


def _storable(text):
    words = text if isinstance(text, str) else ""
    return words.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8")


class Migration(migrations.Migration):

    dependencies = [
        ("sessions_app", "0015_words_for_the_next_turn"),
    ]

    operations = [
        migrations.RunPython(record, migrations.RunPython.noop),
    ]
