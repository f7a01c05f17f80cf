"""The goal of a plan, as its own last scene has it, and how surely each of its objects is as it should be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.belief.objects import OVERLOOKED, after_looks, changed, evidence
from nsrecover.core.actions import Plan
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import StateFact
from nsrecover.core.geometry import CONTACT_M, bottom, intersects, same_side_up, top
from nsrecover.core.scene import Box, SceneGraph, Visibility
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.operators import REACHED_M
from nsrecover.domains.tabletop.relations import TABLE, Relation, support_name
from nsrecover.domains.tabletop.spatial import SpatialDomain, related

SLACK = 1.5
"""An object reaches its target within this many times `REACHED_M`: what is in its place may drift half as far."""

IN_PLACE, UPRIGHT = "in_place", "upright"
"""Predicates of conditions that are no relations: that an object is at its target, and stands on the planned side."""


@dataclass(frozen=True, eq=False)
class Goal:
    """What the objects of a plan are like in its own last scene.

    Attributes:
        scene: the last scene, as imagined from the first one.
        relations: object of the plan -> the relations that hold of it in the end.
        targets: object -> where the last action that moves it leads, if that is a place.
        given_up: conditions that nobody expects any more.
    """

    scene: SceneGraph
    relations: Mapping[str, tuple[StateFact, ...]]
    targets: Mapping[str, Box]
    given_up: tuple[StateFact, ...] = ()

    @classmethod
    def of(cls, trace: Trace, domain: SpatialDomain) -> Goal:
        """The goal of a trace: what its actions promise and later ones do not end, and what its objects stand on."""
        scene, moves = trace.graphs[-1], {action.arguments[0]: action for action in trace.plan}
        found: dict[str, tuple[StateFact, ...]] = {}
        for name in _named(trace.plan):
            operator = domain.operator_of(moves[name]) if name in moves else None
            promised = operator.promised(moves[name]) if operator is not None else None
            row, below = scene.index(name), support_name(scene, scene.index(name))
            stands = (Relation.ON.value, name, below)
            if promised is not None and promised[0] == Relation.ON:
                found[name] = (promised,)
                continue
            resting = below != TABLE or abs(float(bottom(scene.boxes[row]))) < CONTACT_M
            holds = promised is not None and related(scene, promised)
            found[name] = (*((stands,) if resting else ()), *((promised,) if promised and holds else ()))
        return cls(scene, found, {name: action.target for name, action in moves.items() if action.target})

    def without(self, conditions: Collection[StateFact]) -> Goal:
        """The goal without conditions that were given up."""
        return replace(self, given_up=(*self.given_up, *conditions))

    def unmet(self, graph: SceneGraph, name: str) -> Fact | None:
        """The first condition of an object that does not hold in a scene; None if all do."""
        if name not in graph.names:
            return Fact(Relation.ON, self.relations[name][0][1:]) if self.relations[name] else Fact(IN_PLACE, (name,))
        row, planned = graph.index(name), self.scene.boxes[self.scene.index(name)].copy()
        for fact in self.relations[name]:
            if not (set(fact[1:]) <= {*graph.names, TABLE} and related(graph, fact)):
                return Fact(fact[0], fact[1:])
            if fact[0] == Relation.ON and fact[2] != TABLE and fact[2] in self.scene.names:
                planned[2] += top(graph.boxes[graph.index(fact[2])]) - top(self.scene.boxes[self.scene.index(fact[2])])
        if same_side_up(planned, graph.boxes[row]) < 0.5:
            return Fact(UPRIGHT, (name,))
        target = self.targets.get(name)
        if target is not None and np.linalg.norm(graph.boxes[row, :2] - np.array(target[:2])) > SLACK * REACHED_M:
            return Fact(IN_PLACE, (name,))
        return None

    def believed(
        self,
        wrong: Mapping[str, float],
        moved: Collection[str],
        looks: Sequence[SceneGraph],
        newcomers: Collection[str] = (),
    ) -> dict[str, float]:
        """Probability of each object of the plan that it is not as the goal has it, after some looks.

        Args:
            wrong: the same before the last action.
            moved: what the last action moved.
            looks: at the scene since.
            newcomers: objects that were not there before.
        """
        shown = [self._evidence(graph, newcomers) for graph in looks]
        return {
            name: after_looks(
                changed(wrong.get(name, 0.0), name in moved), [each[name] for each in shown if name in each]
            )
            for name in self.relations
        }

    def _evidence(self, graph: SceneGraph, newcomers: Collection[str]) -> dict[str, float]:
        """What one look says of each object of the plan that it shows, or that bears one that it shows."""
        bearing = {support_name(graph, int(row)) for row in np.flatnonzero(graph.seen)}
        seen = [name for name in newcomers if name in graph.names and graph.seen[graph.index(name)]]
        there = graph.boxes[[graph.index(name) for name in seen]].reshape(-1, 6)
        found = {}
        for name in self.relations:
            visibility = graph.visibility(graph.index(name)) if name in graph.names else Visibility.MISSING
            if visibility is Visibility.MISSING:
                found[name] = evidence(0.0, misread=OVERLOOKED)
            elif visibility is Visibility.SEEN or (
                name in bearing and not intersects(graph.boxes[graph.index(name)], there).any()
            ):
                unmet = self.unmet(graph, name)
                found[name] = evidence(float(unmet is None or (unmet.predicate, *unmet.arguments) in self.given_up))
        return found


def _named(plan: Plan) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for action in plan for name in action.arguments))
