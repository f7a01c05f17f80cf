"""Shifts of many agents with one person: simulated time, counts, and the orders."""

import json
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from eval.questions.__main__ import MEASUREMENT, QuestionsConfig, _pool
from eval.questions.rules import earliest_deadline, first_come, largest_stake, random_order, rules
from eval.questions.shift import Task, Times, drawn_robots, run_shift
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.live.order import Stake, order
from sim.datasets.shipped import shipped_lines


def test_a_plan_that_no_session_accepts_is_no_task() -> None:
    refused = "put_on(potato, pan)"
    every = [Task(line) for line in islice(shipped_lines("H1", 0, 40), 40)]
    assert any(refused in str(task.episode.robots_plan) for task in every)
    tasks = _pool(40)
    assert len(tasks) > 100
    for task in tasks:
        assert refused not in str(task.episode.robots_plan)
        task.system.check_plan(task.episode.robots_plan)


def test_the_simple_rules_order_as_their_names_say() -> None:
    questions = {"a": Stake(1.0), "b": Stake(5.0, 40.0), "c": Stake(3.0, 20.0)}
    assert first_come(questions, 10.0) == ["a", "b", "c"]
    assert earliest_deadline(questions, 10.0) == ["c", "b", "a"]
    assert largest_stake(questions, 10.0) == ["b", "c", "a"]
    assert sorted(random_order(0)(questions, 10.0)) == ["a", "b", "c"]
    assert rules(0)["ours"] is order


def test_a_shift_is_repeatable_and_more_people_do_more() -> None:
    pool = [Task(line) for line in islice(shipped_lines("H3", 0, 6), 6)]
    times = Times(10.0, 30.0, 200.0)

    def robots():  # type: ignore[no-untyped-def]
        return drawn_robots(pool, 8, 1, [40.0, 60.0], 20.0, 0.75, np.random.default_rng(0))

    one, again = (run_shift(robots(), times, order) for _ in range(2))
    many = run_shift(robots(), times, None)
    assert one == again
    assert many.busiest == 1 < one.busiest
    assert one.answered + one.ran_out <= one.asked
    assert one.ran_out > many.ran_out == 0
    assert one.actions < many.actions
    assert many.answered == many.asked > 0


def test_the_command_writes_its_tables(tmp_path: Path) -> None:
    config = QuestionsConfig(shifts=2, robots=4, tasks=1, episodes=3, shift_s=100.0, out=str(tmp_path))
    metrics = MEASUREMENT.run(config)
    assert json.loads((tmp_path / "metrics.json").read_text()) == json.loads(json.dumps(metrics))
    assert set(metrics["rules"]) == set(rules(0))
    assert metrics["rules"]["one person for each robot"]["actions"]["value"] == 1.0
    table = (tmp_path / "table.md").read_text()
    assert all(name in table for name in rules(0))
    with pytest.raises(InvalidConfiguration, match="positive"):
        MEASUREMENT.run(QuestionsConfig(shifts=0))
