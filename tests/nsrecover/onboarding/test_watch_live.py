"""`nsrecover watch --live`: a robot of a file is watched on its page, let go on and seen to its end."""

import subprocess
import sys
from pathlib import Path

from nsrecover.core.episode import EpisodeStatus
from nsrecover.records import episode_log
from tests.commands import ROOT
from tests.nsrecover.live.live_worlds import Client

ROBOT = """
from tests.nsrecover.live.live_worlds import PLAN, BoxTable, pushed

def world():
    made = BoxTable(pushed)
    made.plan = PLAN
    return made
"""


def test_a_robot_is_watched_on_its_page_to_the_end(tmp_path: Path) -> None:
    (tmp_path / "robot.py").write_text(ROBOT)
    log = tmp_path / "watched.json"
    command = ["watch", f"{tmp_path / 'robot.py'}:world", "--live", "--port", "0", "--out", str(log)]
    process = subprocess.Popen(
        [sys.executable, "-m", "nsrecover.cli", *command],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=None,
    )  # fmt: skip
    try:
        assert process.stderr is not None
        address = process.stderr.readline()
        assert address.startswith("open http://127.0.0.1:")
        viewer = Client(address.removeprefix("open ").strip())
        viewer.wait_for("paused", "state")
        assert not log.exists()
        viewer.do("approve")
        viewer.do("resume")
        assert "Put the red cube on the blue cube" in viewer.wait_for("Take this way back?", "decision")
        with viewer.changes() as changes:
            number = next(
                html.split('name="number" value="')[1].split('"')[0]
                for _, panel, html in changes
                if panel == "decision" and 'name="number"' in html
            )
        assert viewer.do("answer", number=number, choice="do").status_code == 200
        said, _ = process.communicate(timeout=30)
    finally:
        process.kill()
    assert process.returncode == 0
    assert "completed, 1 error." in said
    assert episode_log.load(log).status is EpisodeStatus.COMPLETED
