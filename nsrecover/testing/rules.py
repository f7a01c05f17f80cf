"""What is asked of a world: the rules by name, how strictly they are taken, and the book that is kept of them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from nsrecover.errors import WorldNotConforming


class Rule(StrEnum):
    """A rule of the conformance kit. Its value is its stable name, its docstring (`meaning`) what it demands."""

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Rule:
        """A member with its name and its docstring."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = member.__doc__ = meaning
        return member

    HAS_METHODS = "has-methods", "There is observe(), called with nothing, and execute(action), called with one action."
    OBSERVATION_VALID = (
        "observation-valid",
        "observe() returns an nsrecover.Observation of the documented shapes and types, and never raises.",
    )
    OBJECTS_IN_SIGHT = "objects-in-sight", "The first observation shows at least one object with depth readings."
    NAMES_USABLE = (
        "names-usable",
        "Objects have names that can be written in a plan: text without brackets, commas, semicolons or outer blanks, "
        "and not 'table'.",
    )
    LABELS_COMPLETE = "labels-complete", "Every instance number in the images, except 0, has a label."
    LABELS_SEEN = "labels-seen", "Every label names an object that is, or once was, in the images."
    PICTURES_NOT_BLANK = "pictures-not-blank", "The colour images show something."
    GRIPPER_FIELDS = (
        "gripper-fields",
        "gripper_opening_m is a finite number of metres, not negative; holding is true or false.",
    )
    NO_READING_IS_ZERO = (
        "no-reading-is-zero",
        "Where the depth camera has no reading, depth is 0: no negative and no far-away stand-ins.",
    )
    DEPTH_IN_METRES = "depth-in-metres", "Depth is in metres."
    DEPTH_ALONG_AXIS = (
        "depth-along-axis",
        "Depth is measured along the optical axis and not along the ray through the pixel: a flat table lifts to a "
        "plane.",
    )
    INTRINSICS_PLAUSIBLE = (
        "intrinsics-plausible",
        "K is [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] in pixels of these images: the middle inside them, the opening "
        "angle that of a lens.",
    )
    POSE_RIGID = "pose-rigid", "world_from_camera is a rotation (orthonormal, determinant +1) and a translation."
    CAMERA_CONVENTION = (
        "camera-convention",
        "world_from_camera leads from the camera to the world, in OpenCV's convention (x right, y down, z forward).",
    )
    TABLE_AT_ZERO = (
        "table-at-zero",
        "z points up and the objects stand on the plane z = 0; none is below it, none high in the air.",
    )
    INSTANCES_AGREE = "instances-agree", "An instance number means the same object in every view."
    CAMERAS_AGREE = "cameras-agree", "The same object, lifted from two views, is at the same place."
    SIZES_PLAUSIBLE = "sizes-plausible", "Objects, lifted from the images, have the size of things a hand can move."
    SAME_VIEWS = "same-views", "Every observation has the same cameras, in the same order, with images of one size."
    OBSERVATIONS_KEPT = (
        "observations-kept",
        "An observation stays as it was when it was taken: nothing writes into its arrays later.",
    )
    TIME_FORWARD = "time-forward", "time_s never goes back, and is later after an action."
    LOOKING_CHANGES_NOTHING = (
        "looking-changes-nothing",
        "Two observations with no action in between show the same objects at the same places.",
    )
    LABELS_STAY = "labels-stay", "A name stays with its object, from one observation to the next and after an action."
    UNKNOWN_OPERATOR_REFUSED = (
        "unknown-operator-refused",
        "execute raises nsrecover.errors.InvalidAction for an operator it does not know, and moves nothing.",
    )
    WRONG_ARGUMENTS_REFUSED = (
        "wrong-arguments-refused",
        "execute raises nsrecover.errors.InvalidAction for a wrong number of arguments, and moves nothing.",
    )
    UNKNOWN_OBJECT_REFUSED = (
        "unknown-object-refused",
        "execute raises nsrecover.errors.UnknownObject for an object that is not there, and moves nothing.",
    )
    FAILURE_NOT_RAISED = (
        "failure-not-raised",
        "execute does not raise when a well-formed action cannot be carried out: success is for the cameras to say.",
    )
    RETURNS_NOTHING = "returns-nothing", "execute returns None; a claim of success would be trusted by nobody."
    ARM_OUT_OF_THE_WAY = (
        "arm-out-of-the-way",
        "In an observation the arm hides nothing: what an action does not concern is as visible after it as before.",
    )
    PROMISE_KEPT = "promise-kept", "After a feasible action its promise (`operator.achieved`) holds in what is seen."
    OTHERS_STAY = "others-stay", "An action moves its object, and no other one."
    REPRODUCIBLE = "reproducible", "Every world that the factory makes starts with the same first observation."
    WORLDS_INDEPENDENT = (
        "worlds-independent",
        "What is done in one world changes neither one that exists nor one that is made later.",
    )
    RESTORE_GOES_BACK = "restore-goes-back", "restore(save()) brings back what was seen, if there are these methods."
    CLOSE_TWICE = "close-twice", "close() may be called again, if there is one."


