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
from tests.case_files import cases_of
from tests.commands import ROOT, run
from train.config import TrainConfig

CONF = ROOT / "conf"

COMMANDS = sorted({
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__").removesuffix(".command")
    for tree in ("sim", "train", "eval")
    for path in (ROOT / tree).rglob("*.py")
    if re.search(r'^ +run(_command)?\(("\w+"|MEASUREMENT\))', path.read_text("utf-8"), re.MULTILINE)
})  # fmt: skip
"""Modules of all commands with settings of Hydra."""

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
    assert {path.stem for path in CONF.glob("*.yaml")} <= {module.rpartition(".")[2] for module in COMMANDS}


def test_every_group_belongs_to_a_command() -> None:
    folders = {path.name for path in CONF.iterdir() if path.is_dir() and list(path.glob("*.yaml"))}
    assert folders - {"hydra"} == set(TAKEN_BY)


@pytest.mark.parametrize(("group", "choice", "module"), CHOICES)
def test_every_option_of_every_group_composes(group: str, choice: str, module: str) -> None:
    done = run(module, f"{group}={choice}", "--cfg", "job", "--resolve")
    assert done.code == 0, done.err


@pytest.mark.parametrize("module", COMMANDS)
def test_a_misspelt_setting_is_one_line_with_the_right_name(module: str) -> None:
    own = {"eval.real": "frames", "eval.results": "level"} | dict.fromkeys(
        ("train.calibration", "train.motions", "train.patience"), "demos"
    )
    known = own.get(module, "seed")
    misspelt = f"{known[:-2]}{known[-1]}{known[-2]}"
    done = run(module, f"{misspelt}=1")
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: expected a known setting, found ")
    assert f"Did you mean '{known}'?" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(("arguments", "said"), cases_of(__file__)["wrong"])
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


@pytest.mark.parametrize("module", COMMANDS)
def test_help_explains_every_setting(module: str) -> None:
    name = module.rpartition(".")[2]
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
