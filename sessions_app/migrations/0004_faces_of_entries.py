"""What an entry looks like, used and cost, in columns of their own; filled from the records."""

from __future__ import annotations

from typing import Any

from django.db import migrations, models

from sessions_app.core.entries import Entry
from sessions_app.core.json_text import parse_json
from sessions_app.entry_log.columns import drawn

_BATCH = 500


def fill(apps: Any, schema_editor: Any) -> None:
    rows = apps.get_model("sessions_app", "Entry").objects.using(schema_editor.connection.alias)
    newest = rows.aggregate(newest=models.Max("pk"))["newest"] or 0
    for start in range(0, newest + 1, _BATCH):
        batch = list(rows.filter(pk__gt=start, pk__lte=start + _BATCH).only("pk", "payload"))
        for row in batch:
            try:
                record = parse_json(row.payload)
            except ValueError:
                continue
            if isinstance(record, dict):
                for name, value in drawn(Entry(record)).items():
                    setattr(row, name, value)
        rows.bulk_update(batch, ["face", "used", "cost"])


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0003_entries_by_kind")]

    operations = [
        migrations.AddField(
            "entry",
            "face",
            models.CharField(
                default="z", help_text="What it looks like in the tree (core.faces).", max_length=1
            ),
        ),
        migrations.AddField(
            "entry",
            "used",
            models.PositiveBigIntegerField(default=0, help_text="Tokens it reports to have used."),
        ),
        migrations.AddField(
            "entry",
            "cost",
            models.FloatField(default=0.0, help_text="US dollars it reports to have cost."),
        ),
        migrations.RunPython(fill, migrations.RunPython.noop, elidable=True),
    ]
