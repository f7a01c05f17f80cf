"""Every Hydra config can be composed, with every saved experiment, and typos in its top level fail."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CONF = ROOT / "conf"

COMMANDS = {
    "collect": "sim.collect",
    "datasets": "sim.datasets",
    "fidelity": "sim.fidelity",
    "train": "train",
    "demo": "eval.demo",
    "models": "eval.models",
    "symbolic": "eval.symbolic",
    "free_space": "eval.free_space",
    "planning": "eval.planning",
    "scaling": "eval.scaling",
    "logs": "eval.logs",
    "explanations": "eval.explanations",
    "language": "eval.language",
    "server_load": "eval.server_load",
    "server_fuzz": "eval.server_fuzz",
    "detectors": "eval.detectors",
    "train_sac": "eval.train_sac",
    "panda_gym": "eval.panda_gym",
    "timing": "eval.timing",
}
"""Primary config -> the module that runs it."""

USED_BY = {
    "agent": "eval.demo",
    "detector": "eval.detectors",
    "experiment": "train",
    "logger": "train",
    "pairs": "train",
    "planner": "eval.planning",
    "rig": "sim.collect",
    "scene": "sim.collect",
    "trainer": "train",
    "variants": "eval.models",
}
"""Group of settings -> a command that takes it."""

OWN_FOLDER = {"eval": "eval"}
"""Folder of a command that has its groups to itself, and a primary config of its name -> the module that runs it."""

CHOICES = sorted(
    (path.parent.name, path.stem, USED_BY[path.parent.name])
    for path in CONF.glob("*/*.yaml")
    if path.parent.name not in OWN_FOLDER
) + sorted(
    (path.parent.name, path.stem, module)
    for folder, module in OWN_FOLDER.items()
    for path in (CONF / folder).glob("*/*.yaml")
)


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300
    )


def test_every_primary_config_has_a_command() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} == set(COMMANDS)


MODULES = [*COMMANDS.values(), *OWN_FOLDER.values()]


@pytest.mark.parametrize("module", MODULES)
def test_it_composes_and_resolves(module: str) -> None:
    done = run(module, "--cfg", "job", "--resolve")
    assert done.returncode == 0, done.stderr
    # Explaining logs leaves nothing to chance.
    assert ("seed:" in done.stdout) != (module == "eval.logs")


@pytest.mark.parametrize(("group", "choice", "module"), CHOICES)
def test_every_choice_of_every_group_composes(group: str, choice: str, module: str) -> None:
    done = run(module, f"{group}={choice}", "--cfg", "job", "--resolve")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("module", MODULES)
def test_a_misspelt_setting_fails(module: str) -> None:
    done = run(module, "sede=1")
    assert done.returncode != 0
    assert "sede" in done.stderr


@pytest.mark.parametrize("module", MODULES)
def test_help_teaches(module: str) -> None:
    done = run(module, "--help")
    assert done.returncode == 0
    assert f"python -m {module}" in done.stdout
