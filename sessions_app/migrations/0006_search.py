"""Words of entries: a virtual table on SQLite, a text vector with its index on PostgreSQL."""

from __future__ import annotations

from typing import Any

import django.db.models.deletion
from django.db import migrations, models


def make_words(apps: Any, schema_editor: Any) -> None:
    if schema_editor.connection.vendor == "sqlite":
        schema_editor.execute(
            "CREATE VIRTUAL TABLE entry_words USING fts5(words, tokenize = 'unicode61 remove_diacritics 0')"
        )
        return
    # Without a reference to the entry: `search_index.forget` is called where entries go, on either database.
    schema_editor.execute("CREATE TABLE entry_words (entry_id bigint PRIMARY KEY, words tsvector NOT NULL)")
    schema_editor.execute("CREATE INDEX entry_words_found ON entry_words USING gin (words)")


def drop_words(apps: Any, schema_editor: Any) -> None:
    schema_editor.execute("DROP TABLE entry_words")


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0005_entries_by_segment")]

    operations = [
        migrations.RunPython(make_words, drop_words),
        migrations.CreateModel(
            "SearchProgress",
            [
                (
                    "session",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="search_progress",
                        serialize=False,
                        to="sessions_app.session",
                    ),
                ),
                ("seq", models.PositiveIntegerField(default=0)),
            ],
            options={"verbose_name_plural": "search progress"},
        ),
    ]
