"""Wheel and sdist hold the library and nothing else, and work where only the library's own needs are installed."""

import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from tests.fresh.release import build

ROOT = Path(__file__).parents[1]

GUARD = """
import sys

FORBIDDEN = {"pybullet", "lightning", "hydra", "omegaconf", "wandb", "h5py", "sim", "train", "eval"}

class Guard:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in FORBIDDEN:
            raise ImportError(f"{name} is not installed with the library alone")

sys.meta_path.insert(0, Guard())
"""
"""Stands for a fresh environment: what only the checkout needs cannot be imported."""


@pytest.fixture(scope="module")
def unpacked(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def test_it_holds_the_library_and_nothing_else(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
    tops = {name.split("/")[0] for name in sizes}
    assert tops == {"nsrecover", next(top for top in tops if top.endswith(".dist-info"))}
    modules = [*(ROOT / "nsrecover").rglob("*.py"), *(ROOT / "nsrecover").rglob("*.jinja")]
    assert {name for name in sizes if name.endswith((".py", ".jinja"))} == {
        str(path.relative_to(ROOT)) for path in modules
    }
    more = ("py.typed", "checkpoints/tabletop/README.md", "domains/service/homes/apartment.yaml")
    assert {f"nsrecover/{name}" for name in more} <= sizes.keys()
    assert sizes["nsrecover/checkpoints/tabletop/model.safetensors"] <= 15_000_000
    assert any(name.endswith("licenses/LICENSE") for name in sizes)


def test_wheel_and_sdist_are_the_same_bytes_whenever_they_are_built(wheel: Path, tmp_path: Path) -> None:
    (sdist,) = wheel.parent.glob("*.tar.gz")
    for first, again in zip((wheel, sdist), build(tmp_path), strict=True):
        assert again.read_bytes() == first.read_bytes(), first.name


def run(unpacked: Path, code: str, folder: Path, needs: str = "") -> subprocess.CompletedProcess[str]:
    # -P and a folder of its own: the checkout is not on the path, the unpacked wheel is.
    program = f"{GUARD}\nFORBIDDEN -= set({needs.split()})\nsys.path.insert(0, {str(unpacked)!r})\n{code}"
    return subprocess.run(
        [sys.executable, "-P", "-c", program], cwd=folder, capture_output=True, text=True, timeout=300
    )


def test_the_program_of_the_readme_runs_from_it(unpacked: Path, tmp_path: Path) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    program = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)[0]
    done = run(unpacked, f"{program}\nimport nsrecover\nprint(nsrecover.__file__)", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "went wrong" in done.stdout
    assert str(unpacked) in done.stdout


def test_every_module_can_be_imported_from_it(unpacked: Path, tmp_path: Path) -> None:
    modules = sorted(
        ".".join(path.relative_to(unpacked).with_suffix("").parts).removesuffix(".__init__")
        for path in (unpacked / "nsrecover").rglob("*.py")
        if path.name != "__main__.py"
    )
    training = [module for module in modules if module.startswith("nsrecover.training")]
    alone, more = ("\n".join(f"import {each}" for each in some) for some in ({*modules} - {*training}, training))
    done = run(unpacked, f"{alone}\nFORBIDDEN -= {{'lightning', 'omegaconf'}}\n{more}", tmp_path)
    assert done.returncode == 0, done.stderr


TRAIN = """
import sys
from dataclasses import replace
from nsrecover.cli import app as cli
from nsrecover.core.actions import Plan
from nsrecover.records import recording

short = recording.example()
short = replace(short, plan=Plan(short.plan.actions[:2]), observations=short.observations[:3])
for take in range(10):
    recording.save(replace(short, notes={"take": take}), f"runs/{take}.npz")

sys.argv = ["nsrecover", "train", "runs", "--out", "out", "--json"]
for setting in ("encoder.epochs=1", "transition.epochs=1", "discriminator.epochs=1", "discriminator.batches=2",
    "discriminator.batch_size=64",
    "trainer.accelerator=cpu"):
    sys.argv += ["--setting", setting]
cli.main()
"""
"""Trains on ten short runs."""


def test_a_training_works_from_it(unpacked: Path, tmp_path: Path) -> None:
    done = run(unpacked, TRAIN, tmp_path, "lightning omegaconf h5py")
    assert done.returncode == 0, done.stderr
    assert "encoder: epoch 1 of 1" in done.stderr
    result = json.loads(done.stdout)
    assert result["runs"] == {"learned": 8, "compared": 2}
    assert result["kept"] == ("new" if result["new"]["detected"] > result["old"]["detected"] else "old")
    assert {path.name for path in (tmp_path / "out" / "best").iterdir()} >= {"model.safetensors", "config.json"}


def test_the_guard_would_notice(unpacked: Path, tmp_path: Path) -> None:
    done = run(unpacked, "import pybullet", tmp_path)
    assert done.returncode != 0
    assert "not installed with the library alone" in done.stderr
