"""A summariser that plays a case's script, and what its requests looked like."""

from __future__ import annotations

from typing import Any

from sessions_app.agent import prompts
from sessions_app.agent.stop import StopSignal
from sessions_app.agent.summarizer import (
    Rules,
    Summary,
    SummaryCancelled,
    SummaryFailed,
    summarise_branch,
    summarise_compaction,
)
from sessions_app.agent.summary_prompts import SummaryRequest
from sessions_app.agent.summary_provider import RetryPolicy, with_retries
from sessions_app.core.branch_summary import BranchSummaryPlan
from sessions_app.core.compaction import CompactionPlan
from sessions_app.core.transcript import serialise

SPLIT_UNITS = 39
NO_HISTORY_UNITS = 17
LENIENT = Rules(lenient=True)

Json = dict[str, Any]


class ScriptedError(Exception):
    """What a script's `throw` raises."""


class ScriptedSummariser:
    """Answers request after request from a script, then with numbered default answers."""

    def __init__(self, script: Any) -> None:
        self.script = script
        self.requests: list[SummaryRequest] = []

    def __call__(self, request: SummaryRequest) -> Json:
        self.requests.append(request)
        number = len(self.requests)
        given = self.script[number - 1] if number <= len(self.script) else {}
        if "throw" in given:
            raise ScriptedError(given["throw"])
        default = {
            "role": "assistant",
            "content": [{"type": "text", "text": f"canned summary {number}"}],
            "stopReason": "stop",
            "usage": default_usage(number),
        }
        return {**default, **given}


def default_usage(number: int) -> Json:
    return {
        "input": 1000 * number + 1,
        "output": 100 * number + 2,
        "cacheRead": 10 * number,
        "cacheWrite": number,
        "totalTokens": 1111 * number + 3,
        "cost": {
            "input": 0.5 * number,
            "output": 0.25 * number,
            "cacheRead": 0.125,
            "cacheWrite": 0.0625,
            "total": 0.75 * number + 0.1875,
        },
    }


def compact(plan: CompactionPlan, options: Json) -> tuple[Json, Summary | None]:
    """The answer to `compact`, and the summary if there is one."""
    summariser = ScriptedSummariser(options.get("summariser", []))
    instructions = options.get("customInstructions")
    texts = {
        "messagesToSummarize": serialise(item.message for item in plan.history),
        "turnPrefixMessages": serialise(item.message for item in plan.span_prefix),
    }
    answers: Json = {}
    summary: Summary | None = None
    try:
        summary = summarise_compaction(
            plan, retrying(summariser, options), custom_instructions=instructions, rules=LENIENT
        )
    except (SummaryFailed, ScriptedError) as error:
        answers["error"] = error_answer(error)
    answers["requests"] = [
        request_answer(request, texts, instructions, options, branch=False) for request in summariser.requests
    ]
    if summary is not None:
        answers["result"] = {
            "summary": summary.text,
            "firstKeptEntryId": plan.first_kept_entry_id,
            "tokensBefore": plan.tokens_before,
            "usage": summary.usage,
            "details": summary.details,
        }
    return answers, summary


def summarise_left_branch(
    plan: BranchSummaryPlan, navigation: Json, options: Json
) -> tuple[list[Json], Summary | None, Json]:
    """The requests, the summary if there is one, and otherwise what the navigation's result says of it."""
    summariser = ScriptedSummariser(navigation.get("summariser", []))
    instructions = navigation.get("customInstructions")
    summary: Summary | None = None
    outcome: Json = {}
    try:
        summary = summarise_branch(
            plan,
            retrying(summariser, options),
            custom_instructions=instructions,
            replace_instructions=navigation.get("replaceInstructions", False),
            rules=LENIENT,
        )
    except SummaryCancelled:
        outcome = {"cancelled": True, "aborted": True}
    except (SummaryFailed, ScriptedError) as error:
        outcome = {"error": error_answer(error)}
    texts = {"branchMessages": serialise(item.message for item in plan.items)}
    requests = [
        request_answer(request, texts, instructions, options, branch=True) for request in summariser.requests
    ]
    return requests, summary, outcome


def retrying(summariser: ScriptedSummariser, options: Json) -> Any:
    retry = options.get("retry")
    if retry is None:
        return summariser
    policy = RetryPolicy(retry["enabled"], retry["maxRetries"], retry["baseDelayMs"], retry["maxDelayMs"])
    return with_retries(summariser, policy, StopSignal(), lambda kind, fields: None)


def error_answer(error: SummaryFailed | ScriptedError) -> Json:
    if isinstance(error, ScriptedError):
        return {"kind": "thrown", "stage": None, "providerMessage": str(error)}
    answers: Json = {"kind": error.kind, "stage": error.stage}
    if error.kind == "error":
        answers["providerMessage"] = error.provider_message
    return answers


def request_answer(
    request: SummaryRequest, texts: Json, instructions: str | None, options: Json, *, branch: bool
) -> Json:
    """The recorded facts of a request, read off its real text."""
    prompt = request.prompt
    tagged = prompt.startswith("<conversation>\n")
    answers: Json = {"kind": request.stage, "wrapper": "tags" if tagged else "headings"}
    name = {"history": "messagesToSummarize", "prefix": "turnPrefixMessages", "branch": "branchMessages"}
    text = texts[name[request.stage]]
    carried = f"<conversation>\n{text}\n</conversation>\n\n" if tagged else f"\n\n{text}\n\n"
    answers["conversation"] = name[request.stage] if carried in prompt else "something else"
    rest = prompt.replace(carried, "", 1)
    if not branch:
        answers["updatePrompt"] = prompts.load("compaction_update") in rest
    answers["previousSummary"] = None
    if rest.startswith("<previous-summary>\n"):
        answers["previousSummary"] = rest[len("<previous-summary>\n") : rest.rindex("\n</previous-summary>")]
    answers["customInstructions"] = how_instructed(rest, instructions)
    answers["systemPrompt"] = bool(request.system)
    answers["roles"] = ["user"]
    answers["options"] = request_options(options, branch=branch)
    return answers


def how_instructed(rest: str, instructions: str | None) -> str | None:
    if not instructions:
        return None
    if rest == instructions:
        return "replaces-prompt"
    return "appended" if rest.endswith(instructions) else "absent"


def request_options(options: Json, *, branch: bool) -> Json:
    """What goes along with every summary request, by the rules of `summary_provider`."""
    sent: Json = {"cacheRetention": "none"}
    level = options.get("thinkingLevel")
    if options.get("model", {}).get("reasoning") and level and level != "off":
        sent["reasoning"] = level
    if "apiKey" in options:
        sent["apiKey"] = options["apiKey"]
    sent["sessionId"] = "<fresh>" if branch else options.get("sessionId", "<fresh>")
    return sent
