"""Sounds of contacts in a PyBullet world: impacts, sliding and rolling, from the forces of the contacts.

Impacts: the impulse of a contact is the sum of its normal force over a short window, less what the contact goes on to
carry; it agrees with mass times change of speed within 10 to 25 %. The forces between resting things jitter up to three
times their weight, so that an impact begins at four times the weight: about 0.2 m/s. A force that only passes through a
contact, as in a tower on which something falls, is no impact: there the bodies do not approach each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pybullet

from nsrecover.errors import InvalidConfiguration
from sim.sound.bodies import Body, vector_of
from sim.sound.events import SoundEvent, SoundKind, Vector

THRESHOLD = 4.0
"""An impact begins when a contact's force rises by this multiple of the lighter body's weight in one step."""
WINDOW_S = 0.025
"""Time over which the force of an impact is added up."""
STRIDE_S = 0.025
"""Time between looks at the speeds of touching bodies."""
APPROACH_M_S = 0.05
"""Slowest speed at which the bodies of an impact approach each other at the contact, one step before."""
SLIDES_M_S, ROLLS_M_S = 0.02, 0.03
"""Speed at a contact, and of a body over another one, from which on it slides or rolls."""
STILL_M_S, STILL_RAD_S = 0.005, 0.02
"""Slower parts do not slide or roll; resting ones tremble."""
GAP_S, SHORTEST_S = 0.08, 0.05
"""Shorter pauses of sliding and rolling are bridged; shorter sounds are left out."""
GRAVITY_M_S2 = 9.81
_FADING = 0.2

Array = npt.NDArray[np.float64]
Part = tuple[int, int]
"""Numbers of a body and of its link; -1 is the base."""
Motion = tuple[Array, Array, Array]
"""Place of a part (3,), metres, its velocity (3,), m/s, and its angular velocity (3,), rad/s."""


@dataclass
class _Touch:
    """A pair of touching parts.

    Attributes:
        carried: impulse of one step that the contact has carried for a while, newton seconds.
        window: impulses of the steps since an impact began; empty while there is none.
        begin_s: when the impact began.
        position_m: where.
    """

    carried: float = 0.0
    window: list[float] = field(default_factory=list)
    begin_s: float = 0.0
    position_m: Vector = (0.0, 0.0, 0.0)


@dataclass
class _Stretch:
    """A stretch of sliding or rolling: its begin, last look, sum of powers (W), number of looks and place."""

    begin_s: float
    last_s: float
    power: float
    looks: int
    position_m: Vector


@dataclass(frozen=True)
class _Contact:
    """Everything between two parts in one step: impulse (N s), and its points with the sign of their normals."""

    impulse: float
    points: tuple[tuple[Sequence[Any], float], ...]

    def place(self) -> tuple[Array, Array]:
        """Mean place (3,), metres, and normal (3,), weighted by the force."""
        forces = np.array([point[9] for point, _ in self.points])
        places = np.array([point[6] for point, _ in self.points])
        normals = np.array([point[7] for point, _ in self.points]) * np.array([[sign] for _, sign in self.points])
        normal = forces @ normals
        return forces @ places / forces.sum(), normal / max(float(np.linalg.norm(normal)), 1e-12)


class ContactRecorder:
    """Turns the contacts of a physics client into sound events.

    Attributes:
        events: finished events, in the order in which they ended; the owner takes them away with `take`.
    """

    def __init__(self, client: int, bodies: Mapping[int | Part, Body], step_s: float) -> None:
        """Listen to some bodies.

        Args:
            client: physics client.
            bodies: body number, or body and link number, to what sounds; contacts with anything else are not heard.
            step_s: duration of a physics step, seconds.

        Raises:
            InvalidConfiguration: the duration is not above 0.
        """
        if not step_s > 0:
            raise InvalidConfiguration(f"expected step_s above 0, found {step_s}")
        self._client, self._bodies, self._step_s = client, dict(bodies), step_s
        self._window, self._stride = max(3, round(WINDOW_S / step_s)), max(1, round(STRIDE_S / step_s))
        self._touches: dict[tuple[Part, Part], _Touch] = {}
        self._stretches: dict[tuple[tuple[Part, Part], SoundKind], _Stretch] = {}
        self._moving = _moving(bodies)
        self._weights: dict[tuple[Part, Part], float] = {}
        self._before = self._raw_motions()
        self._steps = 0
        self.events: list[SoundEvent] = []

    def step(self, time_s: float) -> None:
        """Look at the contacts; call it after every physics step.

        Args:
            time_s: simulated time at the end of the step.
        """
        found = self._contacts()
        for pair in self._touches.keys() | found.keys():
            self._follow(pair, found.get(pair), time_s)
        self._before = self._raw_motions()
        self._steps += 1
        if self._steps % self._stride == 0:
            self._look_at_speeds(found, time_s)

    def listen_to(self, bodies: Mapping[int | Part, Body]) -> None:
        """Listen to other bodies from now on: some came, some were removed from the physics client."""
        gone = {key[0] if isinstance(key, tuple) else key for key in self._bodies.keys() - bodies.keys()}
        for pair in [pair for pair in self._touches if any(part[0] in gone for part in pair)]:
            self._finish(pair, self._touches.pop(pair))
        for key in [key for key in self._stretches if any(part[0] in gone for part in key[0])]:
            self._close(key, self._stretches[key].last_s)
        self._bodies, self._moving = dict(bodies), _moving(bodies)
        self._weights.clear()
        self._before = self._raw_motions()

    def take(self, time_s: float) -> list[SoundEvent]:
        """The events since the last call; impacts, slides and rolls that still go on end here.

        Args:
            time_s: simulated time.
        """
        for pair, touch in self._touches.items():
            self._finish(pair, touch)
        for key in list(self._stretches):
            self._close(key, time_s)
        taken, self.events = self.events, []
        return sorted(taken, key=lambda event: (event.start_s, event.key))

    def forget(self) -> None:
        """Forget everything: the world was set to another state."""
        self._touches.clear()
        self._stretches.clear()
        self.events.clear()
        self._before = self._raw_motions()
        self._steps = 0

    def _body(self, part: Part) -> Body | None:
        return self._bodies.get(part, self._bodies.get(part[0]))

    def _contacts(self) -> dict[tuple[Part, Part], _Contact]:
        """What touches with a force in this step. There are many points, so that little is done with each."""
        found: dict[tuple[Part, Part], list[tuple[Sequence[Any], float]]] = {}
        for point in pybullet.getContactPoints(physicsClientId=self._client):
            if point[9] <= 0.0 or point[1] == point[2]:
                continue
            one, other = (point[1], point[3]), (point[2], point[4])
            pair, sign = ((one, other), 1.0) if one < other else ((other, one), -1.0)
            found.setdefault(pair, []).append((point, sign))
        return {
            pair: _Contact(sum(point[9] for point, _ in points) * self._step_s, tuple(points))
            for pair, points in found.items()
            if self._weight(pair) > 0.0
        }

    def _weight(self, pair: tuple[Part, Part]) -> float:
        """Weight of the lighter body; 0 if one of them is not heard."""
        if pair not in self._weights:
            bodies = [self._body(part) for part in pair]
            masses = [body.mass_kg for body in bodies if body is not None]
            self._weights[pair] = GRAVITY_M_S2 * min(masses) if len(masses) == len(bodies) else 0.0
        return self._weights[pair]

    def _follow(self, pair: tuple[Part, Part], contact: _Contact | None, time_s: float) -> None:
        """Take a contact's force into account; begin or end an impact."""
        touch = self._touches.setdefault(pair, _Touch())
        impulse = 0.0 if contact is None else contact.impulse
        if touch.window:
            touch.window.append(impulse)
            if len(touch.window) >= self._window:
                self._finish(pair, touch)
            return
        if contact is None:
            del self._touches[pair]
        elif impulse - touch.carried > THRESHOLD * self._weight(pair) * self._step_s and self._approach(pair, contact):
            touch.window.append(impulse)
            touch.begin_s = time_s - self._step_s
            touch.position_m = vector_of(contact.place()[0])
        else:
            touch.carried += _FADING * (impulse - touch.carried)

    def _approach(self, pair: tuple[Part, Part], contact: _Contact) -> bool:
        """Whether two parts approached each other at the contact before this step."""
        position, normal = contact.place()
        speeds = []
        for part in pair:
            # fixed bodies do not move; links that are not listed are driven by motors and keep their speed
            raw = self._before.get(part)
            place, velocity, turning = self._motion(part) if raw is None else map(np.array, raw)
            speeds.append(velocity + _cross(turning, position - place))
        return abs(float(normal @ (speeds[0] - speeds[1]))) > APPROACH_M_S

    def _finish(self, pair: tuple[Part, Part], touch: _Touch) -> None:
        """End an impact: what is above the force that stays is its impulse."""
        if not touch.window:
            return
        stays = max(touch.carried, min(touch.window[-2:])) if len(touch.window) > 1 else touch.carried
        impulse = sum(max(0.0, each - stays) for each in touch.window)
        touch.carried, touch.window = stays, []
        if impulse > THRESHOLD * self._weight(pair) * self._step_s:
            bodies = self._sounding(pair)
            if bodies:
                self.events.append(SoundEvent(SoundKind.IMPACT, touch.begin_s, 0.0, impulse, bodies, touch.position_m))

    def _sounding(self, pair: tuple[Part, Part]) -> tuple[Body, ...]:
        """Both bodies, the lighter one first; none if neither can move."""
        bodies = [body for part in pair if (body := self._body(part)) is not None]
        bodies.sort(key=lambda body: body.mass_kg)
        return () if math.isinf(bodies[0].mass_kg) else tuple(bodies)

    def _look_at_speeds(self, found: Mapping[tuple[Part, Part], _Contact], time_s: float) -> None:
        motions: dict[Part, Motion] = {}
        for pair, contact in found.items():
            if not any(self._stirs(part) for part in pair):
                continue
            one, other = (motions.setdefault(part, self._motion(part)) for part in pair)
            position, normal = contact.place()
            kind, speed = _moves(position, normal, one, other)
            if kind is SoundKind.ROLL and not any(part in self._before and part[1] == -1 for part in pair):
                continue  # links turn on their joints
            if kind is not None:
                self._extend((pair, kind), position, contact.impulse / self._step_s * speed, time_s)
        for key, stretch in list(self._stretches.items()):
            if time_s - stretch.last_s > GAP_S:
                self._close(key, stretch.last_s)

    def _raw_motions(self) -> dict[Part, tuple[Sequence[float], Sequence[float], Sequence[float]]]:
        """Place, velocity and angular velocity of every part that can move, as the engine gives them."""
        return {part: self._raw_motion(part) for part in self._moving}

    def _stirs(self, part: Part) -> bool:
        """Whether a part moves at all; parts that are not listed may."""
        raw = self._before.get(part)
        if raw is None:
            body = self._body(part)
            return body is None or math.isfinite(body.mass_kg)
        return max(map(abs, raw[1])) > STILL_M_S or max(map(abs, raw[2])) > STILL_RAD_S

    def _raw_motion(self, part: Part) -> tuple[Sequence[float], Sequence[float], Sequence[float]]:
        body, link = part
        if link >= 0:
            state = pybullet.getLinkState(body, link, computeLinkVelocity=1, physicsClientId=self._client)
            return state[0], state[6], state[7]
        place, _ = pybullet.getBasePositionAndOrientation(body, physicsClientId=self._client)
        velocity, turning = pybullet.getBaseVelocity(body, physicsClientId=self._client)
        return place, velocity, turning

    def _motion(self, part: Part) -> Motion:
        """Place, velocity and angular velocity of a body or link."""
        place, velocity, turning = map(np.array, self._raw_motion(part))
        return place, velocity, turning

    def _extend(self, key: tuple[tuple[Part, Part], SoundKind], position: Array, power: float, time_s: float) -> None:
        stretch = self._stretches.get(key)
        if stretch is None:
            begin = max(0.0, time_s - self._stride * self._step_s)
            self._stretches[key] = _Stretch(begin, time_s, power, 1, vector_of(position))
        else:
            stretch.last_s, stretch.power, stretch.looks = time_s, stretch.power + power, stretch.looks + 1

    def _close(self, key: tuple[tuple[Part, Part], SoundKind], end_s: float) -> None:
        pair, kind = key
        stretch = self._stretches.pop(key)
        duration, bodies = min(end_s, stretch.last_s) - stretch.begin_s, self._sounding(pair)
        if duration >= SHORTEST_S and bodies:
            power = stretch.power / stretch.looks
            self.events.append(SoundEvent(kind, stretch.begin_s, duration, power, bodies, stretch.position_m))


