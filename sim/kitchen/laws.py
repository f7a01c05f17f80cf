"""What follows by itself: liquids that pour and fill, heat, cooking and breaking, as functions of one state.

Heat and cooking run `TIME_LAPSE` times as fast as in reality, so that water boils within seconds of simulated time;
liquids and impacts are not accelerated. Values without a source are chosen, and say what follows from them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from nsrecover.domains.household.names import whole
from sim.kitchen.states import ROOM_C, ObjectState
from sim.kitchen.things import Material

TIME_LAPSE = 30.0
"""Factor on heat and cooking: half a litre boils on a burner after 6 s instead of 3 min."""
FAUCET_L_S = 0.10
"""Household taps give 6 litres a minute with an aerator (US Energy Policy Act 1992: at most 8.3)."""
COFFEE_L_S = 0.04
"""A pod machine fills 0.1 litres in 20 to 30 s; this one is ten times as fast."""
POUR_L_S = 0.20
"""Greatest flow over a lip; a mug empties in about 2 s."""
BOILING_C = 100.0
HOT_C = 50.0
"""From here on a thing counts as hot: water of 50 degrees is too hot to touch for long."""
COFFEE_C = 80.0
FRIDGE_C = 5.0
BURNER_W = 1500.0 * 0.7
"""A large electric burner; about 70 % of its power reaches the pot."""
MICROWAVE_W = 800.0
"""Output of an ordinary microwave oven."""
TOASTER_W = 195.0
"""What bread gets from a toaster of 800 W; chosen: a slice is toasted 18 s after the lever was pressed."""
TOASTER_S = 40.0
"""A toaster with nothing in it that toasts is off after this time."""
LOSS_W_M2_K = 15.0
"""Heat that a thing loses to the room by natural convection and radiation."""
CONTACT_W_K = 12.0
"""Between a pan and food in it; chosen: an egg is cooked 10 s after the pan is hot."""
MAX_DRY_C = 260.0
"""A burner does not heat an empty pan above this; chosen, and enough to burn food."""

_SPECIFIC_HEAT: Mapping[str, float] = {
    # J/(kg K), CRC Handbook of Chemistry and Physics; food: ASHRAE Handbook, Refrigeration, chapter 19
    Material.METAL: 490.0,
    Material.CERAMIC: 850.0,
    Material.GLASS: 840.0,
    Material.WOOD: 1700.0,
    Material.PLASTIC: 1500.0,
    Material.FOOD: 3600.0,
    Material.SHELL: 3300.0,
}
_WATER_J_KG_K = 4186.0

_BREAKS_AT_M_S: Mapping[str, float] = {Material.SHELL: 1.2, Material.GLASS: 2.6, Material.CERAMIC: 3.0}
"""Change of speed in an impact: falls from 7, 34 and 46 cm. Chosen: setting down (below 0.3 m/s) never breaks anything,
a fall from the worktop (3.9 m/s) always does."""


BURNS_C = 140.0
"""From here on food browns, and burns in the end (McGee, On Food and Cooking); wet food stays below."""


@dataclass(frozen=True)
class Cooking:
    """How a kind of food cooks.

    Attributes:
        from_c: temperature from which on it cooks, degrees Celsius.
        seconds: until it is cooked at any higher temperature, in reality; where it is hotter than `BURNS_C`, it is
            burnt after the same time again.
    """

    from_c: float
    seconds: float


COOKING: Mapping[str, Cooking] = {
    # egg white sets at 62 to 80 degrees, starch gels at 60 to 70, bread browns from 140 on (McGee, On Food and Cooking)
    "egg": Cooking(65.0, 120.0),
    "potato": Cooking(68.0, 240.0),
    "bread": Cooking(140.0, 100.0),
    "tomato": Cooking(70.0, 240.0),
    "apple": Cooking(70.0, 300.0),
}
"""Food that cooks; other food only gets hot."""


def held_volume_l(radius_m: float, height_m: float, tilt: float) -> float:
    """Most that an open cylinder holds at a tilt: the volume below a level surface through the lowest point of its lip.

    Args:
        radius_m: of its inside.
        height_m: of its inside.
        tilt: angle between its axis and the vertical, radians.

    Returns:
        Litres; 0 from a right angle on.
    """
    if tilt >= math.pi / 2 - 1e-6:
        return 0.0
    slope = math.tan(abs(tilt))
    area = math.pi * radius_m**2
    if height_m >= 2 * radius_m * slope:
        return area * (height_m - radius_m * slope) * 1000.0
    # the surface cuts the floor: a cylindrical hoof, whose edge is this far from the axis
    edge = height_m / slope - radius_m
    root = math.sqrt(radius_m**2 - edge**2)
    wedge = 2.0 / 3.0 * root**3 + edge * (radius_m**2 * (math.pi / 2 + math.asin(edge / radius_m)) + edge * root)
    return slope * wedge * 1000.0


def poured(state: ObjectState, holds_l: float, seconds: float) -> tuple[ObjectState, float]:
    """A vessel after some time at a tilt at which it holds so much, and the litres that have left it."""
    out = min(max(0.0, state.volume_l - holds_l), POUR_L_S * seconds)
    if out <= 0.0:
        return state, 0.0
    left = state.volume_l - out
    if left < 0.002:
        # a film of liquid is not a content
        return replace(state, volume_l=0.0, liquid=""), state.volume_l
    return replace(state, volume_l=left), out


def received(state: ObjectState, liquid: str, volume_l: float, temperature_c: float, capacity_l: float) -> ObjectState:
    """A vessel after a liquid has run into it; what is more than it holds runs over.

    A mixture is called by its larger part; its temperature is the mean of the two, by volume.
    """
    room = min(volume_l, max(0.0, capacity_l - state.volume_l))
    total = state.volume_l + room
    if room <= 0.0:
        return state
    name = state.liquid if state.volume_l > room else liquid
    mixed = (state.volume_l * state.temperature_c + room * temperature_c) / total
    return replace(state, liquid=name, volume_l=total, temperature_c=mixed)


def rinsed(state: ObjectState) -> ObjectState:
    """A thing after running water has met it."""
    return replace(state, dirty=False)


def heat_capacity(material: Material, mass_kg: float, volume_l: float) -> float:
    """Heat capacity of a thing with its liquid, J/K."""
    return _SPECIFIC_HEAT[material] * mass_kg + _WATER_J_KG_K * volume_l


def loss_w_k(radius_m: float, height_m: float) -> float:
    """Heat that a thing about as large as a cylinder loses to what is around it, W/K; a pot about 1.5."""
    return LOSS_W_M2_K * 2 * math.pi * radius_m * (radius_m + height_m)


def heated(
    state: ObjectState, watts: float, capacity_j_k: float, loss: float, seconds: float, around_c: float
) -> ObjectState:
    """A thing after heat has flowed into it and out to what is around it; a liquid does not get hotter than it boils.

    The exact solution of C dT/dt = P - G (T - T_around).

    Args:
        state: before.
        watts: that flow in.
        capacity_j_k: its heat capacity.
        loss: what it loses, W/K.
        seconds: of simulated time.
        around_c: temperature of what it loses heat to.
    """
    settled = around_c + watts / loss
    share = 1.0 - math.exp(-loss * seconds * TIME_LAPSE / capacity_j_k)
    now = state.temperature_c + share * (settled - state.temperature_c)
    return replace(state, temperature_c=min(now, BOILING_C if state.volume_l > 0.0 else MAX_DRY_C))


def in_contact(warm: ObjectState, cold: ObjectState, capacity_j_k: float, seconds: float) -> ObjectState:
    """A piece of food, `cold`, after some time in a vessel, `warm`, whose temperature stays."""
    share = 1.0 - math.exp(-CONTACT_W_K * seconds * TIME_LAPSE / capacity_j_k)
    return replace(cold, temperature_c=cold.temperature_c + share * (warm.temperature_c - cold.temperature_c))


def cooks(state: ObjectState, kind: str, seconds: float) -> ObjectState:
    """Food after some time at its temperature; what is not food stays as it is."""
    recipe = COOKING.get(whole(kind))
    most = 2.0 if state.temperature_c >= BURNS_C else 1.0
    if recipe is None or state.temperature_c < recipe.from_c or state.cooked >= most:
        return state
    return replace(state, cooked=min(most, state.cooked + seconds * TIME_LAPSE / recipe.seconds))


def breaks(material: Material, change_m_s: float) -> bool:
    """Whether an impact breaks a thing.

    Args:
        material: what it is made of.
        change_m_s: impulse of the impact divided by its mass: by how much its speed changes.
    """
    return change_m_s > _BREAKS_AT_M_S.get(material, math.inf)


def is_hot(state: ObjectState) -> bool:
    """Whether it counts as hot in the household domain."""
    return state.temperature_c >= HOT_C


def is_boiling(state: ObjectState) -> bool:
    """Whether its liquid boils."""
    return state.volume_l > 0.0 and state.temperature_c >= BOILING_C - 1.0


def cold_room(kind: str) -> float:
    """Temperature inside a kind of fixture, degrees Celsius."""
    return FRIDGE_C if kind == "fridge" else ROOM_C
