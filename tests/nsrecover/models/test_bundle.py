"""The checkpoint: what is saved is what is loaded, and what does not fit is refused with a reason."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from nsrecover.errors import InvalidCheckpoint
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.models.checkpoint import CONFIG, WEIGHTS

SMALL = BundleConfig(feature_size=16, width=24, rounds=1, threshold=0.37, metrics={"box_error_mm": {"1": 2.0}})


@pytest.fixture
def saved(tmp_path: Path) -> tuple[Bundle, Path]:
    torch.manual_seed(0)
    bundle = Bundle(SMALL)
    return bundle, bundle.save(tmp_path / "checkpoint", card="# a card")


def test_loading_gives_the_same_parameters_settings_and_answers(saved: tuple[Bundle, Path]) -> None:
    bundle, folder = saved
    again = Bundle.load(folder)
    assert again.config == bundle.config
    assert bundle.state_dict().keys() == again.state_dict().keys()
    for name, value in bundle.state_dict().items():
        assert torch.equal(value, again.state_dict()[name]), name
    crops = np.random.default_rng(0).integers(0, 255, (3, 64, 64, 3), dtype=np.uint8)
    np.testing.assert_array_equal(bundle.embed(crops), again.embed(crops))


@pytest.mark.parametrize("name", [WEIGHTS, CONFIG])
def test_a_damaged_file_is_refused(saved: tuple[Bundle, Path], name: str) -> None:
    data = (saved[1] / name).read_bytes()
    (saved[1] / name).write_bytes(data[: len(data) // 2])
    with pytest.raises(InvalidCheckpoint, match="damaged"):
        Bundle.load(saved[1])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"feature_size": 32}, r"expected encoder\.resnet\.fc\.weight of shape \(32, 256\).*found \(16, 256\)"),
        ({"format": 99}, "expected checkpoint format 2 .*found 99"),
        ({"rounds": 3}, "tensors"),
        ({"operators": ["top", "throw"]}, "throw"),
        ({"colour": "red"}, "colour"),
    ],
)
def test_settings_that_do_not_fit_the_weights_are_refused(
    saved: tuple[Bundle, Path], change: dict[str, object], message: str
) -> None:
    document = json.loads((saved[1] / CONFIG).read_text())
    (saved[1] / CONFIG).write_text(json.dumps({**document, **change}))
    with pytest.raises(InvalidCheckpoint, match=message):
        Bundle.load(saved[1])


def test_a_shipped_checkpoint_is_loaded_by_name() -> None:
    exact, sensed = Bundle.load("tabletop"), Bundle.load("tabletop_sensors")
    assert sensed.config == Bundle.load().config
    assert exact.config.sensors != sensed.config.sensors
    assert set(sensed.config.sensors) == {"clean", "d435", "harsh", "stereo", "tof"}
    with pytest.raises(InvalidCheckpoint, match=r"found no config.json in tabletop_sensor;"):
        Bundle.load("tabletop_sensor")
