"""Services that speak the chat completions API: local model servers, gateways, other vendors."""

from __future__ import annotations

import json
import ssl
import uuid
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import httpx

from sessions_app.agent.providers.answer_builder import AnswerBuilder
from sessions_app.agent.providers.base import Json, ProviderError, ProviderEvent, ProviderRequest
from sessions_app.agent.providers.event_stream import EventStream
from sessions_app.agent.providers.faults import failure
from sessions_app.agent.providers.open_sockets import OpenSockets
from sessions_app.agent.providers.openai_request import IMAGES, REASONING_FIELDS, build_body, has_images
from sessions_app.agent.stop import StopSignal

CONNECT_SECONDS = 10.0
LONGEST_ERROR = 20_000

# Fields a service may refuse; it is then asked again without, before anything was answered.
OPTIONAL_FIELDS = ("stream_options", "reasoning_effort", "max_tokens")

_STOP_REASONS = {
    "stop": "stop",
    "length": "length",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
    "eos": "stop",
}


class OpenAICompatibleProvider:
    """`base_url` is what stands before `/chat/completions`, e.g. `http://localhost:11434/v1`; a key is optional.

    `reasoning` says whether to pass the thinking level on. `transport` replaces the network in tests.
    """

    name = "openai-compatible"
    api = "openai-completions"

    def __init__(
        self,
        *,
        api_key: str = "",
        base_url: str = "",
        idle_timeout: float = 300.0,
        headers: dict[str, str] | None = None,
        reasoning: bool = False,
        transport: httpx.BaseTransport | None = None,
    ) -> None:
        if not base_url:
            raise ProviderError("An OpenAI-compatible service needs its base URL.", kind="bad_request")
        self._secret = api_key
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._headers = {**({"Authorization": f"Bearer {api_key}"} if api_key else {}), **(headers or {})}
        self._timeout = httpx.Timeout(idle_timeout, connect=CONNECT_SECONDS)
        self._reasoning = reasoning
        self._transport = transport
        self._refused_fields: frozenset[str] = frozenset()
        self._sockets = OpenSockets()
        self._client: httpx.Client | None = None

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
        except ProviderError as error:
            if not stop.is_set():
                raise _with_partial(error, answer) from error
        except httpx.TimeoutException as error:
            if not stop.is_set():
                text = "The service did not answer in time."
                raise _with_partial(ProviderError(text, kind="timeout", retryable=True), answer) from error
        except (httpx.HTTPError, httpx.StreamError, OSError) as error:
            if not stop.is_set():
                text = f"The connection to {self._url} failed: {error}"
                raise _with_partial(ProviderError(text, kind="network", retryable=True), answer) from error
        except httpx.InvalidURL as error:
            raise ProviderError(f"The base URL is not valid: {error}", kind="bad_request") from error
        if stop.is_set():
            yield ProviderEvent("done", message=answer.message("aborted"))

    def _ask(
        self, request: ProviderRequest, answer: AnswerBuilder, stop: StopSignal
    ) -> Iterator[ProviderEvent]:
        while True:
            body = build_body(request, reasoning=self._reasoning, without=self._refused_fields)
            if request.taps.payload is not None:
                body = request.taps.payload(body)
            headers = dict(self._headers)
            if request.taps.headers is not None:
                request.taps.headers(headers)
            with self._opened().stream(
                "POST", self._url, json=body, headers=headers, extensions={"trace": self._sockets.trace}
            ) as response:
                if request.taps.response is not None:
                    request.taps.response({"status": response.status_code, "headers": dict(response.headers)})
                if response.status_code < 400:
                    yield from self._read(response, request, answer, stop)
                    return
                error = self._refusal(response)
            refused = self._refused_field(error, body)
            if refused is None:
                raise error
            self._refused_fields |= {refused}

    def _read(
        self, response: httpx.Response, request: ProviderRequest, answer: AnswerBuilder, stop: StopSignal
    ) -> Iterator[ProviderEvent]:
        reading = _Reading(answer, self._secret)
        if "json" in response.headers.get("content-type", ""):
            # The service ignored that a stream was asked for and answers in one piece.
            response.read()
            chunks = iter([_json_object(response.text)])
        else:
            chunks = EventStream(response.iter_bytes()).objects()
        for chunk in chunks:
            if stop.is_set():
                return
            if request.taps.stream_event is not None:
                request.taps.stream_event(chunk)
            yield from reading.take(chunk)
        if stop.is_set():
            return
        yield from reading.finish()

    def _opened(self) -> httpx.Client:
        if self._client is None:
            self._client = httpx.Client(
                timeout=self._timeout,
                transport=self._transport,
                follow_redirects=True,
                verify=_certificates(),
            )
        return self._client

    def _refusal(self, response: httpx.Response) -> ProviderError:
        raw = b""
        for piece in response.iter_bytes():
            raw += piece
            if len(raw) > LONGEST_ERROR:
                break
        text = raw.decode("utf-8", "replace")
        try:
            parsed = json.loads(text)
        except ValueError:
            parsed = None
        message, error_type = _error_of(parsed)
        return failure(
            message or text.strip()[:500] or f"The service answered with status {response.status_code}.",
            status=response.status_code,
            error_type=error_type,
            headers=response.headers,
            secret=self._secret,
        )

    def _refused_field(self, error: ProviderError, body: Json) -> str | None:
        text = str(error)
        if error.status is None or error.status >= 500 or error.kind not in ("bad_request", "unknown_model"):
            return None
        if "image" in text.lower() and IMAGES not in self._refused_fields and has_images(body):
            return IMAGES
        return next((field for field in OPTIONAL_FIELDS if field in body and field in text), None)


