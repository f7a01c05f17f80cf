"""Scenes of symbolic domains as facts with certainties.

A fact is a predicate and objects, `("at", "mug", "sink")`; what a scene does not list does not hold. A property is what
facts exclude each other about: the place of a mug, or what is in it. `nsrecover.domains.properties` says which.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

StateFact = tuple[str, ...]
"""A predicate and the objects that it is about."""
Facts = frozenset[StateFact]
Property = tuple[str, str]
"""A state variable or `PLACE`, and an object."""

PLACE = "place"
"""The property that says what an object is in or on, or that the gripper holds it."""

SURE = 0.6
"""Below this certainty a property counts as unknown; two observations that disagree leave it unknown."""


@dataclass(frozen=True)
class FactScene:
    """A scene as facts: observed, believed or imagined.

    Attributes:
        facts: what holds, most likely.
        certainty: property -> probability that the facts about it are right, 0 if nothing is known; 1 where not listed.
        since_action: the same, if what was read before the last action is left out; as `certainty` where not listed.
            Errors that are alike make each of many observations count for less, but not as a sign of what is new.
    """

    facts: Facts
    certainty: Mapping[Property, float] = field(default_factory=dict)
    since_action: Mapping[Property, float] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The objects that the facts are about, in the order of the alphabet."""
        return tuple(sorted({fact[1] for fact in self.facts if len(fact) > 1}))

    def knows(self, prop: Property) -> bool:
        """Whether the facts about a property can be relied on."""
        return self.certainty.get(prop, 1.0) >= SURE

    @property
    def unknown(self) -> tuple[Property, ...]:
        """The properties that are not known, in a fixed order."""
        return tuple(sorted(prop for prop in self.certainty if not self.knows(prop)))
