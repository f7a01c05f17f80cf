"""The ten household tasks of REFLECT (Liu et al., 2023) and further ones of Yu et al. as data.

A task says what its kitchen contains and what holds in the end, as conditions of the household domain.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from nsrecover.core.facts import StateFact
from nsrecover.errors import InvalidConfiguration, did_you_mean
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


TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        Task(
            "T1", "boil water", "a pot filled with water is on a stove burner that is turned on", ("pot",),
            (("filled", "pot", "water"), ("at", "pot", "stove burner"), ("running", "stove burner")),
            ("sink", "faucet", "stove burner"),
        ),
        Task(
            "T2", "toast bread", "a slice of bread is inside a toaster that is turned on", ("bread", "knife"),
            (("at", "bread slice", "toaster"), ("running", "toaster"), ("unburnt", "bread slice")),
            ("toaster",),
        ),
        Task(
            "T3", "fry egg", "a cracked egg is in a pan on a stove burner that is turned on", ("egg", "pan"),
            (("cracked", "egg"), ("at", "egg", "pan"), ("at", "pan", "stove burner"), ("running", "stove burner")),
            ("stove burner", "fridge"),
        ),
        Task(
            "T4", "heat potato", "a potato is on a plate inside a microwave that is turned on", ("potato", "plate"),
            (("at", "potato", "plate"), ("at", "plate", "microwave"), ("running", "microwave")),
            ("microwave",),
        ),
        Task(
            "T5", "make coffee", "a clean mug filled with coffee is on the countertop", ("mug",),
            (("clean", "mug"), ("filled", "mug", "coffee"), ("at", "mug", "countertop")),
            ("coffee machine", "sink", "faucet"),
        ),
        Task(
            "T6", "store egg", "a bowl with an egg is inside the fridge", ("egg", "bowl"),
            (("at", "egg", "bowl"), ("at", "bowl", "fridge"), ("closed", "fridge"), ("intact", "egg")),
            ("fridge",),
        ),
        Task(
            "T7", "water plant", "the house plant is filled with water", ("cup",),
            (("filled", "house plant", "water"),),
            ("sink", "faucet", "house plant"),
        ),
        Task(
            "T8", "switch devices", "the laptop is closed on the TV stand and the television is turned on",
            ("laptop", "remote control"),
            (("closed", "laptop"), ("at", "laptop", "tv stand"), ("running", "television")),
            ("tv stand", "television"), {"laptop": ObjectState(open=True, opened=1.0)},
        ),
        Task(
            "T9", "make salad", "a bowl of sliced lettuce, tomato and potato is inside the fridge",
            ("bowl", "lettuce", "tomato", "potato", "knife"),
            (("at", "lettuce slice", "bowl"), ("at", "tomato slice", "bowl"), ("at", "potato slice", "bowl"),
             ("at", "bowl", "fridge"), ("closed", "fridge")),
            ("fridge",),
        ),
        Task(
            "T10", "serve warm water", "a mug of water that was heated in the microwave is on the dining table",
            ("mug",),
            (("filled", "mug", "water"), ("hot", "mug"), ("at", "mug", "dining table")),
            ("sink", "faucet", "microwave"),
        ),
    )
}  # fmt: skip
"""The tasks T1 to T10 by name."""

_COFFEE = TASKS["make coffee"]

IRREVERSIBLE_TASKS: Mapping[str, Task] = {
    task.name: task
    for task in (
        replace(TASKS["water plant"], code="T11", name="water plant from the pot", things=("pot",)),
        Task(
            "T12", "cook egg", "a cracked egg is alone in a clean pan on a stove burner that is turned on",
            ("egg", "pan", "pot", "potato"),
            (*TASKS["fry egg"].goal, ("clean", "pan"), ("away_from", "potato", "pan")),
            ("stove burner", "fridge", "sink", "faucet"),
        ),
        Task(
            "T13", "serve whole egg", "a raw egg is in a bowl", ("egg", "bowl", "pan"),
            (("at", "egg", "bowl"), ("raw", "egg"), ("intact", "egg")),
            ("stove burner", "fridge"),
        ),
        Task(
            "T14", "serve whole tomato", "an unsliced tomato is in a bowl", ("tomato", "bowl", "knife"),
            (("at", "tomato", "bowl"),),
            ("fridge",), cut=("tomato",),
        ),
        Task(
            "T15", "serve apple and lettuce", "an unsliced apple and sliced lettuce are on a plate",
            ("apple", "lettuce", "plate", "knife"),
            (("at", "apple", "plate"), ("at", "lettuce slice", "plate")),
            (), cut=("apple",),
        ),
        Task(
            "T16", "serve apple and coffee", "an unsliced apple is on a plate, a clean mug of coffee on the countertop",
            ("apple", "plate", *_COFFEE.things), (("at", "apple", "plate"), *_COFFEE.goal), _COFFEE.fixtures,
        ),
    )
}  # fmt: skip
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
