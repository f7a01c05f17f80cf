"""Verdicts of the monitor on recorded episodes that are seen through a sensor; runs in worker processes."""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import numpy as np

from eval.common.recordings import LOOKS_AT_START, RecordedEpisode, footage_of, names_of_masks
from eval.common.systems import system_of
from nsrecover.core import Discrepancy, Observation, SceneGraph
from nsrecover.errors import NsrecoverError
from nsrecover.monitoring.monitor import Monitor
from nsrecover.perception.perceiver import ScenePerceiver
from nsrecover.system import System
from sim.datasets.spec import ErrorEpisode
from sim.sensors.events import CameraEvent
from sim.sensors.presets import sensor
from sim.sensors.sensor import Sensor, SensorStream, recorded
from sim.tabletop.truth import TOLERANCE_M


class Answer(StrEnum):
    """The right verdict on a step that went well."""

    as_expected = "as_expected"
    """As expected."""
    cannot_tell = "cannot_tell"
    """That the sensor does not allow a verdict; or the camera is named."""


@dataclass
class Condition:
    """One row of the table; an entry of conf/conditions.

    Attributes:
        sensor: arguments of `sim.sensors.presets.sensor`: the name of a preset, and groups of values that differ.
        events: what happens to a camera, from a moment on that is drawn for every episode.
        moments: number of observations that an event lasts; to the end if None.
        views: names of the cameras; those of the command if None.
        answer: to steps that go well while an event lasts.
        scene: other scenes than those of the error datasets, the name of a file in conf/scene.
        shared_ids: whether a mask has the same number in all views; if not, every camera numbers its own.
        name: for the table; the key of the condition if None.
    """

    sensor: dict[str, Any] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    moments: int | None = None
    views: list[str] | None = None
    answer: Answer = Answer.as_expected
    scene: str | None = None
    shared_ids: bool = False
    name: str | None = None

    def drawn(self, steps: int, rng: np.random.Generator) -> Sensor:
        """The sensor of one episode, with the moments of its events.

        Args:
            steps: number of actions.
            rng: draws the moments.

        Raises:
            InvalidConfiguration: there is no such preset, value or event.
        """
        events = list[CameraEvent]()
        for values in self.events:
            start = int(rng.integers(1, steps + 1))
            events.append(CameraEvent(**{"start": start, **values}))
            if self.moments is not None:
                events[-1] = replace(events[-1], end=events[-1].start + self.moments)
        chosen = sensor(**self.sensor, events=events)
        return chosen if self.shared_ids else replace(chosen, masks=replace(chosen.masks, ids_per_view=True))


def active(events: Sequence[CameraEvent], number: int) -> bool:
    """Whether an event affects an observation."""
    return any(event.active(number) for event in events)


REFUSED = "refused"
"""Verdict on an observation that the monitor does not accept."""


@dataclass
class SensedStep:
    """Verdict on a step, and the truth.

    Attributes:
        dataset: of the episode.
        episode: its number.
        step: number of the action, from 0; -1 if the monitor cannot begin.
        during_event: whether something happens to a camera.
        wrong: truly deviating objects; none if the step went well.
        blamed: objects that deviate according to the monitor.
        verdict: of the monitor (`nsrecover.core.discrepancy.Verdict`), or `REFUSED`.
        note: what it says of the sensor or what is missing to tell, or why it refuses.
        shown: number of masks that are taken for a known object.
        matched: how many of them show it.
        errors_mm: distance of the centre of each visible object from the true one.
        seconds: processor time of the first observation of the step.
        looks: number of observations behind the verdict.
        off_place: objects whose box is farther than `TOLERANCE_M` from the expected one, or that are missing: the
            verdict of a rule that compares nothing else.
    """

    dataset: str
    episode: int
    step: int
    during_event: bool
    wrong: list[str] = field(default_factory=list)
    blamed: list[str] = field(default_factory=list)
    verdict: str = ""
    note: str = ""
    shown: int = 0
    matched: int = 0
    errors_mm: list[float] = field(default_factory=list)
    seconds: float = 0.0
    looks: int = 1
    off_place: list[str] = field(default_factory=list)


