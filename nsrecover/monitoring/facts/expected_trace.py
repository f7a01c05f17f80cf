"""The scenes of facts that a plan is expected to lead through, and the goal that it has."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from nsrecover.core.actions import Plan
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.traces import Trace
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.monitoring.facts.outlook import outlook


def imagined_trace(instance: Instance, scene: FactScene, plan: Plan, goal: Sequence[StateFact]) -> Trace[FactScene]:
    """The scenes that a plan is expected to lead through, from a belief; what is unknown stays unknown."""
    domain = instance.domain
    states = outlook(instance, scene.facts, plan.actions, goal).states
    passing = frozenset[StateFact]().union(*states) - states[0] - states[-1]
    tidy = tuple(sorted(fact for fact in passing if fact[0] in domain.variables and len(fact) == 2))
    return Trace[FactScene](
        plan, (scene, *(FactScene(state, scene.certainty) for state in states[1:])), tuple(goal), tidy
    )


def what_it_leaves(instance: Instance, start: State, plan: Plan) -> tuple[StateFact, ...]:
    """The facts that a plan achieves and leaves in the end: its goal, if none is stated."""
    states = outlook(instance, start, plan.actions, ()).states
    brought_about = frozenset[StateFact]().union(*(after - before for before, after in pairwise((start, *states))))
    return tuple(sorted(states[-1] & brought_about))