class Status(StrEnum):
    """What became of a rule."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """What became of one rule.

    Attributes:
        rule: which one.
        status: how it ended.
        times: how often it was asked.
        reason: why it was skipped, or how it failed; empty if it passed.
    """

    rule: Rule
    status: Status
    times: int = 0
    reason: str = ""


@dataclass(frozen=True)
class Report:
    """What became of all rules, in their order.

    Attributes:
        checks: one for each rule.
        actions: what the world was made to do, in plan notation.
    """

    checks: tuple[Check, ...]
    actions: tuple[str, ...] = ()

    def __getitem__(self, rule: Rule | str) -> Check:
        """What became of one rule."""
        return next(check for check in self.checks if check.rule == rule)

    @property
    def passed(self) -> tuple[Rule, ...]:
        """The rules that were kept."""
        return tuple(check.rule for check in self.checks if check.status is Status.PASSED)

    @property
    def skipped(self) -> tuple[Rule, ...]:
        """The rules that could not, or were not to be, asked."""
        return tuple(check.rule for check in self.checks if check.status is Status.SKIPPED)

    def __str__(self) -> str:
        """One line a rule."""
        return "\n".join(
            f"{check.status:<8}{check.rule:<26}{check.reason or check.rule.meaning}" for check in self.checks
        )


@dataclass(frozen=True)
class Limits:
    """How strictly the rules are taken; the defaults suit a simulator, real sensors may need more.

    Attributes:
        noise_m: between the places of one object in two observations with nothing done in between.
        agree_m: between the places of an object seen from two cameras (median over the objects).
        table_m: between the undersides of the objects and the table.
        stay_m: how far an object may be shifted by an action that does not concern it.
        size_m: smallest longest side, and largest side, of an object.
        height_m: highest place of an object.
        depth_m: nearest and farthest (median) distance of an object from a camera.
        hidden: share of an object's pixels that the arm may cover.
    """

    noise_m: float = 0.010
    agree_m: float = 0.015
    table_m: float = 0.020
    stay_m: float = 0.020
    size_m: tuple[float, float] = (0.005, 0.5)
    height_m: float = 1.5
    depth_m: tuple[float, float] = (0.05, 10.0)
    hidden: float = 0.1


class Book:
    """Which rules were asked, which are left out and why.

    Args:
        skip: rules not to ask.
    """

    def __init__(self, skip: Collection[Rule] = ()) -> None:
        self._left_out = frozenset(skip)
        self._why = dict.fromkeys(self._left_out, "left out on request")
        self._times = dict.fromkeys(Rule, 0)
        self.actions: list[str] = []

    def ask(self, rule: Rule, kept: bool, expected: str, found: str, advice: str) -> None:
        """Note that a rule was asked.

        Raises:
            WorldNotConforming: it was not kept, and is not to be left out.
        """
        if rule in self._left_out:
            return
        self._times[rule] += 1
        if not kept:
            reason = f"expected {expected}, found {found}; {advice}"
            checks = [self._check(each) for each in Rule if each is not rule and self._times[each]]
            report = Report((*checks, Check(rule, Status.FAILED, self._times[rule], reason)), tuple(self.actions))
            raise WorldNotConforming(rule.value, reason, report)

    def skip(self, reason: str, *rules: Rule) -> None:
        """Note why rules cannot be asked; one that was asked before counts as asked."""
        for rule in rules:
            self._why.setdefault(rule, reason)

    def report(self) -> Report:
        """What became of every rule."""
        return Report(tuple(self._check(rule) for rule in Rule), tuple(self.actions))

    def _check(self, rule: Rule) -> Check:
        if self._times[rule]:
            return Check(rule, Status.PASSED, self._times[rule])
        return Check(rule, Status.SKIPPED, 0, self._why.get(rule, "there was no occasion to ask"))
