"""Run of one scenario by the agent, recorded and judged by ground truth."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from eval.common import video
from eval.common.demo_result import DemoResult, NoticedError, Picture, Turn
from eval.common.fault_free import FaultFreeRun, run_without_faults
from eval.common.plan_progress import PlanProgress
from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import World
from nsrecover.errors import NsrecoverError
from nsrecover.explanation.phrases import instruction
from nsrecover.reports.media import Media, Photo
from nsrecover.reports.model import Kind
from nsrecover.reports.wording import Wording, kind_of
from nsrecover.system import System
from nsrecover.util.english import capital, counted
from sim.common.cameras import DEFAULT_RIG
from sim.sensors.sensor import EXACT, Sensor
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


class Agent(Protocol):
    """Executor of plans: `nsrecover.agent.RecoveryAgent`, or a baseline with the same method."""

    def run(self, plan: Plan, on_record: Callable[[StepRecord], None] | None = None) -> Episode:
        """Execute a plan and return the episode."""
        ...


AgentFactory = Callable[[System, World[Observation]], Agent]


@dataclass(frozen=True)
class Watcher:
    """Callbacks during a run.

    Attributes:
        started: called before each action with its label.
        turned: called after each turn of the agent with its label.
    """

    started: Callable[[str, Action], None] = lambda label, action: None
    turned: Callable[[str, StepRecord], None] = lambda label, record: None


class WatchedWorld:
    """World wrapper that takes pictures before and after every action, and records a video.

    Args:
        world: the simulator, for the pictures.
        sensed: the same world as the robot sees it.
        progress: progress in the plan.
        video_writer: video to write; None for none.
        watcher: callbacks.
    """

    def __init__(
        self,
        world: TabletopWorld,
        sensed: World[Observation],
        progress: PlanProgress,
        video_writer: video.VideoWriter | None,
        watcher: Watcher,
    ) -> None:
        self._world, self._sensed = world, sensed
        self._progress, self._video, self._watcher = progress, video_writer, watcher
        self.step = 0
        self.before = self.after = self.photo()

    def photo(self) -> Photo:
        """Return a picture of the objects, for the report."""
        return Photo(self._world.render(*PHOTO_SIZE, video.PHOTO_VIEW), video.PHOTO_VIEW.camera(*PHOTO_SIZE))

    def still(self) -> Picture:
        """Return a frame of the video."""
        return self._world.render(*video.FRAME_SIZE, video.VIDEO_VIEW)

    def observe(self) -> Observation:
        """Return what the robot's cameras see."""
        return self._sensed.observe()

    def execute(self, action: Action) -> None:
        """Execute an action and record it."""
        label = self._progress.label(self.step)
        self._watcher.started(label, action)
        if self._video is not None:
            recovering = self._progress.original_step(self.step) is None
            self._video.caption(
                f"{_caption(label)}: {instruction(action)}",
                "back onto the plan" if recovering else "as planned",
                video.RECOVERING if recovering else video.PLAIN,
            )
        self.before = self.photo()
        self._sensed.execute(action)
        self.after = self.photo()


def run_scenario(
    scenario: Scenario,
    system: System,
    agent: AgentFactory,
    video_writer: video.VideoWriter | None = None,
    watcher: Watcher | None = None,
    sensor: Sensor = EXACT,
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
    watcher = watcher or Watcher()
    fault_free = run_without_faults(scenario.scene, scenario.plan, scenario.seed)
    rig = replace(DEFAULT_RIG, light=scenario.light)
    with TabletopWorld(
        scenario.scene, scenario.faults, rig, scenario.plan, scenario.seed, frame_steps=FRAME_STEPS
    ) as world:
        sensed = SensedWorld(world, sensor.stream(len(rig.views), scenario.seed))
        recorder = _Recorder(scenario, world, sensed, fault_free, video_writer, watcher)
        if video_writer is not None:
            video_writer.caption(scenario.name.capitalize(), scenario.description)
            video_writer.add(recorder.watched.still(), 1.5)
            world.on_frame = lambda moving: video_writer.add(moving.render(*video.FRAME_SIZE, video.VIDEO_VIEW))
        episode, status, reason = None, FAILED, ""
        try:
            episode = agent(system, recorder.watched).run(scenario.plan, recorder.take)
            status, reason = episode.status.value, episode.reason
        except NsrecoverError as error:
            reason = str(error)
        world.on_frame = None
        deviations = fault_free.wrong_at_the_end(world.truth())
        if video_writer is not None:
            _show_end(video_writer, recorder.watched.still(), status, reason, not deviations)
    return DemoResult(
        scenario=scenario.name,
        description=scenario.description,
        seed=scenario.seed,
        plan=scenario.plan,
        status=status,
        reason=reason,
        turns=tuple(recorder.turns),
        errors=tuple(recorder.errors),
        deviations=deviations,
        undetected=tuple(dict.fromkeys(recorder.undetected)),
        seconds=time.perf_counter() - started,
        sensor=sensor.name,
        episode=episode,
    )


def _show_end(video_writer: video.VideoWriter, picture: Picture, status: str, reason: str, reached: bool) -> None:
    if status == EpisodeStatus.COMPLETED:
        title = "Plan completed"
    else:
        title = "Asking for help" if status == EpisodeStatus.ASKED_FOR_HELP else "The run could not go on"
    verdict = "Everything is in its place." if reached else "The goal is not reached."
    video_writer.caption(title, reason or verdict, video.DONE if reached else video.WRONG)
    video_writer.add(picture, 1.5)


def _caption(label: str) -> str:
    """The label of a step in a film."""
    return label.capitalize()


class _Recorder:
    """Records every turn of the agent, with pictures and ground truth."""

    def __init__(
        self,
        scenario: Scenario,
        world: TabletopWorld,
        sensed: World[Observation],
        fault_free: FaultFreeRun,
        video_writer: video.VideoWriter | None,
        watcher: Watcher,
    ) -> None:
        self._world, self._fault_free, self._video, self._watcher = world, fault_free, video_writer, watcher
        self._progress = PlanProgress(scenario.plan)
        self.watched = WatchedWorld(world, sensed, self._progress, video_writer, watcher)
        self.turns: list[Turn] = []
        self.errors: list[NoticedError] = []
        self.undetected: list[str] = []

    def take(self, record: StepRecord) -> None:
        """Record one turn."""
        discrepancy = record.discrepancy
        step = discrepancy.step
        label = self._progress.label(step)
        if record.action is None:  # something has happened between two actions
            self.watched.before, self.watched.after = self.watched.after, self.watched.photo()
        film_s = self._video.seconds if self._video is not None else None
        self.turns.append(Turn(label, record, Media(self.watched.before, self.watched.after), film_s))
        done = self._progress.steps_done(step + 1 if discrepancy.phase is Phase.AFTER else step)
        wrong = None if done is None else self._fault_free.wrong_after(done, self._world.truth())
        if discrepancy.deviates:
            self.errors.append(
                NoticedError(
                    label, self._progress.original_step(step), discrepancy, record.recovery, record.explanation, wrong
                )
            )
            self._show_error(record)
        else:
            self.undetected += wrong or ()
        self._progress.recovered(record.recovery)
        self.watched.step = 0 if record.recovery is not None and record.recovery.found else step + 1
        self._watcher.turned(label, record)

    def _show_error(self, record: StepRecord) -> None:
        if self._video is None:
            return
        still = self.watched.still()
        what = capital(WORDS.in_short(record.discrepancy))
        why = " ".join(each.text for each in WORDS.explain(record.discrepancy, None).sentences[1:])
        good = kind_of(record.discrepancy) is Kind.HELP
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
