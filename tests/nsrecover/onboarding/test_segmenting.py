"""Cameras without a detector in a new project."""

import json
import os
from functools import partial
from pathlib import Path

from tests.commands import run

nsr = partial(run, "nsrecover.cli.app")


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
