"""Worlds that each break one rule of the conformance kit."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from nsrecover.core import Action, Observation
from nsrecover.errors import UnknownObject
from nsrecover.testing import Rule
from sim.sound.microphone import Microphone
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from sim.tabletop.world import SavedWorld, TabletopWorld
from tests.observations import posed, shifted

SCENE = SceneSpec(
    (
        ObjectSpec("red cube", ObjectKind.CUBE, "red", (0.040, 0.040, 0.040), (0.45, -0.05), 0.1),
        ObjectSpec("blue cube", ObjectKind.CUBE, "blue", (0.040, 0.040, 0.040), (0.55, 0.15), 0.0),
        ObjectSpec("green die", ObjectKind.DIE, "green", (0.038, 0.038, 0.038), (0.62, -0.15), 0.0),
    )
)


class Table(TabletopWorld):
    """The simulated world with a fixed scene; each subclass breaks one rule."""

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


def with_k(observation: Observation, **entries: float) -> Observation:
    cameras = []
    for camera in observation.cameras:
        k = camera.intrinsics.copy()
        for place, factor in entries.items():
            k[int(place[1]), int(place[2])] *= factor
        cameras.append(replace(camera, intrinsics=k))
    return replace(observation, cameras=tuple(cameras))


def spilling(observation: Observation) -> Observation:
    """Extend the mask of the first object to the table."""
    instances = observation.instances.copy()
    free = (instances == 0) & (observation.depth_m > 0.8) & (observation.depth_m < 1.6)
    instances[free] = 1
    return replace(observation, instances=instances)


def holed(observation: Observation) -> Observation:
    """Set some pixels of the objects to the depth of the far plane."""
    depth = observation.depth_m.copy()
    rows = np.nonzero(observation.instances)
    depth[tuple(part[::7] for part in rows)] = 65.535
    return replace(observation, depth_m=depth)


def knowing(observation: Observation) -> Observation:
    """Carry the simulator's truth along."""
    told = replace(observation)
    object.__setattr__(told, "poses", {"red cube": (0.45, -0.05, 0.02)})
    return told


CHANGED: list[tuple[Rule, Callable[[Observation], object]]] = [
    (Rule.OBSERVATION_VALID, lambda seen: {"rgb": seen.rgb}),
    (Rule.NOTHING_LEAKS, knowing),
    (Rule.OBJECTS_IN_SIGHT, lambda seen: replace(seen, labels={}, instances=np.zeros_like(seen.instances))),
    (Rule.NAMES_USABLE, lambda seen: replace(seen, labels={n: f"block ({n})" for n in seen.labels})),
    (Rule.LABELS_COMPLETE, lambda seen: replace(seen, labels={n: seen.labels[n] for n in (1, 2)})),
    (Rule.LABELS_SEEN, lambda seen: replace(seen, labels={**seen.labels, 9: "phantom"})),
    (Rule.PICTURES_NOT_BLANK, lambda seen: replace(seen, rgb=np.zeros_like(seen.rgb))),
    (Rule.GRIPPER_FIELDS, lambda seen: replace(seen, gripper_opening_m=80.0)),
    (Rule.AUDIO_COVERS_TIME, lambda seen: replace(seen, audio=np.zeros(16_000, np.float32), audio_rate_hz=16_000)),
    (Rule.NO_READING_IS_ZERO, holed),
    (Rule.SENSORS_PLAUSIBLE, lambda seen: replace(seen, depth_m=1000 * seen.depth_m)),
    (Rule.INTRINSICS_PLAUSIBLE, lambda seen: with_k(seen, k02=2.0, k12=2.0, k00=2.0, k11=2.0)),
    (Rule.OBSERVATION_VALID, lambda seen: posed(seen, lambda pose: pose @ np.diag([1.1, 1.1, 1.1, 1.0]))),
    (Rule.TABLE_AT_ZERO, lambda seen: posed(seen, lambda pose: shifted(z=0.028) @ pose)),
    (Rule.SIZES_PLAUSIBLE, spilling),
]


BROKEN: list[tuple[Rule, type]] = []
"""Rule, and a world that breaks it."""


def breaks(rule: Rule) -> Callable[[type], type]:
    """Register a world."""

    def register(world: type) -> type:
        BROKEN.append((rule, world))
        return world

    return register


def without_third(seen: Observation) -> Observation:
    labels = {n: name for n, name in seen.labels.items() if n != 3}
    return replace(seen, labels=labels, instances=np.where(seen.instances == 3, 0, seen.instances))


def turned_names(seen: Observation) -> Observation:
    names = list(seen.labels.values())
    return replace(seen, labels=dict(zip(seen.labels, names[1:] + names[:1], strict=True)))


