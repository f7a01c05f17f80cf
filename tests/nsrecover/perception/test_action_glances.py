"""What frames of an action show, seen from straight above: boxes that are taken, carried, lost and put down."""

import numpy as np
import pytest

from nsrecover.core.glances import PHASES, Glance, RobotState
from nsrecover.core.scene import SceneGraph
from nsrecover.perception.objects.glances import ActionGlances
from tests.nsrecover.seen_from_above import SIDE, seen

START, HALFWAY, GOAL, OTHER = (0.0, 0.0), (0.1, 0.05), (0.2, 0.0), (-0.2, 0.1)


def scene(moved: tuple[float, float], **pieces: tuple[float, float]) -> SceneGraph:
    places = {"cube": moved, "other": OTHER, **pieces}
    boxes = np.array([[x, y, SIDE / 2, SIDE, SIDE, SIDE] for x, y in places.values()], np.float32)
    return SceneGraph(tuple(places), np.zeros((len(boxes), 1), np.float32), boxes, np.ones(len(boxes), bool))


def looked(way: list[tuple[tuple[float, float, float], bool, float]], lost_at: int = 99) -> list[Glance]:
    """Frames of a cube that follows the tool while it is held; from frame `lost_at` on it lies where it was then."""
    looking, frames, cube = ActionGlances(scene(START), scene(GOAL), "cube", 0.0), list[Glance](), (0.0, 0.0, 0.0)
    for number, (tool, gripping, opening) in enumerate(way):
        if gripping:
            cube = tool if number < lost_at else (cube[0], cube[1], 0.0)
        robot = RobotState(opening, (tool[0], tool[1], tool[2] + SIDE / 2), gripping)
        frames.append(looking.look(seen((cube[0], cube[1], cube[2] + SIDE), (*OTHER, SIDE)), robot))
    return frames


def pick_and_place(
    start: tuple[float, float], goal: tuple[float, float]
) -> list[tuple[tuple[float, float, float], bool, float]]:
    return [
        ((*start, 0.2), False, 0.08), ((*start, 0.0), False, 0.08), ((*start, 0.0), True, SIDE),
        ((*start, 0.0), True, SIDE), ((*start, 0.12), True, SIDE), ((*goal, 0.12), True, SIDE),
        ((*goal, 0.0), True, SIDE), ((*goal, 0.0), False, 0.08), ((*goal, 0.2), False, 0.08),
    ]  # fmt: skip


def test_an_object_is_where_the_hand_has_it_or_let_it_go_halfway_or_at_its_goal() -> None:
    frames = looked(pick_and_place(START, HALFWAY) + pick_and_place(HALFWAY, GOAL))
    assert [frame.phase for frame in frames[:9]] == [PHASES[0]] * 2 + [PHASES[1]] * 5 + [PHASES[2]] * 2
    assert max(frame.beyond_m for frame in frames) < 0.005
    assert max(float(frame.others_m.max()) for frame in frames) < 0.005


def test_pieces_of_the_moved_object_are_not_watched_and_wrong_boxes_grow() -> None:
    before = scene(START, piece=(0.01, 0.0))
    before.boxes[1, :2] += 0.03
    looking = ActionGlances(before, before, "cube", 0.0)
    assert looking.names == ("cube", "other")
    robot = RobotState(0.08, (0.0, 0.0, 0.3), gripping=False)
    assert looking.look(seen((*START, SIDE), (*OTHER, SIDE)), robot).others_m.tolist() == pytest.approx(
        [0.0], abs=0.003
    )
    moved = seen((*START, SIDE), (OTHER[0] - 0.06, OTHER[1], SIDE))
    assert float(looking.look(moved, robot).others_m[0]) > 0.02
