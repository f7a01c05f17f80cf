"""Rules of the conformance kit, the limits within which they hold, and the log of the rules that were checked."""

from collections.abc import Collection
from dataclasses import dataclass

from nsrecover.core.discrepancy import CodeWithMeaning
from nsrecover.errors import WorldNotConforming
from nsrecover.util.python310 import StrEnum


class Rule(CodeWithMeaning):
    """A rule of the conformance kit. Its value is its stable name, its `meaning` its requirement."""

    HAS_METHODS = "has-methods", "The world has the methods observe() and execute(action)."
    OBSERVATION_VALID = (
        "observation-valid",
        "observe() returns an nsrecover.Observation of the documented shapes and types, and never raises.",
    )
    NOTHING_LEAKS = (
        "nothing-leaks",
        "Observations have the documented fields only, and names do not tell states: nothing comes from a simulator's "
        "truth.",
    )
    OBJECTS_IN_SIGHT = "objects-in-sight", "The first observation shows at least one object with depth readings."
    NAMES_USABLE = (
        "names-usable",
        "Object names can be written in a plan: up to 8 words without brackets, commas, semicolons, ends of sentences "
        "or outer blanks, and not 'table'.",
    )
    LABELS_COMPLETE = "labels-complete", "Every instance number in the images, except 0, has a label."
    LABELS_SEEN = "labels-seen", "Every label names an object that is or was in the images."
    PICTURES_NOT_BLANK = "pictures-not-blank", "The colour images have more than one colour."
    GRIPPER_FIELDS = (
        "gripper-fields",
        "gripper_opening_m is a finite number of metres, not negative; holding is true or false.",
    )
    NO_READING_IS_ZERO = (
        "no-reading-is-zero",
        "Depth is 0 where the camera has no reading, not negative and not a large constant.",
    )
    INTRINSICS_PLAUSIBLE = (
        "intrinsics-plausible",
        "K is [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] in pixels of these images, with the centre inside them and a "
        "realistic field of view.",
    )
    TABLE_AT_ZERO = (
        "table-at-zero",
        "z points up, and the objects stand on the plane z = 0: none is below it or high above it; in a household the "
        "plane is the floor.",
    )
    SIZES_PLAUSIBLE = "sizes-plausible", "Objects lifted from the images have the size of things that a hand can move."
    SENSORS_PLAUSIBLE = (
        "sensors-plausible",
        "`nsrecover check-observation` accepts the first observation: depth in metres along the optical axis, camera "
        "poses in OpenCV's convention, the table at z = 0, views that agree.",
    )
    SAME_VIEWS = (
        "same-views",
        "Every observation has the same cameras, in the same order, with images of one size; cameras on a robot that "
        "drives move with its actions only.",
    )
    POSES_FOLLOW = (
        "poses-follow",
        "world_from_camera is where the camera was when it took the image, also while a robot drives with it.",
    )
    OBSERVATIONS_KEPT = "observations-kept", "The arrays of an observation do not change after it was taken."
    TIME_FORWARD = "time-forward", "time_s increases with every observation; 0 says that it is not known."
    AUDIO_COVERS_TIME = (
        "audio-covers-time",
        "Either no observation has audio, or all have, at one rate and as long as the time since the last one.",
    )
    LOOKING_CHANGES_NOTHING = (
        "looking-changes-nothing",
        "Two observations without an action in between show the same objects at the same places.",
    )
    LABELS_STAY = "labels-stay", "Every object keeps its name from one observation to the next and after an action."
    UNKNOWN_OPERATOR_REFUSED = (
        "unknown-operator-refused",
        "execute raises nsrecover.errors.InvalidAction for an unknown operator, and moves nothing.",
    )
    WRONG_ARGUMENTS_REFUSED = (
        "wrong-arguments-refused",
        "execute raises nsrecover.errors.InvalidAction for a wrong number of arguments, and moves nothing.",
    )
    UNKNOWN_OBJECT_REFUSED = (
        "unknown-object-refused",
        "execute raises nsrecover.errors.UnknownObject for an unknown object, and moves nothing.",
    )
    FAILURE_NOT_RAISED = (
        "failure-not-raised",
        "execute does not raise if a well-formed action cannot be carried out; the cameras decide about success.",
    )
    RETURNS_NOTHING = "returns-nothing", "execute returns None, because a claim of success would not be used."
    ARM_OUT_OF_THE_WAY = (
        "arm-out-of-the-way",
        "The arm occludes nothing: the other objects are as visible after an action as before.",
    )
    PROMISE_KEPT = "promise-kept", "After a feasible action, its effect (`operator.achieved`) is observed."
    OTHERS_STAY = "others-stay", "An action moves its object and no other."
    REPRODUCIBLE = "reproducible", "All worlds of the factory start with the same first observation."
    WORLDS_INDEPENDENT = (
        "worlds-independent",
        "Actions in one world change no other world, whether it exists already or is made later.",
    )
    RESTORE_GOES_BACK = "restore-goes-back", "restore(save()) brings back what was seen, if these methods exist."
    CLOSE_TWICE = "close-twice", "close() can be called twice, if it exists."


