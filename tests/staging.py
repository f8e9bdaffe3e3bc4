"""A session on a stage: its provider answers what the test says, its requests are checked, its events kept."""

from __future__ import annotations

import itertools
import json
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from sessions_app import entry_log, live
from sessions_app.agent import models_catalogue, prompts
from sessions_app.agent.providers.anthropic_request import build_body
from sessions_app.agent.providers.base import ProviderRequest
from sessions_app.agent.providers.scripted import ScriptedProvider
from sessions_app.agent.request_size import request_tokens
from sessions_app.models import Entry, Run, Session
from sessions_app.runner import providers
from sessions_app.runner.heartbeat import heartbeat
from sessions_app.runner.work import carry_out
from sessions_app.services import runs
from tests.agent import strict_provider

if TYPE_CHECKING:
    from django.contrib.auth.models import User

Json = dict[str, Any]
Steps = Sequence[Json]

SUMMARY = "## Goal\nBuild the mill.\n\n## Next Steps\n1. Grind."
WINDOW = 20_000


def words(tokens: int, name: str = "word") -> str:
    """Text of exactly so many estimated tokens."""
    return (f"{name} " * (tokens * 4))[: tokens * 4]


class KeptStream:
    """In place of the Redis stream: keeps what a run says."""

    said: list[Json]

    def __init__(self, run_id: int, session_id: int) -> None:
        pass

    def add(self, event: Json) -> None:
        self.said.append(event)

    def flush(self, timeout: float = 1.0) -> None:
        pass

    def close(self, status: str = "") -> None:
        self.said.append({"type": "run_end", "status": status})


@dataclass
class Stage:
    """`answers` and `summaries` are what is asked for next: steps of a scripted answer, or a function of the
    request that gives them. Where nothing is left, an answer says `ok` and a summary SUMMARY.
    """

    session: Session
    author: User
    settings: Any
    answers: list[Any] = field(default_factory=list)
    summaries: list[Any] = field(default_factory=list)
    requests: list[ProviderRequest] = field(default_factory=list)
    asked_summaries: list[ProviderRequest] = field(default_factory=list)
    events: list[Json] = field(default_factory=list)

    def answer(self, request: ProviderRequest) -> Steps:
        if request.system == prompts.load("summariser"):
            self.asked_summaries.append(request)
            return self._next(self.summaries, request, SUMMARY)
        strict_provider.check(build_body(request, models_catalogue.describe_model("anthropic", "m")))
        self.requests.append(request)
        return self._next(self.answers, request, "ok")

    def _next(self, waiting: list[Any], request: ProviderRequest, otherwise: str) -> Steps:
        found = waiting.pop(0) if waiting else [{"text": otherwise}]
        steps: Steps = found(request) if callable(found) else found
        return steps if any("usage" in step for step in steps) else _with_usage(request, steps)

    def prompt(self, text: str = "Go on.", *answers: Any) -> Run:
        """Send words and carry the run out; gives it as it ended."""
        self.answers.extend(answers)
        run = runs.submit_prompt(session=self.session, author=self.author, text=text).run
        assert run is not None
        return self.carry_out(run)

    def carry_out(self, run: Run) -> Run:
        carry_out(run.pk)
        run.refresh_from_db()
        self.session.refresh_from_db()
        return run

    def carry_out_all(self) -> list[Run]:
        """Every run that is queued, also those that begin when one ends."""
        done = []
        while (run := Run.objects.filter(session=self.session, status=Run.Status.QUEUED).first()) is not None:
            done.append(self.carry_out(run))
        return done

    def in_thread(self, run: Run) -> threading.Thread:
        def work() -> None:
            try:
                carry_out(run.pk)
            finally:
                connection.close()

        thread = threading.Thread(target=work)
        thread.start()
        return thread

    def say(self, *messages: Json) -> list[Entry]:
        """Write messages into the session as they are."""
        written = [
            entry_log.append(self.session.pk, {"type": "message", "message": message}) for message in messages
        ]
        self.session.refresh_from_db()
        return written

    def told(self, *kinds: str) -> list[Json]:
        """The events of these kinds, or of those that speak of compaction and retries."""
        wanted = kinds or ("compaction", "auto_retry", "summarization")
        return [event for event in self.events if event["type"].startswith(wanted)]

    def kinds(self) -> list[str]:
        """Of the active path, messages by their role, system messages left out."""
        self.session.refresh_from_db()
        if self.session.leaf is None:
            return []
        path = entry_log.path_to(self.session.leaf)
        return [entry.role or entry.kind for entry in path if entry.role != "system"]

    def context(self) -> list[Json]:
        self.session.refresh_from_db()
        return entry_log.load_context(self.session).messages

    def compaction(self) -> Json:
        """The record of the newest compaction."""
        entry = self.session.entries.filter(kind="compaction").last()
        assert entry is not None
        return entry.record

    def use_window(self, tokens: int, monkeypatch: pytest.MonkeyPatch, *, name: str = "scripted") -> None:
        model = replace(
            models_catalogue.SCRIPTED_MODEL, id=name, name=name, context_window=tokens, max_tokens=4096
        )
        others = tuple(
            known for known in models_catalogue.MODELS if (known.provider, known.id) != ("scripted", name)
        )
        monkeypatch.setattr(models_catalogue, "MODELS", (*others, model))

    def configure(self, **values: Any) -> None:
        """The compaction settings by their names in session files."""
        self.settings.COMPACTION = {**self.settings.COMPACTION, **values}


