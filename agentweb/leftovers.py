"""Ends commands of runs that outlived the worker which started them.

Only where this data directory has the one worker there is (embedded broker) and that one is known to be gone:
elsewhere another worker may be at work with them, and recovery ends them when its lease runs out.
"""

from __future__ import annotations


def end_commands_of_runs() -> int:
    """Kills every marked process of runs that count as running; how many there were."""
    from django.conf import settings

    from sessions_app.agent.sandboxes.processes import kill_marked
    from sessions_app.models import Run

    if not settings.EMBEDDED_BROKER:
        return 0
    markers = (
        Run.objects.filter(status__in=[Run.Status.RUNNING, *Run.LEFT])
        .exclude(marker="")
        .values_list("marker", flat=True)
    )
    return sum(kill_marked(marker) for marker in markers)


if __name__ == "__main__":
    from agentweb.preparation import set_up_django

    set_up_django()
    end_commands_of_runs()