class CheckStatus(StrEnum):
    """Result of checking a rule."""

    PASSED = "passed"
    SKIPPED = "skipped"
    FAILED = "failed"


@dataclass(frozen=True)
class Check:
    """Result of one rule.

    Attributes:
        rule: the rule.
        status: passed, skipped or failed.
        times: how often it was checked.
        reason: why it was skipped, or how it failed; empty if it passed.
    """

    rule: Rule
    status: CheckStatus
    times: int = 0
    reason: str = ""


@dataclass(frozen=True)
class ConformanceReport:
    """Results of all rules, in their order.

    Attributes:
        checks: one for each rule.
        actions: the actions that the world carried out, in plan notation.
    """

    checks: tuple[Check, ...]
    actions: tuple[str, ...] = ()

    def __getitem__(self, rule: Rule | str) -> Check:
        """Return the result of one rule."""
        return next(check for check in self.checks if check.rule == rule)

    @property
    def passed(self) -> tuple[Rule, ...]:
        """The rules that passed."""
        return tuple(check.rule for check in self.checks if check.status is CheckStatus.PASSED)

    @property
    def skipped(self) -> tuple[Rule, ...]:
        """The rules that were skipped."""
        return tuple(check.rule for check in self.checks if check.status is CheckStatus.SKIPPED)

    def __str__(self) -> str:
        """Return one line per rule."""
        return "\n".join(
            f"{check.status:<8}{check.rule:<26}{check.reason or check.rule.meaning}" for check in self.checks
        )


@dataclass(frozen=True)
class Tolerances:
    """Tolerances of the rules; the defaults suit a simulator, real sensors may need larger ones.

    Attributes:
        noise_m: largest displacement of an object between two observations without an action.
        agree_m: largest distance between the places of an object in two cameras.
        table_m: largest distance between the undersides of the objects and the table.
        stay_m: largest displacement of an object that the action does not concern.
        size_m: smallest and largest value of the longest side of an object.
        height_m: greatest height of an object.
        audio_s: largest difference between the length of audio and the time that it covers; for long times 2 % of them.
        moving_m: the same if the cameras moved, and show other sides of the objects.
        displaced: largest share of what a camera sees where another observation shows that nothing was.
        hidden: largest share of the pixels of an object that the arm may cover.
    """

    noise_m: float = 0.010
    agree_m: float = 0.03
    table_m: float = 0.020
    stay_m: float = 0.020
    size_m: tuple[float, float] = (0.005, 0.5)
    height_m: float = 1.5
    audio_s: float = 0.1
    moving_m: float = 0.08
    displaced: float = 0.35
    hidden: float = 0.1


class RuleLog:
    """Records which rules were checked, and why others were skipped.

    Args:
        skip: rules to leave out.
    """

    def __init__(self, skip: Collection[Rule] = ()) -> None:
        self._left_out = frozenset(skip)
        self._why = dict.fromkeys(self._left_out, "left out on request")
        self._times = dict.fromkeys(Rule, 0)
        self.actions: list[str] = []

    def check(self, rule: Rule, kept: bool, expected: str = "", found: str = "", advice: str = "") -> None:
        """Record that a rule was checked.

        Raises:
            WorldNotConforming: the world does not keep the rule, and the rule is not left out.
        """
        if rule in self._left_out:
            return
        self._times[rule] += 1
        if not kept:
            reason = f"expected {expected}, found {found}; {advice}"
            checks = [self._result(each) for each in Rule if each is not rule and self._times[each]]
            report = ConformanceReport(
                (*checks, Check(rule, CheckStatus.FAILED, self._times[rule], reason)), tuple(self.actions)
            )
            raise WorldNotConforming(rule.value, reason, report)

    def skip(self, reason: str, *rules: Rule) -> None:
        """Record why rules cannot be checked; a rule that was checked before stays checked."""
        for rule in rules:
            self._why.setdefault(rule, reason)

    def report(self) -> ConformanceReport:
        """Return the results of all rules."""
        return ConformanceReport(tuple(self._result(rule) for rule in Rule), tuple(self.actions))

    def _result(self, rule: Rule) -> Check:
        if self._times[rule]:
            return Check(rule, CheckStatus.PASSED, self._times[rule])
        return Check(rule, CheckStatus.SKIPPED, 0, self._why.get(rule, "there was no occasion to ask"))
