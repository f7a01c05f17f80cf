"""Demonstrations with filled and dirty vessels, and with sound."""

import numpy as np
import pytest

from nsrecover.domains.household.kinds import Trait, traits_of
from sim.kitchen.demonstrations import KitchenMix, perform, with_varied_states
from sim.kitchen.tasks import draw_task


def test_vessels_that_no_action_touches_are_filled_and_dirty() -> None:
    spec = draw_task("boil water", 5)
    varied = with_varied_states(spec, 1.0, np.random.default_rng(0))
    used = {name for action in spec.plan for name in action.arguments}
    assert varied.plan == spec.plan
    before = {thing.name: thing.state for thing in spec.kitchen.things}
    changed = 0
    for thing in varied.kitchen.things:
        if thing.name in used or not thing.kind.capacity_l:
            assert thing.state == before[thing.name]
            continue
        changed += 1
        assert thing.state.dirty
        if Trait.VESSEL in traits_of(thing.name) and thing.state.liquid:
            assert thing.state.volume_l <= thing.kind.capacity_l
            assert ("filled", thing.name, thing.state.liquid) in varied.start
    assert changed
    assert with_varied_states(spec, 1.0, np.random.default_rng(0)) == varied


def test_a_demonstration_has_what_was_heard_between_its_observations() -> None:
    outcome, recording = perform(KitchenMix(("T8",), microphone=True), 1, 0)
    assert recording is not None, outcome
    assert len(recording.observations) == len(recording.plan) + 1
    for before, after in zip(recording.observations, recording.observations[1:], strict=False):
        assert after.audio is not None
        assert len(after.audio) / after.audio_rate_hz == pytest.approx(after.time_s - before.time_s, abs=0.01)
        assert np.abs(after.audio).max() > 1e-4
