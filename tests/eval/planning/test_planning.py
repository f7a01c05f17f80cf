"""`python -m eval.planning` on a few real episodes."""

import json

import pytest

from eval.common.error_states import ErrorState, error_states
from eval.common.optimum import fewest, puzzle_of
from eval.common.plans import PlannerSetting, plan_all, way_of
from eval.common.rejoin import RecoveryRoute, judge
from nsrecover import Action, load
from nsrecover.errors import InvalidConfiguration
from sim.datasets.spec import read_episodes
from tests.commands import run


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("planning")
    settings = ["seed=3", "episodes={I: 1, II: 0, III: 0, V: 1}", "planner=[ours,original]", "workers=1"]
    places = [f"{name}={folder}/{name}" for name in ("errors", "footage", "states", "out")]
    done = run("eval.planning", *settings, *places)
    assert done.code == 0, done.err
    return folder, done.out


@pytest.fixture(scope="module")
def state(measured) -> ErrorState:
    folder, _ = measured
    episode = next(read_episodes(folder / "errors" / "I"))
    before = {path: path.stat().st_mtime_ns for path in (folder / "states").iterdir()}
    (found,) = error_states(episode, folder / "footage", folder / "states")
    assert {path: path.stat().st_mtime_ns for path in (folder / "states").iterdir()} == before, "made once"
    return found


def test_it_leaves_metrics_and_tables(measured):
    folder, printed = measured
    assert printed == (folder / "out" / "table.md").read_text()
    metrics = json.loads((folder / "out" / "metrics.json").read_text())
    assert metrics["error_states"] == 2
    ours = metrics["planners"]["ours"]["datasets"]["I"]
    assert ours["recovery"]["value"] == 1.0
    assert ours["l_over_opt"] >= 1.0
    assert set(metrics["planners"]) == {"ours", "original"}
    assert metrics["decisions"]["ours"]["explained"]["of"] == 1  # the first episode of V has no way back


def test_recoveries_are_judged_by_their_execution(state):
    system, discrepancy = load(), state.discrepancy(load())
    recovery = system.planner.recover(state.graph, state.trace, discrepancy, budget_s=30.0)
    good = way_of(state, recovery)
    assert good is not None
    ways = {"good": good, "nothing": RecoveryRoute((), (), state.step + 1)}
    aside = Action("free", (recovery.actions[-1].arguments[0],))
    ways["too much"] = RecoveryRoute((*good.actions, aside), (), good.subgoal)
    judgement = judge(state, ways)
    assert judgement.unsteady == ()
    assert judgement.outcomes["good"].recovered
    assert judgement.outcomes["good"].completed
    assert set(judgement.outcomes["nothing"].wrong) == set(state.error.deviations)
    assert not judgement.outcomes["too much"].recovered


def test_no_plan_is_shorter_than_the_optimum(state):
    puzzle = puzzle_of(state)
    assert puzzle is not None
    best = fewest(puzzle)
    assert best is not None
    settings = {"ours": PlannerSetting(), "K = 1": PlannerSetting(subgoals=1)}
    plans = plan_all(state, state.discrepancy(load()), settings, load(), budget_s=30.0)
    assert plans["ours"].cost == best.cost
    assert plans["K = 1"].cost >= best.cost


@pytest.mark.parametrize("subgoals", ["al", 0, 1.5])
def test_subgoals_are_a_word_or_a_number(subgoals):
    with pytest.raises(InvalidConfiguration, match="Known: all, goal, step"):
        PlannerSetting(subgoals=subgoals).wanted()
