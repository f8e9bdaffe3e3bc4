"""Templates, sprite, modules and styles that speak of one another."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

ROOT: Path = settings.BASE_DIR
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))
MODULES = sorted((ROOT / "static" / "js").glob("*.js"))


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_template_parses(path: Path) -> None:
    get_template(str(path.relative_to(ROOT / "templates")))


def test_every_icon_that_is_used_is_drawn() -> None:
    sprite = (ROOT / "templates" / "sessions_app" / "_icons.html").read_text(encoding="utf-8")
    drawn = set(re.findall(r'<symbol id="([^"]+)"', sprite))
    used = {
        name
        for path in TEMPLATES
        for name in re.findall(r'href="#([gi]-[a-z]+)"', path.read_text(encoding="utf-8"))
    }
    assert used <= drawn


def test_every_custom_element_has_a_module_of_its_name() -> None:
    names = {path.stem for path in MODULES}
    tags = {
        tag
        for path in TEMPLATES
        for tag in re.findall(r"<([a-z]+-[a-z-]+)", path.read_text(encoding="utf-8"))
    }
    assert tags <= names
    for path in MODULES:
        defined = re.findall(r'customElements\.define\("([^"]+)"', path.read_text(encoding="utf-8"))
        assert defined in ([], [path.stem])


def test_every_stylesheet_speaks_in_a_layer() -> None:
    """But the admin's: the sheets it changes stand outside the layers."""
    for path in (ROOT / "static" / "css").glob("*.css"):
        if path.name == "admin.css":
            continue
        assert "@layer" in path.read_text(encoding="utf-8"), path.name


def test_components_use_roles_and_no_colour_of_their_own() -> None:
    """Raw colours live in tokens.css; elsewhere only inside light-dark()."""
    for path in (ROOT / "static" / "css").glob("*.css"):
        if path.name == "tokens.css":
            continue
        text = re.sub(r"light-dark\((?:[^()]|\([^()]*\))*\)", "", path.read_text(encoding="utf-8"))
        text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
        assert not re.findall(r":[^;{}]*#[0-9a-f]{6}\b", text), path.name
