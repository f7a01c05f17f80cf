"""A small fleet with boxes and hostile clients: every answer is right, and no attack breaks the server."""

import asyncio
import json
import random

import httpx

from eval.checks.fleet import FleetConfig, Load, story_in_boxes, table_of, under_load
from eval.common.served import served


def test_a_story_ends_with_a_cube_that_fell() -> None:
    story = story_in_boxes(3)
    assert story.plan[-1] == "top(r3 cube 3, r3 cube 2)"
    assert len(story.bodies) == len(story.plan) + 2  # before, after each action, and a second look at the last one
    boxes = {each["name"]: each["box"] for each in json.loads(story.bodies[-1])["objects"]}
    assert boxes["r3 cube 2"][2] > boxes["r3 cube 1"][2] > boxes["r3 cube 0"][2] == boxes["r3 cube 3"][2]


async def _attacked(load: Load, url: str) -> None:
    async with httpx.AsyncClient(base_url=url, timeout=60.0, trust_env=False) as client:
        for attack in load.attacks(client, random.Random(9)):
            await attack()


def test_robots_are_answered_while_others_attack() -> None:
    with served("--boxes-only") as server:
        metrics = under_load(server, FleetConfig(robots=4, hostile=2, boxes=True, seconds=4, every_s=0.5))
        every = Load(server.url)
        asyncio.run(_attacked(every, server.url))
        # whatever was done, the next robot is served
        again = under_load(server, FleetConfig(robots=1, boxes=True, seconds=2, every_s=0.4))
    assert metrics["first_errors"] == again["first_errors"] == []
    assert (metrics["server_errors"], sum(n for status, n in every.statuses.items() if status >= 500)) == (0, 0)
    assert sum(every.statuses.values()) >= 300
    assert metrics["observations"] >= 4 * 6
    assert metrics["latency_s"]["look and recover"]["count"] >= 4
    assert sum(metrics["to_hostile"].values()) > 0
    assert "4 robots with boxes and 2 hostile clients" in table_of(metrics)
