"""Commands without a process of their own: what they import is imported once for all tests of a process."""

import contextlib
import io
import runpy
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import pytest
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str


def shared_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Temporary folder of all processes that run the tests."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if own.name.startswith("popen-") else own


def run(module: str, *arguments: str, folder: Path = ROOT) -> Done:
    """A command as `python -m` runs it from a folder, by default the root of the checkout, but in this process.

    For what a command says and how it ends; what has to do with signals, workers, imports or leaving the process takes
    a process.

    Raises:
        Exception: what the command lets through, where a process would end with a traceback.
    """
    out, err, code = io.StringIO(), io.StringIO(), 0
    with (
        contextlib.chdir(folder),
        patch.object(sys, "argv", [module, *arguments]),
        # Measuring coverage looks like a debugger to Hydra: it would raise what it prints otherwise.
        patch("hydra._internal.utils.is_under_debugger", return_value=False),
        # The schema that a command registers goes with it; those of others would make Hydra slow.
        patch.dict(ConfigStore.instance().repo),
        warnings.catch_warnings(),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        # that another test has imported the command before is meant
        warnings.filterwarnings("ignore", ".*found in sys.modules", RuntimeWarning)
        try:
            runpy.run_module(module, run_name="__main__", alter_sys=True)
        except SystemExit as stop:
            code = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
            if isinstance(stop.code, str):
                err.write(f"{stop.code}\n")
        finally:
            GlobalHydra.instance().clear()
    return Done(code, out.getvalue(), err.getvalue())