def _with_usage(request: ProviderRequest, steps: Steps) -> Steps:
    """What a service would report: the whole input, and what it wrote."""
    said = request_tokens(system=request.system, messages=request.messages, tools=request.tools)
    written = sum(len(json.dumps(step)) for step in steps) // 4
    usage = {"input": said, "output": written, "cacheRead": 0, "cacheWrite": 0, "totalTokens": said + written}
    return [{"usage": usage}, *steps]


@pytest.fixture
def stage(session: Session, alice: User, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stage]:
    """alice's session with a scripted model of a small window, no waits, and nobody else at work."""
    settings.ALLOW_LOCAL_EXECUTION = True
    settings.RETRY_BASE_MS = 0
    settings.COMPACTION = {"enabled": True, "reserveTokens": 6_000, "keepRecentTokens": 1_000}
    Session.objects.filter(pk=session.pk).update(provider="scripted", model="scripted")
    session.refresh_from_db()
    made = Stage(session, alice, settings)
    made.use_window(WINDOW, monkeypatch)
    monkeypatch.setattr(providers, "create_provider", lambda *args, **options: ScriptedProvider(made.answer))
    monkeypatch.setattr(KeptStream, "said", made.events, raising=False)
    monkeypatch.setattr(live, "RunStream", KeptStream)
    monkeypatch.setattr(heartbeat, "start", lambda: None)
    yield made
    assert heartbeat.active_count() == 0


counter = itertools.count(1)


def user(text: str) -> Json:
    return {"role": "user", "content": text, "timestamp": next(counter)}


def assistant(*content: Json | str, reason: str = "stop", **fields: Any) -> Json:
    blocks = [{"type": "text", "text": block} if isinstance(block, str) else block for block in content]
    return {
        "role": "assistant", "content": blocks, "api": "scripted", "provider": "scripted", "model": "scripted",
        "stopReason": reason, "timestamp": next(counter), "usage": {"input": 0, "output": 0, "cacheRead": 0,
        "cacheWrite": 0, "totalTokens": 0}, **fields,
    }  # fmt: skip


def result(call_id: str, text: str) -> Json:
    return {
        "role": "toolResult", "toolCallId": call_id, "toolName": "ls", "isError": False,
        "content": [{"type": "text", "text": text}], "timestamp": next(counter),
    }  # fmt: skip


def call(call_id: str, name: str = "ls", **arguments: Any) -> Json:
    return {"type": "toolCall", "id": call_id, "name": name, "arguments": arguments}
