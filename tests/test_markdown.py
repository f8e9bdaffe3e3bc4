"""Markdown as safe HTML: what it can do, what it must never do, and the same while it is being written."""

from __future__ import annotations

import random
import re
import time
from html import unescape
from html.parser import HTMLParser

import pytest

from sessions_app.markdown import MOST_OPEN, MOST_RENDERED, StreamingMarkdown, render_markdown

ALLOWED = {
    *("a", "blockquote", "br", "code", "copy-button", "del", "div", "em", "h3", "h4", "h5", "h6", "hr", "li"),
    *("ol", "p", "pre", "s", "span", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul"),
}
ATTRIBUTES = {"class", "href", "title", "rel", "target", "start", "align", "tabindex"}

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<style>*{display:none}</style>",
    "<iframe srcdoc='<script>alert(1)</script>'>",
    "<a href='javascript:alert(1)'>x</a>",
    "<div hx-get='/logout/' hx-trigger='load'>x</div>",
    "<div data-hx-on:click='alert(1)'>x</div>",
    "<copy-button onclick=alert(1)></copy-button>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\tscript:alert(1))",
    "[x](<java\nscript:alert(1)>)",
    "[x](\x01javascript:alert(1))",
    "[x](javascript&colon;alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](vbscript:msgbox(1))",
    "[x](data:text/html;base64,PHNjcmlwdD4=)",
    "[x](file:///etc/passwd)",
    "[x](//evil.example)",
    "[x](/logout/)",
    '[x](https://a.example/"onclick="alert(1))',
    '[x](https://a.example "title\\" onmouseover=alert(1)")',
    "<javascript:alert(1)>",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "![x](https://evil.example/pixel.png)",
    "![x](data:image/svg+xml;base64,PHN2Zz4=)",
    '![" onerror="alert(1)](https://evil.example/p.png)',
    "```html\n</code></pre><script>alert(1)</script>\n```",
    '```"><script>alert(1)</script>\nx\n```',
    "```py onload=alert(1)\nx\n```",
    "    </pre><script>alert(1)</script>",
    "| <img src=x onerror=alert(1)> |\n|---|\n| <script>alert(1)</script> |",
    "https://a.example/<script>alert(1)</script>",
    'https://a.example/"onmouseover="alert(1)',
    "`</code><script>alert(1)</script>`",
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    "<!-- --><script>alert(1)</script><!-- -->",
    "<![CDATA[<script>alert(1)</script>]]>",
    "\x00<script>alert(1)</script>",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'>",
]


class Inspector(HTMLParser):
    """Fails on every element, attribute and address that is not on the short lists."""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in ALLOWED, tag
        for name, value in attrs:
            assert name in ATTRIBUTES, name
            if name == "href":
                assert re.match(r"(?:https?://|mailto:)", value or "", re.IGNORECASE), value
        if tag == "a" and any(name == "href" for name, _ in attrs):
            assert ("target", "_blank") in attrs
            assert ("rel", "noopener noreferrer nofollow") in attrs

    def handle_comment(self, data: str) -> None:
        raise AssertionError("a comment")


def inspect(html: str) -> None:
    inspector = Inspector()
    inspector.feed(html)
    inspector.close()


