"""Objects that are hidden, wholly or in part, are remembered; objects that moved are not."""

import numpy as np
import pytest

from nsrecover.scene.memory import remember
from nsrecover.structs import SceneGraph

BOX = [0.5, 0.0, 0.02, 0.04, 0.06, 0.04]


def graph(box: list[float], seen: bool = True, look: float = 1.0) -> SceneGraph:
    return SceneGraph(("a",), np.full((1, 4), look, np.float32), np.array([box], np.float32), np.array([seen]))


@pytest.mark.parametrize(
    ("now", "kept"),
    [
        ([0.5, -0.025, 0.02, 0.04, 0.01, 0.04], True),  # only one end is seen, where it was
        ([0.5, 0.0, 0.03, 0.04, 0.06, 0.02], True),  # the lower half is hidden
        ([0.5, -0.045, 0.02, 0.04, 0.01, 0.04], False),  # what is seen lies outside
        ([0.5, 0.03, 0.02, 0.04, 0.06, 0.04], False),  # moved, all of it seen
        ([0.5, 0.0, 0.02, 0.06, 0.04, 0.04], False),  # turned on the spot: it reaches out of its earlier box
        ([0.501, 0.001, 0.021, 0.04, 0.06, 0.04], False),  # seen as well as before: the new measurement counts
    ],
)
def test_a_partly_hidden_object_keeps_its_box_only_if_nothing_speaks_against_it(now: list[float], kept: bool) -> None:
    box = remember(graph(BOX), graph(now)).boxes[0]
    np.testing.assert_allclose(box, BOX if kept else now, atol=1e-6)


def test_an_unseen_object_keeps_box_and_looks_and_stays_unseen() -> None:
    after = remember(graph(BOX, look=0.3), graph([0.0] * 6, seen=False))
    np.testing.assert_allclose(after.boxes[0], BOX)
    np.testing.assert_allclose(after.visual[0], 0.3)
    assert not after.seen[0]
