"""Requests and answers of the server; they define the schema."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from nsrecover.core import (
    Cause,
    Fact,
    Phase,
    PlanFault,
    ReasonCode,
    RecoveryStatus,
    SensorFinding,
    Sentence,
    Unknown,
    Unseen,
    Verdict,
    Visibility,
)
from nsrecover.core.episode import StopCode
from nsrecover.core.sessions.requests import Answer, Question
from nsrecover.planning.planner import Rejoin
from nsrecover.serving.server.limits import (
    ACTIONS,
    ARGUMENTS,
    FACTS,
    FEATURES,
    NAME_LENGTH,
    OBJECTS,
    TEXT_LENGTH,
    VIEWS,
)

Name = Annotated[str, StringConstraints(min_length=1, max_length=NAME_LENGTH, pattern=r"^[^(),;\x00-\x1f\x7f]+$")]
"""Name of an object: any text without brackets, commas and semicolons."""

Metres = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
Size = Annotated[float, Field(ge=0, le=1000, allow_inf_nan=False)]
Number = Annotated[float, Field(ge=-1e6, le=1e6, allow_inf_nan=False)]
Box = Annotated[tuple[Metres, Metres, Metres, Size, Size, Size], Field(description="Centre xyz and size xyz, metres.")]
Turn = Annotated[float, Field(ge=-1000, le=1000, allow_inf_nan=False)]
SeenBox = (
    Box
    | Annotated[
        tuple[Metres, Metres, Metres, Size, Size, Size, Turn],
        Field(description="Centre xyz, size along its own axes, metres, and turn about the vertical, radians."),
    ]
    | Annotated[
        tuple[Metres, Metres, Metres, Size, Size, Size, Turn, Turn, Turn, Turn],
        Field(description="Centre xyz, size along its own axes, metres, and quaternion xyzw."),
    ]
)
"""A box of external perception, with an orientation if that is known."""
Row3 = tuple[Number, Number, Number]
Row4 = tuple[Number, Number, Number, Number]
Image = Annotated[str, Field(min_length=1, description="A PNG, base64.", json_schema_extra={"format": "base64"})]

StateFact = Annotated[
    list[Name], Field(min_length=2, max_length=ARGUMENTS + 1, description="A predicate and its objects.")
]
Probability = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
TimeS = Annotated[float, Field(ge=0, le=1e12, allow_inf_nan=False, description="By a clock that is never set back.")]
Recording = Annotated[str, Field(min_length=1, json_schema_extra={"format": "base64"})]


class Message(BaseModel):
    """Base class of all requests; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class ActionMessage(Message):
    """One step of a plan."""

    operator: str = Field(min_length=1, max_length=NAME_LENGTH, examples=["top"])
    arguments: list[Name] = Field(max_length=ARGUMENTS, description="Objects; on a table the first one moves.")
    target: Box | None = Field(default=None, description="Box at the end of the action, for `free` and `restore`.")


Steps = Annotated[
    list[Annotated[str, StringConstraints(min_length=3, max_length=500)] | ActionMessage],
    Field(
        min_length=1,
        max_length=ACTIONS,
        description="Actions, each as text like `top(red cube, blue cube)` or as an object.",
        examples=[["top(red cube, blue cube)", "left(green cube, red cube)"]],
    ),
]


class NewPlan(Message):
    """A plan to carry out."""

    plan: Steps


class NewSession(NewPlan):
    """A plan to carry out, and how."""

    system: str | None = Field(default=None, max_length=NAME_LENGTH, description="A name that /v1/health lists.")
    rejoin: Rejoin | None = Field(
        default=None, description="Criterion for being back on the plan, for systems of boxes; `pose` by default."
    )
    check_sensors: bool = Field(
        default=True, description="Whether the first camera images are refused if they are implausible."
    )
    approve: bool = Field(default=False, description="Whether the client is asked before every recovery is taken.")
    budget_s: float = Field(
        default=1.0,
        ge=0,
        le=3600,
        allow_inf_nan=False,
        description="Planning time, limited by the server.",
    )
    max_recoveries: int | None = Field(default=None, ge=0, le=1000, description="More end the session.")


class CameraMessage(Message):
    """A calibrated pinhole camera, OpenCV convention (x right, y down, z forward)."""

    intrinsics: tuple[Row3, Row3, Row3] = Field(description="K, pixels.")
    world_from_camera: tuple[Row4, Row4, Row4, Row4] = Field(description="A rigid transform, metres.")
    name: str = Field(default="camera", max_length=NAME_LENGTH)


