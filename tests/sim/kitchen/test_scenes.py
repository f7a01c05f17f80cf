"""Kitchens as data: they vary with the seed, fit, stand still, and bad requests are refused."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration, UnknownObject
from sim.kitchen.fixtures import Finish
from sim.kitchen.physics import KitchenPhysics
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, NUM_LAYOUTS, furnished, sample_kitchen


def test_layouts_differ_and_five_are_held_out() -> None:
    plans = {
        tuple((one.name, one.position, one.yaw) for one in furnished(number, Finish())) for number in range(NUM_LAYOUTS)
    }
    assert len(plans) == NUM_LAYOUTS >= 20
    assert len(HELD_OUT_LAYOUTS) == 5
    assert not {sample_kitchen(seed).layout for seed in range(60)} & set(HELD_OUT_LAYOUTS)


@pytest.mark.parametrize("layout", range(NUM_LAYOUTS))
def test_things_stand_where_they_are_put(layout: int) -> None:
    spec = sample_kitchen(100 + layout, layout)
    with KitchenPhysics(spec) as physics:
        physics.settle()
        for thing in spec.things:
            position, rotation = physics.pose(thing.name)
            assert np.linalg.norm(position[:2] - thing.position[:2]) < 0.005, thing.name
            assert physics.bottom(thing.name)[2] == pytest.approx(thing.position[2], abs=0.003), thing.name
            assert rotation[2, 2] > 0.99, thing.name


def test_no_furniture_stands_in_other_furniture() -> None:
    for layout in range(NUM_LAYOUTS):
        corners = []
        for fixture in furnished(layout, Finish()):
            if fixture.footprint is not None:
                x0, x1, y0, y1 = fixture.footprint
                ground = fixture.to_world([[x0, y0, 0.0], [x1, y1, 0.0]])[:, :2]
                corners.append((fixture.name, ground.min(axis=0) + 1e-6, ground.max(axis=0) - 1e-6))
        for number, (name, low, high) in enumerate(corners):
            for other, other_low, other_high in corners[:number]:
                apart = (high <= other_low).any() or (other_high <= low).any()
                assert apart, f"{name} in {other}, layout {layout}"


def test_what_does_not_fit_is_refused_at_once() -> None:
    with pytest.raises(InvalidConfiguration, match="leave some out"):
        sample_kitchen(0, 0, ["plate"] * 60)
    with pytest.raises(InvalidConfiguration, match="'mug'"):
        sample_kitchen(0, 0, ["mugg"])
    with pytest.raises(InvalidConfiguration, match="0 to 23"):
        sample_kitchen(0, 24)
    with pytest.raises(UnknownObject, match="fridge"):
        sample_kitchen(0, 0).fixture("frige")


def test_doors_and_knobs_move_and_stay() -> None:
    spec = replace(sample_kitchen(1, 0), things=())
    with KitchenPhysics(spec) as physics:
        for name, fixture in physics.fixtures.items():
            for control in (fixture.door, fixture.switch):
                if control is None:
                    continue
                physics.set_joint(name, control.joint, control.travel)
        physics.settle(100)
        for name, fixture in physics.fixtures.items():
            if fixture.door is not None:
                assert physics.joint(name, fixture.door.joint) == pytest.approx(fixture.door.travel, abs=0.03), name
            if fixture.switch is not None and fixture.switch.kind == "button":
                assert physics.joint(name, fixture.switch.joint) == pytest.approx(0.0, abs=1e-3), name
