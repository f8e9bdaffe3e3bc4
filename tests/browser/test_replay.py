"""Sessions under faults: kills, reloads, sleep and lost networks lose nothing, double nothing, leave nothing behind.

A few fixed seeds; `make soak` plays many.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser

from tests.browser import replay_checks as checks
from tests.browser.replay import Arena, Replay, arena
from tests.browser.replay_checks import Happened, Kill
from tests.browser.replay_plan import MANY, Fault, Plan, make_plan
from tests.browser.replay_service import Sent, Told, what_is_wrong

LEASE = 4


@pytest.fixture(scope="module")
def place(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Arena]:
    with arena(browser, tmp_path_factory.mktemp("replay"), lease=LEASE) as opened:
        yield opened


def replayed(place: Arena, plan: Plan) -> list[str]:
    result = Replay(place, plan).play()
    assert result.problems == []
    assert result.looks > 10
    return result.statuses


def with_faults(seed: int, *faults: Fault) -> Plan:
    plan = make_plan(seed, shape="tools", faults=0)
    return replace(plan, faults=faults)


def test_pages_that_sleep_reload_or_lose_the_network_end_with_the_stored_text(place: Arena) -> None:
    """B30, B31."""
    faults = [
        Fault("second tab", 0.4),
        Fault("freeze", 0.8, lasts=1.5),
        Fault("steer", 2.4),
        Fault("offline", 2.6, lasts=1.5),
        Fault("reload", 4.2),
        Fault("kill web", 4.5),
        Fault("follow up", 4.8),
    ]
    assert set(replayed(place, with_faults(7, *faults))) == {"completed"}


def test_a_worker_killed_after_2000_words_loses_at_most_two_seconds(place: Arena) -> None:
    """Though the broker's memory and files are gone too, and with them the stream."""
    plan = make_plan(20, shape="long", faults=0)
    answers = tuple(replace(answer, rate=500.0) for answer in plan.answers)
    quick = replace(plan, answers=answers, faults=(Fault("lose the stream", after_words=MANY),))
    assert replayed(place, quick) == ["interrupted", "completed"]


def test_worker_and_broker_may_die_in_the_middle_of_tools(place: Arena) -> None:
    faults = [Fault("kill broker", 0.5), Fault("reload", 1.0), Fault("kill worker and broker", 2.5)]
    assert replayed(place, with_faults(8, *faults))[-1] == "completed"


def test_a_plan_is_the_same_for_the_same_seed() -> None:
    assert make_plan(5) == make_plan(5)
    assert make_plan(5) != make_plan(6)


def assistant(seq: int, text: str, *calls: str) -> dict[str, object]:
    content = [{"type": "text", "text": text}, *({"type": "toolCall", "id": call} for call in calls)]
    return {"seq": seq, "id": f"e{seq}", "record": {"message": {"role": "assistant", "content": content}}}


def facts(*entries: dict[str, object]) -> dict[str, object]:
    seqs = [entry["seq"] for entry in entries]
    return {"entries": list(entries), "path": seqs, "next_seq": len(seqs) + 1, "runs": [], "queue": []}


def test_the_checks_see_lost_and_doubled_words() -> None:
    sent = {1: Sent(5, {"h": [], "w": [10.0, 11.0, 12.0]})}
    whole = facts(assistant(1, "a1w0t0 **a1w1t1** a1w2t2"))
    assert checks.check_answers(whole, sent, Happened()) == ([], [])
    for text in ("a1w0t0 a1w2t2", "a1w0t0 a1w1t1 a1w1t1 a1w2t2", "a1w0t0 a1w1t1"):
        assert checks.check_answers(facts(assistant(1, text)), sent, Happened())[0]
    killed = Happened([Kill(13.5, "worker")])
    assert checks.check_answers(facts(assistant(1, "a1w0t0 a1w1t1")), sent, killed) == ([], [1.5])
    assert checks.check_answers(facts(assistant(1, "a1w0t0")), sent, killed)[0]
    assert checks.check_answers(facts(assistant(1, "a1w0t0"), assistant(2, "a1w0t0")), sent, killed)[0]


def test_the_checks_see_calls_without_result_and_entries_out_of_order() -> None:
    result = {
        "seq": 2,
        "id": "e2",
        "record": {"message": {"role": "toolResult", "toolCallId": "c", "content": []}},
    }
    assert checks.check_calls(facts(assistant(1, "", "c"), result)) == []
    assert checks.check_calls(facts(assistant(1, "", "c"))) == ["no result of c"]
    assert checks.check_calls(facts(assistant(1, "", "c"), result, result))
    assert checks.check_entries(facts(assistant(1, ""), result)) == []
    assert checks.check_entries(facts(assistant(1, ""), assistant(3, "")))
    assert what_is_wrong([Told("assistant", "", ("c",)), Told("user", "", (), ("c",))]) == ""
    assert what_is_wrong([Told("assistant", "", ("c",)), Told("user", "hello")])


def test_the_checks_see_a_page_that_differs_from_the_rows() -> None:
    article = {"id": "entry-1", "text": "a1w0t0", "words": []}
    stored = {"articles": [article]}
    page = {"articles": [article], "live": [], "liveCount": 0, "state": "idle", "connection": "Connected"}
    idle = {"state": "idle"}
    assert checks.check_page(page, stored, idle) == []
    changes: list[dict[str, object]] = [
        {"articles": []},
        {"articles": [article | {"text": "a1w0"}]},
        {"liveCount": 1},
        {"state": "running"},
    ]
    for change in changes:
        assert checks.check_page(page | change, stored, idle)
    assert checks.check_moment({"live": [["a1w0t0", "a1w2t2"]], "articles": []})
    assert not checks.check_moment({"live": [["a1w0t0", "a1w1t1"]], "articles": [{"words": [["a2h0t0"]]}]})
