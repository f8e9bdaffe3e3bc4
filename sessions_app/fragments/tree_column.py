"""The same drawing for narrow screens: time runs down, a row per item, the active path is the first line (UI §6)."""

from __future__ import annotations

from dataclasses import dataclass, field

from sessions_app.core import faces
from sessions_app.core.drawing import Item, Place, Shape
from sessions_app.fragments import tree_svg as svg
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tree_drawing import Picture, Rect, Window

ROW, COLUMN, FIRST, BEHIND = 34.0, 24.0, 26.0, 28.0
MOST_COLUMNS = 3
"""Branches of branches beyond that share the last line."""
CHARACTER = 6.6


@dataclass(frozen=True, slots=True)
class Stretch:
    """A line down column `column` between two rows; with `fork` it leaves that row of column `fork_column`."""

    column: int
    first: int
    last: int
    fork: int | None
    fork_column: int
    active: bool


@dataclass(slots=True)
class Column:
    """The items of a picture in rows: branches first, then what goes on from their fork."""

    picture: Picture
    rows: list[tuple[Item, int]] = field(default_factory=list)
    stretches: list[Stretch] = field(default_factory=list)
    words_x: float = field(init=False)
    """Where all words begin: behind the last line there is."""

    def __post_init__(self) -> None:
        drawing = self.picture.drawing
        attached: dict[int, list[int]] = {}
        for key, leaves in drawing.attached.items():
            attached.setdefault(id(leaves), []).append(key)
        roots = [key for key in drawing.items if key not in drawing.attached]
        pending: list[tuple[int, int, int, int | None, int]] = [
            (key, 0, 0, None, 0) for key in reversed(roots)
        ]
        while pending:
            key, start, column, fork, fork_column = pending.pop()
            items, line = drawing.items[key], drawing.lines[key]
            first = len(self.rows)
            stop = start
            for stop in range(start, len(items)):
                self.rows.append((items[stop], column))
                if id(items[stop]) in attached:
                    break
            last = len(self.rows) - 1
            on_path = line.active is not None and start < len(items) and items[start].x <= line.active
            if last >= first:
                self.stretches.append(Stretch(column, first, last, fork, fork_column, on_path))
            branches = attached.get(id(items[stop]), []) if stop < len(items) else []
            goes_on = [(key, stop + 1)] if stop + 1 < len(items) else []
            ways = [*goes_on, *((branch, 0) for branch in branches)]
            main = next((way for way in ways if self._is_active(*way)), goes_on[0] if goes_on else None)
            if main is not None:
                pending.append((*main, column, last, column))
            others = [way for way in reversed(ways) if way != main]
            pending.extend((*way, min(MOST_COLUMNS, column + 1), last, column) for way in others)
        self.words_x = FIRST + COLUMN * max((column for _, column in self.rows), default=0) + BEHIND

    def _is_active(self, key: int, start: int) -> bool:
        line, items = self.picture.drawing.lines[key], self.picture.drawing.items[key]
        return line.active is not None and start < len(items) and items[start].x <= line.active

    def whole(self, width: float) -> Rect:
        return Rect(0, -ROW, width, (len(self.rows) + 1) * ROW)

    def around(self, place: Place | None, width: float, height: float) -> Rect:
        """A rectangle of that size with an entry's row in it."""
        item = self.picture.drawing.find(place) if place is not None else None
        row = next((index for index, (other, _) in enumerate(self.rows) if other is item), 0)
        whole = self.whole(width)
        return Rect(
            0, max(whole.y, min(row * ROW - height / 2, whole.y + whole.height - height)), width, height
        )

    def window(self, rect: Rect) -> Window:
        low = max(0, int(rect.y // ROW) - 1)
        high = min(len(self.rows), int((rect.y + rect.height) // ROW) + 2)
        shown = self.rows[low:high]
        entries = [
            item for item, _ in shown if item.shape in (Shape.ENTRY, Shape.FORK, Shape.CAPSULE, Shape.FOLDED)
        ]
        self.picture.look_up([item.place for item in entries], entries)
        nodes = [
            self._row(item, column, low + index, rect.width) for index, (item, column) in enumerate(shown)
        ]
        body = "".join((*self._lines(low, high), *nodes))
        box = " ".join(svg.number(value) for value in (rect.x, rect.y, rect.width, rect.height))
        drawn = (
            f'<svg class="tsvg tsvg--down" id="tree-svg" role="tree" aria-label="Session tree" viewBox="{box}" '
            f'width="{svg.number(rect.width)}" height="{svg.number(rect.height)}">{body}</svg>'
        )
        return Window(drawn, rect, self.whole(rect.width), 0)

    def _lines(self, low: int, high: int) -> list[str]:
        plain: list[str] = []
        active: list[str] = []
        for stretch in self.stretches:
            if stretch.last < low or (stretch.first if stretch.fork is None else stretch.fork) > high:
                continue
            x, begin = FIRST + COLUMN * stretch.column, stretch.first * ROW
            move = f"M{svg.number(x)} {svg.number(begin)}"
            if stretch.fork is not None:
                fork_x, fork_y = FIRST + COLUMN * stretch.fork_column, stretch.fork * ROW
                turn = f"M{svg.number(fork_x)} {svg.number(fork_y)}"
                if stretch.column == stretch.fork_column:
                    move = turn
                else:
                    move = f"{turn}V{svg.number(fork_y + 5)}a8 8 0 0 0 8 8H{svg.number(x - 8)}a8 8 0 0 1 8 8"
            (active if stretch.active else plain).append(f"{move}V{svg.number(stretch.last * ROW)}")
        return [svg.path("edge", plain), svg.path("edge edge--path", active)]

    def _row(self, item: Item, column: int, row: int, width: float) -> str:
        picture, y = self.picture, row * ROW
        active = picture.is_active(item)
        words = picture.words.get(item.place)
        _, name = picture.body(item, y, active, words)
        shape = self._shape(item, FIRST + COLUMN * column, y, active)
        said, aside = self._said(item, name)
        if item.hits:
            said = picture.found.get(item.place) or said
        room = max(8, int((width - self.words_x - 24 - CHARACTER * len(aside)) / CHARACTER))
        css = (
            "t-strong"
            if active and item.face == faces.USER
            else "t-bad"
            if item.face == faces.ERROR
            else "t-words"
        )
        shown = one_line(said, room)
        if item.hits:
            text = svg.chip(shown, self.words_x - 4, y - 8.5, "hit", "t-hit")
        else:
            text = svg.text(shown, self.words_x, y + 4, css)
        if aside:
            css = "t-here" if item is picture.here else "t-faint"
            text += svg.text(aside, width - 14, y + 4, css, "end")
        box = f'x="4" y="{svg.number(y - ROW / 2)}" width="{svg.number(width - 8)}" height="{svg.number(ROW)}" rx="6"'
        target = f'<rect class="target" {box}/>'
        return f"<g {picture.attributes(item, name, words, active)}>{target}{shape}{text}</g>"

    def _shape(self, item: Item, x: float, y: float, active: bool) -> str:
        match item.shape:
            case Shape.CAPSULE | Shape.FOLDED | Shape.ABOVE | Shape.BUNDLE:
                entries = self.picture.outline.strands[item.strand].faces[item.start : item.end + 1]
                return svg.small_capsule(x, y, entries, active=active)
            case Shape.FORK:
                return svg.use("fork", x, y, 14)
            case Shape.RUNNING:
                return svg.use("running", x, y, 20)
            case Shape.QUEUED:
                return svg.use("queued", x, y, 14)
            case _:
                return svg.use(faces.GLYPHS.get(item.face, "note"), x, y, 17)

    def _said(self, item: Item, name: str) -> tuple[str, str]:
        """The words of a row, and what stands at its end."""
        picture = self.picture
        words = picture.words.get(item.place)
        aside = ""
        if item is picture.drawing.items[item.strand][-1] and item.shape not in (Shape.RUNNING, Shape.QUEUED):
            aside = picture.of_tip(item)[1]
        label = picture.outline.labels.get(item.place) if item.shape in (Shape.ENTRY, Shape.FORK) else None
        if label:
            aside = f"{one_line(label, 18)} · {aside}" if aside else one_line(label, 18)
        if item.shape in (Shape.ENTRY, Shape.FORK) and words is not None:
            said = "Branch point" if item.shape is Shape.FORK else words.text
            if item.face in (
                faces.COMPACTION,
                faces.RESULT,
                faces.CHANGE,
                faces.FAILURE,
                faces.BRANCH_SUMMARY,
            ):
                said = words.name
            return said or words.name, aside
        return name.removesuffix(" folded"), aside
