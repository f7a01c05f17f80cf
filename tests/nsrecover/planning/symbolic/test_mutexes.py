"""Pairs that exclude each other, against all reachable states of tiny tasks."""

import numpy as np

from nsrecover.planning.symbolic.mutexes import Mutexes
from nsrecover.planning.symbolic.relaxation import Propositions, Relaxation
from nsrecover.planning.symbolic.strips import StripsTask
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
