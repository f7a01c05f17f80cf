"""The Gymnasium adapter: the simulated tabletop as an environment, and monitored third-party environments."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces
from gymnasium.utils.env_checker import check_env

import nsrecover
from nsrecover import Action, BoxesPerceiver, Plan, SceneGraph
from nsrecover.bridges.gymnasium import MonitorWrapper, Response, StepMonitor, WorldEnv, register_world
from nsrecover.core import StopCode
from nsrecover.core.sessions.requests import Act, Look, Stopped
from nsrecover.errors import InvalidAction, InvalidConfiguration, UnknownObject
from sim.tabletop.sampling import sample_scene
from sim.tabletop.world import TabletopWorld

SIDE = 0.04


def tabletop(seed: int) -> TabletopWorld:
    return TabletopWorld(sample_scene(np.random.default_rng(seed), 3))


def two_on_one(graph: SceneGraph, rng: np.random.Generator) -> Plan:
    a, b, c = (graph.names[i] for i in rng.permutation(3))
    return Plan.parse(f"top({b}, {a}); top({c}, {b})")


@pytest.fixture(scope="module")
def tabletop_id() -> Iterator[str]:
    register_world("NsrecoverTest-v0", tabletop, objects=4, task=two_on_one, max_steps=6)
    yield "NsrecoverTest-v0"
    gymnasium.registry.pop("NsrecoverTest-v0")


@pytest.mark.filterwarnings("error::UserWarning")
def test_the_simulated_world_passes_gymnasiums_own_check(tabletop_id: str) -> None:
    check_env(gymnasium.make(tabletop_id).unwrapped)


def test_a_plan_carried_out_in_the_simulated_world_earns_the_reward(tabletop_id: str) -> None:
    env = gymnasium.make(tabletop_id, render_mode="rgb_array")
    observation, info = env.reset(seed=3)
    assert info["names"] == env.unwrapped.graph.names
    assert observation["seen"].tolist() == [1, 1, 1, 0], "a place for a fourth object is kept free"
    plan = Plan.parse(info["plan"])
    rewards = []
    for action in plan:
        observation, reward, terminated, truncated, info = env.step(env.unwrapped.numbers_of(action))
        assert info["refused"] == ()
        rewards.append((reward, terminated, truncated))
    assert rewards == [(0.0, False, False), (1.0, True, False)]
    heights = dict(zip(info["names"], observation["boxes"][:, 2], strict=False))
    assert heights[plan[0].arguments[1]] < heights[plan[0].arguments[0]] < heights[plan[1].arguments[0]]
    assert env.render().shape == (240, 320, 3)
    env.close()


def test_what_cannot_be_run_moves_nothing_and_says_why(tabletop_id: str) -> None:
    env = gymnasium.make(tabletop_id)
    before, info = env.reset(seed=4)
    names = info["names"]
    for numbers in ([0, 1, 1], [0, 0, 3]):
        after, *_, info = env.step(np.array(numbers))
        assert "out of range" in info["refused"][0]
        np.testing.assert_array_equal(after["boxes"], before["boxes"])
    env.step(env.unwrapped.numbers_of(Action("top", names[:2])))
    *_, info = env.step(env.unwrapped.numbers_of(Action("top", (names[1], names[2]))))
    assert info["refused"] == (f"the {names[0]} stands on the {names[1]}",)
    with pytest.raises(InvalidAction, match="restore"):
        env.unwrapped.numbers_of(Action("restore", names[:1]))
    with pytest.raises(UnknownObject):
        env.unwrapped.numbers_of(Action("top", ("nothing", names[0])))
    env.close()


def test_settings_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="at least 1 object"):
        WorldEnv(tabletop, objects=0, perceiver=BoxesPerceiver)
    with pytest.raises(InvalidAction, match="Did you mean 'left'"):
        WorldEnv(tabletop, objects=3, operators=("lefft",), perceiver=BoxesPerceiver)
    with pytest.raises(InvalidConfiguration, match="render_mode"):
        WorldEnv(tabletop, objects=3, perceiver=BoxesPerceiver, render_mode="human")
    with pytest.raises(InvalidConfiguration, match="call reset"):
        _ = WorldEnv(tabletop, objects=3, perceiver=BoxesPerceiver).graph


def test_more_objects_than_there_is_room_for_are_told_of() -> None:
    class Crowd:
        def __init__(self, seed: int) -> None: ...

        def observe(self) -> dict[str, tuple[float, ...]]:
            return {name: (0.4, 0.1 * i, SIDE / 2, SIDE, SIDE, SIDE) for i, name in enumerate("abc")}

        def execute(self, action: Action) -> None: ...

    env = WorldEnv(Crowd, objects=2, perceiver=BoxesPerceiver)
    with pytest.raises(InvalidConfiguration, match="expected at most 2 objects, found 3"):
        env.reset(seed=0)


class Pusher(gymnasium.Env[Any, Any]):
    """A third-party environment: a gripper carries blocks, a few centimetres per step.

    An action is where to bring the block that is in hand: (block, x, y, z). At the steps in `losses` the block falls.
    """

    observation_space = spaces.Box(-1, 1, (3, 3))
    action_space = spaces.Box(-1, 1, (4,))
    names = ("red", "green", "blue")

    def __init__(self, losses: tuple[int, ...] = (), nudges: tuple[int, ...] = (), limit: int = 1000) -> None:
        self.losses, self.nudges, self.limit = losses, nudges, limit

    def reset(self, *, seed: int | None = None, options: Any = None) -> tuple[Any, dict[str, Any]]:
        super().reset(seed=seed)
        self.places = np.array([[0.4, -0.1, 0.02], [0.4, 0.0, 0.02], [0.5, 0.1, 0.02]])
        self.steps = 0
        return self.places.copy(), {}

    def step(self, action: Any) -> Any:
        index, goal = int(action[0]), np.asarray(action[1:])
        way = goal - self.places[index]
        self.places[index] += way * min(1.0, 0.04 / max(float(np.linalg.norm(way)), 1e-9))
        if self.steps in self.losses:
            self.places[index] = (0.55, -0.1 + 0.02 * len(self.losses), 0.02)
        if self.steps in self.nudges:
            self.places[2, :2] += 0.05
        self.steps += 1
        return self.places.copy(), -1.0, False, self.steps >= self.limit, {"steps": self.steps}


PLAN = Plan.parse("top(green, red); top(blue, green)")
GOALS = {"green": (0.4, -0.1, 0.06), "blue": (0.4, -0.1, 0.10)}
SYSTEM = nsrecover.geometric()


def boxes_of(observation: Any, info: Any) -> dict[str, tuple[float, ...]]:
    return {name: (*map(float, place), SIDE, SIDE, SIDE) for name, place in zip(Pusher.names, observation, strict=True)}


def goal_of(action: Action) -> tuple[float, ...]:
    return action.target[:3] if action.target is not None else GOALS[action.arguments[0]]


def numbers(action: Action) -> np.ndarray[Any, Any]:
    return np.array([Pusher.names.index(action.arguments[0]), *goal_of(action)])


class Carried:
    """Returns whether the block of an action has arrived, or lies on the table again."""

    def __init__(self) -> None:
        self.lifted = False

    def __call__(self, action: Action, observation: Any, info: Any) -> bool:
        place = observation[Pusher.names.index(action.arguments[0])]
        fallen = self.lifted and place[2] <= 0.021
        self.lifted = place[2] > 0.021
        return bool(np.linalg.norm(place - goal_of(action)) < 0.005) or fallen


def carry_out(env: Any, action: Action) -> Any:
    total = 0.0
    while True:
        observation, reward, terminated, truncated, info = env.step(numbers(action))
        total += reward
        place = observation[Pusher.names.index(action.arguments[0])]
        if np.linalg.norm(place - goal_of(action)) < 0.005 or place[2] < 0.0201 or terminated or truncated:
            return observation, total, terminated, truncated, info


def look(env: Any, names: Any) -> Any:
    return env.unwrapped.places.copy(), -0.25, False, False, {"steps": env.unwrapped.steps}


def watched(
    env: Pusher, response: Response = Response.TELL, scene_of: Any = boxes_of, **options: Any
) -> MonitorWrapper:
    more = {"carry_out": carry_out, "look": look} | options
    return MonitorWrapper(
        env, lambda scene, _: SYSTEM.session(PLAN, scene), scene_of, Carried(), response=response, **more
    )


def played(env: MonitorWrapper) -> list[tuple[float, bool, bool, dict[str, Any]]]:
    """Run a policy that carries out what is asked for, and does nothing if that is nothing; return the steps."""
    _, info = env.reset()
    assert info["discrepancy"] is None
    turns = []
    while not info["request"].final:
        asked = info["request"]
        still = np.array([0, *env.unwrapped.places[0]])
        _, reward, terminated, truncated, info = env.step(numbers(asked.action) if isinstance(asked, Act) else still)
        turns.append((float(reward), terminated, truncated, info))
        if terminated or truncated:
            break
    return turns


def verdicts(turns: list[tuple[float, bool, bool, dict[str, Any]]]) -> list[tuple[str, ...]]:
    return [turn[3]["discrepancy"].deviating for turn in turns if turn[3]["discrepancy"] is not None]


def test_an_action_of_the_plan_may_take_many_steps_and_is_judged_at_its_end() -> None:
    turns = played(watched(Pusher()))
    assert len(turns) > 6
    assert verdicts(turns) == [(), ()]
    assert turns[-1][3]["request"].code == "done"
    assert not turns[-1][3]["repaired"]
    assert all(turn[3]["steps"] == number for number, turn in enumerate(turns, start=1)), "its own info is kept"


def test_what_is_asked_for_leads_back() -> None:
    env = watched(Pusher(losses=(2,)))
    turns = played(env)
    assert verdicts(turns) == [("green",), (), ()]
    assert turns[-1][3]["request"].code == "done"
    assert not any(turn[2] for turn in turns)
    np.testing.assert_allclose(env.unwrapped.places[:, 2], (0.02, 0.06, 0.10), atol=0.005)


def test_without_a_way_to_look_the_next_steps_are_looks() -> None:
    turns = played(watched(Pusher(losses=(2,)), Response.END, look=None))
    assert [isinstance(turn[3]["request"], Look) for turn in turns[-2:]] == [True, False]
    assert verdicts(turns) == [("green",)]
    assert turns[-1][1:3] == (False, True)


def test_a_lost_block_can_end_the_episode_and_nothing_is_kept_for_the_next() -> None:
    env = watched(Pusher(losses=(2,)), Response.END)
    first, second = played(env), played(env)
    assert first[-1][1:3] == (False, True)
    assert verdicts(first) == verdicts(second) == [("green",)]
    assert len(first) == len(second)


def test_a_lost_block_is_brought_back_and_the_plan_goes_on() -> None:
    env = watched(Pusher(losses=(2,), nudges=(1,)), Response.REPAIR)
    turns = played(env)
    (repair,) = [turn for turn in turns if turn[3]["recovery"]]
    assert repair[3]["repaired"]
    assert repair[3]["discrepancy"].deviating == ("green", "blue")
    # rather than put the blue block back to where it was, it goes where it is to go next
    assert [str(action) for action in repair[3]["recovery"].actions] == ["top(green, red)", "top(blue, green)"]
    assert repair[0] < -1, "the rewards on the way are added up"
    assert repair[3]["request"].code == "done"
    np.testing.assert_allclose(env.unwrapped.places[:, 2], (0.02, 0.06, 0.10), atol=0.005)


def test_what_goes_wrong_on_the_recovery_is_repaired_too_but_not_for_ever() -> None:
    turns = played(watched(Pusher(losses=(2, 6)), Response.REPAIR))
    assert [turn[3]["repaired"] for turn in turns if turn[3]["recovery"]] == [True]
    always = played(watched(Pusher(losses=tuple(range(2, 999))), Response.REPAIR))
    assert always[-1][2], "truncated"
    assert isinstance(always[-1][3]["request"], Stopped)
    assert always[-1][3]["repaired"] is False


def test_an_end_on_the_recovery_is_never_called_repaired() -> None:
    turns = played(watched(Pusher(losses=(2,), limit=5), Response.REPAIR))
    assert turns[-1][2]
    assert turns[-1][3]["repaired"] is False


def test_a_recovery_that_was_not_seen_to_work_is_never_called_repaired() -> None:
    lost = []

    def blind(observation: Any, info: Any) -> Any:
        boxes: dict[str, Any] = boxes_of(observation, info)
        lost.append(abs(boxes["green"][0] - 0.55) < 0.01)
        return boxes | {"green": None} if any(lost) and not lost[-1] else boxes

    turns = played(watched(Pusher(losses=(2,)), Response.REPAIR, blind))
    assert turns[-1][3]["request"].why is StopCode.CANNOT_TELL
    assert not any(turn[3]["repaired"] for turn in turns)


def test_where_every_step_is_an_action_no_plan_is_needed() -> None:
    class Stacker(Pusher):
        def step(self, action: Any) -> Any:
            if int(action[0]) == 1:
                self.places[int(action[0])] = action[1:]
            return self.places.copy(), 0.0, False, False, {}

    def action_of(numbers: Any) -> Action | None:
        return (
            None if numbers[3] < 0 else Action("restore", (Pusher.names[int(numbers[0])],), (*numbers[1:], *[SIDE] * 3))
        )

    for response, looks in ((Response.TELL, None), (Response.END, look)):
        env = StepMonitor(Stacker(), SYSTEM.monitor, boxes_of, action_of, looks, response)
        env.reset()
        assert env.step(np.array([0, 0, 0, -1.0]))[4]["discrepancy"] is None
        assert env.step(np.array([1, 0.4, -0.1, 0.06]))[4]["discrepancy"].as_expected
        *_, truncated, info = env.step(np.array([2, 0.4, -0.1, 0.10]))
        assert (info["discrepancy"].deviating, truncated) == (("blue",), response is Response.END)
        assert info["discrepancy"].looks == (1 if looks is None else 2)
        assert env.step(np.array([1, 0.6, 0.0, 0.02]))[4]["discrepancy"].as_expected, "told once"


def test_settings_of_wrappers_that_make_no_sense_are_refused() -> None:
    for response in (Response.END, Response.REPAIR):
        with pytest.raises(InvalidConfiguration, match="MonitorWrapper"):
            StepMonitor(Pusher(), SYSTEM.monitor, boxes_of, lambda action: None, response=response)
    with pytest.raises(InvalidConfiguration, match="carry_out"):
        watched(Pusher(), Response.REPAIR, carry_out=None)
    with pytest.raises(InvalidConfiguration, match="call reset"):
        watched(Pusher()).step(np.zeros(4))


def test_without_gymnasium_the_error_names_the_extra() -> None:
    program = "import sys; sys.modules['gymnasium'] = None; import nsrecover.bridges.gymnasium"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert "pip install 'nsrecover[gymnasium]'" in done.stderr.splitlines()[-1]
