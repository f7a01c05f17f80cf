"""From images of a household to a scene of facts: places from depth and masks, states from a learned reader."""

from __future__ import annotations

from nsrecover.core.facts import PLACE, FactScene, Property
from nsrecover.core.observation import Observation
from nsrecover.domains.base import Fact
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun
from nsrecover.domains.instance import Instance
from nsrecover.perception.states import StateReader, read_states
from nsrecover.perception.support import SupportRelations


class HouseholdPerceiver:
    """Turns the observations of one episode into scenes of facts, for `FactSystem.monitor`.

    The detector's labels are names. What an observation does not show has certainty 0: places of objects that are not
    in view or stand on something that nothing is put on, and states that the reader does not give.

    Args:
        instance: the household over the objects of the scene.
        reader: reads states from crops, such as `nsrecover.models.states.StateModel.load()`; None: states stay unknown.
    """

    def __init__(self, instance: Instance, reader: StateReader | None = None) -> None:
        self._instance, self._reader = instance, reader
        self._support = SupportRelations(self._traits)
        self._unseen = dict.fromkeys(self._properties(), 0.0)

    def __call__(self, observation: Observation) -> FactScene:
        """The scene that an observation shows."""
        facts, certainty = set[Fact](), dict(self._unseen)
        for name, fact in self._support.step(observation).items():
            if len(fact) == 2 or self._traits(fact[2]) & {Trait.FLAT, Trait.HOLLOW}:
                facts.add((fact[0], *map(self._known_as, fact[1:])))
                certainty.pop((PLACE, self._known_as(name)), None)
        masks = {name: (number,) for number, name in observation.labels.items() if name in self._instance.objects}
        read = read_states(self._reader, observation, masks) if self._reader is not None else {}
        for name, states in read.items():
            for variable, chances in states.items():
                if chances:
                    value = max(chances, key=chances.__getitem__)
                    certainty[variable, name] = chances[value]
                    facts |= self._fact(variable, name, value)
        return FactScene(frozenset(facts), certainty)

    def _fact(self, variable: str, name: str, value: str) -> set[Fact]:
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
