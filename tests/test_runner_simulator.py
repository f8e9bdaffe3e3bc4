"""Random sessions through random windows, settings, faults, stops and commands; what must always hold is asked each step.

`AGENTWEB_STEPS` sets how many steps are taken, `AGENTWEB_SEED` where the dice begin.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from sessions_app import entry_log, integrity
from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.providers.base import ProviderRequest
from sessions_app.core.messages import text_of, tool_calls_of
from sessions_app.core.projection import Context, project
from sessions_app.models import CompactionAttempt, Entry, Pin, QueuedMessage, Run
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.services import branches, compaction, navigation, runs, sessions
from sessions_app.services.errors import ServiceError
from tests.staging import SUMMARY, Stage, Steps, stage, words

__all__ = ["stage"]

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = int(os.environ.get("AGENTWEB_STEPS", "60"))
SEED = int(os.environ.get("AGENTWEB_SEED", "7"))
# One prompt may take many requests, but never without end.
MOST_REQUESTS_A_STEP = 60
OVERFLOW: dict[str, Any] = {"error": "overflow", "message": "prompt is too long: 99999 tokens > 1000 maximum"}
FAULTS: list[dict[str, Any]] = [
    {"error": "overloaded", "message": "Overloaded.", "retryable": True},
    {"error": "network", "message": "connection reset", "retryable": True},
    {"error": "auth", "message": "No such key."},
    {"error": "quota", "message": "insufficient_quota"},
    {"error": "rate_limit", "message": "429 too many tokens, rate limit", "retryable": True},
]


class Simulator:
    """Throws the dice, carries the step out, and looks whether everything still holds."""

    def __init__(self, stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.stage = stage
        self.monkeypatch = monkeypatch
        self.dice = random.Random(seed)
        self.number = 0
        self.refusals: Counter[str] = Counter()
        stage.answers = _Endless(self.answer)
        stage.summaries = _Endless(self.summary)

    # --- what the provider says ---

    def answer(self, request: ProviderRequest) -> Steps:
        """A service that refuses what is above its window, and sometimes fails."""
        roll = self.dice.random()
        if self._is_too_large(request):
            return [OVERFLOW]
        if roll < 0.08:
            return [{"text": "Half"}, self.dice.choice(FAULTS)]
        if roll < 0.12:
            return [{"text": "Cut"}, {"stop_reason": "length"}]
        if roll < 0.15:
            return [{"text": "Half"}, *self._stopped()]
        text = {"text": words(self.dice.choice([5, 80, 700, 2_500]), "said")}
        if roll < 0.45:
            calls = [self._call() for _ in range(self.dice.randint(1, 3))]
            return [text, *calls] if roll < 0.3 else calls
        return [text]

    def summary(self, request: ProviderRequest) -> Steps:
        roll = self.dice.random()
        if self._is_too_large(request):
            return [OVERFLOW]
        if roll < 0.08:
            return [self.dice.choice(FAULTS)]
        if roll < 0.12:
            return [{"text": self.dice.choice(["", " ", "## Goal\n(none)"])}]
        if roll < 0.15:
            return [{"text": "## Goal\nCut"}, {"stop_reason": "length"}]
        if roll < 0.18:
            return [{"text": "## Goal\nHalf"}, *self._stopped()]
        if roll < 0.22:
            return [{"text": "## Goal\n" + words(4_000, "long")}]
        return [{"text": SUMMARY + words(self.dice.choice([10, 200]), "kept")}]

    def _is_too_large(self, request: ProviderRequest) -> bool:
        said = sum(len(text_of(message.get("content"))) for message in request.messages)
        return (said + len(request.system)) / 4 > describe_model("scripted", request.model).context_window

    def _stopped(self) -> Steps:
        runs.stop_run(session=self.stage.session, author=self.stage.author)
        heartbeat.beat()
        return []

    def _call(self) -> dict[str, Any]:
        size = self.dice.choice([5, 400, 3_000])
        self.number += 1
        return {
            "call": self.dice.choice(["write", "read", "ls", "nothing"]),
            "arguments": {"path": f"file-{self.number % 5}.txt", "content": words(size, "file")},
            "id": f"call-{self.number}",
        }

    # --- what people do ---

    def step(self) -> None:
        steps: list[tuple[int, Callable[[], None]]] = [
            (10, self.prompt), (3, self.compact), (3, self.go), (1, self.undo), (1, self.label), (1, self.pin),
            (1, self.leave_out), (1, self.restore), (2, self.settings), (1, self.go_on), (1, self.queue_and_prompt),
        ]  # fmt: skip
        (chosen,) = self.dice.choices([step for _, step in steps], [weight for weight, _ in steps])
        asked = len(self.stage.requests) + len(self.stage.asked_summaries)
        try:
            chosen()
        except ServiceError as refusal:
            self.refusals[str(refusal)[:40]] += 1
        self.stage.carry_out_all()
        spent = len(self.stage.requests) + len(self.stage.asked_summaries) - asked
        assert spent <= MOST_REQUESTS_A_STEP, (chosen.__name__, spent)
        self.look()

    def prompt(self) -> None:
        self.number += 1
        text = f"Prompt {self.number}: " + words(self.dice.choice([3, 50, 900, 4_000]), "please")
        runs.submit_prompt(session=self.stage.session, author=self.stage.author, text=text)

    def queue_and_prompt(self) -> None:
        for mode in ("follow_up", "steer", "follow_up"):
            self.number += 1
            runs.submit_prompt(
                session=self.stage.session, author=self.stage.author, text=f"Prompt {self.number}", mode=mode
            )

    def compact(self) -> None:
        instructions = self.dice.choice(["", "Keep names."])
        compaction.preview(session=self.stage.session)
        compaction.compact_session(
            session=self.stage.session, author=self.stage.author, instructions=instructions
        )

    def go(self) -> None:
        if (entry := self.any_entry()) is not None:
            summarise = self.dice.choice(["none", "none", "summarise"])
            label = self.dice.choice(["", "", "seen"])
            navigation.navigate(
                session=self.stage.session,
                author=self.stage.author,
                entry=entry,
                summarise=summarise,
                label=label,
            )

    def undo(self) -> None:
        navigation.undo(session=self.stage.session, author=self.stage.author)

    def label(self) -> None:
        if (entry := self.any_entry()) is not None:
            sessions.set_label(
                session=self.stage.session, author=self.stage.author, entry=entry, label="here"
            )

    def pin(self) -> None:
        if (entry := self.any_entry()) is not None:
            branches.pin(session=self.stage.session, author=self.stage.author, entry=entry)

    def leave_out(self) -> None:
        if (entry := self.any_entry()) is not None:
            branches.leave_out(session=self.stage.session, author=self.stage.author, entry=entry)

    def restore(self) -> None:
        out = branches.left_out(session=self.stage.session)
        if out:
            entry = self.stage.session.entries.get(seq=self.dice.choice(sorted(out)))
            branches.restore(session=self.stage.session, author=self.stage.author, entry=entry)

    def go_on(self) -> None:
        runs.raise_and_continue(session=self.stage.session, author=self.stage.author)

    def settings(self) -> None:
        self.stage.use_window(self.dice.choice([9_000, 20_000, 60_000, 128_000]), self.monkeypatch)
        self.stage.configure(
            enabled=self.dice.random() > 0.1,
            reserveTokens=self.dice.choice([0, 2_000, 6_000, 16_384]),
            keepRecentTokens=self.dice.choice([0, 500, 3_000, 20_000]),
        )

    def any_entry(self) -> Entry | None:
        self.stage.session.refresh_from_db()
        found = list(self.stage.session.entries.order_by("-seq")[:30])
        return self.dice.choice(found) if found else None

    # --- what must hold ---

    def look(self) -> None:
        session = self.stage.session
        session.refresh_from_db()
        assert not Run.objects.filter(session=session, status__in=("waiting", "queued", "running")).exists()
        assert not CompactionAttempt.objects.filter(session=session, outcome="started").exists()
        for attempt in CompactionAttempt.objects.filter(session=session, outcome="compacted"):
            assert attempt.tokens_after is not None
            assert attempt.tokens_after < attempt.tokens_before
        if session.leaf is None:
            return
        path = entry_log.path_to(session.leaf)
        context = entry_log.load_context(session)
        assert context.messages == project([entry.as_core() for entry in path]).messages
        self.look_at_calls(path)
        self.look_at_the_newest_words(path, context)

    def look_at_calls(self, path: list[Entry]) -> None:
        """Every result belongs to one call before it and no call has two."""
        asked: Counter[str] = Counter()
        answered: Counter[str] = Counter()
        for entry in path:
            message = entry.record.get("message") or {}
            for call in tool_calls_of(message):
                asked[call["id"]] += 1
            if message.get("role") == "toolResult":
                answered[message["toolCallId"]] += 1
                assert asked[message["toolCallId"]] == 1, entry
        assert set(answered.values()) <= {1}

    def look_at_the_newest_words(self, path: list[Entry], context: Context) -> None:
        """The newest user message is kept or carried, unless somebody left it out.

        One that was summarised while a newer one stood is not carried anew when that is left out later.
        """
        newest = _newest_words(path)
        if newest is None:
            return
        cut = max((place for place, entry in enumerate(path) if entry.kind == "compaction"), default=0)
        if newest in path[:cut] and newest != _newest_words(path[:cut]):
            return
        said = text_of(newest.record["message"]["content"])
        seen = "\n".join(text_of(m.get("content")) + str(m.get("summary", "")) for m in context.messages)
        assert said[:12] in seen


def _newest_words(path: list[Entry]) -> Entry | None:
    """The newest user message of the path that nobody left out on it."""
    out = {edit.record["targetId"] for edit in path if edit.kind == "context_edit" and edit.run_id is None}
    return next((e for e in reversed(path) if e.role == "user" and e.entry_id not in out), None)


class _Endless(list[Any]):
    """Always one more, made when it is asked for."""

    def __init__(self, make: Callable[[ProviderRequest], Steps]) -> None:
        super().__init__()
        self._make = make

    def __bool__(self) -> bool:
        return True

    def pop(self, index: Any = 0) -> Any:
        return self._make


@pytest.mark.timeout(60 + 3 * STEPS)
@pytest.mark.parametrize("seed", range(SEED, SEED + 2))
def test_whatever_happens_the_session_stays_sound(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Every request valid, gains or stops, terminates, newest words kept or carried, one result per call."""
    simulator = Simulator(stage, monkeypatch, seed)
    for _ in range(STEPS // 2):
        simulator.step()
    assert integrity.check_session(stage.session.pk).findings == []
    assert stage.requests
    assert not QueuedMessage.objects.filter(session=stage.session).exists() or Run.objects.exists()
    assert Pin.objects.count() <= 50
