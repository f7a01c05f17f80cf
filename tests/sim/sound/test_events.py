"""Sound events: what they need, their classes, and their conversion to JSON."""

import json
import math
from dataclasses import replace

import pytest

from nsrecover.errors import InvalidConfiguration
from sim.sound.bodies import Body, Material, Shape
from sim.sound.events import INSTANT, SoundEvent, SoundKind
from sim.sound.impacts import INSTANT_SOUNDS
from sim.sound.lasting import LASTING_SOUNDS

MUG = Body("mug", Material.CERAMIC, Shape.HOLLOW, (0.072, 0.072, 0.095), 0.3)
FALL = SoundEvent(SoundKind.IMPACT, 1.5, strength=0.3, bodies=(MUG,), position_m=(0.5, 0.0, 0.0))
BOIL = SoundEvent(SoundKind.BOILING, 2.0, math.inf)


def test_every_kind_can_be_synthesised_in_one_way():
    assert set(INSTANT_SOUNDS) == INSTANT
    assert set(INSTANT_SOUNDS) | set(LASTING_SOUNDS) == set(SoundKind)
    assert not set(INSTANT_SOUNDS) & set(LASTING_SOUNDS)


def test_there_are_more_than_twenty_classes():
    labels = {replace(FALL, bodies=(replace(MUG, material=material),)).label for material in Material}
    assert len(labels | {str(kind) for kind in SoundKind}) > 20


def test_the_key_stays_when_the_end_becomes_known():
    assert replace(BOIL, duration_s=3.0).key == BOIL.key
    assert replace(BOIL, start_s=2.1).key != BOIL.key
    assert replace(BOIL, position_m=(1.0, 0.0, 0.0)).key != BOIL.key


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
        (FALL, {"bodies": ()}, "expected impact with one or two bodies, found 0"),
        (FALL, {"bodies": (replace(MUG, mass_kg=math.inf),)}, "expected a finite mass of 'mug'"),
        (FALL, {"strength": -1.0}, "a strength of at least 0"),
        (FALL, {"start_s": math.nan}, "a finite start"),
        (FALL, {"position_m": (0.0, math.inf, 0.0)}, "expected position_m of impact as x, y, z"),
        (BOIL, {"duration_s": 0.0}, "expected boiling with duration_s above 0"),
        (BOIL, {"duration_s": math.nan}, "expected boiling with duration_s above 0"),
        (BOIL, {"bodies": (MUG, MUG, MUG)}, "at most two bodies"),
    ],
)
def test_unusable_events_are_refused(event, changes, said):
    with pytest.raises(InvalidConfiguration, match=said):
        replace(event, **changes)
