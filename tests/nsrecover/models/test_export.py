"""The ONNX files give the numbers of the learned parts, for any number of objects, and appear whole or not at all."""

import json
import re
import subprocess
import sys
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn
from typer.testing import CliRunner

from nsrecover.cli import app as cli
from nsrecover.models.bundle import Bundle, BundleConfig
from nsrecover.models.export import OPSET, export_onnx
from tests.commands import ROOT, run

onnxruntime = pytest.importorskip("onnxruntime")
TOLERANCE = 1e-4
FILES = ["discriminator.onnx", "encoder.onnx", "models.json", "transition.onnx"]
KINDS = {"tensor(float)": "float32", "tensor(int64)": "int64", "tensor(uint8)": "uint8"}


class Exported:
    """The files of a folder, opened as somebody without torch opens them."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.about = folder, json.loads((folder / "models.json").read_text())
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.sessions = {
            name: onnxruntime.InferenceSession(folder / name, options, providers=["CPUExecutionProvider"])
            for name in self.about["models"]
        }

    def run(self, name: str, arrays: Mapping[str, np.ndarray]) -> list[np.ndarray]:
        return self.sessions[f"{name}.onnx"].run(None, dict(arrays))

    def check_encoder(self, bundle: Bundle, crops: int) -> None:
        side = bundle.config.crop_size
        pictures = np.random.default_rng(crops).integers(0, 256, (crops, side, side, 3), dtype=np.uint8)
        (features,) = self.run("encoder", {"crops": pictures})
        assert features.shape == (crops, bundle.config.feature_size)
        np.testing.assert_allclose(features, bundle.encode_learned(pictures), rtol=0, atol=TOLERANCE)

    def check_transition(self, bundle: Bundle, scenes: int, objects: int) -> None:
        arrays = random_scenes(bundle, scenes, objects)
        box, feature = self.run("transition", arrays)
        expected = network_of(bundle).predict(*arrays.values())
        assert box.shape == (scenes, 6)
        np.testing.assert_allclose(box, expected[0], rtol=0, atol=TOLERANCE)
        np.testing.assert_allclose(feature, expected[1], rtol=0, atol=TOLERANCE)

    def check_discriminator(self, bundle: Bundle, pairs: int) -> np.ndarray:
        arrays = random_pairs(bundle, pairs)
        (probability,) = self.run("discriminator", arrays)
        assert probability.shape == (pairs,)
        np.testing.assert_allclose(probability, network_of(bundle).same(*arrays.values()), rtol=0, atol=TOLERANCE)
        return probability


def network_of(bundle: Bundle) -> Bundle:
    """The network alone, as in the files, without what is done for objects beyond the trained sizes."""
    network = copy(bundle)
    network.config = replace(bundle.config, trained_sides_m=(0.0, 10.0))
    return network


def random_features(rng: np.random.Generator, *shape: int) -> np.ndarray:
    features = rng.normal(size=shape)
    return (features / np.linalg.norm(features, axis=-1, keepdims=True)).astype(np.float32)


def random_boxes(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """On and above a table, of the sizes of cubes and bricks."""
    centres = rng.uniform((0.3, -0.35, 0.02), (0.75, 0.35, 0.2), (*shape, 3))
    return np.concatenate([centres, rng.uniform(0.03, 0.1, (*shape, 3))], axis=-1).astype(np.float32)


def random_scenes(bundle: Bundle, scenes: int, objects: int) -> dict[str, np.ndarray]:
    rng = np.random.default_rng((scenes, objects))
    return {
        "visual": random_features(rng, scenes, objects, bundle.config.feature_size),
        "boxes": random_boxes(rng, scenes, objects),
        "operators": rng.integers(len(bundle.config.operators), size=scenes),
        "moved": rng.integers(objects, size=scenes),
        "reference": rng.integers(objects, size=scenes),
    }


def random_pairs(bundle: Bundle, pairs: int) -> dict[str, np.ndarray]:
    """The same object 0 to 4 cm apart, and now and then another object."""
    rng = np.random.default_rng(pairs)
    visual, boxes = random_features(rng, pairs, bundle.config.feature_size), random_boxes(rng, pairs)
    other, moved = visual.copy(), boxes.copy()
    moved[:, 0] += np.linspace(0, 0.04, pairs)
    other[3::4] = random_features(rng, len(other[3::4]), bundle.config.feature_size)
    return {"visual_a": visual, "boxes_a": boxes, "visual_b": other, "boxes_b": moved}


@pytest.fixture(scope="module")
def bundle() -> Bundle:
    return Bundle.load()


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Exported:
    """The shipped checkpoint, exported by the command."""
    folder = tmp_path_factory.mktemp("onnx") / "made" / "models"
    done = CliRunner().invoke(cli.app, ["export", "--out", str(folder)], catch_exceptions=False)
    assert done.exit_code == 0
    assert sorted(Path(line.split()[0]).name for line in done.stdout.splitlines()) == FILES
    assert sorted(path.name for path in folder.iterdir()) == FILES
    return Exported(folder)


@pytest.mark.parametrize("crops", [0, 1, 2, 7, 24])
def test_the_encoder_gives_the_same_features(exported: Exported, bundle: Bundle, crops: int) -> None:
    exported.check_encoder(bundle, crops)


@pytest.mark.parametrize("objects", range(1, 13))
def test_the_transition_model_gives_the_same_boxes_and_features(
    exported: Exported, bundle: Bundle, objects: int
) -> None:
    for scenes in range(1, 6):
        exported.check_transition(bundle, scenes, objects)


def test_the_discriminator_gives_the_same_probabilities(exported: Exported, bundle: Bundle) -> None:
    found = np.concatenate([exported.check_discriminator(bundle, pairs) for pairs in range(1, 51)])
    assert found.min() < 0.1  # otherwise the comparison says little
    assert found.max() > 0.9


def test_the_description_is_that_of_the_files(exported: Exported, bundle: Bundle) -> None:
    about = exported.about
    assert about["operators"] == list(bundle.config.operators)
    assert about["threshold"] == bundle.threshold
    assert (about["feature_size"], about["crop_size"]) == (bundle.config.feature_size, bundle.config.crop_size)
    assert about["opset"] == OPSET
    for name, session in exported.sessions.items():
        for told, found in (
            (about["models"][name]["inputs"], session.get_inputs()),
            (about["models"][name]["outputs"], session.get_outputs()),
        ):
            assert [(port["name"], port["type"], port["shape"]) for port in told] == [
                (port.name, KINDS[port.type], port.shape) for port in found
            ]
            assert all(port["meaning"] for port in told)


def test_the_program_of_the_page_runs_without_torch_and_prints_what_the_page_says(exported: Exported) -> None:
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8").partition("\n## ONNX")[2]
    (program,) = re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL)
    (told,) = re.findall(r"^It prints\n\n((?: {4}.*\n)+)", page, flags=re.MULTILINE)
    absent = "import sys\nsys.modules |= dict.fromkeys(['torch', 'nsrecover', 'onnx', 'onnxscript'])\n"
    done = subprocess.run(
        [sys.executable, "-c", absent + program.replace('"models"', repr(str(exported.folder)), 1)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == [line.strip() for line in told.splitlines()]


@pytest.fixture
def small() -> Bundle:
    torch.manual_seed(0)
    return Bundle(
        BundleConfig(feature_size=16, crop_size=32, encoder_blocks=(1,), width=24, rounds=1, operators=("top",))
    )


def test_a_checkpoint_of_other_sizes_in_training_is_left_as_it_is(small: Bundle, tmp_path: Path) -> None:
    small.train()
    before = {name: value.clone() for name, value in small.state_dict().items()}
    exported = Exported(export_onnx(small, tmp_path)[0].parent)
    assert all(module.training for module in small.modules())
    assert all(torch.equal(value, before[name]) for name, value in small.state_dict().items())
    small.eval()
    exported.check_encoder(small, 4)
    exported.check_transition(small, 3, 5)
    exported.check_discriminator(small, 6)


class Broken(nn.Module):
    """Cannot be exported, as a part of somebody's own might be."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum().item() > 0 else -x


def test_when_one_part_cannot_be_exported_an_earlier_export_stays(small: Bundle, tmp_path: Path) -> None:
    for name in FILES:
        (tmp_path / name).write_text("earlier")
    small.transition.predictor = Broken()  # not the first part: that one is written by then
    with pytest.raises(RuntimeError):
        export_onnx(small, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == FILES
    assert {path.read_text() for path in tmp_path.iterdir()} == {"earlier"}


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    done = run("nsrecover.cli.app", "export", "--out", str(tmp_path / "models"))
    assert done.code == 2
    assert "pip install 'nsrecover[onnx]'" in done.err
    assert len(done.err.splitlines()) == 1
    assert not (tmp_path / "models").exists()
