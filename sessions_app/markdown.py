"""Markdown of models and people as safe HTML, whole or while it is still being written.

Three walls, each enough alone: raw HTML is never passed through (it is shown as text), addresses of links
are checked against a short list of schemes before a link is made, and the result goes through an
allow-list sanitiser that knows no `style`, no `on…`, no `hx-…` and no element that loads something.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from html import escape
from itertools import groupby
from typing import Any, NamedTuple

import nh3
from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from markdown_it.utils import OptionsDict
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name, get_lexer_for_filename
from pygments.token import Token as CodeToken
from pygments.token import _TokenType
from pygments.util import ClassNotFound

# Characters. Above the first, code is shown without colours; above the second, text is shown as it is.
MOST_COLOURED = 20_000
MOST_RENDERED = 200_000
# An open block that grows beyond this is shown as plain text until the message is stored.
MOST_OPEN = 30_000

_COLOURS: dict[_TokenType, str] = {
    CodeToken.Keyword: "key",
    CodeToken.Operator.Word: "key",
    CodeToken.Name.Tag: "key",
    CodeToken.Name.Builtin: "fn",
    CodeToken.Name.Function: "fn",
    CodeToken.Name.Class: "fn",
    CodeToken.Name.Decorator: "fn",
    CodeToken.Name.Attribute: "fn",
    CodeToken.Literal.String: "str",
    CodeToken.Generic.Inserted: "str",
    CodeToken.Literal.Number: "num",
    CodeToken.Generic.Deleted: "num",
    CodeToken.Comment: "dim",
    CodeToken.Generic.Output: "dim",
    CodeToken.Generic.Heading: "dim",
    CodeToken.Generic.Subheading: "dim",
}
_CLASSES = {
    "div": {"code", "code__head", "table-scroll"},
    "span": {"code__language", "file-name", *(f"code-{name}" for name in set(_COLOURS.values()))},
    "pre": {"code__text"},
}
_ELEMENTS = {
    *("a", "blockquote", "br", "code", "copy-button", "del", "div", "em", "h3", "h4", "h5", "h6", "hr", "li"),
    *("ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
_cleaner = nh3.Cleaner(
    tags=_ELEMENTS,
    attributes={"a": {"href", "title"}, "ol": {"start"}},
    tag_attribute_values={
        "div": {"tabindex": {"0"}},
        "pre": {"tabindex": {"0"}},
        "td": {"align": {"left", "center", "right"}},
        "th": {"align": {"left", "center", "right"}},
    },
    allowed_classes=_CLASSES,
    set_tag_attribute_values={"a": {"target": "_blank"}},
    link_rel="noopener noreferrer nofollow",
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
)
_OVERRIDES = {code: f"<U+{code:04X}>" for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}
_address = re.compile(r"(?:https?://[^\s/]|mailto:[^\s])", re.IGNORECASE)
# A file of the workspace, as models like to write it: it is named, since there is no page of it to go to.
_file = re.compile(r"[\w.@+~%-][\w./@+~%-]*(?:#L?[\w-]*)?")
_bare_url = re.compile(r"https?://[^\s<>\"'`|\\^{}\x00-\x1f]{1,2000}", re.IGNORECASE)
# What Markdown takes for words wherever a line has begun with a letter; and such a line, whose last word is no address.
_words = re.compile(r"[^\W_]*(?:[ ,.'’–-]+[^\W_]+)*[ ,.]*")
_prose_line = re.compile(r"(?:\A|\n)[^\W\d_](?:[^\n]* )?[^\W_]*[,.]? *\Z")
_fence_start = re.compile(r"(`{3,}|~{3,})[^\n]*\n")


def render_markdown(text: str) -> str:
    """HTML of the whole text: CommonMark with tables, strikethrough and bare addresses as links."""
    if len(text) > MOST_RENDERED:
        return f'<pre class="code__text" tabindex="0">{escape(well_formed(text))}</pre>'
    return _cleaner.clean(_renderer().render(well_formed(text), {"colours": True}))


def well_formed(text: str) -> str:
    """The text without halves of surrogate pairs, which JSON allows and no encoder or sanitiser takes, and with
    direction overrides spelled out: code must not read differently from what it is."""
    if text.isascii():
        return text
    text = text.translate(_OVERRIDES)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


class Step(NamedTuple):
    """What changes on the page.

    `stable`: HTML to add behind what is final already. `tail`: HTML that replaces the open end, None: it
    stays. `more`: text (not HTML) to add at the very end of the open end's last text.
    """

    stable: str = ""
    tail: str | None = None
    more: str = ""


class StreamingMarkdown:
    """Text that grows: what can't change any more is rendered once, only the open end again and again.

    `stable` and `tail` hold the HTML so far, for viewers who come late. Differences from the whole text's
    rendering (a link whose target is defined later) are mended when the stored entry replaces the preview.
    """

    def __init__(self) -> None:
        self.stable = ""
        self._tail = ""
        self._more: list[str] = []
        # Source of the open end; the text of an open code block up to `_shown` is on the page.
        self._open = ""
        self._closing: re.Pattern[str] | None = None
        self._shown = 0
        self._is_plain = False
        # Whether words may be added to the open paragraph; blanks at its end that Markdown did not show.
        self._takes_words = False
        self._blanks = ""

    @property
    def tail(self) -> str:
        """HTML of the open end, with everything that was added to it as text."""
        if not self._more:
            return self._tail
        head, end = _before_closing_tags(self._tail)
        return head + escape("".join(self._more), quote=False) + end

    def feed(self, delta: str) -> Step:
        """Take more text; the returned step brings the page up to date."""
        self._open += well_formed(delta).replace("\r\n", "\n").replace("\r", "\n")
        if self._is_plain:
            return self._add(len(self._open))
        if self._takes_words and _words.fullmatch(delta):
            return self._add_words(delta)
        if self._closing:
            if (step := self._feed_open_code(self._closing)) is not None:
                return step
            self._closing = None
        elif len(self._open) > MOST_OPEN:
            self._is_plain = True
            self._shown = len(self._open)
            return self._replace("", f'<p class="plain">{escape(self._open)}</p>')
        return self._feed_blocks()

    def _feed_blocks(self) -> Step:
        tokens = _renderer().parse(self._open, {})
        starts = [
            (index, token.map[0])
            for index, token in enumerate(tokens)
            if token.level == 0 and token.nesting >= 0 and token.map
        ]
        # A block is closed once the next one has begun. That is certain when the next one's first line is whole
        # (`---` becomes `---x`, which continues the list above), or when it is a paragraph that begins with a
        # letter: nothing that follows makes it part of what stands above.
        lines = self._open.split("\n")
        begun = [
            (index, line)
            for index, line in starts[1:]
            if line < len(lines) - 1 or (tokens[index].type == "paragraph_open" and lines[line][:1].isalpha())
        ]
        stable = ""
        if begun:
            index, line = begun[-1]
            stable = _html(tokens[:index], colours=True)
            self._open = "\n".join(lines[line:])
            tokens = tokens[index:]
        self._note_open_code(tokens)
        self._note_open_prose(tokens)
        return self._replace(stable, _html(tokens, colours=self._closing is None and _is_closed_code(tokens)))

    def _note_open_code(self, tokens: Sequence[Token]) -> None:
        """When the open end is a code block without its closing line, text is enough from here on."""
        start = _fence_start.match(self._open)
        if not start or len(tokens) != 1 or tokens[0].type != "fence":
            return
        marker = start[1]
        closing = re.compile(rf" {{0,3}}{re.escape(marker[0])}{{{len(marker)},}}[ \t]*")
        if any(closing.fullmatch(line) for line in self._open[start.end() :].split("\n")):
            return
        self._closing = closing
        self._shown = len(self._open)

    def _note_open_prose(self, tokens: Sequence[Token]) -> None:
        """Whether words without any sign of Markdown can't change what the open paragraph is."""
        self._blanks = self._open[len(self._open.rstrip(" ")) :]
        last = tokens[1].children[-1] if len(tokens) == 3 and tokens[1].children else None
        self._takes_words = bool(
            last
            and last.type == "text"
            and last.content
            and _prose_line.search(self._open)
            and tokens[0].tag == "p"
        )

    def _add_words(self, delta: str) -> Step:
        more = self._blanks + delta
        self._blanks = ""
        self._more.append(more)
        return Step(more=more)

    def _feed_open_code(self, closing: re.Pattern[str]) -> Step | None:
        """None once the closing line may have come."""
        begin = self._open.rfind("\n", 0, self._shown) + 1
        *whole, last = self._open[begin:].split("\n")
        if any(closing.fullmatch(line) for line in (*whole, last)):
            return None
        # Backticks at the end may become the closing line: they wait.
        waits = len(last) if last and not last.strip(" `~") else 0
        return self._add(max(self._shown, len(self._open) - waits))

    def _add(self, until: int) -> Step:
        more = self._open[self._shown : until]
        self._shown = until
        if more:
            self._more.append(more)
        return Step(more=more)

    def _replace(self, stable: str, tail: str) -> Step:
        self.stable += stable
        self._tail = tail = tail.rstrip()
        self._more.clear()
        return Step(stable, tail)