def text_of(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


@pytest.mark.parametrize("source", HOSTILE)
def test_hostile_text_stays_text(source: str) -> None:
    """B52."""
    for wrapped in (source, f"> {source}", f"- {source}", f"**{source}**", f"a\n\n{source}\n\nb"):
        inspect(render_markdown(wrapped))


@pytest.mark.parametrize("source", HOSTILE)
def test_hostile_text_stays_text_while_it_arrives(source: str) -> None:
    stream = StreamingMarkdown()
    for character in f"before\n\n{source}\n\nafter":
        step = stream.feed(character)
        inspect(step.stable)
        inspect(step.tail or "")
        inspect(stream.stable + stream.tail)


def test_random_pieces_of_syntax_give_safe_html() -> None:
    pieces = [
        *"*_`~[]()<>!|#-\n\n \\&\"'",
        "```",
        "<script>",
        "javascript:",
        "http://a",
        "hx-get=",
        "onload=",
    ]
    dice = random.Random(1)
    for _ in range(300):
        source = "".join(dice.choice(pieces) for _ in range(60))
        inspect(render_markdown(source))
        stream = StreamingMarkdown()
        for start in range(0, len(source), 5):
            stream.feed(source[start : start + 5])
        inspect(stream.stable + stream.tail)


def test_the_usual_things_are_rendered() -> None:
    html = render_markdown(
        "# A\n\n**b** *i* ~~s~~ `c`\n\n- x\n\n3. y\n\n> q\n\n| a | b |\n|:-:|--:|\n| 1 | 2 |"
    )
    for piece in (
        "<h3>A</h3>",
        "<strong>b</strong>",
        "<em>i</em>",
        "<s>s</s>",
        "<code>c</code>",
        "<li>x</li>",
    ):
        assert piece in html
    assert '<ol start="3">' in html
    assert '<div class="table-scroll" tabindex="0"><table>' in html
    assert '<th align="center">a</th>' in html
    assert "style" not in html


def test_code_has_a_header_a_copy_button_and_few_colours() -> None:
    html = render_markdown("```python\ndef f(x):\n    return 'a < b'  # why\n```")
    assert '<span class="code__language">python</span><copy-button></copy-button>' in html
    assert '<span class="code-key">def</span>' in html
    assert "<span class=\"code-str\">'a &lt; b'</span>" in html
    assert '<span class="code-dim"># why</span>' in html
    plain = render_markdown("```python\n" + "x = 1\n" * 5000 + "```")
    assert "code-num" not in plain
    assert "code-num" not in render_markdown("```nonsense\nx = 1\n```")


def test_links_and_bare_addresses_open_elsewhere_and_pictures_become_links() -> None:
    html = render_markdown(
        "See https://a.example/x(y). [z](https://b.example) ![cat](https://c.example/cat.png)"
    )
    assert re.findall(r'href="([^"]+)"', html) == [
        "https://a.example/x(y)",
        "https://b.example",
        "https://c.example/cat.png",
    ]
    assert "<img" not in html
    assert ">cat</a>" in html
    assert render_markdown("`https://a.example`").count("<a ") == 0
    assert render_markdown("[https://a.example](https://b.example)").count("<a ") == 1


def test_what_is_no_link_is_shown_as_it_was_written() -> None:
    assert "[x](javascript:alert(1))" in text_of(render_markdown("[x](javascript:alert(1))"))
    assert "<script>" in text_of(render_markdown("<script>"))


def test_halves_of_characters_and_direction_overrides_do_no_harm() -> None:
    assert "😀" in render_markdown("\ud83d\ude00")
    assert "�" in render_markdown("\ud83d")
    assert "<U+202E>" in text_of(render_markdown("```\naccess\u202e level\n```"))
    stream = StreamingMarkdown()
    stream.feed("\ud83d")
    stream.feed("\ude00 text")
    assert stream.tail.encode()


@pytest.mark.parametrize(
    "piece", ["[", "![", "[a](", "*a ", "`a", "<", "_a__b", "http://a", "~~a ", "|a", "> ", "- "]
)
def test_repeated_syntax_takes_no_more_than_a_moment(piece: str) -> None:
    began = time.perf_counter()
    render_markdown(piece * (40_000 // len(piece)))
    assert time.perf_counter() - began < 5


def test_a_text_beyond_all_measure_is_shown_as_it_is() -> None:
    html = render_markdown("<b>" * MOST_RENDERED)
    assert html.startswith('<pre class="code__text" tabindex="0">&lt;b&gt;')


DOCUMENT = """# Title

A paragraph with **bold**, `code` and a
second line.

- one
- two
  - nested

1. first

   with a paragraph
2. second

> quoted
> text

```python
def f():
    return "```"
```

~~~
tilde ``` inside
~~~

| a | b |
|---|---|
| 1 | 2 |

Setext
------

    indented code

***

Last words with https://example.com/path?x=1."""


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 100, 10_000])
def test_a_stream_ends_where_the_whole_text_does(size: int) -> None:
    stream = StreamingMarkdown()
    for start in range(0, len(DOCUMENT), size):
        stream.feed(DOCUMENT[start : start + size])
    whole = render_markdown(DOCUMENT)
    assert text_of(stream.stable + stream.tail) == text_of(whole)
    assert re.sub(r"\s", "", stream.stable + stream.tail) == re.sub(r"\s", "", whole)


def test_what_is_stable_never_changes_and_steps_add_up() -> None:
    stream = StreamingMarkdown()
    stable, tail = "", ""
    for character in DOCUMENT:
        step = stream.feed(character)
        stable += step.stable
        if step.tail is not None:
            tail = step.tail
        assert stream.stable == stable
        if not step.more:
            assert step.tail is None or stream.tail == tail


def test_a_line_that_may_still_change_its_meaning_closes_nothing() -> None:
    stream = StreamingMarkdown()
    stream.feed("- item\n---")
    assert stream.stable == ""
    stream.feed("x")
    assert text_of(stream.tail) == "item ---x"


def test_an_open_code_block_grows_by_text_only_and_is_coloured_when_it_closes() -> None:
    stream = StreamingMarkdown()
    stream.feed("```python\nx = 1\n")
    sent = 0
    for number in range(3000):
        step = stream.feed(f"y = {number} < 2\n")
        assert step.tail is None
        sent += len(step.more)
    assert sent < 50_000
    assert "y = 2999 &lt; 2" in stream.tail
    assert "code-num" not in stream.tail
    short = StreamingMarkdown()
    short.feed("```python\nx = 1\n")
    assert "code-num" not in short.tail
    short.feed("``")
    assert "``" not in text_of(short.tail)
    short.feed("`\n\nafter")
    short.feed("\n")
    assert "code-num" in short.stable


def test_backticks_inside_code_are_shown_once_it_is_clear_what_they_are() -> None:
    stream = StreamingMarkdown()
    for piece in ["````\n", "``", "`", " not the end\n", "```", "\nmore"]:
        stream.feed(piece)
    assert "``` not the end\n```\nmore" in unescape(stream.tail)


def test_a_giant_open_block_stays_cheap() -> None:
    stream = StreamingMarkdown()
    began = time.perf_counter()
    for _ in range(2000):
        stream.feed("word " * 20)
    assert time.perf_counter() - began < 20
    assert len(text_of(stream.tail)) > MOST_OPEN


def test_a_link_to_a_file_of_the_workspace_names_it() -> None:
    """There is no page of a file to go to; the words must not show Markdown's own signs either."""
    html = render_markdown('See [`cli.py`](src/cli.py#L3), [the notes](notes.md "t") and ![shot](a/b.png).')
    assert " ".join(text_of(html).split()) == "See cli.py , the notes and shot ."
    assert "<a " not in html
    assert html.count('class="file-name"') == 3


@pytest.mark.parametrize(
    "address", ["//evil.example/x", "/etc/passwd", "data:text/html,x", "a b:c", "x:y", "../\\evil"]
)
def test_whatever_might_be_more_than_a_file_name_is_no_link(address: str) -> None:
    html = render_markdown(f"[x]({address})")
    assert "href" not in html


def test_words_that_are_merely_added_read_as_if_everything_had_been_rendered_anew() -> None:
    pieces = [
        *(
            "word ",
            "two words, ",
            "end. ",
            "*em* ",
            "`c` ",
            "**",
            "_",
            "a_b ",
            "https://x.y/z ",
            "http",
            "://",
        ),
        *(
            "www ",
            "\n",
            "\n\n",
            "- ",
            "1",
            ". ",
            "&am",
            "p",
            "; ",
            "[l](",
            "http://q) ",
            "\\",
            "<b> ",
            "| ",
            "#",
        ),
        *("=", "--", "  ", "~~", "!", "don't ", "3.14 ", "(so) ", "Ärger ", "> "),
    ]
    dice = random.Random(3)
    added = 0
    for _ in range(60):
        stream, source = StreamingMarkdown(), ""
        for _ in range(25):
            piece = dice.choice(pieces[:4] if dice.random() < 0.4 else pieces)
            source += piece
            added += bool(stream.feed(piece).more)
            shown, whole = stream.stable + stream.tail, render_markdown(source)
            assert re.sub(r"\s", "", shown) == re.sub(r"\s", "", whole), source
            assert text_of(shown) == text_of(whole), source
    assert added > 100


def test_the_empty_corner_of_a_table_is_no_heading() -> None:
    html = render_markdown("|  | Before | After |\n|---|---|---|\n| Cost | 1 | 2 |\n")
    assert "<tr>\n<td></td>\n<th>Before</th>" in html
