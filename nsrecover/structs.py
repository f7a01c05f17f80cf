"""The data that flows through the system: frozen dataclasses, validated where they are made.

Units are metres, radians and seconds; the frame is the robot base with z up. Shape letters: V views, H W pixels,
N objects, D features, T steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from nsrecover.errors import InvalidAction, InvalidObservation, InvalidPlan, UnknownObject, did_you_mean

FloatArray = npt.NDArray[np.float32]
Box = tuple[float, float, float, float, float, float]
"""Axis-aligned box: centre x, y, z and size x, y, z, in metres."""


@dataclass(frozen=True, eq=False)
class SceneGraph:
    """A complete directed graph over the objects of a scene (Kalithasan et al., section IV-A).

    Attributes:
        names: N object names; the order of every other field.
        visual: (N, D) appearance features, unit length.
        boxes: (N, 6) centre and size, metres.
        seen: (N,) whether the object was visible, or is remembered.
        hidden: (N,) whether an object that is not visible may well be where it is remembered, behind something.
        held: index of the object in the gripper, if any.
        states: object name -> state, for objects that have one.
    """

    names: tuple[str, ...]
    visual: FloatArray
    boxes: FloatArray
    seen: npt.NDArray[np.bool_]
    hidden: npt.NDArray[np.bool_] | None = None
    held: int | None = None
    states: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = len(self.names)
        if len(set(self.names)) != n:
            raise InvalidObservation(f"expected different object names, found {list(self.names)}")
        if self.hidden is not None and np.shape(self.hidden) != (n,):
            raise InvalidObservation(f"expected hidden ({n},) for {n} names, found {np.shape(self.hidden)}")
        if self.visual.ndim != 2 or len(self.visual) != n or self.boxes.shape != (n, 6) or self.seen.shape != (n,):
            raise InvalidObservation(
                f"expected visual ({n}, D), boxes ({n}, 6) and seen ({n},) for {n} names, found "
                f"{self.visual.shape}, {self.boxes.shape} and {self.seen.shape}"
            )

    def __len__(self) -> int:
        return len(self.names)

    def index(self, name: str) -> int:
        """Position of an object.

        Raises:
            UnknownObject: the name is not in the scene.
        """
        try:
            return self.names.index(name)
        except ValueError:
            raise UnknownObject(
                f"expected an object of the scene, found {name!r}.{did_you_mean(name, self.names)}"
            ) from None

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """(N,) objects that are neither visible nor hidden in their place: nobody knows where they are."""
        gone = ~self.seen
        return gone if self.hidden is None else gone & ~self.hidden

    def joined_by(self, other: SceneGraph) -> SceneGraph:
        """A copy with the objects that only another scene has, as they are there."""
        new = [i for i, name in enumerate(other.names) if name not in self.names]
        if not new:
            return self
        hidden = [np.zeros(len(graph), np.bool_) if graph.hidden is None else graph.hidden for graph in (self, other)]
        return replace(
            self,
            names=self.names + tuple(other.names[i] for i in new),
            visual=np.concatenate([self.visual, other.visual[new]]),
            boxes=np.concatenate([self.boxes, other.boxes[new]]),
            seen=np.concatenate([self.seen, other.seen[new]]),
            hidden=np.concatenate([hidden[0], hidden[1][new]]),
            states={**{name: other.states[name] for name in other.states if name not in self.names}, **self.states},
        )

    def with_node(self, index: int, box: npt.ArrayLike, visual: npt.ArrayLike | None = None) -> SceneGraph:
        """A copy in which one object has another box, and another appearance if one is given."""
        boxes = self.boxes.copy()
        boxes[index] = box
        features = self.visual
        if visual is not None:
            features = self.visual.copy()
            features[index] = visual
        return replace(self, boxes=boxes, visual=features)


_ACTION = re.compile(r"^\s*(\w+)\s*\(([^()]*)\)\s*$")


@dataclass(frozen=True)
class Action:
    """One step of a plan: an operator and the objects it is applied to. One object moves per action.

    Attributes:
        operator: name of an operator, see `nsrecover.operators`.
        arguments: object names; which of them moves is the operator's to say.
        target: where the moved object shall end, for operators that do not imply it (`free`, `restore`).
    """

    operator: str
    arguments: tuple[str, ...]
    target: Box | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.operator}({', '.join(self.arguments)})"

    @classmethod
    def parse(cls, text: str) -> Action:
        """Read `top(red cube, blue cube)`.

        Raises:
            InvalidAction: the text is not an operator with arguments in brackets.
        """
        match = _ACTION.match(text)
        if match is None:
            raise InvalidAction(f"expected an action like 'top(red cube, blue cube)', found {text!r}")
        return cls(match[1], tuple(part.strip() for part in match[2].split(",") if part.strip()))


@dataclass(frozen=True)
class Plan:
    """A sequence of T actions."""

    actions: tuple[Action, ...]

    @classmethod
    def parse(cls, lines: Sequence[str] | str) -> Plan:
        """Read a plan from lines (or one string with `;` or newlines between the actions).

        Raises:
            InvalidAction: a line is not an action.
            InvalidPlan: there is no action at all.
        """
        if isinstance(lines, str):
            lines = [part for part in re.split(r"[;\n]", lines) if part.strip()]
        if not lines:
            raise InvalidPlan("expected at least one action, found an empty plan")
        return cls(tuple(Action.parse(line) for line in lines))

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __getitem__(self, index: int) -> Action:
        return self.actions[index]

    def __str__(self) -> str:
        return "; ".join(str(action) for action in self.actions)


@dataclass(frozen=True, eq=False)
class Trace:
    """What a plan is expected to look like: `graphs[t]` is the scene after the first t actions (T + 1 graphs)."""

    plan: Plan
    graphs: tuple[SceneGraph, ...]

    def __post_init__(self) -> None:
        if len(self.graphs) != len(self.plan) + 1:
            raise InvalidPlan(
                f"expected {len(self.plan) + 1} graphs for {len(self.plan)} actions, found {len(self.graphs)}"
            )

    def joined_by(self, graph: SceneGraph) -> Trace:
        """The same course with objects that have appeared since: they are expected to stay where they are."""
        if set(graph.names) <= set(self.graphs[0].names):
            return self
        return replace(self, graphs=tuple(expected.joined_by(graph) for expected in self.graphs))


class Phase(StrEnum):
    """When a discrepancy was noticed: before an action was run, or after it."""

    BEFORE = "before"
    AFTER = "after"


class Cause(StrEnum):
    """What happened to a culprit. Stable codes, the same in Python, JSON and every adapter; docs/causes.md lists them.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    meaning: str

    def __new__(cls, value: str, meaning: str) -> Cause:
        """A member with its code and its docstring."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.meaning = member.__doc__ = meaning
        return member

    MOVED = "moved", "It stands elsewhere, though nothing was to touch it."
    MISSING = "missing", "It is not to be seen any more."
    NOT_LIFTED = "not_lifted", "It was to be moved and still is where it was."
    DROPPED = "dropped", "It was lifted but fell: before it reached its place, or from there."
    MISPLACED = "misplaced", "It was set down elsewhere than in its place."
    TOPPLED = "toppled", "It fell from what it stood on, or over where it stood."
    SWAPPED = "swapped", "It and another object took each other's place."
    HELPED = "helped", "It already is where a later step of the plan would put it."
    BLOCKING = "blocking", "It was put where a later step has to put another object, or on top of what has to move."


@dataclass(frozen=True)
class Culprit:
    """An object that is not as expected.

    Attributes:
        name: the object.
        cause: what happened to it.
        probability: P(as expected), from the discriminator.
        distance_m: between the expected and the observed box centre (inf if it is missing).
        expected: box in the imagined scene.
        observed: box in the seen scene; None if it is missing.
        other: the object that explains the cause (swap partner, what it lies on now), if there is one.
        subgoal: for `helped`, the number of plan steps after which this is right.
    """

    name: str
    cause: Cause
    probability: float
    distance_m: float
    expected: Box
    observed: Box | None
    other: str | None = None
    subgoal: int | None = None


@dataclass(frozen=True, eq=False)
class Discrepancy:
    """The comparison of the expected with the observed scene; true in a condition if something is wrong.

    Attributes:
        step: number of the action in the plan (from 0) before or after which it was made.
        phase: before or after that action.
        action: the action.
        expected: the imagined scene.
        observed: the seen scene.
        probabilities: (N,) P(as expected) for each object.
        total: D = N - sum of the probabilities (Kalithasan et al., section IV-C).
        threshold: probability under which an object counts as wrong.
        culprits: the objects that are wrong, and how.
        violated: preconditions of the action that do not hold, in words (only before an action).
    """

    step: int
    phase: Phase
    action: Action
    expected: SceneGraph
    observed: SceneGraph
    probabilities: FloatArray
    total: float
    threshold: float
    culprits: tuple[Culprit, ...]
    violated: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.culprits or self.violated)

    @property
    def culprit_names(self) -> tuple[str, ...]:
        """Names of the culprits, in scene order."""
        return tuple(culprit.name for culprit in self.culprits)


class RecoveryStatus(StrEnum):
    """How a search for a way back ended."""

    RECOVERED = "recovered"
    ALREADY_AT_SUBGOAL = "already_at_subgoal"
    IMPOSSIBLE = "impossible"
    BUDGET_EXHAUSTED = "budget_exhausted"


@dataclass(frozen=True, eq=False)
class Recovery:
    """The way back onto the plan.

    Attributes:
        status: how the search ended.
        actions: what to do to reach the subgoal (empty if already there, or if there is no way).
        graphs: the imagined scene after each of `actions`.
        subgoal: number of plan steps that are done once `actions` are; the plan goes on from there.
        rest: the imagined scene after each action of the plan that is left then.
        staying: displaced objects that stay where they are, because nothing that follows needs them elsewhere.
        cost: cost of `actions` plus the cost of the rest of the plan.
        proven_optimal: no cheaper way exists in the model.
        expansions: search nodes expanded.
        seconds: wall time of the search.
        reason: in words, why there is no way (or why the search stopped).
        blamed: objects that stand in the way of any recovery, if it is impossible.
    """

    status: RecoveryStatus
    actions: tuple[Action, ...] = ()
    graphs: tuple[SceneGraph, ...] = ()
    subgoal: int | None = None
    rest: tuple[SceneGraph, ...] = ()
    staying: tuple[str, ...] = ()
    cost: float = float("inf")
    proven_optimal: bool = False
    expansions: int = 0
    seconds: float = 0.0
    reason: str = ""
    blamed: tuple[str, ...] = ()

    @property
    def found(self) -> bool:
        """Whether there is a way to go on."""
        return self.status in (RecoveryStatus.RECOVERED, RecoveryStatus.ALREADY_AT_SUBGOAL)


@dataclass(frozen=True)
class Fact:
    """A checkable statement an explanation rests on: predicate and arguments, e.g. `toppled`, ("red cube", "table")."""

    predicate: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return f"{self.predicate}({', '.join(self.arguments)})"


@dataclass(frozen=True)
class Sentence:
    """A sentence and the facts it rests on.

    Attributes:
        text: the sentence.
        facts: what it rests on.
        source: who worded it: `grounded`, or the name of the language model.
    """

    text: str
    facts: tuple[Fact, ...]
    source: str = "grounded"


@dataclass(frozen=True)
class Explanation:
    """Why something went wrong and what will be done, in plain language.

    Attributes:
        sentences: each with its facts.
        step: the failing step, counted from 1 as a reader would.
        source: `grounded`, or the name of the language model if a sentence is worded by it.
        verified: whether the text was checked against the facts.
        note: why not all of it is worded by the language model that was to do so; empty if it is, or if there was none.
    """

    sentences: tuple[Sentence, ...]
    step: int
    source: str = "grounded"
    verified: bool = True
    note: str = ""

    @property
    def text(self) -> str:
        """The whole explanation."""
        return " ".join(sentence.text for sentence in self.sentences)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """All facts, each once, in the order in which they are used."""
        return tuple(dict.fromkeys(fact for sentence in self.sentences for fact in sentence.facts))


@dataclass(frozen=True, eq=False)
class StepRecord:
    """One turn of the main loop, for reports and explanations.

    Attributes:
        action: what was done; None if it was not run because the check before it failed.
        recovering: whether the action belongs to a recovery and not to the original plan.
        graph: the scene afterwards.
        discrepancy: the comparison that was made.
        recovery: the way back, if one was needed.
        explanation: the words, if something was wrong.
        plan: the plan as it stood when the turn was taken.
        time_s: when the scene was looked at, by the world's clock.
    """

    action: Action | None
    recovering: bool
    graph: SceneGraph
    discrepancy: Discrepancy
    plan: Plan
    recovery: Recovery | None = None
    explanation: Explanation | None = None
    time_s: float = 0.0


class EpisodeStatus(StrEnum):
    """How an episode ended, in the robot's own judgement."""

    COMPLETED = "completed"
    ASKED_FOR_HELP = "asked_for_help"
    REVIEWED = "reviewed"
    """Somebody else carried it out; the recording was gone through afterwards, and no recovery was run."""


@dataclass(frozen=True, eq=False)
class Episode:
    """What the agent did.

    Attributes:
        plan: the original plan.
        status: how it ended.
        reason: why it stopped, in words (empty if completed).
        start: the first scene.
        records: every turn of the loop.
        start_s: when the first scene was looked at, by the world's clock.
    """

    plan: Plan
    status: EpisodeStatus
    reason: str
    start: SceneGraph
    records: tuple[StepRecord, ...]
    start_s: float = 0.0
