"""Monitored environments of others."""

from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium import spaces

import nsrecover
from nsrecover import Act, Action, Plan
from nsrecover.bridges.gymnasium import MonitorWrapper, Response
from nsrecover.core import StopCode
from nsrecover.errors import InvalidConfiguration

SIDE = 0.04


class Pusher(gymnasium.Env[Any, Any]):
    """A third-party environment: a gripper carries blocks, a few centimetres per step.

    An action is where to bring the block that is in hand: (block, x, y, z). At the steps in `losses` the block falls.
    """

    observation_space = spaces.Box(-1, 1, (3, 3))
    action_space = spaces.Box(-1, 1, (4,))
    names = ("red", "green", "blue")

    def __init__(self, losses: tuple[int, ...] = (), nudges: tuple[int, ...] = ()) -> None:
        self.losses, self.nudges = losses, nudges

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
        return self.places.copy(), -1.0, False, self.steps >= 1000, {"steps": self.steps}


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


def test_a_recovery_that_was_not_seen_to_work_is_never_called_repaired() -> None:
    lost = []

    def blind(observation: Any, info: Any) -> Any:
        boxes: dict[str, Any] = boxes_of(observation, info)
        lost.append(abs(boxes["green"][0] - 0.55) < 0.01)
        return boxes | {"green": None} if any(lost) and not lost[-1] else boxes

    turns = played(watched(Pusher(losses=(2,)), Response.REPAIR, blind))
    assert turns[-1][3]["request"].why is StopCode.CANNOT_TELL
    assert not any(turn[3]["repaired"] for turn in turns)


def test_settings_of_wrappers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="carry_out"):
        watched(Pusher(), Response.REPAIR, carry_out=None)
    with pytest.raises(InvalidConfiguration, match="call reset"):
        watched(Pusher()).step(np.zeros(4))
