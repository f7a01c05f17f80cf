"""The demo's scenario in the kitchen: the pot holds wine, and the robot is to water the plant with water from it."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import nsrecover
from eval.demo.result import DemoResult, Turn, write_report
from eval.household.planners import PLANNERS
from eval.kitchen.course import models, system_for
from eval.kitchen.robot import KitchenRobot
from nsrecover.core.actions import Action
from nsrecover.core.episode import StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.sounds import SoundPerceiver
from nsrecover.serving.reports.media import Clip, Media, Photo
from nsrecover.serving.reports.pictures import outlines_of_masks
from nsrecover.serving.reports.wording import Wording
from sim.film import Act, Footage, Script, over_the_shoulder, still, write_film
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
FRAMES_A_SECOND = 4.0
_STEPS_A_SECOND = 200
_TRIES = 20


def script(seed: int) -> tuple[Script, Fault]:
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
        fault = fault_from_dict(
            {
                "fault": "filled_at_start",
                "at_step": START,
                "name": "pot",
                "liquid": "wine",
                "litres": round(0.6 * capacity, 3),
            }
        )
        return Script(NAME, TaskSpec(task, seed, kitchen, task.goal, plan), plan), fault
    raise InvalidConfiguration(f"expected a kitchen for the demo with seed {seed}, found none; use another seed")


class _Filmed(KitchenRobot):
    """The robot, with pictures and sound of every turn, and what it did as text for the film."""

    def __init__(self, item: Script, fault: Fault, video: bool, ears: SoundPerceiver) -> None:
        self.footage = Footage(item)
        self._heard: list[Any] = []
        self._ears, self._labels = ears, list[str]()
        super().__init__(
            item.spec,
            (fault,),
            on_frame=self._frame if video else None,
            frame_steps=round(_STEPS_A_SECOND / FRAMES_A_SECOND),
        )
        assert self.world.hearing is not None
        self.footage.start_s = self.world.hearing.soundscape.heard_until_s
        self.trouble: tuple[str, ...] = ()
        self._told = 0
        self._photo = self._pictured()

    def observe(self) -> Any:
        """What the robot perceives; its sound is kept for the film."""
        seen = super().observe()
        self._heard.append(seen.audio)
        self._labels += [each.label.replace("_", " ") for each in self._ears.step(seen).events if each.known]
        self.footage.rate_hz = seen.audio_rate_hz
        return seen

    def execute(self, action: Action) -> None:
        """Carry out an action of the agent."""
        self._filmed(action, lambda: super(_Filmed, self).execute(action))

    def drive(self, action: Action) -> None:
        """Drive to where something is seen better."""
        self._filmed(action, lambda: super(_Filmed, self).drive(action))

    def media(self) -> Media:
        """Photographs, sound, and what was heard in it, since the last call."""
        before, self._photo = self._photo, self._pictured()
        samples = np.concatenate(self._heard[self._told :] or [np.zeros(0, np.float32)])
        labels, self._labels = tuple(dict.fromkeys(self._labels)), []
        self._told = len(self._heard)
        return Media(before, self._photo, Clip(samples, self.footage.rate_hz, labels))

    def finish(self) -> Footage:
        """Everything that was filmed."""
        hearing = self.world.hearing
        assert hearing is not None
        self._heard.append(hearing.listen()[0])
        self.footage.sound = np.concatenate(self._heard)
        self.footage.events = hearing.soundscape.events
        self.footage.verdict = self.footage.script.verdict(self.world)
        return self.footage

    def _filmed(self, action: Action, run: Any) -> None:
        begin_s, number = self.world.cell.time_s, len(self.footage.acts)
        self.footage.acts.append(Act(action, begin_s, begin_s, "", self.trouble))
        run()
        self.footage.acts[number] = Act(action, begin_s, self.world.cell.time_s, self.world.failures[-1], self.trouble)
        self.trouble = ()

    def _frame(self, world: KitchenWorld) -> None:
        self.footage.frames.append(still(world, len(self.footage.acts) - 1))

    def _pictured(self) -> Photo:
        """A picture over the robot's shoulder, with the outlines of what is in it."""
        cell = self.world.cell
        seen = over_the_shoulder(self.world)
        names = {number: name for name, number in cell.bodies().items()} | cell.visuals.owners
        return Photo(seen.rgb, outlines=outlines_of_masks(seen.bodies, names))


def run_kitchen(seed: int, folder: Path, video: bool, checkpoint: str | None, turned: Any) -> DemoResult:
    """Run the scenario and write report, film and metrics into a folder.

    Args:
        seed: of the kitchen.
        folder: made if it does not exist.
        video: whether to film.
        checkpoint: folder of a household checkpoint; None: the shipped one.
        turned: called after each turn with its label and record.
    """
    started = time.perf_counter()
    item, fault = script(seed)
    turns = list[Turn]()
    with _Filmed(item, fault, video, SoundPerceiver(models(checkpoint).sounds)) as robot:
        made = system_for(PLANNERS["ours"], robot, checkpoint)

        def take(record: StepRecord[FactScene]) -> None:
            found: Any = record.discrepancy
            label = f"{'recovery' if record.recovering else 'step'} {found.step + 1} of {len(record.plan)}"
            true = dict.fromkeys(robot.noticed(), "not as expected") if found.deviates else {}
            turns.append(Turn(label, record, robot.media(), step=found.step + 1, true=true or None))
            if found.deviates:
                robot.trouble = (Wording(made.domain).in_short(found),)
            turned(label, record)

        episode = nsrecover.RecoveryAgent(made, robot).run(item.plan, take)
        missing = unmet_goal(robot.world.cell, robot.goal, robot.home)
        footage = robot.finish()
    result = DemoResult(
        NAME,
        DESCRIPTION,
        seed,
        item.plan,
        episode.status.value,
        episode.reason,
        tuple(turns),
        {fact[1]: HOUSEHOLD.text(fact, holds=False) for fact in missing},
        tuple(sorted(robot.pending)),
        time.perf_counter() - started,
        episode,
        domain=made.domain,
    )
    film = folder / "episode.mp4" if video else None
    if film is not None:
        write_film(footage, FRAMES_A_SECOND, film)
    write_report(result, folder, film)
    return result
