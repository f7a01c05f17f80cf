"""Every command composes with every option, explains its settings, and reports a wrong one in one line."""

import re
from dataclasses import asdict

import pytest
import yaml
from hydra import compose, initialize
from hydra.core.hydra_config import HydraConfig

from conf.command import errors_folder, register, settings_of
from conf.help import groups_of, primary
from eval.anytime import AnytimeConfig
from nsrecover.training.settings import DataConfig, TrainSettings
from tests.commands import ROOT, run
from train.config import TrainConfig

CONF = ROOT / "conf"

COMMANDS = {
    "collect": "sim.collect",
    "sense": "sim.sense",
    "datasets": "sim.datasets",
    "sounds": "eval.sounds",
    "sound_facts": "eval.sound_facts",
    "states": "eval.states",
    "train": "train",
    "sweep": "eval",
    "demo": "eval.demo",
    "own_operators": "eval.own_operators",
    "outcomes": "eval.outcomes",
    "alarms": "eval.alarms",
    "train_outcomes": "train.outcomes",
    "changes": "eval.changes",
    "clutter": "eval.clutter",
    "sensing": "eval.sensing",
    "real": "eval.real",
    "shapes": "eval.shapes",
    "symbolic": "eval.symbolic",
    "planning": "eval.planning",
    "anytime": "eval.anytime",
    "preconditions": "eval.preconditions",
    "logs": "eval.logs",
    "foreign_sentences": "eval.foreign_sentences",
    "foreign_logs": "eval.foreign_logs",
    "foreign_simulators": "eval.foreign_simulators",
    "explanations": "eval.explanations",
    "fleet": "eval.checks.fleet",
    "fuzz": "eval.checks.fuzz",
    "live": "eval.checks.live",
    "soak": "eval.checks.soak",
    "detectors": "eval.detectors",
    "rig": "eval.checks.rig",
    "household": "eval.household",
    "kitchen_episodes": "eval.kitchen",
    "kitchen_tasks": "eval.kitchen_tasks",
    "train_household": "train.household",
    "instructions": "eval.instructions",
    "results": "eval.results",
}
"""Primary config -> the module that runs it."""

TAKEN_BY = {
    "planner": "eval.planning", "sensor": "sim.collect", "experiment": "train", "detector": "eval.detectors",
    "conditions": "eval.sensing", "data": "train", "model": "train", "optimizer": "train", "trainer": "train",
    "logger": "train", "pairs": "train", "scene": "sim.collect", "agent": "eval.demo",
    "cameras": "sim.collect", "paths": "sim.collect",
}  # fmt: skip
"""Group -> a command that takes it."""

CHOICES = [
    (group, path.stem, module)
    for group, module in sorted(TAKEN_BY.items())
    for path in sorted((CONF / group).glob("*.yaml"))
]
"""Group, option, module: every option of every group."""


def test_every_primary_config_has_a_command() -> None:
    assert {path.stem for path in CONF.glob("*.yaml")} <= set(COMMANDS)


def test_every_group_belongs_to_a_command() -> None:
    folders = {path.name for path in CONF.iterdir() if path.is_dir() and list(path.glob("*.yaml"))}
    assert folders - {"hydra"} == set(TAKEN_BY)


@pytest.mark.parametrize(("group", "choice", "module"), CHOICES)
def test_every_option_of_every_group_composes(group: str, choice: str, module: str) -> None:
    done = run(module, f"{group}={choice}", "--cfg", "job", "--resolve")
    assert done.code == 0, done.err


