"""The index by segment holds what a drawing of the tree adds up."""

from __future__ import annotations

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("sessions_app", "0004_faces_of_entries")]

    operations = [
        migrations.RemoveIndex("entry", "entry_by_segment"),
        migrations.AddIndex(
            "entry",
            models.Index(fields=["segment", "ordinal", "face", "used", "cost"], name="entry_by_segment"),
        ),
    ]