def _html(tokens: Sequence[Token], *, colours: bool) -> str:
    if not tokens:
        return ""
    renderer = _renderer()
    return _cleaner.clean(str(renderer.renderer.render(list(tokens), renderer.options, {"colours": colours})))


def _is_closed_code(tokens: Sequence[Token]) -> bool:
    return len(tokens) == 1 and tokens[0].type == "fence"


def _before_closing_tags(html: str) -> tuple[str, str]:
    end = re.search(r"(?:</[a-z0-9-]+>\s*)*\Z", html)
    at = end.start() if end else len(html)
    return html[:at], html[at:]


@lru_cache(maxsize=1)
def _renderer() -> MarkdownIt:
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable(
        ["table", "strikethrough"]
    )
    markdown.validateLink = lambda url: bool(_address.match(url) or _file.fullmatch(url))  # type: ignore[method-assign]
    markdown.core.ruler.push("lower_headings", _lower_headings)
    markdown.core.ruler.push("empty_heads", _empty_heads)
    markdown.core.ruler.push("bare_urls", _link_bare_urls)
    return markdown


class _Renderer(RendererHTML):
    """Code with a header, tables that scroll, and links in place of pictures from elsewhere."""

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        token = tokens[idx]
        language = token.info.strip().split(maxsplit=1)[0] if token.info.strip() else ""
        return _code_block(token.content, language, colours=bool(env.get("colours")))

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return _code_block(tokens[idx].content, "", colours=False)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return '<div class="table-scroll" tabindex="0"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return _cell(tokens[idx])

    td_open = th_open

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        env["names_file"] = not _address.match(str(tokens[idx].attrs.get("href", "")))
        if env["names_file"]:
            return '<span class="file-name">'
        return str(self.renderToken(tokens, idx, options, env))

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        return "</span>" if env.get("names_file") else "</a>"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: Any) -> str:
        # A picture would tell its server who reads the session and when.
        token = tokens[idx]
        address = str(token.attrs.get("src", ""))
        words = self.renderInlineAsText(token.children or [], options, env) or address
        if not _address.match(address):
            return f'<span class="file-name">{escape(words)}</span>'
        return f'<a href="{escape(address)}">{escape(words)}</a>'


