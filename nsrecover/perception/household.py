"""From images and sound of a household to a scene of facts: places from depth and masks, states from learned readers.

Nothing is guessed: what an observation does not show has certainty 0. Pieces of food are one object of the domain,
which is in all places in which a piece is seen or believed.
"""

from __future__ import annotations

import copy
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from nsrecover.core import PLACE, FactScene, Observation, Property, StateFact
from nsrecover.core.entrance import check_kind
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, slice_of
from nsrecover.domains.instance import Instance
from nsrecover.perception.objects.shared_numbers import with_shared_numbers
from nsrecover.perception.objects.support import FLOOR, SupportRelations, gripper_holds
from nsrecover.perception.sounds import UNKNOWN_SOUND, Hearing, SoundPerceiver
from nsrecover.perception.states import StateReader, read_states, state_masks

AT_THE_END_S = 1.0
"""What goes on when an observation is made was heard in this time before it."""
CHANGES = 0.01
"""Prior probability that a state changed without an action."""
WORKS = 2 / 3
"""Prior probability of success of an action."""
SAME_VIEW = 0.02
"""Probabilities that differ less than this from those of an earlier look are of the same view and say nothing new."""
HEARD = 0.9
"""Probability that an object has changed in the way that a sound tells; shared by the objects that it may come from."""
HINTED = 0.3
"""The same of what may be among unknown sounds, while nothing is gone from its place."""
LOST = 10.0
"""How much more probably a sound came from what is gone from its place than from what is not in view."""
UNHEARD = 0.1
"""How much less probable a change without its sound is, and a failure of an action of which other effects are seen."""
CARRIED = 0.1
"""Highest prior probability of a change that was read at the step before and not believed."""
SURE = 0.9
"""Probability from which on a reading shows an effect of an action."""
_PLACES = ("at", "atop")


@dataclass(frozen=True)
class Sign:
    """A sound that says whether a state variable of an object holds, such as running water of a faucet.

    Attributes:
        label: class of the sound.
        variable: a variable with two values.
        kind: noun of the object.
        if_so: share of the demonstrated steps after which it was heard to the end if the second value held.
        if_not: the same if the first value held.
    """

    label: str
    variable: str
    kind: str
    if_so: float
    if_not: float


@dataclass(frozen=True)
class Event:
    """A sound that says that something has happened to one of the objects with a trait.

    Attributes:
        label: class of the sound.
        variable: that changes.
        value: that it has afterwards; empty: any other one.
        trait: of the objects that it may come from.
        always: whether the variable hardly ever changes without this sound.
    """

    label: str
    variable: str
    value: str
    trait: Trait
    always: bool = False


EVENTS = (
    Event("shatter", "broken", "broken", Trait.FRAGILE, always=True),
    Event("egg_crack", "cracked", "cracked", Trait.CRACKABLE, always=True),
    Event("toaster_pop", "running", "off", Trait.TIMED),
    Event("pouring", "filled", "", Trait.VESSEL),
)
"""Sounds that are facts; that something runs is learned as a `Sign`."""


