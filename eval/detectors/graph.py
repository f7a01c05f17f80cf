"""Scene-graph similarity (Yu et al., Scene Graph-Guided Proactive Replanning, appendix B), and relations alone.

The formulae are the paper's. Our choices: the perceiver matches the nodes, as for every detector here; features are
those of our encoder; edges are `tabletop.relations`, or directions between every two objects as a variant; D, which
scales differences of degrees, is the largest degree of both graphs. All objects count, including those that later
actions do not need. There is no subtask node: it would be the same in both graphs, and without it the paper's rate is
0.8433 instead of 0.9297 (its table A11).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eval.common.systems import system_of
from eval.detectors.base import Moment, References, part
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.relations import DIRECTIONS, Edge, Relation, relations, support_name
from nsrecover.monitoring.comparison import Circumstances, Comparison


@dataclass(frozen=True)
class Ours:
    """`nsrecover.monitoring.comparison.Comparison` alarms if any object deviates.

    Attributes:
        checkpoint: folder; the shipped one if None.
    """

    checkpoint: str | None = None

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Calibrated threshold of the checkpoint."""
        return (system_of(self.checkpoint).model.bundle.threshold,)

    def score(self, moment: Moment, references: References) -> float:
        """Lowest P(as expected) of all objects that were there at the start."""
        comparison, count = system_of(self.checkpoint).comparison, len(moment.expected)
        assert isinstance(comparison, Comparison)
        known = Circumstances(newcomers=moment.seen.names[count:])
        return float(comparison.after(moment.seen, moment.trace, moment.step, known).probabilities[:count].min())


# -- control detector: distance of an object from its expected place, the criterion of the error labels


GONE_M = 10.0
"""Distance of a missing object."""


@dataclass(frozen=True)
class Distance:
    """Alarms if an object is farther from its imagined place than a tolerance; uses our perception and imagination.

    Attributes:
        tolerance_m: 2 cm is the tolerance of the ground truth and of our discriminator's labels.
    """

    tolerance_m: float = 0.02

    @property
    def thresholds(self) -> tuple[float, ...]:
        """Negative tolerance."""
        return (-self.tolerance_m,)

    def score(self, moment: Moment, references: References) -> float:
        """Negative distance of the farthest object, metres."""
        count = len(moment.expected)
        away = np.linalg.norm(moment.seen.boxes[:count, :3] - moment.expected.boxes[:, :3], axis=1)
        away[moment.seen.missing[:count]] = GONE_M
        away[moment.expected.missing] = 0.0
        return 0.0 - float(away.max(initial=0.0))


Edges = Callable[[SceneGraph], frozenset[Edge]]
"""Function from a scene to its relations."""


@dataclass(frozen=True)
class GraphSimilarity:
    """Mean of node, edge and structural similarity, equation 3; ablations leave one of them out.

    Attributes:
        node: whether to compare appearances, equation 1.
        edge: whether to compare relations, equation 2.
        structure: whether to compare degrees, equation 2.
        every_pair: whether relations are directions between every two objects, instead of relations of neighbours.
        thresholds: the paper's.
    """

    node: bool = True
    edge: bool = True
    structure: bool = True
    every_pair: bool = False
    thresholds: tuple[float, ...] = (0.9, 0.85, 0.8)

    def score(self, moment: Moment, references: References) -> float:
        """S, between 0 and 1."""
        expected, seen = _pair(moment)
        edges = directions if self.every_pair else relations
        parts = []
        if self.node:
            parts.append(node_similarity(expected, seen))
        if self.edge:
            parts.append(edge_similarity(expected, seen, edges))
        if self.structure:
            parts.append(structural_similarity(expected, seen, edges))
        return float(np.mean(parts))


@dataclass(frozen=True)
class Relations:
    """Symbolic monitor: alarms if any relation differs from the expectation.

    Attributes:
        thresholds: 0, no relation may differ.
    """

    thresholds: tuple[float, ...] = (0.0,)

    def score(self, moment: Moment, references: References) -> float:
        """Negative number of relations that only one of the scenes has."""
        expected, seen = _pair(moment)
        differing = relations(expected) ^ relations(seen)
        return 0.0 - len(differing)


def found(graph: SceneGraph) -> SceneGraph:
    """Return a scene without its missing objects."""
    return part(graph, np.flatnonzero(~graph.missing))


def _pair(moment: Moment) -> tuple[SceneGraph, SceneGraph]:
    """The expected and the perceived scene, both of the objects that were there at the start and are not missing."""
    return found(moment.expected), found(part(moment.seen, np.arange(len(moment.expected))))


def directions(graph: SceneGraph) -> frozenset[Edge]:
    """Return supports, and the main direction between every two objects."""
    edges = {Edge(name, Relation.ON, support_name(graph, i)) for i, name in enumerate(graph.names)}
    for i, name in enumerate(graph.names):
        for j, other in enumerate(graph.names):
            if i != j:
                offset = graph.boxes[i, :2] - graph.boxes[j, :2]
                axis = int(np.abs(offset).argmax())
                side = (axis, 1 if offset[axis] > 0 else -1)
                edges.add(Edge(name, next(r for r in DIRECTIONS if DIRECTIONS[r] == side), other))
    return frozenset(edges)


def node_similarity(expected: SceneGraph, seen: SceneGraph) -> float:
    """S_node: sum of the cosines of matched objects over the number of different objects."""
    matched = [name for name in expected.names if name in seen.names]
    cosines = [float(expected.visual[expected.index(name)] @ seen.visual[seen.index(name)]) for name in matched]
    every = set(expected.names) | set(seen.names)
    return sum(cosines) / len(every) if every else 1.0


def edge_similarity(expected: SceneGraph, seen: SceneGraph, edges: Edges = relations) -> float:
    """S_edge: share of the relations that both scenes have."""
    ours, theirs = edges(expected), edges(seen)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def structural_similarity(expected: SceneGraph, seen: SceneGraph, edges: Edges = relations) -> float:
    """S_struc: 1 - mean difference of the degrees of matched objects / largest degree."""
    degrees = [_degrees(graph, edges(graph)) for graph in (expected, seen)]
    matched = [name for name in expected.names if name in seen.names]
    largest = max([degree for each in degrees for degree in each.values()], default=0)
    if not matched or largest == 0:
        return 1.0 if len(expected) == len(seen) else 0.0
    return 1.0 - float(np.mean([abs(degrees[0][name] - degrees[1][name]) for name in matched])) / largest


def _degrees(graph: SceneGraph, edges: frozenset[Edge]) -> Counter[str]:
    """Object -> number of its relations; the table is not an object."""
    ends = Counter(end for edge in edges for end in (edge.subject, edge.object))
    return Counter({name: ends[name] for name in graph.names})
