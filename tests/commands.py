"""Commands and programs for which what takes long to import is imported once for all tests of a process."""

import atexit
import contextlib
import io
import json
import os
import runpy
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass
from functools import cache
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


_WARM = """
import gc, json, os, sys
import torch, torch_geometric.nn, torchvision.models
gc.freeze()  # what is there already need not be looked at by every fork
for line in sys.stdin:
    arguments, folder, out, err = json.loads(line)
    if (child := os.fork()) == 0:
        break
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
else:
    sys.exit()
os.chdir(folder)
for number, name in enumerate((os.devnull, out, err)):
    os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
sys.stdin = open(0)
import runpy
sys.argv = arguments[arguments[0] == "-m":]
if arguments[0] == "-m":
    runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
elif arguments[0] == "-c":
    exec(compile(arguments[1], "<string>", "exec"))
else:
    runpy.run_path(arguments[0], run_name="__main__")
"""
"""Reads arguments of Python and does with each what a new process would do, but that torch is already there."""


@cache
def _warm() -> subprocess.Popen[str]:
    """The process that every program is a fork of; it ends with its input."""
    process = subprocess.Popen(
        [sys.executable, "-c", _WARM], env={**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    atexit.register(process.communicate)
    return process


def python(*arguments: str, folder: Path) -> Done:
    """A program as `python -c PROGRAM`, `python -m MODULE …` or `python FILE …` runs it, in a process in a folder."""
    process = _warm()
    assert process.stdin is not None
    assert process.stdout is not None
    with tempfile.TemporaryDirectory() as place:
        out, err = Path(place, "out"), Path(place, "err")
        process.stdin.write(f"{json.dumps([arguments, str(folder), str(out), str(err)])}\n")
        process.stdin.flush()
        code = int(process.stdout.readline())
        return Done(code, out.read_text(), err.read_text())