def judge(
    episode: ErrorEpisode, condition: Condition, looks: int, folder: str, checkpoint: str | None
) -> list[SensedStep]:
    """The verdicts on all steps of an episode in one condition; the episode is recorded first if necessary.

    Args:
        episode: the episode.
        condition: what it is seen through.
        looks: largest number of observations of one step.
        folder: of the recordings.
        checkpoint: folder of the checkpoint; the shipped one if None.
    """
    exact = footage_of(episode, folder).through(condition.views or [])
    return list(_judged(exact, condition, looks, system_of(checkpoint)))


def _judged(exact: RecordedEpisode, condition: Condition, looks: int, system: System) -> Iterator[SensedStep]:
    episode = exact.episode
    views = len(exact.successes[0].cameras)
    sensor = condition.drawn(len(episode.plan), np.random.default_rng(episode.seed))
    stream = sensor.stream(views, episode.seed)
    wrong = {error.step: sorted(error.deviations) for error in episode.errors}

    def judged(
        monitor: Monitor[SceneGraph, Observation], stream: SensorStream, step: int, scene: Observation
    ) -> SensedStep:
        row = SensedStep(episode.dataset, episode.number, step, active(sensor.events, stream.count))
        seen = stream.observe(recorded(scene))
        action = monitor.next_action
        assert action is not None
        began = time.process_time()
        try:
            found = monitor.step(action, seen)
        except NsrecoverError as problem:
            row.verdict, row.note = REFUSED, str(problem)
            return row
        row.seconds = time.process_time() - began
        names = names_of_masks(scene, seen)
        perceiver = getattr(monitor.belief, "perceiver", None)
        assert isinstance(perceiver, ScenePerceiver)
        taken = [(name, names[number]) for name, numbers in perceiver.masks.items() for number in numbers]
        row.shown, row.matched = len(taken), sum(name == shown for name, shown in taken)
        found = monitor.confirm(lambda: stream.observe(recorded(scene)), looks)
        row.blamed, row.verdict, row.looks = list(found.deviating), found.verdict.value, found.looks
        row.off_place = _off_place(found)
        row.note = "; ".join(dict.fromkeys(map(str, (*found.missing_to_tell, *found.sensors))))
        return row

    monitor = None
    for _ in range(LOOKS_AT_START):
        try:
            monitor = system.monitor(episode.plan, stream.observe(recorded(exact.successes[0])))
            break
        except NsrecoverError as problem:
            note = str(problem)
    if monitor is None:
        yield SensedStep(episode.dataset, episode.number, -1, False, verdict=REFUSED, note=note)
        return
    for step in range(len(episode.plan)):
        if step in exact.failures:
            fork = copy.deepcopy(monitor, {id(system.model.models): system.model.models})
            row = judged(fork, copy.copy(stream), step, exact.failures[step])
            row.wrong = wrong[step]
            yield row
        if step + 1 >= len(exact.successes):
            return
        row = judged(monitor, stream, step, exact.successes[step + 1])
        row.errors_mm = _errors_mm(exact, step + 1, monitor)
        yield row
        if row.verdict == REFUSED:
            return  # the monitor waits for an observation of this step


def _off_place(found: Discrepancy) -> list[str]:
    distances = np.linalg.norm(found.observed.boxes[:, :3] - found.expected.boxes[:, :3], axis=1)
    known_gone = found.observed.missing & found.expected.missing
    off = ((distances > TOLERANCE_M) | found.observed.missing) & ~known_gone
    return [
        name for name, is_off in zip(found.observed.names, off, strict=True) if is_off and name not in found.newcomers
    ]


def _errors_mm(exact: RecordedEpisode, moment: int, monitor: Monitor[SceneGraph, Observation]) -> list[float]:
    graph, rows = monitor.graph, list[float]()
    for row, scene_object in enumerate(exact.episode.scene.objects):
        if scene_object.name in graph.names and graph.seen[index := graph.index(scene_object.name)]:
            offset = graph.boxes[index, :3] - exact.places[moment][row]
            rows.append(round(1000 * float(np.linalg.norm(offset)), 2))
    return rows
