"""What a film shows: a kitchen, what the robot is told to do, and what goes wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Plan
from sim.kitchen.performing import unmet
from sim.kitchen.sounding import microphone_in
from sim.kitchen.tasks import TaskSpec
from sim.kitchen.truth import true_state
from sim.kitchen.world import KitchenWorld, OnFrame


@dataclass(frozen=True)
class Script:
    """An episode that is filmed.

    Attributes:
        name: of its files.
        spec: the task in its kitchen.
        plan: what the robot does.
    """

    name: str
    spec: TaskSpec
    plan: Plan

    @property
    def title(self) -> str:
        """The task in one line."""
        task = self.spec.task
        return f"{task.code} {task.name}: {task.words}"

    @property
    def setting(self) -> str:
        """Which kitchen, in one line."""
        return f"seed {self.spec.seed}, layout {self.spec.kitchen.layout}"

    @property
    def trouble(self) -> str:
        """What goes wrong, in one line; empty if nothing does."""
        return ""

    def world(self, on_frame: OnFrame | None, frame_steps: int) -> KitchenWorld:
        """The kitchen at the start, with a microphone."""
        kitchen = self.spec.kitchen
        return KitchenWorld(
            kitchen, on_frame=on_frame, frame_steps=frame_steps, microphone=microphone_in(kitchen, self.spec.seed)
        )

    def struck(self, world: KitchenWorld) -> Sequence[str]:
        """What went wrong at the last action, in words."""
        return ()

    def verdict(self, world: KitchenWorld) -> str:
        """Whether the goal is reached."""
        missing = unmet(true_state(world.cell), self.spec)
        return "goal reached" if not missing else "goal missed: " + ", ".join(" ".join(fact) for fact in missing)
