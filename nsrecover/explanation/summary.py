"""Summary of an episode at the three levels of REFLECT (Liu et al., section 3.1).

*Sensory*: the scene graph of every observation, reduced to the objects of the plan and those that touch them. *Event*:
the key frames as text. *Subgoal*: the frames at the ends of the steps. The levels of text have the structure of the
logs of other robots, so that an episode written with `nsrecover.explanation.logs.document_of` is read as the same log.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

from nsrecover.core.actions import Action
from nsrecover.core.episode import Episode
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import STACK, TABLETOP
from nsrecover.domains.tabletop.relations import TABLE, Edge, Relation, relations
from nsrecover.explanation.answers.numbering import clock, turns
from nsrecover.explanation.logs.reading.format import action_of
from nsrecover.explanation.logs.reading.records import GRIPPER, HouseholdLog, KeyFrame, Observation, Related, Seen

ON, INSIDE = "on top of", "inside"
_SIDES = {
    Relation.LEFT: "on the left of",
    Relation.RIGHT: "on the right of",
    Relation.FRONT: "in front of",
    Relation.BEHIND: "behind",
}
"""Relations of ours in REFLECT's words."""


@dataclass(frozen=True)
class SensoryFrame:
    """The reduced scene graph of one observation (REFLECT, section 3.1.1).

    Attributes:
        time_s: time since the start of the episode, seconds.
        objects: the objects of the plan and those that touch them, in scene order.
        visible: those of them that were visible.
        edges: the relations among them.
        held: the object in the gripper.
    """

    time_s: float
    objects: tuple[str, ...]
    visible: tuple[str, ...]
    edges: frozenset[Edge]
    held: str | None


@dataclass(frozen=True)
class Summary:
    """The three levels.

    Attributes:
        sensory: one frame for every observation, beginning with the first scene.
        log: events, subgoals and final state as text, with task, plan and success condition.
    """

    sensory: tuple[SensoryFrame, ...]
    log: HouseholdLog


def summary_of(episode: Episode, task: str = "") -> Summary:
    """Summarise an episode.

    Args:
        episode: an episode of the agent, or a reviewed recording.
        task: the task as text; by default the effects of the plan.
    """
    named = {name for action in episode.plan for name in action.arguments}
    scenes = [(episode.start_s, episode.start), *((record.time_s, record.graph) for record in episode.records)]
    times = _times([seconds - episode.start_s for seconds, _ in scenes])
    frames = tuple(_sensory(graph, seconds, named) for seconds, (_, graph) in zip(times, scenes, strict=True))
    events, subgoals = [], []
    for number, (turn, frame) in enumerate(zip(turns(episode), frames[1:], strict=True)):
        action = turn.record.action
        done = action or turn.discrepancy.action
        # A key frame: the graph changed, or a subgoal ended (here every action is one), or a check before one failed.
        changed = frame.edges != frames[number].edges or frame.visible != frames[number].visible
        if not changed and action is None and not turn.discrepancy.deviates:
            continue
        observation = _observation(frame, turn.record.graph)
        events.append(_key_frame(frame.time_s, "Action", done, observation))
        if action is not None:
            subgoals.append(_key_frame(frame.time_s, "Goal", done, observation))
    wanted = _wanted(episode)
    log = HouseholdLog(
        task=task or f"bring it about that {wanted}",
        plan=tuple(_step(action) for action in episode.plan),
        success_state=f"{wanted}.",
        events=tuple(events),
        subgoals=tuple(subgoals),
        final=_observation(frames[-1], scenes[-1][1], sides=False),
        plan_lines=tuple(str(_step(action)) for action in episode.plan),
        extra={},
    )
    return Summary(frames, log)


def _times(seconds: Sequence[float]) -> list[float]:
    """Return the times of the observations; without a clock, their numbers."""
    if any(later < earlier for earlier, later in pairwise(seconds)) or seconds[-1] <= 0:
        return [float(number) for number in range(len(seconds))]
    return list(seconds)


def _sensory(graph: SceneGraph, time_s: float, named: Collection[str]) -> SensoryFrame:
    """Return the frame with the objects of the plan, those on them, and those below them."""
    edges = relations(graph)
    touching = {edge for edge in edges if edge.relation is Relation.ON and edge.object != TABLE}
    kept = set(named)
    for edge in touching:
        if edge.subject in named or edge.object in named:
            kept |= {edge.subject, edge.object}
    there = [name for name, gone in zip(graph.names, graph.missing, strict=True) if name in kept and not gone]
    return SensoryFrame(
        time_s,
        tuple(there),
        tuple(name for name in there if bool(graph.seen[graph.index(name)])),
        frozenset(edge for edge in edges if edge.subject in there and (edge.object in there or edge.object == TABLE)),
        None if graph.held is None else graph.names[graph.held],
    )


def _observation(frame: SensoryFrame, graph: SceneGraph, sides: bool = True) -> Observation:
    """Return the text of a frame; with `sides=False`, without relations that depend on the viewpoint."""
    seen = frame.visible if sides else frame.objects
    order = {name: number for number, name in enumerate([*graph.names, TABLE])}
    parts = []
    for edge in sorted(frame.edges, key=lambda edge: (order[edge.subject], edge.relation, order[edge.object])):
        if edge.subject not in seen or edge.subject == frame.held:
            continue
        if edge.relation is Relation.ON:
            parts.append(Related(edge.subject, ON, edge.object))
        elif sides and edge.object in seen:
            parts.append(Related(edge.subject, _SIDES[edge.relation], edge.object))
    if frame.held is not None:
        parts.append(Related(frame.held, INSIDE, GRIPPER))
    return Observation(tuple(Seen(name, graph.unusual(name)) for name in seen), tuple(parts))


def _key_frame(time_s: float, label: str, action: Action, observation: Observation) -> KeyFrame:
    text = _logged(action)[1].format(*action.arguments)
    return KeyFrame(clock(time_s), label, text, action_of(text), observation)


def _logged(action: Action) -> tuple[str, str]:
    """Return the name of an action in logs, and the template of its instruction."""
    operator = TABLETOP.operators.get(action.operator)
    name, words = ("", "") if operator is None else operator.words.logged
    return name or action.operator, words or f"Do {action.operator} with {' and '.join(action.arguments)}"


def _step(action: Action) -> Action:
    parts = (action_of(f"pick up {argument}").arguments[0] for argument in action.arguments)
    return Action(_logged(action)[0], tuple(parts))


def _wanted(episode: Episode) -> str:
    """Return the effects of the plan as text: the supports in the end."""
    below: dict[str, str] = {}
    for action in episode.plan:
        below.pop(action.arguments[0], None)
        if action.operator == STACK:
            below[action.arguments[0]] = action.arguments[1]
    parts = [f"the {name} is on top of the {support}" for name, support in below.items()]
    return ", ".join(parts) or "every step of the plan is done"
