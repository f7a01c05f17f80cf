"""What holds for any scene: plans work, more time is never worse, names and order do not matter, texts follow facts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from eval.logs.runs import written_logs
from nsrecover import Action, Discrepancy, Explanation, Monitor, Plan, Recovery, System, geometric, scene_of_boxes
from nsrecover.bridges.plansys2 import PlanVocabulary, read_plan, translate, write_plan
from nsrecover.core import Episode, EpisodeStatus, RecoveryStatus, StepRecord, StopCode
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.verify import claims, disagreements
from nsrecover.logs.trace import trace_lines, trace_of
from nsrecover.records import episode_log, scenes_recording
from sim.datasets.household import HouseholdEpisode
from sim.datasets.shipped import shipped_lines
from sim.datasets.spec import ErrorEpisode

SIDE_M = 0.05
NAMES = ("red", "green", "blue", "grey", "pink")
SLOTS = [(x, y) for x in (0.40, 0.52, 0.64) for y in (-0.24, -0.12, 0.0, 0.12, 0.24)]
"""Places that are far enough from each other and from the edge of the table."""
OUT_OF_REACH = (1.1, 0.0)

Boxes = Mapping[str, tuple[float, float, float, float, float, float]]

properties = settings(
    max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


@cache
def system() -> System:
    return geometric()


@dataclass(frozen=True)
class Case:
    """Cubes at places, a plan of which some actions are done, and where some cubes are in fact afterwards."""

    places: Mapping[str, tuple[float, float]]
    plan: tuple[tuple[str, str], ...]
    done: int
    displaced: Mapping[str, tuple[float, float]]

    def renamed(self, names: Mapping[str, str], order: list[str]) -> Case:
        """The same case with other names, and the objects in another order."""
        return Case(
            {names[each]: self.places[each] for each in order},
            tuple((names[a], names[b]) for a, b in self.plan),
            self.done,
            {names[each]: self.displaced[each] for each in order if each in self.displaced},
        )


@st.composite
def cases(draw: DrawFn) -> Case:
    count = draw(st.integers(3, len(NAMES)))
    slots = draw(st.permutations(SLOTS))
    names = draw(st.permutations(NAMES))[:count]
    length = draw(st.integers(1, count - 1))
    plan = tuple((names[i + 1], names[i]) for i in range(length))
    moved = draw(st.lists(st.sampled_from(names), min_size=1, max_size=3, unique=True))
    displaced = {name: slots[count + i] for i, name in enumerate(moved)}
    if draw(st.integers(0, 4)) == 4:
        displaced[moved[0]] = OUT_OF_REACH
    return Case(dict(zip(names, slots[:count], strict=True)), plan, draw(st.integers(1, length)), displaced)


def boxes(case: Case) -> Boxes:
    return {name: (x, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M) for name, (x, y) in case.places.items()}


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the monitor found of a case, its way back, and the explanation."""

    monitor: Monitor[Boxes]
    found: Discrepancy
    recovery: Recovery
    explanation: Explanation
    seen: tuple[Boxes, ...]


def outcome(case: Case, max_expansions: int | None = 3000) -> Outcome:
    plan = Plan(tuple(Action("top", pair) for pair in case.plan))
    start = boxes(case)
    monitor, seen, scene = system().monitor(plan, start), [start], scene_of_boxes(start)
    found = monitor.check()
    for number, action in enumerate(plan.actions[: case.done], start=1):
        scene = system().imagination.step(scene, action)
        if number == case.done:
            for name, (x, y) in case.displaced.items():
                scene = scene.with_node(scene.index(name), (x, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M))
        now = {name: tuple(map(float, box)) for name, box in zip(scene.names, scene.boxes, strict=True)}
        seen.append(now)
        found = monitor.step(action, now)
        if found.deviates:
            break
    recovery = system().planner.recover(
        found.observed, monitor.trace, found, budget_s=None, max_expansions=max_expansions
    )
    return Outcome(monitor, found, recovery, system().explainer(found, recovery), tuple(seen))


@properties
@given(cases())
def test_ways_back_can_be_carried_out_and_lead_to_the_goal(case: Case) -> None:
    result = outcome(case)
    if not result.recovery.found:
        assert result.recovery.status in (RecoveryStatus.IMPOSSIBLE, RecoveryStatus.BUDGET_EXHAUSTED)
        return
    rest = result.monitor.plan.actions[result.recovery.resumes_at(len(result.monitor.plan)) :]
    plan, scene = Plan((*result.recovery.actions, *rest)), result.found.observed
    if not plan.actions:
        return
    monitor = system().monitor(plan, scene)
    for action in plan:
        assert monitor.check().as_expected, f"{action} of {plan} cannot be done"
        scene = system().imagination.step(scene, action)
        assert monitor.step(action, scene).as_expected, f"{action} of {plan} does not do what it should"
    for upper, lower in case.plan:
        a, b = (scene.boxes[scene.index(name)] for name in (upper, lower))
        assert abs(a[:2] - b[:2]).max() < 0.02
        assert abs(a[2] - b[2] - SIDE_M) < 0.01


