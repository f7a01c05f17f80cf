"""Settings of the conformance kit for a domain: actions to try, and their effects."""

from dataclasses import dataclass, field

import numpy as np

from nsrecover.core import Action, FloatArray, Plan
from nsrecover.core.geometry import gaps
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.kinds import KINDS, Trait, traits_of
from nsrecover.domains.household.names import noun
from nsrecover.domains.tabletop.operators import SET_ASIDE, STACK
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidAction, UnknownObject, did_you_mean
from nsrecover.testing.lifted import LiftedObservation, graph_of
from nsrecover.testing.probe_actions import action_back_to, choose_action, promise_holds, unreachable_action
from nsrecover.testing.rules import Rule
from nsrecover.util.english import amount

NOWHERE = "nowhere"
"""Not the name of any object or operator."""
_AWAY_M = 0.06
"""Distance from its place beyond which an object counts as removed."""
_ON_M, _BESIDE_M = 0.05, 0.03
"""How far the bottom of a thing may be from the top of what it stands on, and its middle outside of its sides."""

Refusal = tuple[Rule, Action, type[Exception]]


@dataclass(frozen=True)
class TabletopSetting:
    """Objects on a table, cameras that do not move.

    Attributes:
        domain: of the table.
        cameras_move: whether cameras stand somewhere else after an action, because the robot drives.
        grounded: whether the objects stand on the plane z = 0; otherwise none is below it.
        state_words: first words of names that would tell a state.
    """

    domain: SpatialDomain
    cameras_move: bool = False
    grounded: bool = True
    state_words: frozenset[str] = frozenset()

    def portable(self, name: str) -> bool:
        """Everything on the table."""
        return True

    def refused(self, name: str) -> list[Refusal]:
        """Actions about an object that the world has to refuse."""
        return _refusals(Action(NOWHERE, (name,)), Action(STACK, (name,)), Action(SET_ASIDE, (NOWHERE,)))

    def check(self, start: LiftedObservation, action: Action) -> None:
        """Check an action that a user gave.

        Raises:
            InvalidAction: it is malformed, or not feasible.
            UnknownObject: it names an object that is not in sight.
        """
        graph = graph_of(start)
        self.domain.check(Plan((action,)), graph)
        if reasons := self.domain.operator_of(action).violated(graph, action):
            text = "; ".join(map(self.domain.text, reasons))
            raise InvalidAction(f"expected an action that can be done at once, found {action}: {text}")

    def choose(self, start: LiftedObservation) -> list[Action]:
        """Stack two free-standing objects, or shift one; then put it back."""
        graph = graph_of(start)
        action = choose_action(graph, self.domain)
        return [] if action is None else [action, action_back_to(graph, action.arguments[0])]

    def holds(self, before: LiftedObservation, after: LiftedObservation, action: Action) -> bool:
        """Whether what an action promises is seen."""
        moved = action.arguments[0]
        if moved not in after.boxes:
            return False
        graph = graph_of(after, before)
        # a moved object is where it is seen, even if it is partly occluded
        graph = graph.with_node(graph.index(moved), after.boxes[moved])
        return promise_holds(graph_of(before), graph, action, self.domain)

    def impossible(self, start: LiftedObservation) -> Action:
        """Put something 6 m away."""
        return unreachable_action(graph_of(start), start.names[0])


