"""An operator with one argument is learned, calibrated, imagined, planned with and simulated like any other."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from nsrecover import Action, Plan, SceneGraph
from nsrecover.core.geometry import as_box
from nsrecover.core.scene import Box
from nsrecover.domains.base import Parameter, Words
from nsrecover.domains.tabletop.operators import OPERATORS, TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialOperator
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.monitoring.imagination import Imagination
from nsrecover.training.calibrate import lowest_probabilities
from nsrecover.training.discriminator import node_pairs
from nsrecover.training.settings import PairSources
from nsrecover.training.transition import transitions_of
from sim.tabletop.sampling import nominal_box
from tests.nsrecover.training.test_pairs import FEATURES, demonstration

PUSH_M = 0.05


def pushed(graph: SceneGraph, action: Action) -> Box:
    """The moved object's box, pushed away from the robot."""
    box = graph.boxes[graph.index(action.arguments[0])].copy()
    box[0] += PUSH_M
    return as_box(box)


def was_pushed(before: SceneGraph, after: SceneGraph, action: Action) -> bool:
    """Whether the object is where a push from its place before leads."""
    there = after.boxes[after.index(action.arguments[0]), :3]
    return bool(np.linalg.norm(there - pushed(before, action)[:3]) < 0.01)


PUSH = SpatialOperator(
    "push",
    (Parameter("?moved", "movable"),),
    words=Words("push {moved}", unkept="{moved} was not pushed"),
    promise=was_pushed,
    place=pushed,
    relative=True,
)
LEARNED = replace(PUSH, place=None)
BUNDLE = Bundle(BundleConfig(feature_size=16, operators=(*OPERATORS, "push")))
BOXES = {"a": (0.4, 0.0, 0.02, 0.04, 0.04, 0.04), "b": (0.5, 0.2, 0.02, 0.04, 0.04, 0.04)}


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    known = dict(OPERATORS)
    yield
    OPERATORS.clear()
    OPERATORS.update(known)


def test_its_steps_are_learned_from_and_calibrated_on() -> None:
    shown = replace(demonstration(), plan=Plan.parse("push(b)"))
    (step,) = transitions_of([shown], [FEATURES], BUNDLE.operators)
    assert (step.moved, step.reference, step.operator) == (1, 1, len(OPERATORS))
    box, _ = BUNDLE.predict(FEATURES[:1], shown.boxes[:1], [step.operator], [1], [1])
    pairs = node_pairs([shown], [FEATURES], BUNDLE, PairSources(imagined_steps=1))
    np.testing.assert_allclose(pairs.boxes_a[-1], box[0])
    # an untrained model imagines another place, so the step's score is not that of the place where the object was put
    assert lowest_probabilities([shown], [FEATURES], BUNDLE)[0] < 0.9
    free = Action("free", ("b",), as_box(shown.boxes[1, 1]))
    assert transitions_of([replace(shown, plan=Plan((free,)))], [FEATURES], BUNDLE.operators) == []


def test_its_effect_is_imagined_and_not_taken_for_a_free_place() -> None:
    domain = replace(TABLETOP, operators={**OPERATORS, "push": LEARNED})
    graph = SceneGraph(("a", "b", "c"), FEATURES[0], demonstration().boxes[0], np.ones(3, bool))
    trace = Imagination(BUNDLE, domain).trace(graph, Plan.parse("push(b)"))
    box, _ = BUNDLE.predict(FEATURES[:1], graph.boxes[None], [len(OPERATORS)], [1], [1])
    assert trace.plan[0].target is None
    np.testing.assert_allclose(trace.graphs[1].boxes[1], box[0])


def test_a_recovery_repeats_it_from_where_it_began_only() -> None:
    nsrecover.register(PUSH)
    system, plan, found = nsrecover.geometric(), Plan.parse("push(a)"), []
    for place in (0.40, 0.60):
        monitor = system.monitor(plan, BOXES)
        wrong = monitor.step(plan[0], {**BOXES, "a": (place, *BOXES["a"][1:])})
        found.append(system.planner.recover(wrong.observed, monitor.trace, wrong))
    assert found[0].actions == ()
    assert found[0].subgoal == 0
    assert [action.operator for action in found[1].actions] == ["restore"]


def test_the_simulator_knows_where_it_leads() -> None:
    graph, action = nsrecover.scene_of_boxes(BOXES), Action("push", ("a",))
    nsrecover.register(LEARNED)
    assert nominal_box(graph, action) == pytest.approx(BOXES["a"])
    del OPERATORS["push"]
    nsrecover.register(PUSH)
    assert nominal_box(graph, action)[0] == pytest.approx(0.45)
