"""What is noticed again and again becomes events with the mean strength."""

import pytest

from sim.sound.events import SoundKind
from sim.sound.microphone import Microphone
from sim.sound.soundscape import Soundscape
from sim.sound.spells import PAUSE_S, Spells


def _notice(spells, time_s, strength=1.0):
    spells.notice("arm", SoundKind.ARM_MOTOR, time_s, time_s - 0.05, strength, (0.0, 0.0, 0.5))
    spells.sweep(time_s)


def test_short_pauses_are_bridged_and_long_ones_are_not():
    soundscape = Soundscape(Microphone())
    spells = Spells(soundscape)
    for time_s, strength in ((1.0, 1.0), (1.05, 2.0), (1.05 + PAUSE_S, 3.0)):
        _notice(spells, time_s, strength)
    spells.sweep(1.5)
    _notice(spells, 2.0)
    spells.end()
    first, second = soundscape.events
    assert (first.start_s, first.end_s, first.strength) == pytest.approx((0.95, 1.05 + PAUSE_S, 2.0))
    assert (second.start_s, second.end_s) == pytest.approx((1.95, 2.0))


def test_it_never_begins_before_what_was_heard_already():
    soundscape = Soundscape(Microphone())
    spells = Spells(soundscape)
    soundscape.listen(1.0)
    _notice(spells, 1.02)
    _notice(spells, 1.07)
    spells.end()
    assert soundscape.events[0].start_s == 1.0


def test_what_is_forgotten_leaves_no_event():
    soundscape = Soundscape(Microphone())
    spells = Spells(soundscape)
    _notice(spells, 1.0)
    spells.forget()
    spells.end()
    assert soundscape.events == ()
