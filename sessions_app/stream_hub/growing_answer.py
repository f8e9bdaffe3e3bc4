"""An answer while it is being written: blocks that grow, as HTML that is safe and cheap to bring up to date."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any, Literal

from sessions_app.fragments import LiveBlock, LiveMessage, render_live_block, render_live_message
from sessions_app.fragments.plain_text import visible
from sessions_app.fragments.speakers import speaker
from sessions_app.markdown import Step, StreamingMarkdown

Json = dict[str, Any]
Op = list[Any]
Kind = Literal["text", "thinking", "toolCall"]

_KINDS: dict[str, Kind] = {"text": "text", "thinking": "thinking", "toolcall": "toolCall"}


class GrowingBlock:
    """One content block: Markdown (text), plain text (thinking), or only a name (toolCall).

    What arrives is kept in `fresh` until the next frame is made: then it is rendered once, however many
    batches it came in.
    """

    def __init__(self, index: int, kind: Kind, name: str = "") -> None:
        self.index = index
        self.kind = kind
        self.name = name
        self.fresh: list[str] = []
        self._source: list[str] = []
        self._markdown = StreamingMarkdown() if kind == "text" else None
        self._plain: list[str] = []

    def as_fragment(self) -> LiveBlock:
        """With all that has been rendered."""
        if self._markdown:
            return LiveBlock(self.index, self.kind, self._markdown.stable, self._markdown.tail, self.name)
        return LiveBlock(self.index, self.kind, "", escape("".join(self._plain)), self.name)

    def add(self, delta: str) -> None:
        self.fresh.append(delta)
        self._source.append(delta)

    def says(self, content: str) -> bool:
        """Whether exactly this has arrived."""
        return "".join(self._source) == content

    def step(self) -> Step:
        """Render what is fresh."""
        text = "".join(self.fresh)
        self.fresh.clear()
        if self._markdown:
            return self._markdown.feed(text)
        shown = text if text.isascii() and text.isprintable() else visible(text)
        self._plain.append(shown)
        return Step(more=shown)


class GrowingAnswer:
    """The open answer of a run. `key` names it in frames: `m3` is the run's third answer."""

    def __init__(self, key: str, message: Json) -> None:
        self.key = key
        self.model = speaker(message)
        self._blocks: dict[int, GrowingBlock] = {}

    def html(self) -> str:
        """The whole placeholder."""
        blocks = tuple(self._blocks[index].as_fragment() for index in sorted(self._blocks))
        return render_live_message(LiveMessage(self.key, self.model, blocks))

    def start(self) -> list[Op]:
        return [["message", self.key, self.html()]]

    def settle(self) -> None:
        """Render everything without telling anybody."""
        for block in self._blocks.values():
            block.step()

    def take(self, update: Json) -> Iterator[tuple[Literal["block", "text"], GrowingBlock]]:
        """Apply a nested event of spec 10. Gives blocks that are new, or that begin to have something fresh."""
        name, _, phase = str(update["type"]).partition("_")
        kind = _KINDS.get(name)
        if kind is None:
            return
        index = int(update["contentIndex"])
        block = self._blocks.get(index)
        if block is None:
            tool = str(update.get("toolName") or (update.get("toolCall") or {}).get("name") or "")
            block = GrowingBlock(index, kind, tool)
            self._blocks[index] = block
            yield "block", block
        if kind == "toolCall":
            # Half the arguments say nothing to a person; the card shows them when they are complete.
            return
        if phase == "delta":
            if not block.fresh:
                yield "text", block
            block.add(str(update["delta"]))
        elif phase == "end" and not block.says(str(update.get("content", ""))):
            # Something was lost on the way, or the stream is told again: the block starts anew.
            block = self._blocks[index] = GrowingBlock(index, kind)
            yield "block", block
            block.add(str(update["content"]))
            yield "text", block

    def ops(self, change: Literal["block", "text"], block: GrowingBlock) -> Iterator[Op]:
        """What the browser has to do for a change."""
        if change == "block":
            yield ["block", self.key, block.index, render_live_block(block.as_fragment(), self.model)]
            return
        step = block.step()
        if step.stable:
            yield ["stable", self.key, block.index, step.stable]
        if step.tail is not None:
            yield ["tail", self.key, block.index, step.tail]
        if step.more:
            yield ["more", self.key, block.index, step.more]
