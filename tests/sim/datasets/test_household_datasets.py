"""Episodes of the kitchen's error datasets follow from their number, replay exactly, and say what is wrong."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from nsrecover.core.actions import Plan
from nsrecover.domains.base import State
from nsrecover.domains.household import LASTING
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.outlook import outlook
from sim.datasets.build import Batch, DatasetsConfig, Source, _generate_all
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode, generate, read_episodes, replay
from sim.datasets.household.cases import CASES
from sim.datasets.household.drawing import Drawn, SingleFailures, loses
from sim.datasets.household.summary import markdown, summarise
from sim.datasets.household.truth import HouseholdError, goal_of, reachable
from sim.datasets.verify import household_differences
from sim.kitchen.faults import START, Snapshot, fault_from_dict
from sim.kitchen.tasks import TaskSpec, draw_task

SMALL = SingleFailures(per_kitchen=2, tasks=("T8",))
"""Its plans are the shortest."""
SEED = 3


@pytest.fixture(scope="module")
def drawn() -> Drawn:
    return generate(SMALL, SEED, 0)


def test_a_kitchen_gives_different_failures_that_show(drawn: Drawn) -> None:
    first, second = drawn.episodes
    assert (first.number, second.number, first.task) == (0, 1, "T8")
    assert (first.seed, first.layout, first.plan) == (second.seed, second.layout, second.plan)
    assert first.faults != second.faults
    for episode in drawn.episodes:
        ((fault,), (error,)) = episode.faults, episode.errors
        assert error.step == fault.at_step
        assert fault.touched(episode.plan[max(fault.at_step, 0)]) & error.deviations.keys()
        assert set(error.causes) == set(error.deviations)
    assert drawn.effort.tried == 2 + sum(drawn.effort.without_effect.values())


def test_replays_agree_to_the_last_bit_and_with_what_was_written(drawn: Drawn) -> None:
    episode = drawn.episodes[0]
    assert household_differences(episode) == []
    tampered = replace(episode, errors=(replace(episode.errors[0], failure="luck"),))
    steps = list(replay(tampered))
    assert [step.step for step in steps] == [START, *range(len(episode.plan))]
    assert [step.error for step in steps if step.error is not None] == list(episode.errors) != list(tampered.errors)


def test_other_lines_are_refused_by_number(drawn: Drawn, tmp_path: Path) -> None:
    lines = [episode.to_json() for episode in drawn.episodes]
    path = tmp_path / "episodes.jsonl"
    for change, message in (
        ({"schema": 99}, "schema 99"),
        ({"faults": [{"fault": "droped", "at_step": 0}]}, "Did you mean 'dropped'"),
        ({"errors": [{"step": 1}]}, "a line that is none"),
    ):
        path.write_text(f"{lines[0]}\n{json.dumps(json.loads(lines[1]) | change)}\n")
        with pytest.raises(InvalidConfiguration, match=f"line 2.*{message}"):
            list(read_episodes(tmp_path))
    with pytest.raises(InvalidConfiguration, match="dataset=H1"):
        list(read_episodes(tmp_path / "nothing"))


def _at(spec: TaskSpec, step: int, *more: tuple[str, ...], without: tuple[tuple[str, ...], ...] = ()) -> bool | None:
    """Whether the goal can be reached from the expected state after some actions, with other facts."""
    facts = spec.expected()[step] | set(more)
    now = Snapshot(frozenset(facts - set(without)), {}, {}, {}, {}, "", (0.0, 0.0, 0.0), 0)
    return reachable(spec, now)


@pytest.mark.parametrize(
    ("task", "fact", "expected"),
    [
        ("T7", ("filled", "house plant", "wine"), False),
        ("T7", ("filled", "cup", "wine"), True),
        ("T7", ("broken", "cup"), False),
        ("T5", ("dirty", "mug"), True),
        ("T6", ("cooked", "egg"), False),
        ("T6", ("broken", "egg"), False),
        ("T3", ("burnt", "egg"), False),
        ("T3", ("dirty", "pan"), True),
    ],
)
def test_the_search_says_whether_the_goal_is_within_reach(task: str, fact: tuple[str, ...], expected: bool) -> None:
    spec = draw_task(task, 4, 0)
    assert _at(spec, 0) is True
    assert _at(spec, 0, fact) is expected


def _batch(size: int, number: int) -> Batch:
    plan = Plan.parse("toggle_on(faucet)")
    lines = tuple(HouseholdEpisode("H1", size * number + i, "T1", 0, number, plan, ()).to_json() for i in range(size))
    return Batch(lines, 1, 2, {"dropped": 1})


def test_a_run_goes_on_in_the_middle_of_a_kitchen(tmp_path: Path) -> None:
    source = Source(
        "H1", 10, 4, partial(_batch, 4), HouseholdEpisode.from_json, summarise, markdown, {"format": 1}, False
    )
    for wanted in (3, 6, 9):
        _generate_all(source, tmp_path, DatasetsConfig(dataset="H1", episodes=wanted, workers=1))
        assert [episode.number for episode in read_episodes(tmp_path)] == list(range(wanted))
    last = json.loads((tmp_path / "metrics.json").read_text())["last_run"]
    assert (last["generated"], last["scenes_redrawn"], last["faults_without_effect"]) == (3, 2, {"dropped": 2})


def test_going_on_with_the_plan_loses_what_could_be_saved() -> None:
    found = generate(HOUSEHOLD_DATASETS["H5"], 3, 1).episodes
    assert [episode.number for episode in found] == [2, 3]
    for episode in found:
        assert episode.recoverable
        error = episode.errors[0]
        assert any("filled" in words for words in error.deviations.values())
        # the liquid that is wrong is poured on the plant in the end, by the domain
        spec = episode.spec
        wet = outlook(spec.home, _liquid(spec.start, error), spec.plan.actions[max(error.step, 0) :], goal_of(spec))
        assert wet.missed == (("filled", "house plant", "water"),)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_a_case_of_the_table_is_wrong_at_the_start_or_its_plan_loses_the_goal(number: int) -> None:
    task, failure = CASES[number]
    spec = draw_task(task, 4, 0)
    fault = failure(spec)
    assert fault_from_dict(json.loads(json.dumps(fault.to_dict()))) == fault
    plan, home = fault.altered(spec.plan), replace(spec.home, domain=LASTING)
    missed = outlook(home, spec.start, plan.actions, spec.goal).missed
    assert bool(missed) is (fault.at_step != START)
    if missed:
        now = Snapshot(spec.start, {}, {}, {}, {}, "", (0.0, 0.0, 0.0), 0)
        assert loses(spec, now, plan.actions, spec.task.things)


def _liquid(state: State, error: HouseholdError) -> State:
    """A state with the liquid that an error is about."""
    return state | {tuple(fact.replace(",", "").split()) for fact in error.excess if fact.startswith("filled")}
