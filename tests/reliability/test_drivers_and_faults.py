"""Episodes with random faults through every driver of a session.

In worlds of boxes and of facts, actions fail, raise errors, drop or lose something or do the next action as well,
observations hide or misplace something, once or from then on, people stop the robot or answer at random, and sessions
are pickled between two requests. An exception out of a driver, a plan that counts as completed although the last
observation shows that its goal does not hold, and a second motion at the same time are failures.
`EPISODES=250 pytest tests/reliability/test_drivers_and_faults.py` runs that many with each driver.
"""

import os
import random
import threading
import traceback
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

from nsrecover.core import Action, FactScene
from nsrecover.core.sessions.requests import Answer, Decision, Question
from tests import scenarios
from tests.nsrecover.bridges.driven import http_server
from tests.scenarios import SIDE_M, Refusing, Scenario, ScriptedWorld
from tests.test_drivers import DRIVERS

EPISODES = int(os.environ.get("EPISODES", "3"))
ACTS = ("works", "works", "works", "fails", "raises", "drops", "is lost", "stops", "helped")
SHOWS = ("unseen", "wrong")
NEAR_M = 0.02
"""Distance within which a cube stands on another one."""


class _Watched(ScriptedWorld):
    """A world that notices motions at the same time, and whether what it showed last fulfils the goal."""

    def __post_init__(self) -> None:
        self.moving, self.twice, self.last = threading.Lock(), False, None

    def execute(self, action: Action) -> None:
        """Carry out an action; another one may not be under way."""
        if not self.moving.acquire(blocking=False):
            self.twice = True
            return
        try:
            super().execute(action)
        finally:
            self.moving.release()

    def _seen(self) -> Any:
        self.last = super()._seen()
        return self.last


@dataclass
class Boxes(_Watched, scenarios.Boxes):
    """Boxes whose script may lose a cube more than once."""

    def carry_out(self, action: Action) -> None:
        """Do what an action should do, if that is known here."""
        if action.target or len(action.arguments) > 1:
            super().carry_out(action)

    def disturb(self, what: str) -> None:
        """Drop or lose a cube that is there."""
        if "green" in self.boxes:
            super().disturb(what)

    @property
    def falsified(self) -> bool:
        """Whether the last observation shows that the tower does not stand."""
        assert self.last is not None
        for action in self.plan():
            above, below = (self.last.get(name) for name in action.arguments)
            if above is None or below is None:
                continue
            gap = [abs(one - other) for one, other in zip(above[:3], (*below[:2], below[2] + SIDE_M), strict=True)]
            if max(gap) > NEAR_M:
                return True
        return False


@dataclass
class Facts(_Watched, scenarios.Facts):
    """Facts."""

    @property
    def falsified(self) -> bool:
        """Whether the last observation shows that the tube is not as it should be."""
        assert isinstance(self.last, FactScene)
        known = {fact[:2] for fact in self.last.facts}
        unsure = {place for place, sure in self.last.certainty.items() if sure < 1}
        return any(fact not in known and fact not in unsure for fact in (("spun", "tube"), ("mixed", "tube")))


@dataclass
class _Moody(Refusing):
    """A person who answers at random."""

    rng: random.Random = field(default_factory=random.Random)
    gave_up: bool = False

    def decide(self, decision: Decision[Any]) -> Answer:
        """Any answer, but not for ever the one that asks again."""
        super().decide(decision)
        answer = self.rng.choice((Answer.YES, Answer.NO, Answer.LOOK_AGAIN if len(self.log) < 60 else Answer.NO))
        self.gave_up |= decision.question is Question.GIVE_UP and answer is Answer.YES
        return answer


def scenario_of(rng: random.Random, driver: str) -> Scenario:
    """A scenario with random faults, that a driver can be given."""
    acts = {number: rng.choice(ACTS) for number in range(1, 8) if rng.random() < 0.35}
    acts |= {number: "works" for number, what in acts.items() if what == "helped" and number > 2}
    if rng.random() < 0.1:
        acts[0] = "fails"
    shows = {number: rng.choice(SHOWS) for number in range(1, 12) if rng.random() < 0.12}
    if rng.random() < 0.1:
        shows[-rng.randrange(1, 6)] = rng.choice(SHOWS)
    by_command = driver == "watch"  # it starts a page for a person, and takes no session that was begun
    vetoes = not by_command and rng.random() < 0.25
    return Scenario(acts, shows, vetoes=vetoes, resumes=not by_command and rng.random() < 0.3)


def episode(driver: str, number: int, seed: int) -> tuple[str, str]:
    """How one episode ended, and its failure if there is one."""
    rng = random.Random(f"{seed} {driver} {number}")
    scenario, kind = scenario_of(rng, driver), rng.choice((Boxes, Facts))
    world = kind(scenario.acts, scenario.shows)
    person = Refusing(world.log) if driver == "watch" else _Moody(world.log, rng)
    try:
        found = DRIVERS[driver](world, scenario, person)
    except Exception:  # of any kind: that is what is counted
        return "raised", f"{scenario}: {traceback.format_exc(limit=-3)}"
    wrong = found.status == "completed" and world.falsified and not (isinstance(person, _Moody) and person.gave_up)
    failure = f"{scenario}: completed, but the goal is seen not to hold" if wrong else ""
    return str(found.status), f"{scenario}: a second motion at the same time" if world.twice else failure


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with http_server():
        yield


@pytest.mark.parametrize("driver", DRIVERS)
def test_no_driver_raises_or_completes_what_is_seen_to_fail(driver: str) -> None:
    ends = [episode(driver, number, 7) for number in range(EPISODES)]
    assert [failure for _, failure in ends] == [""] * EPISODES
    assert {end for end, _ in ends} <= {"completed", "asked_for_help"}


@pytest.mark.parametrize("number", [854, 1222])
def test_a_log_of_a_run_in_which_a_person_looked_again_is_read(number: int) -> None:
    """The same action is judged twice, which once counted as a contradiction of the log."""
    assert episode("http", number, 0)[1] == ""
