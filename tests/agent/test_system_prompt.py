"""The sections of the system prompt: which, in what order, in which tags."""

from __future__ import annotations

from pathlib import Path

from sessions_app.agent.context_files import ContextFile
from sessions_app.agent.system_prompt import build_system_prompt, prompt_sections, render_sections
from sessions_app.agent.tools import create_tools
from tests.agent.stand_ins import FunctionTool

TOOLS = create_tools()
FILES = [
    ContextFile(Path('/a "b"/AGENTS.md'), "Do this.\n", "workspace"),
    ContextFile(Path("/a/c/CLAUDE.md"), "And that.", "workspace"),
]
EVERYTHING = {
    "context_files": FILES, "addendum": "More.", "docs": "Docs.", "skills": "Skills.", "extra": {"weather": "Rain."},
}  # fmt: skip


def test_the_order_of_the_sections():
    """06 §4."""
    assert list(prompt_sections(tools=TOOLS, cwd="/w", **EVERYTHING)) == [
        "preamble", "tools", "rules", "docs", "addendum", "project_context", "skills", "cwd", "weather",
    ]  # fmt: skip


def test_a_custom_prompt_replaces_preamble_tools_rules_and_docs_only():
    """06 §4."""
    sections = prompt_sections(tools=TOOLS, cwd="/w", custom="I am custom.\n", **EVERYTHING)
    assert list(sections) == ["preamble", "addendum", "project_context", "skills", "cwd", "weather"]
    assert sections["preamble"] == "I am custom."


def test_each_section_but_the_preamble_has_a_tag_of_its_name():
    """06 §4."""
    assert render_sections({"preamble": "Hi.", "cwd": "/w"}) == "Hi.\n\n<cwd>\n/w\n</cwd>"


def test_skills_are_listed_only_with_a_tool_to_open_them():
    """06 §9."""
    assert "skills" not in prompt_sections(tools=create_tools(("ls",)), cwd="/w", skills="Skills.")


def test_context_files_are_rendered_with_their_path():
    text = prompt_sections(tools=TOOLS, cwd="/w", context_files=FILES)["project_context"]
    assert "<file path='/a \"b\"/AGENTS.md'>\nDo this.\n</file>" in text
    assert text.index("Do this.") < text.index("And that.")


def test_the_order_of_tools_changes_nothing():
    """04 §9.3."""
    assert build_system_prompt(tools=TOOLS, cwd="/w") == build_system_prompt(tools=TOOLS[::-1], cwd="/w")


def test_every_tool_has_a_line_and_may_bring_rules():
    tool = FunctionTool("oracle", lambda *_: "x")
    tool.prompt_line = "Ask it anything"  # type: ignore[attr-defined]
    tool.prompt_rules = ("Ask the oracle once.",)  # type: ignore[attr-defined]
    sections = prompt_sections(tools=[*TOOLS, tool], cwd="/w")
    lines = sections["tools"].splitlines()
    assert [line.split(":")[0] for line in lines] == sorted(
        f"- {name}" for name in [*(t.name for t in TOOLS), "oracle"]
    )
    assert "- oracle: Ask it anything." in lines
    assert sections["rules"].endswith("- Ask the oracle once.")
