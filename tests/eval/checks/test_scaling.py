"""Synthetic error states, and how growth is measured."""

from dataclasses import replace

import numpy as np
import pytest

from eval.checks.scaling import MEASUREMENT, ScalingConfig, TimedRecovery, growth, summary, table, time_one, valid
from eval.common.synthetic_states import Appearance, enlarged, of_example, problem
from nsrecover import load


@pytest.fixture(scope="module")
def bank() -> list[Appearance]:
    rng = np.random.default_rng(0)
    looks = []
    for _ in range(8):
        feature = rng.normal(size=64).astype(np.float32)
        size = rng.uniform(0.038, 0.050, 3).astype(np.float32)
        feature /= np.linalg.norm(feature)
        looks.append(Appearance(feature, feature, size, size))
    return looks


@pytest.mark.parametrize(("objects", "errors"), [(5, 1), (10, 4), (30, 6)])
def test_synthetic_errors_are_noticed_and_recoverable(objects, errors) -> None:
    system = enlarged(load(), objects)
    given = problem(system, of_example(None), objects, errors, np.random.default_rng([0, objects, errors, 0]))
    assert len(given.graph) == objects
    assert errors <= len(given.misplaced) <= 2 * errors
    timed = time_one((objects, errors, 0), ScalingConfig())
    assert timed.noticed
    assert timed.valid
    assert timed.cpu_s > 0
    x, y = given.graph.boxes[:, 0], given.graph.boxes[:, 1]
    x_min, y_min, x_max, y_max = system.model.bundle.workspace
    assert (x_min <= x).all() and (x <= x_max).all() and (y_min <= y).all() and (y <= y_max).all()  # noqa: PT018


def test_a_run_leaves_every_cell_and_goes_on(tmp_path) -> None:
    config = ScalingConfig(objects=[5], errors=[1, 2], repeats=1, out=str(tmp_path))
    metrics = MEASUREMENT.run(config)
    assert (metrics["plans"], metrics["valid"]) == (2, 2)
    assert MEASUREMENT.run(config) == metrics, "what is done is not timed again"
    assert "2 errors" in table(metrics)


def test_a_larger_table_is_for_larger_scenes_only() -> None:
    system = load()
    assert enlarged(system, 10) is system
    width = system.model.bundle.workspace[3] - system.model.bundle.workspace[1]
    larger = enlarged(system, 40).model.bundle.workspace
    assert larger[3] - larger[1] == pytest.approx(2 * width)
    assert system.model.bundle.workspace[3] - system.model.bundle.workspace[1] == width, "the original is left alone"


def test_a_recovery_that_misses_its_subgoal_is_invalid(bank) -> None:
    system = load()
    given = problem(system, bank, 5, 2, np.random.default_rng(1))
    recovery = system.planner.recover(given.graph, given.trace, given.discrepancy, budget_s=20.0)
    assert valid(given, recovery)
    short = replace(recovery, actions=recovery.actions[:-1], graphs=recovery.graphs[:-1])
    assert not valid(given, short)


def test_the_growth_exponents_of_a_power_law() -> None:
    results = [
        TimedRecovery(objects, errors, True, True, True, errors, 1e-3 * objects**1.5 * errors**0.5)
        for objects in (5, 10, 20, 50)
        for errors in (1, 2, 4)
    ]
    found = growth(results)
    assert found["objects"] == pytest.approx(1.5)
    assert found["errors"] == pytest.approx(0.5)
    assert found["r_squared"] == pytest.approx(1.0)
    assert "objects^1.5 * errors^0.5" in table(summary(results))
