"""The smallest and the largest scenes, empty plans, names of all languages, and objects of all sizes."""

from pathlib import Path

import numpy as np
import pytest

from nsrecover import Action, Plan, RecoveryAgent, SceneGraph, System, geometric, scene_of_boxes
from nsrecover.core.episode import EpisodeStatus
from nsrecover.errors import InvalidObservation
from nsrecover.records import episode_log, recording, scenes_recording
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.recording import Recording, example
from nsrecover.records.review import review
from nsrecover.records.runs import RecordedRun, read_run
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import TabletopWorld
from tests.nsrecover.test_agent_and_sensors import SIDE_M, Table


class Scene(Table):
    """Cubes in rows; the second one is pushed off once after the first action."""

    def __init__(self, names: list[str], side_m: float = SIDE_M, pushed: bool = True) -> None:
        super().__init__()
        self.pushed, step = pushed, 2.5 * side_m
        self.scene = scene_of_boxes({
            name: (0.5 + step * (number // 10), step * (number % 10) - 4.5 * step, side_m / 2, *3 * [side_m])
            for number, name in enumerate(names)
        })  # fmt: skip
        self.side_m = side_m

    def execute(self, action: Action) -> None:
        super().execute(action)
        if self.pushed and len(self.executed) == 1:
            moved = self.scene.index(action.arguments[0])
            x, y, *_ = self.scene.boxes[moved]
            aside = (float(x) - 2 * self.side_m, float(y), self.side_m / 2, *3 * [self.side_m])
            self.scene = self.scene.with_node(moved, aside)


def test_one_object_alone_is_watched() -> None:
    world = Scene(["only"], pushed=False)
    place = (0.4, 0.1, SIDE_M / 2, *3 * [SIDE_M])
    plan = Plan((Action("free", ("only",), place),))
    episode = RecoveryAgent(geometric(), world).run(plan)
    assert episode.status is EpisodeStatus.COMPLETED
    np.testing.assert_allclose(world.scene.boxes[0], place, atol=1e-3)


def test_fifty_objects_are_watched_and_one_is_put_back() -> None:
    names = [f"object {number}" for number in range(50)]
    world = Scene(names, side_m=0.03)
    episode = RecoveryAgent(geometric(), world, budget_s=5).run(Plan.parse("top(object 0, object 1)"))
    assert episode.status is EpisodeStatus.COMPLETED
    assert world.executed == 2 * ["top(object 0, object 1)"]
    assert episode.records[0].discrepancy.deviating == ("object 0",)


@pytest.mark.parametrize("side_m", [0.001, 0.01, 1.0])
def test_objects_may_be_a_millimetre_or_a_metre(side_m: float) -> None:
    """With a tolerance, a table and a reach that fit them."""
    system = geometric(tolerance_m=side_m / 2.5, workspace=(-20, -20, 20, 20), reach_m=(0, 30))
    world = Scene(["a", "b", "c"], side_m=side_m)
    episode = RecoveryAgent(system, world).run(Plan.parse("top(a, b)"))
    assert episode.status is EpisodeStatus.COMPLETED, episode.reason
    assert [record.discrepancy.deviating for record in episode.records] == [("a",), ()]
    a, b = (world.scene.boxes[world.scene.index(name)] for name in ("a", "b"))
    assert a[2] - b[2] == pytest.approx(side_m, abs=side_m / 20)


@pytest.mark.parametrize("plan", [Plan(()), Plan.parse("top(a, b)")], ids=["empty", "one action"])
def test_a_plan_may_be_empty_everywhere(plan: Plan, tmp_path: Path) -> None:
    episode = RecoveryAgent(geometric(), Scene(["a", "b"], pushed=False)).run(plan)
    assert (episode.status, len(episode.records)) == (EpisodeStatus.COMPLETED, len(plan))
    episode_log.save(episode, tmp_path / "episode.json")
    assert len(episode_log.load(tmp_path / "episode.json").records) == len(plan)
    boxes = {"a": (0.5, 0.0, 0.02, 0.04, 0.04, 0.04), "b": (0.5, 0.2, 0.02, 0.04, 0.04, 0.04)}
    scenes_recording.save(scenes_recording.ScenesRecording(plan, (len(plan) + 1) * (boxes,)), tmp_path / "run.json")
    run: RecordedRun = read_run(tmp_path / "run.json")
    reviewed = review(geometric(), run)
    assert len(reviewed.records) == len(plan)
    assert reviewed.start.names == ("a", "b")
    seen = Recording(plan, example().observations[: len(plan) + 1])
    recording.save(seen, tmp_path / "run.npz")
    assert recording.load(tmp_path / "run.npz").plan == plan
    write_archive(tmp_path / "runs.h5", [seen])
    with Archive(tmp_path / "runs.h5") as archive:
        assert archive.plan(0) == archive[0].plan == plan


@pytest.mark.parametrize("name", ["Würfel ß", "立方体", "кубик", "مكعب", "a" * 80, "null", "top"])
def test_names_of_all_languages_survive(name: str, tmp_path: Path) -> None:
    world = Scene([name, "b"])
    episode = RecoveryAgent(geometric(), world).run(Plan.parse(f"top({name}, b)"))
    assert episode.status is EpisodeStatus.COMPLETED
    episode_log.save(episode, tmp_path / "episode.json")
    back = episode_log.load(tmp_path / "episode.json")
    assert back.records[0].discrepancy.deviating == (name,)
    assert name in back.records[0].explanation.text


@pytest.mark.parametrize(("name", "why"), [("e\u0301", "expected object names"), ("é", "different object names")])
def test_names_that_are_equal_or_only_look_so_are_refused(name: str, why: str) -> None:
    boxes = Scene(["é", "b"]).scene.boxes[:2]
    with pytest.raises(InvalidObservation, match=why):
        SceneGraph(("é", name), np.zeros((2, 0), np.float32), boxes, np.ones(2, np.bool_))


TWINS = {
    "nothing": (None, None),
    "left": ("left twin", (0.45, 0.12)),
    "right": ("right twin", (0.45, -0.17)),
    "third": ("third twin", (0.4, 0.1)),
}


@pytest.mark.parametrize(("moved", "to"), TWINS.values(), ids=TWINS)
def test_of_objects_that_look_the_same_and_touch_the_right_one_is_named(
    system: System, moved: str | None, to: tuple[float, float] | None
) -> None:
    """In camera images: what touches an object or covers it hides its edges, so that it seems to change its size."""
    side = 0.045
    places = {"left twin": (0.45, -0.1), "right twin": (0.45, 0.1), "third twin": (0.6, 0.15), "blue cube": (0.6, -0.2)}
    objects = tuple(
        ObjectSpec(name, ObjectKind.CUBE, "blue" if name == "blue cube" else "red", (side,) * 3, place)
        for name, place in places.items()
    )
    with TabletopWorld(SceneSpec(objects), fidelity=Fidelity.KINEMATIC) as world:
        world.put("right twin", (0.45, -0.1 + side + 0.0005, side / 2), (0, 0, 0, 1))
        world.settle()
        action = Action("top", ("blue cube", "third twin" if moved != "third twin" else "left twin"))
        monitor = system.monitor(Plan((action,)), world.observe())
        world.execute(action)
        if moved is not None and to is not None:
            world.external_agent.carry(moved, (*to, side / 2))
            world.settle()
        found = monitor.step(action, world.observe())
    assert found.deviating == ((moved,) if moved else ())
