"""A person puts right what the robot asks for help with, and the run goes on; who decided what is in the log."""

from pathlib import Path
from typing import Any

import pytest

import nsrecover
from nsrecover.core.episode import Decided, Episode, EpisodeStatus, StopCode
from nsrecover.core.sessions.requests import Answer, Decision, Stopped
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.errors import OutOfTurn
from nsrecover.records import episode_log
from nsrecover.serving.reports.way import ANOTHER_LOOK, way_of
from nsrecover.serving.reports.wording import Wording
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, WINE, FactWorld, after


class Ann(Supervisor):
    """Takes the wine out of the pot by hand, when she is asked about a recovery, or when the robot has stopped."""

    approves = True

    def __init__(self, world: FactWorld, vetoes: bool) -> None:
        self._world, self._vetoes = world, vetoes
        self.stopped: list[StopCode] = []

    def decides(self, decision: Decision[Any]) -> Decided:
        if self._vetoes:
            return Decided(Answer.NO, "Ann")
        return self._repaired()

    def helps(self, stopped: Stopped) -> Decided | None:
        self.stopped.append(stopped.why)
        return self._repaired()

    def _repaired(self) -> Decided:
        self._world.state -= {WINE}
        return Decided(Answer.LOOK_AGAIN, "Ann")


@pytest.mark.parametrize("vetoes", [False, True])
def test_a_run_goes_on_after_a_repair_by_hand(vetoes: bool, tmp_path: Path) -> None:
    world = FactWorld(hook=after(1, WINE))
    ann = Ann(world, vetoes)
    system = nsrecover.symbolic(HOME, WATERED)
    episode: Episode[Any] = nsrecover.RecoveryAgent(system, world, budget_s=None, supervisor=ann).run(WATER)
    assert episode.status is EpisodeStatus.COMPLETED
    assert ann.stopped == [StopCode.VETOED] * vetoes
    assert world.done == list(WATER)
    assert [each.action for each in episode.records if each.action is not None] == world.done
    assert [each.by for record in episode.records for each in record.decided] == ["Ann"] * (6 if vetoes else 1)
    assert ANOTHER_LOOK in [entry.text for entry in way_of(episode, Wording(HOME.domain))]
    path = tmp_path / "log.json"
    episode_log.save(episode, path, HOME.domain)
    assert [record.decided for record in episode_log.load(path).records] == [r.decided for r in episode.records]


def test_a_session_that_goes_on_cannot_be_repaired() -> None:
    session = nsrecover.symbolic(HOME, WATERED).session(WATER, FactWorld().observe())
    with pytest.raises(OutOfTurn):
        session.repaired()
