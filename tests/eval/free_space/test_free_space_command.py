"""`python -m eval.free_space` on a few scenes."""

import json

import numpy as np
import pytest

from eval.free_space.command import COARSE_M, judge, on_grid, uniform, ways
from eval.free_space.scenes import SIMULATOR, SYNTHETIC, problems
from eval.free_space.tables import ANSWER, GRID, NEAREST, PROPOSAL, ratios_of, summary
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import is_free, nearest_free_place
from tests.commands import run


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.load()


def test_scenes_are_those_of_the_seed_and_hold_the_objects_own_place(bundle):
    first, again, other = (list(problems(seed, (3, 12), 4, bundle)) for seed in (1, 1, 2))
    assert [problem.source for problem in first] == [SYNTHETIC, SIMULATOR] * 4 + [SYNTHETIC] * 4
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a.obstacles, b.obstacles)
        assert a.objects <= len(a.obstacles)
        assert (a.obstacles == a.box).all(axis=1).any()
    assert not any(np.array_equal(a.box, b.box) for a, b in zip(first, other, strict=True))


def test_methods_propose_what_their_names_say(bundle):
    problem = next(problems(5, (8,), 1, bundle))
    exact = nearest_free_place(problem.box, problem.obstacles, bundle, 0.03)
    nearest = np.linalg.norm(exact[:2] - problem.box[:2])
    coarse = on_grid(bundle, COARSE_M, problem, 0.03)
    drawn = uniform(bundle, np.random.default_rng(0), problem, 0.03)
    for place in (coarse, drawn):
        assert is_free(place, problem.obstacles, bundle, 0.03)
        assert np.linalg.norm(place[:2] - problem.box[:2]) >= nearest - 1e-4
    assert np.linalg.norm(coarse[:2] - problem.box[:2]) < nearest + 0.03


def test_the_checked_answer_is_always_free_and_the_exact_one_nearest(bundle):
    compared = ways(bundle, 0)
    judged = [judge(problem, compared, bundle) for problem in problems(6, (4, 10, 18), 10, bundle)]
    figures = summary(judged)["all"]["ways"]
    assert figures[ANSWER]["free"]["value"] == 1.0
    assert figures[NEAREST]["free"]["value"] == 1.0
    assert ratios_of(NEAREST, judged) == pytest.approx(np.ones(len(judged)), abs=1e-5)
    for name in (PROPOSAL, ANSWER, GRID):
        assert min(ratios_of(name, judged)) >= 1 - 1e-3
    assert figures[PROPOSAL]["free"]["value"] > 0.85


def test_it_leaves_metrics_a_table_and_a_figure(tmp_path):
    settings = ["seed=3", "scenes=2", "timed=5", "threads=[1]", "objects=[3,11]"]
    done = run("eval.free_space", *settings, f"out={tmp_path}")
    assert done.code == 0, done.err
    assert done.out == (tmp_path / "table.md").read_text()
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["scenes"] == 2 * (9 + 8)
    assert metrics["all"]["ways"][ANSWER]["free"]["value"] == 1.0
    assert set(metrics["ms"]) == {"1"}
    assert metrics["grid_beyond_exact_mm"]["least"] > -0.05
    assert {"config.yaml", "free_space.png", "free_space.svg"} <= {path.name for path in tmp_path.iterdir()}


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("objects=[9,3]", "expected objects as the fewest"),
        ("threads=[0]", "of at least 1"),
        ("checkpoint=/nowhere", "expected a checkpoint of the tabletop"),
    ],
)
def test_mistakes_get_one_clear_error(argument, message, tmp_path):
    done = run("eval.free_space", f"out={tmp_path}/out", argument)
    assert done.code == 2
    assert message in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.glob("out/*"))
