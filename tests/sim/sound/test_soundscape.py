"""The sounds of a world: those that go on, recordings in pieces, saved states."""

import math

import numpy as np
import pytest

from sim.sound.events import SoundEvent, SoundKind
from sim.sound.microphone import STEPS, Microphone, record
from sim.sound.soundscape import Soundscape

TAP = SoundEvent(SoundKind.RUNNING_WATER, 0.5, math.inf, 1.0, (), (0.5, 0.5, 0.2))
DING = SoundEvent(SoundKind.MICROWAVE_DING, 0.9, position_m=(0.2, -0.5, 0.3))


def test_what_goes_on_is_heard_in_pieces_as_it_is_as_a_whole():
    scape = Soundscape(Microphone(seed=3))
    scape.begin("tap", TAP)
    pieces = [scape.listen(0.8)[0]]
    scape.add(DING)
    scape.begin("tap", SoundEvent(SoundKind.RUNNING_WATER, 0.9, math.inf))  # it runs already
    pieces.append(scape.listen(1.4)[0])
    scape.end("tap", 1.9)
    scape.end("tap", 2.5)
    pieces += [scape.listen(at)[0] for at in (2.0, 2.6, 4.0)]
    assert [event.kind for event in scape.events] == [SoundKind.RUNNING_WATER, SoundKind.MICROWAVE_DING]
    assert scape.events[0].duration_s == pytest.approx(1.4)
    whole, _ = record(scape.events, 0.0, 4.0, Microphone(seed=3))
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=1.01 / STEPS)
