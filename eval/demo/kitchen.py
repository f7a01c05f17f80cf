"""The demo's scenario in the kitchen: the pot holds wine, and the robot is to water the plant with water from it."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nsrecover
from eval.common.video import FRAME_SIZE, WRONG, VideoWriter
from eval.demo.result import DemoResult, Turn, write_report
from eval.household.planners import PLANNERS
from eval.kitchen.course import models, system_for
from eval.kitchen.robot import KitchenRobot
from nsrecover.core import Action, FactScene, StepRecord
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.phrases import instruction
from nsrecover.perception.sounds import SoundPerceiver
from nsrecover.perception.spectrogram import RATE_HZ
from nsrecover.serving.reports.media import Clip, Media, Photo
from nsrecover.serving.reports.pictures import outlines_of_masks
from nsrecover.serving.reports.wording import Wording
from nsrecover.util.english import capital, the
from sim.common.cameras import DAYLIGHT, Picture, take_picture
from sim.kitchen.cameras import OVERVIEW_FAR_M, SHOULDER, on_base
from sim.kitchen.faults import START, Fault, fault_from_dict
from sim.kitchen.scenes import HELD_OUT_LAYOUTS, sample_kitchen
from sim.kitchen.task_list import TASKS
from sim.kitchen.tasks import TaskSpec, plan_for, usable
from sim.kitchen.truth import household_of, start_state, unmet_goal
from sim.kitchen.world import KitchenWorld

NAME = "kitchen"
DESCRIPTION = (
    "The robot is to water the plant with the pot. There is wine in it, and wine on the plant cannot be undone."
)
FRAMES_A_SECOND = 5.0
PHOTO_SIZE = (512, 384)
_STEPS_A_SECOND = 200
_TRIES = 20


def script(seed: int) -> tuple[TaskSpec, Fault]:
    """The task in a kitchen of a layout that is held out from training, and the wine in the pot.

    Args:
        seed: another seed gives another kitchen.

    Raises:
        InvalidConfiguration: no kitchen was found in which the task can be done.
    """
    task = replace(TASKS["water plant"], things=("pot",))
    for attempt in range(_TRIES):
        rng = np.random.default_rng([seed, attempt, 7])
        layout = int(rng.choice(HELD_OUT_LAYOUTS))
        try:
            kitchen = sample_kitchen(int(rng.integers(2**31)), layout, ("pot", "mug", "bowl", "apple"))
        except InvalidConfiguration:
            continue
        home = household_of(kitchen)
        plan = plan_for(home, start_state(kitchen), task.goal, usable(task, home, task.goal))
        if plan is None:
            continue
        capacity = next(thing.kind.capacity_l for thing in kitchen.things if thing.name == "pot")
        litres = round(0.6 * capacity, 3)
        wine = {"fault": "filled_at_start", "at_step": START, "name": "pot", "liquid": "wine", "litres": litres}
        return TaskSpec(task, seed, kitchen, task.goal, plan), fault_from_dict(wine)
    raise InvalidConfiguration(f"expected a kitchen for the demo with seed {seed}, found none; use another seed")


class _Filmed(KitchenRobot):
    """The robot, with pictures and sound of every turn, and what it did as text for the film."""

    def __init__(self, spec: TaskSpec, fault: Fault, film: VideoWriter | None, ears: SoundPerceiver) -> None:
        self._film, self._ears = film, ears
        self._heard, self._labels, self._rate_hz = list[Any](), list[str](), RATE_HZ
        super().__init__(
            spec, (fault,), on_frame=self._frame if film else None, frame_steps=round(_STEPS_A_SECOND / FRAMES_A_SECOND)
        )
        self.trouble = ""
        self._photo = self._pictured()

    def observe(self) -> Any:
        """What the robot perceives; its sound is kept for the report."""
        seen = super().observe()
        self._heard.append(seen.audio)
        self._labels += [each.label.replace("_", " ") for each in self._ears.step(seen).events if each.known]
        self._rate_hz = seen.audio_rate_hz
        return seen

    def execute(self, action: Action) -> None:
        """Carry out an action of the agent."""
        self._caption(capital(instruction(action, domain=HOUSEHOLD)))
        super().execute(action)

    def drive(self, action: Action) -> None:
        """Drive to where something is seen better."""
        self._caption(f"Look at {the(action.arguments[0])}")
        super().drive(action)

    def media(self) -> Media:
        """Photographs, sound, and what was heard in it, since the last call."""
        before, self._photo = self._photo, self._pictured()
        samples = np.concatenate(self._heard or [np.zeros(0, np.float32)])
        labels = tuple(dict.fromkeys(self._labels))
        self._heard, self._labels = [], []
        return Media(before, self._photo, Clip(samples, self._rate_hz, labels))

    def _caption(self, text: str) -> None:
        if self._film is not None:
            self._film.caption(text, self.trouble, WRONG)
        self.trouble = ""

    def _frame(self, world: KitchenWorld) -> None:
        assert self._film is not None
        self._film.add(over_the_shoulder(world, FRAME_SIZE).rgb, 1 / FRAMES_A_SECOND)

    def _pictured(self) -> Photo:
        """A picture over the robot's shoulder, with the outlines of what is in it."""
        cell = self.world.cell
        seen = over_the_shoulder(self.world, PHOTO_SIZE)
        names = {number: name for name, number in cell.bodies().items()} | cell.visuals.owners
        return Photo(seen.rgb, outlines=outlines_of_masks(seen.bodies, names))


