"""World wrapper that remembers what was seen where: which facts that a robot keeps has it observed to be false?"""

from __future__ import annotations

from collections.abc import Iterable

from nsrecover.core.actions import Action
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.seeing import HomeWorld, Sight


class Witness:
    """A world that remembers the last look at every place.

    Args:
        world: the robot.
    """

    def __init__(self, world: HomeWorld) -> None:
        self._world = world
        self._last = dict[str, tuple[str, ...]]()

    def observe(self) -> Sight:
        """What is perceived now."""
        return self._world.observe()

    def execute(self, action: Action) -> None:
        """Carry out one skill and remember what was seen."""
        self._world.execute(action)
        sight = self._world.observe()
        if sight.objects is not None:
            self._last[sight.place] = sight.objects

    def refuted(self, belief: Belief, things: Iterable[str]) -> tuple[str, ...]:
        """The kept facts about where things are that the last look at their place has shown to be false."""
        kept = []
        for thing in things:
            places = {fact[2] for fact in belief.facts if fact[:2] == ("at", thing)}
            places |= {belief.said[thing][0]} if thing in belief.said else set()
            for place in places & self._last.keys():
                if not any(belief.home.could_mean(thing, seen) for seen in self._last[place]):
                    kept.append(f"at {thing} {place}")
        return tuple(kept)
