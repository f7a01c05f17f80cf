"""Sound events: what they need, their classes, and their conversion to JSON."""

import json
import math
from dataclasses import replace

import pytest

from nsrecover.errors import InvalidConfiguration
from sim.sound.bodies import Body, Material, Shape
from sim.sound.events import SoundEvent, SoundKind

MUG = Body("mug", Material.CERAMIC, Shape.HOLLOW, (0.072, 0.072, 0.095), 0.3)
FALL = SoundEvent(SoundKind.IMPACT, 1.5, strength=0.3, bodies=(MUG,), position_m=(0.5, 0.0, 0.0))
BOIL = SoundEvent(SoundKind.BOILING, 2.0, math.inf)


@pytest.mark.parametrize("event", [FALL, BOIL], ids=str)
def test_events_are_read_back_from_json(event):
    data = json.loads(json.dumps(event.to_dict(), allow_nan=False))
    assert SoundEvent.from_dict(data) == event
    assert data["label"] == event.label


@pytest.mark.parametrize(
    ("event", "changes", "said"),
    [
        (FALL, {"kind": "impakt"}, "found 'impakt'. Did you mean 'impact'"),
        (FALL, {"duration_s": 1.0}, "expected impact with duration_s 0"),
        (FALL, {"bodies": (replace(MUG, mass_kg=math.inf),)}, "expected a finite mass of 'mug'"),
        (FALL, {"strength": -1.0}, "a strength of at least 0"),
        (BOIL, {"bodies": (MUG, MUG, MUG)}, "at most two bodies"),
    ],
)
def test_unusable_events_are_refused(event, changes, said):
    with pytest.raises(InvalidConfiguration, match=said):
        replace(event, **changes)