def over_the_shoulder(world: KitchenWorld, size: tuple[int, int]) -> Picture:
    """What is in front of the robot, seen over its shoulder, and the bodies in the picture."""
    cell = world.cell
    cell.visuals.update(cell.states)
    seen = take_picture(cell.client, on_base(SHOULDER, cell.robot.base), *size, DAYLIGHT, far_m=OVERVIEW_FAR_M)
    # beyond the floor the renderer draws nothing
    return replace(seen, rgb=np.where(seen.bodies[..., None] < 0, np.uint8(235), seen.rgb))


def run_kitchen(seed: int, folder: Path, video: bool, turned: Callable[[str, StepRecord[Any]], None]) -> DemoResult:
    """Run the scenario and write report, film and metrics into a folder.

    Args:
        seed: of the kitchen.
        folder: made if it does not exist.
        video: whether to film.
        turned: called after each turn with its label and record.
    """
    started = time.perf_counter()
    item, fault = script(seed)
    turns, film = list[Turn](), folder / "episode.mp4" if video else None
    with (
        VideoWriter(film) if film is not None else nullcontext() as writer,
        _Filmed(item, fault, writer, SoundPerceiver(models(None).sounds)) as robot,
    ):
        made = system_for(PLANNERS["ours"], robot, None)

        def take(record: StepRecord[FactScene]) -> None:
            found: Any = record.discrepancy
            label = f"{'recovery' if record.recovering else 'step'} {found.step + 1} of {len(record.plan)}"
            true = dict.fromkeys(robot.noticed(), "not as expected") if found.deviates else {}
            film_s = None if writer is None else writer.seconds
            turns.append(Turn(label, record, robot.media(), film_s, found.step + 1, true or None))
            if found.deviates:
                robot.trouble = Wording(made.domain).in_short(found)
            turned(label, record)

        episode = nsrecover.RecoveryAgent(made, robot).run(item.plan, take)
        missing = unmet_goal(robot.world.cell, robot.goal, robot.home)
    result = DemoResult(
        NAME, DESCRIPTION, seed, item.plan, episode.status.value, episode.reason, tuple(turns),
        {fact[1]: HOUSEHOLD.text(fact, holds=False) for fact in missing}, tuple(sorted(robot.pending)),
        time.perf_counter() - started, episode, domain=made.domain,
    )  # fmt: skip
    write_report(result, folder, film)
    return result
