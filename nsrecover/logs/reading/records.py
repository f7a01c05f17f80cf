"""Logs of household robots as data: steps, key frames and observations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from nsrecover.domains.household.names import normal, same
from nsrecover.logs.reading.lexicon import state_of, states_in

GRIPPER = "robot gripper"
NOTHING = "nothing"
CONTACT = ("inside", "on top of")
"""The relations that say where an object is; the others depend on the viewpoint."""


@dataclass(frozen=True)
class Seen:
    """An object in view: its name as written, and its states in the order they are written (`open`, `turned off`)."""

    name: str
    states: tuple[str, ...] = ()


@dataclass(frozen=True)
class Related:
    """`pot is inside sink`; `nothing is inside robot gripper` is one too.

    Attributes:
        subject: as written.
        relation: `inside`, `on top of`, or another one, as written.
        object: as written.
        said: the sentence, if it is worded in another way.
    """

    subject: str
    relation: str
    object: str
    said: str = field(default="", compare=False)


@dataclass(frozen=True)
class Remark:
    """A sentence that is neither a list of objects nor a relation; kept as it is."""

    text: str


@dataclass(frozen=True)
class LogObservation:
    """What was seen and heard at one moment.

    Attributes:
        seen: the objects in view.
        sentences: relations and other sentences, in order.
        sounds: what was heard, as written; empty if nothing.
    """

    seen: tuple[Seen, ...] = ()
    sentences: tuple[Related | Remark, ...] = ()
    sounds: str = ""

    @property
    def held(self) -> str | None:
        """Normal name of what the gripper holds; empty if it holds nothing; None if that is not stated."""
        for sentence in self.sentences:
            if isinstance(sentence, Related) and sentence.object == GRIPPER:
                return "" if sentence.subject == NOTHING else normal(sentence.subject)
        return None

    def states(self) -> dict[str, tuple[str, ...]]:
        """Normal name -> states as logs usually write them, for every object in view; names may carry states, too."""
        return {
            normal(item.name): tuple(dict.fromkeys((*states_in(item.name), *map(state_of, item.states))))
            for item in self.seen
        }

    def relations(self) -> list[tuple[str, str, str]]:
        """Subject, relation and object with normal names, the gripper left out."""
        return [
            (normal(sentence.subject), sentence.relation, normal(sentence.object))
            for sentence in self.sentences
            if isinstance(sentence, Related) and sentence.object != GRIPPER
        ]

    def places(self, name: str) -> list[tuple[str, str]]:
        """The contact relations of an object: (relation, on or in what)."""
        return [
            (relation, other)
            for subject, relation, other in self.relations()
            if subject == name and relation in CONTACT
        ]

    def sees(self, name: str) -> bool:
        """Whether an object of that name is in view."""
        return any(same(normal(item.name), name) for item in self.seen)


@dataclass(frozen=True)
class KeyFrame:
    """One line of a summary.

    Attributes:
        time: as written, e.g. `01:07`.
        label: `Action` or `Goal`.
        text: what the robot was doing, as written: `Put pot in sink`.
        step: the same, typed; `move_to` for moves, an operator with the text as its name if it is unknown.
        observation: what was seen and heard.
    """

    time: str
    label: str
    text: str
    step: Action
    observation: LogObservation

    @property
    def seconds(self) -> int:
        """The time in seconds."""
        minutes, _, rest = self.time.rpartition(":")
        return 60 * int(minutes or 0) + int(rest)


@dataclass(frozen=True)
class HouseholdLog:
    """A robot's experience as text, after Liu et al., REFLECT, section 3.1.

    Attributes:
        task: in words.
        plan: the steps the robot was given.
        success_state: in words, when the task counts as done.
        events: one key frame for every change, sound and end of a step (event level).
        subgoals: the key frames at the ends of steps (subgoal level).
        final: what is known at the end, gathered over all frames.
        plan_lines: the plan as written.
        extra: fields that this format does not have (an id, annotations), kept as they are.
        unread: lines that could not be read, with where they are.
    """

    task: str
    plan: tuple[Action, ...]
    success_state: str
    events: tuple[KeyFrame, ...]
    subgoals: tuple[KeyFrame, ...]
    final: LogObservation
    plan_lines: tuple[str, ...]
    extra: Mapping[str, object]
    unread: tuple[str, ...] = ()
