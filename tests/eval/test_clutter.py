"""The measurement of clutter: all searches run on the same scenes."""

from pathlib import Path

from eval.clutter import MEASUREMENT, ClutterConfig


def test_searches_run_on_the_same_scenes(tmp_path: Path) -> None:
    found = MEASUREMENT.run(ClutterConfig(seed=0, episodes=2, workers=1, out=str(tmp_path)))
    assert {arm["placed"]["of"] for arm in found["arms"].values()} == {2}
    assert all(
        arm["placed"]["value"] + arm["touched"]["value"] + arm["no room"]["value"] == 1
        for arm in found["arms"].values()
    )
    assert "exact boxes (the default)" in (tmp_path / "table.md").read_text()
