"""Every Hydra config can be composed, with every saved experiment, and typos in its top level fail."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.commands import ROOT, run

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


def test_every_primary_config_has_a_command() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} == set(COMMANDS)


MODULES = [*COMMANDS.values(), *OWN_FOLDER.values()]


@pytest.mark.parametrize("module", MODULES)
def test_it_composes_and_resolves(module: str) -> None:
    done = run(module, "--cfg", "job", "--resolve")
    assert done.code == 0, done.err
    # Explaining logs leaves nothing to chance.
    assert ("seed:" in done.out) != (module == "eval.logs")


@pytest.mark.parametrize(("group", "choice", "module"), CHOICES)
def test_every_choice_of_every_group_composes(group: str, choice: str, module: str) -> None:
    done = run(module, f"{group}={choice}", "--cfg", "job", "--resolve")
    assert done.code == 0, done.err


@pytest.mark.parametrize("module", MODULES)
def test_a_misspelt_setting_fails(module: str) -> None:
    done = run(module, "sede=1")
    assert done.code != 0
    assert "sede" in done.err


@pytest.mark.parametrize("module", MODULES)
def test_help_teaches(module: str) -> None:
    done = run(module, "--help")
    assert done.code == 0, done.err
    assert f"python -m {module}" in done.out


def test_what_runs_here_is_what_a_program_prints() -> None:
    arguments = ["eval.planning", "planner=ours", "--cfg", "job", "--resolve"]
    done = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout == run(*arguments).out
