"""Anthropic's messages API, by its own library; the stream's events are read as they are on the wire."""

from __future__ import annotations

import gc
import json
import logging
import ssl
from collections.abc import Iterator
from contextlib import closing
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from sessions_app.agent.models_catalogue import describe_model
from sessions_app.agent.providers.answer_builder import AnswerBuilder
from sessions_app.agent.providers.anthropic_request import build_body, extra_headers, mended_body
from sessions_app.agent.providers.base import Json, ProviderError, ProviderEvent, ProviderRequest
from sessions_app.agent.providers.event_stream import EventStream
from sessions_app.agent.providers.faults import failure
from sessions_app.agent.providers.open_sockets import OpenSockets
from sessions_app.agent.stop import StopSignal
from sessions_app.core.bulk import building_many

if TYPE_CHECKING:
    import anthropic
    import httpx2

logger = logging.getLogger(__name__)

BASE_URL = "https://api.anthropic.com"
CONNECT_SECONDS = 10.0
# As many images may be refused one after another before we give up.
MOST_MENDINGS = 20

_STOP_REASONS = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "tool_use": "toolUse",
}


class AnthropicProvider:
    """`idle_timeout` is the longest silence in seconds; `model_facts` are ModelInfo fields for unknown models.

    Either `api_key` or `auth_token` is needed. `transport` replaces the network in tests.
    """

    name = "anthropic"
    api = "anthropic-messages"

    def __init__(
        self,
        *,
        api_key: str = "",
        base_url: str = "",
        auth_token: str = "",
        idle_timeout: float = 300.0,
        headers: dict[str, str] | None = None,
        model_facts: Json | None = None,
        transport: httpx2.BaseTransport | None = None,
    ) -> None:
        if not api_key and not auth_token:
            raise ProviderError("No key for Anthropic is set.", kind="missing_key")
        self._secret = api_key or auth_token
        self._api_key = api_key
        self._auth_token = auth_token
        self._base_url = base_url or BASE_URL
        self._idle_timeout = idle_timeout
        # The library sends the key as a bearer token only; most services that speak this API look for the old header.
        self._headers = {"x-api-key": api_key} if api_key and self._base_url != BASE_URL else {}
        self._headers |= headers or {}
        self._model_facts = model_facts or {}
        self._transport = transport
        self._sockets = OpenSockets()
        self._client: anthropic.Anthropic | None = None

    def close(self) -> None:
        """Give the connections back; the provider may be used again."""
        if self._client is not None:
            self._client.close()
            self._client = None

    def stream(self, request: ProviderRequest, stop: StopSignal) -> Iterator[ProviderEvent]:
        """Ask and yield the answer's events. Raises ProviderError with what had arrived."""
        answer = AnswerBuilder(api=self.api, provider=self.name, model=request.model)
        self._sockets.reopen()
        try:
            with stop.on_request(self._sockets.shut_down):
                if not stop.is_set():
                    yield from self._ask(request, answer, stop)
        except Exception as error:
            if not stop.is_set():
                raise _with_partial(self._fault(error), answer) from error
        if stop.is_set():
            yield ProviderEvent("done", message=answer.message("aborted"))

    def _ask(
        self, request: ProviderRequest, answer: AnswerBuilder, stop: StopSignal
    ) -> Iterator[ProviderEvent]:
        model = describe_model(self.name, request.model, **self._model_facts)
        body = build_body(request, model)
        if request.taps.payload is not None:
            body = request.taps.payload(body)
        headers = extra_headers(body)
        if request.taps.headers is not None:
            request.taps.headers(headers)
        with closing(self._accepted(request, body, headers)) as response:
            if request.taps.response is not None:
                request.taps.response({"status": response.status_code, "headers": dict(response.headers)})
            reading = _Reading(answer)
            # Not the library's event objects: checking and building them takes a quarter of a delta's time.
            for event in EventStream(response.iter_bytes()).objects():
                if stop.is_set():
                    return
                if request.taps.stream_event is not None:
                    request.taps.stream_event(event)
                if event.get("type") == "error":
                    raise self._failed_inside(event, response)
                yield from reading.take(event)
                if reading.finished:
                    break
            if not reading.finished:
                raise ProviderError("The answer ended before its end.", kind="protocol", retryable=True)
            yield ProviderEvent("done", message=reading.message())

    def _accepted(self, request: ProviderRequest, body: Json, headers: dict[str, str]) -> httpx2.Response:
        """The response with its stream unread. What the service refuses of the history by name is left out and asked again."""
        anthropic = _library()
        client = self._opened()
        for _ in range(MOST_MENDINGS):
            try:
                # The body goes as it is: the library's own conversion would walk through every message again.
                accepted = client.messages.with_raw_response.create(
                    model=request.model,
                    max_tokens=request.max_tokens,
                    messages=[],
                    stream=True,
                    extra_headers=headers,
                    extra_body=body,
                )
                return accepted.http_response
            except anthropic.BadRequestError as error:
                refused = self._refused(error)
                mended = mended_body(body, str(refused)) if refused.kind == "bad_request" else None
                if mended is None:
                    raise
                logger.info("the service refused part of the history; asking without it")
                body = mended
        raise ProviderError("The service keeps refusing parts of the history.", kind="bad_request")

    def _opened(self) -> anthropic.Anthropic:
        if self._client is None:
            import httpx2

            anthropic = _library()
            timeout = httpx2.Timeout(self._idle_timeout, connect=CONNECT_SECONDS)
            network: dict[str, Any] = {} if self._transport is None else {"transport": self._transport}
            self._client = anthropic.Anthropic(
                api_key=self._api_key or None,
                auth_token=self._auth_token or None,
                base_url=self._base_url,
                max_retries=0,  # who may retry, and how often, is the runner's decision
                timeout=timeout,
                default_headers=self._headers,
                http_client=anthropic.DefaultHttpxClient(
                    timeout=timeout,
                    verify=_certificates(),
                    event_hooks={"request": [self._watch]},
                    **network,
                ),
            )
        return self._client

    def _watch(self, request: httpx2.Request) -> None:
        request.extensions["trace"] = self._sockets.trace

    def _fault(self, error: Exception) -> ProviderError:
        """What went wrong, in our terms. Raises what is no fault of the service or the network."""
        import anthropic
        import httpx2

        match error:
            case ProviderError():
                return error
            case anthropic.APIStatusError():
                return self._refused(error)
            case anthropic.APITimeoutError() | httpx2.TimeoutException():
                # Within a stream the library lets its transport's own exceptions through.
                return ProviderError("Anthropic did not answer in time.", kind="timeout", retryable=True)
            case anthropic.APIConnectionError() | httpx2.HTTPError() | httpx2.StreamError() | OSError():
                text = f"The connection to {self._base_url} failed: {error.__cause__ or error}"
                return ProviderError(text, kind="network", retryable=True)
            case anthropic.AnthropicError() | ValueError():
                text = f"Anthropic's answer cannot be read: {error}"
                return ProviderError(text, kind="protocol", retryable=True)
            case _:
                raise error

    def _refused(self, error: anthropic.APIStatusError) -> ProviderError:
        detail = error.body.get("error", error.body) if isinstance(error.body, dict) else {}
        detail = detail if isinstance(detail, dict) else {}
        return failure(
            str(detail.get("message") or error.message),
            status=error.status_code,
            error_type=str(detail.get("type") or ""),
            headers=error.response.headers,
            secret=self._secret,
        )

    def _failed_inside(self, event: Json, response: httpx2.Response) -> ProviderError:
        """An error event. It comes with the status of the stream, which says nothing."""
        detail = event.get("error")
        detail = detail if isinstance(detail, dict) else {}
        return failure(
            str(detail.get("message") or event),
            status=None,
            error_type=str(detail.get("type") or ""),
            headers=response.headers,
            secret=self._secret,
        )