def _cell(token: Token) -> str:
    # As an attribute, not as a style: the page allows no inline styles.
    style = str(token.attrs.get("style", ""))
    align = style.removeprefix("text-align:")
    return f'<{token.tag} align="{align}">' if align in {"left", "center", "right"} else f"<{token.tag}>"


def _code_block(code: str, language: str, *, colours: bool) -> str:
    name = language if re.fullmatch(r"[\w+#.-]{1,30}", language) else ""
    body = _coloured(code, name) if colours and name and len(code) <= MOST_COLOURED else escape(code)
    return (
        f'<div class="code"><div class="code__head"><span class="code__language">{escape(name)}</span>'
        f'<copy-button></copy-button></div><pre class="code__text" tabindex="0"><code>{body}</code></pre></div>\n'
    )


def coloured_lines(code: str, name: str) -> list[list[tuple[str, str]]]:
    """Each line of a file's text as stretches (text, colour); the colour is empty, or the end of a `code-…` class."""
    lexer = _lexer_of_file(name) if len(code) <= MOST_COLOURED else None
    if lexer is None:
        return [[(line, "")] for line in code.split("\n")]
    lines: list[list[tuple[str, str]]] = [[]]
    for colour, tokens in groupby(lexer.get_tokens(code), lambda token: _colour(token[0])):
        first, *others = "".join(text for _, text in tokens).split("\n")
        lines[-1].append((first, colour))
        lines += [[(other, colour)] for other in others]
    return lines


