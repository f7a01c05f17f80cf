"""Inspects the episodes of a LeRobot dataset: learns from successes, and labels the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

import numpy as np

from nsrecover.bridges.lerobot import EpisodeFiles, LeRobotView, Listed, images_at, info_of
from nsrecover.core import Camera, FloatArray
from nsrecover.core.discrepancy import Cause
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.explanation.phrases import instruction
from nsrecover.inspection.appearance import FrameFeatures, Likeness, last_pictures, learn_likeness
from nsrecover.inspection.judging import judge
from nsrecover.inspection.labels import SUCCESS, Label
from nsrecover.inspection.subtasks import Subtask, SubtaskOrder, learn
from nsrecover.inspection.watching import Setup, WatchedEpisode, setup_of, watch
from nsrecover.perception.masks.table import camera_over_table
from nsrecover.system import System
from nsrecover.util.english import the

Seen = TypeVar("Seen")
RATE_HZ = 2.0
"""Frames a second that are looked at."""


@dataclass(frozen=True)
class Eyes:
    """How episodes are looked at.

    Attributes:
        system: perceives.
        setup: cameras with depth; None: there is none, and only colour is used.
        colours: features with colour images.
        rate_hz: frames a second.
    """

    system: System
    setup: Setup | None
    colours: tuple[str, ...]
    rate_hz: float = RATE_HZ

    def watch(self, folder: Path, listed: Listed) -> WatchedEpisode:
        """Perceive the objects of an episode."""
        assert self.setup is not None
        return watch(folder, listed, self.setup, self.system.model.bundle, self.rate_hz)

    def picture(self, folder: Path, listed: Listed) -> FrameFeatures:
        """The last frame of an episode."""
        return last_pictures(folder, listed, self.colours, self.system.model.bundle)


def eyes_for(folder: Path, system: System, intrinsics: FloatArray | None = None, depth: str = "") -> Eyes:
    """How to look at a dataset: with the cameras of meta/cameras.json, one camera over a table, or by colour alone.

    Args:
        folder: of the dataset.
        system: perceives.
        intrinsics: (3, 3) of the one camera that has depth, for datasets without that file.
        depth: its feature.

    Raises:
        InvalidConfiguration: only one of intrinsics and depth is given, or the feature does not exist.
        InvalidRecording: the dataset cannot be read.
    """
    features = info_of(folder).get("features") or {}
    named = [name for name, each in features.items() if each.get("dtype") in ("image", "video")]
    setup = setup_of(folder)
    if setup is None and (intrinsics is None) != (not depth):
        raise InvalidConfiguration("expected --depth and --intrinsics together, found one of them; give both or none")
    grey = [name for name in named if "depth" in name or "mask" in name]
    colours = tuple(name for name in named if name not in grey)
    if setup is not None or intrinsics is None:
        return Eyes(system, setup, colours)
    if depth not in features or not colours:
        raise InvalidConfiguration(f"expected a feature with depth, found {depth!r}.{did_you_mean(depth, features)}")
    colour = min(colours, key=lambda name: -len(set(name.split(".")) & set(depth.replace("_depth", "").split("."))))
    view = LeRobotView(colour, depth, Camera(intrinsics, np.eye(4, dtype=np.float32)))
    files = EpisodeFiles(folder, 0)
    _, depth_m, _ = next(images_at(files, files.rows()[:1], [view]))
    camera = camera_over_table(depth_m[0], intrinsics)
    return Eyes(system, Setup((LeRobotView(colour, depth, camera),)), colours)


def said_to_succeed(folder: Path, listed: Sequence[Listed]) -> list[int]:
    """Episodes whose last frame has `next.success`; all of them if the dataset has no such feature."""
    if SUCCESS not in (info_of(folder).get("features") or {}):
        return [each.index for each in listed]
    return [each.index for each in listed if bool(np.ravel(EpisodeFiles(folder, each.index).rows()[-1][SUCCESS])[0])]


@dataclass(frozen=True)
class Inspector:
    """What was learned from successes.

    Attributes:
        eyes: how episodes are looked at.
        tasks: by their words; empty without depth.
        looks: how successes look in the end, by the task; only without depth.
        first: a success of each task, after whose objects those of others are called; only without masks with names.
    """

    eyes: Eyes
    tasks: Mapping[str, SubtaskOrder]
    looks: Mapping[str, Likeness]
    first: Mapping[str, WatchedEpisode]

    @classmethod
    def learned(
        cls, eyes: Eyes, folder: Path, good: Sequence[Listed], alpha: float, seen: Callable[[], None] = lambda: None
    ) -> Inspector:
        """Learn every task of some successful episodes.

        Args:
            eyes: how to look at them.
            folder: of their dataset.
            good: the episodes.
            alpha: share of successes that may be taken for failures.
            seen: is called after every episode.

        Raises:
            InvalidRecording: a task has too few successes, or they have no subtasks in common.
        """
        words = dict.fromkeys(each.task for each in good)
        tasks, looks, first = dict[str, SubtaskOrder](), dict[str, Likeness](), dict[str, WatchedEpisode]()
        for task in words:
            own = [each for each in good if each.task == task]
            if eyes.setup is not None:
                watched = list(_each(partial(eyes.watch, folder), own, seen))
                if not eyes.setup.objects:
                    first[task] = min(watched, key=lambda each: len(each.names))
                    watched = [each.named_after(first[task]) for each in watched]
                tasks[task] = learn(watched, alpha)
            else:
                looks[task] = learn_likeness(list(_each(partial(eyes.picture, folder), own, seen)), alpha)
        return cls(eyes, tasks, looks, first)

    def label(self, folder: Path, listed: Listed) -> Label:
        """Label an episode of one of the tasks.

        Raises:
            InvalidConfiguration: there is no successful episode of its task.
        """
        known = self.tasks or self.looks
        if listed.task not in known:
            raise InvalidConfiguration(
                f"expected successful episodes of the task {listed.task!r} of episode {listed.index}, found none."
                f"{did_you_mean(listed.task, known)}"
            )
        if self.looks:
            found = self.looks[listed.task].judge(self.eyes.picture(folder, listed))
            why = "" if found.succeeded else "the last frame looks like that of no success"
            return Label(listed.index, listed.task, found.succeeded, why=why)
        watched, task = self.eyes.watch(folder, listed), self.tasks[listed.task]
        if listed.task in self.first:
            watched = watched.named_after(self.first[listed.task])
        return label_of(task, watched)


def _each(look: Callable[[Listed], Seen], listed: Sequence[Listed], seen: Callable[[], None]) -> Iterator[Seen]:
    for each in listed:
        yield look(each)
        seen()


def in_words(subtask: Subtask) -> str:
    """A subtask as an instruction."""
    return instruction(subtask.action)


def label_of(task: SubtaskOrder, watched: WatchedEpisode) -> Label:
    """Judge an episode; one that never shows an object of the task has failed at its first subtask."""
    names, times = [in_words(each) for each in task.subtasks], watched.times_s
    for name in task.sizes:
        if name not in watched.names:
            why = f"{the(name)} is never seen"
            start = float(times[0])
            return Label(
                watched.index, watched.task, False, names[0], name, Cause.MISSING, why, start, ((names[0], start),)
            )
    found = judge(task, watched)
    order = [number for number, _ in found.done]
    left = [n for n in range(len(names)) if n not in order]
    ends = [float(times[0]), *(float(times[frame]) for _, frame in found.done)]
    begun = tuple((names[number], since) for number, since in zip([*order, *left][: len(ends)], ends, strict=False))
    return Label(
        watched.index, watched.task, found.succeeded,
        None if found.subtask is None else names[found.subtask], found.object, found.cause, found.why,
        None if found.frame is None else float(times[found.frame]), begun,
    )  # fmt: skip
