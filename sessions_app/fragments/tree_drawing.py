"""A window of the tree's drawing as SVG: what the browser gets, and never more than it shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import zip_longest

from django.utils.html import escape

from sessions_app.core import faces
from sessions_app.core.drawing import BOOKKEEPING, Drawing, Item, Outline, Place, Shape
from sessions_app.core.drawing.layout import LANE, TIP_WORDS
from sessions_app.core.drawing.outline import path_of
from sessions_app.core.search_words import Phrase
from sessions_app.fragments import tree_svg as svg
from sessions_app.fragments import wording
from sessions_app.fragments.plain_text import one_line
from sessions_app.fragments.tree_far import far_words
from sessions_app.fragments.tree_words import OUTCOME_GLYPHS, Words, words_around, words_at
from sessions_app.models import Entry, Session

MOST_NODES = 700
"""SVG nodes in one window (UI §6)."""


@dataclass(frozen=True, slots=True)
class Rect:
    """In pixels at 100 %, as the drawing counts them."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Window:
    """What is sent: the SVG of `rect`, and the size of the whole drawing (`whole`)."""

    svg: str
    rect: Rect
    whole: Rect
    hidden: int


@dataclass(slots=True)
class Picture:
    """A session's drawing, from which windows are cut.

    With `second`, the tip of another branch, it is a picture of two branches and no tree to walk in. `phrases` are what
    is looked for.
    """

    session: Session
    outline: Outline
    drawing: Drawing
    second: Place | None = None
    phrases: tuple[Phrase, ...] = ()
    words: Mapping[Place, Words] = field(default_factory=dict)
    found: dict[Place, str] = field(default_factory=dict)

    here: Item | None = field(init=False)
    others: dict[int, int] = field(init=False)
    _forks: set[int] = field(init=False)

    def __post_init__(self) -> None:
        self.others = path_of(self.outline.strands, self.second)
        self._forks = {id(fork) for fork in self.drawing.attached.values()}
        self.here = self._item_of(self.outline.leaf) if self.outline.leaf is not None else None

    def _item_of(self, leaf: Place) -> Item | None:
        """Where one stands: of a leaf that is not shown because it is bookkeeping, such as a label, the entry before it; of one
        that the filter hides nowhere.
        """
        item = self.drawing.find(leaf)
        if item is None or item.start <= leaf[1] <= item.end:
            return item
        between = self.outline.strands[leaf[0]].faces[item.end + 1 : leaf[1] + 1]
        return item if item.end < leaf[1] and all(face in BOOKKEEPING for face in between) else None

    @property
    def whole(self) -> Rect:
        drawn = self.drawing
        return Rect(drawn.left, drawn.top, drawn.right - drawn.left, drawn.bottom - drawn.top)

    def around(self, place: Place | None, width: float, height: float) -> Rect:
        """A rectangle of that size with an entry in it, inside the drawing where it can be."""
        whole = self.whole
        item = self.drawing.find(place) if place is not None else None
        if item is None:
            x, y = whole.x, -height / 2
        else:
            x, y = item.centre - width * 0.6, self.drawing.lanes[item.strand] * LANE - height / 2
        x = max(whole.x, min(x, whole.x + whole.width - width))
        if whole.height > height:
            y = max(whole.y, min(y, whole.y + whole.height - height))
        else:
            y = whole.y + whole.height / 2 - height / 2
        return Rect(x, y, width, height)

    # ---- the window ----

    def window(self, rect: Rect) -> Window:
        reach = TIP_WORDS
        found = self.drawing.within(
            rect.x - reach, rect.y - LANE / 2, rect.x + rect.width + reach, rect.y + rect.height + LANE / 2
        )
        items, hidden = _most_telling(found, self)
        self.look_up(_places_with_words(items, self), items)
        body = "".join((*self._edges(rect), self._nodes(items))) + (
            far_words(self, items) if self.second is None else ""
        )
        box = f"{svg.number(rect.x)} {svg.number(rect.y)} {svg.number(rect.width)} {svg.number(rect.height)}"
        role = (
            'class="tsvg" id="tree-svg" role="tree" aria-label="Session tree"'
            if self.second is None
            else 'class="tsvg" role="img" aria-label="Where the two branches part"'
        )
        drawn = (
            f'<svg {role} viewBox="{box}" '
            f'width="{svg.number(rect.width)}" height="{svg.number(rect.height)}">{body}</svg>'
        )
        return Window(drawn, rect, self.whole, hidden)

    def look_up(self, places: Iterable[Place], items: Iterable[Item]) -> None:
        """The words at some places, and of items with a hit those around it."""
        self.words = words_at(places)
        hits = [item.place for item in items if item.hits]
        self.found = words_around(hits, self.phrases) if hits else {}

    def _edges(self, rect: Rect) -> list[str]:
        lines: dict[int, list[str]] = {0: [], 1: [], 2: []}
        elbows: dict[int, list[str]] = {0: [], 1: [], 2: []}
        active: list[str] = []
        ahead: list[str] = []
        second: list[str] = []
        top, bottom = rect.y - LANE, rect.y + rect.height + LANE
        for line in self.drawing.lines.values():
            y, above = line.lane * LANE, line.fork_lane * LANE
            low, high = min(y, above), max(y, above)
            begin = line.left if line.fork_x is None else line.fork_x
            if high < top or low > bottom or begin > rect.x + rect.width or line.right < rect.x:
                continue
            weight = 0 if not self.drawing.chosen.bulk else min(2, len(str(line.weight)) - 2)
            if self._is_second(line.strand):
                elbow = svg.elbow(line.fork_x, above, y, line.left) if line.fork_x is not None else ""
                second.append(f"{elbow}M{svg.number(line.left)} {svg.number(y)}H{svg.number(line.right)}")
                continue
            if line.fork_x is not None:
                move = svg.elbow(line.fork_x, above, y, line.left)
                (active if line.active is not None else elbows[max(0, weight)]).append(move)
            until = line.active if line.active is not None else line.left
            if line.active is not None:
                active.append(f"M{svg.number(line.left)} {svg.number(y)}H{svg.number(until)}")
            if line.right > until:
                move = f"M{svg.number(until)} {svg.number(y)}H{svg.number(line.right)}"
                goes_on = self.others.get(line.strand, -1) > self.outline.path.get(line.strand, -1)
                (second if goes_on else ahead if line.ahead else lines[max(0, weight)]).append(move)
        for key, lane in self.drawing.bundle_lanes.items():
            item = next(it for it in self.drawing.items[int(key[1:].split(".")[0])] if it.key == key)
            if rect.x - 200 <= item.x <= rect.x + rect.width:
                y = self.drawing.lanes[item.strand] * LANE
                elbows[0].append(svg.elbow(item.centre, y, lane * LANE, item.centre + 20))
        parts = [svg.path(f"edge edge--w{weight}", moves) for weight, moves in lines.items()]
        parts.append(svg.path("edge edge--dash", ahead))
        for weight, moves in elbows.items():
            parts += [svg.path("edge-halo", moves), svg.path(f"edge edge--w{weight}", moves)]
        parts += [svg.path("edge-halo", active), svg.path("edge edge--path", active)]
        parts += [svg.path("edge-halo", second), svg.path("edge edge--b", second)]
        parts.append(svg.path("edge edge--summary", self._summaries()))
        return [part for part in parts if part]

    def _summaries(self) -> list[str]:
        """Dotted, from the branch that was left to where the work went on."""
        wanted = {words.from_id: place for place, words in self.words.items() if words.from_id}
        if not wanted:
            return []
        rows = Entry.objects.filter(session=self.session, entry_id__in=list(wanted)[:100])
        moves = []
        for segment, ordinal, entry_id in rows.values_list("segment_id", "ordinal", "entry_id"):
            left, arrived = self.drawing.find((segment, ordinal)), self.drawing.find(wanted[entry_id])
            if left is None or arrived is None or left.strand == arrived.strand:
                continue
            y, to = self.drawing.lanes[left.strand] * LANE, self.drawing.lanes[arrived.strand] * LANE
            if y == to:
                continue
            sign = 1 if to > y else -1
            begin, end = left.x + left.width + 4, arrived.centre
            if end - begin > 14:
                move = f"M{svg.number(begin)} {svg.number(y)}H{svg.number(end - 10)}a10 10 0 0 {1 if sign > 0 else 0} 10 {10 * sign}"
            else:
                move = f"M{svg.number(end)} {svg.number(y + 10 * sign)}"
            moves.append(f"{move}V{svg.number(to - 10 * sign)}")
        return moves

    # ---- nodes ----

    def _nodes(self, items: list[Item]) -> str:
        """The shapes, each a treeitem, and above them all words: those reach over other shapes."""
        ordered = sorted(items, key=lambda item: (self.drawing.lanes[item.strand], item.x))
        above = _Above()
        for item, following in zip_longest(ordered, ordered[1:]):
            if item.hits:
                above.keep_for(item, self._found_at(item), following)
            elif item.place in self.outline.labels and not (
                self.is_tip(item) or self._says(item, self.words.get(item.place))
            ):
                above.keep(item, 26 + svg.words_width(one_line(self.outline.labels[item.place], 24)))
        nodes, words = [], []
        for item in ordered:
            node, about = self._node(item, above)
            nodes.append(node)
            if about:
                words.append(f'<g data-of="{_id_of(item)}">{about}</g>')
        return f'{"".join(nodes)}<g class="words" aria-hidden="true">{"".join(words)}</g>'

    def _node(self, item: Item, above: _Above) -> tuple[str, str]:
        y = self.drawing.lanes[item.strand] * LANE
        active = self.is_active(item)
        words = self.words.get(item.place)
        body, name = self.body(item, y, active, words)
        about = self._about(item, y, active, words, above)
        target = (
            f'<rect class="target" x="{svg.number(item.x - 5)}" y="{svg.number(y - 14)}" '
            f'width="{svg.number(item.width + 10)}" height="28" rx="7"/>'
        )
        if self.second is not None:
            return f"<g>{body}</g>", about
        return f"<g {self.attributes(item, name, words, active)}>{target}{body}</g>", about

    def attributes(self, item: Item, name: str, words: Words | None, active: bool) -> str:
        """What makes a shape an item of the tree, for people who hear it and for the script that walks in it."""
        siblings = self.drawing.items[item.strand]
        attributes = [
            f'class="node{" node--hit" if item.hits else ""}" role="treeitem" tabindex="-1"',
            f'id="{_id_of(item)}"',
            f'aria-level="{self.drawing.levels[item.strand]}" aria-posinset="{item.index + 1}" aria-setsize="{len(siblings)}"',
            f'aria-label="{escape(self._spoken(item, name))}"',
            f'data-place="{item.strand}.{item.start}"',
        ]
        if words is not None and item.shape in (Shape.ENTRY, Shape.FORK):
            attributes.append(f'data-seq="{words.seq}"')
        if item.key:
            attributes.append(f'data-key="{item.key}"')
            if item.shape in (Shape.CAPSULE, Shape.BUNDLE, Shape.FOLDED):
                attributes.append('aria-expanded="false"')
        if item.within:
            attributes.append(f'data-within="{item.within}"')
        if active:
            attributes.append("data-active")
        if item is self.here:
            attributes.append('aria-current="true"')
        if item.index == 0 and item.strand in self.drawing.attached:
            attributes.append(f'data-up="{_id_of(self.drawing.attached[item.strand])}"')
        return " ".join(attributes)

    def body(self, item: Item, y: float, active: bool, words: Words | None) -> tuple[str, str]:
        """The shape, and its name."""
        plural = wording.plural
        match item.shape:
            case Shape.CAPSULE:
                entries = self.outline.strands[item.strand].faces[item.start : item.end + 1]
                return svg.capsule(item, y, entries, line=self._line_of(item, active)), plural(
                    item.count, "entry", "entries"
                ) + " folded"
            case Shape.FOLDED | Shape.ABOVE:
                rect = (
                    f'<rect class="cap cap--stack{" cap--path" if active else ""}" x="{svg.number(item.x)}" y="{svg.number(y - 10)}" '
                    f'width="{svg.number(item.width)}" height="20" rx="10"/>'
                )
                above = item.shape is Shape.ABOVE
                shown = f"… {svg.short_count(item.count)} above" if above else svg.short_count(item.count)
                label = svg.text(shown, item.centre, y + 4, "t-count", "middle")
                what = "entries above" if above else "entries in a folded branch"
                return rect + label, f"{item.count:,} {what}"
            case Shape.TIMES:
                glyph = faces.GLYPHS[item.face]
                kind = "compaction" if item.face == faces.COMPACTION else "error"
                drawn = svg.use(glyph, item.centre, y, 18) + svg.text(
                    f"×{item.count}", item.centre, y + 26, "t-faint t-halo", "middle"
                )
                return drawn, plural(item.count, kind)
            case Shape.BUNDLE:
                return self._bundle(item, y), plural(item.count, "short branch", "short branches")
            case Shape.FORK:
                return svg.use(
                    "fork", item.centre, y, 16
                ), f"Branch point, {words.name if words else ''}".strip(", ")
            case Shape.RUNNING:
                drawn = svg.use("running", item.centre, y, 22) + svg.text(
                    "Writing…", item.x + 30, y + 4, "t-strong t-halo"
                )
                return drawn, "Running: the agent is writing"
            case Shape.QUEUED:
                shown = plural(item.count, "message") + " queued"
                return svg.use("queued", item.centre, y, 14) + svg.text(
                    shown, item.x + 24, y + 22, "t-faint t-halo"
                ), shown
            case _:
                glyph = faces.GLYPHS.get(item.face, "note")
                size = 20 if item.face == faces.COMPACTION else 18 if item.face != faces.RESULT else 15
                return svg.use(glyph, item.centre, y, size), words.name if words else "Entry"

    def _bundle(self, item: Item, y: float) -> str:
        lane = self.drawing.bundle_lanes[item.key] * LANE
        words = wording.plural(item.count, "short branch", "short branches")
        x = item.centre + 20
        lines = "".join(
            f"M{svg.number(x)} {svg.number(lane - 10 + 5 * n)}h{(22, 30, 18, 27)[n % 4]}" for n in range(5)
        )
        width = 18 + svg.words_width(words)
        return (
            svg.use("fork", item.centre, y, 14)
            + f'<path class="edge" d="{lines}"/>'
            + f'<rect class="cap" x="{svg.number(x + 38)}" y="{svg.number(lane - 10)}" width="{svg.number(width)}" height="20" rx="4"/>'
            + svg.text(words, x + 47, lane + 4, "t-count")
        )

    def _about(self, item: Item, y: float, active: bool, words: Words | None, above: _Above) -> str:
        """Labels, pins, first words, outcomes: each once, and dropped where there is no room (UI §6)."""
        parts: list[str] = []
        outline, place = self.outline, item.place
        is_entry = item.shape in (Shape.ENTRY, Shape.FORK)
        is_tip = self.is_tip(item)
        if is_entry and place in outline.pins:
            parts.append(
                f'<circle class="pin-bg" cx="{svg.number(item.x + 18)}" cy="{svg.number(y - 11)}" r="8"/>'
                f'<use class="icon icon--pin" href="#i-pin" x="{svg.number(item.x + 12.5)}" y="{svg.number(y - 16.5)}" width="11" height="11"/>'
            )
        if is_entry and place in outline.labels:
            label = one_line(outline.labels[place], 24)
            if is_tip:
                behind = svg.words_width(self.of_tip(item)[1]) + (42 if self.of_tip(item)[0] else 22)
                parts.append(svg.tag(label, item.x + item.width + behind, y))
            else:
                high = self._says(item, words) or item.hits
                parts.append(svg.tag(label, item.x, y - (39 if high else 26)))
        if item.hits:
            if shown := above.hits.get(id(item)):
                parts.append(svg.chip(shown, item.x - 4, y - 30, "hit", "t-hit"))
        elif (said := self._says(item, words)) and (room := above.fit(item, said, strong=active)):
            parts.append(svg.text(room, item.x, y - 17, f"t-halo {'t-strong' if active else 't-words'}"))
        if is_entry and item.face == faces.COMPACTION and words is not None:
            parts.append(
                svg.text(words.text or "Compaction", item.centre, y + 27, "t-faint t-halo", "middle")
            )
        if is_entry and item.face == faces.BRANCH_SUMMARY:
            parts.append(svg.text("Back from a branch", item.centre, y + 27, "t-faint t-halo", "middle"))
        if is_tip:
            parts.append(self._at_tip(item, y, words))
        return "".join(parts)

    def is_tip(self, item: Item) -> bool:
        """Whether a branch ends here, and nothing else goes on from it."""
        return item is self.drawing.items[item.strand][-1] and id(item) not in self._forks

    def _found_at(self, item: Item) -> str:
        return self.found.get(item.place, "")

    def _says(self, item: Item, words: Words | None) -> str:
        """The words above an item: a person's message, or what its branch begins with."""
        if item.shape is Shape.ENTRY and item.face == faces.USER and words is not None:
            return words.short
        if item.index == 0 and item.shape in (Shape.CAPSULE, Shape.FOLDED):
            begins = self.words.get((item.strand, item.start))
            return begins.short if begins is not None else ""
        return ""

    def _at_tip(self, item: Item, y: float, words: Words | None) -> str:
        """The outcome and what the branch cost; errors say what stopped."""
        x = item.x + item.width + 8
        if item.shape in (Shape.RUNNING, Shape.QUEUED):
            return ""
        if item.shape is Shape.ENTRY and item.face == faces.ERROR and words is not None:
            return svg.text(
                one_line(f"Stopped: {words.text}" if words.text else "Stopped on an error", 26),
                x,
                y + 4,
                "t-bad t-halo",
            )
        outcome, said = self.of_tip(item)
        drawn = ""
        if outcome:
            drawn = svg.use(OUTCOME_GLYPHS[outcome], x + 6, y, 17)
            x += 20
        css = "t-here" if item is self.here else "t-faint"
        return drawn + svg.text(said, x, y + 4, f"{css} t-halo")

    def of_tip(self, item: Item) -> tuple[str, str]:
        """The outcome of a branch, and what is said behind its tip."""
        strand = self.outline.strands[item.strand]
        outcome = self.outline.outcomes.get((item.strand, len(strand.faces) - 1), "")
        said = wording.OUTCOME_WORDS.get(outcome, "stopped" if item.face == faces.STOPPED else "tip")
        if item is self.here:
            said = f"here · {said}" if outcome else "here"
        return outcome, f"{said} · {wording.money(strand.cost)}" if strand.cost else said

    def _spoken(self, item: Item, name: str) -> str:
        place = item.place
        said = [name]
        if item.shape in (Shape.ENTRY, Shape.FORK):
            if place in self.outline.labels:
                said.append(f"label {self.outline.labels[place]}")
            if place in self.outline.pins:
                said.append("pinned")
            if place in self.outline.outcomes:
                said.append(wording.OUTCOME_WORDS[self.outline.outcomes[place]])
            if item is self.here:
                said.append("you are here")
        if item.hits:
            said.append("found")
        return ", ".join(said)

    def _line_of(self, item: Item, active: bool) -> str:
        if self._is_second(item.strand) or (item.strand in self.others and not active):
            return "b"
        return "path" if active else ""

    def _is_second(self, strand: int) -> bool:
        return strand in self.others and strand not in self.outline.path

    def is_active(self, item: Item) -> bool:
        line = self.drawing.lines[item.strand]
        return line.active is not None and item.x <= line.active


