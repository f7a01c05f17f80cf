"""From successes alone: the subtasks of a task, and what went wrong in other episodes of it."""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import pytest

from nsrecover.core.discrepancy import Cause
from nsrecover.errors import InvalidRecording
from nsrecover.inspection.inspecting import label_of
from nsrecover.inspection.judging import LabelledEpisode, judge
from nsrecover.inspection.subtasks import SubtaskOrder, learn
from nsrecover.inspection.watching import WatchedEpisode

NAMES, SIDE, FPS = ("blue", "green", "red", "yellow"), 0.04, 2.0
Places = dict[str, np.ndarray]
Move = Callable[[Places], dict[str, Sequence[float]]]
"""Where an action leaves objects, from where they are."""


def put(name: str, below: str) -> Move:
    return lambda at: {name: at[below] + [0, 0, SIDE]}


def beside(name: str, other: str) -> Move:
    return lambda at: {name: at[other] + [0, SIDE + 0.03, 0]}


def shifted(name: str, *metres: float) -> Move:
    return lambda at: {name: at[name] + metres}


def both(*moves: Move) -> Move:
    return lambda at: {name: place for move in moves for name, place in move(at).items()}


RED, GREEN = put("red", "blue"), beside("green", "yellow")
TASK = (RED, GREEN)


def episode(seed: int, moves: Sequence[Move]) -> WatchedEpisode:
    """An episode of which a robot's cameras see every object, 2 mm off; a move takes 2 s."""
    rng = np.random.default_rng(seed)
    at: Places = {
        name: np.array([0.4 + 0.1 * rng.random(), 0.15 * n + 0.03 * rng.random(), SIDE / 2])
        for n, name in enumerate(NAMES)
    }
    places = [at] * 2
    for move in moves:
        places += [at, {**at, **{name: np.asarray(place) for name, place in move(at).items()}}]
        at = places[-1]
        places += [at] * 2
    places += [at] * 2
    centres = np.array([[frame[name] for name in NAMES] for frame in places])
    boxes = np.concatenate([centres + rng.normal(0, 0.002, centres.shape), np.full_like(centres, SIDE)], axis=2)
    there = np.ones(boxes.shape[:2], np.bool_)
    times = np.arange(len(places), dtype=np.float32) / np.float32(FPS)
    none = np.zeros((len(NAMES), 0), np.float32)
    return WatchedEpisode(seed, "sort", NAMES, none, times, boxes.astype(np.float32), there, ~there)


@pytest.fixture(scope="module")
def task() -> SubtaskOrder:
    return learn([episode(seed, TASK) for seed in range(20)], 0.05)


def test_subtasks_are_learned_with_order_place_and_time(task: SubtaskOrder) -> None:
    assert [str(each.action) for each in task.subtasks] == ["top(red, blue)", "left(green, yellow)"]
    assert task.subtasks[1].before == {0}
    assert all(0 < low <= high < 4 for low, high in (each.duration_s for each in task.subtasks))
    assert (task.successes, task.alpha) == ((20, 0), 0.05)


def test_an_order_that_varies_is_none() -> None:
    found = learn([episode(seed, TASK[:: 1 if seed % 2 else -1]) for seed in range(20)], 0.05)
    assert [each.before for each in found.subtasks] == [set(), set()]
    assert judge(found, episode(30, (GREEN, RED))).succeeded


def test_successes_succeed(task: SubtaskOrder) -> None:
    found = [judge(task, episode(seed, TASK)) for seed in range(100, 140)]
    assert sum(not each.succeeded for each in found) <= 4
    assert all([number for number, _ in each.done] == [0, 1] for each in found if each.succeeded)


FAILURES = [
    pytest.param((shifted("red", 0.07, 0.07, 0), GREEN), 0, "red", {Cause.DROPPED, Cause.MISPLACED}, id="elsewhere"),
    pytest.param((lambda at: {}, GREEN), 0, "red", {Cause.NOT_LIFTED}, id="missed-and-went-on"),
    pytest.param((RED, lambda at: {}), 1, "green", {Cause.NOT_LIFTED}, id="missed-in-the-end"),
    pytest.param((put("yellow", "blue"), GREEN), 0, "yellow", set(Cause), id="wrong-object"),
    pytest.param((RED, both(GREEN, shifted("blue", 0.08, 0, 0))), 1, "blue", set(Cause), id="pushed-meanwhile"),
    pytest.param((RED, beside("green", "blue")), 1, "green", set(Cause), id="wrong-place"),
]  # fmt: skip


