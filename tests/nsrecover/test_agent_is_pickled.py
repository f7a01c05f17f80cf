"""An agent can be sent to another process or kept; what belongs to this program stays here."""

import pickle
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import nsrecover
from nsrecover.core.episode import EpisodeStatus
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.errors import InvalidConfiguration
from sim.common.panda import check_owned
from tests.commands import ROOT
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld, State


def _same(number: int, state: State) -> State:
    return state


def test_a_pickled_agent_runs_and_has_no_supervisor() -> None:
    class Watching(Supervisor):
        """Cannot be pickled."""

    agent = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), FactWorld(hook=_same), supervisor=Watching())
    agent.stop()
    again: nsrecover.RecoveryAgent = pickle.loads(pickle.dumps(agent))
    assert type(again.supervisor) is Supervisor
    assert again.run(WATER).status is EpisodeStatus.COMPLETED


def test_a_loaded_checkpoint_leaves_no_file_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    subprocess.run([sys.executable, "-c", "import nsrecover; nsrecover.load()"], cwd=ROOT, check=True)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_folders_of_others_are_not_used(tmp_path: Path) -> None:
    mine, open_one = tmp_path / "mine", tmp_path / "open"
    for folder in (mine, open_one):
        folder.mkdir(mode=0o700)
    open_one.chmod(0o777)
    (tmp_path / "link").symlink_to(mine)
    check_owned(mine)
    for wrong in (open_one, tmp_path / "link", Path(tempfile.gettempdir())):
        with pytest.raises(InvalidConfiguration, match="only you can write"):
            check_owned(wrong)
