"""Templates, sprite, modules and styles that speak of one another."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template
from django.test import Client
from django.urls import reverse
from pytest_django import Settings

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


class Literals(HTMLParser):
    """Words of a template that no translation sees: text, and attributes that are read out or shown."""

    SPOKEN = frozenset({"aria-label", "title", "placeholder", "alt", "label"})
    # Names are the same in every language.
    QUIET = frozenset({"code", "kbd", "svg", "script", "style", "pre"})
    NAMES = frozenset({"agentweb", "CSV", "JSON"})

    def __init__(self, source: str) -> None:
        super().__init__()
        self.found: list[str] = []
        self.quiet: list[str] = []
        source = re.sub(r"\{%\s*(blocktranslate|comment)\b.*?\{%\s*end\1\s*%\}", "", source, flags=re.DOTALL)
        source = re.sub(r"\{%\s*block \w*class\s*%\}.*?\{%\s*endblock.*?%\}", "", source, flags=re.DOTALL)
        self.feed(re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", " ", source, flags=re.DOTALL))
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        facts = dict(attrs)
        if tag in self.QUIET or facts.get("class") == "option__name":
            self.quiet.append(tag)
        for name, value in attrs:
            if name in self.SPOKEN or (
                name.startswith("data-") and value and " " in value and value[0].isupper()
            ):
                self._look(value or "")

    def handle_endtag(self, tag: str) -> None:
        if self.quiet and self.quiet[-1] == tag:
            self.quiet.pop()

    def handle_data(self, data: str) -> None:
        if not self.quiet:
            self._look(data)

    def _look(self, text: str) -> None:
        words = text.strip(" \n·")
        if (
            re.search(r"[A-Za-z]{2,}", words)
            and words not in self.NAMES
            and not re.match(r"https?://|/\w|data-", words)
        ):
            self.found.append(words)


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_every_word_of_a_template_can_be_translated(path: Path) -> None:
    assert Literals(path.read_text(encoding="utf-8")).found == []


def test_words_that_cannot_be_translated_are_found() -> None:
    source = """<p title="Seen">Two {{ words }}</p><p>{% translate "fine" %} <code>name</code></p>
    {% blocktranslate %}fine{% endblocktranslate %}<i data-told="Told to a person" data-act="go"></i>"""
    assert Literals(source).found == ["Seen", "Two", "Told to a person"]


_LITERAL = re.compile(r"""(gettext\()?("(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`|'(?:[^'\\\n]|\\.)*')""")


def literals_of(module: str) -> list[str]:
    """Literals of a script that look like words for people and do not go through gettext."""
    code = re.sub(r"^\s*(//|/?\*).*$", "", module, flags=re.MULTILINE)
    found = [text[1:-1] for asked, text in _LITERAL.findall(code) if not asked]
    return [text for text in found if re.match(r"[A-Z][a-z]+( |[a-z]*\.$)", text)]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_every_sentence_of_a_script_can_be_translated(path: Path) -> None:
    module = path.read_text(encoding="utf-8")
    assert literals_of(module) == []
    used = {name for name in ("fill", "gettext") if re.search(rf"\b{name}\(", module)}
    imported = re.search(r'import \{ ([a-z, ]+) \} from "words"', module)
    assert path.stem == "words" or used == set(imported[1].split(", ") if imported else [])


def test_sentences_that_cannot_be_translated_are_found() -> None:
    code = """// "Not this one"
    say("Two words"); say(`Three of ${these}`); say("Done."); say(gettext("This is fine")); key("Escape");"""
    assert literals_of(code) == ["Two words", "Three of ${these}", "Done."]


def test_another_language_comes_with_its_words_for_scripts(alice_client: Client, settings: Settings) -> None:
    """As a script of our own, under the same policy as every other."""
    script = f'<script src="{reverse("script_words")}"'
    assert script not in alice_client.get("/keys/").content.decode()
    settings.LANGUAGE_CODE = "de"
    page = alice_client.get("/keys/").content.decode()
    assert '<html lang="de"' in page
    assert re.search(rf'{script} nonce="[^"]+" defer>', page)
    catalogue = alice_client.get(reverse("script_words"))
    assert catalogue["Content-Type"].startswith("text/javascript")
    assert "django.gettext" in catalogue.content.decode()
