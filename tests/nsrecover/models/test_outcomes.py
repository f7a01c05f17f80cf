"""Outcomes that are distributions: rigid propagation, mixtures, calibration by class, and their use by a monitor."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import nsrecover
from nsrecover import Action, Plan, SceneGraph
from nsrecover.domains.tabletop import operators
from nsrecover.domains.tabletop.operators import PUSH, TABLETOP
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.outcomes.calibration import ClassCalibration
from nsrecover.models.outcomes.features import node_features
from nsrecover.models.outcomes.model import OutcomeConfig, OutcomeModel
from nsrecover.models.outcomes.network import OutcomeMixture
from nsrecover.models.outcomes.rigid import rigid_outcomes
from nsrecover.models.outcomes.scene import ContactAction, ContactScene, pushed_boxes
from nsrecover.training.outcomes import (
    OutcomeBudget,
    OutcomeExample,
    calibrate_outcomes,
    episode_scores,
    train_outcomes,
)

SIDE_M = 0.05


def row(gap: float, yaw: float = 0.0) -> tuple[ContactScene, ContactAction]:
    """Two cubes one behind the other, and a third one aside; the first one is pushed by 6 cm along y."""
    centres = np.array([[0.5, 0.0, 0.025], [0.5, SIDE_M + gap, 0.025], [0.7, 0.0, 0.025]])
    boxes = np.concatenate([centres, np.full((3, 3), SIDE_M)], axis=1)
    scene, action = pushed_boxes(boxes, 0, [0.5, 0.06, 0.025])
    return replace(scene, yaws=np.full(3, yaw)), action


def test_rigid_propagation_pushes_on_what_is_touched() -> None:
    for moved in rigid_outcomes(*row(gap=0.02)):
        np.testing.assert_allclose(moved[0], [0.06, 0.0, 0.0], atol=0.004)
        np.testing.assert_allclose(moved[1], [0.04, 0.0, 0.0], atol=0.004)
        np.testing.assert_allclose(moved[2], 0.0, atol=1e-9)
    assert not rigid_outcomes(*row(gap=0.07))[:, 1].any()


def test_a_mixture_is_a_density() -> None:
    mixture = OutcomeMixture(
        torch.tensor([0.4]),
        torch.tensor([[0.7, 0.3]]).log(),
        torch.tensor([[[2.0, 0.0, 0.0], [-1.0, 1.0, 0.0]]]),
        torch.tensor([[[0.8, 0.6, 0.5, 0.3, 0.1, 0.0], [0.5, 1.0, 0.4, 0.0, 0.0, 0.2]]]),
    )
    ticks = torch.arange(-6.0, 8.0, 0.25)
    grid = torch.stack(torch.meshgrid(ticks, ticks, ticks, indexing="ij"), dim=-1).reshape(-1, 3)
    wide = OutcomeMixture(
        *(
            each.expand(len(grid), *each.shape[1:])
            for each in (mixture.affected, mixture.weights, mixture.means, mixture.factors)
        )
    )
    total = wide.log_density(grid, torch.tensor([0.3, 0.3, 0.2])).exp().sum() * 0.25**3
    assert float(total) == pytest.approx(1.0, abs=0.02)


def test_rarity_is_the_share_of_good_objects_of_a_class() -> None:
    rng = np.random.default_rng(0)
    surprises = np.concatenate([rng.exponential(1.0, 4000), rng.exponential(10.0, 4000)])
    classes = np.repeat(["calm", "wild"], 4000)
    calibration = ClassCalibration.of(surprises, classes)
    fresh = np.concatenate([rng.exponential(1.0, 4000), rng.exponential(10.0, 4000)])
    rarity = calibration.rarity(fresh, classes)
    for name in ("calm", "wild"):
        for level in (0.1, 0.01):
            assert (rarity[classes == name] > -np.log(level)).mean() == pytest.approx(level, rel=0.35)
    assert calibration.rarity(np.array([12.0]), np.array(["calm"])) > calibration.rarity(
        np.array([12.0]), np.array(["wild"])
    )
    assert np.isfinite(calibration.rarity(np.array([1e4]), np.array(["never seen"]))).all()


def world(rng: np.random.Generator) -> OutcomeExample:
    """A push after which the cube slips aside, to the left or to the right; nothing else moves."""
    scene, action = row(gap=rng.uniform(0.10, 0.14))
    moved = np.zeros((3, 3))
    moved[0] = (0.06, rng.choice([-1.0, 1.0]) * 0.03, 0.0)
    return OutcomeExample(node_features(scene, action), action, moved + rng.normal(0.0, 0.004, (3, 3)))


@pytest.fixture(scope="module")
def trained() -> OutcomeModel:
    rng = np.random.default_rng(1)
    examples = [world(rng) for _ in range(900)]
    torch.manual_seed(0)  # of the first weights
    config = OutcomeConfig(examples[0].nodes.values.shape[1], width=32, components=2, networks=1)
    model = OutcomeModel(config)
    train_outcomes(model, examples[:300], OutcomeBudget(epochs=40, batch_size=32, learning_rate=5e-3))
    calibrate_outcomes(model, examples[300:600], examples[600:])
    return model


def test_two_outcomes_are_learned_where_the_mean_is_neither(trained: OutcomeModel) -> None:
    rng = np.random.default_rng(2)
    good = [world(rng) for _ in range(200)]

    def slipped(aside: float) -> list[OutcomeExample]:
        return [replace(each, moved=np.array([[0.06, aside, 0.0], *each.moved[1:]])) for each in good]

    assert np.mean(np.array(episode_scores(trained, good)) < trained.threshold_for("push_boxes")) < 0.05
    for aside, share in ((0.0, 0.9), (0.03, 0.0)):
        noticed = np.array(episode_scores(trained, slipped(aside))) < trained.threshold_for("push_boxes")
        assert abs(noticed.mean() - share) <= 0.1
    assert np.linalg.norm(trained.expected(*row(0.12))[0][1:]) < 0.01


def test_a_model_is_read_as_it_was_written(trained: OutcomeModel, tmp_path: Path) -> None:
    trained.save(tmp_path)
    scene, action = row(gap=0.12)
    after = scene.centres + np.array([[0.03, 0.06, 0.0], [0, 0, 0], [0, 0, 0]])
    again = OutcomeModel.load(tmp_path).as_expected(scene, action, after)
    np.testing.assert_allclose(again, trained.as_expected(scene, action, after))
    with pytest.raises(InvalidConfiguration, match="operator 'lift'"):
        trained.as_expected(scene, replace(action, operator="lift"), after)
    with pytest.raises(InvalidCheckpoint, match="at least 99999"):
        trained.threshold_for("push_boxes", 1e-5)


@pytest.fixture
def pushing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operators.OPERATORS, PUSH.name, PUSH)


BOXES = {
    "red cube": (0.50, 0.00, 0.025, SIDE_M, SIDE_M, SIDE_M),
    "blue cube": (0.50, 0.07, 0.025, SIDE_M, SIDE_M, SIDE_M),
    "green cube": (0.65, -0.15, 0.025, SIDE_M, SIDE_M, SIDE_M),
}
TARGET = (0.50, 0.08, 0.025, SIDE_M, SIDE_M, SIDE_M)


def scene(boxes: dict[str, tuple[float, ...]]) -> SceneGraph:
    """What a detector sees: three objects that look quite different."""
    places = np.array(list(boxes.values()), dtype=np.float32)
    return SceneGraph(tuple(boxes), np.eye(len(boxes), 64, dtype=np.float32), places, np.ones(len(boxes), np.bool_))


@pytest.mark.usefixtures("pushing")
@pytest.mark.parametrize(
    ("moved", "deviating"),
    [
        ({"red cube": 0.08, "blue cube": 0.06}, set()),  # what it pushes before it moves, too
        ({}, {"red cube"}),
        ({"red cube": 0.08, "blue cube": 0.06, "green cube": 0.06}, {"green cube"}),
    ],
)
def test_a_monitor_judges_a_push_by_its_distribution(moved: dict[str, float], deviating: set[str]) -> None:
    system = nsrecover.load()
    plan = Plan((Action("push", ("red cube",), TARGET),))
    monitor = system.monitor(plan, scene(BOXES))
    after = {name: (box[0], box[1] + moved.get(name, 0.0), *box[2:]) for name, box in BOXES.items()}
    found = monitor.step(plan[0], scene(after))
    assert deviating <= set(found.deviating)
    assert found.deviates == bool(deviating)


@pytest.mark.usefixtures("pushing")
def test_the_rule_of_a_push_expects_a_point() -> None:
    bundle = nsrecover.load(rules=True).model.bundle
    boxes = np.array(list(BOXES.values()))
    np.testing.assert_allclose(bundle.pushed(boxes, 0, TARGET)[0, :3], TARGET[:3], atol=1e-6)
    np.testing.assert_allclose(bundle.pushed(boxes, 0, TARGET)[1], boxes[1], atol=1e-6)
    after = boxes.copy()
    after[:2, 1] += (0.08, 0.06)
    np.testing.assert_array_equal(bundle.push_as_expected(boxes, 0, TARGET, after) >= 0.5, [True, False, True])
    assert PUSH.name in TABLETOP.operators
