"""Files that an earlier version wrote are read: `version_0_1` holds a log and a recording of boxes."""

from pathlib import Path

from nsrecover.core.episode import EpisodeStatus
from nsrecover.records import episode_log
from nsrecover.records.runs import read_runs

FILES = Path(__file__).parent / "version_0_1"


def test_a_log_is_read() -> None:
    episode = episode_log.load(FILES / "log.json")
    assert episode.status is EpisodeStatus.COMPLETED
    (error,) = (each.discrepancy for each in episode.records if each.discrepancy.deviates)
    assert error.deviating == ("blue",)


def test_a_recording_of_boxes_is_read() -> None:
    (run,) = read_runs([FILES / "boxes.json"])
    assert [str(action) for action in run.plan] == ["top(green, red)", "top(blue, green)", "left(grey, red)"]
