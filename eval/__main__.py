"""`python -m eval`: whole episodes in the simulator under a planner, judged by ground truth."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from hydra.types import RunMode
from omegaconf import OmegaConf

from conf.command import run
from conf.help import CONF, single_options
from eval.kitchen import __main__ as kitchen
from eval.sweep.run import EvalConfig, sweep
from eval.sweep.summary_table import markdown
from nsrecover.errors import InvalidConfiguration, cli_errors

LAUNCHERS = {"joblib": "hydra_plugins.hydra_joblib_launcher", "submitit": "hydra_plugins.hydra_submitit_launcher"}
"""First word of a Hydra launcher's name -> the package it is in."""


def sweep_folder(out: str | None, name: str, outputs: str = "outputs") -> str:
    """Return the folder of the outputs: `out` if it is given, or else one of the planner and dataset in `outputs`."""
    return out if out is not None else f"{outputs}/eval/{name}"


def sweep_name(planner: str, dataset: str, sensor: str = "clean") -> str:
    """Return the name of the folder of a sweep; sensors without errors are not named."""
    return f"{planner}-{dataset}" if sensor == "clean" else f"{planner}-{dataset}-{sensor}"


def _main(settings: EvalConfig) -> None:
    runtime = HydraConfig.get()
    settings.planner.pop("label", None)  # used by the tables of eval.planning only
    found = sweep(settings, Path(runtime.runtime.output_dir))
    if runtime.mode is RunMode.MULTIRUN:
        print(markdown([found]).splitlines()[-1], flush=True)
    else:
        print(markdown([found]), end="")


def _check_launcher(arguments: list[str]) -> None:
    """Raise an error that names the extra of a launcher that is not installed."""
    for argument in arguments:
        key, _, choice = argument.partition("=")
        package = LAUNCHERS.get(choice.split("_")[0]) if key == "hydra/launcher" else None
        if package is not None and (find_spec("hydra_plugins") is None or find_spec(package) is None):
            raise InvalidConfiguration(
                f"expected the Hydra launcher {choice!r}, found that it is not installed; run "
                "`pip install 'nsrecover[cluster]'`, or leave hydra/launcher out to run one after the other"
            )


def _check_planner(arguments: list[str]) -> None:
    """Raise an error that names the planners if an option stands for several of them, or for none."""
    known = single_options("planner")
    for argument in arguments:
        key, _, choice = argument.partition("=")
        for name in choice.split(",") if key == "planner" else ():
            if name == "null" or (name not in known and (CONF / "planner" / f"{name}.yaml").is_file()):
                raise InvalidConfiguration(
                    f"expected one planner, found {name!r}, which stands for "
                    f"{'none' if name == 'null' else 'several'}; choose one of {', '.join(known)}; "
                    "`-m planner=A,B` runs one after the other"
                )


def main() -> None:
    """Entry point of the command."""
    if kitchen.is_meant(sys.argv[1:]):
        kitchen.main()
        return
    with cli_errors():
        _check_launcher(sys.argv[1:])
        _check_planner(sys.argv[1:])
    OmegaConf.register_new_resolver("sweep_folder", sweep_folder, replace=True)
    OmegaConf.register_new_resolver("sweep_name", sweep_name, replace=True)
    run("eval", EvalConfig, _main, resumable=True)


if __name__ == "__main__":
    main()