def _coloured(code: str, language: str) -> str:
    lexer = _lexer(language.lower())
    if lexer is None:
        return escape(code)
    parts: list[str] = []
    for colour, tokens in groupby(lexer.get_tokens(code), lambda token: _colour(token[0])):
        words = escape("".join(text for _, text in tokens))
        parts.append(f'<span class="code-{colour}">{words}</span>' if colour else words)
    return "".join(parts)


@lru_cache(maxsize=64)
def _lexer(language: str) -> Lexer | None:
    try:
        return get_lexer_by_name(language, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


@lru_cache(maxsize=1024)
@lru_cache(maxsize=256)
def _lexer_of_file(name: str) -> Lexer | None:
    try:
        return get_lexer_for_filename(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _colour(kind: _TokenType) -> str:
    while kind is not CodeToken:
        if kind in _COLOURS:
            return _COLOURS[kind]
        parent = kind.parent
        if parent is None:
            break
        kind = parent
    return ""


def _empty_heads(state: StateCore) -> None:
    """The corner of a table is no heading of anything: a reader would be told of a column without a name."""
    for index, token in enumerate(state.tokens):
        if token.type == "th_open" and not state.tokens[index + 1].content.strip():
            token.tag = state.tokens[index + 2].tag = "td"


def _lower_headings(state: StateCore) -> None:
    """The page has headings of its own: a message's begin at the third level."""
    for token in state.tokens:
        if token.type in {"heading_open", "heading_close"}:
            token.tag = f"h{min(6, int(token.tag[1]) + 2)}"


def _link_bare_urls(state: StateCore) -> None:
    for block in state.tokens:
        if block.type == "inline" and block.children and "://" in block.content:
            block.children = _with_links(block.children)


def _with_links(tokens: Sequence[Token]) -> list[Token]:
    result: list[Token] = []
    inside_link = 0
    for token in tokens:
        inside_link += token.nesting if token.type in {"link_open", "link_close"} else 0
        if token.type != "text" or inside_link or "://" not in token.content:
            result.append(token)
            continue
        end = 0
        for match in _bare_url.finditer(token.content):
            # Sentence marks behind an address and a bracket opened before it are not part of it.
            address = match[0].rstrip(".,;:!?*_~")
            while address.endswith((")", "]")) and address.count(address[-1]) > address.count(
                "(["[address[-1] == "]"]
            ):
                address = address[:-1].rstrip(".,;:!?*_~")
            if not _address.match(address):
                continue
            result += [_text(token.content[end : match.start()], token.level), *_link(address, token.level)]
            end = match.start() + len(address)
        result.append(_text(token.content[end:], token.level))
    return result


def _text(content: str, level: int) -> Token:
    return Token("text", "", 0, content=content, level=level)


def _link(address: str, level: int) -> list[Token]:
    start = Token("link_open", "a", 1, attrs={"href": address}, level=level)
    return [start, _text(address, level + 1), Token("link_close", "a", -1, level=level)]
