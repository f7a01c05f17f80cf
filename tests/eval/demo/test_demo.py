"""The demo with the shipped checkpoint: one scenario end to end, and its files."""

import json
import re
from pathlib import Path

import imageio.v2 as imageio
import numpy as np
import pytest
from omegaconf import OmegaConf
from PIL import Image

from tests.commands import run


@pytest.fixture(scope="module")
def helper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the shortest scenario with exact images, run once."""
    folder = tmp_path_factory.mktemp("demo") / "helper"
    done = run("eval.demo", "scenario=helper", "seed=0", "sensor=clean", f"gif={folder / 'short.gif'}", f"out={folder}")
    assert done.code == 0, done.out + done.err
    return folder


def test_the_metrics_say_what_happened(helper: Path) -> None:
    metrics = json.loads((helper / "metrics.json").read_text())
    assert metrics["goal_reached"] is True
    assert metrics["sensor"] == "clean"
    assert metrics["status"] == "completed"
    assert isinstance(metrics["detected_step"], int)
    assert metrics["culprits"] == metrics["true_culprits"] != []
    assert metrics["recovery_time_s"] >= 0
    assert set(metrics["errors"][0]["causes"].values()) == {"helped"}
    assert OmegaConf.load(helper / "config.yaml")["scenario"] == "helper"


def test_the_report_says_what_happened_and_needs_no_other_file(helper: Path) -> None:
    page, metrics = (helper / "report.html").read_text(), json.loads((helper / "metrics.json").read_text())
    for text in ("Expected", "Seen", "goal reached", "exact images", "ahead of the plan", *metrics["culprits"]):
        assert text in page
    asked = re.findall(r"""\s(?:src|href|data|poster|srcset)="([^"]*)"|url\(([^)]*)\)""", page)
    assert len(asked) > 5
    assert all((one or other).startswith(("data:", "#photo")) for one, other in asked)
    assert len(page) < 5_000_000


def test_the_video_plays_and_moves(helper: Path) -> None:
    with imageio.get_reader(helper / "episode.mp4") as film:
        frames = [film.get_data(index).astype(int) for index in (0, 30, film.count_frames() - 1)]
    assert frames[0].shape == (384, 416, 3)
    assert np.abs(frames[0] - frames[1]).mean() > 1
    assert np.abs(frames[0] - frames[2]).mean() > 1


def test_a_short_film_has_the_frames_of_the_video(helper: Path) -> None:
    with Image.open(helper / "short.gif") as film:
        assert (film.size, film.is_animated) == ((416, 384), True)
        assert film.n_frames > 30


def test_the_robot_sees_through_a_real_sensor_unless_asked_otherwise(tmp_path: Path) -> None:
    done = run("eval.demo", "scenario=helper", "seed=1", "video=false", f"out={tmp_path}")
    assert done.code == 0, done.out + done.err
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert metrics["sensor"] == "d435"
    assert metrics["culprits"] == metrics["true_culprits"] != []
    assert "through the sensor d435" in (tmp_path / "report.html").read_text()
    assert OmegaConf.load(tmp_path / "config.yaml").sensor.masks.missing == 0.03