@dataclass
class HouseholdSetting:
    """Things on furniture, a robot that drives with its cameras.

    Attributes:
        domain: has the operators `pick_up` and `put_on`.
        places: name of a surface -> its box in the first observation.
    """

    domain: Domain
    cameras_move: bool = True
    grounded: bool = False
    places: dict[str, FloatArray] = field(default_factory=dict)

    @property
    def state_words(self) -> frozenset[str]:
        """Values of the state variables: `dirty`, `open`, `water`."""
        return frozenset(value for variable in self.domain.variables.values() for value in variable.values)

    def portable(self, name: str) -> bool:
        """Whether its kind can be carried."""
        return Trait.PORTABLE in traits_of(name)

    def refused(self, name: str) -> list[Refusal]:
        """Actions about an object that the world has to refuse."""
        return _refusals(Action(NOWHERE, (name,)), Action("pick_up", (name, name)), Action("pick_up", (NOWHERE,)))

    def check(self, start: LiftedObservation, action: Action) -> None:
        """Check an action that a user gave.

        Raises:
            InvalidAction: it is malformed, or not feasible.
            UnknownObject: it names an object that is not in sight.
        """
        operator = self.domain.operators.get(action.operator)
        if operator is None:
            raise InvalidAction(
                f"expected an operator of the domain {self.domain.name}, found {action.operator!r}."
                f"{did_you_mean(action.operator, self.domain.operators)}"
            )
        if len(operator.parameters) != len(action.arguments):
            raise InvalidAction(
                f"expected {amount(len(operator.parameters), 'argument')} of {action.operator}, found "
                f"{len(action.arguments)}"
            )
        for name in action.arguments:
            if name not in start.boxes:
                raise UnknownObject(f"expected an object in sight, found {name!r}.{did_you_mean(name, start.names)}")

    def choose(self, start: LiftedObservation) -> list[Action]:
        """Pick up the thing with the most room around it, and put it back on what it stands on."""
        self.places = {name: box for name, box in start.boxes.items() if Trait.SURFACE in traits_of(name)}
        things = [name for name in start.names if self.portable(name)]
        rated = []
        for name in things:
            box = start.boxes[name]
            others = np.array([start.boxes[other] for other in things if other != name]).reshape(-1, 6)
            room = float(gaps(box, others)[:, :2].max(axis=1).min()) if len(others) else np.inf
            rated += [(room, name, place) for place, top in self.places.items() if _stands_on(box, top)]
        if not rated:
            return []
        _, name, place = max(rated)
        return [Action("pick_up", (name,)), Action("put_on", (name, place))]

    def holds(self, before: LiftedObservation, after: LiftedObservation, action: Action) -> bool:
        """Whether what was picked up is gone from its place, and what was put down stands where it should."""
        name = action.arguments[0]
        if action.operator == "pick_up":
            if name not in after.boxes or name not in before.boxes:
                return True
            return float(np.linalg.norm(after.boxes[name][:3] - before.boxes[name][:3])) > _AWAY_M
        place = action.arguments[-1]
        if action.operator == "put_on" and place in self.places:
            # one view shows a part of a worktop only
            known = [self.places[place], *(seen.boxes[place] for seen in (before, after) if place in seen.boxes)]
            return name in after.boxes and _stands_on(after.boxes[name], _around(known))
        return True

    def impossible(self, start: LiftedObservation) -> Action:
        """Put something down that the hand does not hold."""
        things = [name for name in start.names if self.portable(name)]
        places = [name for name in start.names if Trait.SURFACE in traits_of(name)]
        return Action("put_on", ((things or [start.names[0]])[0], (places or [start.names[-1]])[0]))


Setting = TabletopSetting | HouseholdSetting


def setting_of(domain: SpatialDomain | Domain) -> Setting:
    """The setting of a domain.

    Raises:
        InvalidAction: a symbolic domain lacks the operators that the kit tries.
    """
    if isinstance(domain, SpatialDomain):
        return TabletopSetting(domain)
    missing = sorted({"pick_up", "put_on"} - set(domain.operators))
    if missing:
        raise InvalidAction(
            f"expected pick_up and put_on among the operators of {domain.name}, found no {' and no '.join(missing)}; "
            "the kit tries a world with them"
        )
    return HouseholdSetting(domain)


def tells_state(name: str, words: frozenset[str]) -> bool:
    """Whether a name tells the state of its object: `dirty mug`; `wine bottle` is a kind."""
    first, _, rest = noun(name).partition(" ")
    return bool(rest) and first in words and noun(name) not in KINDS


def _refusals(operator: Action, arguments: Action, unknown: Action) -> list[Refusal]:
    return [
        (Rule.UNKNOWN_OPERATOR_REFUSED, operator, InvalidAction),
        (Rule.WRONG_ARGUMENTS_REFUSED, arguments, InvalidAction),
        (Rule.UNKNOWN_OBJECT_REFUSED, unknown, UnknownObject),
    ]


def _around(boxes: list[FloatArray]) -> FloatArray:
    """The box (6,) around boxes."""
    low = np.min([box[:3] - box[3:] / 2 for box in boxes], axis=0)
    high = np.max([box[:3] + box[3:] / 2 for box in boxes], axis=0)
    return np.asarray(np.concatenate([(low + high) / 2, high - low]), np.float32)


def _stands_on(thing: FloatArray, place: FloatArray) -> bool:
    """Whether the box of a thing is over the box of a surface and ends at its top."""
    beside = np.abs(thing[:2] - place[:2]) > place[3:5] / 2 + _BESIDE_M
    gap = (thing[2] - thing[5] / 2) - (place[2] + place[5] / 2)
    return not beside.any() and abs(float(gap)) < _ON_M
