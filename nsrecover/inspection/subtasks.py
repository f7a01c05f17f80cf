"""The subtasks of a task: which object comes where, in which order and when, learned from successes alone.

A subtask is a lasting change of the scene: one object rests elsewhere. Where it comes is learned as a place relative to
another object, as an operator of the tabletop has it, or on the table: the one with the least spread over the
demonstrations. How far a successful episode strays from that is calibrated over whole episodes (cross-conformal
prediction in folds: Vovk, "Cross-conformal predictors", Annals of Mathematics and Artificial Intelligence, 2015).
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.core import Action, FloatArray, SceneGraph
from nsrecover.domains.tabletop.operators import OPERATORS, SET_ASIDE, STACK
from nsrecover.domains.tabletop.relations import DIRECTIONS
from nsrecover.errors import InvalidRecording
from nsrecover.inspection.watching import Size, WatchedEpisode
from nsrecover.models.conformal import conformal_threshold

FEWEST = 5
"""Fewest successes to learn a task from."""
MOVED_M = 0.025
"""An object that rests farther than this from where it rested before was moved."""
FINE_M = 0.005
"""Places are known no better than this."""
ALIKE_M = 0.002
"""A place on another object counts as good as one whose spread is smaller by less than this."""
ON_M = 0.03
"""An object that is put on another one is this near to the middle of its top."""
COMMON = 0.5
"""Share of the successes that have to have the same subtasks."""
SHARE = 0.9
FOLDS = 5
LEAST, MOST = 2.5, 5.0
"""Limits are in this range, in units of what is usual: 12.5 to 25 mm for objects that stay where they are."""


@dataclass(frozen=True, eq=False)
class Subtask:
    """One change of the scene.

    Attributes:
        action: the change in words of the tabletop: the object that moves, and what its place is relative to.
        shift_m: (3,) how far its place is from where the operator has it; on the table, the place itself.
        spread_m: how far off most demonstrations are.
        before: numbers of the subtasks that come before it in every demonstration.
        duration_s: shortest and longest time since the subtask before it, or since the first frame.
        begins_s: when its object mostly leaves its place, by the same clock.
    """

    action: Action
    shift_m: FloatArray
    spread_m: float
    before: frozenset[int]
    duration_s: tuple[float, float]
    begins_s: float

    def after(self, scene: SceneGraph) -> SceneGraph:
        """The scene after it, from the one before it."""
        row = scene.index(self.action.arguments[0])
        box = scene.boxes[row].copy()
        box[:3] = _base(scene, self.action) + self.shift_m
        return scene.with_node(row, box)


@dataclass(frozen=True, eq=False)
class SubtaskOrder:
    """What successful episodes of a task have in common.

    Attributes:
        words: the task.
        sizes: of its objects by their names.
        subtasks: in the order in which they mostly come.
        still_m: how far objects seem to move that do not.
        limit: deviations above it, in units of what is usual, are none of a success.
        alpha: promised share of successes that are taken for failures at most.
        successes: number that it was learned from, and that had other subtasks.
    """

    words: str
    sizes: Mapping[str, Size]
    subtasks: tuple[Subtask, ...]
    still_m: float
    limit: float = math.inf
    alpha: float = 1.0
    successes: tuple[int, int] = (0, 0)

    def scenes(self, watched: WatchedEpisode) -> tuple[SceneGraph, ...]:
        """The settled scenes of an episode that shows all objects of the task, with these in one order."""
        return tuple(scene.chosen(list(self.sizes)) for scene in watched.settled(self.sizes))

    def enabled(self, done: Sequence[int]) -> list[int]:
        """Subtasks that can come next."""
        return [n for n, each in enumerate(self.subtasks) if n not in done and each.before <= set(done)]

    def chains(self, done: Sequence[int]) -> list[tuple[int, ...]]:
        """What may have been done since: one subtask, or several after a disturbance that a later one puts right."""
        chains: list[tuple[int, ...]] = [(number,) for number in self.enabled(done)]
        chain = tuple[int, ...]()
        while left := self.enabled((*done, *chain)):
            chain = (*chain, left[0])
            chains += [chain] if len(chain) > 1 else []
        return chains

    def misfits(self, scene: SceneGraph, expected: SceneGraph, number: int | None = None) -> FloatArray:
        """How far objects (N,) are from where they should be, in units of what is usual; infinite if they are missing.

        Args:
            scene: what is seen.
            expected: what should be.
            number: of the subtask that has just been done.
        """
        away = np.linalg.norm(scene.boxes[:, :3] - expected.boxes[:, :3], axis=1) / self.still_m
        if number is not None:
            own = self.subtasks[number]
            row = scene.index(own.action.arguments[0])
            away[row] *= self.still_m / own.spread_m
        return np.where(scene.missing & ~expected.missing, np.inf, away).astype(np.float32)


@dataclass(frozen=True)
class FrameStep:
    """What a frame says.

    Attributes:
        frame: its number.
        done: subtasks that are done by then, in their order.
        score: the greatest misfit to the best explanation.
        accepted: the scene as it should be.
    """

    frame: int
    done: tuple[int, ...]
    score: float
    accepted: SceneGraph


def follow(task: SubtaskOrder, watched: WatchedEpisode, limit: float = math.inf) -> Iterator[FrameStep]:
    """Follow an episode through the subtasks; a frame above the limit changes nothing."""
    scenes = task.scenes(watched)
    accepted, done = scenes[0], tuple[int, ...]()
    for frame, scene in enumerate(scenes):
        score, chain = float(task.misfits(scene, accepted).max()), tuple[int, ...]()
        for each in task.chains(done):
            after = accepted
            for number in each:
                after = task.subtasks[number].after(after)
            own = float(task.misfits(scene, after, each[-1]).max())
            if own < score:
                score, chain = own, each
        if score <= limit:
            done = (*done, *chain)
            for number in chain:
                row = scene.index(task.subtasks[number].action.arguments[0])
                accepted = accepted.with_node(row, scene.boxes[row])
        yield FrameStep(frame, done, score, accepted)


@dataclass(frozen=True, eq=False)
class _Change:
    name: str
    time_s: float
    left_s: float
    before: SceneGraph
    after: SceneGraph


def learn(episodes: Sequence[WatchedEpisode], alpha: float) -> SubtaskOrder:
    """Learn a task from successful episodes.

    Args:
        episodes: of one task.
        alpha: share of successes that may be taken for failures; with too few episodes for it, the least that they
            allow is promised.

    Raises:
        InvalidRecording: there are too few, or they have no subtasks in common.
    """
    task, alike = _learned(episodes)
    scores = []
    for fold in range(FOLDS):
        others = [each for n, each in enumerate(alike) if n % FOLDS != fold]
        held_out = _refitted(task, others)
        own = (each for n, each in enumerate(alike) if n % FOLDS == fold)
        scores += [max(step.score for step in follow(held_out, each)) for each in own]
    promised = max(alpha, 1 / (len(scores) + 1))
    limit = -conformal_threshold(sorted(-score for score in scores), len(scores), promised)
    limit = min(max(limit, LEAST), MOST)  # successes of which perception lost an object do not raise it
    promised = max(promised, (1 + sum(score > limit for score in scores)) / (len(scores) + 1))
    return replace(task, limit=limit, alpha=promised, successes=(len(alike), len(episodes) - len(alike)))


def _learned(episodes: Sequence[WatchedEpisode]) -> tuple[SubtaskOrder, list[WatchedEpisode]]:
    """A task without a limit, and the episodes that have its subtasks."""
    if len(episodes) < FEWEST:
        raise InvalidRecording(
            f"expected at least {FEWEST} successful episodes to learn a task from, found {len(episodes)}"
        )
    sizes = _sizes(episodes)
    every = [_changes(each, sizes) if set(sizes) <= set(each.names) else [] for each in episodes]
    kinds = Counter(map(_kind, every))
    moved, count = kinds.most_common(1)[0]
    if count < max(FEWEST, COMMON * len(episodes)) or not moved:
        raise InvalidRecording(
            f"expected successful episodes of {episodes[0].task!r} that move the same objects once, found {count} of "
            f"{len(episodes)} alike; check which episodes succeeded, and that the cameras see every object at first"
        )
    alike = [each for each, own in zip(episodes, every, strict=True) if _kind(own) == moved]
    changes = [own for own in every if _kind(own) == moved]
    times = {name: [_of(own, name).time_s for own in changes] for name in moved}
    order = sorted(moved, key=lambda name: float(np.median(times[name])))
    subtasks = []
    for name in order:
        before = {n for n, other in enumerate(order) if other != name and _always(times[other], times[name])}
        shown = [_of(own, name) for own in changes]
        since = [_latest(own, each) for each, own in zip(shown, changes, strict=True)]
        waits = [each.time_s - begun for each, begun in zip(shown, since, strict=True)]
        begins = float(np.median([each.left_s - begun for each, begun in zip(shown, since, strict=True)]))
        action = _best_action(name, shown)
        empty = np.zeros(3, np.float32)
        subtasks.append(Subtask(action, empty, FINE_M, frozenset(before), (min(waits), max(waits)), begins))
    bare = SubtaskOrder(alike[0].task, sizes, tuple(subtasks), FINE_M)
    return _refitted(bare, alike), alike


def _refitted(task: SubtaskOrder, episodes: Sequence[WatchedEpisode]) -> SubtaskOrder:
    """The task with places and spreads of other episodes."""
    every = [_changes(each, task.sizes) for each in episodes]
    subtasks = []
    for each in task.subtasks:
        shift, spread = _spread(each.action, [_of(own, each.action.arguments[0]) for own in every])
        subtasks.append(replace(each, shift_m=shift, spread_m=max(spread, FINE_M)))
    drifts = []
    moved = [each.action.arguments[0] for each in subtasks]
    for episode in episodes:
        scenes = task.scenes(episode)
        rows = [row for row, name in enumerate(task.sizes) if name not in moved]
        drifts += [np.linalg.norm(scenes[-1].boxes[row, :3] - scenes[0].boxes[row, :3]) for row in rows]
    still = float(np.quantile(drifts, SHARE)) if drifts else FINE_M
    return replace(task, subtasks=tuple(subtasks), still_m=max(still, FINE_M))


def _sizes(episodes: Sequence[WatchedEpisode]) -> dict[str, Size]:
    """The usual sizes of the objects that most episodes show."""
    counts = Counter(name for each in episodes for name in each.names)
    sizes = {}
    for name in sorted(name for name, count in counts.items() if count > COMMON * len(episodes)):
        own = [(each, each.names.index(name)) for each in episodes if name in each.names]
        sides = np.concatenate([each.boxes[each.seen[:, row], row, 3:] for each, row in own])
        if len(sides):
            usual = np.median(np.sort(sides, axis=1), axis=0).astype(np.float32)
            sizes[name] = Size(usual, float(np.median(sides[:, 2])))
    return sizes


def _kind(changes: Sequence[_Change]) -> frozenset[str]:
    """The objects that are moved; none if one is moved twice."""
    moved = frozenset(each.name for each in changes)
    return moved if len(moved) == len(changes) else frozenset()


def _changes(watched: WatchedEpisode, sizes: Mapping[str, Size]) -> list[_Change]:
    """The lasting changes of an episode, in their order; none if an object gets lost."""
    scenes = [scene.chosen(list(sizes)) for scene in watched.settled(sizes)]
    if scenes[-1].missing.any():
        return []
    settled, found = scenes[0], list[_Change]()
    for frame, scene in enumerate(scenes):
        away = np.linalg.norm(scene.boxes[:, :3] - settled.boxes[:, :3], axis=1)
        for row in np.flatnonzero(away > MOVED_M).tolist():
            after = settled.with_node(row, scene.boxes[row])
            name, end = scene.names[row], float(watched.times_s[frame])
            left = float(watched.times_s[left_at(watched, name, settled.boxes[row], frame)])
            found.append(_Change(name, end, left, settled, after))
            settled = after
    return found


def left_at(watched: WatchedEpisode, name: str, place: FloatArray, until: int) -> int:
    """The last frame up to one in which an object is in a place (6,)."""
    boxes = watched.boxes[: until + 1, watched.names.index(name), :3]
    there = np.flatnonzero(np.linalg.norm(boxes - place[:3], axis=1) <= MOVED_M)
    return int(there[-1]) if len(there) else 0


def _of(changes: Sequence[_Change], name: str) -> _Change:
    return next(each for each in changes if each.name == name)


def _always(first: Sequence[float], second: Sequence[float]) -> bool:
    return all(one < other for one, other in zip(first, second, strict=True))


def _latest(changes: Sequence[_Change], change: _Change) -> float:
    """When the change before it happened; 0 if it is the first."""
    return max((each.time_s for each in changes if each.time_s < change.time_s), default=0.0)


def _best_action(name: str, shown: Sequence[_Change]) -> Action:
    """The action whose places vary least; of equally good ones the one whose own place is nearest to them."""
    others = [other for other in shown[0].before.names if other != name]
    operators = (STACK, *map(str, DIRECTIONS))
    actions = [Action(operator, (name, other)) for operator in operators for other in others]
    actions.append(Action(SET_ASIDE, (name,)))
    found = [(action, *_spread(action, shown)) for action in actions]
    found = [each for each in found if each[0].operator != STACK or np.linalg.norm(each[1]) <= ON_M]
    least = min(spread for _, _, spread in found)
    alike = [(action, shift) for action, shift, spread in found if spread <= least + ALIKE_M]
    return min(alike, key=lambda each: float(np.linalg.norm(each[1])))[0]


def _spread(action: Action, shown: Sequence[_Change]) -> tuple[FloatArray, float]:
    """How far places are from those of an operator (3,), and how much that varies, metres."""
    row = shown[0].before.index(action.arguments[0])
    off = np.stack([each.after.boxes[row, :3] - _base(each.before, action) for each in shown])
    middle = np.median(off, axis=0)
    return middle.astype(np.float32), float(np.quantile(np.linalg.norm(off - middle, axis=1), SHARE))


def _base(scene: SceneGraph, action: Action) -> FloatArray:
    """The place (3,) of an operator; the origin for a place on the table."""
    place = OPERATORS[action.operator].place
    if place is None:
        return np.zeros(3, np.float32)
    return np.array(place(scene, action)[:3], np.float32)