@pytest.mark.parametrize(("moves", "subtask", "name", "causes"), FAILURES)
def test_a_failure_has_subtask_object_and_cause(
    task: SubtaskOrder, moves: Sequence[Move], subtask: int, name: str, causes: set[Cause]
) -> None:
    found = judge(task, episode(50, moves))
    assert (found.succeeded, found.subtask, found.object) == (False, subtask, name)
    assert found.cause in causes
    label = label_of(task, episode(50, moves))
    assert name in label.why
    assert label.subtask is not None


def stopped(given: WatchedEpisode) -> WatchedEpisode:
    """The episode up to its last change, as recorders end it that stop at success."""
    return WatchedEpisode(
        **{**vars(given), **{k: getattr(given, k)[:-4] for k in ("times_s", "boxes", "seen", "missing")}}
    )


@pytest.mark.parametrize(("moves", "subtask", "name", "causes"), FAILURES)
def test_a_subtask_that_ends_with_the_episode_is_learned_and_judged(
    moves: Sequence[Move], subtask: int, name: str, causes: set[Cause]
) -> None:
    task = learn([stopped(episode(seed, TASK)) for seed in range(20)], 0.05)
    assert [str(each.action) for each in task.subtasks] == ["top(red, blue)", "left(green, yellow)"]
    assert sum(not judge(task, stopped(episode(seed, TASK))).succeeded for seed in range(100, 140)) <= 4
    found = judge(task, stopped(episode(50, moves)))
    assert (found.succeeded, found.subtask, found.object) == (False, subtask, name)
    assert found.cause in causes


def test_what_happens_before_the_next_subtask_begins_belongs_to_the_last(task: SubtaskOrder) -> None:
    given, yellow = episode(60, (RED, GREEN)), NAMES.index("yellow")
    done = dict(judge(task, given).done)[0]

    def pushed(since: int) -> LabelledEpisode:
        moved = given.boxes.copy()
        moved[since:, yellow, 0] += 0.1
        return judge(task, WatchedEpisode(**{**vars(given), "boxes": moved}))

    assert (pushed(done + 1).subtask, pushed(done + 3).subtask) == (0, 1)
    assert pushed(done + 1).object == pushed(done + 3).object == "yellow"


def test_what_is_put_right_again_succeeds(task: SubtaskOrder) -> None:
    assert judge(task, episode(70, (shifted("red", 0.08, 0.05, 0), RED, GREEN))).succeeded
    assert judge(task, episode(71, (both(RED, shifted("green", 0.08, 0.05, 0)), GREEN))).succeeded


def test_what_is_gone_is_missing(task: SubtaskOrder) -> None:
    given = episode(80, TASK)
    seen, last = given.seen.copy(), len(given.seen)
    seen[last - 3 :, NAMES.index("yellow")] = False
    found = judge(task, WatchedEpisode(**{**vars(given), "seen": seen, "missing": ~seen}))
    assert (found.succeeded, found.object, found.cause) == (False, "yellow", Cause.MISSING)


def test_an_object_that_is_never_seen_is_named(task: SubtaskOrder) -> None:
    given, rows = episode(90, TASK), [0, 1, 3]
    without = {name: getattr(given, name)[:, rows] for name in ("boxes", "seen", "missing")}
    label = label_of(task, WatchedEpisode(**{**vars(given), **without, "names": ("blue", "green", "yellow")}))
    assert (label.succeeded, label.object, label.cause) == (False, "red", Cause.MISSING)


def test_what_cannot_be_learned_is_refused() -> None:
    with pytest.raises(InvalidRecording, match="at least 5"):
        learn([episode(seed, TASK) for seed in range(4)], 0.05)
    different = [partial(episode, moves=(put(name, "blue"),)) for name in ("red", "green", "yellow") * 3]
    with pytest.raises(InvalidRecording, match="alike"):
        learn([make(seed) for seed, make in enumerate(different)], 0.05)
