"""LM-cut never exceeds the true cost, and sees what the delete relaxation can see."""

import numpy as np
import pytest

from nsrecover.planning.symbolic.landmark_cut import LandmarkCut, load_compiled
from nsrecover.planning.symbolic.relaxation import Propositions, Relaxation
from nsrecover.planning.symbolic.strips import StripsTask
from tests.nsrecover.planning.symbolic.strips_tasks import optimum, random_task, relaxation_of


def parts(task: StripsTask) -> tuple[Propositions, Relaxation, LandmarkCut]:
    propositions, relaxation = relaxation_of(task)
    costs = [action.cost for action in task.actions]
    cut = LandmarkCut(len(propositions), relaxation.before, relaxation.achieved, costs, propositions.of(task.goal))
    return propositions, relaxation, cut


def total(landmarks: list) -> float:
    return sum(least for least, _ in landmarks)


def test_it_is_a_lower_bound_and_often_exact() -> None:
    exact, solvable = 0, 0
    for seed in range(200):
        task = random_task(seed, unit=seed % 2 == 0)
        propositions, _, cut = parts(task)
        best = optimum(task)
        bound = total(cut(np.flatnonzero(propositions.true_in(task.initial)).tolist()))
        assert bound <= best + 1e-9
        if all(action.cost > 0 for action in task.actions):
            assert (bound == 0) == task.goal.holds(task.initial)
        if best < np.inf:
            solvable += 1
            exact += bound == pytest.approx(best)
    assert solvable > 70
    assert exact > 0.7 * solvable


def test_machine_code_finds_the_same_landmarks() -> None:
    pytest.importorskip("numba")
    assert load_compiled().wait(60.0)
    found = 0
    for seed in range(60):
        task = random_task(seed, unit=seed % 2 == 0)
        propositions, _, cut = parts(task)
        assert cut.compiled is not None
        before = cut(np.flatnonzero(propositions.true_in(task.initial)).tolist())
        for number, action in enumerate(task.actions):
            if action.precondition.holds(task.initial) and total(before) < np.inf:
                holds = np.flatnonzero(propositions.true_in(action.apply(task.initial))).tolist()
                known = [landmark for landmark in before if number not in landmark[1]]
                compiled, enough = cut(holds, known), cut(holds, known, enough=1.0)
                _, _, plain = parts(task)
                plain.compiled = None
                assert compiled == plain(holds, known)
                assert enough == plain(holds, known, enough=1.0)
                found += len(compiled)
    assert found > 100
