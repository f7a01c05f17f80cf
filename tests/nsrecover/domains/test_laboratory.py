"""Domains of one's own, in Python and from PDDL: a robot that fails in 30 % of its actions."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest

import nsrecover
from nsrecover import Act, Answer, Ask, Done, Episode, Look, Plan, Stopped
from nsrecover.core import EpisodeStatus, StateFact
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from tests.nsrecover import laboratory
from tests.nsrecover.bridges import test_pddl_monitored as pddl

Task = tuple[Instance, State, Sequence[StateFact], Plan]
SEEDS = 30


def in_python() -> Task:
    return laboratory.SCENE, laboratory.START, laboratory.GOAL, laboratory.PLAN


def from_pddl() -> Task:
    _, instance, state, goal = pddl.laboratory()
    return instance, state, goal, pddl.PLAN


def after(instance: Instance, state: State, action: nsrecover.Action, rng: np.random.Generator) -> State:
    """The state after an action; in 30 % of the cases nothing happens, or the tube falls back on the rack."""
    done = instance.apply(state, action.operator, action.arguments)
    fails = rng.random()
    if fails < 0.2:
        return state
    if fails < 0.3:
        tube, rack = action.arguments[0], next(name for name in instance.objects if name.startswith("r"))
        if ("in", tube, rack) in done or not any(fact[:2] == ("in", tube) for fact in state | done):
            return done
        held = {("held", tube), ("holding", tube)}
        free = {("hand-empty",)} if "hand-empty" in instance.domain.relations else set()
        return frozenset(fact for fact in done if fact[:2] != ("in", tube)) - held | {("in", tube, rack)} | free
    return done


def run(task: Task, seed: int) -> tuple[Episode, State]:
    instance, state, goal, plan = task
    rng = np.random.default_rng(seed)
    session = nsrecover.symbolic(instance, goal).session(plan, state)
    for _ in range(300):
        match session.request:
            case Act(action):
                assert instance.unmet(state, action.operator, action.arguments) == [], action
                state = after(instance, state, action, rng)
                session.observed(state)
            case Look():
                session.observed(state)
            case Ask():
                session.answered(Answer.NO)
            case Done() | Stopped():
                return session.episode, state
    raise AssertionError(f"expected an end after 300 requests, found {session.request}")


@pytest.mark.parametrize("made", [in_python, from_pddl])
def test_no_episode_is_completed_while_its_goal_is_false(made: Callable[[], Task]) -> None:
    task = made()
    instance, _, goal, _ = task
    statuses = []
    for seed in range(SEEDS):
        episode, state = run(task, seed)
        assert episode.status in (EpisodeStatus.COMPLETED, EpisodeStatus.ASKED_FOR_HELP)
        reached = all(instance.holds(state, instance.condition(fact)) for fact in goal)
        assert reached or episode.status is EpisodeStatus.ASKED_FOR_HELP, seed
        statuses.append(episode.status)
    assert statuses.count(EpisodeStatus.COMPLETED) >= SEEDS // 2