@pytest.mark.parametrize(("name", "module"), COMMANDS.items())
def test_a_misspelt_setting_is_one_line_with_the_right_name(name: str, module: str) -> None:
    known, misspelt = {
        "real": ("frames", "fraems"),
        "results": ("level", "leval"),
    }.get(name, ("seed", "sede"))
    done = run(module, f"{misspelt}=1")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: expected a known setting, found ")
    assert f"Did you mean '{known}'?" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("eval planner=our", "planner, found 'our'. Did you mean 'ours'?"),
        ("eval planner.ours.chekpoint=x", "found 'chekpoint'. Did you mean 'checkpoint'?"),
        ("eval sensor=[clean,d435]", "expected one option of sensor, found several"),
        ("eval -m dataset=I planner=ours,replann episodes=1", "found 'replann'. Did you mean 'replan'?"),
        ("eval episodes=1 planner.ours.budget_s=fast", "limits of a planner as numbers of at least 0"),
        ("eval.sensing conditions=null", "expected an option of a group, found null"),
        ("sim.datasets.verify x --episodes 0", "expected options as in --help, found: Invalid value for '--episodes'"),
        ("eval scene=crowd", "expected a known setting, found 'scene'."),
        ("eval +fast=true", "expected a known setting, found 'fast'."),
        ("eval.planning planner=[ours,replann]", "found 'replann'. Did you mean 'replan'?"),
        ("eval.planning fidelity=PHYSIC", "expected fidelity as one of PHYSICS, KINEMATIC, found fidelity=PHYSIC"),
        ("eval.sensing paths.footge=x", "of paths, found 'footge'. Did you mean 'footage'?"),
        ("eval.anytime seed=x", "expected seed as a whole number, found seed=x"),
        ("eval.anytime seed=1,2", "expected one value, found 'seed=1,2'"),
        ("eval.anytime seed", "expected key=value, found 'seed'"),
        ("eval.anytime objects=[1", "expected key=value, found 'objects=[1'"),
        ("eval.anytime --seed=1", "expected settings without dashes, found '--seed=1'; write 'seed=1'"),
        ("eval.demo agent=recover", "agent, found 'recover'. Did you mean 'recovery'?"),
        ("sim.collect scene=crowded", "scene, found 'crowded'. Did you mean 'crowd'?"),
        ("sim.datasets shipped=perhaps", "expected shipped as true or false, found shipped=perhaps"),
        ("eval.anytime seed=2.5", "expected seed as a whole number, found seed=2.5"),
        ("train stage=encode", "stage as one of all, encoder, transition"),
    ],
)  # fmt: skip
def test_a_wrong_setting_is_one_line(arguments: str, said: str) -> None:
    done = run(*arguments.split())
    assert done.code == 2
    assert done.err.startswith("error: expected ")
    assert said in done.err
    assert done.err.count("\n") == 1


def test_tracebacks_are_shown_on_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYDRA_FULL_ERROR", "1")
    with pytest.raises(Exception, match="Could not override 'sede'"):
        run("eval.anytime", "sede=1")


@pytest.mark.parametrize(("name", "module"), COMMANDS.items())
def test_help_explains_every_setting(name: str, module: str) -> None:
    done = run(module, "--help")
    assert done.code == 0, done.err
    assert f"usage: python -m {module}" in done.out
    settings = done.out.partition("Settings, their defaults")[2].splitlines()
    job = yaml.safe_load(run(module, "--cfg", "job").out)
    for key in {*job, *(groups_of(name, object) if primary(name) else ())}:
        at = next(i for i, line in enumerate(settings) if re.match(f"  {key}=", line))
        assert re.match(" {6}\\w", settings[at + 1]), f"{name}: no explanation of {key}"
        assert settings[at].endswith(")"), f"{name}: no values of {key}"


def test_help_shows_what_is_chosen() -> None:
    done = run("eval", "planner=replan", "sensor=d435", "seed=3", "--help")
    assert "  sensor=d435  (one option)\n" in done.out
    assert "    sensor.name=d435\n" in done.out
    assert "  seed=3  (a whole number)\n" in done.out


def test_paths_move_all_folders() -> None:
    moved = yaml.safe_load(run("eval.planning", "paths.data=/big", "seed=3", "--cfg", "job", "--resolve").out)
    assert {key: moved[key] for key in ("errors", "footage", "states")} == {
        "errors": "/big/errors_3", "footage": "/big/footage", "states": "/big/error_states",
    }  # fmt: skip
    assert errors_folder("data/errors", 3) is None


def test_a_training_from_the_library_has_the_settings_of_conf() -> None:
    register("train", TrainConfig)
    with initialize(version_base=None, config_path="../conf"):
        composed = asdict(settings_of(compose("train", ["out=o", "data.cache=c"]), TrainConfig, "train"))
    data = DataConfig(composed["data"]["train"], composed["data"]["held_out"], "c")
    default = asdict(TrainSettings(data, "o", trainer=composed["trainer"]))
    assert {name: composed[name] for name in default} == default


def test_settings_do_not_depend_on_an_earlier_command_in_the_process() -> None:
    register("anytime", AnytimeConfig)
    register("train", TrainConfig)
    try:
        with initialize(version_base=None, config_path="../conf"):
            HydraConfig.instance().set_config(compose("anytime", return_hydra_config=True))
            assert settings_of(compose("train", ["seed=3"]), TrainConfig, "train").seed == 3
    finally:
        HydraConfig.instance().cfg = None
