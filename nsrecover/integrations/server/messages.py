"""What goes over the wire: requests and answers, which are also the schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nsrecover.core.discrepancy import Cause, Phase
from nsrecover.core.recovery import RecoveryStatus
from nsrecover.integrations.server.limits import ACTIONS, FEATURES, NAME_LENGTH, OBJECTS, VIEWS
from nsrecover.planning.planner import Rejoin

Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=r"^[^(),;\x00-\x1f\x7f]+$")]
"""Of an object: anything without brackets, commas and semicolons."""

Metres = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Size = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Box = Annotated[tuple[Metres, Metres, Metres, Size, Size, Size], Field(description="Centre xyz and size xyz, metres.")]
Row3 = tuple[Number, Number, Number]
Row4 = tuple[Number, Number, Number, Number]
Image = Annotated[str, Field(min_length=1, description="A PNG, base64.", json_schema_extra={"format": "base64"})]


class Message(BaseModel):
    """What all requests have in common: a field that nobody knows is a mistake, not noise."""

    model_config = ConfigDict(extra="forbid")


class Action(Message):
    """One step of a plan."""

    operator: str = Field(min_length=1, max_length=NAME_LENGTH, examples=["top"])
    arguments: list[Name] = Field(min_length=1, max_length=4, description="Objects; the first one moves.")
    target: Box | None = Field(default=None, description="Where it shall end, for `free` and `restore`.")


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
    """A plan that shall be watched."""

    plan: Steps
    checkpoint: str | None = Field(default=None, max_length=NAME_LENGTH, description="One of those /v1/health lists.")
    rejoin: Rejoin = Field(default=Rejoin.POSE, description="What counts as being back on the plan.")


class NewPlan(Message):
    """Another plan for a session, from the scene as it was last seen."""

    plan: Steps


class Camera(Message):
    """A calibrated pinhole camera, OpenCV convention (x right, y down, z forward)."""

    intrinsics: tuple[Row3, Row3, Row3] = Field(description="K, pixels.")
    world_from_camera: tuple[Row4, Row4, Row4, Row4] = Field(description="A rigid transform, metres.")
    name: str = Field(default="camera", max_length=NAME_LENGTH)


class Look(Message):
    """What goes with the images of one observation."""

    labels: dict[Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}$")], Name] = Field(
        max_length=OBJECTS, description="Instance number -> object. Names count in the first observation only."
    )
    depth_unit_m: float = Field(
        default=0.001, gt=0, le=0.1, allow_inf_nan=False, description="What one step of the depth images means."
    )
    gripper_opening_m: Metres = 0.0
    holding: bool = False
    time_s: float = Field(default=0.0, ge=0, le=1e12, allow_inf_nan=False)


class MultipartLook(Look):
    """What goes with images that are sent as files."""

    cameras: list[Camera] = Field(min_length=1, max_length=VIEWS, description="In the order of the images.")


class View(Message):
    """What one camera sees; all images are of one size."""

    rgb_png: Image
    depth_png: Image = Field(description="16 bits a pixel, along the optical axis; 0 is no reading. Base64.")
    instances_png: Image = Field(description="8 or 16 bits a pixel: instance numbers, 0 is background. Base64.")
    camera: Camera


class Observation(Look):
    """What the robot sees at one moment."""

    views: list[View] = Field(min_length=1, max_length=VIEWS)


class SceneObject(Message):
    """An object as somebody else's perception has it."""

    name: Name
    box: Box
    features: list[Number] | None = Field(
        default=None,
        max_length=FEATURES,
        description="Appearance, as long as the checkpoint's `feature_size`; for all objects or for none. "
        "Without it, objects are judged by their boxes alone.",
    )
    seen: bool = Field(default=True, description="Whether it is visible, or stands where it was last seen.")
    hidden: bool = Field(default=False, description="If not visible: whether something may hide it there.")


class Scene(Message):
    """A scene as somebody else's perception has it. An object that is left out counts as missing."""

    objects: list[SceneObject] = Field(min_length=1, max_length=OBJECTS)
    held: Name | None = Field(default=None, description="What is in the gripper.")


class Budget(Message):
    """What a recovery may cost."""

    budget_s: float = Field(default=1.0, ge=0, le=3600, allow_inf_nan=False, description="The server has a limit.")


class SeenObject(BaseModel):
    """An object as it is now."""

    name: str
    box: Box
    seen: bool
    probability: float | None = Field(description="P(as expected); none in the first observation.")


class Culprit(BaseModel):
    """An object that is not as expected."""

    name: str
    cause: Cause
    probability: float
    distance_m: float | None = Field(description="Between expected and observed centre; none if it is missing.")
    expected: Box
    observed: Box | None
    other: str | None
    subgoal: int | None = Field(description="For `helped`: steps of the plan after which this is right.")


class Discrepancy(BaseModel):
    """How the scene differs from what was imagined."""

    total: float = Field(description="N - sum of the probabilities.")
    threshold: float = Field(description="Probability under which an object counts as wrong.")
    culprits: list[Culprit]
    violated: list[str] = Field(description="Preconditions that do not hold, in words.")


class Recovery(BaseModel):
    """The way back onto the plan."""

    status: RecoveryStatus
    actions: list[Action]
    subgoal: int | None = Field(description="Steps of the plan that are done once these actions are.")
    plan: list[Action] = Field(description="These actions and what is left of the plan; empty if there is no way.")
    staying: list[str] = Field(description="Displaced objects that do no harm where they are.")
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
    """A sentence and the facts it rests on."""

    text: str
    facts: list[Fact]


class Explanation(BaseModel):
    """Why, and what now, in plain language."""

    text: str
    sentences: list[Sentence]
    step: int = Field(description="The failing step, counted from 1.")
    source: str
    verified: bool


class SessionState(BaseModel):
    """Where a session stands."""

    session: str = Field(description="Its secret name: who knows it can use it.")
    checkpoint: str
    plan: list[Action]
    step: int = Field(description="Actions that are done.")
    started: bool = Field(description="Whether there was a first observation.")
    finished: bool = Field(description="Whether the plan has no further action.")
    next_action: Action | None
    as_expected: bool = Field(description="Whether the last observation was.")
    can_follow: bool = Field(description="Whether a way back is known that can be followed now.")


class Verdict(BaseModel):
    """What an observation means."""

    phase: Phase | None = Field(description="None for the first observation, which there is nothing to compare with.")
    action: Action | None = Field(description="The action before or after which the observation was made.")
    as_expected: bool
    objects: list[SeenObject]
    discrepancy: Discrepancy | None
    recovery: Recovery | None
    explanation: Explanation | None
    state: SessionState


class Answer(BaseModel):
    """A way back that was asked for, and why it is needed."""

    recovery: Recovery
    explanation: Explanation


class Cancelled(BaseModel):
    """Whether there was a search to stop."""

    cancelled: bool


class Health(BaseModel):
    """That the server is there."""

    status: str
    version: str
    checkpoints: list[str]
    sessions: int


class CauseCode(BaseModel):
    """What a cause code means."""

    code: Cause
    meaning: str
