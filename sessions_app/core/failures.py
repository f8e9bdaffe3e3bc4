"""What a provider's error text says: too much context, a passing fault, or an empty purse."""

from __future__ import annotations

import re

_OVERFLOW = re.compile(
    r"""
      prompt \s+ (?:is\s+)? too \s+ (?:long|large)
    | (?:request|input|payload|context|conversation|message)s? (?:\s+(?:body|entity|length|size))? \s+ (?:is\s+|are\s+)? too \s+ (?:large|long|big)
    | request_too_large
    | (?<!\d) 413 (?!\d)
    | exceed\w* \s+ (?:the\s+)? (?:model'?s?\s+)? (?:available\s+|maximum\s+|max\s+)? (?:input\s+|allowed\s+)?
      (?:context|prompt|input|token) (?:\s+|_) (?:window|length|size|limit)
    | context (?:\s+|_) (?:window|length|size|limit) (?:\s+|_) (?:is\s+|was\s+|has\s+been\s+)? exceed
    | exceed\w* \s+ (?:the\s+)? (?:maximum\s+)? (?:number\s+of\s+)? (?:tokens|\d+\s+tokens|limit\s+of\s+\d+)
    | maximum \s+ (?:context|prompt|input) \s+ length
    | prompt \s+ exceeds \s+ (?:the\s+)? max(?:imum)? \s+ length
    | prompt \s+ has \s+ [\d,]+ \s+ tokens .{0,40} context \s+ size \s+ is
    | range \s+ of \s+ input \s+ length
    | reduce \s+ the \s+ (?:length|size)
    | (?:input\s+)? token \s+ (?:limit|count) \s+ (?:is\s+|has\s+been\s+)? exceed
    | token \s+ count .{0,40} exceed
    | exceed\w* .{0,40} token \s+ limit
    | too \s+ many \s+ (?:input\s+|prompt\s+)? tokens
    | (?:greater|larger|longer) \s+ than \s+ the \s+ (?:maximum\s+|model'?s\s+)? context
    | model_context_window_exceeded
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Exactly what the reference takes for an overflow. `_OVERFLOW` knows more wordings.
_KNOWN_OVERFLOW = re.compile(
    r"""
      prompt\ (?:is\ )?too\ long | prompt\ exceeds\ max\ length | request_too_large
    | input\ is\ too\ long\ for\ requested\ model
    | exceeds\ (?: the\ (?:context\ window | limit\ of\ \d | available\ context\ size)
        | (?:the\ )? (?:(?:model'?s\ )?maximum\ context\ length (?:\ of\ [\d,]+\ token | \s*\([\d,]+\))
          | maximum\ allowed\ input\ length\ of\ [\d,]+\ token) )
    | context\ window\ (?:exceeded | exceeds\ limit) | context[_ ]length[_ ]exceeded | model_context_window_exceeded
    | input\ token\ count .* exceeds\ the\ maximum
    | maximum\ (?:prompt\ length\ is\ \d | context\ length\ is\ \d+\ tokens)
    | reduce\ the\ length\ of\ the\ messages | range\ of\ input\ length\ should\ be
    | input\ \(\d+\ tokens\)\ is\ longer\ than\ the\ model'?s\ context\ length\ \(\d+\ tokens\)
    | greater\ than\ the\ context\ length | exceeded\ model\ token\ limit | token\ limit\ exceeded | too\ many\ tokens
    | too\ large\ for\ model\ with\ \d+\ maximum\ context\ length
    | prompt\ has\ [\d,]+\ tokens?,\ but\ the\ configured\ context\ size\ is\ [\d,]+\ token
    | \A (?: [\w\ -]+\ API\ error\ \(413\): | 413 (?:\s | : | \Z) )
    """,
    re.IGNORECASE | re.VERBOSE | re.ASCII,
)
_WITHOUT_BODY = re.compile(r"4(?:00|13)\s*(?:status code)?\s*\(no body\)", re.IGNORECASE)
_KNOWN_THROTTLING = re.compile(
    r"\A(?:throttling error|service unavailable):|rate limit|too many requests", re.IGNORECASE
)
_THROTTLED = re.compile(
    r"throttl|^service\s+unavailable:|rate[\s_-]*limit|too\s+many\s+requests|tokens?\s+per\s+(?:minute|day|hour)|(?<!\d)429(?!\d)",
    re.IGNORECASE,
)
_SPENT = re.compile(
    r"""insufficient[\s_]+(?:quota|funds|credits?|balance) | quota[\s_]+(?:has\s+been\s+|was\s+|is\s+)?exceeded
    | exceeded\s+(?:your\s+)?(?:current\s+)?quota | billing | out\s+of\s+(?:budget|credits?) | credit\s+balance
    | usage[\s_]*limit | (?:plan|subscription)(?:'s)?\s+(?:usage\s+)?limits?""",
    re.IGNORECASE | re.VERBOSE,
)
_TRANSIENT = re.compile(
    r"""overloaded | \bbusy\b | at\s+capacity | rate[\s_-]*limit | too\s+many\s+requests | throttl
    | (?<!\d)(?:429|500|502|503|504|520|524)(?!\d)
    | service[\s_]*(?:is\s+)?(?:temporarily\s+)?unavailable | (?:internal|server)[\s_]+error | internal\s+server
    | (?:upstream|provider)\s+returned\s+(?:an\s+)?error | upstream\s+connect | bad\s+gateway
    | network\s+(?:error|failure|connection|is) | connection\s+(?:error|reset|refused|closed|lost|aborted|failed|terminated|timed)
    | (?:lost|closed|reset|refused)\s+(?:the\s+)?connection | socket\s+(?:hang\s+up|closed|error) | fetch\s+failed
    | other\s+side\s+closed | did\s+not\s+get\s+a\s+response
    | ECONNRESET | ECONNREFUSED | ECONNABORTED | ETIMEDOUT | EPIPE | ENOTFOUND | EAI_AGAIN
    | time[d]?[\s-]*out | deadline\s+exceeded | terminated | (?:stream|response)\s+(?:has\s+)?ended\s+(?:early|before|unexpectedly|prematurely|without)
    | premature\s+(?:close|end) | websocket\s+(?:was\s+|is\s+)?(?:closed|error)
    | (?:please\s+)?(?:retry|try\s+again) | ResourceExhausted | resource[\s_]exhausted""",
    re.IGNORECASE | re.VERBOSE,
)


def is_known_overflow(text: str, provider: str = "") -> bool:
    """The request was larger than the model's window, in the words that the reference knows (04 §7)."""
    if _KNOWN_THROTTLING.search(text):
        return False
    without_body = provider == "cerebras" and _WITHOUT_BODY.match(text)
    return bool(_KNOWN_OVERFLOW.search(text) or without_body)


def is_overflow(text: str) -> bool:
    """The same in any provider's words; throttling that speaks of tokens is none (04 §7)."""
    told = _OVERFLOW.search(text) or _KNOWN_OVERFLOW.search(text)
    return told is not None and _THROTTLED.search(text) is None


def is_spent(text: str) -> bool:
    """A quota, budget or plan is used up: waiting does not help (04 RT-03)."""
    return _SPENT.search(text) is not None


def is_transient(text: str) -> bool:
    """The same request may work in a moment (04 RT-01…03)."""
    return _TRANSIENT.search(text) is not None and not is_spent(text) and not is_overflow(text)