class HouseholdPerceiver:
    """Turns the observations of one episode into scenes of facts, for `FactSystem.monitor`.

    The detector's labels are names. What an observation does not show has certainty 0: places of objects that are not
    in view or stand on something that nothing is put on, and states that the reader does not give.

    Args:
        instance: the household over the objects of the scene.
        reader: reads states from crops, such as `nsrecover.models.states.StateModel.load()`; None: states stay unknown.
        ears: hears; None: recordings do not count.
        signs: sounds that say whether something runs.

    Attributes:
        heard: what was heard before the last observation; None without ears.
    """

    def __init__(
        self,
        instance: Instance,
        reader: StateReader | None = None,
        ears: SoundPerceiver | None = None,
        signs: Sequence[Sign] = (),
    ) -> None:
        self._instance, self._reader, self._ears = instance, reader, ears
        kinds = Counter(noun(name) for name in instance.objects)
        self._signs = {sign: name for sign in signs for name in instance.objects if self._is_only(name, sign, kinds)}
        self._certain = False
        self._support = SupportRelations(self._traits)
        self._unseen = dict.fromkeys(self._properties(), 0.0)
        self._readings = defaultdict[Property, list[dict[str, float]]](list)
        self._believed: dict[Property, dict[str, float]] = {}
        self._carried: dict[Property, dict[str, float]] = {}
        self._told: dict[Property, tuple[str, float]] = {}
        self._doubted: Mapping[Property, int] = {}
        self._before: State = frozenset()
        self._expected: State = frozenset()
        self.heard: Hearing | None = None

    def fork(self) -> HouseholdPerceiver:
        """An independent copy for a frame that is not to be remembered: it reads states only where that is certain."""
        other = copy.copy(self)
        other._certain = True
        other._support, other._ears = self._support.fork(), copy.copy(self._ears)
        other._believed, other._told = dict(self._believed), dict(self._told)
        other._readings = defaultdict(list, {prop: list(every) for prop, every in self._readings.items()})
        return other

    def expect(self, before: State, expected: State, doubted: Mapping[Property, int] | None = None) -> None:
        """Say what should be seen next; it decides where places hide each other, and about pieces that are not seen.

        Args:
            before: the facts that were believed before the last action.
            expected: the facts that should hold now.
            doubted: property -> number of actions that have failed as if it was otherwise; such failures are evidence.
        """
        self._before, self._expected, self._doubted = before, expected, doubted or {}
        self._carried = dict(self._believed)
        self._readings.clear()
        self._told.clear()

    def __call__(self, observation: Observation) -> FactScene:
        """The scene that an observation shows."""
        check_kind(observation, Observation, "camera images")
        observation = with_shared_numbers(observation)
        self.heard = None if self._ears is None else self._ears.step(observation)
        facts, certainty = set[StateFact](), dict(self._unseen)
        places = self._places(observation)
        for name, found in places.items():
            facts |= found
            certainty.pop((PLACE, name), None)
        self._pieces(observation, facts, certainty)
        self._told |= self._events(places)
        every = self._chances(observation)
        worked = self._seen_effects(facts, every)
        for (variable, name), chances in every.items():
            likely = self._likely(variable, name, chances, bool(worked - {(variable, name)}))
            self._believed[variable, name] = likely
            value = max(likely, key=likely.__getitem__)
            certainty[variable, name] = likely[value]
            facts |= self._fact(variable, name, value)
        return FactScene(frozenset(facts), certainty)

    def _likely(self, variable: str, name: str, chances: Mapping[str, float], worked: bool) -> dict[str, float]:
        """Probabilities of the values of a variable, given what is expected and all that was read since (Bayes)."""
        if not self._expected:
            return dict(chances)
        readings = self._readings[variable, name]
        if all(max(abs(one[value] - chances[value]) for value in chances) >= SAME_VIEW for one in readings):
            readings.append(dict(chances))
        prior = self._prior(variable, name, worked)
        product = {value: prior.get(value, 0.0) * math.prod(one[value] for one in readings) for value in chances}
        total = sum(product.values())
        return {value: chance / total for value, chance in product.items()} if total else dict(chances)

    def _prior(self, variable: str, name: str, worked: bool) -> dict[str, float]:
        """Weights of the values of a variable before it is read.

        What the last action should have changed is as expected with a probability of `WORKS`, nearly always if other
        effects of it are seen (`worked`); if not, it is as it was believed to be before. Everything else is as before
        with 1 - `CHANGES`, or has changed if that was read before. An action that works with `WORKS` if a property is
        as believed, and fails otherwise, makes that less probable with every failure.
        """
        values = self._instance.domain.variables[variable].values
        expected, before = (self._value(variable, name, state) for state in (self._expected, self._before))
        told, changed = self._told.get((variable, name), ("", CHANGES * self._silence(variable)))
        due = self._is_due(variable, name)
        sure = 1 - (1 - WORKS) * (UNHEARD if worked else 1.0) if due else 1 - changed
        odds = sure / (1 - sure) * (1 - WORKS) ** self._doubted.get((variable, name), 0)
        sure = odds / (1 + odds)
        others = [told] if told not in ("", expected) else [value for value in values if value != expected]
        weights = {value: CHANGES if due and value not in (before, told) else 1.0 for value in others}
        prior = {value: weight * (1 - sure) / sum(weights.values()) for value, weight in weights.items()}
        prior[expected] = sure
        carried = self._carried.get((variable, name), {})
        if not due:
            read = {value: min(chance, CARRIED) for value, chance in carried.items() if value != expected}
            return prior | {value: max(chance, prior.get(value, 0.0)) for value, chance in read.items()}
        stays = carried.get(before, 1.0)
        if stays < 1 - SURE:  # what was believed then is known better by now
            return prior
        was_other = {value: chance for value, chance in carried.items() if value != before}
        return {value: stays * prior.get(value, 0.0) + was_other.get(value, 0.0) for value in values}

    def _seen_effects(self, facts: set[StateFact], chances: Mapping[Property, Mapping[str, float]]) -> set[Property]:
        """What the last action should have changed and has changed: places, and states that are read for certain."""
        new = self._expected - self._before
        seen = {(PLACE, fact[1]) for fact in new & facts if fact[0] in _PLACES}
        for (variable, name), each in chances.items():
            if self._is_due(variable, name) and each[self._value(variable, name, self._expected)] >= SURE:
                seen.add((variable, name))
        return seen

    def _is_due(self, variable: str, name: str) -> bool:
        """Return whether the last action should have changed a variable."""
        return self._value(variable, name, self._before) != self._value(variable, name, self._expected)

    def _silence(self, variable: str) -> float:
        """How much less probable a change of a variable is because the sound of it was not heard."""
        heard = self.heard
        loud = any(event.always and event.variable == variable for event in EVENTS)
        return UNHEARD if loud and heard is not None and heard.listened else 1.0

    def _value(self, variable: str, name: str, state: State) -> str:
        """The value that a variable has in a state."""
        values = self._instance.domain.variables[variable].values
        return next((value for value in values[1:] if self._fact(variable, name, value) <= state), values[0])

    def _places(self, observation: Observation) -> dict[str, set[StateFact]]:
        """Object -> where it is, for those of which this is known.

        Nowhere, if the gripper has lost it, or if its place is in view and empty.
        """
        should = {fact[1]: fact[2] for fact in sorted(self._expected) if fact[0] == "at"}
        held, before = _held(self._expected), _held(self._before)
        found: dict[str, set[StateFact]] = defaultdict(set)
        for _, fact in sorted(self._support.step(observation, should, held).items()):
            if len(fact) == 2 or fact[2] == FLOOR or self._traits(fact[2]) & {Trait.FLAT, Trait.HOLLOW}:
                found[self._known_as(fact[1])].add((fact[0], *map(self._known_as, fact[1:])))
        grips = gripper_holds(observation)
        if held is not None or not grips:
            shown = {self._known_as(name) for name in observation.labels.values()}
            due = {name: place for name, place in should.items() if name not in found and name not in shown}
            found |= {name: set() for name in self._support.absent(observation, due)}
        if not grips:
            if before is not None and before not in found:
                found[before] = set()
            if held is not None and held not in found:  # hidden where the fingers have missed it
                found[held] = {fact for fact in self._before if fact[0] in _PLACES and fact[1] == held}
        elif all(fact[0] != "holding" for facts in found.values() for fact in facts):
            if held is None:
                if before is not None and before not in found:  # it was not let go of, and the gripper hides it
                    found[before] = {("holding", before)}
            elif is_slice(held):  # one of several pieces; the others lie where they are seen
                found[held].add(("holding", held))
            elif held == before or not found[held] & self._before:  # hidden, or something else is right below it
                found[held] = {("holding", held)}
        return found

    def _pieces(self, observation: Observation, facts: set[StateFact], certainty: dict[Property, float]) -> None:
        """What is known of sliced food: whether it is sliced, and the places of pieces, of which only some are seen."""
        seen = {self._known_as(name) for name in observation.labels.values()}
        for name in self._instance.objects:
            if not is_slice(name):
                continue
            if name in seen:
                facts.add(("sliced", name))
                certainty.pop(("sliced", name), None)
                gone = [food for food in self._instance.objects if food not in seen and slice_of(food) == name]
                for food in gone:  # it is in pieces
                    certainty.pop((PLACE, food), None)
            elif any(slice_of(other) == name for other in seen):
                certainty.pop(("sliced", name), None)
            if (PLACE, name) not in certainty:
                expected = {fact for fact in self._expected if fact[1] == name and fact[0] in _PLACES}
                facts |= expected & self._before
                if expected - self._before - facts:  # the piece that was put somewhere is hidden, or elsewhere
                    certainty[PLACE, name] = 0.0

    def _chances(self, observation: Observation) -> dict[Property, dict[str, float]]:
        """State variable and object -> probability of each value, for those that are seen or heard."""
        masks = state_masks(observation, self._instance.objects)
        read = read_states(self._reader, observation, masks, self._certain) if self._reader is not None else {}
        found = {
            (variable, name): dict(chances)
            for name, states in read.items()
            for variable, chances in states.items()
            if chances
        }
        for variable, name in self._told.keys() - found.keys():
            values = self._instance.domain.variables[variable].values
            found[variable, name] = dict.fromkeys(values, 1 / len(values))
        for (variable, name), ratio in self._sounding():
            normal, other = self._instance.domain.variables[variable].values
            chances = found.get((variable, name), {normal: 0.5, other: 0.5})
            odds = ratio * chances[other] / max(chances[normal], 1e-6)
            found[variable, name] = {normal: 1 / (1 + odds), other: odds / (1 + odds)}
        return found

    def _events(self, places: Mapping[str, set[StateFact]]) -> dict[Property, tuple[str, float]]:
        """What sounds tell has happened: property, its value now, and how probable that is.

        What is gone from its place or lies on the floor is more likely than what is not in view, and what stands where
        it should hardly likely. What the action should have changed is no news.
        """
        heard, found = self.heard, dict[Property, tuple[str, float]]()
        if heard is None:
            return found
        sounds = {hint.label for hint in heard.hints}.union(heard.labels)
        for event in EVENTS:
            names = [name for name in self._instance.objects if event.trait in self._traits(name)]
            due = any(self._is_due(event.variable, name) for name in names)
            flows = event.variable == "filled" and any(fact[0] == "running" for fact in self._expected)
            if event.label not in sounds or due or flows:
                continue
            shares = {name: self._share(places.get(name)) for name in names}
            heard_so = HEARD if event.label in heard.labels or LOST in shares.values() else HINTED
            found |= {
                (event.variable, name): (event.value, heard_so * share / sum(shares.values()))
                for name, share in shares.items()
            }
        return found

    def _share(self, place: set[StateFact] | None) -> float:
        """How probable it is that a sound came from an object, relative to one that is not in view."""
        if place is None:
            return 1.0
        return 0.05 if place and place <= self._expected else LOST

    def _sounding(self) -> Iterator[tuple[Property, float]]:
        """What can be heard: property, and how much more likely what was heard is if its second value holds.

        An unknown sound may drown others: then only what is heard counts, and not what is missing.
        """
        heard = self.heard
        if heard is None or not heard.listened or heard.end_s - heard.start_s < AT_THE_END_S:
            return
        now = {event.label for event in heard.events if event.end_s > heard.end_s - AT_THE_END_S}
        for sign, name in self._signs.items():
            sounds = sign.label in now
            if not sounds and UNKNOWN_SOUND in now:
                continue
            yield (
                (sign.variable, name),
                sign.if_so / sign.if_not if sounds else (1 - sign.if_so) / (1 - sign.if_not),
            )

    def _fact(self, variable: str, name: str, value: str) -> set[StateFact]:
        """The fact that a variable has a value; none for the first one, which is the normal one."""
        values = self._instance.domain.variables[variable].values
        if value == values[0]:
            return set()
        return {(variable, name) if len(values) == 2 else (variable, name, value)}

    def _properties(self) -> list[Property]:
        """Everything that can be said about the objects."""
        objects = [name for name in self._instance.objects if Trait.LIQUID not in self._traits(name)]
        places = [(PLACE, name) for name in objects if Trait.PORTABLE in self._traits(name)]
        return places + [
            (variable.name, name)
            for variable in self._instance.domain.variables.values()
            for name in objects
            if not variable.trait or variable.trait in self._traits(name)
        ]

    def _known_as(self, name: str) -> str:
        """The name of an object in the domain, which does not number the pieces of a food."""
        return name if name in self._instance.objects else noun(name)

    def _traits(self, name: str) -> frozenset[str]:
        return frozenset(self._instance.objects.get(self._known_as(name), frozenset()))

    def _is_only(self, name: str, sign: Sign, kinds: Mapping[str, int]) -> bool:
        """Whether a sign is about an object, and about no other one of the scene."""
        return noun(name) == sign.kind and kinds[sign.kind] == 1 and sign.variable in self._instance.domain.variables


def _held(facts: State) -> str | None:
    """What the gripper holds."""
    return next((fact[1] for fact in sorted(facts) if fact[0] == "holding"), None)
