"""States are visible: pictures change where a state changes, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest

from sim.common.cameras import DAYLIGHT, View, take_picture
from sim.kitchen.cell import KitchenCell
from sim.kitchen.devices import screen_of
from sim.kitchen.scenes import sample_kitchen
from sim.kitchen.shapes import Vector
from sim.kitchen.states import ObjectState


@pytest.mark.parametrize(
    ("name", "state"),
    [
        ("pot", ObjectState(liquid="coffee", volume_l=0.5)),
        ("pot", ObjectState(dirty=True)),
        ("egg", ObjectState(cracked=True)),
        ("egg", ObjectState(cooked=1.0)),
        ("house plant", ObjectState(liquid="water", volume_l=0.2)),
        ("house plant", ObjectState(liquid="wine", volume_l=0.2)),
        ("second stove burner", ObjectState(on=True)),
        ("coffee machine", ObjectState(on=True)),
        ("faucet", ObjectState(on=True)),
        ("toaster", ObjectState(on=True)),
        ("television", ObjectState(on=True)),
        ("laptop", ObjectState(on=True)),
    ],
)
def test_a_state_shows_and_disappears_again(name: str, state: ObjectState) -> None:
    spec = sample_kitchen(3, 0, ["pot", "egg", "laptop"])
    clean = replace(spec, things=tuple(replace(thing, state=ObjectState()) for thing in spec.things))
    opened = tuple(replace(thing, state=ObjectState(open=thing.name == "laptop")) for thing in clean.things)
    with KitchenCell(replace(clean, things=opened)) as cell:
        if name in cell.things:
            target = cell.pose(name)[0]
        else:
            fixture = cell.fixtures[name]
            moving: Vector | None
            if name == "television":
                moving = screen_of(fixture)
            else:
                moving = fixture.assembly.joints[0].at if fixture.assembly.joints and name != "faucet" else None
            target = fixture.to_world(moving or fixture.stream or fixture.places[0].centre)
        x, y, z = target.tolist()
        # screens are seen from their front
        offsets = {"television": [1.0, 0.0, 0.4], "laptop": [0.45, 0.0, 0.25]}
        facing = cell.pose(name)[1] @ offsets[name] if name in offsets else [-0.25, 0.0, 0.45]
        view = View("near", (x + facing[0], y + facing[1], z + facing[2]), (x, y, z))

        def picture() -> np.ndarray:
            return take_picture(cell.client, view, 160, 120, DAYLIGHT).rgb.astype(int)

        cell.visuals.update(cell.states)
        before = picture()
        cell.visuals.update(cell.states | {name: state})
        changed = np.abs(picture() - before).max(axis=2) > 25
        assert 10 < changed.sum() < 0.6 * changed.size
        cell.visuals.update(cell.states)
        after = np.abs(picture() - before).max(axis=2) > 25
        # what is cooked or cracked stays so in a kitchen
        assert state.cooked or state.cracked or after.sum() == 0


def test_what_is_broken_lies_in_shards_around_its_place() -> None:
    with KitchenCell(sample_kitchen(3, 0, ["mug"])) as cell:
        x, y, z = cell.pose("mug")[0].tolist()
        view = View("near", (x - 0.25, y, z + 0.45), (x, y, z))

        def seen() -> set[int]:
            cell.visuals.update(cell.states)
            bodies = take_picture(cell.client, view, 160, 120, DAYLIGHT).bodies
            return {body for body in np.unique(bodies).tolist() if body == cell.body("mug") or (
                cell.visuals.owners.get(body) == "mug")}  # fmt: skip

        assert seen() == {cell.body("mug")}
        cell.change("mug", broken=True)
        (shards,) = seen()
        assert shards != cell.body("mug")
