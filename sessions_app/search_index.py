"""The words of entries, kept where each database looks them up fast: FTS5 on SQLite, a text vector on PostgreSQL.

The index follows the rows and is never the truth: a watermark per session says how far it has been read, so
appending and importing cost nothing, and what is missing is read by the run that ends or by the search itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence

from django.db import connection
from django.db.models import F, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.functions import Coalesce

from sessions_app.core.search_words import Phrase, text_to_find, words_in
from sessions_app.models import Entry, SearchProgress, Session
from sessions_app.transactions import write_transaction

BATCH = 300
"""Entries read in one transaction: a few milliseconds, for others wait to write meanwhile."""

COMPLETE = 2**31
"""Beyond any seq: nothing is left to read, though the last numbers may never have been used."""


def catch_up(sessions: QuerySet[Session], seconds: float) -> int:
    """Read what these sessions' index lacks, newest sessions first, for about so long; entries still to be read."""
    behind = (
        sessions.annotate(found_to=Coalesce("search_progress__seq", 0))
        .filter(next_seq__gt=F("found_to") + 1)
        .order_by("-updated_at")
    )
    end, left = time.monotonic() + seconds, 0
    for session_pk, next_seq, found_to in behind.values_list("pk", "next_seq", "found_to"):
        while found_to < next_seq - 1 and time.monotonic() < end:
            found_to = _read_on(session_pk)
        left += max(0, next_seq - 1 - found_to)
    return left


def _read_on(session_pk: int) -> int:
    """Read the next entries of a session; the seq up to which it can be searched now."""
    with write_transaction():
        SearchProgress.objects.get_or_create(session_id=session_pk)
        progress = SearchProgress.objects.select_for_update().get(session_id=session_pk)
        rows = list(
            Entry.objects.filter(session_id=session_pk, seq__gt=progress.seq)
            .order_by("seq")
            .only("pk", "seq", "payload")[:BATCH]
        )
        _write([(row.pk, words_in(text_to_find(row.as_core()))) for row in rows])
        progress.seq = rows[-1].seq if rows else progress.seq
        progress.save()
    return progress.seq if rows else COMPLETE


def forget(entries: Sequence[int]) -> None:
    """Take the words of these entries (by primary key) out. Inside the transaction that removes their text."""
    if not entries:
        return
    column = "rowid" if connection.vendor == "sqlite" else "entry_id"
    with connection.cursor() as cursor:
        cursor.executemany(f"DELETE FROM entry_words WHERE {column} = %s", [(pk,) for pk in entries])  # noqa: S608


def catch_up_with(session_pk: int) -> None:
    """Read what a run has just written, so that the next search finds it at once."""
    catch_up(Session.objects.filter(pk=session_pk), seconds=1.0)


def matching(entries: QuerySet[Entry], phrases: tuple[Phrase, ...]) -> QuerySet[Entry]:
    """Those of the entries in which every phrase is found; without a phrase none."""
    if not phrases:
        return entries.none()
    if connection.vendor == "sqlite":
        sql, wanted = "SELECT rowid FROM entry_words WHERE entry_words MATCH %s", _for_fts5(phrases)
    else:
        sql, wanted = "SELECT entry_id FROM entry_words WHERE words @@ %s::tsquery", _for_tsquery(phrases)
    return entries.filter(pk__in=RawSQL(sql, [wanted]))  # noqa: S611 (two fixed texts, the words a parameter)


def _write(found: Iterable[tuple[int, list[str]]]) -> None:
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.executemany(
                "INSERT INTO entry_words (rowid, words) VALUES (%s, %s)",
                [(pk, " ".join(words)) for pk, words in found if words],
            )
        else:
            cursor.executemany(
                "INSERT INTO entry_words (entry_id, words) VALUES (%s, %s::tsvector) ON CONFLICT DO NOTHING",
                [(pk, _vector(words)) for pk, words in found if words],
            )


def _vector(words: list[str]) -> str:
    """PostgreSQL's written form, with positions; made here so that no parser splits the words in another way."""
    places: dict[str, list[int]] = {}
    for position, word in enumerate(words, start=1):
        places.setdefault(word, []).append(position)
    return " ".join(f"'{word}':{','.join(map(str, at[:255]))}" for word, at in places.items())


def _for_fts5(phrases: tuple[Phrase, ...]) -> str:
    return " ".join(f'"{" ".join(phrase.words)}"{" *" if phrase.begins else ""}' for phrase in phrases)


def _for_tsquery(phrases: tuple[Phrase, ...]) -> str:
    written = []
    for phrase in phrases:
        words = [f"'{word}'" for word in phrase.words]
        if phrase.begins:
            words[-1] += ":*"
        written.append(f"({' <-> '.join(words)})")
    return " & ".join(written)
