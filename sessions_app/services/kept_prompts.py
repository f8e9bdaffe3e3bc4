"""Words that name a prompt kept in the agent's folder: `/skill:name …` and `/template …` become what they stand for."""

from __future__ import annotations

from django.conf import settings

from sessions_app.agent.prompt_templates import PromptTemplate, fill, find_templates
from sessions_app.agent.skills import Skill, find_skills, told


def templates() -> list[PromptTemplate]:
    return find_templates(settings.AGENT_DIR / "prompts")


def skills() -> list[Skill]:
    return find_skills(settings.AGENT_DIR / "skills")


def named(text: str) -> tuple[str, str] | None:
    """The name behind a slash and the words behind the name; None for other words."""
    name, _, words = text[1:].partition(" ") if " " in text.split("\n", 1)[0] else text[1:].partition("\n")
    return (name, words.strip()) if text.startswith("/") and name.strip() and "/" not in name else None


def expanded(text: str) -> str:
    """Skills first, then templates (04 §1); a name nobody has stays as it was written."""
    found = named(text)
    if found is None:
        return text
    name, words = found
    if name.startswith("skill:"):
        skill = next((skill for skill in skills() if skill.name == name.removeprefix("skill:")), None)
        return told(skill, words) if skill else text
    template = next((template for template in templates() if template.name == name), None)
    return fill(template.body, words) if template else text
