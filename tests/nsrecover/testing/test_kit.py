"""The conformance kit accepts our own world, and names the broken rule of each of many broken worlds."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from nsrecover.core.actions import Action
from nsrecover.core.observation import Camera, Observation
from nsrecover.errors import InvalidAction, InvalidConfiguration, UnknownObject
from nsrecover.testing import Limits, Report, Rule, Status, WorldNotConforming, check_world, load_factory
from sim.common.cameras import FRONT, CameraRig
from sim.tabletop.sampling import sample_scene
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import SavedWorld, TabletopWorld
from tests.commands import run

ROOT = Path(__file__).parents[3]
SCENE = SceneSpec(
    (
        ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.040, 0.040, 0.040), (0.45, -0.05), 0.1),
        ObjectSpec("blue cube", ObjectKind.CUBE, "blue", (0.040, 0.040, 0.040), (0.55, 0.15), 0.0),
        ObjectSpec("green die", ObjectKind.DIE, "green", (0.038, 0.038, 0.038), (0.62, -0.15), 0.0),
    )
)
TURN_AROUND = np.diag([1.0, -1.0, -1.0, 1.0]).astype(np.float32)


class Table(TabletopWorld):
    """Our own world with one fixed scene, to be broken in one point each below."""

    def __init__(self) -> None:
        super().__init__(SCENE)
        self.looked = self.done = 0

    def observe(self) -> Observation:
        self.looked += 1
        return self.seen(super().observe())

    def seen(self, observation: Observation) -> Observation:
        return observation

    def execute(self, action: Action) -> None:
        super().execute(action)
        self.done += 1


def posed(observation: Observation, pose: Callable[[np.ndarray], np.ndarray], views: tuple[int, ...] = (0, 1)):
    """The same images with other camera poses."""
    cameras = tuple(
        replace(camera, world_from_camera=np.asarray(pose(camera.world_from_camera), np.float32))
        if view in views
        else camera
        for view, camera in enumerate(observation.cameras)
    )
    return replace(observation, cameras=cameras)


def shifted(x: float = 0.0, y: float = 0.0, z: float = 0.0) -> np.ndarray:
    moved = np.eye(4)
    moved[:3, 3] = x, y, z
    return moved


def along_rays(observation: Observation) -> np.ndarray:
    rows, columns = np.indices(observation.depth_m.shape[1:])
    k = observation.cameras[0].intrinsics
    length = np.sqrt(1 + ((columns + 0.5 - k[0, 2]) / k[0, 0]) ** 2 + ((rows + 0.5 - k[1, 2]) / k[1, 1]) ** 2)
    return (observation.depth_m * length).astype(np.float32)


def with_k(observation: Observation, **entries: float) -> Observation:
    cameras = []
    for camera in observation.cameras:
        k = camera.intrinsics.copy()
        for place, factor in entries.items():
            k[int(place[1]), int(place[2])] *= factor
        cameras.append(replace(camera, intrinsics=k))
    return replace(observation, cameras=tuple(cameras))


def swapped_in_second_view(observation: Observation) -> Observation:
    instances = observation.instances.copy()
    second = observation.instances[1]
    instances[1] = np.where(second == 1, 2, np.where(second == 2, 1, second))
    return replace(observation, instances=instances)


def spilling(observation: Observation) -> Observation:
    """The mask of the first object takes in what is left of the table."""
    instances = observation.instances.copy()
    free = (instances == 0) & (observation.depth_m > 0.8) & (observation.depth_m < 1.6)
    instances[free] = 1
    return replace(observation, instances=instances)


def holed(observation: Observation) -> Observation:
    """Some pixels of the objects have the depth of the far plane."""
    depth = observation.depth_m.copy()
    rows = np.nonzero(observation.instances)
    depth[tuple(part[::7] for part in rows)] = 65.535
    return replace(observation, depth_m=depth)


CHANGED: list[tuple[Rule, Callable[[Observation], object]]] = [
    (Rule.OBSERVATION_VALID, lambda seen: {"rgb": seen.rgb}),
    (Rule.OBSERVATION_VALID, lambda seen: replace(seen, depth_m=(1000 * seen.depth_m).astype(np.uint16))),
    (Rule.OBSERVATION_VALID, lambda seen: replace(seen, time_s=float("nan"))),
    (Rule.OBJECTS_IN_SIGHT, lambda seen: replace(seen, labels={}, instances=np.zeros_like(seen.instances))),
    (Rule.OBJECTS_IN_SIGHT, lambda seen: replace(seen, depth_m=np.zeros_like(seen.depth_m))),
    (Rule.NAMES_USABLE, lambda seen: replace(seen, labels={n: f"block ({n})" for n in seen.labels})),
    (Rule.LABELS_COMPLETE, lambda seen: replace(seen, labels={n: seen.labels[n] for n in (1, 2)})),
    (Rule.LABELS_SEEN, lambda seen: replace(seen, labels={**seen.labels, 9: "phantom"})),
    (Rule.PICTURES_NOT_BLANK, lambda seen: replace(seen, rgb=np.zeros_like(seen.rgb))),
    (Rule.GRIPPER_FIELDS, lambda seen: replace(seen, gripper_opening_m=80.0)),
    (Rule.GRIPPER_FIELDS, lambda seen: replace(seen, holding="no")),
    (Rule.NO_READING_IS_ZERO, holed),
    (Rule.NO_READING_IS_ZERO, lambda seen: replace(seen, depth_m=np.where(seen.instances > 0, seen.depth_m, -1.0))),
    (Rule.DEPTH_IN_METRES, lambda seen: replace(seen, depth_m=1000 * seen.depth_m)),
    (Rule.DEPTH_ALONG_AXIS, lambda seen: replace(seen, depth_m=along_rays(seen))),
    (Rule.INTRINSICS_PLAUSIBLE, lambda seen: with_k(seen, k02=2.0, k12=2.0, k00=2.0, k11=2.0)),
    (Rule.INTRINSICS_PLAUSIBLE, lambda seen: with_k(seen, k00=0.0)),
    (Rule.POSE_RIGID, lambda seen: posed(seen, lambda pose: pose @ np.diag([1.1, 1.1, 1.1, 1.0]))),
    (Rule.POSE_RIGID, lambda seen: posed(seen, lambda pose: pose @ np.diag([-1.0, 1.0, 1.0, 1.0]))),
    (Rule.CAMERA_CONVENTION, lambda seen: posed(seen, lambda pose: pose @ TURN_AROUND)),
    (Rule.CAMERA_CONVENTION, lambda seen: posed(seen, np.linalg.inv)),
    (Rule.TABLE_AT_ZERO, lambda seen: posed(seen, lambda pose: shifted(z=0.75) @ pose)),
    (Rule.TABLE_AT_ZERO, lambda seen: posed(seen, lambda pose: np.eye(4)[[1, 2, 0, 3]] @ pose)),
    (Rule.INSTANCES_AGREE, swapped_in_second_view),
    (Rule.CAMERAS_AGREE, lambda seen: posed(seen, lambda pose: shifted(x=0.03) @ pose, (1,))),
    (Rule.SIZES_PLAUSIBLE, spilling),
]


class Late(Table):
    def seen(self, observation: Observation) -> Observation:
        return replace(observation, time_s=10.0 - observation.time_s)


class Frozen(Table):
    def seen(self, observation: Observation) -> Observation:
        return replace(observation, time_s=1.0)


class SwapsCameras(Table):
    def seen(self, observation: Observation) -> Observation:
        return replace(observation, cameras=observation.cameras[:: -1 if self.looked == 2 else 1])


class Resizes(Table):
    def seen(self, observation: Observation) -> Observation:
        if self.looked < 2:
            return observation
        return replace(
            observation, rgb=observation.rgb[:, ::2], depth_m=observation.depth_m[:, ::2],
            instances=observation.instances[:, ::2],
        )  # fmt: skip


class OneBuffer(Table):
    def seen(self, observation: Observation) -> Observation:
        if self.looked == 1:
            self.buffer = observation.rgb
        np.copyto(self.buffer, np.roll(observation.rgb, self.looked, axis=2))
        return replace(observation, rgb=self.buffer)


class Nudges(Table):
    def seen(self, observation: Observation) -> Observation:
        x, y, z = self.pose("red cube")[0]
        self.external_agent.carry("red cube", (x + 0.02, y, z))
        return observation


class Flickers(Table):
    def seen(self, observation: Observation) -> Observation:
        if self.looked % 2:
            return observation
        return replace(
            observation, labels={n: name for n, name in observation.labels.items() if n != 3},
            instances=np.where(observation.instances == 3, 0, observation.instances),
        )  # fmt: skip


class RenamesWhileLooking(Table):
    def seen(self, observation: Observation) -> Observation:
        if self.looked == 2:
            return replace(observation, labels={1: "blue cube", 2: "red cube", 3: "green die"})
        return observation


class RenamesAfterActing(Table):
    def seen(self, observation: Observation) -> Observation:
        if self.done:
            names = list(observation.labels.values())
            return replace(observation, labels=dict(zip(observation.labels, names[1:] + names[:1], strict=True)))
        return observation


class AnyOperator(Table):
    def execute(self, action: Action) -> None:
        if action.operator in ("top", "free"):
            super().execute(action)


class KeyErrors(Table):
    def execute(self, action: Action) -> None:
        try:
            super().execute(action)
        except UnknownObject as error:
            raise KeyError(str(error)) from None


class AnyArguments(Table):
    def execute(self, action: Action) -> None:
        if not (action.operator == "top" and len(action.arguments) != 2):
            super().execute(action)


class ActsBeforeRefusing(Table):
    def execute(self, action: Action) -> None:
        if action.arguments == ("nowhere",):
            self.external_agent.carry("red cube", (0.40, 0.27, 0.02))
        super().execute(action)


class Raises(Table):
    def execute(self, action: Action) -> None:
        super().execute(action)
        if action.target is not None and action.target[0] > 1.0:
            raise RuntimeError("no motion plan found")


class ClaimsSuccess(Table):
    def execute(self, action: Action) -> bool:
        super().execute(action)
        return True


class ArmInView(Table):
    """After an action the hand comes to rest in front of the blue cube."""

    def execute(self, action: Action) -> None:
        super().execute(action)
        self.stay_over("green die")

    def stay_over(self, name: str) -> None:
        from sim.common import kinematics
        from sim.common.arm import DOWN

        x, y, _ = self.pose(name)[0]
        joints, reached = kinematics.solve(np.array([[x, y, 0.12]]), DOWN[None], self.arm.home)
        assert reached[0]
        self.arm.joints = joints[0]
        self.arm.hold_still()
        for _ in range(400):
            self.advance()


class DoesNothing(Table):
    def execute(self, action: Action) -> None:
        before = self.save()
        super().execute(action)
        time_s = self.time_s
        self.restore(before)
        self.time_s = time_s


class MissesItsPlace(Table):
    def execute(self, action: Action) -> None:
        super().execute(action)
        self.external_agent.carry(action.arguments[0], (0.40, 0.27, 0.02))


class Clumsy(Table):
    def execute(self, action: Action) -> None:
        super().execute(action)
        x, y, z = self.pose("green die")[0]
        self.external_agent.carry("green die", (x - 0.05, y, z))


class Different(Table):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Different.made += 1
        self.external_agent.carry("red cube", (0.45 + 0.03 * (Different.made % 2), -0.05, 0.02))


class Leaks(Table):
    acted = False

    def __init__(self) -> None:
        super().__init__()
        if Leaks.acted:
            self.external_agent.carry("red cube", (0.40, 0.2, 0.02))

    def execute(self, action: Action) -> None:
        super().execute(action)
        Leaks.acted = True


class RestoresTimeOnly(Table):
    def restore(self, saved: SavedWorld) -> None:
        self.time_s = saved.time_s


class ClosesOnce(Table):
    def close(self) -> None:
        if self.client < 0:
            raise RuntimeError("not connected")
        super().close()


class NoObserve:
    def execute(self, action: Action) -> None: ...


class OddExecute(Table):
    def execute(self, operator: str, arguments: tuple[str, ...]) -> None: ...  # type: ignore[override]


class Blind(Table):
    def observe(self) -> Observation:
        raise TimeoutError("no image for 5 s")


BROKEN: list[tuple[Rule, type]] = [
    (Rule.HAS_METHODS, NoObserve),
    (Rule.HAS_METHODS, OddExecute),
    (Rule.OBSERVATION_VALID, Blind),
    (Rule.SAME_VIEWS, SwapsCameras),
    (Rule.SAME_VIEWS, Resizes),
    (Rule.OBSERVATIONS_KEPT, OneBuffer),
    (Rule.TIME_FORWARD, Late),
    (Rule.TIME_FORWARD, Frozen),
    (Rule.LOOKING_CHANGES_NOTHING, Nudges),
    (Rule.LOOKING_CHANGES_NOTHING, Flickers),
    (Rule.LABELS_STAY, RenamesWhileLooking),
    (Rule.LABELS_STAY, RenamesAfterActing),
    (Rule.UNKNOWN_OPERATOR_REFUSED, AnyOperator),
    (Rule.WRONG_ARGUMENTS_REFUSED, AnyArguments),
    (Rule.UNKNOWN_OBJECT_REFUSED, KeyErrors),
    (Rule.UNKNOWN_OBJECT_REFUSED, ActsBeforeRefusing),
    (Rule.FAILURE_NOT_RAISED, Raises),
    (Rule.RETURNS_NOTHING, ClaimsSuccess),
    (Rule.ARM_OUT_OF_THE_WAY, ArmInView),
    (Rule.PROMISE_KEPT, DoesNothing),
    (Rule.PROMISE_KEPT, MissesItsPlace),
    (Rule.OTHERS_STAY, Clumsy),
    (Rule.REPRODUCIBLE, Different),
    (Rule.WORLDS_INDEPENDENT, Leaks),
    (Rule.RESTORE_GOES_BACK, RestoresTimeOnly),
    (Rule.CLOSE_TWICE, ClosesOnce),
]


@pytest.fixture(scope="module")
def report() -> Report:
    return check_world(Table)


@pytest.fixture(scope="module")
def photograph() -> Observation:
    with TabletopWorld(SCENE) as world:
        return world.observe()


def test_our_world_keeps_every_rule(report: Report) -> None:
    assert report.passed == tuple(Rule)
    assert report.skipped == ()
    assert all(check.times > 0 for check in report.checks)
    assert report.actions[0].startswith("top(")


@pytest.mark.parametrize(("count", "rig"), [(10, CameraRig()), (5, CameraRig((FRONT,))), (1, CameraRig())])
def test_our_world_keeps_them_with_other_scenes_and_cameras(count: int, rig: CameraRig) -> None:
    scene = sample_scene(np.random.default_rng(count), count)
    report = check_world(lambda: TabletopWorld(scene, rig=rig))
    one_camera = {Rule.INSTANCES_AGREE, Rule.CAMERAS_AGREE} if len(rig.views) == 1 else set()
    assert set(report.skipped) == one_camera
    assert all("two cameras" in report[rule].reason for rule in one_camera)


@pytest.mark.parametrize(("rule", "change"), CHANGED, ids=lambda part: part.value if isinstance(part, Rule) else "")
def test_a_world_with_other_images_breaks_exactly(
    rule: Rule, change: Callable[[Observation], object], photograph: Observation
) -> None:
    class Changed:
        """Shows a real photograph, changed in one point."""

        def observe(self) -> object:
            return change(photograph)

        def execute(self, action: Action) -> None: ...

    with pytest.raises(WorldNotConforming) as broken:
        check_world(Changed)  # type: ignore[arg-type]
    assert broken.value.rule == rule, broken.value
    assert_teaches(broken.value)


@pytest.mark.parametrize(("rule", "world"), BROKEN, ids=[world.__name__ for _, world in BROKEN])
def test_a_world_that_behaves_otherwise_breaks_exactly(rule: Rule, world: type) -> None:
    with pytest.raises(WorldNotConforming) as broken:
        check_world(world)
    assert broken.value.rule == rule, broken.value
    assert_teaches(broken.value)


def assert_teaches(error: WorldNotConforming) -> None:
    assert str(error).startswith(f"{error.rule}: expected ")
    assert ", found " in str(error)
    assert "; " in str(error)
    report = error.report
    assert isinstance(report, Report)
    assert report.checks[-1].status is Status.FAILED
    assert report.checks[-1].rule == error.rule


def test_every_rule_has_a_broken_world() -> None:
    assert {rule for rule, _ in (*CHANGED, *BROKEN)} == set(Rule)


def test_every_rule_is_explained_in_the_documentation() -> None:
    page = (ROOT / "docs" / "worlds.md").read_text(encoding="utf-8")
    for rule in Rule:
        assert f"| `{rule}` | {rule.meaning} |" in page


def test_what_comes_out_from_behind_another_object_has_not_moved() -> None:
    """Seen from the front alone, the lego is half hidden until the die in front of it is taken away."""
    scene = sample_scene(np.random.default_rng(1), 5)
    check_world(lambda: TabletopWorld(scene, rig=CameraRig((FRONT,))), skip=[Rule.CLOSE_TWICE])


def test_a_factory_that_gives_one_world_again_is_told_so() -> None:
    with TabletopWorld(SCENE) as world, pytest.raises(WorldNotConforming, match=r"worlds-independent.*the same one"):
        check_world(lambda: world)


def test_a_single_world_is_checked_and_left_open() -> None:
    with TabletopWorld(SCENE) as world:
        report = check_world(world, action=Action("top", ("green die", "red cube")), provoke_failure=False)
        assert set(report.skipped) == {
            Rule.REPRODUCIBLE, Rule.WORLDS_INDEPENDENT, Rule.CLOSE_TWICE, Rule.FAILURE_NOT_RAISED,
        }  # fmt: skip
        assert report.actions == ("top(green die, red cube)",)
        assert world.client >= 0


def test_rules_can_be_left_out_and_limits_widened(photograph: Observation) -> None:
    class Moving(Table):
        def seen(self, observation: Observation) -> Observation:
            return posed(observation, lambda pose: shifted(y=0.008 * (self.looked % 2)) @ pose)

    with pytest.raises(WorldNotConforming, match="looking-changes-nothing"):
        check_world(Moving, limits=Limits(noise_m=0.004))
    report = check_world(ClosesOnce, skip=[Rule.CLOSE_TWICE])
    assert report[Rule.CLOSE_TWICE].reason == "left out on request"


@pytest.mark.parametrize(
    ("action", "error"),
    [
        (Action("top", ("red cube", "blue cub")), UnknownObject),
        (Action("topp", ("red cube", "blue cube")), InvalidAction),
        (Action("free", ("red cube",), (0.55, 0.15, 0.02, 0.04, 0.04, 0.04)), InvalidAction),
    ],
)
def test_an_action_that_cannot_be_done_is_the_users_mistake(action: Action, error: type[Exception]) -> None:
    with TabletopWorld(SCENE) as world, pytest.raises(error):
        check_world(world, action=action)


def test_nothing_learned_and_no_simulator_is_loaded() -> None:
    code = "import sys, nsrecover.testing; print(sorted({'torch', 'pybullet', 'sim'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "[]", done.stderr


def test_a_camera_that_turns_is_another_view(photograph: Observation) -> None:
    class Turns:
        times = 0

        def observe(self) -> Observation:
            self.times += 1
            first, second = photograph.cameras
            pose = shifted(x=0.05 * self.times) @ second.world_from_camera
            return replace(photograph, cameras=(first, Camera(second.intrinsics, pose, second.name)))

        def execute(self, action: Action) -> None: ...

    with pytest.raises(WorldNotConforming, match="same-views"):
        check_world(Turns(), skip=[Rule.CAMERAS_AGREE, Rule.INSTANCES_AGREE])


command = partial(run, "nsrecover.cli", "check-world")


def test_the_command_prints_every_rule() -> None:
    done = command(f"{__name__}:Table")
    assert done.code == 0, done.err
    assert all(rule in done.out for rule in Rule)


def test_the_command_fails_with_1_and_names_the_rule() -> None:
    done = command(f"{__file__}:ClaimsSuccess")
    assert done.code == 1
    assert "returns-nothing: expected None from execute, found True" in " ".join(done.err.split())
    assert "has-methods" in done.out


@pytest.mark.parametrize(
    ("place", "told"),
    [
        ("nowhere", "expected package.module:factory"),
        ("no.such.module:make", "no.such.module"),
        ("no_such_file.py:make", "no_such_file.py"),
        (f"{__name__}:make_wrold", "make_wrold"),
    ],
)
def test_a_users_mistake_is_one_line_and_exit_code_2(place: str, told: str) -> None:
    with pytest.raises(InvalidConfiguration):
        load_factory(place)
    done = command(place)
    assert done.code == 2
    assert told in done.err
    assert len(done.err.strip().splitlines()) == 1
