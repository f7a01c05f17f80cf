"""Scene-graph similarity (Yu et al., Scene Graph-Guided Proactive Replanning, appendix B), and relations alone.

The formulae are the paper's. What it leaves to the reader is done so: nodes are matched by the perceiver, as for every
detector here; features are those of our encoder; edges are `nsrecover.scene.relations`; D, which scales differences of
degrees, is the largest degree of both graphs. The paper's subtask node, being the same in both graphs, cannot tell
them apart by these formulae, so there is none.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from eval.detectors.base import Moment, Scores, both, part
from eval.detectors.reference import References
from nsrecover.scene.relations import relations
from nsrecover.structs import SceneGraph


@dataclass(frozen=True)
class GraphSimilarity:
    """The mean of node, edge and structural similarity, equation 3; its ablations leave one of them out.

    Attributes:
        node: whether appearances are compared, equation 1.
        edge: whether relations are, equation 2.
        structure: whether degrees are, equation 2.
        thresholds: the paper's.
    """

    node: bool = True
    edge: bool = True
    structure: bool = True
    thresholds: tuple[float, ...] = (0.9, 0.85, 0.8)

    def scores(self, moment: Moment, references: References) -> Scores:
        """S, between 0 and 1."""
        expected, seen = found(moment.expected), found(moment.seen)
        parts = []
        if self.node:
            parts.append(node_similarity(expected, seen))
        if self.edge:
            parts.append(edge_similarity(expected, seen))
        if self.structure:
            parts.append(structural_similarity(expected, seen))
        return both(moment, float(np.mean(parts)))


@dataclass(frozen=True)
class Relations:
    """A symbolic monitor: alarms when any relation is not as expected.

    Attributes:
        thresholds: none may differ.
    """

    thresholds: tuple[float, ...] = (0.0,)

    def scores(self, moment: Moment, references: References) -> Scores:
        """The number of relations that only one of the scenes has, below zero."""
        differing = relations(found(moment.expected)) ^ relations(found(moment.seen))
        return both(moment, 0.0 - len(differing))


def found(graph: SceneGraph) -> SceneGraph:
    """The part of a scene of which somebody knows where it is."""
    return part(graph, np.flatnonzero(~graph.missing))


def node_similarity(expected: SceneGraph, seen: SceneGraph) -> float:
    """S_node: the cosines of matched objects, summed and divided by the number of different objects."""
    matched = [name for name in expected.names if name in seen.names]
    cosines = [float(expected.visual[expected.index(name)] @ seen.visual[seen.index(name)]) for name in matched]
    every = set(expected.names) | set(seen.names)
    return sum(cosines) / len(every) if every else 1.0


def edge_similarity(expected: SceneGraph, seen: SceneGraph) -> float:
    """S_edge: the share of relations that both scenes have."""
    ours, theirs = relations(expected), relations(seen)
    return len(ours & theirs) / len(ours | theirs) if ours | theirs else 1.0


def structural_similarity(expected: SceneGraph, seen: SceneGraph) -> float:
    """S_struc: one less the mean difference of the degrees of matched objects, as a share of the largest degree."""
    degrees = [_degrees(expected), _degrees(seen)]
    matched = [name for name in expected.names if name in seen.names]
    largest = max([degree for each in degrees for degree in each.values()], default=0)
    if not matched or largest == 0:
        return 1.0 if len(expected) == len(seen) else 0.0
    return 1.0 - float(np.mean([abs(degrees[0][name] - degrees[1][name]) for name in matched])) / largest


def _degrees(graph: SceneGraph) -> Counter[str]:
    """Object -> how many relations it takes part in; the table is no object."""
    edges = relations(graph)
    ends = Counter(end for edge in edges for end in (edge.subject, edge.object))
    return Counter({name: ends[name] for name in graph.names})
