"""Readings of states that did not change however often an action was repeated because of them: they are wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import PLACE, FactScene, Property
from nsrecover.domains.base import Domain, State
from nsrecover.domains.properties import by_property

TRIES = 2
"""After so many tries of an action that by the same reading of a state did not work, that reading is not relied on any
more: it is then more likely that the state is misread than that the action fails again and again."""
_NONE: State = frozenset()


class Misreadings:
    """The readings of an episode that are most likely wrong; places are relied on however often they are seen.

    Args:
        domain: of the facts.
    """

    def __init__(self, domain: Domain) -> None:
        self._domain = domain
        self._failed = Counter[tuple[Action, Property]]()
        self._wrong = dict[Property, State]()

    def note(self, action: Action, deviating: Collection[Property], believed: State) -> None:
        """Count that an action is done again, because of properties that are not believed to be as they should."""
        now = by_property(believed, self._domain)
        for prop in deviating:
            self._failed[action, prop] += 1
            if prop[0] != PLACE and self._failed[action, prop] >= TRIES:
                self._wrong[prop] = now.get(prop, _NONE)

    def without(self, look: FactScene, expected: State) -> FactScene:
        """An observation without the readings that are most likely wrong, but for those that are as expected."""
        if not self._wrong:
            return look
        now, due = (by_property(facts, self._domain) for facts in (look.facts, expected))
        left_out = [
            prop for prop, value in self._wrong.items() if now.get(prop, _NONE) == value != due.get(prop, _NONE)
        ]
        return replace(look, certainty={**look.certainty, **dict.fromkeys(left_out, 0.0)})
