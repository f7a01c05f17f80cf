"""The arm pushes an object to its target, and what stands in the way with it."""

import numpy as np
import pytest

from nsrecover import Action
from nsrecover.domains.tabletop import operators
from nsrecover.domains.tabletop.operators import PUSH
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld

SIDE_M = 0.045


def cube(colour: str, x: float, y: float) -> ObjectSpec:
    return ObjectSpec(f"{colour} cube", ObjectKind.CUBE, colour, (SIDE_M,) * 3, (x, y))


def test_a_push_moves_its_object_and_the_one_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operators.OPERATORS, PUSH.name, PUSH)
    scene = SceneSpec((cube("red", 0.5, -0.05), cube("blue", 0.5, 0.03), cube("green", 0.62, -0.1)))
    target = (0.5, 0.03, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)
    with TabletopWorld(scene) as world:
        before = {name: world.pose(name)[0] for name in scene.names}
        world.execute(Action("push", ("red cube",), target))
        moved = {name: world.pose(name)[0] - before[name] for name in scene.names}
        assert not world.log
    assert 0.06 < moved["red cube"][1] < 0.10
    assert 0.02 < moved["blue cube"][1] < 0.08
    np.testing.assert_allclose(moved["green cube"], 0.0, atol=0.002)
