"""Every old public name works with a warning, or raises an error that names the new one."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nsrecover
from nsrecover.core.deprecation import MODULES, NAMES, Gone

BOXES = {"a": (0.5, 0.0, 0.02, 0.04, 0.04, 0.04), "b": (0.5, 0.2, 0.02, 0.04, 0.04, 0.04)}


def member_of(path: str) -> Any:
    """A module, or a class in one."""
    try:
        return importlib.import_module(path)
    except ImportError:
        home, _, name = path.rpartition(".")
        return getattr(importlib.import_module(home), name)


@pytest.mark.parametrize("old", MODULES)
def test_an_old_module_forwards_to_the_new_one_or_names_it(old: str) -> None:
    for name in [name for name in sys.modules if name == old or name.startswith(f"{old}.")]:
        del sys.modules[name]
    if isinstance(MODULES[old], Gone):
        with pytest.raises(ImportError, match=f"{old} no longer exists, use {MODULES[old]}$"):
            importlib.import_module(old)
        return
    with pytest.warns(DeprecationWarning, match=f"{old} is deprecated, use {MODULES[old]}$"):
        module = importlib.import_module(old)
    new = importlib.import_module(MODULES[old])
    for name in [name for name in dir(new) if not name.startswith("__")]:
        assert getattr(module, name) is getattr(new, name)


@pytest.mark.parametrize(("home", "old"), [(home, old) for home, names in NAMES.items() for old in names])
def test_an_old_member_forwards_to_the_new_one_or_names_it(home: str, old: str) -> None:
    owner, new = member_of(home), NAMES[home][old]
    if old.endswith("="):
        assert old[:-1] not in inspect.signature(owner).parameters
        warned = contextlib.nullcontext() if isinstance(new, Gone) else pytest.warns(DeprecationWarning, match=new)
        # the other arguments are missing, and an old keyword that is gone raises the same error
        with warned, pytest.raises(TypeError, match=new if isinstance(new, Gone) else None):
            owner(**{old[:-1]: None}, _no_such_keyword=None)
    elif isinstance(owner, type):
        assert isinstance(vars(owner)[old], property)
        assert isinstance(new, Gone) or "." in new or hasattr(owner, new) or new in inspect.signature(owner).parameters
    elif isinstance(new, Gone):
        with pytest.raises(ImportError, match=f"{home}.{old} no longer exists, use "):
            exec(f"from {home} import {old}")
    else:
        with pytest.warns(DeprecationWarning, match=new):
            found = getattr(owner, old)
        assert found is (member_of(new) if "." in new else getattr(owner, new))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_every_former_name_is_there_or_its_error_names_the_new_one() -> None:
    """The public names of every module of the library as it was before its modules moved into packages."""
    lines = (Path(__file__).parent / "old_names.txt").read_text().splitlines()
    assert len(lines) > 100
    errors = []
    for line in lines:
        module, _, names = line.partition(": ")
        for name in names.split():
            try:
                getattr(importlib.import_module(module), name)
            except (ImportError, AttributeError) as error:
                errors.append(str(error))
    assert [error for error in errors if "no longer exists, use " not in error] == []


def test_the_changelog_lists_every_old_name() -> None:
    text = " ".join((Path(nsrecover.__file__).parents[1] / "CHANGELOG.md").read_text().split())
    old = {*MODULES, *(name.removesuffix("=") for names in NAMES.values() for name in names)}
    assert [
        name for name in sorted(old) if not re.search(rf"`{re.escape(name.removeprefix('nsrecover.'))}=?`", text)
    ] == []


def test_an_old_submodule_is_found_in_the_new_package() -> None:
    program = """
import warnings
warnings.simplefilter("error")
import nsrecover.explanation.logs.records as new
warnings.simplefilter("ignore")
from nsrecover.explain.logs.records import HouseholdLog
assert HouseholdLog is new.HouseholdLog
try:
    import nsrecover.explain.no_such_thing
except ModuleNotFoundError as problem:
    assert problem.name == "nsrecover.explanation.no_such_thing"
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=300)


def test_old_attributes_and_keywords_of_classes_warn_and_work() -> None:
    graph = nsrecover.scene_of_boxes(BOXES)
    with pytest.warns(DeprecationWarning, match=r"hidden=\.\.\. is deprecated, use occluded"):
        graph = nsrecover.SceneGraph(graph.names, graph.visual, graph.boxes, graph.seen, hidden=np.array([True, False]))
    with pytest.warns(DeprecationWarning, match="use SceneGraph.occluded"):
        assert graph.hidden.tolist() == [True, False]


def test_the_monitor_answers_to_its_old_names() -> None:
    monitor: Any = nsrecover.geometric().monitor(nsrecover.Plan.parse("top(a, b)"), BOXES)
    with pytest.warns(DeprecationWarning, match="use Monitor.next_action"):
        action = monitor.following
    found = monitor.step(action, BOXES)
    with pytest.warns(DeprecationWarning, match="use Discrepancy.deviating"):
        assert found.culprit_names == ("a",)
    with pytest.warns(DeprecationWarning, match="set_plan"):
        monitor.follow(monitor.plan, done=0)
    with pytest.warns(DeprecationWarning, match="num_executed"):
        assert monitor.done == 0
