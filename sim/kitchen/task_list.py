"""The ten household tasks of REFLECT (Liu et al., 2023) and further ones of Yu et al. as data.

A task says what its kitchen contains and what holds in the end, as conditions of the household domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.core.facts import StateFact
from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.common.entries import read_entries
from sim.kitchen.states import ObjectState


@dataclass(frozen=True)
class Task:
    """A household task.

    Attributes:
        code: its number in the papers.
        name: what is to be done.
        words: the success condition in English, as the papers word it.
        things: kinds of the things that it needs.
        goal: what holds in the end; a noun that several fixtures have stands for one of them.
        fixtures: nouns of the appliances that its plans may use; worktops and tables always may be.
        states: noun -> state at the start, where it is not the usual one.
        cut: food that lies so that it can be sliced although the goal does not need its slices.
    """

    code: str
    name: str
    words: str
    things: tuple[str, ...]
    goal: tuple[StateFact, ...]
    fixtures: tuple[str, ...]
    states: Mapping[str, ObjectState] = field(default_factory=dict)
    cut: tuple[str, ...] = ()


_FILE = Path(__file__).with_suffix(".yaml")
TASKS: Mapping[str, Task] = {task.name: task for task in read_entries(_FILE, Task, "reflect")}
"""The tasks T1 to T10 by name."""
IRREVERSIBLE_TASKS: Mapping[str, Task] = {task.name: task for task in read_entries(_FILE, Task, "irreversible")}
"""Tasks of Yu et al., "Scene graph-guided proactive replanning", table A2, that are none of T1 to T10, by name."""


def task_of(name: str) -> Task:
    """A task by its name or code.

    Raises:
        InvalidConfiguration: there is none.
    """
    tasks = {**TASKS, **IRREVERSIBLE_TASKS}
    for task in tasks.values():
        if name in (task.name, task.code):
            return task
    known = [*tasks, *(task.code for task in tasks.values())]
    raise InvalidConfiguration(f"expected a household task, found {name!r}.{did_you_mean(name, known)}")
