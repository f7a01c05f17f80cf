"""From images and sound of a household to readings of facts: places from depth and masks, states from learned readers.

Nothing is guessed, and nothing is remembered but what is needed to read: what an observation does not show has
certainty 0, and how probable a reading is does not depend on what was expected. What is believed is decided by
`nsrecover.belief.tracker`. Pieces of food are one object of the domain, which is in all places in which a piece is seen
or believed.
"""

from __future__ import annotations

import copy
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from nsrecover.core import PLACE, FactScene, FloatArray, Observation, Property, StateFact
from nsrecover.core.entrance import check_kind
from nsrecover.domains.base import State
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, noun, slice_of
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import changed, held
from nsrecover.perception.objects.shared_numbers import with_shared_numbers
from nsrecover.perception.objects.support import FLOOR, SupportRelations
from nsrecover.perception.sounds import UNKNOWN_SOUND, Hearing, SoundPerceiver
from nsrecover.perception.states import Alike, StateReader, read_states, state_masks, worth

AT_THE_END_S = 1.0
"""What goes on when an observation is made was heard in this time before it."""
HEARD = 300.0
"""How much more likely a sound is if an object that it can come from has changed than if none has."""
HINTED = 5.0
"""The same of what may be among unknown sounds, while nothing is gone from its place: doors and motors are heard as
unknown sounds, and in 5 of 50 observations of tasks in which nothing broke, what breaks was among them."""
LEAST = 3.0
"""What a sound tells less surely of an object than by this ratio does not count."""
LOST = 10.0
"""How much more probably a sound came from what is gone from its place than from what is not in view."""
UNHEARD = 0.1
"""How much less probable a change without its sound is."""
FELT = 0.97
"""Certainty that what the fingers have held is still held if they feel something, though it is seen elsewhere."""
MISTAKEN = 0.75
"""Certainty that the fingers hold what seems to float, if what they should hold is not seen."""
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
    in view or stand on something that nothing is put on, and states that the reader does not give. The certainty of a
    state is that of the reading alone. Readings of one state err alike: each counts for less the more there were since
    the state may have changed, and for hardly anything in the same view.

    Invariants of the world are readings, too: what the fingers feel is what they have taken, fingers that feel nothing
    hold nothing, and what is seen is not behind a closed door.

    Args:
        instance: the household over the objects of the scene.
        reader: reads states from crops, such as `nsrecover.models.states.StateModel.load()`; None: states stay unknown.
        ears: hears; None: recordings do not count.
        signs: sounds that say whether something runs.
        alike: state variable -> how alike the errors of two readings are.

    Attributes:
        heard: what was heard before the last observation; None without ears.
    """

    def __init__(
        self,
        instance: Instance,
        reader: StateReader | None = None,
        ears: SoundPerceiver | None = None,
        signs: Sequence[Sign] = (),
        alike: Mapping[str, Alike] | None = None,
    ) -> None:
        self._alike = alike or {}
        self._instance, self._reader, self._ears = instance, reader, ears
        kinds = Counter(noun(name) for name in instance.objects)
        self._signs = {sign: name for sign in signs for name in instance.objects if self._is_only(name, sign, kinds)}
        self._support = SupportRelations(self._traits)
        self._unseen = dict.fromkeys(self._properties(), 0.0)
        self._places_of = defaultdict[tuple[Property, str], list[FloatArray]](list)
        self._places_since = defaultdict[tuple[Property, str], list[FloatArray]](list)
        self._taken: str | None = None
        self._before: State = frozenset()
        self._expected: State = frozenset()
        self.heard: Hearing | None = None

    def fork(self) -> HouseholdPerceiver:
        """An independent copy, for a frame that is not to be remembered; what it reads counts as seen first."""
        other = copy.copy(self)
        other._support, other._ears = self._support.fork(), copy.copy(self._ears)
        other._places_of, other._places_since = defaultdict(list), defaultdict(list)
        return other

    def expect(self, before: State, expected: State) -> None:
        """Say what should be seen next; it decides where places hide each other, and about pieces that are not seen.

        Args:
            before: the facts that were believed before the last action.
            expected: the facts that should hold now.
        """
        self._before, self._expected = before, expected
        if before != expected:  # an action
            fresh = changed(before, expected, self._instance.domain)
            kept = {each: places for each, places in self._places_of.items() if each[0] not in fresh}
            self._places_of, self._places_since = defaultdict(list, kept), defaultdict(list)

    def __call__(self, observation: Observation) -> FactScene:
        """The scene that an observation shows."""
        check_kind(observation, Observation, "camera images")
        observation = with_shared_numbers(observation)
        self.heard = None if self._ears is None else self._ears.step(observation)
        facts, certainty, since_action = set[StateFact](), dict(self._unseen), dict[Property, float]()
        chances, more = self._read(observation)
        places = self._places(observation, chances)
        for name, (found, sure) in places.items():
            facts |= found
            certainty[PLACE, name] = sure
            if ("holding", name) in found:  # in the hand nothing tells how it stands
                chances.pop(("toppled", name), None)
            for place in (fact[2] for fact in found if fact[0] == "at"):  # what lies in a vessel looks like a liquid
                chances.pop(("filled", place), None)
        self._pieces(observation, facts, certainty)
        self._listen(chances, self._events({name: found for name, (found, _) in places.items()}))
        for prop, each in chances.items():
            value = max(each, key=each.__getitem__)
            certainty[prop] = each[value]
            facts |= self._fact(*prop, value)
            if prop in more:
                since_action[prop] = _least_certain({one: each[one] * more[prop][one] for one in each}, value)
        return FactScene(frozenset(facts), certainty, since_action)

    def _places(
        self, observation: Observation, chances: Mapping[Property, Mapping[str, float]]
    ) -> dict[str, tuple[set[StateFact], float]]:
        """Object -> where it is and how certain that is, for those of which this is known.

        Nowhere, if the gripper has lost it, or if its place is in view and empty.
        """
        should = {fact[1]: fact[2] for fact in sorted(self._expected) if fact[0] == "at"}
        domain = self._instance.domain
        due, before = held(self._expected, domain), held(self._before, domain) or self._taken
        found: dict[str, set[StateFact]] = defaultdict(set)
        for _, fact in sorted(self._support.step(observation, should, due or before).items()):
            if len(fact) == 2 or fact[2] == FLOOR or self._traits(fact[2]) & {Trait.FLAT, Trait.HOLLOW}:
                found[self._known_as(fact[1])].add((fact[0], *map(self._known_as, fact[1:])))
        for name in [name for name, facts in found.items() if any(self._shut(fact, chances) for fact in facts)]:
            del found[name]  # it is in front of a closed door
        shown = {self._known_as(name) for name in observation.labels.values()}
        if due is not None or before is not None or not observation.holding:
            missed = {
                name: place
                for name, place in should.items()
                if name not in found and name not in shown and self._open(place, chances)
            }
            found |= {name: set() for name in self._support.absent(observation, missed)}
        if not observation.holding:
            self._taken = None
            if before is not None and before not in found and before not in should:
                found[before] = set()
            if due is not None and due not in found:  # hidden where the fingers have missed it
                found[due] = {fact for fact in self._before if fact[0] in _PLACES and fact[1] == due}
            return {name: (facts, 1.0) for name, facts in found.items()}
        self._taken, sure = self._felt(found, before, due)
        floats = [name for name, facts in found.items() if ("holding", name) in facts and name != self._taken]
        for name in floats:  # the fingers hold only one thing
            del found[name]
        if (taken := self._taken) is not None:
            found[taken] = {("holding", taken)} | (found.get(taken, set()) if is_slice(taken) else set())
        return {name: (facts, sure if name == self._taken else 1.0) for name, facts in found.items()}

    def _felt(
        self, found: Mapping[str, set[StateFact]], before: str | None, due: str | None
    ) -> tuple[str | None, float]:
        """What the fingers hold, which feel something, and how certain that is; None if that is not known."""
        if before is not None:  # they have not let go of it
            seen = found.get(before, set())
            return before, FELT if seen and ("holding", before) not in seen else 1.0
        floats = next((name for name, facts in found.items() if ("holding", name) in facts), None)
        if due is not None and (is_slice(due) or not found.get(due, set()) & self._before):
            if floats in (None, due) or is_slice(due) or due in found:
                return due, 1.0  # hidden, or something else is right below it; of several pieces the others lie about
            return floats, MISTAKEN
        return floats, 1.0

    def _shut(self, fact: StateFact, chances: Mapping[Property, Mapping[str, float]]) -> bool:
        """Whether a place has a door that reads as closed: what is seen is not in it."""
        if fact[0] != "at" or Trait.DOOR not in self._traits(fact[2]):
            return False
        read = chances.get(("open", fact[2]))
        return ("open", fact[2]) not in self._before | self._expected if read is None else read["open"] < 0.5

    def _open(self, place: str, chances: Mapping[Property, Mapping[str, float]]) -> bool:
        """Whether what is in a place can be seen: its door, if it has one, should be open and does not read as closed.

        What is in a drawer moves with it: where it stood, nothing is seen once the drawer is closed.
        """
        should = Trait.DOOR not in self._traits(place) or ("open", place) in self._expected
        return should and not self._shut(("at", "", place), chances)

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
            if certainty.get((PLACE, name), 1.0) > 0.0:
                expected = {fact for fact in self._expected if fact[1] == name and fact[0] in _PLACES}
                facts |= expected & self._before
                if expected - self._before - facts:  # the piece that was put somewhere is hidden, or elsewhere
                    certainty[PLACE, name] = 0.0

    def _read(
        self, observation: Observation
    ) -> tuple[dict[Property, dict[str, float]], dict[Property, dict[str, float]]]:
        """Property -> likelihood of each value, for those that are seen, and factors to it without earlier actions.

        A reading adds little to earlier ones of the same value, whose errors are alike: see `worth`.
        """
        likelihoods, more = dict[Property, dict[str, float]](), dict[Property, dict[str, float]]()
        if self._reader is None:
            return likelihoods, more
        read = read_states(self._reader, observation, state_masks(observation, self._instance.objects), False)
        place = np.asarray(observation.cameras[0].world_from_camera, np.float32)[:3, 3]
        for name, states in read.items():
            for variable, chances in states.items():
                if not chances:
                    continue
                prop, value = (variable, name), max(chances, key=chances.__getitem__)
                alike = self._alike.get(variable, Alike())
                weight = _added(self._places_of[prop, value], place, alike)
                rest = _added(self._places_since[prop, value], place, alike) - weight
                likelihoods[prop] = _normalised({each: max(chances[each], 1e-6) ** weight for each in chances})
                more[prop] = {each: max(chances[each], 1e-6) ** rest for each in chances}
        return likelihoods, more

    def _listen(self, chances: dict[Property, dict[str, float]], events: Mapping[Property, tuple[str, float]]) -> None:
        """Weigh what is read by what is heard: what has happened, what goes on, and that nothing was heard."""
        for prop, (told, ratio) in events.items():
            known = chances.setdefault(prop, self._even(prop[0]))
            before = self._value(*prop, self._before)
            for value in known:
                known[value] *= ratio if value == told or (not told and value != before) else 1.0
        for prop, ratio in self._sounding():
            known = chances.setdefault(prop, self._even(prop[0]))
            known[self._values(prop[0])[1]] *= ratio
        for prop, known in chances.items():
            before = self._value(*prop, self._before)
            if self._silent(prop[0]):
                for value in known.keys() - {before}:
                    known[value] *= UNHEARD
            known |= _normalised(known)

    def _events(self, places: Mapping[str, set[StateFact]]) -> dict[Property, tuple[str, float]]:
        """What sounds tell has happened: property, its value now, and how much more likely the sound is then.

        What is gone from its place or lies on the floor is more likely than what is not in view, and what stands where
        it should hardly likely. What the action should have changed is no news.
        """
        heard, found = self.heard, dict[Property, tuple[str, float]]()
        if heard is None:
            return found
        sounds = heard.suspected
        for event in EVENTS:
            names = [name for name in self._instance.objects if event.trait in self._traits(name)]
            due = any(self._is_due(event.variable, name) for name in names)
            flows = event.variable == "filled" and any(fact[0] == "running" for fact in self._expected)
            if event.label not in sounds or due or flows:
                continue
            shares = {name: self._share(places.get(name)) for name in names}
            ratio = HEARD if event.label in heard.labels or LOST in shares.values() else HINTED
            ratios = {name: ratio * share / sum(shares.values()) for name, share in shares.items()}
            found |= {(event.variable, name): (event.value, each) for name, each in ratios.items() if each > LEAST}
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

    def _is_due(self, variable: str, name: str) -> bool:
        """Return whether the last action should have changed a variable."""
        return self._value(variable, name, self._before) != self._value(variable, name, self._expected)

    def _silent(self, variable: str) -> bool:
        """Whether a change of a variable would have been heard, and nothing was."""
        heard = self.heard
        labels = {event.label for event in EVENTS if event.always and event.variable == variable}
        return bool(labels) and heard is not None and heard.listened and labels.isdisjoint(heard.suspected)

    def _values(self, variable: str) -> tuple[str, ...]:
        known = self._instance.domain.variables.get(variable)
        return () if known is None else known.values

    def _even(self, variable: str) -> dict[str, float]:
        """Likelihoods that say nothing."""
        values = self._values(variable)
        return dict.fromkeys(values, 1 / len(values))

    def _value(self, variable: str, name: str, state: State) -> str:
        """The value that a variable has in a state."""
        values = self._values(variable)
        return next((value for value in values[1:] if self._fact(variable, name, value) <= state), values[0])

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


def _added(places: list[FloatArray], place: FloatArray, alike: Alike) -> float:
    """What a reading from a place is worth after those from some places, to which it is added."""
    before = worth(places, alike)
    places.append(place)
    return max(worth(places, alike) - before, 0.0)


def _least_certain(chances: Mapping[str, float], value: str) -> float:
    """The probability of a value if each other one were as likely as the likeliest of them."""
    most = max(chance for one, chance in chances.items() if one != value)
    return chances[value] / (chances[value] + (len(chances) - 1) * most)


def _normalised(chances: Mapping[str, float]) -> dict[str, float]:
    """The same in proportion, with the sum 1."""
    total = sum(chances.values())
    return {value: each / total for value, each in chances.items()}
