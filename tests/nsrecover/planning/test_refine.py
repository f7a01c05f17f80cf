"""What the search found, as actions that the robot is allowed to run."""

import numpy as np
import pytest

from nsrecover.core.actions import Action, Plan
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.planning.neural_model import Move, NeuralModel
from nsrecover.planning.refine import refine
from nsrecover.planning.subgoals import Subgoal
from tests.nsrecover.planning.geometric import MODELS, SIDE, H, imagine, moved, plan, table

EARLIER = (0.45, 0.06)
"""Where the trace begins with the red cube, 10 mm from the green one."""


@pytest.mark.parametrize(("drift_m", "kept"), [(0.0, True), (0.018, False)])
def test_a_block_is_set_aside_where_the_action_can_be_run(drift_m: float, kept: bool) -> None:
    trace = imagine(table(EARLIER, (0.45, 0.0), (0.6, 0.2)), plan("top red blue"))
    # the red cube is elsewhere by now, and the green one has come nearer to where it stood
    graph = moved(trace.graphs[0], red=(0.6, -0.2, H), green=(0.45, drift_m, H))
    model = NeuralModel(MODELS, graph, [trace], [Subgoal(0, 0), Subgoal(0, 1)], {})
    place = next(
        number
        for number, place in enumerate(model.places)
        if place.owner == 0 and np.allclose(place.box[:2], EARLIER, atol=1e-4)
    )
    (action,), (after,) = refine(model, [Move(0, place, Action("restore", ("red cube",)))], scene=Subgoal(0, 1))
    assert action.operator == "free"
    assert action.target is not None
    assert operator_of(action).violated(graph, action) == ()
    assert np.allclose(action.target[:2], EARLIER, atol=1e-3) is kept
    np.testing.assert_allclose(after.boxes[0], action.target, atol=1e-6)


def test_what_the_plan_itself_sets_aside_goes_where_it_was_imagined() -> None:
    """A later step relies on it; a neighbour that has come a little near only nudges it."""
    away = Plan((Action("free", ("red cube",), (0.45, 0.2, H, SIDE, SIDE, SIDE)),))
    trace = imagine(table((0.45, 0.06), (0.45, 0.0), (0.6, 0.2)), away)
    aside = trace.graphs[1].boxes[0]
    neighbour = (float(aside[0]), float(aside[1]) + SIDE - 0.002, H)
    graph = moved(trace.graphs[0], green=neighbour)
    model = NeuralModel(MODELS, graph, [trace], [Subgoal(0, 0), Subgoal(0, 1)], {})
    place = next(n for n, place in enumerate(model.places) if np.array_equal(place.box, aside))
    move = Move(0, place, Action("free", ("red cube",), tuple(map(float, aside))), before=Subgoal(0, 0))
    (action,), (after,) = refine(model, [move], scene=Subgoal(0, 1))
    assert operator_of(action).violated(graph, action) == ()
    np.testing.assert_allclose(after.boxes[0], aside, atol=0.011)
    assert abs(after.boxes[0, 1] - neighbour[1]) > SIDE
