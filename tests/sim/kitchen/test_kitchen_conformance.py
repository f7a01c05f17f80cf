"""The conformance kit accepts the kitchen."""

from nsrecover.domains.household import HOUSEHOLD
from nsrecover.testing import Rule, check_world
from sim.kitchen.scenes import sample_kitchen
from sim.kitchen.sounding import microphone_in
from sim.kitchen.world import KitchenWorld


def test_the_kitchen_keeps_every_rule_that_can_be_asked() -> None:
    spec = sample_kitchen(0, 0)
    report = check_world(lambda: KitchenWorld(spec, microphone=microphone_in(spec)), domain=HOUSEHOLD)
    assert set(report.skipped) == {Rule.ARM_OUT_OF_THE_WAY, Rule.SENSORS_PLAUSIBLE}
    assert report[Rule.AUDIO_COVERS_TIME].times > 5
    assert report[Rule.POSES_FOLLOW].times > 5
    first, second, _ = report.actions
    assert first.startswith("pick_up(")
    assert second.startswith("put_on(")
