"""A small fleet with boxes: every answer is right."""

import json

from eval.checks.fleet import FleetConfig, story_in_boxes, table_of, under_load
from eval.common.served import served


def test_a_story_ends_with_a_cube_that_fell() -> None:
    story = story_in_boxes(3)
    assert story.plan[-1] == "top(r3 cube 3, r3 cube 2)"
    assert len(story.bodies) == len(story.plan) + 2  # before, after each action, and a second look at the last one
    boxes = {each["name"]: each["box"] for each in json.loads(story.bodies[-1])["objects"]}
    assert boxes["r3 cube 2"][2] > boxes["r3 cube 1"][2] > boxes["r3 cube 0"][2] == boxes["r3 cube 3"][2]


def test_every_robot_is_answered() -> None:
    with served("--boxes-only") as server:
        metrics = under_load(server, FleetConfig(robots=4, boxes=True, seconds=4, every_s=0.5))
    assert metrics["first_errors"] == []
    assert metrics["observations"] >= 4 * 6
    assert metrics["latency_s"]["look and recover"]["count"] >= 4
    assert "4 robots with boxes" in table_of(metrics)
