"""Arms run the same episodes; rules replace exactly the learned parts that an arm is without."""

from pathlib import Path

import numpy as np
import pytest

from eval.arms.command import ARMS, MEASUREMENT, ArmsConfig, controller_of, summary
from eval.common.rules import Ruled
from nsrecover import Action, load
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.boxes.imagination import Imagination
from sim.tabletop.sampling import nominal_box, nominal_graph, sample_scene


def test_arms_run_the_same_episodes(tmp_path: Path) -> None:
    found = MEASUREMENT.run(
        ArmsConfig(
            episodes={"II": 1}, arms=["ours", "rules only", "open loop"], workers=1, errors=str(tmp_path / "errors"),
            out=str(tmp_path / "out"),
        )
    )  # fmt: skip
    assert {share["of"] for share in found["arms"]["II"].values()} == {1}
    assert found["arms"]["II"]["ours"]["value"] == 1.0
    assert found["arms"]["II"]["open loop"]["value"] == 0.0
    assert "| II" in (tmp_path / "out" / "table.md").read_text()


def test_differences_are_those_of_the_same_episodes() -> None:
    reached = {"ours": {"I 0": True, "I 1": True, "V 0": False}, "replan": {"I 0": False, "I 1": True, "V 0": True}}
    found = summary(reached)
    assert found["ours_minus"]["I"]["replan"]["value"] == 0.5
    assert found["ours_minus"]["all"]["replan"]["value"] == 0.0
    assert found["ours_minus"]["all"]["replan"]["low"] < 0 < found["ours_minus"]["all"]["replan"]["high"]


@pytest.mark.parametrize("arm", ARMS)
def test_every_arm_has_a_controller(arm: str) -> None:
    assert controller_of(arm, ArmsConfig()).name


def test_an_unknown_arm_is_named() -> None:
    with pytest.raises(InvalidConfiguration, match="Did you mean 'minus T'"):
        controller_of("minus t", ArmsConfig())


def test_rules_replace_only_what_an_arm_is_without() -> None:
    bundle = load().bundle
    scene = nominal_graph(sample_scene(np.random.default_rng(0), 4))
    names, looks = scene.names, np.eye(4, bundle.feature_size, dtype=np.float32)
    graph = scene.__class__(names, looks, scene.boxes, scene.seen)
    action = Action("left", names[:2])
    exact = np.array(nominal_box(graph, action))
    imagined = Imagination(Ruled.of(bundle, ["transition"])).step(graph, action).boxes[0]
    learned = Imagination(Ruled.of(bundle, ["discriminator"])).step(graph, action).boxes[0]
    assert np.allclose(imagined, exact, atol=0.002)
    assert np.array_equal(learned, Imagination(bundle).step(graph, action).boxes[0])
    far = graph.boxes + np.float32(0.5)
    assert (Ruled.of(bundle, ["discriminator"]).same(looks, graph.boxes, looks, far) == 1).all()
    assert (Ruled.of(bundle, ["transition"]).same(looks, graph.boxes, looks, far) < 0.5).all()
