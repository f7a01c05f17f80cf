"""The goal of a plan, as its own last scene has it, and how surely each of its objects is as it should be."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.belief.objects import OVERLOOKED, after_looks, changed, evidence
from nsrecover.core.actions import Plan
from nsrecover.core.explanation import Fact
from nsrecover.core.facts import StateFact
from nsrecover.core.geometry import CONTACT_M, SAME_SIZE_M, bottom, intersects, same_side_up, top, with_sides
from nsrecover.core.scene import Box, SceneGraph, Visibility
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.relations import TABLE, Relation, support_name
from nsrecover.domains.tabletop.spatial import SpatialDomain, related

TARGET_M = 0.03
"""An object is at its target within this distance: the tolerance, and half as much for drift."""

IN_PLACE, UPRIGHT = "in_place", "upright"
"""Predicates of conditions that are no relations: that an object is at its target, and stands on the planned side."""


@dataclass(frozen=True, eq=False)
class GoalScene:
    """What the objects of a plan are like in its own last scene.

    Attributes:
        scene: the last scene, as imagined from the first one.
        relations: object of the plan -> the relations that hold of it in the end.
        targets: object -> where the last action that moves it leads, if that is a place.
        first: the first scene: the sides of an object that was seen last may be hidden in part.
    """

    scene: SceneGraph
    relations: Mapping[str, tuple[StateFact, ...]]
    targets: Mapping[str, Box]
    first: SceneGraph | None = None

    @classmethod
    def of(cls, trace: Trace, domain: SpatialDomain) -> GoalScene:
        """The goal of a trace: what its actions promise and later ones do not end, and what its objects stand on."""
        scene, moves = trace.graphs[-1], {action.arguments[0]: action for action in trace.plan}
        found: dict[str, tuple[StateFact, ...]] = {}
        for name in named(trace.plan):
            promised = domain.operator_of(moves[name]).promised(moves[name]) if name in moves else None
            stacked = promised is not None and promised[0] == Relation.ON
            row, below = scene.index(name), support_name(scene, scene.index(name))
            resting = below != TABLE or abs(float(bottom(scene.boxes[row]))) < CONTACT_M
            found[name] = ((Relation.ON.value, name, below),) if resting and not stacked else ()
            if promised is not None and (stacked or related(scene, promised)):
                found[name] += (promised,)
        return cls(
            scene, found, {name: action.target for name, action in moves.items() if action.target}, trace.graphs[0]
        )

    def without(self, conditions: Collection[StateFact]) -> GoalScene:
        """The goal without conditions that were given up."""
        kept = {name: tuple(fact for fact in facts if fact not in conditions) for name, facts in self.relations.items()}
        return replace(self, relations={name: facts for name, facts in kept.items() if facts or not conditions})

    def exchanged(self, parts: Mapping[str, str]) -> GoalScene:
        """The goal in which objects take the parts of others: object of the plan -> the one that takes its part."""
        boxes, said = self.scene.boxes.copy(), {name: name for name in (*self.scene.names, TABLE)} | dict(parts)
        rows, players = ([self.scene.index(name) for name in names] for names in (parts, parts.values()))
        boxes[players, :3] = self.scene.boxes[rows, :3]
        relations = {
            said[name]: tuple((fact[0], *(said[term] for term in fact[1:])) for fact in facts)
            for name, facts in self.relations.items()
        }
        targets = {said[name]: box for name, box in self.targets.items()}
        return GoalScene(replace(self.scene, boxes=boxes), relations, targets, self.first)

    def unmet(self, graph: SceneGraph, name: str) -> Fact | None:
        """The first condition of an object that does not hold in a scene; None if all do."""
        if name not in graph.names:
            return Fact(IN_PLACE, (name,))
        row, planned = graph.index(name), self.scene.boxes[self.scene.index(name)].copy()
        for fact in self.relations[name]:
            if not (set(fact[1:]) <= {*graph.names, TABLE} and related(graph, fact)):
                return Fact(fact[0], fact[1:])
            if fact[0] == Relation.ON and fact[2] != TABLE and fact[2] in self.scene.names:
                planned[2] += top(graph.boxes[graph.index(fact[2])]) - top(self.scene.boxes[self.scene.index(fact[2])])
        likely = [planned]
        if self.first is not None and name in self.first.names and self.first.seen[start := self.first.index(name)]:
            likely.append(with_sides(planned, self.first.boxes[start, 3:]))
        # if it is as high as planned, a side or its underside is hidden
        as_high = abs(float(top(graph.boxes[row]) - top(planned))) < SAME_SIZE_M / 2
        if not as_high and max(same_side_up(box, graph.boxes[row]) for box in likely) < 0.5:
            return Fact(UPRIGHT, (name,))
        target = self.targets.get(name)
        away = target is not None and np.linalg.norm(graph.boxes[row, :2] - np.array(target[:2])) > TARGET_M
        return Fact(IN_PLACE, (name,)) if away else None

    def believed(
        self,
        wrong: Mapping[str, float],
        moved: Collection[str],
        looks: Sequence[SceneGraph],
        newcomers: Collection[str],
    ) -> dict[str, float]:
        """Probability of each object of the plan that it is not as the goal has it, after some looks.

        Args:
            wrong: the same before the last action.
            moved: what the last action moved.
            looks: at the scene since.
            newcomers: objects that were not there before.
        """
        shown = [self._evidence(graph, newcomers) for graph in looks]
        before = {name: changed(wrong.get(name, 0.0), name in moved) for name in self.relations}
        return {name: after_looks(doubt, [one[name] for one in shown if name in one]) for name, doubt in before.items()}

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
                continue
            row = graph.index(name)
            if visibility is Visibility.SEEN or (
                name in bearing and not intersects(graph.boxes[row], there).any() and not _may_stand_in(graph, row)
            ):
                found[name] = evidence(float(self.unmet(graph, name) is None))
        return found


def _may_stand_in(graph: SceneGraph, row: int) -> bool:
    """Whether another object that is not seen may bear what an object is believed to bear: it is as high, and free."""
    bearing = {support_name(graph, each) for each in range(len(graph))}
    hidden = [each for each in np.flatnonzero(~graph.seen) if each != row and graph.names[each] not in bearing]
    return bool((np.abs(graph.boxes[hidden, 5] - graph.boxes[row, 5]) < CONTACT_M).any())


def named(plan: Plan) -> tuple[str, ...]:
    """The objects of a plan, in the order in which it names them."""
    return tuple(dict.fromkeys(name for action in plan for name in action.arguments))
