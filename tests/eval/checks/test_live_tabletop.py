"""The simulated tabletop behind its live page: faults on demand."""

import pytest

import nsrecover
import nsrecover.serving.live
from eval.checks.live.tabletop import table
from nsrecover.errors import InvalidConfiguration
from sim.sensors.sensor import EXACT
from sim.tabletop.faults import FAULTS
from sim.tabletop.scenarios import scenario
from tests.nsrecover.serving.live.live_worlds import Client, Running

SCENE = scenario("helper", 0)


def test_a_fault_from_the_page_is_reported_within_one_step() -> None:
    with table(SCENE, EXACT, faults=False) as world:
        agent = nsrecover.RecoveryAgent(nsrecover.load("tabletop"), world)
        with nsrecover.serving.live.page(agent, paused=True, injector=world) as page:
            viewer = Client(page.url)
            running = Running(agent, SCENE.plan)
            viewer.wait_for("paused", "state")
            assert "displaced" in viewer.wait_for("Let it happen", "faults")
            moved = SCENE.plan[1].arguments[0]  # waits on the table during the first action
            assert viewer.do("inject", fault="displaced", name=moved).status_code == 200
            viewer.do("stop")  # the run ends before its first action, the fault waits
            assert running.episode().records == ()
            episode = agent.run(SCENE.plan)
            cameras = viewer.wait_for("data:image/jpeg", "cameras")
            assert cameras.count("data:image/jpeg") == 2
            assert "<audio" in viewer.wait_for("<audio", "sound")
    assert [fault.kind for fault in world.struck] == ["displaced"]
    assert moved in episode.records[0].discrepancy.deviating
    assert all(record.discrepancy.as_expected for record in episode.records[1:])


def test_every_fault_can_be_asked_for() -> None:
    with table(SCENE, EXACT, faults=False, sound=False) as world:
        assert set(world.faults) == set(FAULTS)
        for kind in FAULTS:
            assert "strikes" in world.inject(kind, "")
        world.execute(SCENE.plan[0])
        struck = {fault.kind for fault in world.struck}
        waiting = {each.kind for each in world._wanted}
        assert struck | waiting == set(FAULTS)
        assert not struck & waiting
        assert len(struck) >= 5
        with pytest.raises(InvalidConfiguration, match="expected a fault"):
            world.inject("earthquake", "")
        with pytest.raises(InvalidConfiguration, match="expected an object"):
            world.inject("push", "moon")