class _Above:
    """The words above each lane, from left to right: where the last ones end, and what is kept for hits (`hits`, by item)."""

    def __init__(self) -> None:
        self.hits: dict[int, str] = {}
        self._ends: dict[int, float] = {}
        self._words_end: dict[int, float] = {}
        self._kept: dict[int, list[tuple[float, float]]] = {}

    def keep_for(self, item: Item, words: str, following: Item | None) -> None:
        """Hits come first, but the next one on the lane needs its room too."""
        if item.x < self._ends.get(item.strand, float("-inf")):
            return
        room = MOST_OF_HIT
        if following is not None and following.strand == item.strand and following.hits:
            room = following.x - item.x - 12
        shown = one_line(words, max(0, int(room / svg.words_width("x")))) if room >= LEAST_OF_HIT else ""
        if shown:
            self.hits[id(item)] = shown
            self.keep(item, svg.words_width(shown) + 8)
            self._ends[item.strand] = item.x + svg.words_width(shown) + 8

    def keep(self, item: Item, width: float) -> None:
        """No words of others so far from an item on."""
        self._kept.setdefault(item.strand, []).append((item.x + 1, item.x + width))

    def fit(self, item: Item, words: str, *, strong: bool) -> str:
        """The words if there is room behind those before them, else nothing."""
        begin, end = item.x, item.x + svg.words_width(words, strong=strong)
        if begin < self._words_end.get(item.strand, float("-inf")) + 8:
            return ""
        if any(begin < right and left < end for left, right in self._kept.get(item.strand, ())):
            return ""
        self._words_end[item.strand] = end
        return words


