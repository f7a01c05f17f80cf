"""Scenes in a report: drawings of boxes from above and from the side, trees of facts, and the tables of the objects."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from nsrecover.core.discrepancy import Deviation, Discrepancy, Unknown, Unseen
from nsrecover.core.episode import Episode
from nsrecover.core.facts import PLACE, Facts, FactScene, StateFact
from nsrecover.core.scene import Box, FloatArray, SceneGraph
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with
from nsrecover.domains.tabletop.relations import support_name, supporter
from nsrecover.explanation.facts import shift
from nsrecover.explanation.unseen import missing_facts, missing_text
from nsrecover.serving.reports.model import KIND_WORDS, FactPlace, MarkedAs, Row, SceneView
from nsrecover.serving.reports.wording import kinds_of
from nsrecover.util.english import capital, the

WIDTH = 500
"""Width of a drawing, in SVG units."""
MARGIN = 26
TALLEST = 300
"""Greatest height of a drawing, in SVG units."""

COLOURS = {
    "red": "#e5484d",
    "green": "#30a46c",
    "blue": "#3e63dd",
    "yellow": "#f5d90a",
    "cyan": "#5bd5e6",
    "magenta": "#d6409f",
    "white": "#f4f4f2",
    "orange": "#f76b15",
    "purple": "#8e4ec6",
    "black": "#40434a",
    "brown": "#a1745b",
    "grey": "#9ba1a6",
    "gray": "#9ba1a6",
}
"""Colour word in an object's name -> colour of its drawing."""

_OTHERS = ("#86a3c3", "#b3a07c", "#9bb08a", "#b08fa8", "#8fb0ab", "#b5917d")


def colour_of(name: str, index: int) -> str:
    """Return the colour that an object's name contains, or a muted one."""
    for word in name.lower().replace("_", " ").split():
        if word in COLOURS:
            return COLOURS[word]
    return _OTHERS[index % len(_OTHERS)]


@dataclass(frozen=True)
class Frame:
    """Mapping from metres to SVG units, common to all scenes of a comparison.

    Attributes:
        low: smallest horizontal and vertical coordinate, metres.
        high: largest.
        scale: SVG units per metre.
    """

    low: tuple[float, float]
    high: tuple[float, float]
    scale: float

    @property
    def height(self) -> float:
        """Height of the drawing, SVG units."""
        return (self.high[1] - self.low[1]) * self.scale + 2 * MARGIN

    def point(self, horizontal: float, vertical: float) -> tuple[float, float]:
        """SVG coordinates of a point."""
        offset = (WIDTH - (self.high[0] - self.low[0]) * self.scale) / 2
        return (
            offset + (horizontal - self.low[0]) * self.scale,
            self.height - MARGIN - (vertical - self.low[1]) * self.scale,
        )


class DrawnView:
    """View direction: the axes that point right, up and towards the eye.

    Args:
        title: text above the drawing.
        right: axis and sign shown to the right.
        up: axis and sign shown upwards.
        near: axis and sign towards the eye; nearer objects are drawn over farther ones.
    """

    def __init__(self, title: str, right: tuple[int, int], up: tuple[int, int], near: tuple[int, int]) -> None:
        self.title = title
        self._right, self._up, self._near = right, up, near

    @property
    def sideways(self) -> bool:
        """Whether heights are shown."""
        return self._up[0] == 2

    def project(self, box: Box | FloatArray) -> tuple[float, float, float, float]:
        """Centre and size of a box in this view: horizontal, vertical, width, height."""
        (h, hs), (v, vs) = self._right, self._up
        return float(box[h]) * hs, float(box[v]) * vs, float(box[h + 3]), float(box[v + 3])

    def depth(self, box: Box | FloatArray) -> float:
        """Depth of a box; larger is nearer to the eye."""
        axis, sign = self._near
        return float(box[axis]) * sign

    def frame(self, boxes: Sequence[Box | FloatArray]) -> Frame:
        """Return a frame that contains all boxes."""
        flat = np.asarray([self.project(box) for box in boxes])
        low = (flat[:, :2] - flat[:, 2:] / 2).min(axis=0)
        high = (flat[:, :2] + flat[:, 2:] / 2).max(axis=0)
        if self.sideways:
            low[1], high[1] = 0.0, max(high[1], 0.12)
        span = np.maximum(high - low, (0.3, 0.0 if self.sideways else 0.2))
        # The scale is limited by width and height.
        scale = min((WIDTH - 2 * MARGIN) / float(span[0]), TALLEST / float(span[1]))
        span[0] = (WIDTH - 2 * MARGIN) / scale
        middle = (low + high) / 2
        low[0], high[0] = middle[0] - span[0] / 2, middle[0] + span[0] / 2
        if not self.sideways:
            low[1], high[1] = middle[1] - span[1] / 2, middle[1] + span[1] / 2
        return Frame((float(low[0]), float(low[1])), (float(high[0]), float(high[1])), scale)


