"""Requests and answers of the server; they define the schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nsrecover.core.discrepancy import Cause, Phase, UnseenReason, Verdict
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.core.scene import Visibility
from nsrecover.core.sensing import SensorProblem
from nsrecover.integrations.server.limits import ACTIONS, FEATURES, NAME_LENGTH, OBJECTS, VIEWS
from nsrecover.planning.planner import Rejoin

Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=r"^[^(),;\x00-\x1f\x7f]+$")]
"""Name of an object: any text without brackets, commas and semicolons."""

Metres = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Size = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Box = Annotated[tuple[Metres, Metres, Metres, Size, Size, Size], Field(description="Centre xyz and size xyz, metres.")]
Row3 = tuple[Number, Number, Number]
Row4 = tuple[Number, Number, Number, Number]
Image = Annotated[str, Field(min_length=1, description="A PNG, base64.", json_schema_extra={"format": "base64"})]

Recording = Annotated[str, Field(min_length=1, json_schema_extra={"format": "base64"})]


class Message(BaseModel):
    """Base class of all requests; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Action(Message):
    """One step of a plan."""

    operator: str = Field(min_length=1, max_length=NAME_LENGTH, examples=["top"])
    arguments: list[Name] = Field(min_length=1, max_length=4, description="Objects; the first one moves.")
    target: Box | None = Field(default=None, description="Box at the end of the action, for `free` and `restore`.")


Steps = Annotated[
    list[Annotated[str, StringConstraints(min_length=3, max_length=500)] | Action],
    Field(
        min_length=1,
        max_length=ACTIONS,
        description="Actions, each as text like `top(red cube, blue cube)` or as an object.",
        examples=[["top(red cube, blue cube)", "left(green cube, red cube)"]],
    ),
]


class NewSession(Message):
    """A plan to monitor."""

    plan: Steps
    checkpoint: str | None = Field(default=None, max_length=NAME_LENGTH, description="A name that /v1/health lists.")
    rejoin: Rejoin = Field(default=Rejoin.POSE, description="Criterion for being back on the plan.")
    check_sensors: bool = Field(
        default=True, description="Whether the first camera images are refused if they are implausible."
    )


class NewPlan(Message):
    """Another plan for a session, from the scene of the last observation."""

    plan: Steps


class Camera(Message):
    """A calibrated pinhole camera, OpenCV convention (x right, y down, z forward)."""

    intrinsics: tuple[Row3, Row3, Row3] = Field(description="K, pixels.")
    world_from_camera: tuple[Row4, Row4, Row4, Row4] = Field(description="A rigid transform, metres.")
    name: str = Field(default="camera", max_length=NAME_LENGTH)


class Look(Message):
    """Data that accompany the images of one observation."""

    labels: dict[Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}$")], Name] = Field(
        max_length=OBJECTS, description="Instance number -> object. Names are used in the first observation only."
    )
    depth_unit_m: float = Field(
        default=0.001, gt=0, le=0.1, allow_inf_nan=False, description="Metres per unit of the depth images."
    )
    gripper_opening_m: Metres = 0.0
    holding: bool = False
    time_s: float = Field(default=0.0, ge=0, le=1e12, allow_inf_nan=False)
    shared_ids: bool = Field(
        default=True,
        description="Whether an instance number means the same object in every view. If not (one detector for each "
        "camera), every number belongs to one view.",
    )


class MultipartLook(Look):
    """Data that accompany images sent as files."""

    cameras: list[Camera] = Field(min_length=1, max_length=VIEWS, description="In the order of the images.")


class View(Message):
    """The images of one camera; all images have the same size."""

    rgb_png: Image
    depth_png: Image = Field(description="16 bits a pixel, along the optical axis; 0 is no reading. Base64.")
    instances_png: Image = Field(description="8 or 16 bits a pixel: instance numbers, 0 is background. Base64.")
    camera: Camera


class Observation(Look):
    """An observation of the robot at one time."""

    views: list[View] = Field(min_length=1, max_length=VIEWS)
    audio_wav: Recording | None = Field(
        default=None, description="What the microphone heard since the last observation: WAV, mono, 16 bits. Base64."
    )


class SceneObject(Message):
    """An object of external perception."""

    name: Name
    box: Box
    features: list[Number] | None = Field(
        default=None,
        max_length=FEATURES,
        description="Appearance features of length `feature_size` of the checkpoint, for all objects or for none. "
        "Without them, objects are compared by their boxes alone.",
    )
    seen: bool = Field(
        default=True, description="Whether the object is visible; if not, the box is that of the last time."
    )
    hidden: bool = Field(default=False, description="If not visible: whether it may be occluded at its place.")
    unknown: bool = Field(
        default=False, description="If not visible: whether it may be at its place, in view, without being detected."
    )


