"""Sounds that last as long as something is noticed: motors that turn, drawers that run, liquids that flow."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from sim.sound.bodies import Body
from sim.sound.events import SoundEvent, SoundKind, Vector
from sim.sound.soundscape import Soundscape

PAUSE_S = 0.1
"""Shorter pauses are bridged."""


@dataclass
class _Spell:
    """What has been noticed so far: kind, begin, last time, strengths, bodies and place."""

    kind: SoundKind
    begin_s: float
    last_s: float
    strengths: list[float] = field(default_factory=list)
    bodies: tuple[Body, ...] = ()
    position_m: Vector = (0.0, 0.0, 0.0)


class Spells:
    """Turns what is noticed again and again into events of one soundscape, with the mean of the strengths."""

    def __init__(self, soundscape: Soundscape) -> None:
        self._soundscape = soundscape
        self._going_on: dict[Hashable, _Spell] = {}

    def notice(
        self,
        name: Hashable,
        kind: SoundKind,
        time_s: float,
        since_s: float,
        strength: float,
        position_m: Vector,
        bodies: tuple[Body, ...] = (),
    ) -> None:
        """Something sounds now; it begins, or goes on.

        Args:
            name: tells it from others.
            kind: what it is, if it begins.
            time_s: now, seconds of simulated time.
            since_s: since when it can have sounded, if it begins: the last time at which it was looked for.
            strength: see `SoundKind`.
            position_m: where, if it begins.
            bodies: what sounds, if it begins.
        """
        spell = self._going_on.get(name)
        if spell is None:
            begin_s = max(since_s, self._soundscape.heard_until_s)
            spell = self._going_on[name] = _Spell(kind, begin_s, time_s, [], bodies, position_m)
        spell.last_s = time_s
        spell.strengths.append(strength)

    def sweep(self, time_s: float) -> None:
        """End what has not been noticed for a while."""
        for name in [name for name, spell in self._going_on.items() if time_s - spell.last_s > PAUSE_S]:
            self._end(name)

    def end(self) -> None:
        """End everything: the world is listened to, or saved."""
        for name in list(self._going_on):
            self._end(name)

    def forget(self) -> None:
        """Forget everything: the world was set to another state."""
        self._going_on.clear()

    def _end(self, name: Hashable) -> None:
        spell = self._going_on.pop(name)
        duration_s = spell.last_s - spell.begin_s
        if duration_s > 0:
            strength = sum(spell.strengths) / len(spell.strengths)
            self._soundscape.add(
                SoundEvent(spell.kind, spell.begin_s, duration_s, strength, spell.bodies, spell.position_m)
            )