FROM_ABOVE = DrawnView("from above", right=(1, -1), up=(0, 1), near=(2, 1))
"""The robot is below the drawing; its left is left."""
FROM_THE_ROBOT = DrawnView("from the robot", right=(1, -1), up=(2, 1), near=(0, -1))
"""Heights; the robot's left is left."""
FROM_THE_SIDE = DrawnView("from the right side; the robot stands to the left", right=(0, 1), up=(2, 1), near=(1, -1))
"""Heights; farther from the robot is to the right."""


def best_side(expected: SceneGraph, observed: SceneGraph) -> DrawnView:
    """Return the side view in which deviating objects have moved most."""
    moved = np.abs(expected.boxes[:, :2] - observed.boxes[:, :2]).sum(axis=0)
    return FROM_THE_SIDE if moved[0] > moved[1] else FROM_THE_ROBOT


def draw(
    graph: SceneGraph,
    view: DrawnView,
    frame: Frame,
    marked: Collection[str] = (),
    ghosts: SceneGraph | None = None,
    helped: Collection[str] = (),
) -> str:
    """Return a scene as an SVG element.

    Args:
        graph: the scene.
        view: direction.
        frame: from `view.frame`, of all scenes of a comparison.
        marked: names of deviating objects.
        ghosts: expected scene; the places of marked objects are drawn as dashed outlines with a line to the object.
        helped: those of the marked objects that help the plan; they are no errors.
    """
    kinds = {name: " helped" if name in helped else " wrong" for name in marked}
    shapes = [_ground(view, frame)]
    order = sorted(range(len(graph)), key=lambda i: view.depth(graph.boxes[i]))
    if ghosts is not None:
        shapes += [_ghost(ghosts, graph, name, view, frame) for name in marked if name in ghosts.names]
    shapes += [_node(graph, i, view, frame, kinds) for i in order if not graph.missing[i]]
    shapes += [_edge(graph, i, view, frame) for i in order if not graph.missing[i]]
    shapes += [_badge(graph, i, view, frame, kinds) for i in order if not graph.missing[i]]
    return (
        f'<svg viewBox="0 0 {WIDTH} {frame.height:.0f}" role="img" aria-label="scene {escape(view.title)}">'
        f"{''.join(shapes)}</svg>"
    )


def _ground(view: DrawnView, frame: Frame) -> str:
    if view.sideways:
        _, y = frame.point(0.0, 0.0)
        return f'<line class="table" x1="8" x2="{WIDTH - 8}" y1="{y:.1f}" y2="{y:.1f}"/>'
    return f'<rect class="ground" x="4" y="4" width="{WIDTH - 8}" height="{frame.height - 8:.0f}" rx="10"/>'


def _rectangle(box: Box | FloatArray, view: DrawnView, frame: Frame) -> tuple[float, float, float, float]:
    horizontal, vertical, width, height = view.project(box)
    x, y = frame.point(horizontal, vertical)
    w, h = width * frame.scale, height * frame.scale
    return x - w / 2, y - h / 2, w, h


def _node(graph: SceneGraph, index: int, view: DrawnView, frame: Frame, kinds: Mapping[str, str]) -> str:
    x, y, w, h = _rectangle(graph.boxes[index], view, frame)
    name = graph.names[index]
    return (
        f'<rect class="object{kinds.get(name, "")}" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" '
        f'rx="3" fill="{colour_of(name, index)}"><title>{escape(name)}</title></rect>'
    )


def _badge(graph: SceneGraph, index: int, view: DrawnView, frame: Frame, kinds: Mapping[str, str]) -> str:
    """Number of the object, as in the table of scores."""
    x, y = frame.point(*view.project(graph.boxes[index])[:2])
    return (
        f'<g class="badge{kinds.get(graph.names[index], "")}"><circle cx="{x:.1f}" cy="{y:.1f}" r="9.5"/>'
        f'<text x="{x:.1f}" y="{y + 4:.1f}">{index + 1}</text></g>'
    )