SEEN: dict[str, tuple[Rule, Callable[[Table, Observation], Observation]]] = {
    "Late": (Rule.TIME_FORWARD, lambda world, seen: replace(seen, time_s=10.0 - seen.time_s)),
    "SwapsCameras": (
        Rule.SAME_VIEWS, lambda world, seen: replace(seen, cameras=seen.cameras[:: -1 if world.looked == 2 else 1])
    ),
    "Flickers": (Rule.LOOKING_CHANGES_NOTHING, lambda world, seen: seen if world.looked % 2 else without_third(seen)),
    "RenamesAfterActing": (Rule.LABELS_STAY, lambda world, seen: turned_names(seen) if world.done else seen),
}  # fmt: skip
"""Name of a world -> the rule that it breaks, and what it shows."""
BROKEN += [(rule, type(name, (Table,), {"seen": change})) for name, (rule, change) in SEEN.items()]


@breaks(Rule.AUDIO_COVERS_TIME)
class LosesSound(Table):
    """Returns what was heard during the last tenth of a second only."""

    def __init__(self) -> None:
        TabletopWorld.__init__(self, SCENE, microphone=Microphone())
        self.looked = self.done = 0

    def seen(self, observation: Observation) -> Observation:
        assert observation.audio is not None
        return replace(observation, audio=observation.audio[-1600:])


@breaks(Rule.POSES_FOLLOW)
class SinksUnnoticed(Table):
    """After an action its second camera is 12 cm lower, and it says that it is not."""

    def observe(self) -> Observation:
        self.looked += 1
        return self.observe_from([None, shifted(y=0.12) if self.done else None])


@breaks(Rule.OBSERVATIONS_KEPT)
class OneBuffer(Table):
    def seen(self, observation: Observation) -> Observation:
        if self.looked == 1:
            self.buffer = observation.rgb
        np.copyto(self.buffer, np.roll(observation.rgb, self.looked, axis=2))
        return replace(observation, rgb=self.buffer)


@breaks(Rule.UNKNOWN_OPERATOR_REFUSED)
class AnyOperator(Table):
    def execute(self, action: Action) -> None:
        if action.operator in ("top", "free"):
            super().execute(action)


@breaks(Rule.UNKNOWN_OBJECT_REFUSED)
class KeyErrors(Table):
    def execute(self, action: Action) -> None:
        try:
            super().execute(action)
        except UnknownObject as error:
            raise KeyError(str(error)) from None


@breaks(Rule.WRONG_ARGUMENTS_REFUSED)
class AnyArguments(Table):
    def execute(self, action: Action) -> None:
        if not (action.operator == "top" and len(action.arguments) != 2):
            super().execute(action)


@breaks(Rule.UNKNOWN_OBJECT_REFUSED)
class ActsBeforeRefusing(Table):
    def execute(self, action: Action) -> None:
        if action.arguments == ("nowhere",):
            self.external_agent.carry("red cube", (0.40, 0.27, 0.02))
        super().execute(action)


@breaks(Rule.FAILURE_NOT_RAISED)
class Raises(Table):
    def execute(self, action: Action) -> None:
        super().execute(action)
        if action.target is not None and action.target[0] > 1.0:
            raise RuntimeError("no motion plan found")


@breaks(Rule.RETURNS_NOTHING)
class ClaimsSuccess(Table):
    def execute(self, action: Action) -> bool:
        super().execute(action)
        return True


@breaks(Rule.ARM_OUT_OF_THE_WAY)
class ArmInView(Table):
    """After an action the gripper rests in front of the blue cube."""

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


@breaks(Rule.PROMISE_KEPT)
class DoesNothing(Table):
    def execute(self, action: Action) -> None:
        before = self.save()
        super().execute(action)
        time_s = self.time_s
        self.restore(before)
        self.time_s = time_s


@breaks(Rule.OTHERS_STAY)
class Clumsy(Table):
    def execute(self, action: Action) -> None:
        super().execute(action)
        x, y, z = self.pose("green die")[0]
        self.external_agent.carry("green die", (x - 0.05, y, z))


@breaks(Rule.REPRODUCIBLE)
class Different(Table):
    made = 0

    def __init__(self) -> None:
        super().__init__()
        Different.made += 1
        self.external_agent.carry("red cube", (0.45 + 0.03 * (Different.made % 2), -0.05, 0.02))


@breaks(Rule.WORLDS_INDEPENDENT)
class Leaks(Table):
    acted = False

    def __init__(self) -> None:
        super().__init__()
        if Leaks.acted:
            self.external_agent.carry("red cube", (0.40, 0.2, 0.02))

    def execute(self, action: Action) -> None:
        super().execute(action)
        Leaks.acted = True


@breaks(Rule.RESTORE_GOES_BACK)
class RestoresTimeOnly(Table):
    def restore(self, saved: SavedWorld) -> None:
        self.time_s = saved.time_s


@breaks(Rule.CLOSE_TWICE)
class ClosesOnce(Table):
    def close(self) -> None:
        if self.client < 0:
            raise RuntimeError("not connected")
        super().close()


@breaks(Rule.HAS_METHODS)
class NoObserve:
    def execute(self, action: Action) -> None: ...


@breaks(Rule.OBSERVATION_VALID)
class Blind(Table):
    def observe(self) -> Observation:
        raise TimeoutError("no image for 5 s")