@lru_cache(maxsize=1)
def _library() -> ModuleType:
    """The service's library: importing it takes more than a second, and only those who use it pay for it.

    Its classes are all there to stay. Frozen, they are not looked through by every full collection, during
    which the answers of all other runs would stand still.
    """
    with building_many():
        import anthropic
    gc.freeze()
    return anthropic


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Whom to trust; reading that takes 20 ms and a megabyte, so all clients of the process share it."""
    import httpx2

    return httpx2.create_ssl_context()


class _Reading:
    """Follows one stream of raw events."""

    def __init__(self, answer: AnswerBuilder) -> None:
        self._answer = answer
        self._places: dict[
            int, int
        ] = {}  # the service's block number → ours; blocks we do not know have none
        self._stop_reason: str | None = None
        self._explanation = ""
        self.finished = False

    def take(self, event: Json) -> Iterator[ProviderEvent]:
        """Raises ProviderError(kind="protocol") for an event that lacks what its kind must have."""
        try:
            yield from self._take(event)
        except (KeyError, TypeError, AttributeError) as error:
            text = f"Anthropic's answer cannot be read: {error!r} in {str(event)[:200]}"
            raise ProviderError(text, kind="protocol", retryable=True) from error

    def _take(self, event: Json) -> Iterator[ProviderEvent]:
        match event.get("type"):
            case "content_block_delta":
                if event["index"] in self._places:
                    yield from self._extend(self._places[event["index"]], event["delta"])
            case "message_start":
                message = event["message"]
                self._answer.extra["responseId"] = message.get("id")
                self._answer.extra["responseModel"] = message.get("model")
                self._take_usage(message.get("usage"))
            case "content_block_start":
                yield from self._begin(event["index"], event["content_block"])
            case "content_block_stop":
                if event["index"] in self._places:
                    yield self._answer.end(self._places[event["index"]])
            case "message_delta":
                delta = event["delta"]
                self._stop_reason = delta.get("stop_reason")
                self._explanation = str((delta.get("stop_details") or {}).get("explanation") or "")
                self._take_usage(event.get("usage"))
            case "message_stop":
                self.finished = True
            case _:
                pass  # new kinds of events may come at any time and are no fault

    def message(self) -> Json:
        """The finished message. Raises ProviderError when the service refused or ended in an unknown way."""
        reason = self._stop_reason or "end_turn"
        if reason in ("refusal", "sensitive"):
            raise ProviderError(self._explanation or "The model refused to answer this.", kind="refused")
        if reason not in _STOP_REASONS:
            raise ProviderError(f"The answer ended for an unknown reason: {reason}.", kind="protocol")
        self._answer.extra["rawStopReason"] = reason
        return self._answer.message(_STOP_REASONS[reason])

    def _begin(self, number: int, block: Json) -> Iterator[ProviderEvent]:
        made: Json | None = None
        first = ""
        match block.get("type"):
            case "text":
                made, first = {"type": "text", "text": ""}, block.get("text") or ""
            case "thinking":
                made, first = {"type": "thinking", "thinking": ""}, block.get("thinking") or ""
                if block.get("signature"):
                    made["thinkingSignature"] = block["signature"]
            case "redacted_thinking":
                made = {
                    "type": "thinking",
                    "thinking": "",
                    "thinkingSignature": block["data"],
                    "redacted": True,
                }
            case "tool_use":
                made = {"type": "toolCall", "id": block["id"], "name": block["name"], "arguments": {}}
                first = json.dumps(block["input"]) if block.get("input") else ""
            case _:
                return
        index, event = self._answer.begin(made)
        self._places[number] = index
        yield event
        yield from self._shown(index, first)

    def _extend(self, index: int, delta: Json) -> Iterator[ProviderEvent]:
        match delta.get("type"):
            case "text_delta":
                yield from self._shown(index, delta["text"])
            case "thinking_delta":
                yield from self._shown(index, delta["thinking"])
            case "input_json_delta":
                yield from self._shown(index, delta["partial_json"])
            case "signature_delta":
                before = self._answer.field_of(index, "thinkingSignature")
                self._answer.set_field(index, thinkingSignature=before + delta["signature"])
            case _:
                pass

    def _shown(self, index: int, text: str | None) -> Iterator[ProviderEvent]:
        event = self._answer.extend(index, text) if text else None
        if event is not None:
            yield event

    def _take_usage(self, usage: Json | None) -> None:
        """Counts are cumulative, and absent when they did not change."""
        if usage is None:
            return
        known = {
            "input": usage.get("input_tokens"),
            "output": usage.get("output_tokens"),
            "cacheRead": usage.get("cache_read_input_tokens"),
            "cacheWrite": usage.get("cache_creation_input_tokens"),
            "cacheWrite1h": (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens"),
            "reasoning": (usage.get("output_tokens_details") or {}).get("thinking_tokens"),
        }
        self._answer.set_usage(**{name: count for name, count in known.items() if isinstance(count, int)})


def _with_partial(error: ProviderError, answer: AnswerBuilder) -> ProviderError:
    if not answer.is_empty:
        error.partial = answer.message("error", str(error))
    return error
