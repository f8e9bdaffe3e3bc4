"""Puts the system prompt together from its sections (06 §4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from sessions_app.agent import prompts
from sessions_app.agent.context_files import ContextFile, find_context_files
from sessions_app.agent.tools.base import Tool

__all__ = ["ContextFile", "build_system_prompt", "find_context_files", "prompt_sections", "render_sections"]

PREAMBLE = "preamble"


def build_system_prompt(
    *,
    tools: Sequence[Tool],
    cwd: Path | str,
    context_files: Sequence[ContextFile] = (),
    custom: str | None = None,
    addendum: str = "",
    docs: str = "",
    skills: str = "",
    extra: Mapping[str, str] | None = None,
) -> str:
    """The whole prompt. The same arguments always give the same bytes, which keeps prompt caches warm (04 §9)."""
    return render_sections(
        prompt_sections(
            tools=tools,
            cwd=cwd,
            context_files=context_files,
            custom=custom,
            addendum=addendum,
            docs=docs,
            skills=skills,
            extra=extra,
        )
    )


def prompt_sections(
    *,
    tools: Sequence[Tool],
    cwd: Path | str,
    context_files: Sequence[ContextFile] = (),
    custom: str | None = None,
    addendum: str = "",
    docs: str = "",
    skills: str = "",
    extra: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Name → text in the order of 06 SP-02; empty sections are left out.

    A `custom` prompt replaces preamble, tools, rules and docs; everything else is still added (SP-03).
    `skills` counts only if read or bash is there to open them with (SP-04). `extra` are extensions' sections.
    """
    names = {tool.name for tool in tools}
    sections = {PREAMBLE: prompts.load("system") if custom is None else custom.strip()}
    if custom is None:
        sections["tools"] = "\n".join(_tool_line(tool) for tool in sorted(tools, key=lambda tool: tool.name))
        sections["rules"] = _rules(tools)
        sections["docs"] = docs.strip()
    sections["addendum"] = addendum.strip()
    sections["project_context"] = _project_context(context_files)
    sections["skills"] = skills.strip() if names & {"read", "bash"} else ""
    sections["cwd"] = str(cwd)
    sections.update(extra or {})
    return {name: text for name, text in sections.items() if text}


def render_sections(sections: Mapping[str, str]) -> str:
    """Sections as one text: each but the preamble in a tag of its name."""
    return "\n\n".join(
        text if name == PREAMBLE else f"<{name}>\n{text}\n</{name}>" for name, text in sections.items()
    )


def _tool_line(tool: Tool) -> str:
    """A tool's own line for the prompt, or the first sentence of its description."""
    line = getattr(tool, "prompt_line", "") or tool.description.strip().split("\n", 1)[0].split(". ", 1)[0]
    return f"- {tool.name}: {line.rstrip('.')}."


def _rules(tools: Sequence[Tool]) -> str:
    own = [
        rule
        for tool in sorted(tools, key=lambda tool: tool.name)
        for rule in getattr(tool, "prompt_rules", ())
    ]
    return "\n".join([prompts.load("rules"), *(f"- {rule}" for rule in own)])


def _project_context(files: Sequence[ContextFile]) -> str:
    if not files:
        return ""
    parts = [
        "Instructions people keep for this work. Each applies to its folder and below; the nearest counts most."
    ]
    parts += [f"<file path={quoteattr(str(file.path))}>\n{file.text.strip()}\n</file>" for file in files]
    return "\n\n".join(parts)
