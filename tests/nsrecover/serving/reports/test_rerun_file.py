"""Episodes for the Rerun viewer: a file for boxes and for facts; without the extra an error names it."""

import sys
from pathlib import Path

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.reports.media import Media, Photo
from nsrecover.serving.reports.rerun_file import write_rerun
from tests.commands import run
from tests.nsrecover.explanation.made_episodes import fallen
from tests.nsrecover.kitchen_facts import HOME, WINE, FactWorld, after
from tests.nsrecover.serving.reports.shown_reports import carried_out


def test_without_the_extra_the_error_names_it_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "rerun", None)
    with pytest.raises(InvalidConfiguration, match=r"rerun-sdk.*pip install 'nsrecover\[rerun\]'"):
        write_rerun(fallen(), tmp_path / "episode.rrd")
    done = run(
        "nsrecover.cli.app", "report", "example", "--out", str(tmp_path / "r.html"), "--rerun", str(tmp_path / "e.rrd")
    )
    assert done.code == 2
    assert "pip install 'nsrecover[rerun]'" in done.err
    assert list(tmp_path.iterdir()) == []


def test_another_ending_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidConfiguration, match=r"expected a file ending in \.rrd"):
        write_rerun(fallen(), tmp_path / "episode.rerun")


def test_an_episode_of_boxes_with_photographs(tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="rerun-sdk is not installed: pip install 'nsrecover[rerun]'")
    episode, path = fallen(), tmp_path / "episode.rrd"
    rng = np.random.default_rng(0)
    media = [Media(None, Photo(rng.integers(0, 255, (60, 80, 3), dtype=np.uint8))) for _ in episode.records]
    write_rerun(episode, path)
    plain = path.stat().st_size
    write_rerun(episode, path, media)
    assert [each.name for each in tmp_path.iterdir()] == ["episode.rrd"]
    content = path.read_bytes()
    assert content[:4] in (b"RRF2", b"RRIO")
    assert len(content) > plain + 1000
    for part in (b"photo", b"expected", b"seen", b"probability", b"text"):
        assert b"/" + part in content


def test_an_episode_of_facts(tmp_path: Path) -> None:
    pytest.importorskip("rerun", reason="rerun-sdk is not installed: pip install 'nsrecover[rerun]'")
    episode = carried_out(FactWorld(hook=after(1, WINE)))
    write_rerun(episode, tmp_path / "kitchen.rrd", domain=HOME.domain)
    assert (tmp_path / "kitchen.rrd").stat().st_size > 1000
