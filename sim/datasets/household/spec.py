"""An episode of an error dataset of the kitchen as data: one JSON line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

from nsrecover.core.actions import Plan
from nsrecover.errors import InvalidConfiguration
from sim.datasets.household.truth import HouseholdError
from sim.datasets.spec import parsed_episodes, parsing
from sim.kitchen.faults import Fault, fault_from_dict
from sim.kitchen.scenes import HELD_OUT_LAYOUTS
from sim.kitchen.tasks import TaskSpec, draw_task

SCHEMA = 1
"""Version of the line and of the generation from numbers; increase it when either changes."""


@dataclass(frozen=True)
class HouseholdEpisode:
    """An episode: everything that determines how it runs, and its ground truth.

    Attributes:
        dataset: which dataset it belongs to.
        number: its number there.
        task: code of the task.
        layout: number of the kitchen's layout.
        seed: of the kitchen; `draw_task(task, seed, layout)` gives it.
        plan: the right plan.
        faults: injected faults, each at a step of the plan.
        errors: the ground truth; all other steps succeed.
    """

    dataset: str
    number: int
    task: str
    layout: int
    seed: int
    plan: Plan
    faults: tuple[Fault, ...]
    errors: tuple[HouseholdError, ...] = ()

    @property
    def held_out(self) -> bool:
        """Whether its layout is never used for training."""
        return self.layout in HELD_OUT_LAYOUTS

    @property
    def recoverable(self) -> bool:
        """Whether the goal can be reached after every error."""
        return all(error.reachable for error in self.errors)

    @property
    def robots_plan(self) -> Plan:
        """The plan that the robot is given: the right one, unless a planning fault alters it."""
        plan = self.plan
        for fault in self.faults:
            plan = fault.altered(plan)
        return plan

    def faults_at(self, step: int) -> tuple[Fault, ...]:
        """The faults that strike at a step of the plan."""
        return tuple(fault for fault in self.faults if fault.at_step == step)

    @cached_property
    def spec(self) -> TaskSpec:
        """Its task in its kitchen.

        Raises:
            InvalidConfiguration: the plan does not reach the goal in the kitchen that this version draws.
        """
        spec = draw_task(self.task, self.seed, self.layout)
        state = spec.start
        for action in self.plan:
            if not spec.home.applicable(state, action.operator, action.arguments):
                break
            state = spec.home.apply(state, action.operator, action.arguments)
        if not all(spec.home.holds(state, spec.home.condition(fact)) for fact in spec.goal):
            raise InvalidConfiguration(
                f"expected a plan that reaches the goal of episode {self.number} of {self.dataset}, such as "
                f"{spec.plan}, found {self.plan}; another version drew another kitchen, generate the dataset again"
            )
        return replace(spec, plan=self.plan)

    def to_json(self) -> str:
        """One line of JSON, without a line feed."""
        data = {
            "schema": SCHEMA,
            "dataset": self.dataset,
            "number": self.number,
            "task": self.task,
            "layout": self.layout,
            "seed": self.seed,
            "plan": [str(action) for action in self.plan],
            "faults": [fault.to_dict() for fault in self.faults],
            "errors": [asdict(error) for error in self.errors],
        }
        return json.dumps(data, sort_keys=True)

    @classmethod
    def from_json(cls, line: str) -> HouseholdEpisode:
        """The inverse of `to_json`.

        Raises:
            InvalidConfiguration: the line is not an episode of this schema.
        """
        with parsing(line, "an error dataset of the kitchen", (SCHEMA,)) as data:
            return cls(
                dataset=str(data["dataset"]),
                number=int(data["number"]),
                task=str(data["task"]),
                layout=int(data["layout"]),
                seed=int(data["seed"]),
                plan=Plan.parse(data["plan"]),
                faults=tuple(fault_from_dict(item) for item in data["faults"]),
                errors=tuple(
                    HouseholdError(**item | {key: tuple(item[key]) for key in ("missing", "excess")})
                    for item in data["errors"]
                ),
            )


def read_episodes(path: str | Path) -> Iterator[HouseholdEpisode]:
    """The episodes of a dataset of the kitchen, in order; arguments and errors as for `parsed_episodes`."""
    return parsed_episodes(path, HouseholdEpisode.from_json, "H1")
