"""What makes a sound: typed events with times, strengths, bodies and places."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.sound.bodies import Body

Vector = tuple[float, float, float]


class SoundKind(StrEnum):
    """What makes the sound. The comment says what `SoundEvent.strength` is."""

    IMPACT = "impact"
    """Two bodies hit each other; strength: impulse, newton seconds."""
    SLIDE = "slide"
    """A body slides on another one; strength: normal force times speed, watts (PyBullet: within a factor of two)."""
    ROLL = "roll"
    """A body rolls on another one; strength: normal force times speed, watts."""
    SHATTER = "shatter"
    """A body breaks into pieces; strength: impulse of the impact, newton seconds."""
    EGG_CRACK = "egg_crack"
    """A shell breaks; strength: relative to an egg on the rim of a bowl."""
    KNIFE = "knife"
    """A knife cuts food on a board, several times a second; strength: relative to a firm cut."""
    CLICK = "click"
    """A button, knob or lever; strength: relative to a light switch."""
    TOASTER_POP = "toaster_pop"
    """The spring of a toaster; strength: relative to an ordinary one."""
    FRIDGE_DOOR = "fridge_door"
    """A door with a magnetic seal falls shut; strength: relative to an ordinary push."""
    DRAWER = "drawer"
    """A drawer runs on its rails; strength: relative to 0.3 m/s."""
    RUNNING_WATER = "running_water"
    """Water falls from a tap into a sink; strength: flow relative to 0.1 litres a second."""
    POURING = "pouring"
    """A liquid falls into a vessel, which fills up; strength: flow relative to 0.1 litres a second."""
    BOILING = "boiling"
    """Water boils in a vessel; strength: relative to a rolling boil of half a litre."""
    SIZZLING = "sizzling"
    """Food fries in a pan; strength: relative to an egg in hot oil."""
    MICROWAVE_HUM = "microwave_hum"
    """A microwave runs; strength: relative to an ordinary one."""
    MICROWAVE_BEEP = "microwave_beep"
    """Three tones at the end of the program; strength: relative to an ordinary one."""
    MICROWAVE_DING = "microwave_ding"
    """The bell of a mechanical timer; strength: relative to an ordinary one."""
    COFFEE_MACHINE = "coffee_machine"
    """The vibrating pump and the steam of a coffee machine; strength: relative to an ordinary one."""
    FRIDGE_HUM = "fridge_hum"
    """The compressor of a fridge; strength: relative to an ordinary one."""
    TV = "tv"
    """Speech from a loudspeaker; strength: relative to speech at an ordinary volume."""
    ARM_MOTOR = "arm_motor"
    """The motors of the arm; strength: mean joint speed relative to 1 rad/s."""
    BASE_MOTOR = "base_motor"
    """The wheels and motors of the base; strength: speed relative to 0.5 m/s."""


INSTANT = frozenset(
    {
        SoundKind.IMPACT,
        SoundKind.SHATTER,
        SoundKind.EGG_CRACK,
        SoundKind.CLICK,
        SoundKind.TOASTER_POP,
        SoundKind.FRIDGE_DOOR,
        SoundKind.MICROWAVE_BEEP,
        SoundKind.MICROWAVE_DING,
    }
)
"""Kinds that begin at once and fade out by themselves; their duration is 0."""
CONTACT = frozenset({SoundKind.IMPACT, SoundKind.SLIDE, SoundKind.ROLL, SoundKind.SHATTER})
"""Kinds that need bodies: what moves, and possibly what it touches."""


@dataclass(frozen=True)
class SoundEvent:
    """Something that makes a sound.

    Attributes:
        kind: what it is.
        start_s: when it begins, seconds of simulated time.
        duration_s: how long it lasts, seconds; 0 for the kinds in `INSTANT`, infinity while the end is unknown.
        strength: see `SoundKind`.
        bodies: what sounds: what moves first, then what it touches; for `POURING` and `BOILING` the vessel.
        position_m: where, in the world frame.
    """

    kind: SoundKind
    start_s: float
    duration_s: float = 0.0
    strength: float = 1.0
    bodies: tuple[Body, ...] = ()
    position_m: Vector = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        if self.kind not in list(SoundKind):
            known = [str(kind) for kind in SoundKind]
            raise InvalidConfiguration(
                f"expected a kind of sound, found {self.kind!r}.{did_you_mean(self.kind, known)}"
            )
        object.__setattr__(self, "kind", SoundKind(self.kind))
        if not (math.isfinite(self.start_s) and math.isfinite(self.strength) and self.strength >= 0):
            raise InvalidConfiguration(
                f"expected a finite start and a strength of at least 0 of {self.kind}, found {self.start_s} and "
                f"{self.strength}"
            )
        if len(self.position_m) != 3 or not all(map(math.isfinite, self.position_m)):
            raise InvalidConfiguration(f"expected position_m of {self.kind} as x, y, z, found {self.position_m}")
        instant = self.kind in INSTANT
        if instant != (self.duration_s == 0) or not self.duration_s >= 0:
            wanted = "duration_s 0, because it fades out by itself" if instant else "duration_s above 0"
            raise InvalidConfiguration(f"expected {self.kind} with {wanted}, found {self.duration_s}")
        if len(self.bodies) > 2 or (self.kind in CONTACT and not self.bodies):
            raise InvalidConfiguration(
                f"expected {self.kind} with {'one or two' if self.kind in CONTACT else 'at most two'} bodies, found "
                f"{len(self.bodies)}; name what moves first, then what it touches"
            )
        if self.kind in CONTACT and math.isinf(self.bodies[0].mass_kg):
            raise InvalidConfiguration(
                f"expected a finite mass of {self.bodies[0].name!r}, which moves first, found none; swap the bodies, "
                "or give its mass"
            )

    @property
    def end_s(self) -> float:
        """When it ends, seconds; the start of an instant event."""
        return self.start_s + self.duration_s

    @property
    def label(self) -> str:
        """Its class: the kind, and for impacts the material of what moves."""
        return f"{self.kind} {self.bodies[0].material}" if self.kind is SoundKind.IMPACT else str(self.kind)

    @property
    def key(self) -> int:
        """A number that tells events apart and does not change when the end becomes known; seeds its noise."""
        names = ",".join(body.name for body in self.bodies)
        return zlib.crc32(f"{self.kind} {self.start_s!r} {names} {self.position_m!r}".encode())

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON; an unknown end and an infinite mass become null."""
        data = asdict(self)
        data["duration_s"] = None if math.isinf(self.duration_s) else self.duration_s
        data["bodies"] = [body.to_dict() for body in self.bodies]
        return data | {"kind": str(self.kind), "position_m": list(self.position_m), "label": self.label}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SoundEvent:
        """The inverse of `to_dict`."""
        fields = {key: value for key, value in data.items() if key != "label"}
        if fields["duration_s"] is None:
            fields["duration_s"] = math.inf
        fields["bodies"] = tuple(Body.from_dict(body) for body in fields["bodies"])
        fields["position_m"] = tuple(fields["position_m"])
        return cls(**fields)
