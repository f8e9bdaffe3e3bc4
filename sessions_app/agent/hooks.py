"""Every point where somebody else's function may look, change or refuse (spec 07), one method each."""

from __future__ import annotations

import logging
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

logger = logging.getLogger(__name__)

Json = dict[str, Any]
Handler = Callable[[Json], Json | None]
Command = Callable[[str], None]
FailureSink = Callable[["HookFailure"], None]

HOOK_NAMES = (
    "project_trust", "session_start", "session_before_switch", "session_before_fork", "session_shutdown",
    "session_info_changed", "resources_discover", "session_before_compact", "session_compact",
    "session_compact_failed", "session_before_tree", "session_tree", "input", "before_agent_start",
    "agent_start", "agent_end", "agent_before_settle", "agent_settled", "turn_start", "turn_end",
    "message_start", "message_update", "message_end", "tool_execution_start", "tool_execution_update",
    "tool_execution_end", "tool_call", "tool_result", "context", "context_with_system",
    "before_provider_headers", "before_provider_request", "after_provider_response",
    "provider_stream_event", "model_select", "thinking_level_select", "user_bash",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class HookFailure:
    """One handler raised; the others went on. Its wire form is `extension_error` of spec 10."""

    extension: str
    event: str
    error: str

    def to_wire(self) -> Json:
        return {
            "type": "extension_error",
            "extensionPath": self.extension,
            "event": self.event,
            "error": self.error,
        }


class HookRefusalError(Exception):
    """A fail-closed hook (`tool_call`, `user_bash`) raised, so what it guards is refused (07 EX-02)."""


class Hooks:
    """The handlers of one run, called one after another in the order they were added (07 EX-01).

    Handlers take one event (a dict in the names of spec 07) and may return a dict. One that raises is
    reported to `on_failure` and skipped, except at the two fail-closed points.
    """

    def __init__(self, on_failure: FailureSink | None = None) -> None:
        self._handlers: dict[str, list[tuple[str, Handler]]] = {name: [] for name in HOOK_NAMES}
        self._commands: dict[str, tuple[str, Command]] = {}
        self._on_failure = on_failure or _log_failure

    def report_to(self, on_failure: FailureSink) -> None:
        """From now on failures go there as well as into the log."""

        def both(failure: HookFailure) -> None:
            _log_failure(failure)
            on_failure(failure)

        self._on_failure = both

    def add(self, name: str, handler: Handler, *, extension: str = "") -> None:
        """Register `handler` at a hook point. Raises ValueError for a name that is not in spec 07."""
        if name not in self._handlers:
            raise ValueError(f"There is no hook named {name!r}.")
        self._handlers[name].append((extension, handler))

    def add_command(self, name: str, handler: Command, *, extension: str = "") -> None:
        """Register what `/name words` does at once; the first of a name stays (04 §1)."""
        self._commands.setdefault(name, (extension, handler))

    def has_command(self, name: str) -> bool:
        return name in self._commands

    def run_command(self, name: str, words: str) -> None:
        """Carry a registered command out. One that raises is reported; the words count as taken all the same."""
        extension, handler = self._commands[name]
        self._call("command", extension, lambda event: handler(event["words"]), {"words": words})

    def has(self, name: str) -> bool:
        """Whether anybody listens; spares building an event on the streaming path."""
        return bool(self._handlers[name])

    # The session.

    def project_trust(self, event: Json) -> Json:
        """May answer `{trusted: bool, remember?}`; the first answer that says yes or no counts (06 TU-03)."""
        return self._first(event, "project_trust", "trusted")

    def session_start(self, event: Json) -> None:
        """Looks only. `reason` is startup, reload, new, resume or fork."""
        self._notify("session_start", event)

    def session_before_switch(self, event: Json) -> Json:
        """May refuse with `{cancel: true}`: the current session stays open."""
        return self._before("session_before_switch", event)

    def session_before_fork(self, event: Json) -> Json:
        """May refuse with `{cancel: true}`: no session is made. `position` is before or at."""
        return self._before("session_before_fork", event)

    def session_shutdown(self, event: Json) -> None:
        """Looks only; the last chance to put things away."""
        self._notify("session_shutdown", event)

    def session_info_changed(self, event: Json) -> None:
        """Looks only; the name has changed."""
        self._notify("session_info_changed", event)

    def resources_discover(self, event: Json) -> Json:
        """May return lists of paths (`skillPaths`, `promptPaths`, `themePaths`), which add up."""
        found: Json = {}
        for answer in self._answers("resources_discover", event):
            for key, paths in answer.items():
                if isinstance(paths, list):
                    found.setdefault(key, []).extend(paths)
        return found

    # Compaction and the tree.

    def session_before_compact(self, event: Json) -> Json:
        """May refuse with `{cancel: true}` or bring its own `{compaction: {…}}`; the last answer wins.

        A handler that raises refuses nothing: the ordinary summary goes ahead (07 EX-05).
        """
        return self._before("session_before_compact", event)

    def session_compact(self, event: Json) -> None:
        """Looks only; the compaction entry is written."""
        self._notify("session_compact", event)

    def session_compact_failed(self, event: Json) -> None:
        """Looks only; `errorMessage` is absent when it was cancelled."""
        self._notify("session_compact_failed", event)

    def session_before_tree(self, event: Json) -> Json:
        """May refuse with `{cancel: true}` (the leaf stays) or bring its own `{summary: {…}}`."""
        return self._before("session_before_tree", event)

    def session_tree(self, event: Json) -> None:
        """Looks only; the leaf has moved."""
        self._notify("session_tree", event)

    # From a prompt to settled.

    def input(self, event: Json) -> Json:
        """May change text and images (`{action: "transform", text?, images?}`), each seeing what the one before
        made of it, or take the input for itself (`{action: "handled"}`): then no run starts.
        """
        for answer in self._answers("input", event):
            if answer.get("action") == "handled":
                return {**event, "action": "handled"}
            if answer.get("action") == "transform":
                event.update({key: answer[key] for key in ("text", "images") if key in answer})
        return {**event, "action": "continue"}

    def before_agent_start(self, event: Json) -> Json:
        """May replace the system prompt (chained) and add a message; returns `{messages, systemPrompt?}`."""
        messages: list[Json] = []
        for answer in self._answers("before_agent_start", event):
            if isinstance(answer.get("message"), dict):
                messages.append(answer["message"])
            if isinstance(answer.get("systemPrompt"), str):
                event["systemPrompt"] = answer["systemPrompt"]
        return {"messages": messages, "systemPrompt": event.get("systemPrompt")}

    def agent_start(self, event: Json) -> None:
        """Looks only; a pass begins."""
        self._notify("agent_start", event)

    def agent_end(self, event: Json) -> None:
        """Looks only; a pass has ended, repairs and retries come after it."""
        self._notify("agent_end", event)

    def agent_before_settle(self, event: Json) -> Json:
        """May ask for entries and for one more request: `{entries?, continue?}`; the requests of all add up."""
        return self._boundary("agent_before_settle", event)

    def agent_settled(self, event: Json) -> None:
        """Looks only; nothing is left to do."""
        self._notify("agent_settled", event)

    def turn_start(self, event: Json) -> None:
        """Looks only; `turnIndex` counts from 0 in this pass."""
        self._notify("turn_start", event)

    def turn_end(self, event: Json) -> Json:
        """May ask for entries and for one more request: `{entries?, continue?}`. An error or a stop still ends
        the pass.
        """
        return self._boundary("turn_end", event)

    # Messages.

    def message_start(self, event: Json) -> None:
        """Looks only."""
        self._notify("message_start", event)

    def message_update(self, event: Json) -> None:
        """Looks only, at every step of an answer: a slow handler slows the stream (07 EX-06)."""
        self._notify("message_update", event)

    def message_end(self, message: Json) -> Json:
        """May replace the message before it is stored, by `{message}` of the same role; chained."""
        for extension, handler in self._handlers["message_end"]:
            answer = self._call(
                "message_end", extension, handler, {"type": "message_end", "message": message}
            )
            replacement = (answer or {}).get("message")
            if replacement is None:
                continue
            if isinstance(replacement, dict) and replacement.get("role") == message.get("role"):
                message = replacement
            else:
                self._on_failure(
                    HookFailure(
                        extension, "message_end", "A message may only be replaced by one of the same role."
                    )
                )
        return message

    # Tools.

    def tool_execution_start(self, event: Json) -> None:
        """Looks only."""
        self._notify("tool_execution_start", event)

    def tool_execution_update(self, event: Json) -> None:
        """Looks only."""
        self._notify("tool_execution_update", event)

    def tool_execution_end(self, event: Json) -> None:
        """Looks only."""
        self._notify("tool_execution_end", event)

    def tool_call(self, event: Json) -> Json:
        """May change `input` in place (it is not validated again) or refuse the call with
        `{block: true, reason?, terminate?}`; the first refusal counts. A handler that raises refuses too:
        HookRefusalError (04 TX-04, 07 EX-02).
        """
        for extension, handler in self._handlers["tool_call"]:
            answer = self._call_closed("tool_call", extension, handler, event)
            if answer and answer.get("block"):
                return answer
        return {}

    def tool_result(self, event: Json) -> Json:
        """May patch `content`, `details`, `isError`, `usage`; chained. New content drops the details, and what there
        is for scripts in `structuredContent`, unless they are given too (04 TX-06).
        """
        for answer in self._answers("tool_result", event):
            names = ("content", "details", "isError", "usage", "structuredContent")
            patch = {key: answer[key] for key in names if key in answer}
            if "content" in patch:
                patch.setdefault("details", {})
                if "structuredContent" not in patch:
                    event.pop("structuredContent", None)
            event.update(patch)
        return event

    def user_bash(self, event: Json) -> Json:
        """May bring `{operations}` or a finished `{result}`; the first answer counts. A handler that raises
        refuses the command: HookRefusalError.
        """
        for extension, handler in self._handlers["user_bash"]:
            answer = self._call_closed("user_bash", extension, handler, event)
            if answer:
                return answer
        return {}

    # The request.

    def context(self, messages: list[Json]) -> list[Json]:
        """May replace the conversation (`{messages}`), seen without system messages; those are put back at their
        places' beginning, so prompt and tools cannot be lost. Chained.
        """
        if not self.has("context"):
            return messages
        system = [message for message in messages if message.get("role") == "system"]
        spoken = [message for message in messages if message.get("role") != "system"]
        return system + self._chain_messages("context", spoken)

    def context_with_system(self, messages: list[Json]) -> list[Json]:
        """May replace all messages, system ones included, as they are. Chained."""
        return self._chain_messages("context_with_system", messages)

    def before_provider_headers(self, headers: dict[str, str]) -> None:
        """May change the request's extra headers in place."""
        self._notify("before_provider_headers", {"headers": headers})

    def before_provider_request(self, payload: Json) -> Json:
        """May replace the vendor's request body by `{payload}`; chained."""
        for extension, handler in self._handlers["before_provider_request"]:
            answer = self._call("before_provider_request", extension, handler, {"payload": payload})
            if answer and isinstance(answer.get("payload"), dict):
                payload = answer["payload"]
        return payload

    def after_provider_response(self, event: Json) -> None:
        """Looks only, at `status` and `headers`."""
        self._notify("after_provider_response", event)

    def provider_stream_event(self, event: Json) -> None:
        """Looks only, at the vendor's raw event."""
        self._notify("provider_stream_event", event)

    def model_select(self, event: Json) -> None:
        """Looks only; `source` says who chose."""
        self._notify("model_select", event)

    def thinking_level_select(self, event: Json) -> None:
        """Looks only."""
        self._notify("thinking_level_select", event)

    # The ways of calling.

    def _notify(self, name: str, event: Json) -> None:
        for extension, handler in self._handlers[name]:
            self._call(name, extension, handler, event)

    def _answers(self, name: str, event: Json) -> Any:
        for extension, handler in self._handlers[name]:
            answer = self._call(name, extension, handler, event)
            if answer:
                yield answer

    def _first(self, event: Json, name: str, key: str) -> Json:
        for answer in self._answers(name, event):
            if isinstance(answer.get(key), bool):
                return dict(answer)
        return {}

    def _before(self, name: str, event: Json) -> Json:
        """The last non-empty answer wins, the first `cancel` ends it (07 EX-03)."""
        result: Json = {}
        for answer in self._answers(name, event):
            result = answer
            if answer.get("cancel"):
                break
        return result

    def _boundary(self, name: str, event: Json) -> Json:
        entries: list[Json] = []
        wants_more = False
        for answer in self._answers(name, event):
            entries.extend(answer.get("entries") or [])
            wants_more = wants_more or bool(answer.get("continue"))
        return {"entries": entries, "continue": wants_more}

    def _chain_messages(self, name: str, messages: list[Json]) -> list[Json]:
        if self.has(name):
            # What a handler is given is its own to change; the conversation stays as it is.
            messages = deepcopy(messages)
        for extension, handler in self._handlers[name]:
            answer = self._call(name, extension, handler, {"messages": messages})
            if answer and isinstance(answer.get("messages"), list):
                messages = answer["messages"]
        return messages

    def _call(self, name: str, extension: str, handler: Handler, event: Json) -> Json | None:
        try:
            return handler(event)
        except Exception as error:  # noqa: BLE001 - another's code must not end the run; it is reported
            self._on_failure(HookFailure(extension, name, f"{type(error).__name__}: {error}"))
            return None

    def _call_closed(self, name: str, extension: str, handler: Handler, event: Json) -> Json | None:
        try:
            return handler(event)
        except Exception as error:
            text = f"{type(error).__name__}: {error}"
            self._on_failure(HookFailure(extension, name, text))
            raise HookRefusalError(text) from error


def _log_failure(failure: HookFailure) -> None:
    logger.warning("a hook handler raised", extra={"hook": failure.event, "extension": failure.extension})
