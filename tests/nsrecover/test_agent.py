"""The main path, end to end: real physics, rendered images, the shipped checkpoint."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover import RecoveryAgent, RecoveryPlanner, Rejoin, System
from nsrecover.core import Cause, EpisodeStatus, StepRecord
from sim.sensors.events import CameraEvent, EventKind
from sim.sensors.presets import sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.faults import Displaced
from sim.tabletop.sampling import Structure, sample_plan, sample_scene
from sim.tabletop.truth import deviations
from sim.tabletop.world import TabletopWorld


def test_a_displaced_block_is_noticed_and_put_back(system: System) -> None:
    rng = np.random.default_rng(32)
    scene = sample_scene(rng, 4)
    plan = sample_plan(rng, scene, Structure.TOWER, 2)
    base = plan[0].arguments[1]
    bystander = next(item.name for item in scene.objects if all(item.name not in action.arguments for action in plan))
    fault = Displaced(at_step=0, name=bystander, offset_m=(0.05, 0.0))
    seen: list[StepRecord] = []
    with TabletopWorld(scene) as world:
        for action in plan:
            world.execute(action)
        wanted = world.truth()
    with TabletopWorld(scene, (fault,)) as world:
        episode = RecoveryAgent(system, world).run(plan, on_record=seen.append)
        assert not deviations(world.truth(), wanted)
    assert tuple(seen) == episode.records
    first = episode.records[0]
    assert first.discrepancy.deviating == (bystander,)
    assert first.discrepancy.deviations[0].cause is Cause.MOVED
    assert first.recovery is not None
    assert [str(action) for action in first.recovery.actions] == [f"restore({bystander})"]
    assert first.explanation is not None
    assert bystander in first.explanation.text
    assert base not in first.discrepancy.deviating
    assert episode.records[1].recovering
    assert episode.status is EpisodeStatus.COMPLETED


def test_by_relations_a_displaced_block_that_nothing_refers_to_stays_where_it_is(system: System) -> None:
    rng = np.random.default_rng(32)
    scene = sample_scene(rng, 4)
    plan = sample_plan(rng, scene, Structure.TOWER, 2)
    bystander = next(item.name for item in scene.objects if all(item.name not in action.arguments for action in plan))
    fault = Displaced(at_step=0, name=bystander, offset_m=(0.05, 0.0))
    with TabletopWorld(scene, (fault,)) as world:
        planner = RecoveryPlanner(system.model.models, rejoin=Rejoin.RELATIONS)
        episode = RecoveryAgent(replace(system, planner=planner), world).run(plan)
        truth = world.truth()
    assert [record.action for record in episode.records] == list(plan), "noticed once, and not again"
    recovery = episode.records[0].recovery
    assert recovery is not None
    assert recovery.staying == (bystander,)
    assert episode.status is EpisodeStatus.COMPLETED
    assert all(truth.supports[action.arguments[0]] == action.arguments[1] for action in plan)


def test_behind_a_realistic_sensor_a_run_without_errors_needs_no_recovery(system: System) -> None:
    rng = np.random.default_rng(35)
    scene = sample_scene(rng, 6)
    plan = sample_plan(rng, scene, Structure.TOWER, 3)
    with TabletopWorld(scene) as world:
        sensed = SensedWorld(world, sensor("d435", masks={"missing": 0.1}).stream(2, seed=1))
        episode = RecoveryAgent(system, sensed).run(plan)
    assert episode.status is EpisodeStatus.COMPLETED
    assert [record.action for record in episode.records] == list(plan)
    assert all(record.discrepancy.as_expected for record in episode.records)


@pytest.mark.parametrize("kind", [EventKind.DROPPED, EventKind.FROZEN, EventKind.SWAPPED, EventKind.BUMPED])
def test_a_camera_that_fails_during_the_run_is_no_exception(system: System, kind: EventKind) -> None:
    rng = np.random.default_rng(36)
    scene = sample_scene(rng, 5)
    plan = sample_plan(rng, scene, Structure.TOWER, 2)
    events = [CameraEvent(kind=kind, start=2, view=1, size=0.05)]
    with TabletopWorld(scene) as world:
        episode = RecoveryAgent(system, SensedWorld(world, sensor("harsh", events=events).stream(2, seed=2))).run(plan)
    known = {item.name for item in scene.objects}
    actions = [action for record in episode.records if record.recovery for action in record.recovery.actions]
    assert {name for action in actions for name in action.arguments} <= known
    assert episode.status in (EpisodeStatus.COMPLETED, EpisodeStatus.ASKED_FOR_HELP)
    assert bool(episode.reason) == (episode.status is EpisodeStatus.ASKED_FOR_HELP)
