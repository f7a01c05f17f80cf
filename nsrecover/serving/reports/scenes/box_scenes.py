"""Scene graphs in a report: drawings of the expected and the observed scene, and the table of their objects."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from nsrecover.core.discrepancy import Deviation, Discrepancy, Unseen
from nsrecover.core.scene import FloatArray, SceneGraph
from nsrecover.domains.tabletop.relations import support_name
from nsrecover.explanation.facts import shift
from nsrecover.serving.reports.model import KIND_WORDS, MarkedAs, Row, SceneView
from nsrecover.serving.reports.scenes.drawing import FROM_ABOVE, DrawnView, Frame, best_side, colour_of, draw
from nsrecover.serving.reports.wording import kinds_of
from nsrecover.util.english import the

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