def _id_of(item: Item) -> str:
    return f"n{item.strand}-{item.start}-{item.shape.value}"


def _places_with_words(items: list[Item], picture: Picture) -> list[Place]:
    found = [item.place for item in items if item.shape in (Shape.ENTRY, Shape.FORK)]
    found += [item.place for item in items if item.index == 0 and item.shape in (Shape.CAPSULE, Shape.FOLDED)]
    return found


MOST_OF_HIT, LEAST_OF_HIT = 190.0, 40.0
"""Pixels of the words around a hit."""
_COSTS: Mapping[Shape, int] = {Shape.CAPSULE: 8, Shape.BUNDLE: 7, Shape.TIMES: 4, Shape.FOLDED: 5}


def _most_telling(items: list[Item], picture: Picture) -> tuple[list[Item], int]:
    """As many as a window may hold: what stands out first, then the longest; and how many are left out."""

    def weight(item: Item) -> tuple[int, int]:
        place = item.place
        marked = place in picture.outline.labels or item.hits or place in picture.outline.outcomes
        telling = item.shape in (Shape.RUNNING, Shape.FORK, Shape.ABOVE) or item.face in (
            faces.ERROR,
            faces.BRANCH_SUMMARY,
        )
        return (0 if marked or place == picture.outline.leaf else 1 if telling else 2), -item.count

    budget, kept = MOST_NODES - 20, []
    for item in sorted(items, key=weight):
        budget -= _COSTS.get(item.shape, 4)
        if budget < 0:
            break
        kept.append(item)
    return kept, len(items) - len(kept)
