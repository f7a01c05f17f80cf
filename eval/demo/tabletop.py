"""Run of one scenario by the agent, recorded and judged by ground truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Protocol

from eval.common import video
from eval.common.fault_free import FaultFreeRun, run_without_faults
from eval.common.plan_progress import PlanProgress
from eval.demo.result import DemoResult, Turn
from nsrecover.core import Action, EpisodeStatus, Observation, Phase, Plan, StepRecord, World
from nsrecover.errors import NsrecoverError
from nsrecover.explanation.phrases import instruction
from nsrecover.serving.reports.media import Media, Photo
from nsrecover.serving.reports.model import MarkedAs
from nsrecover.serving.reports.wording import Wording, kind_of
from nsrecover.system import System
from nsrecover.util.english import capital, counted
from sim.common.cameras import DEFAULT_RIG
from sim.sensors.sensor import Sensor
from sim.sensors.world import SensedWorld
from sim.tabletop.scenarios import Scenario
from sim.tabletop.world import TabletopWorld

FRAME_STEPS = 20
"""Physics steps (200 a second) between two frames of the video: real time at 10 frames a second."""

PHOTO_SIZE = (400, 300)
"""Pixels of the pictures before and after an action."""

WORDS = Wording()
"""The words of captions."""

FAILED = "failed"
"""Status of a run that could not continue, next to those of `nsrecover.core.episode.EpisodeStatus`."""


AgentFactory = Callable[[System, World[Observation]], Any]
"""Makes `nsrecover.agent.RecoveryAgent`, or a baseline with the same method `run`."""


class Watcher(Protocol):
    """Is told what happens, such as a printer."""

    def started(self, label: str, action: Action) -> None:
        """Before each action, with its label."""

    def turned(self, label: str, record: StepRecord) -> None:
        """After each turn of the agent, with its label."""


def run_scenario(
    scenario: Scenario,
    system: System,
    agent: AgentFactory,
    video_writer: video.VideoWriter | None = None,
    *,
    watcher: Watcher,
    sensor: Sensor,
) -> DemoResult:
    """Run a scenario and judge it.

    Args:
        scenario: scene, plan and faults.
        system: the learned parts.
        agent: makes the agent from the system and the world.
        video_writer: video to write; None for none.
        watcher: callbacks.
        sensor: that the robot sees through; its errors follow from the seed of the scenario.

    Returns:
        The result with its ground truth. A run that cannot continue is a result with a reason.
    """
    started = time.perf_counter()
    fault_free = run_without_faults(scenario.scene, scenario.plan, scenario.seed)
    rig = replace(DEFAULT_RIG, light=scenario.light)
    with TabletopWorld(
        scenario.scene, scenario.faults, rig, scenario.plan, scenario.seed, frame_steps=FRAME_STEPS
    ) as world:
        sensed = SensedWorld(world, sensor.stream(len(rig.views), scenario.seed))
        stage = _Stage(world, sensed, fault_free, scenario.plan, video_writer, watcher)
        if video_writer is not None:
            video_writer.caption(scenario.name.capitalize(), scenario.description)
            video_writer.add(stage.still(), 1.5)
            world.on_frame = lambda moving: video_writer.add(moving.render(*video.FRAME_SIZE, video.VIDEO_VIEW))
        episode, status, reason = None, FAILED, ""
        try:
            episode = agent(system, stage).run(scenario.plan, stage.take)
            status, reason = episode.status.value, episode.reason
        except NsrecoverError as error:
            reason = str(error)
        world.on_frame = None
        deviations = fault_free.wrong_at_the_end(world.truth())
        if video_writer is not None:
            _show_end(video_writer, stage.still(), status, reason, not deviations)
    return DemoResult(
        scenario=scenario.name,
        description=scenario.description,
        seed=scenario.seed,
        plan=scenario.plan,
        status=status,
        reason=reason,
        turns=tuple(stage.turns),
        deviations=deviations,
        undetected=tuple(dict.fromkeys(stage.undetected)),
        seconds=time.perf_counter() - started,
        sensor=sensor.name,
        episode=episode,
    )


def _show_end(video_writer: video.VideoWriter, picture: video.Picture, status: str, reason: str, reached: bool) -> None:
    if status == EpisodeStatus.COMPLETED:
        title = "Plan completed"
    else:
        title = "Asking for help" if status == EpisodeStatus.ASKED_FOR_HELP else "The run could not go on"
    verdict = "Everything is in its place." if reached else "The goal is not reached."
    video_writer.caption(title, reason or verdict, video.DONE if reached else video.WRONG)
    video_writer.add(picture, 1.5)


class _Stage:
    """The world of a scenario: takes pictures of every action, and records every turn with its ground truth."""

    def __init__(
        self, world: TabletopWorld, sensed: World[Observation], fault_free: FaultFreeRun, plan: Plan,
        film: video.VideoWriter | None, watcher: Watcher,
    ) -> None:  # fmt: skip
        self._world, self._sensed, self._fault_free, self._video, self._watcher = (
            world, sensed, fault_free, film, watcher,
        )  # fmt: skip
        self._progress, self._step = PlanProgress(plan), 0
        self._before = self._after = self._photo()
        self.turns: list[Turn] = []
        self.undetected: list[str] = []

    def _photo(self) -> Photo:
        """A picture of the objects, for the report."""
        return Photo(self._world.render(*PHOTO_SIZE, video.PHOTO_VIEW), video.PHOTO_VIEW.camera(*PHOTO_SIZE))

    def still(self) -> video.Picture:
        """Return a frame of the video."""
        return self._world.render(*video.FRAME_SIZE, video.VIDEO_VIEW)

    def observe(self) -> Observation:
        """Return what the robot's cameras see."""
        return self._sensed.observe()

    def execute(self, action: Action) -> None:
        """Execute an action and record it."""
        label = self._progress.label(self._step)
        self._watcher.started(label, action)
        if self._video is not None:
            recovering = self._progress.original_step(self._step) is None
            what, colour = ("back onto the plan", video.RECOVERING) if recovering else ("as planned", video.PLAIN)
            self._video.caption(f"{label.capitalize()}: {instruction(action)}", what, colour)
        self._before = self._photo()
        self._sensed.execute(action)
        self._after = self._photo()

    def take(self, record: StepRecord) -> None:
        """Record one turn."""
        discrepancy, progress = record.discrepancy, self._progress
        step = discrepancy.step
        label = progress.label(step)
        if record.action is None:  # something has happened between two actions
            self._before, self._after = self._after, self._photo()
        done = progress.steps_done(step + 1 if discrepancy.phase is Phase.AFTER else step)
        wrong = None if done is None else self._fault_free.wrong_after(done, self._world.truth())
        film_s = self._video.seconds if self._video is not None else None
        media = Media(self._before, self._after)
        self.turns.append(Turn(label, record, media, film_s, progress.original_step(step), wrong))
        if discrepancy.deviates:
            self._show_error(record)
        else:
            self.undetected += wrong or ()
        progress.recovered(record.recovery)
        self._step = 0 if record.recovery is not None and record.recovery.found else step + 1
        self._watcher.turned(label, record)

    def _show_error(self, record: StepRecord) -> None:
        if self._video is None:
            return
        still = self.still()
        what = capital(WORDS.in_short(record.discrepancy))
        why = " ".join(each.text for each in WORDS.explain(record.discrepancy, None).sentences[1:])
        good = kind_of(record.discrepancy) is MarkedAs.HELP
        self._video.caption(what, why, video.DONE if good else video.WRONG)
        self._video.add(still, 2.5)
        recovery = record.recovery
        if recovery is not None and recovery.actions:
            self._video.caption(
                f"The recovery: {counted(len(recovery.actions), 'action')}",
                f"First {', then '.join(map(instruction, recovery.actions))}.",
                video.RECOVERING,
            )
            self._video.add(still, 1.8)
        elif recovery is not None and recovery.found:
            self._video.caption("No recovery needed", "The plan continues from this scene.", video.RECOVERING)
            self._video.add(still, 1.8)