def _edge(graph: SceneGraph, index: int, view: DrawnView, frame: Frame) -> str:
    """Line from an object to its support."""
    below = supporter(graph, index)
    if below is None:
        return ""
    x1, y1 = frame.point(*view.project(graph.boxes[index])[:2])
    x2, y2 = frame.point(*view.project(graph.boxes[below])[:2])
    return f'<line class="edge" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _ghost(ghosts: SceneGraph, graph: SceneGraph, name: str, view: DrawnView, frame: Frame) -> str:
    """Outline of the expected place of an object, and a line to its observed place."""
    box = ghosts.boxes[ghosts.index(name)]
    x, y, w, h = _rectangle(box, view, frame)
    outline = (
        f'<rect class="ghost" x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="3">'
        f"<title>{escape(name)} should be here</title></rect>"
    )
    if name not in graph.names or graph.missing[graph.index(name)]:
        return outline
    x2, y2 = frame.point(*view.project(graph.boxes[graph.index(name)])[:2])
    return f'{outline}<line class="way" x1="{x + w / 2:.1f}" y1="{y + h / 2:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


FAR_M = 1.5
"""An object farther than this from the middle of the others does not set the scale of the drawings."""


class BoxScenes:
    """Draws the scenes of an episode, all of them from the same sides and at the same scale.

    Args:
        comparisons: of every turn.
        main: the one whose sideways shift chooses the side.
    """

    def __init__(self, comparisons: Sequence[Discrepancy], main: Discrepancy) -> None:
        boxes = [box for each in comparisons for graph in (each.expected, each.observed) for box in _near(graph)]
        common = [name for name in main.expected.names if name in main.observed.names]
        side = best_side(main.expected.chosen(common), main.observed.chosen(common))
        self._views: list[tuple[DrawnView, Frame]] = [(view, view.frame(boxes)) for view in (side, FROM_ABOVE) if boxes]

    def views(self, found: Discrepancy) -> tuple[SceneView, ...]:
        """The expected and the observed scene."""
        kinds = kinds_of(found)
        helped = [name for name, kind in kinds.items() if kind is MarkedAs.HELP]
        return tuple(
            SceneView(title, tuple((v.title, draw(graph, v, f, kinds, ghosts, helped)) for v, f in self._views))
            for title, graph, ghosts in (
                ("Expected", found.expected, None),
                ("Seen", found.observed, found.expected),
            )
        )

    def rows(self, found: Discrepancy) -> tuple[Row, ...]:
        """The objects."""
        deviations = {each.name: each for each in found.deviations}
        unseen = {each.name: each for each in found.unseen}
        probabilities = found.chances
        return tuple(
            _row(number, name, found, deviations.get(name), unseen, probabilities.get(name))
            for number, name in enumerate(found.observed.names, start=1)
        )


