"""The agent over worlds that return boxes or scene graphs instead of images."""

from collections.abc import Callable, Mapping

from nsrecover import Action, Plan, RecoveryAgent, SceneGraph, geometric, scene_of_boxes
from nsrecover.core import EpisodeStatus, RecoveryStatus

PLAN = Plan.parse("top(green, red); top(blue, green)")
SIDE_M = 0.05
Given = SceneGraph | Mapping[str, tuple[float, ...]]


def as_boxes(scene: SceneGraph) -> Given:
    return {name: tuple(map(float, box)) for name, box in zip(scene.names, scene.boxes, strict=True)}


def as_graph(scene: SceneGraph) -> Given:
    return scene


class Blocks:
    """Two blocks and a brick that go where actions lead; `after[n]` changes the scene after the n-th action."""

    def __init__(
        self, given: Callable[[SceneGraph], Given], after: Mapping[int, Callable[[SceneGraph], SceneGraph]]
    ) -> None:
        rows = {"red": 0.15, "green": 0.0, "blue": -0.15}
        boxes = {name: (0.45, y, SIDE_M / 2, *3 * [SIDE_M]) for name, y in rows.items()}
        self.scene = scene_of_boxes(boxes | {"blue": (0.45, -0.15, 0.01, 0.06, 0.04, 0.02)})
        self.given, self.after = given, after
        self.executed: list[str] = []

    def observe(self) -> Given:
        return self.given(self.scene)

    def execute(self, action: Action) -> None:
        self.executed.append(str(action))
        self.scene = geometric().imagination.step(self.scene, action)
        self.scene = self.after.get(len(self.executed), as_graph)(self.scene)


def fall(scene: SceneGraph) -> SceneGraph:
    return scene.with_node(scene.index("green"), (0.6, -0.05, SIDE_M / 2, *3 * [SIDE_M]))


def tip(scene: SceneGraph) -> SceneGraph:
    """The blue brick tips over in its place on the green block."""
    x, y, z, length, width, height = scene.boxes[scene.index("blue")]
    return scene.with_node(scene.index("blue"), (x, y, z - height / 2 + width / 2, length, height, width))


def slip(scene: SceneGraph) -> SceneGraph:
    """The blue brick comes to rest beside its place on the green block."""
    x, y = scene.boxes[scene.index("green"), :2]
    return scene.with_node(scene.index("blue"), (x + 0.025, y, *scene.boxes[scene.index("blue"), 2:]))


def test_a_brick_that_every_repetition_leaves_on_its_side_is_not_as_the_plan_has_it() -> None:
    world = Blocks(as_graph, dict.fromkeys(range(2, 20), tip))
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "blue" in episode.reason
    world = Blocks(as_graph, dict.fromkeys(range(2, 4), tip))
    assert RecoveryAgent(geometric(), world).run(PLAN).status is EpisodeStatus.COMPLETED


def test_it_accepts_a_brick_that_every_repetition_leaves_beside_its_place() -> None:
    world = Blocks(as_graph, {2: slip, 3: slip})
    episode = RecoveryAgent(geometric(), world).run(PLAN)
    assert episode.status is EpisodeStatus.COMPLETED
    assert world.executed == ["top(green, red)", *2 * ["top(blue, green)"]]
    assert [record.discrepancy.deviating for record in episode.records[1:]] == 2 * [("blue",)]
    last = episode.records[-1].recovery
    assert last is not None
    assert (last.status, last.subgoal, last.staying) == (RecoveryStatus.ALREADY_AT_SUBGOAL, 1, ("blue",))
