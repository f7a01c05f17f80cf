"""A microphone in the kitchen: what is heard agrees with contacts, switches, doors and states; it changes nothing."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import pybullet
import pytest

from nsrecover.core.actions import Action, Plan
from sim.common.arm import STEP_S
from sim.kitchen.scenes import KitchenSpec
from sim.kitchen.sounding import microphone_in
from sim.kitchen.world import KitchenWorld
from sim.sound.events import SoundEvent, SoundKind
from tests.sim.kitchen.kitchens import CLEAN, TOP, kitchen

TAP = "toggle_on(faucet); toggle_off(faucet); open_obj(drawer); close_obj(drawer)"


def _hearing(spec: KitchenSpec) -> KitchenWorld:
    return KitchenWorld(spec, microphone=microphone_in(spec))


def _events(world: KitchenWorld, *kinds: SoundKind) -> list[SoundEvent]:
    assert world.hearing is not None
    world.hearing.listen()
    return [event for event in world.hearing.soundscape.events if not kinds or event.kind in kinds]


def _let_pass(world: KitchenWorld, seconds: float) -> None:
    for _ in range(round(seconds / STEP_S)):
        world.cell.advance()


@dataclass
class Witness:
    """Writes down what is true after every physics step, without the code that hears."""

    touching: dict[frozenset[str], list[float]] = field(default_factory=dict)
    water_s: list[float] = field(default_factory=list)
    filling_s: list[float] = field(default_factory=list)
    switched_s: list[float] = field(default_factory=list)
    drawn: list[tuple[float, float]] = field(default_factory=list)
    _lever: bool = False
    _volume_l: float = 0.0

    def __call__(self, world: KitchenWorld) -> None:
        cell = world.cell
        names = {number: name for name, number in cell.bodies().items()}
        names |= {cell.floor: "floor", cell.robot.arm.body: "robot"}
        for point in pybullet.getContactPoints(physicsClientId=cell.client):
            pair = frozenset((names.get(point[1], ""), names.get(point[2], "")))
            self.touching.setdefault(pair, []).append(cell.time_s)
        faucet, drawer = cell.fixtures["faucet"], cell.fixtures["drawer"]
        lever = cell.joint("faucet", faucet.switch.joint) > faucet.switch.on_at
        if lever != self._lever:
            self._lever = lever
            self.switched_s.append(cell.time_s)
        if cell.states["faucet"].on:
            self.water_s.append(cell.time_s)
        if cell.states["mug"].volume_l > self._volume_l + 1e-4:
            self.filling_s.append(cell.time_s)
        self._volume_l = cell.states["mug"].volume_l
        self.drawn.append((cell.time_s, cell.joint("drawer", drawer.door.joint)))


@pytest.fixture(scope="module")
def visit() -> Iterator[tuple[KitchenWorld, Witness, list[int]]]:
    """Water for a mug, a drawer that is opened and closed, and an apple that falls on the worktop."""
    spec = kitchen(("mug", "sink", (0.0, 0.0), 180.0, CLEAN), ("apple", TOP, (0.0, 0.25), 0.0, CLEAN))
    witness = Witness()
    with KitchenWorld(spec, microphone=microphone_in(spec), on_frame=witness, frame_steps=1) as world:
        begin_s = world.cell.time_s
        lengths = [len(world.observe().audio)]
        for action in Plan.parse(TAP):
            world.execute(action)
            assert world.failures[-1] == "", f"{action}: {world.cell.log}"
            lengths.append(len(world.observe().audio))
        world.cell.put("apple", np.add(world.cell.pose("apple")[0], [0.0, 0.0, 0.15]))
        _let_pass(world, 1.0)
        lengths.append(len(world.observe().audio))
        assert sum(lengths) == pytest.approx(16_000 * (world.cell.time_s - begin_s), abs=1)
        yield world, witness, lengths


def test_every_contact_that_is_heard_is_one(visit: tuple[KitchenWorld, Witness, list[int]]) -> None:
    world, witness, _ = visit
    heard = _events(world, SoundKind.IMPACT, SoundKind.SLIDE, SoundKind.ROLL)
    assert heard
    for event in heard:
        if event.bodies[0].name == "drawer door":
            continue  # the stop of its rails is no contact of the engine
        names = frozenset("robot" if body.name in ("finger", "arm") else body.name for body in event.bodies)
        near = [time for time in witness.touching[names] if abs(time - event.start_s) < 0.05]
        assert near, event


def test_what_falls_is_heard_once_and_as_hard_as_it_falls(visit: tuple[KitchenWorld, Witness, list[int]]) -> None:
    world, _, _ = visit
    (fall, *bounces) = [event for event in _events(world, SoundKind.IMPACT) if event.bodies[0].name == "apple"]
    assert fall.bodies[1].name == TOP
    assert fall.strength == pytest.approx(0.16 * math.sqrt(2 * 9.81 * 0.15), rel=0.25)
    assert all(bounce.strength < 0.3 * fall.strength for bounce in bounces)


def test_switches_and_water_are_heard_when_they_are_on(visit: tuple[KitchenWorld, Witness, list[int]]) -> None:
    world, witness, _ = visit
    clicks = [event.start_s for event in _events(world, SoundKind.CLICK)]
    assert clicks == pytest.approx(witness.switched_s, abs=0.051)
    (water,) = _events(world, SoundKind.RUNNING_WATER)
    assert (water.start_s, water.end_s) == pytest.approx((witness.water_s[0], witness.water_s[-1]), abs=0.051)
    filling = _events(world, SoundKind.POURING)
    assert filling[0].bodies[0].name == "mug"
    assert filling[0].start_s == pytest.approx(witness.filling_s[0], abs=0.101)
    assert filling[-1].end_s == pytest.approx(witness.filling_s[-1], abs=0.101)


def test_the_drawer_is_heard_while_it_runs(visit: tuple[KitchenWorld, Witness, list[int]]) -> None:
    world, witness, _ = visit
    opening, closing = _events(world, SoundKind.DRAWER)
    times, drawn = np.array(witness.drawn).T
    for event, change in ((opening, 1), (closing, -1)):
        inside = (times >= event.start_s - 0.1) & (times <= event.end_s + 0.1)
        assert change * (drawn[inside][-1] - drawn[inside][0]) > 0.2
    (stop,) = [event for event in _events(world, SoundKind.IMPACT) if event.bodies[0].name == "drawer door"]
    assert stop.start_s == pytest.approx(closing.end_s, abs=0.2)


def test_the_robot_is_heard_and_the_observation_holds_samples_only(
    visit: tuple[KitchenWorld, Witness, list[int]],
) -> None:
    world, _, _ = visit
    assert {SoundKind.ARM_MOTOR, SoundKind.BASE_MOTOR} <= {event.kind for event in _events(world)}
    seen = world.observe()
    assert seen.audio.dtype == np.float32
    assert not any("event" in name or "sound" in name for name in vars(seen))


def test_states_that_change_are_heard() -> None:
    water = replace(CLEAN, liquid="water", volume_l=0.3, temperature_c=100.0)
    spec = kitchen(
        ("pot", "first stove burner", (0.0, 0.0), 0.0, water),
        ("pan", "second stove burner", (0.0, 0.0), 90.0, replace(CLEAN, temperature_c=220.0)),
        ("egg", TOP, (0.0, 0.25), 0.0, CLEAN),
        ("glass", TOP, (0.0, -0.2), 0.0, CLEAN),
        ("potato", TOP, (0.0, 0.0), 0.0, CLEAN),
    )
    with _hearing(spec) as world:
        cell, heard = world.cell, []

        def newly(seconds: float) -> set[str]:
            before = {event.key for event in heard}
            _let_pass(world, seconds)
            heard[:] = _events(world)
            quiet = (SoundKind.FRIDGE_HUM, SoundKind.ROLL)
            return {event.label for event in heard if event.key not in before and event.kind not in quiet}

        assert newly(0.1) == set()
        cell.set_joint("first stove knob", 0, cell.fixtures["first stove knob"].switch.travel)
        assert newly(0.3) == {"click", "boiling"}
        pan, _ = cell.pose("pan")
        cell.put("potato", np.add(pan, [0.0, 0.0, 0.02]))
        assert "sizzling" in newly(0.3)
        cell.change("microwave", on=True)
        assert "microwave_hum" in newly(0.2)
        cell.change("microwave", on=False)
        assert newly(0.2) & {"microwave_beep", "microwave_ding"}
        cell.change("egg", cracked=True)
        assert "egg_crack" in newly(0.2)
        cell.put("glass", [-0.8, 1.0, 0.9])
        assert {"shatter", "impact glass"} <= newly(0.7)
        cell.set_joint("fridge", 0, 0.12)
        assert "fridge_door" not in newly(0.2)
        for angle in np.linspace(0.12, 0.0, 20):
            cell.set_joint("fridge", 0, float(angle))
            cell.advance()
            cell.advance()
        assert "fridge_door" in newly(0.2)
        cell.change("pot", volume_l=0.0, liquid="")
        assert not newly(0.1) & {"pouring", "boiling"}, "nothing is heard of what a program takes out"
        (boiled,) = [event for event in heard if event.kind is SoundKind.BOILING]
        assert math.isfinite(boiled.duration_s)


def test_a_microphone_changes_nothing_and_a_restored_kitchen_is_heard_again() -> None:
    spec = kitchen(("apple", TOP, (0.0, 0.0), 0.0, CLEAN))
    with KitchenWorld(spec) as deaf, _hearing(spec) as world:
        for each in (deaf, world):
            each.execute(Action("toggle_on", ("faucet",)))
        assert (deaf.cell.pose("apple")[0] == world.cell.pose("apple")[0]).all()
        seen, heard = deaf.observe(), world.observe()
        assert (seen.audio, seen.audio_rate_hz) == (None, 0)
        np.testing.assert_array_equal(seen.rgb, heard.rgb)
        saved, again = world.save(), []
        for _ in range(2):
            world.restore(saved)
            world.execute(Action("toggle_off", ("faucet",)))
            again.append((world.observe().audio, world.hearing.soundscape.events))
        np.testing.assert_array_equal(again[0][0], again[1][0])
        assert again[0][1] == again[1][1]
