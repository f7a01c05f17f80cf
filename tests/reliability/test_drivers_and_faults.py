"""Random faults through every driver: a few of the episodes of `python -m eval.checks.drivers`."""

import random
from collections.abc import Iterator

import pytest

from eval.checks import drivers
from eval.checks.drivers import Boxes, Facts, episode, scenario_of
from tests.nsrecover.integrations.driven import http_server
from tests.test_drivers import DRIVERS


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with http_server():
        yield


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_driver_raises_or_completes_what_is_seen_to_fail(driver: str) -> None:
    ends = [episode(driver, number, 7) for number in range(3)]
    assert [failure for _, failure in ends] == [""] * 3
    assert {end for end, _ in ends} <= {"completed", "asked_for_help"}


@pytest.mark.parametrize("number", [854, 1222])
def test_a_log_of_a_run_in_which_a_person_looked_again_is_read(number: int) -> None:
    """The same action is judged twice, which once counted as a contradiction of the log."""
    assert episode("http", number, 0)[1] == ""


def test_what_it_counts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    boxes, facts = Boxes(), Facts()
    for world in (boxes, facts):
        world.observe()
        assert world.falsified
        for action in world.plan():
            world.execute(action)
        world.observe()
        assert not world.falsified
    boxes.moving.acquire()
    boxes.execute(boxes.plan()[0])
    assert boxes.twice

    def breaks(*given: object) -> None:
        raise KeyError("lost")

    monkeypatch.setitem(drivers.DRIVERS, "session", breaks)
    end, failure = episode("session", 0, 0)
    assert end == "raised"
    assert "KeyError" in failure
    assert scenario_of(random.Random(1), "agent") == scenario_of(random.Random(1), "agent")