def _moving(bodies: Mapping[int | Part, Body]) -> list[Part]:
    """Parts with a finite mass."""
    return [key if isinstance(key, tuple) else (key, -1) for key, body in bodies.items() if math.isfinite(body.mass_kg)]


def _moves(position: Array, normal: Array, one: Motion, other: Motion) -> tuple[SoundKind | None, float]:
    """Whether two parts slide or roll on each other at a contact, and how fast."""

    def along(velocity: Array) -> float:
        return float(np.linalg.norm(velocity - normal * (normal @ velocity)))

    at_contact = [velocity + _cross(turning, position - place) for place, velocity, turning in (one, other)]
    slip = along(at_contact[0] - at_contact[1])
    if slip > SLIDES_M_S:
        return SoundKind.SLIDE, slip
    speed = along(one[1] - other[1])
    turns = float(np.linalg.norm(one[2] - other[2]))
    return (SoundKind.ROLL, speed) if speed > ROLLS_M_S and turns > 1.0 else (None, 0.0)


def _cross(one: Array, other: Array) -> Array:
    """Cross product of two vectors (3,); NumPy's takes ten times as long for single ones."""
    a, b, c = one.tolist()
    x, y, z = other.tolist()
    return np.array([b * z - c * y, c * x - a * z, a * y - b * x])
