"""Shapes, icons, token counts, money and times in templates."""

from __future__ import annotations

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString

from sessions_app.agent.models_catalogue import spoken_name
from sessions_app.fragments import wording
from sessions_app.review_figures import waiting_for
from sessions_app.services import kept_prompts

register = template.Library()

register.filter("tokens", wording.tokens)
register.filter("money", wording.money)
register.filter("clock", wording.clock)
register.simple_tag(spoken_name)


register.simple_tag(waiting_for, name="waiting_reviews")


@register.simple_tag
def named_prompts() -> list[dict[str, str]]:
    """What can be said by name, for the composer: the operator's prompt templates and skills."""
    rows = [{"name": it.name, "help": it.description, "hint": it.hint} for it in kept_prompts.templates()]
    skills = [
        {"name": f"skill:{it.name}", "help": it.description, "hint": ""} for it in kept_prompts.skills()
    ]
    return rows + skills


@register.filter
def plural(count: int, words: str) -> str:
    """`{{ 3|plural:"entry,entries" }}` → `3 entries`."""
    one, _, many = words.partition(",")
    return wording.plural(count, one, many)


@register.simple_tag
def icon(name: str, size: str = "") -> SafeString:
    """An icon of the sprite; `size` is `s`, `xs` or empty."""
    return format_html(
        '<svg class="icon{}" aria-hidden="true"><use href="#i-{}"/></svg>',
        f" icon--{size}" if size else "",
        name,
    )


@register.simple_tag
def glyph(name: str) -> SafeString:
    """The shape of an entry kind or a state (UI §5)."""
    return format_html(
        '<svg class="glyph glyph--{}" aria-hidden="true"><use href="#g-{}"/></svg>', name, name
    )
