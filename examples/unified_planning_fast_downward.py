"""Fast Downward plans, nsrecover monitors, and the observed scene is the start of the next plan.

    pip install 'nsrecover[fast-downward,learned]'
    python unified_planning_fast_downward.py

A recording of the package replaces the robot: it builds a tower, which collapses at the last step. Fast Downward
(GPL-3.0) runs as a separate program.
"""

from __future__ import annotations

import os
import tempfile
from itertools import pairwise

from unified_planning.shortcuts import OneshotPlanner, get_environment

import nsrecover
from nsrecover.bridges.unified_planning.export import steps_of, to_unified_planning
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.records import recording

TOWER = ("magenta die", "cyan die", "blue die", "orange cube", "green cube")
"""From its base up."""


def planned(scene: nsrecover.SceneGraph) -> nsrecover.Plan:
    """Return a plan by Fast Downward from a scene to the tower; it leaves files in its working directory."""
    goal = [("on", upper, lower) for lower, upper in pairwise(TOWER)]
    problem = to_unified_planning(TABLETOP.instance(scene), TABLETOP.state(scene), goal)
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, OneshotPlanner(name="fast-downward") as planner:
        os.chdir(folder)
        try:
            found = planner.solve(problem).plan
        finally:
            os.chdir(here)
    return nsrecover.Plan(tuple(steps_of(TABLETOP, found)))


def main() -> None:
    """Plan, monitor, detect the collapse, and plan again."""
    get_environment().credits_stream = None
    system, episode = nsrecover.load(), recording.example("collapse")
    plan = planned(system.perceiver()(episode.observations[0]))  # the initial scene is observed
    print("Fast Downward's plan:", plan)
    assert plan == episode.plan  # so that the recording can replace the robot

    monitor = system.monitor(plan, episode.observations[0])
    for action, observation in zip(plan, episode.observations[1:], strict=True):
        found = monitor.step(action, observation)
        if not found.deviates:
            print(f"{action}: done")
            continue
        print(f"{action}: " + ", ".join(f"{culprit.name} {culprit.cause}" for culprit in found.deviations))
        again = planned(found.observed)
        print("Fast Downward's new plan:", again)
        monitor.set_plan(again)  # the monitor follows the new plan from now on
        assert len(again) == len(TOWER) - 1
        return
    raise AssertionError("the recorded tower collapses, and nobody noticed")


if __name__ == "__main__":
    main()
