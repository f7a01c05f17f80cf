"""A few whole episodes in the simulator under all planners, judged by ground truth."""

from dataclasses import replace
from pathlib import Path

import pytest
from hydra import compose, initialize_config_dir

from conf.command import register, settings_of
from eval.sweep.command import EvalConfig, controllers_of
from eval.sweep.controllers import Blind, recovering
from eval.sweep.evaluation_world import Controller, EvaluationWorld
from eval.sweep.fault_schedule import FaultSchedule
from eval.sweep.ideal_executor import IdealExecutor
from eval.sweep.judged_episode import Job, run_job
from eval.sweep.oracle import Oracle
from eval.sweep.records import EpisodeRecord, Failure, OptimumRecord, failure_of
from sim.datasets.inject import in_reach
from sim.datasets.spec import ErrorEpisode, read_episodes
from sim.sensors.presets import sensor
from sim.tabletop.faults import Displaced, Removed
from sim.tabletop.world import TabletopWorld

CONF = Path(__file__).parents[3] / "conf"
EPISODES = list(read_episodes(Path(__file__).parent / "episodes" / "II"))


def run(controller: Controller, episode: ErrorEpisode, during_recovery: float = 0.0) -> EpisodeRecord:
    return run_job(Job(episode, controller, during_recovery))


def test_planners_see_through_the_sensor_and_are_judged_by_the_truth() -> None:
    controller = recovering("ours", {})
    found, again = (run_job(Job(EPISODES[0], controller, sensor=sensor("d435"))) for _ in range(2))
    assert found.completed
    assert found.actions == again.actions
    (recovery,) = found.recoveries
    assert recovery.culprits.keys() == recovery.wrong.keys() == {"green lego"}
    blind = run_job(Job(EPISODES[0], controller, sensor=sensor("clean", masks={"missing": 1.0})))
    assert not blind.completed
    assert not blind.actions
    assert blind.deviations


def test_our_planner_recovers_optimally() -> None:
    """One block is on the wrong support: the recovery takes one action."""
    found = run(recovering("ours", {}), EPISODES[0])
    assert found.completed
    assert failure_of(found) is None
    assert [action.faults for action in found.actions] == [("wrong_support",), ()]
    (recovery,) = found.recoveries
    assert recovery.errors == 1
    assert recovery.culprits.keys() == recovery.wrong.keys() == {"green lego"}
    assert recovery.right
    assert recovery.best == OptimumRecord(1, 1, 1)
    assert recovery.cost == 1.0
    assert recovery.seconds > 0.0
    assert recovery.cpu_s > 0.0


def test_the_agent_asks_for_help_if_a_brick_lands_on_its_side_again_and_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sim.tabletop.placing.toppling_tilt", lambda *_: None)
    (episode,) = read_episodes(Path(__file__).parent / "episodes" / "I")
    found = run(recovering("ours", {}), episode)
    assert found.status == "asked_for_help"
    assert "white lego" in found.reason
    tries = [action for action in found.actions if action.action == "restore(white lego)"]
    assert 4 <= len(tries) <= 10  # trying again is hopeless with 95 %
    assert {cause for action in tries for cause in action.culprits.values()} <= {"lying", "leaning"}


@pytest.mark.parametrize("name", ["original", "relations", "replan"])
def test_other_planners_put_it_right_too(name: str) -> None:
    register("sweep", EvalConfig)
    with initialize_config_dir(str(CONF), version_base="1.3"):
        settings = settings_of(compose("sweep", [f"planner=[{name}]"]), EvalConfig, "sweep")
    (controller,) = controllers_of(settings).values()
    controller.prepare()
    assert controller.name == name
    found = run(controller, EPISODES[0])
    assert found.recoveries[0].culprits.keys() == {"green lego"}
    assert found.recoveries[0].right
    assert found.completed


def test_the_open_loop_baseline_does_not_recover() -> None:
    found = run(Blind(), EPISODES[0])
    assert not found.completed
    assert found.unmet
    assert failure_of(found) is Failure.NOT_NOTICED
    assert not found.recoveries


def test_the_oracle_knows_the_truth_and_the_shortest_way() -> None:
    found = run(Oracle(), EPISODES[1])
    assert found.completed
    assert len(found.recoveries) == 2
    assert all(recovery.cost == recovery.best.cost for recovery in found.recoveries if recovery.best)
    assert {recovery.reason for recovery in found.recoveries} == {""}, "Fast Downward was asked"
    assert all(recovery.culprits.keys() == recovery.wrong.keys() for recovery in found.recoveries)


@pytest.mark.parametrize("controller", [recovering("ours", {}), Oracle()], ids=lambda controller: controller.name)
def test_where_something_is_gone_help_is_asked_for(controller: Controller) -> None:
    episode = replace(EPISODES[1], faults=(Removed(0, "cyan die"),), recoverable=False, reason="gone")
    found = run(controller, episode)
    assert found.decided_right
    assert found.recoveries[-1].lost == {"cyan die": "gone"}
    assert found.recoveries[-1].blamed == ("cyan die",)
    assert failure_of(found) is None
    # the same where the dataset does not say so is nobody's fault, but a failure
    assert failure_of(replace(found, recoverable=True)) is Failure.LOST


def test_errors_may_strike_during_recovery_too() -> None:
    struck, calm = (run(recovering("ours", {}), EPISODES[0], during_recovery=rate) for rate in (0.5, 0.0))
    assert len(struck.actions) > len(calm.actions)
    assert struck.actions[0] == calm.actions[0]
    assert any(action.step is None and action.faults for action in struck.actions)
    assert not any(action.faults for action in calm.actions[1:])


def test_a_fault_that_would_throw_an_object_out_of_reach_is_drawn_again() -> None:
    """Where it strikes; datasets without `drawn_in_place` carry it out as it is written."""
    first = EPISODES[0]
    far = Displaced(0, first.scene.names[-1], (0.32, 0.0))
    for drawn_in_place in (True, False):
        episode = replace(first, faults=(far,), drawn_in_place=drawn_in_place)
        with (
            IdealExecutor(episode.scene, episode.seed) as ideal,
            TabletopWorld(episode.scene, episode.faults, plan=episode.plan, seed=episode.seed) as world,
        ):
            stage = EvaluationWorld(world, episode, ideal, FaultSchedule(episode, 0.0))
            stage.execute(episode.plan[0])
            assert in_reach(world) is drawn_in_place
            assert stage.wrong
            assert (world.last_faults == (far,)) is not drawn_in_place
            assert world.faults == (far,)