@lru_cache(maxsize=1)
def _certificates() -> ssl.SSLContext:
    """Whom to trust; reading that takes 20 ms and a megabyte, so all clients of the process share it."""
    return httpx.create_ssl_context()


class _Reading:
    """Follows the chunks of one answer."""

    def __init__(self, answer: AnswerBuilder, secret: str) -> None:
        self._answer = answer
        self._secret = secret
        self._speaking: tuple[str, int] | None = None  # the open text or thinking block: its kind and number
        self._calls: dict[int, tuple[str, int]] = {}  # the service's call number → (its id, our block number)
        self._reason: str | None = None

    def take(self, chunk: Json) -> Iterator[ProviderEvent]:
        if chunk.get("error"):
            message, error_type = _error_of(chunk)
            code = chunk["error"].get("code") if isinstance(chunk["error"], dict) else None
            status = code if isinstance(code, int) and code >= 400 else None
            raise failure(message or "The service reported an error.", status=status, error_type=error_type,
                          secret=self._secret)  # fmt: skip
        for key, field in (("id", "responseId"), ("model", "responseModel")):
            if isinstance(chunk.get(key), str) and chunk[key]:
                self._answer.extra[field] = chunk[key]
        choices = chunk.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        self._take_usage(chunk.get("usage") or choice.get("usage"))
        delta = choice.get("delta") or choice.get("message") or {}
        for field in REASONING_FIELDS:
            if isinstance(delta.get(field), str) and delta[field]:
                yield from self._say("thinking", delta[field], field)
                break
        for kind, text in _spoken(delta.get("content")):
            yield from self._say(kind, text)
        for call in delta.get("tool_calls") or ():
            if isinstance(call, dict):
                yield from self._call(call)
        if choice.get("finish_reason"):
            self._reason = str(choice["finish_reason"])

    def finish(self) -> Iterator[ProviderEvent]:
        """Close what is open and yield the message. Raises ProviderError when the answer was cut off."""
        if self._reason == "content_filter":
            raise ProviderError("The service refused to answer this.", kind="refused")
        if self._reason is None:
            raise ProviderError("The answer ended before its end.", kind="protocol", retryable=True)
        yield from self._hush()
        yield from self._close_calls()
        reason = _STOP_REASONS.get(self._reason, "stop")
        if self._answer.has_calls and reason == "stop":
            reason = "toolUse"  # many services say stop after calls
        self._answer.extra["rawStopReason"] = self._reason
        yield ProviderEvent("done", message=self._answer.message(reason))

    def _say(self, kind: str, text: str, signature: str = "") -> Iterator[ProviderEvent]:
        if self._speaking is None or self._speaking[0] != kind:
            yield from self._hush()
            block: Json = {"type": kind, kind: ""}
            if signature:
                block["thinkingSignature"] = signature
            index, event = self._answer.begin(block)
            self._speaking = (kind, index)
            yield event
        extended = self._answer.extend(self._speaking[1], text)
        if extended is not None:
            yield extended

    def _hush(self) -> Iterator[ProviderEvent]:
        if self._speaking is not None:
            yield self._answer.end(self._speaking[1])
            self._speaking = None

    def _call(self, call: Json) -> Iterator[ProviderEvent]:
        function: Json = call["function"] if isinstance(call.get("function"), dict) else {}
        number = call["index"] if isinstance(call.get("index"), int) else self._number_of(call)
        given = str(call.get("id") or "")
        known = self._calls.get(number)
        if known is not None and given and known[0] and given != known[0]:
            # Some services number all calls 0 and tell them apart by their ids only.
            number, known = max(self._calls) + 1, None
        if known is None:
            yield from self._hush()
            name = str(function.get("name") or "")
            block = {
                "type": "toolCall",
                "id": given or f"call_{uuid.uuid4().hex[:12]}",
                "name": name,
                "arguments": {},
            }
            index, event = self._answer.begin(block)
            self._calls[number] = known = (given, index)
            yield event
        elif function.get("name") and not self._answer.field_of(known[1], "name"):
            self._answer.set_field(known[1], name=str(function["name"]))
        written = function.get("arguments")
        if isinstance(written, dict):
            written = json.dumps(written)
        extended = self._answer.extend(known[1], written) if isinstance(written, str) and written else None
        if extended is not None:
            yield extended

    def _number_of(self, call: Json) -> int:
        """The number of a call that comes without one: that of its id, else a new one."""
        given = str(call.get("id") or "")
        for number, (known, _) in self._calls.items():
            if known and known == given:
                return number
        if not given and self._calls and not (call.get("function") or {}).get("name"):
            return max(self._calls)
        return max(self._calls, default=-1) + 1

    def _close_calls(self) -> Iterator[ProviderEvent]:
        for _, index in self._calls.values():
            yield self._answer.end(index)

    def _take_usage(self, usage: Any) -> None:
        if not isinstance(usage, dict):
            return
        asked, written = _count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))
        cached = _count((usage.get("prompt_tokens_details") or {}).get("cached_tokens"))
        reasoning = _count((usage.get("completion_tokens_details") or {}).get("reasoning_tokens"))
        extra = {"reasoning": reasoning} if reasoning else {}
        self._answer.set_usage(input=max(0, asked - cached), output=written, cacheRead=cached, **extra)


