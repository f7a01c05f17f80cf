"""A small fleet with boxes: every answer is right."""

from eval.checks.fleet import FleetConfig, table_of, under_load
from eval.common.served import served


def test_every_robot_is_answered() -> None:
    with served("--boxes-only") as server:
        metrics = under_load(server, FleetConfig(robots=4, boxes=True, seconds=4, every_s=0.5))
    assert metrics["first_errors"] == []
    assert metrics["observations"] >= 4 * 6
    assert metrics["latency_s"]["look and recover"]["count"] >= 4
    assert "4 robots with boxes" in table_of(metrics)
