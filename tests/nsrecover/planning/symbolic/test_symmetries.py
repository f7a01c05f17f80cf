"""Symmetries of tasks, against uniform-cost search over every state."""

import random
from dataclasses import replace

import pytest

from nsrecover.planning.search import search
from nsrecover.planning.symbolic.strips import Condition, GroundAction, StripsTask, bits_of, first_failure, mask
from nsrecover.planning.symbolic.symbolic_model import SymbolicModel
from nsrecover.planning.symbolic.symmetries import MOST_IMAGES, MOST_INCIDENCES, Permutation, Symmetries
from tests.nsrecover.planning.symbolic.strips_tasks import distances, optimum, random_task

INF = float("inf")


def symmetries_of(task: StripsTask) -> Symmetries:
    return Symmetries(len(task.facts), task.actions, [action.cost for action in task.actions], task.goal, task.initial)


def image_of(state: int, permutation: Permutation) -> int:
    return mask(permutation[fact] for fact in bits_of(state))


def gripper(balls: int, goals: tuple[int, ...] = (), dear: int = -1) -> StripsTask:
    """Balls in two rooms, not all in the same one, and two hands; `goals` are the balls wanted in room 1."""
    texts = [f"robot({r})" for r in (0, 1)] + [f"free({h})" for h in (0, 1)]
    texts += [f"{at}({b})" for b in range(balls) for at in ("room0", "room1", "hand0", "hand1")]
    fact = {text: number for number, text in enumerate(texts)}
    actions = [
        GroundAction("go", (), (fact[f"robot({a})"],), (), (fact[f"robot({1 - a})"],), (fact[f"robot({a})"],))
        for a in (0, 1)
    ]
    for b in range(balls):
        for r in (0, 1):
            for h in (0, 1):
                there, held = fact[f"room{r}({b})"], fact[f"hand{h}({b})"]
                robot, free, cost = fact[f"robot({r})"], fact[f"free({h})"], 2.0 if b == dear else 1.0
                actions.append(GroundAction("pick", (), (robot, free, there), (), (held,), (free, there), cost))
                actions.append(GroundAction("drop", (), (robot, held), (), (free, there), (held,)))
    start = [f"room{b % 2}({b})" for b in range(balls)] + ["robot(0)", "free(0)", "free(1)"]
    wanted = [fact[f"room1({b})"] for b in goals or range(balls)]
    return StripsTask(tuple(texts), tuple(actions), mask(fact[text] for text in start), Condition(mask(wanted)))


def doubled(seed: int) -> StripsTask:
    """A random task and its mirror image in one, with further actions between them; the start is not symmetric."""
    half = random_task(seed, facts=5, actions=6, unit=seed % 2 == 0)
    rng = random.Random(seed)

    def mirrored(action: GroundAction) -> GroundAction:
        rows = (action.needs, action.forbids, action.adds, action.deletes)
        needs, forbids, adds, deletes = (tuple((fact + 5) % 10 for fact in row) for row in rows)
        return GroundAction(f"{action.name}'", (), needs, forbids, adds, deletes, action.cost)

    across = [
        GroundAction(f"b{i}", (), (rng.randrange(10),), (rng.randrange(10),), (rng.randrange(10),),
                     (rng.randrange(10),), rng.choice([1.0, 2.0]))
        for i in range(3)
    ]  # fmt: skip
    actions = [*half.actions, *(action for action in across if action.needs != action.forbids)]
    goal = Condition(half.goal.needs | half.goal.needs << 5, half.goal.forbids | half.goal.forbids << 5)
    everything = tuple(action for one in actions for action in (one, mirrored(one)))
    return StripsTask(tuple(f"f{i}" for i in range(10)), everything, rng.randrange(2**10), goal)


def test_hands_and_balls_are_interchangeable_wherever_they_are() -> None:
    task = gripper(3)
    found = symmetries_of(task)
    swaps = [{task.facts[f] for f, g in enumerate(each) if f != g} for each in found.generators]
    assert len(swaps) == 4  # of two hands, and of each pair of balls
    reached = distances(task)
    assert len({found.canonical(state) for state in reached}) < len(reached) / 3


def test_a_cost_or_a_goal_tells_objects_apart() -> None:
    assert len(symmetries_of(gripper(2)).generators) == 2
    assert len(symmetries_of(gripper(2, dear=1)).generators) == 1
    assert len(symmetries_of(gripper(2, goals=(0,))).generators) == 1


def test_facts_that_never_change_do_not_count() -> None:
    task = gripper(2)
    size = len(task.facts)
    marked = tuple(replace(action, needs=(*action.needs, size + i)) for i, action in enumerate(task.actions))
    facts = (*task.facts, *(f"road{i}" for i in range(len(marked))))
    roads = ((1 << len(marked)) - 1) << size
    open_roads = StripsTask(facts, marked, task.initial | roads, task.goal)
    found = symmetries_of(open_roads)
    assert len(found.generators) == 2
    assert all(each[size:] == tuple(range(size, len(facts))) for each in found.generators)
    blocked = replace(open_roads, initial=open_roads.initial & ~(1 << len(facts) - 1))  # one ball cannot be dropped
    assert len(symmetries_of(blocked).generators) < 2


def test_images_of_a_state_are_equally_far_from_the_goal() -> None:
    for balls in (2, 4):  # a small group, and one of which only generators are applied
        task = gripper(balls)
        found = symmetries_of(task)
        assert found.whole == (balls == 2), MOST_IMAGES
        for state in random.Random(balls).sample(sorted(distances(task)), 12):
            best = optimum(replace(task, initial=state))
            for each in found.generators:
                assert optimum(replace(task, initial=image_of(state, each))) == best
                if found.whole:
                    assert found.canonical(image_of(state, each)) == found.canonical(state)
            assert optimum(replace(task, initial=found.canonical(state))) == best


def test_large_tasks_are_left_alone() -> None:
    action = GroundAction("a", (), (0,), (), (1,), (0,))
    many = tuple(replace(action, name=str(i)) for i in range(MOST_INCIDENCES // 3 + 1))
    assert symmetries_of(StripsTask(("x", "y"), many, 1, Condition(2))).generators == []


@pytest.mark.parametrize("seed", range(150))
def test_a_search_with_symmetries_finds_the_optimum(seed: int) -> None:
    task = doubled(seed)
    model = SymbolicModel(task, [task.goal], [0.0], costs=[action.cost or 1e-6 for action in task.actions])
    if not model.use_symmetries():
        pytest.skip("both halves are fixed")
    assert_finds_the_optimum(model, task)


def test_a_search_among_interchangeable_balls_finds_the_optimum_sooner() -> None:
    task = gripper(5)
    bare = task.initial & ~mask(f for f, text in enumerate(task.facts) if text.startswith("room"))
    task = replace(task, initial=bare | mask(task.facts.index(f"room0({b})") for b in range(5)))
    plain, merging = (SymbolicModel(task, [task.goal], [0.0]) for _ in range(2))
    assert merging.use_symmetries()
    expansions = [assert_finds_the_optimum(model, task) for model in (plain, merging)]
    assert expansions[1] < expansions[0]


def assert_finds_the_optimum(model: SymbolicModel, task: StripsTask) -> int:
    """Check the result of a search; return its expansions."""
    found, best = search(model, task.initial, [0.0]), optimum(task)
    assert (found.subgoal is None) == (best == INF)
    if found.subgoal is not None:
        plan = [task.actions[step] for step in found.path]
        assert first_failure(task.goal, task.initial, plan) is None
        assert found.proven_optimal
        assert sum(action.cost for action in plan) == pytest.approx(best)
    return found.expansions