@properties
@given(cases())
def test_with_more_time_a_way_back_never_costs_more(case: Case) -> None:
    before = Recovery(RecoveryStatus.BUDGET_EXHAUSTED)
    for limit in (1, 3, 10, 40, 3000):
        now = outcome(case, limit).recovery
        assert now.cost <= before.cost + 1e-9
        assert now.lower_bound <= now.cost + 1e-9
        assert now.found or not before.found
        assert not before.proven_optimal or now.cost == pytest.approx(before.cost)
        assert [each.cost for each in now.improvements] == sorted(
            (each.cost for each in now.improvements), reverse=True
        )
        before = now


@properties
@given(cases(), st.permutations(("cup", "box", "tin", "jar", "pot")), st.randoms(use_true_random=False))
def test_names_and_the_order_of_objects_change_nothing(case: Case, others: list[str], random) -> None:  # type: ignore[no-untyped-def]
    names = dict(zip(NAMES, others, strict=True))
    order = list(case.places)
    random.shuffle(order)
    one, two = outcome(case), outcome(case.renamed(names, order))
    assert {(names[each.name], each.cause) for each in one.found.deviations} == {
        (each.name, each.cause) for each in two.found.deviations
    }
    assert (one.recovery.status, one.recovery.proven_optimal) == (two.recovery.status, two.recovery.proven_optimal)
    assert one.recovery.cost == pytest.approx(two.recovery.cost)
    assert len(one.recovery.actions) == len(two.recovery.actions)
    assert {names[each] for each in one.recovery.blamed} == set(two.recovery.blamed)


@properties
@given(cases())
def test_every_text_follows_from_its_facts(case: Case) -> None:
    result = outcome(case)
    known = facts_of(result.found, result.recovery, system().domain)
    assert set(result.explanation.facts) <= set(known)
    assert disagreements(result.explanation.text, known, result.found.observed.names) == ()
    stated = claims(result.explanation.text, result.found.observed.names)
    assert stated <= {(each.cause, each.name) for each in result.found.deviations}
    # without the fact the text is noticed
    for each in result.found.deviations:
        less = [fact for fact in known if fact.predicate != each.cause or each.name not in fact.arguments[:1]]
        if (each.cause, each.name) in stated and len(less) < len(known):
            assert disagreements(result.explanation.text, less, result.found.observed.names)


# -- what is written can be read


@properties
@given(cases())
def test_recordings_and_logs_of_episodes_come_back_as_they_were(case: Case) -> None:
    result = outcome(case)
    plan = Plan(tuple(Action("top", pair) for pair in case.plan))
    assert Plan.parse(str(plan)) == plan
    record = StepRecord(
        action=result.found.action, recovering=False, graph=result.found.observed, discrepancy=result.found,
        plan=plan, recovery=result.recovery, explanation=result.explanation, time_s=2.0,
    )  # fmt: skip
    records = (record,) if result.found.step == 0 else ()
    status = EpisodeStatus.ASKED_FOR_HELP
    episode = Episode(plan, status, "it was stopped", scene_of_boxes(result.seen[0]), records, 1.0, StopCode.STOPPED)
    document = json.loads(json.dumps(episode_log.to_document(episode)))
    again = episode_log.from_document(document)
    assert json.loads(json.dumps(episode_log.to_document(again))) == document
    assert (again.plan, again.status, again.reason, again.why) == (plan, status, episode.reason, episode.why)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "run.json"
        short = Plan(plan.actions[: len(result.seen) - 1])
        scenes_recording.save(scenes_recording.ScenesRecording(short, result.seen), path)
        read = scenes_recording.load(path)
        assert read.plan == short
        for one, other in zip(read.scenes, result.seen, strict=True):
            assert {name: pytest.approx(box) for name, box in other.items()} == one


def test_logs_of_other_robots_and_datasets_come_back_as_they_were() -> None:
    for written in written_logs(6, 3, "middle", held_out=False):
        assert trace_of([json.loads(line) for line in trace_lines(written.trace)]) == written.trace
    for name, kind in (("I", ErrorEpisode), ("II", ErrorEpisode), ("V", ErrorEpisode), ("H1", HouseholdEpisode)):
        for line in islice(shipped_lines(name, 0, 40), 40):
            assert kind.from_json(kind.from_json(line).to_json()) == kind.from_json(line)


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=1, max_size=6))
@properties
def test_plans_of_other_planners_come_back_as_they_were(pairs: list[tuple[str, str]]) -> None:
    vocabulary = PlanVocabulary({"stack": ("top", (0, 1))})
    plan = Plan(tuple(Action("top", pair) for pair in pairs))
    assert translate(read_plan(write_plan(plan, vocabulary)), vocabulary).plan == plan
    assert np.all(np.diff([item.time_s for item in read_plan(write_plan(plan, vocabulary))]) >= 0)
