"""The report against the labelled sessions: on the half that was set aside, as the docs promise."""

from __future__ import annotations

from collections import Counter

from sessions_app.review.report import build, from_json, to_json
from tests.review.labelled import PLANTED, load, measure


def test_the_labelled_set_is_large_and_varied() -> None:
    sessions = load()
    assert len(sessions) >= 10
    assert sum(len(session.labels) for session in sessions) >= 60
    assert Counter(session.half for session in sessions)["test"] * 2 == len(sessions)


def test_nine_planted_losses_of_ten_are_found_on_the_test_half() -> None:
    total = measure("test").total
    assert total.planted >= 30
    assert total.found >= 0.9 * total.planted


def test_every_kind_of_loss_is_planted() -> None:
    classes = measure("test").classes
    assert all(classes[kind].planted >= 3 for kind in PLANTED)


def test_at_most_one_alarm_of_ten_is_false_on_the_test_half() -> None:
    total = measure("test").total
    assert total.alarms >= 10
    assert total.false_alarms <= 0.1 * total.alarms


def test_eight_provenance_links_of_ten_are_right_on_the_test_half() -> None:
    figures = measure("test")
    assert figures.links >= 30
    assert figures.right_links >= 0.8 * figures.links


def test_a_report_survives_being_stored() -> None:
    for session in load():
        report = build(session.material())
        assert from_json(to_json(report)) == report
