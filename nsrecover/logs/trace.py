"""Fact traces: what a robot did and what was seen and heard, as data; and their files of JSON lines.

A file has one JSON object a line. The first is the header:

    {"format": "nsrecover trace", "schema": 1, "domain": "household", "task": "water the plant",
     "objects": {"jug": [], "house plant": []}, "plan": [["pick_up", "jug"], ["put_in", "jug", "sink"]],
     "goal": [["filled", "house plant", "water"]]}

`domain` names a built-in domain or is empty; `objects` are names with their traits, as far as the kind does not say
them; `goal` is a list of facts, or a text in English. `result` (`succeeded`, `failed`) is how the run is said to have
ended. Every further line is an event:

    {"time": 4.2, "action": ["pick_up", "jug"], "phase": "ended", "result": "succeeded", "message": ""}
    {"time": 4.3, "facts": [[["at", "jug", "sink"], true, 0.9]], "in_view": ["jug"], "heard": ["running water"]}

A fact is `[[predicate, objects…], holds, certainty]`; the last two are true and 1 if left out. `"*"` for an object
stands for any: `[["holding", "*"], false]` is an empty gripper. What an event does not list was not looked at;
`not_looked_at` may say so, and is ignored. `"final": true` marks what is known at the end, gathered over all events.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidRecording
from nsrecover.util.printable import printable
from nsrecover.util.python310 import StrEnum
from nsrecover.util.untrusted_json import Parsed

FORMAT, SCHEMA = "nsrecover trace", 1


class EventPhase(StrEnum):
    """Where in its action an event is."""

    BEGUN = "begun"
    DURING = "during"
    ENDED = "ended"


class StepResult(StrEnum):
    """How the source says that an action, or the whole run, ended."""

    SUCCEEDED = "succeeded"
    FAILED = "failed"
    UNKNOWN = ""


@dataclass(frozen=True)
class FactClaim:
    """One of some facts holds, or none of them does.

    Attributes:
        facts: what may be meant; `*` stands for any object.
        holds: whether it is so.
        sure: the certainty that the source gives it.
    """

    facts: tuple[StateFact, ...]
    holds: bool = True
    sure: float = 1.0


@dataclass(frozen=True)
class TraceEvent:
    """What happened, or was perceived, at a time.

    Attributes:
        time: as written, or `mm:ss`.
        action: what the event is about.
        phase: where in the action it is.
        result: how the action ended, by the source.
        message: why, in the words of the source.
        claims: what was seen; nothing is known of what they do not name.
        seen: objects in view.
        heard: sounds, in words.
        text: the line as written.
    """

    time: str
    action: Action | None = None
    phase: EventPhase = EventPhase.DURING
    result: StepResult = StepResult.UNKNOWN
    message: str = ""
    claims: tuple[FactClaim, ...] = ()
    seen: frozenset[str] = frozenset()
    heard: tuple[str, ...] = ()
    text: str = field(default="", compare=False)

    @property
    def seconds(self) -> int:
        """The time in whole seconds."""
        minutes, _, rest = self.time.rpartition(":")
        return 60 * int(minutes or 0) + int(float(rest or 0))

    @property
    def named(self) -> frozenset[str]:
        """Objects in view, and those that claims are about."""
        return self.seen | {name for claim in self.claims for fact in claim.facts for name in fact[1:2] if name != "*"}


@dataclass(frozen=True)
class FactTrace:
    """A run of a robot as facts.

    Attributes:
        task: in words.
        scene: its domain and objects.
        plan: the steps that the robot was given.
        events: in their order.
        final: what is known at the end; the last event, unless the source sums up.
        goal: conditions that have to hold in the end; names may leave ordinals out.
        goal_text: the same in words.
        unread_goal: what of the goal is no condition about the objects of the trace.
        unread: what of the source could not be read, with where it is.
        result: how the run ended, by the source.
        readable: share of the events that were read without loss.
        extra: further fields of the source.
    """

    task: str
    scene: Instance
    plan: tuple[Action, ...]
    events: tuple[TraceEvent, ...]
    final: TraceEvent
    goal: tuple[StateFact, ...] = ()
    goal_text: str = ""
    unread_goal: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    result: StepResult = StepResult.UNKNOWN
    readable: float = 1.0
    extra: Mapping[str, Parsed] = field(default_factory=dict)

    @property
    def objects(self) -> tuple[str, ...]:
        """The objects that the trace names, in the order of appearance, without those that its domain assumes."""
        names: tuple[str, ...] = getattr(self.scene, "names", tuple(self.scene.objects))
        return names


@dataclass(frozen=True)
class RawTrace:
    """What a reader found, before names and domain are settled.

    Attributes:
        task: in words.
        plan: the steps, as far as the source has a plan; else those of the events.
        events: in their order.
        goal: facts, or a text.
        domain: name of a built-in domain; empty if the source names none.
        objects: name -> traits that it is said to have.
        final: what is known at the end; None for the last event.
        result: how the run ended.
        unread: what could not be read.
        extra: further fields.
    """

    task: str = ""
    plan: tuple[Action, ...] = ()
    events: tuple[TraceEvent, ...] = ()
    goal: tuple[StateFact, ...] | str = ()
    domain: str = ""
    objects: Mapping[str, frozenset[str]] = field(default_factory=dict)
    final: TraceEvent | None = None
    result: StepResult = StepResult.UNKNOWN
    unread: tuple[str, ...] = ()
    extra: Mapping[str, Parsed] = field(default_factory=dict)


def clock(seconds: float) -> str:
    """Seconds as `mm:ss`."""
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def trace_lines(trace: RawTrace) -> Iterator[str]:
    """A trace as lines of JSON."""
    goal = trace.goal if isinstance(trace.goal, str) else list(map(list, trace.goal))
    yield json.dumps(
        {"format": FORMAT, "schema": SCHEMA, "domain": trace.domain, "task": trace.task, "goal": goal,
         "objects": {name: sorted(traits) for name, traits in trace.objects.items()},
         "plan": [[step.operator, *step.arguments] for step in trace.plan], "result": trace.result.value, **trace.extra}
    )  # fmt: skip
    for event in (*trace.events, *([trace.final] if trace.final else [])):
        line: dict[str, Parsed] = {"time": event.time}
        if event.action is not None:
            line |= {"action": [event.action.operator, *event.action.arguments], "phase": event.phase.value}
        line |= {
            key: found
            for key, found in (
                ("result", event.result.value),
                ("message", event.message),
                ("in_view", sorted(event.seen)),
                ("heard", list(event.heard)),
            )
            if found
        }
        if event.claims:
            line["facts"] = [[list(claim.facts[0]), claim.holds, round(claim.sure, 4)] for claim in event.claims]
        yield json.dumps(line | ({"final": True} if event is trace.final else {}))


def trace_of(documents: Sequence[Parsed], where: str = "trace") -> RawTrace:
    """A trace from its parsed lines: the inverse of `trace_lines`.

    Raises:
        InvalidRecording: the header or a line has another form; names the line.
    """
    head = documents[0] if documents else None
    if not isinstance(head, dict) or head.get("format") != FORMAT or head.get("schema") != SCHEMA:
        raise InvalidRecording(f'{where}, line 1: expected {{"format": "{FORMAT}", "schema": {SCHEMA}, …}}')
    try:
        plan = tuple(_action(step) for step in head.get("plan", ()))
        goal = head.get("goal", ())
        wanted = goal if isinstance(goal, str) else tuple(tuple(map(str, fact)) for fact in goal)
        objects = {printable(name): frozenset(map(str, traits)) for name, traits in head.get("objects", {}).items()}
        result = StepResult(head.get("result", ""))
    except (TypeError, ValueError, AttributeError) as error:
        raise InvalidRecording(
            f"{where}, line 1: expected plan, goal and objects as lists of names ({error})"
        ) from error
    events, final = list[TraceEvent](), None
    for number, line in enumerate(documents[1:], start=2):
        try:
            event = _event(line)
        except (TypeError, ValueError, KeyError, AttributeError, IndexError) as error:
            raise InvalidRecording(
                f"{where}, line {number}: expected an event with time, action or facts, found {str(line)[:60]} "
                f"({error})"
            ) from error
        if line.get("final"):
            final = event
        else:
            events.append(event)
    known = {"format", "schema", "domain", "task", "goal", "objects", "plan", "result"}
    return RawTrace(
        printable(str(head.get("task", ""))),
        plan,
        tuple(events),
        wanted,
        str(head.get("domain", "")),
        objects,
        final,
        result,
        extra={key: value for key, value in head.items() if key not in known},
    )


def _action(given: Iterable[Parsed]) -> Action:
    name, *arguments = map(printable, map(str, given))
    return Action(name, tuple(arguments))


def _event(line: Mapping[str, Parsed]) -> TraceEvent:
    time = line["time"]
    claims = []
    for fact, *rest in line.get("facts", ()):
        given: list[Parsed] = list(rest)
        holds, sure = [*given, True, 1.0][:2] if len(given) != 1 else [given[0], 1.0]
        claims.append(FactClaim((tuple(printable(str(term)) for term in fact),), bool(holds), float(sure)))
    return TraceEvent(
        time if isinstance(time, str) else clock(float(time)),
        _action(line["action"]) if line.get("action") else None,
        EventPhase(line.get("phase", "ended" if line.get("result") else "during")),
        StepResult(line.get("result", "")),
        printable(str(line.get("message", ""))),
        tuple(claims),
        frozenset(map(printable, map(str, line.get("in_view", ())))),
        tuple(map(printable, map(str, line.get("heard", ())))),
    )
