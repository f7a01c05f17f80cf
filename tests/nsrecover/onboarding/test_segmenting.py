"""`nsrecover segment`, and cameras without a detector in a new project."""

import json
import os
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.commands import run
from tests.nsrecover.perception.test_table_masks import APART, overlaps, seen
from tests.observations import front_camera

nsr = partial(run, "nsrecover.cli.app")
KINECT = "525,525,320,240"


def test_one_image_gives_pose_masks_and_boxes(tmp_path: Path) -> None:
    rgb, depth, true = seen(APART, front_camera())
    Image.fromarray(rgb).save(tmp_path / "colour.png")
    Image.fromarray(np.round(1000 * depth).astype(np.uint16)).save(tmp_path / "depth.png")
    files = (str(tmp_path / "colour.png"), "--depth", str(tmp_path / "depth.png"), "--out", str(tmp_path / "out"))
    done = nsr("segment", *files, "--intrinsics", KINECT, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["cameras"][0]["world_from_camera"][2][3] == pytest.approx(0.636, abs=0.003)
    sizes = sorted(round(box[3] * box[4] * box[5], 5) for box in found["objects"].values())
    assert len(sizes) == 3
    masks = np.asarray(Image.open(tmp_path / "out" / "000_colour.png")).astype(np.int32)
    assert min(overlaps(masks, true)) > 0.75
    assert all(Path(drawing).is_file() for drawing in found["drawings"])
    for unit_mm in ("0.1", "10"):
        done = nsr("segment", *files, "--intrinsics", KINECT, "--unit-mm", unit_mm)
        assert (done.code in (1, 2), "unit" in done.out + done.err) == (True, True)
    done = nsr("segment", *files, "--intrinsics", "525")
    assert done.code == 2
    assert "FX,FY,CX,CY" in done.err
    assert done.err.count("\n") == 1


def test_a_recorded_run_is_segmented_in_turn(tmp_path: Path) -> None:
    done = nsr("segment", "example", "--out", str(tmp_path), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["observations"] == len(list(tmp_path.glob("*_left.png"))) - 1 == 5


def test_a_new_project_needs_no_detector(tmp_path: Path) -> None:
    assert nsr("new", str(tmp_path / "lab"), "--cameras").code == 0
    world = f"{tmp_path}/lab/world.py:without_detector"
    done = nsr("check-setup", world, "--looks", "2", "--out", str(tmp_path / "setup"), "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["problems"] == []
    assert any("4 objects on the table" in fact for fact in json.loads(done.out)["facts"])
    done = nsr("watch", world, "--out", str(tmp_path / "log.json"), "--json")
    assert (done.code, json.loads(done.out)["errors"]) == (0, 0), done.err
    assert os.listdir(tmp_path / "setup")
