"""The reinforcement-learning baseline: its vectors and environment, a short real training, and its use as a planner."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from eval.train_sac.command import Task, TrainSacConfig, _measure, train
from eval.train_sac.environment import ReachGoals
from eval.train_sac.planner import SHIPPED, PolicyPlanner, PolicySetting, load_policy, sac
from eval.train_sac.space import Slots
from nsrecover import geometric
from nsrecover.core import Fact, Plan, RecoveryStatus, SceneGraph, Trace
from nsrecover.errors import InvalidConfiguration

SIDE = 0.05
NAMES = ("red cube", "blue cube", "green cube")
BOXES = np.array([[0.5, y, SIDE / 2, SIDE, SIDE, SIDE] for y in (-0.1, 0.0, 0.1)], dtype=np.float32)


def chosen(slots: Slots, row: int, box: np.ndarray) -> np.ndarray:
    """The vector that puts an object to a place."""
    vector = np.zeros(slots.action_size, dtype=np.float32)
    vector[row] = 1.0
    vector[slots.count :] = slots.boxes(box)[:2]
    return vector


def test_an_action_chooses_an_object_and_a_place() -> None:
    slots = Slots(5)
    action = slots.action(NAMES, BOXES, chosen(slots, 0, np.array([0.45, 0.15, 0, SIDE, SIDE, SIDE])))
    assert action.arguments == ("red cube",)
    np.testing.assert_allclose(action.target, [0.45, 0.15, SIDE / 2, SIDE, SIDE, SIDE], atol=1e-6)
    above = slots.action(NAMES, BOXES, chosen(slots, 0, BOXES[1]))
    np.testing.assert_allclose(above.target, [0.5, 0.0, 1.5 * SIDE, SIDE, SIDE, SIDE], atol=1e-6)
    unused = np.zeros(7, dtype=np.float32)
    unused[4] = 1.0
    assert slots.action(NAMES, BOXES, unused).arguments[0] in NAMES, "there is nothing in the fifth slot"


def test_a_goal_is_reached_within_two_centimetres() -> None:
    slots, near, far = Slots(4), BOXES.copy(), BOXES.copy()
    near[1, 0] += 0.019
    far[1, 2] += 0.021
    vectors = np.stack([slots.boxes(boxes) for boxes in (BOXES, near, far)])
    assert slots.reached(vectors, slots.boxes(BOXES)).tolist() == [True, True, False]
    environment = ReachGoals(slots=4)
    assert environment.compute_reward(vectors, np.repeat(vectors[:1], 3, axis=0), {}).tolist() == [0.0, 0.0, -1.0]


@pytest.mark.filterwarnings("error")
def test_the_environment_is_one() -> None:
    environment = ReachGoals((3, 5), (1, 2))
    check_env(environment, skip_render_check=True)
    environment.close()


def test_the_plan_behind_a_goal_leads_to_it() -> None:
    """The right choice reaches a goal of one action: what the policy has to learn can be done."""
    environment = ReachGoals((3,), (1,), tries=1, slots=3)
    seen, _ = environment.reset(seed=4)
    reached = []
    for _ in range(6):
        achieved, desired = (seen[key].reshape(3, 6) for key in ("achieved_goal", "desired_goal"))
        row = int(np.abs(achieved - desired)[:, :3].sum(axis=1).argmax())
        vector = np.zeros(5, dtype=np.float32)
        vector[row], vector[3:] = 1.0, desired[row, :2]
        *_, truncated, info = environment.step(vector)
        reached.append(info["is_success"])
        assert info["is_success"] != truncated
        seen, _ = environment.reset()
    environment.close()
    assert sum(reached) >= 5


def test_more_objects_than_slots_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="2 to 3 objects"):
        ReachGoals((5,), slots=3)


@pytest.fixture(scope="module")
def trained(tmp_path_factory) -> tuple[TrainSacConfig, dict]:
    config = TrainSacConfig(
        steps=40, counts=[3], lengths=[1], slots=3, every=20, tasks={"one": Task(3, 1, 1)}, episodes=3,
        out=str(tmp_path_factory.mktemp("sac") / "out"),
    )  # fmt: skip
    return config, train(config)


def test_training_leaves_a_policy_and_goes_on(trained) -> None:
    config, metrics = trained
    assert metrics["steps"] == 40
    assert metrics["tasks"]["one"]["policy"]["of"] == 3
    out = Path(config.out)
    assert {"policy.zip", "metrics.json", "table.md", "config.yaml"} <= {path.name for path in out.iterdir()}
    config.steps = 60
    again = train(config)
    assert again["steps"] == 60
    assert again["seconds"] >= metrics["seconds"]
    assert json.loads((out / "metrics.json").read_text()) == again
    config.minutes, config.steps = 0.0, 80
    assert train(config)["steps"] == 60, "the time is over"
    config.seed = 1
    with pytest.raises(InvalidConfiguration, match="minutes of at least 0"):
        train(replace(config, minutes=-1.0))
    with pytest.raises(InvalidConfiguration, match="seed"):
        train(config)
    config.seed = 0


def scenes() -> tuple[SceneGraph, Trace]:
    """A scene in which the green cube is not where the plan has it, and the plan."""
    start = SceneGraph(NAMES, np.zeros((3, 0), np.float32), BOXES, np.ones(3, np.bool_))
    system = geometric()
    trace = system.imagination.trace(start, Plan.parse("top(red cube, blue cube); top(green cube, red cube)"))
    astray = trace.graphs[1].with_node(2, [0.6, 0.3, SIDE / 2, SIDE, SIDE, SIDE])
    return astray, trace


class KnowsTheWay:
    """Hand-written policy: it moves the object that is farthest from its goal."""

    action_space = ReachGoals(slots=3).action_space

    def predict(self, seen, deterministic):
        assert deterministic
        achieved, desired = (seen[key].reshape(3, 6) for key in ("achieved_goal", "desired_goal"))
        row = int(np.abs(achieved - desired)[:, :3].sum(axis=1).argmax())
        vector = np.zeros(5, dtype=np.float32)
        vector[row], vector[3:] = 1.0, desired[row, :2]
        return vector, None


def test_a_policy_that_knows_the_way_recovers() -> None:
    astray, trace = scenes()
    system = geometric()
    discrepancy = system.comparison.after(astray, trace, 0)
    assert discrepancy.deviating == ("green cube",)
    recovery = PolicyPlanner(system, KnowsTheWay(), 2).recover(astray, trace, discrepancy)
    assert recovery.status is RecoveryStatus.RECOVERED
    assert [str(action) for action in recovery.actions] == ["restore(green cube)"]
    assert recovery.subgoal == 1
    assert recovery.cost == 2
    assert len(recovery.graphs) == len(recovery.rest) == 1
    np.testing.assert_allclose(recovery.graphs[0].boxes, trace.graphs[1].boxes, atol=1e-5)


class Stubborn(KnowsTheWay):
    """Its mean moves an object under another one; a sample is applicable."""

    def predict(self, seen, deterministic):
        if not deterministic:
            return super().predict(seen, deterministic=True)
        vector = np.zeros(5, dtype=np.float32)
        vector[NAMES.index("blue cube")] = 1.0
        return vector, None


def test_impossible_actions_are_not_imagined() -> None:
    astray, trace = scenes()
    system = geometric()
    discrepancy = system.comparison.after(astray, trace, 0)
    recovery = PolicyPlanner(system, Stubborn(), 2).recover(astray, trace, discrepancy)
    assert [str(action) for action in recovery.actions] == ["restore(green cube)"]


def test_an_unmet_precondition_is_planned_past() -> None:
    """A recovery to the scene before the action would be empty, and the same alarm would follow."""
    _, trace = scenes()
    system = geometric()
    doubt = replace(system.comparison.before(trace.graphs[1], trace, 1), unmet=(Fact("blocked", ()),))
    assert not doubt.deviations
    recovery = PolicyPlanner(system, KnowsTheWay(), 2).recover(trace.graphs[1], trace, doubt)
    assert [str(action) for action in recovery.actions] == ["restore(green cube)"]
    assert recovery.subgoal == 2


def test_a_policy_that_has_learned_nothing_says_so(trained) -> None:
    astray, trace = scenes()
    system = geometric()
    discrepancy = system.comparison.after(astray, trace, 0)
    recovery = PolicySetting(policy=trained[0].out).recover(system)(astray, trace, discrepancy, budget_s=None)
    assert recovery.status is RecoveryStatus.BUDGET_EXHAUSTED
    assert "does not reach the goal in 6 actions" in recovery.note
    assert sac(policy=trained[0].out).setting.policy == trained[0].out


def test_the_shipped_policy_has_learned_something() -> None:
    """Single steps with five tries: 91 % of 200 in its table."""
    config = TrainSacConfig(episodes=20)
    found = _measure(Task(objects=3, length=1, tries=5), load_policy(SHIPPED), config)
    assert found["policy"]["value"] >= 0.7
    assert found["random"]["value"] <= 0.1
    assert PolicySetting().recover(geometric())  # it is what is taken if none is named


def test_a_policy_that_is_not_there() -> None:
    with pytest.raises(InvalidConfiguration, match="python -m eval"):
        load_policy("/nowhere")
