"""The measurement of clutter: outlines that are seen cover what is there, and all arms run on the same scenes."""

from pathlib import Path

import numpy as np

from eval.clutter import EXACT, MEASUREMENT, ORACLE, ClutterConfig, nearest, outline
from sim.datasets.clutter.outlines import Form, Solid, barriers, clearance


def test_the_inside_of_a_crate_that_is_seen_is_free() -> None:
    crate = Solid(Form.CRATE, (0.2, 0.16), 0.04, 0.014, (1, 0, 0), (0.5, 0.0, 0.5))
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(4), 800)
    points = np.concatenate([weights @ part for part in crate.outline()])
    inside = np.array([[x, y] for x in (-0.02, 0.02) for y in (-0.02, 0.02)]) + np.array([0.5, 0.0])
    small = [np.array([[-0.01, -0.01], [0.01, -0.01], [0.01, 0.01], [-0.01, 0.01]])]
    kept = clearance(inside, barriers(small, outline(points)))
    assert kept.min() > 0.01
    assert clearance(np.array([crate.outline()[0].mean(axis=0)]), barriers(small, outline(points)))[0] < 0
    shift = nearest(small, outline(points), np.array([0.5, 0.0]), (0.01,))
    np.testing.assert_allclose(shift, [0.5, 0.0], atol=1e-9)


def test_arms_run_on_the_same_scenes(tmp_path: Path) -> None:
    found = MEASUREMENT.run(ClutterConfig(seed=0, episodes=2, workers=1, out=str(tmp_path)))
    assert found["arms"][ORACLE]["placed"]["value"] == 1.0
    assert {arm["placed"]["of"] for arm in found["arms"].values()} == {2}
    assert EXACT in (tmp_path / "table.md").read_text()