class ViewMessage(Message):
    """The images of one camera; all images have the same size."""

    rgb_png: Image
    depth_png: Image = Field(description="16 bits a pixel, along the optical axis; 0 is no reading. Base64.")
    instances_png: Image = Field(description="8 or 16 bits a pixel: instance numbers, 0 is background. Base64.")
    camera: CameraMessage


class ObservationMessage(Message):
    """An observation of the robot at one time."""

    views: list[ViewMessage] = Field(min_length=1, max_length=VIEWS)
    labels: dict[Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]{0,4}$")], Name] = Field(
        max_length=OBJECTS, description="Instance number -> object. Names are used in the first observation only."
    )
    depth_unit_m: float = Field(
        default=0.001, gt=0, le=0.1, allow_inf_nan=False, description="Metres per unit of the depth images."
    )
    gripper_opening_m: Metres = 0.0
    holding: bool = False
    time_s: TimeS = 0.0
    shared_ids: bool = Field(
        default=True,
        description="Whether an instance number means the same object in every view. If not (one detector for each "
        "camera), every number belongs to one view.",
    )
    audio_wav: Recording | None = Field(
        default=None, description="What the microphone heard since the last observation: WAV, mono, 16 bits. Base64."
    )


class SceneObject(Message):
    """An object of external perception."""

    name: Name
    box: SeenBox
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


class SceneMessage(Message):
    """A scene of external perception. Objects that are left out count as missing."""

    objects: list[SceneObject] = Field(min_length=1, max_length=OBJECTS)
    held: Name | None = Field(default=None, description="The object in the gripper.")
    time_s: TimeS | None = None


class Facts(Message):
    """A scene of facts; what is not listed does not hold."""

    facts: list[StateFact] = Field(max_length=FACTS, examples=[[["at", "mug", "sink"], ["open", "fridge"]]])
    certainty: list[tuple[tuple[Name, Name], Probability]] = Field(
        default=[],
        max_length=FACTS,
        description="A state variable or `place`, an object, and how sure the facts about them are: 0 if nothing is "
        "known, 1 where not listed.",
        examples=[[[["place", "mug"], 0.3]]],
    )


class SeenFacts(Facts):
    """Facts that are seen now."""

    time_s: TimeS | None = None


class Failure(Message):
    """What has gone wrong."""

    problem: str = Field(min_length=1, max_length=TEXT_LENGTH)


class Reason(Message):
    """Why a session ends."""

    reason: str = Field(default="", max_length=TEXT_LENGTH)


class Answered(Message):
    """A person's answer to a question."""

    answer: Answer


class ActMessage(BaseModel):
    """Carry out the action, then send an observation, or that the robot failed to end it."""

    code: Literal["act"]
    action: ActionMessage


class LookMessage(BaseModel):
    """Observe the scene; nothing may be executed before."""

    code: Literal["look"]
    names: list[str] = Field(description="What should be seen, the most important first; empty: from the same place.")


class AskMessage(BaseModel):
    """Ask a person, then send the answer."""

    code: Literal["ask"]
    question: Question
    recovery: RecoveryMessage = Field(description="The recovery that the question is about.")
    plan: list[ActionMessage] = Field(description="The plan so far.")
    text: str


class DoneMessage(BaseModel):
    """The plan is done, and every part of its goal was seen to hold."""

    code: Literal["done"]


class StoppedMessage(BaseModel):
    """The session has ended before its goal was seen to hold, and asks for help."""

    code: Literal["stopped"]
    why: StopCode
    reason: str


class SeenObject(BaseModel):
    """The current state of an object."""

    name: str
    box: Box
    seen: bool
    visibility: Visibility
    probability: float | None = Field(description="Probability of being as expected; null if it was not compared.")


class DeviationMessage(BaseModel):
    """An object that is not as expected."""

    name: str
    cause: Cause
    probability: float
    distance_m: float | None = Field(description="Between expected and observed centre; null if missing, and of facts.")
    expected: Box | list[StateFact] = Field(description="Box, or facts about it that should hold and do not.")
    observed: Box | list[StateFact] | None = Field(
        description="Box, or facts about it that hold and should not; null if it is missing."
    )
    other: str | None = Field(description="The object that explains the cause.")
    subgoal: int | None = Field(description="For `helped`: number of steps of the plan after which this is correct.")
    since: int | None = Field(description="Number of the action, from 0, after which it was noticed first.")
    uncertain_m: float = Field(
        description="How far the observed centre may be off along the line of sight, if all cameras look from one side."
    )


