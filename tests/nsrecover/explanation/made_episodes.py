"""Handmade episodes with boxes, discrepancies and recoveries, without learned parts."""

import numpy as np

from nsrecover.core import (
    Action,
    Discrepancy,
    Episode,
    EpisodeStatus,
    Fate,
    Phase,
    Plan,
    Recovery,
    RecoveryStatus,
    SceneGraph,
    StepRecord,
    Trace,
)
from nsrecover.monitoring.box_causes import Situation, cause_of

SIDE = 0.04
TABLE_M = SIDE / 2
NAMES = ("red cube", "blue cube", "green die", "white lego")
START = {"red cube": (0.5, 0.0), "blue cube": (0.5, 0.2), "green die": (0.4, -0.2), "white lego": (0.6, -0.2)}
PLAN = Plan.parse("top(blue cube, red cube); top(green die, blue cube)")

Places = dict[str, tuple[float, float, float]]


def scene(**moved: tuple[float, float, float]) -> SceneGraph:
    """Return the initial scene with moved objects; keyword names have underscores for blanks."""
    places: Places = {name: (*place, TABLE_M) for name, place in START.items()}
    places |= {name.replace("_", " "): place for name, place in moved.items()}
    boxes = np.array([[*places[name], SIDE, SIDE, SIDE] for name in NAMES], np.float32)
    return SceneGraph(NAMES, np.zeros((len(NAMES), 0), np.float32), boxes, np.ones(len(NAMES), np.bool_))


ON_RED, ON_BLUE = (0.5, 0.0, TABLE_M + SIDE), (0.5, 0.0, TABLE_M + 2 * SIDE)
FIRST = scene(blue_cube=ON_RED)
SECOND = scene(blue_cube=ON_RED, green_die=ON_BLUE)


def compared(expected: SceneGraph, observed: SceneGraph, step: int, trace: Trace, phase: Phase) -> Discrepancy:
    """Return the discrepancy of two scenes, with distances instead of the discriminator."""
    away = np.linalg.norm(expected.boxes[:, :3] - observed.boxes[:, :3], axis=1)
    probabilities = np.where(away < 0.02, 0.99, 0.01).astype(np.float32)
    wrong = tuple(int(i) for i in np.flatnonzero(away >= 0.02))
    done = step + (phase is Phase.AFTER)
    action = trace.plan[step]
    moved = observed.index(action.arguments[0]) if phase is Phase.AFTER else None
    later = np.zeros((len(trace.graphs), len(observed)), np.bool_)
    for number in range(done + 1, len(trace.graphs)):
        later[number] = np.linalg.norm(trace.graphs[number].boxes[:, :3] - observed.boxes[:, :3], axis=1) < 0.02
    situation = Situation(trace, done, moved, observed, probabilities, wrong, later)
    deviations = tuple(cause_of(situation, index) for index in wrong)
    return Discrepancy(step, phase, action, expected, observed, deviations, probabilities=probabilities)


def fallen() -> Episode:
    """Return an episode: during the second step the white lego takes the place of the blue cube."""
    trace = Trace(PLAN, (scene(), FIRST, SECOND))
    good = StepRecord(PLAN[0], False, FIRST, compared(FIRST, FIRST, 0, trace, Phase.AFTER), PLAN, time_s=12.0)
    seen = scene(blue_cube=(0.7, 0.2, TABLE_M), white_lego=ON_RED)
    found = compared(SECOND, seen, 1, trace, Phase.AFTER)
    actions = (
        Action("free", ("white lego",), (0.3, 0.3, TABLE_M, SIDE, SIDE, SIDE)),
        Action("restore", ("blue cube",), (*ON_RED, SIDE, SIDE, SIDE)),
        Action("top", ("green die", "blue cube")),
    )
    aside = (0.3, 0.3, TABLE_M)
    back = (
        scene(blue_cube=(0.7, 0.2, TABLE_M), white_lego=aside),
        scene(blue_cube=ON_RED, white_lego=aside),
        scene(blue_cube=ON_RED, green_die=ON_BLUE, white_lego=aside),
    )
    recovery = Recovery(
        RecoveryStatus.RECOVERED, actions, back, subgoal=2, staying=("white lego",), cost=3.0, proven_optimal=True,
        expansions=5, seconds=0.01,
    )  # fmt: skip
    bad = StepRecord(PLAN[1], False, seen, found, PLAN, recovery, time_s=25.0, fate=Fate.ACCEPTED)
    course = Trace(Plan(actions), (seen, *back))
    rest = [
        StepRecord(
            action, True, graph, compared(graph, graph, number, course, Phase.AFTER), course.plan, time_s=38.0 + number
        )
        for number, (action, graph) in enumerate(zip(actions, back, strict=True))
    ]
    return Episode(PLAN, EpisodeStatus.COMPLETED, "", scene(), (good, bad, *rest), 1.0)


def flawless() -> Episode:
    """Return an episode without errors."""
    trace = Trace(PLAN, (scene(), FIRST, SECOND))
    records = tuple(
        StepRecord(PLAN[n], False, graph, compared(graph, graph, n, trace, Phase.AFTER), PLAN, time_s=10.0 * (n + 1))
        for n, graph in enumerate((FIRST, SECOND))
    )
    return Episode(PLAN, EpisodeStatus.COMPLETED, "", scene(), records)
