"""Pairs that exclude each other, and actions that suffice, against all reachable states of tiny tasks."""

from dataclasses import replace

import numpy as np

from nsrecover.planning.symbolic import stubborn
from nsrecover.planning.symbolic.landmark_cut import LandmarkCut
from nsrecover.planning.symbolic.mutexes import Mutexes
from nsrecover.planning.symbolic.relaxation import Propositions, Relaxation
from nsrecover.planning.symbolic.strips import StripsTask
from nsrecover.planning.symbolic.stubborn import StubbornSets
from tests.nsrecover.planning.symbolic.strips_tasks import distances, optimum, random_task, relaxation_of


def parts(task: StripsTask) -> tuple[Propositions, Relaxation, Mutexes]:
    propositions, relaxed = relaxation_of(task)
    holds = np.flatnonzero(propositions.true_in(task.initial)).tolist()
    mutexes = Mutexes(len(propositions), relaxed.before, relaxed.achieved, relaxed.undone, holds)
    return propositions, relaxed, mutexes


def test_pairs_that_are_reached_never_exclude_each_other_and_some_others_do() -> None:
    excluded = 0
    for seed in range(150):
        task = random_task(seed, actions=5)
        propositions, _, mutexes = parts(task)
        reached = np.array([propositions.true_in(state) for state in distances(task)], dtype=int)
        together = reached.T @ reached > 0
        size = len(propositions)
        claimed = np.array([[mutexes.together[p] >> q & 1 for q in range(size)] for p in range(size)], dtype=bool)
        assert (claimed == claimed.T).all()
        assert not (together & ~claimed).any()
        excluded += int((~claimed).sum())
        for possible, action in zip(mutexes.possible, task.actions, strict=True):
            assert possible or not any(action.precondition.holds(state) for state in distances(task))
        goal = propositions.of(task.goal)
        if mutexes.conflicts(goal):
            assert optimum(task) == np.inf
    assert excluded > 500


def test_a_cheapest_plan_starts_with_an_action_that_suffices() -> None:
    spared = 0
    for seed in range(120):
        task = random_task(seed, facts=7, actions=10)
        if not 0 < optimum(task) < np.inf:
            continue
        propositions, relaxed, mutexes = parts(task)
        size = len(propositions)
        sets = StubbornSets(size, relaxed.before, relaxed.achieved, relaxed.undone, mutexes)
        cut = LandmarkCut(size, relaxed.before, relaxed.achieved, relaxed.costs, propositions.of(task.goal))
        for state in distances(task):
            best = optimum(replace(task, initial=state))
            if not 0 < best < np.inf:
                continue
            steps = [a for a, action in enumerate(task.actions) if action.precondition.holds(state)]
            landmarks = [some for _, some in cut(np.flatnonzero(propositions.true_in(state)).tolist())]
            kept = sets(propositions.bits(state), steps, landmarks)
            spared += len(steps) - len(kept)
            after = [optimum(replace(task, initial=task.actions[a].apply(state))) for a in kept]
            assert min(after) + 1 == best
    assert spared > 100
    assert stubborn.WORTHWHILE < 1