class PlanProblemMessage(BaseModel):
    """What is wrong with the rest of a plan."""

    fault: PlanFault
    step: int = Field(description="Number of the step that it is about, from 0.")
    steps: list[ActionMessage] = Field(description="Steps that are missing there, or the one that is misplaced.")
    objects: list[str] = Field(description="For `wrong_object` the wrong and the right one.")
    unmet: list[Fact] = Field(description="Conditions that are not met because of it.")


class DiscrepancyMessage(BaseModel):
    """The difference between the observed and the expected scene."""

    verdict: Verdict = Field(description="`cannot_tell`: nothing that is seen deviates, and what matters is not seen.")
    phase: Phase
    step: int = Field(description="Number of the action, from 0.")
    action: ActionMessage = Field(description="The action before or after which the comparison was made.")
    looks: int = Field(description="Number of observations that the verdict is based on.")
    deviations: list[DeviationMessage]
    unmet: list[str] = Field(description="Preconditions of the action that do not hold.")
    missing_to_tell: list[Unseen | Unknown | SensorFinding] = Field(description="What is missing for a verdict.")
    unseen: list[Unseen] = Field(description="All objects that are not seen and may be in their places.")
    sensors: list[SensorFinding]
    newcomers: list[str] = Field(description="Objects that appeared during the run; recoveries do not move them.")
    plan_problem: PlanProblemMessage | None = Field(description="Why the rest of the plan does not lead to its goal.")
    total: float = Field(description="Number of objects - sum of the probabilities.")
    threshold: float = Field(description="Objects with a lower probability deviate.")


class RecoveryMessage(BaseModel):
    """A recovery."""

    status: RecoveryStatus
    actions: list[ActionMessage]
    subgoal: int | None = Field(description="Number of steps of the plan that are done after these actions.")
    plan: list[ActionMessage] = Field(
        description="These actions and the rest of the plan; empty if there is no recovery."
    )
    staying: list[str] = Field(description="Displaced objects that may stay where they are.")
    cost: float | None
    proven_optimal: bool
    expansions: int
    seconds: float
    reason_code: ReasonCode | None
    reason: str
    blamed: list[str]
    lost: list[StateFact] = Field(description="Conditions of a goal that are given up, or can no longer be achieved.")


class ExplanationMessage(BaseModel):
    """The failure and the recovery in plain language."""

    text: str
    sentences: list[Sentence]
    step: int = Field(description="The failing step, counted from 1.")
    source: str
    verified: bool
    note: str


class TurnMessage(BaseModel):
    """What was concluded after an action, or before one."""

    action: ActionMessage | None = Field(
        description="The executed action; null if the check before it found something."
    )
    recovering: bool = Field(description="Whether the action belongs to a recovery.")
    discrepancy: DiscrepancyMessage
    recovery: RecoveryMessage | None
    explanation: ExplanationMessage | None = Field(description="Null if the scene is as expected.")


class SessionState(BaseModel):
    """A session after a report."""

    session: str = Field(description="Secret name of the session.")
    system: str
    request: Annotated[
        ActMessage | LookMessage | AskMessage | DoneMessage | StoppedMessage, Field(discriminator="code")
    ]
    plan: list[ActionMessage] = Field(description="The recovery, if there is one, then what is left of the given plan.")
    step: int = Field(description="Number of its actions that are done.")
    problem: str = Field(description="Why the last observation could not be used; empty if it could.")
    objects: list[SeenObject] = Field(description="The scene as it was seen last; empty before, and of facts.")
    facts: Facts | None = Field(description="The scene of facts as it is believed to be.")
    discrepancy: DiscrepancyMessage | None = Field(
        description="The last comparison; not yet settled while `request` is to look again."
    )
    turns: list[TurnMessage] = Field(description="What the last report has concluded.")


class Cancelled(BaseModel):
    """Whether a running search was stopped."""

    cancelled: bool


class Health(BaseModel):
    """The state of the server; without the token only its status."""

    status: str
    version: str | None = None
    systems: list[str] | None = None
    sessions: int | None = None


class CauseCode(BaseModel):
    """The meaning of a cause code."""

    code: Cause
    meaning: str