def _spoken(content: Any) -> Iterator[tuple[str, str]]:
    """(kind, text) of a delta's content: a string, or a list of parts."""
    if isinstance(content, str) and content:
        yield "text", content
    elif isinstance(content, list):
        for part in content:
            if isinstance(part, dict) and isinstance(part.get("text"), str) and part["text"]:
                yield "text", part["text"]


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _error_of(parsed: Any) -> tuple[str, str]:
    """(message, type) of an error body, in the many shapes they have."""
    if not isinstance(parsed, dict):
        return "", ""
    error = parsed.get("error", parsed)
    if isinstance(error, str):
        return error, str(parsed.get("error_type") or "")
    if not isinstance(error, dict):
        return "", ""
    message = error.get("message") or error.get("detail") or ""
    error_type = error.get("code") if isinstance(error.get("code"), str) else error.get("type")
    return message if isinstance(message, str) else json.dumps(message), str(error_type or "")


def _json_object(text: str) -> Json:
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    if not isinstance(parsed, dict):
        raise ProviderError("The service's answer is not JSON.", kind="protocol", retryable=True)
    return parsed


def _with_partial(error: ProviderError, answer: AnswerBuilder) -> ProviderError:
    if not answer.is_empty:
        error.partial = answer.message("error", str(error))
    return error
