"""True causes from the simulator: faults of every kind, named by their physics."""

from itertools import islice

import numpy as np
import pytest

from eval.common.error_states import ErrorState
from eval.common.true_causes import true_causes
from nsrecover.core import Cause, Plan, SceneGraph, Trace
from sim.datasets.replay import replay
from sim.datasets.spec import ErrorEpisode
from sim.tabletop.faults import (
    BlockedPlace,
    Drop,
    Fault,
    HelpingPerson,
    OffsetPlacement,
    Push,
    Removed,
    Swap,
    Unstack,
    WrongSupport,
)
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec

SIDE = 0.042
NAMES = ("red cube", "blue cube", "green cube", "white cube")
PLACES = ((0.5, 0.0), (0.5, 0.2), (0.42, -0.2), (0.6, -0.2))
PLAN = Plan.parse("top(blue cube, red cube); top(green cube, blue cube); right(white cube, red cube)")


def state(step: int, *faults: Fault) -> ErrorState:
    """The error state after a step at which faults strike."""
    objects = [
        ObjectSpec(name, ObjectKind.CUBE, name.split()[0], (SIDE, SIDE, SIDE), place)
        for name, place in zip(NAMES, PLACES, strict=True)
    ]
    episode = ErrorEpisode("I", 0, SceneSpec(tuple(objects)), PLAN, faults, seed=3)
    steps = list(islice(replay(episode), step + 2))  # as far as a cause looks ahead
    (error,) = [each.error for each in steps if each.error is not None]
    graph = SceneGraph(NAMES, np.zeros((4, 0), np.float32), np.zeros((4, 6), np.float32), np.ones(4, np.bool_))
    fault_free = (steps[0].before, *(each.fault_free for each in steps))
    return ErrorState(episode, error, graph, Trace(PLAN, (graph,) * 4), steps[step].truth, fault_free)


@pytest.mark.parametrize(
    ("step", "faults", "told"),
    [
        (0, (Drop(0, 0.4),), {"blue cube": Cause.DROPPED}),
        (0, (OffsetPlacement(0, (0.03, 0.0)),), {"blue cube": Cause.DROPPED}),
        (0, (WrongSupport(0, "table", (0.4, 0.15)),), {"blue cube": Cause.MISPLACED}),
        (0, (WrongSupport(0, "white cube"),), {"blue cube": Cause.MISPLACED}),
        (0, (Removed(0, "white cube"),), {"white cube": Cause.MISSING}),
        (0, (Swap(0, "white cube", "green cube"),), {"white cube": Cause.SWAPPED, "green cube": Cause.SWAPPED}),
        (0, (HelpingPerson(0, (PLAN[1],)),), {"green cube": Cause.HELPED}),
        (0, (Push(0, "white cube", (0.05, 0.0, 0.0)),), {"white cube": Cause.MOVED}),
        (1, (Unstack(1, "green cube", (0.4, 0.2, SIDE / 2)),), {"green cube": Cause.MISPLACED}),
        (2, (Unstack(2, "green cube", (0.4, 0.2, SIDE / 2)),), {"green cube": Cause.MOVED}),
        (0, (BlockedPlace(0, "white cube", (0.5, 0.0, SIDE * 2.5)),), {"white cube": Cause.BLOCKING}),
    ],
)
def test_every_fault_has_its_physical_cause(step: int, faults: tuple[Fault, ...], told: dict[str, Cause]) -> None:
    assert true_causes(state(step, *faults)) == told