class Scene(Message):
    """A scene of external perception. Objects that are left out count as missing."""

    objects: list[SceneObject] = Field(min_length=1, max_length=OBJECTS)
    held: Name | None = Field(default=None, description="The object in the gripper.")


class Budget(Message):
    """The budget of a recovery."""

    budget_s: float = Field(
        default=1.0, ge=0, le=3600, allow_inf_nan=False, description="Planning time; the server has a limit."
    )


class SeenObject(BaseModel):
    """The current state of an object."""

    name: str
    box: Box
    seen: bool
    visibility: Visibility
    probability: float | None = Field(description="Probability of being as expected; null in the first observation.")


class Culprit(BaseModel):
    """An object that is not as expected."""

    name: str
    cause: Cause
    probability: float
    distance_m: float | None = Field(
        description="Distance between expected and observed centre; null if the object is missing."
    )
    expected: Box
    observed: Box | None
    other: str | None
    subgoal: int | None = Field(description="For `helped`: number of steps of the plan after which this is correct.")


class Unseen(BaseModel):
    """An object that is not seen and may be in its place."""

    name: str
    reason: UnseenReason
    other: str | None = Field(description="The object whose mask is at its place.")
    moved: bool = Field(description="Whether an action was to move it, and it has not been seen since.")


class SensorFinding(BaseModel):
    """Something that is wrong with a camera."""

    problem: SensorProblem
    camera: str = Field(description="Empty if it concerns all cameras.")
    found: str


class Discrepancy(BaseModel):
    """The difference between the observed and the expected scene."""

    verdict: Verdict = Field(description="`cannot_tell`: nothing that is seen deviates, and what matters is not seen.")
    looks: int = Field(description="Number of observations that the verdict is based on.")
    missing_to_tell: list[Unseen | SensorFinding] = Field(description="What is missing for a verdict.")
    unseen: list[Unseen] = Field(description="All objects that are not seen and may be in their places.")
    sensors: list[SensorFinding]
    newcomers: list[str] = Field(description="Objects that appeared during the run; recoveries do not move them.")

    total: float = Field(description="N - sum of the probabilities.")
    threshold: float = Field(description="Objects with a lower probability deviate.")
    culprits: list[Culprit]
    violated: list[str] = Field(description="Preconditions that do not hold, as text.")


class Recovery(BaseModel):
    """A recovery."""

    status: RecoveryStatus
    actions: list[Action]
    subgoal: int | None = Field(description="Number of steps of the plan that are done after these actions.")
    plan: list[Action] = Field(description="These actions and the rest of the plan; empty if there is no recovery.")
    staying: list[str] = Field(description="Displaced objects that may stay where they are.")
    cost: float | None
    proven_optimal: bool
    expansions: int
    seconds: float
    reason: str
    blamed: list[str]


class Fact(BaseModel):
    """A checkable statement."""

    predicate: str
    arguments: list[str]


class Sentence(BaseModel):
    """A sentence and its facts."""

    text: str
    facts: list[Fact]


class Explanation(BaseModel):
    """The failure and the recovery in plain language."""

    text: str
    sentences: list[Sentence]
    step: int = Field(description="The failing step, counted from 1.")
    source: str
    verified: bool


class SessionState(BaseModel):
    """The state of a session."""

    session: str = Field(description="Secret name of the session.")
    checkpoint: str
    plan: list[Action]
    step: int = Field(description="Number of actions that are done.")
    started: bool = Field(description="Whether the first observation has been made.")
    finished: bool = Field(description="Whether the plan has no further action.")
    next_action: Action | None
    as_expected: bool = Field(description="Whether the last observation was as expected.")
    verdict: Verdict | None = Field(description="On the last observation; null if it was not compared.")
    can_follow: bool = Field(description="Whether there is a recovery that can be followed now.")


class Judgement(BaseModel):
    """The result of an observation."""

    verdict: Verdict | None = Field(description="Null for the first observation, which is not compared.")
    phase: Phase | None = Field(description="Null for the first observation, which is not compared.")
    action: Action | None = Field(description="The action before or after which the observation was made.")
    as_expected: bool
    objects: list[SeenObject]
    discrepancy: Discrepancy | None = Field(description="Null if the scene is as expected.")
    recovery: Recovery | None
    explanation: Explanation | None
    state: SessionState


class Answer(BaseModel):
    """A requested recovery and its explanation."""

    recovery: Recovery
    explanation: Explanation


class Cancelled(BaseModel):
    """Whether a running search was stopped."""

    cancelled: bool


class Health(BaseModel):
    """The state of the server."""

    status: str
    version: str
    checkpoints: list[str]
    sessions: int


class CauseCode(BaseModel):
    """The meaning of a cause code."""

    code: Cause
    meaning: str
