"""What actions that fail again and again say: which readings of states are wrong, and which beliefs are doubtful."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, FactScene, Property
from nsrecover.domains.base import State
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property
from nsrecover.monitoring.facts.outlook import rests_on

TRIES = 2
"""After so many tries of an action that by the same reading of a state did not work, that reading is not relied on any
more: it is then more likely that the state is misread than that the action fails again and again."""
_NONE: State = frozenset()


class Failures:
    """The failed actions of an episode; places are relied on however often they are seen.

    Args:
        instance: the domain over the objects of the scene.

    Attributes:
        doubted: state -> number of actions that failed as if it was otherwise than believed.
    """

    def __init__(self, instance: Instance) -> None:
        self._instance, self._domain = instance, instance.domain
        self.doubted = Counter[Property]()
        self._failed = Counter[tuple[Action, Property]]()
        self._wrong = dict[Property, State]()

    def note(self, action: Action, deviating: Collection[Property], believed: State) -> None:
        """Count that an action is done again, because of properties that are not believed to be as they should."""
        now = by_property(believed, self._domain)
        self.doubted.update(self._explaining(action, believed))
        for prop in deviating:
            self._failed[action, prop] += 1
            if prop[0] != PLACE and self._failed[action, prop] >= TRIES:
                self._wrong[prop] = now.get(prop, _NONE)

    def forget(self) -> None:
        """An action has worked: reset the doubts of earlier failures."""
        self.doubted.clear()

    def read(self, look: FactScene) -> None:
        """Rely again on the readings of states that an observation shows otherwise: they can be read."""
        now = by_property(look.facts, self._domain)
        for prop in [prop for prop, value in self._wrong.items() if look.knows(prop) and now.get(prop, _NONE) != value]:
            del self._wrong[prop]
            self._failed = Counter({key: times for key, times in self._failed.items() if key[1] != prop})

    def _explaining(self, action: Action, believed: State) -> set[Property]:
        """The states with which, if they were otherwise, an action could not be done: a closed door."""
        inside = {fact[2] for fact in believed if len(fact) == 3 and fact[1] in action.arguments}
        objects = self._instance.objects
        states = {
            (variable.name, name)
            for name in (*action.arguments, *(inside & objects.keys()))
            for variable in self._domain.variables.values()
            if not variable.trait or variable.trait in objects[name]
        }
        return set(rests_on(self._instance, believed, action, states))

    def without(self, look: FactScene, expected: State) -> FactScene:
        """An observation without the readings that are most likely wrong, but for those that are as expected."""
        if not self._wrong:
            return look
        now, due = (by_property(facts, self._domain) for facts in (look.facts, expected))
        left_out = [
            prop for prop, value in self._wrong.items() if now.get(prop, _NONE) == value != due.get(prop, _NONE)
        ]
        return replace(look, certainty={**look.certainty, **dict.fromkeys(left_out, 0.0)})
