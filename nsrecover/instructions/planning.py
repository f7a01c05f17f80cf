"""Task → plan: each stage by the common search, from the state that the stages before it lead to."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.instance import Instance
from nsrecover.domains.service.domain import SERVICE
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR, ROBOT, ServiceTrait
from nsrecover.errors import InvalidConfiguration
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.task import Refusal, RefusalCode, Stage, Task
from nsrecover.planning.symbolic.solving import Limits, solve

EXPANSIONS = 400
"""States that the search for one stage expands at most."""


@dataclass(frozen=True)
class StagePlan:
    """How a stage is done: its scene, the state that is believed before it, and the actions."""

    stage: Stage
    instance: Instance
    start: State
    actions: tuple[Action, ...]

    @property
    def final(self) -> State:
        """The state after the actions."""
        state = self.start
        for action in self.actions:
            state = self.instance.apply(state, action.operator, action.arguments)
        return state


@dataclass(frozen=True)
class TaskPlan:
    """The plan of a task: one part for each stage."""

    task: Task
    stages: tuple[StagePlan, ...]

    @property
    def actions(self) -> tuple[Action, ...]:
        """All actions in order."""
        return tuple(action for stage in self.stages for action in stage.actions)

    def text(self) -> list[str]:
        """The actions as instructions."""
        return [action_text(action, stage.instance) for stage in self.stages for action in stage.actions]


def action_text(action: Action, instance: Instance) -> str:
    """An action as an instruction."""
    operator = instance.domain.operators[action.operator]
    names = {
        parameter.variable.removeprefix("?"): _named(name, instance)
        for parameter, name in zip(operator.parameters, action.arguments, strict=True)
    }
    return operator.words.imperative.format(**names)


def _named(name: str, instance: Instance) -> str:
    if name == OPERATOR:
        return "you"
    traits = instance.objects[name]
    thing = ServiceTrait.LOCATION in traits or Trait.PORTABLE in traits or ServiceTrait.POSED in traits
    return f"the {name}" if thing else name.capitalize() if ServiceTrait.PERSON in traits else name


def plan_stage(stage: Stage, belief: Belief, most: int = 1) -> StagePlan | None:
    """A plan for one stage from what is believed; None if there is none.

    Args:
        stage: what has to hold.
        belief: what is believed; limits of searches are noted in it.
        most: candidate places of each object that the scene has.
    """
    noted(stage, belief)
    instance = belief.instance(stage, most)
    state = belief.state(instance, stage)
    goal = [instance.condition(fact) for fact in stage.goal]
    found = solve(instance, state, goal, forbidden=instance.unwanted(stage.goal), limits=Limits(EXPANSIONS))
    if not found.found:
        return None
    return StagePlan(stage, instance, state, found.steps)


def noted(stage: Stage, belief: Belief) -> None:
    """Note to where the searches of a stage are limited."""
    for name, within in (*stage.things.items(), *stage.people.items()):
        if within:
            belief.within[name] = within


def tidying(task: Task, belief: Belief) -> Stage | None:
    """The stage that closes what was opened only on the way; None if nothing was."""
    if task.stages[-1].goal[0][0] == "holding":
        return None  # closing needs the hand
    wanted = {fact[1] for stage in task.stages for fact in stage.goal if fact[0] == "open"}
    places = belief.home.places
    opened = [fact[1] for fact in sorted(belief.facts) if fact[0] == "open" and not places[fact[1]].open]
    left = tuple(name for name in opened if name not in wanted and not places[name].leads_to)
    return Stage(tuple(("closed", name) for name in left), places=left) if left else None


def plan_task(task: Task, home: Home) -> TaskPlan | Refusal:
    """The plan of a task in a home as it is known; or the answer that there is none."""
    belief, plans = Belief.at_start(home, task.operator_at), list[StagePlan]()
    for stage in task.stages:
        if stage.people.get(OPERATOR):
            belief.facts = {fact for fact in belief.facts if fact[:2] != ("at", OPERATOR)}
        try:
            found = plan_stage(stage, belief)
        except InvalidConfiguration as problem:  # a noun that is no name, as `core.names` has it
            return Refusal(RefusalCode.UNKNOWN_NAME, f"I cannot plan with what was said: {problem}. I did nothing.")
        if found is None:
            return Refusal(RefusalCode.IMPOSSIBLE, f"I found no way to do that: {_goal_text(stage)}. I did nothing.")
        plans.append(found)
        belief.learn(found.final, found.instance)
    last = tidying(task, belief)
    closing = plan_stage(last, belief) if last is not None else None
    if closing is not None:
        plans.append(closing)
    return TaskPlan(task, tuple(plans))


def _goal_text(stage: Stage) -> str:
    return ", ".join(SERVICE.text(fact) for fact in stage.goal if fact[1] != ROBOT)
