"""The error detector alone, in your own loop: your robot, cameras, instance masks and planner.

    pip install 'nsrecover[learned]'
    python detector_in_your_loop.py

A recorded episode of the package replaces robot and cameras.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import nsrecover
from nsrecover import Action, Camera, Observation
from nsrecover.records import recording


class MyRobot:
    """Your robot; here it replays a recorded episode."""

    def __init__(self) -> None:
        self._episode = recording.example("collapse")
        self.plan = list(self._episode.plan)
        self._done = 0

    def do(self, action: Action) -> None:
        """Carry out an action; the next observation shows whether it worked."""
        self._done += 1

    def read_cameras(self) -> tuple[np.ndarray, np.ndarray, tuple[Camera, ...]]:
        """Colour (V, H, W, 3), depth in metres (V, H, W) and calibration of V views."""
        seen = self._episode.observations[self._done]
        return seen.rgb, seen.depth_m, seen.cameras

    def my_detector(self, rgb: np.ndarray) -> Mapping[str, np.ndarray]:
        """Your detector: a mask (V, H, W) for every object. Here it returns the masks of the recording."""
        seen = self._episode.observations[self._done]
        return {name: seen.instances == number for number, name in seen.labels.items()}


def look(robot: MyRobot) -> Observation:
    """Combine cameras and detector; the observation validates itself."""
    rgb, depth_m, cameras = robot.read_cameras()
    instances, labels = np.zeros(depth_m.shape, np.int32), {}
    for number, (name, mask) in enumerate(robot.my_detector(rgb).items(), start=1):
        instances[mask] = number
        labels[number] = name
    return Observation(rgb, depth_m, instances, cameras, labels)


def my_planner_replans(from_state: nsrecover.SceneGraph, blame: tuple[str, ...]) -> None:
    """Your planner; it receives the current scene and the names of the deviating objects."""
    print(f"replanning from {len(from_state)} objects; not where they should be: {', '.join(blame)}")


robot = MyRobot()
plan = nsrecover.Plan(tuple(robot.plan))
monitor = nsrecover.load().monitor(plan, look(robot))
for action in plan:
    robot.do(action)
    discrepancy = monitor.step(action, look(robot))
    print(f"{action}: {'NOT as expected' if discrepancy.deviates else 'as expected'}")
    if discrepancy.deviates:
        for culprit in discrepancy.deviations:
            print(f"  {culprit.name}: {culprit.cause} ({culprit.cause.meaning})")
        my_planner_replans(from_state=discrepancy.observed, blame=discrepancy.deviating)
        # with a new plan: monitor.set_plan(new_plan), then go on with monitor.next_action