def _near(graph: SceneGraph) -> list[FloatArray]:
    """The boxes of a scene, without those that are far from the others."""
    boxes = graph.boxes[~graph.missing]
    if len(boxes) == 0:
        return []
    middle = sorted(boxes[:, 0])[len(boxes) // 2], sorted(boxes[:, 1])[len(boxes) // 2]
    return [box for box in boxes if math.dist(box[:2], middle) < FAR_M]


def _row(
    number: int,
    name: str,
    found: Discrepancy,
    deviation: Deviation | None,
    unseen: Mapping[str, Unseen],
    probability: float | None,
) -> Row:
    expected = _support(found.expected, name) if name in found.expected.names else "not there"
    seen, kind, distance_m = _support(found.observed, name), MarkedAs.OK, None
    verdict = KIND_WORDS[MarkedAs.OK]
    if deviation is not None:
        kind = kinds_of(found)[name]
        verdict = deviation.cause.value.replace("_", " ") if kind is MarkedAs.ERROR else "done already"
        distance_m = deviation.distance_m if math.isfinite(deviation.distance_m) else None
        if deviation.observed is not None and kind is MarkedAs.ERROR:
            seen = f"{seen}, {shift(deviation.expected, deviation.observed, deviation.uncertain_m)}"
    elif name in unseen:
        kind, verdict = MarkedAs.DOUBT, "not seen"
        seen = unseen[name].reason.meaning.rstrip(".").lower()
    elif name in found.newcomers:
        verdict = "new, left alone"
    return Row(number, name, colour_of(name, number - 1), expected, seen, verdict, kind, probability, distance_m)


def _support(graph: SceneGraph, name: str) -> str:
    index = graph.index(name)
    if graph.missing[index]:
        return "nowhere"
    if graph.held == index:
        return "in the gripper"
    return f"on {the(support_name(graph, index))}"


GRIPPER = "gripper"
SILENT = "nothing special"


class FactScenes:
    """Draws the scenes of an episode: the objects that it is about, and what they are in or on.

    Args:
        episode: of a symbolic domain.
        comparisons: of every turn.
        domain: has the words for facts.
    """

    def __init__(self, episode: Episode, comparisons: Sequence[Discrepancy[FactScene]], domain: Domain) -> None:
        actions = [*episode.plan, *(a for record in episode.records for a in record.plan)]
        named = [name for action in actions for name in action.arguments]
        deviating = [name for found in comparisons for name in found.deviating]
        # an argument such as `open` is no object: no fact is about it
        known = {term for found in comparisons for scene in (found.expected, found.observed)
                 for fact in scene.facts for term in fact[1:]}  # fmt: skip
        self._names = tuple(name for name in dict.fromkeys([*named, *deviating]) if name in known)
        self._domain = domain

    def views(self, found: Discrepancy[FactScene]) -> tuple[SceneView, ...]:
        """The expected and the observed scene."""
        kinds: dict[str, MarkedAs] = {
            each.name: MarkedAs.DOUBT for each in found.missing_to_tell if isinstance(each, Unknown)
        } | kinds_of(found)
        return tuple(
            SceneView(title, places=self._places(scene.facts, kinds))
            for title, scene in (("Expected", found.expected), ("Seen", found.observed))
        )

    def rows(self, found: Discrepancy[FactScene]) -> tuple[Row, ...]:
        """The objects of which a scene says something."""
        deviations = {each.name: each for each in found.deviations}
        doubts = {each.name for each in found.missing_to_tell if isinstance(each, Unknown)}
        rows = [self._row(name, found, deviations.get(name), name in doubts) for name in self._names]
        return tuple(row for row in rows if row.kind is not MarkedAs.OK or {row.expected, row.seen} != {SILENT})

    def _row(
        self,
        name: str,
        found: Discrepancy[FactScene],
        deviation: Deviation[tuple[StateFact, ...]] | None,
        doubtful: bool,
    ) -> Row:
        expected, seen = self._said(name, found.expected), self._said(name, found.observed)
        kind, verdict, probability = MarkedAs.OK, KIND_WORDS[MarkedAs.OK], None
        if deviation is not None:
            kind, probability = kinds_of(found)[name], deviation.probability
            verdict = "done already" if kind is MarkedAs.HELP else deviation.cause.value.replace("_", " ")
        elif doubtful:
            texts = [missing_text(fact) for fact in missing_facts(found) if fact.arguments[0] == name]
            kind, verdict, seen = MarkedAs.DOUBT, "not known", "; ".join(texts)
        return Row(None, name, "", expected, seen, verdict, kind, probability, None)

    def _said(self, name: str, scene: FactScene) -> str:
        """What a scene says of an object: `in the sink; filled with water`."""
        facts = sorted(fact for fact in scene.facts if len(fact) > 1 and fact[1] == name)
        said = [_without_subject(self._domain.text(fact), name) for fact in facts]
        if not scene.knows((PLACE, name)):
            said.append("place not known")
        return capital("; ".join(said)) or SILENT

    def _places(self, facts: Facts, kinds: Mapping[str, MarkedAs]) -> tuple[FactPlace, ...]:
        """The objects that the episode is about as trees."""
        about = facts_with((Role.LOCATION, Role.HELD), facts, self._domain)  # of several places the last in order
        where = {fact[1]: (self._how(fact), fact[2] if len(fact) == 3 else GRIPPER) for fact in about}
        shown = list(self._names)
        for name in shown:  # grows: what they are in or on is shown, too
            outer = where.get(name, ("", ""))[1]
            if outer and outer not in shown:
                shown.append(outer)
        roots = [name for name in shown if where.get(name, ("", ""))[1] not in shown]
        return tuple(self._place(name, facts, where, shown, kinds, ()) for name in roots)

    def _how(self, fact: StateFact) -> str:
        """How an object is with respect to what it is in or on: `on top of`."""
        if self._domain.relations[fact[0]] is Role.HELD:
            return "held"
        return _without_subject(self._domain.text(fact), fact[1]).removesuffix(f" {the(fact[-1])}")

    def _place(
        self,
        name: str,
        facts: Facts,
        where: Mapping[str, tuple[str, str]],
        shown: Collection[str],
        kinds: Mapping[str, MarkedAs],
        outer: tuple[str, ...],
    ) -> FactPlace:
        inner = [other for other in shown if where.get(other, ("", ""))[1] == name and other not in (*outer, name)]
        states = sorted(
            fact for fact in facts if len(fact) > 1 and fact[1] == name and fact[0] in self._domain.variables
        )
        return FactPlace(
            name,
            tuple(_without_subject(self._domain.text(fact), name) for fact in states),
            where[name][0] if outer and name in where else "",
            kinds.get(name, MarkedAs.OK),
            tuple(self._place(other, facts, where, shown, kinds, (*outer, name)) for other in inner),
        )


def _without_subject(text: str, name: str) -> str:
    """A clause without its subject: `filled with water`."""
    return text.removeprefix(f"{the(name)} is ")
