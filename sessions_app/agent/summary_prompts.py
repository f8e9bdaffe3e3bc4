"""What a summariser is asked: the requests for a history, the beginning of a split span, and a branch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sessions_app.agent import prompts

Stage = Literal["history", "prefix", "branch"]


@dataclass(frozen=True, slots=True)
class SummaryRequest:
    """One request to a summariser: a system prompt and one user message, never any tools (02 SG-06)."""

    stage: Stage
    system: str
    prompt: str


def history_request(
    conversation: str, previous_summary: str | None, custom_instructions: str | None
) -> SummaryRequest:
    """The initial form, or with a non-empty previous summary the update form (02 SG-04)."""
    if previous_summary:
        previous = f"<previous-summary>\n{previous_summary}\n</previous-summary>\n\n"
        instructions = prompts.load("compaction_update")
    else:
        previous, instructions = "", prompts.load("compaction")
    prompt = _in_tags(conversation) + previous + instructions + _focus(custom_instructions)
    return SummaryRequest("history", prompts.load("summariser"), prompt)


def prefix_request(conversation: str, custom_instructions: str | None) -> SummaryRequest:
    """The beginning of a split span stands under a heading, without tags or previous summary (02 SG-06)."""
    prompt = prompts.fill("turn_prefix", conversation=conversation, focus=_focus(custom_instructions))
    return SummaryRequest("prefix", prompts.load("summariser"), prompt)


def branch_request(
    conversation: str, custom_instructions: str | None, *, replace_instructions: bool
) -> SummaryRequest:
    """Custom instructions are an additional focus, or replace the sections entirely (03 BS-03)."""
    if replace_instructions and custom_instructions:
        instructions = custom_instructions
    else:
        instructions = prompts.load("branch_summary") + _focus(custom_instructions)
    return SummaryRequest("branch", prompts.load("summariser"), _in_tags(conversation) + instructions)


def _in_tags(conversation: str) -> str:
    return f"<conversation>\n{conversation}\n</conversation>\n\n"


def _focus(custom_instructions: str | None) -> str:
    return f"\n\nPay special attention to this: {custom_instructions}" if custom_instructions else ""
