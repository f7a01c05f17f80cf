"""Collections are resumable, independent of the number of workers, and keep successes only."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive
from nsrecover.records.arrays import digest, episode_to_arrays
from sim.collect import CollectConfig, collect
from sim.common.folder import lock_folder
from sim.common.journal import Journal
from sim.sensors.presets import sensor
from sim.tabletop.demonstrations import DemonstrationMix, perform
from tests.commands import ROOT, run

FEW = {"objects": [3], "lengths": [1, 2], "transitions": 5, "seed": 3}


def _left_over(folder: Path) -> set[str]:
    known = {"demonstrations.h5", "manifest.json", "outcomes.jsonl", "metrics.json", "config.yaml", ".lock"}
    return {path.name for path in folder.iterdir()} - known


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """One collection without interruption, by one worker."""
    folder = tmp_path_factory.mktemp("collect") / "whole"
    metrics = collect(CollectConfig(**FEW, out=str(folder), workers=1))
    return folder, metrics


def test_enough_transitions_are_recorded_and_counted(whole):
    folder, metrics = whole
    with Archive(folder / "demonstrations.h5") as archive:
        recordings = list(archive)
        assert archive.attributes["seed"] == 3
        assert json.loads(archive.attributes["mix"])["objects"] == [3]
    assert sum(len(recording.plan) for recording in recordings) == metrics["transitions"] >= 5
    assert metrics["kept"] == len(recordings)
    assert sum(metrics["structures"].values()) == metrics["kept"]
    assert sum(metrics["operators"].values()) == metrics["transitions"]
    assert metrics["objects"] == {"3": metrics["kept"]}
    assert sum(int(length) * count for length, count in metrics["lengths"].items()) == metrics["transitions"]
    assert not _left_over(folder)
    assert json.loads((folder / "metrics.json").read_text()) == metrics
    assert json.loads((folder / "manifest.json").read_text())["seed"] == 3
    assert "transitions: 5" in (folder / "config.yaml").read_text()


def test_two_collectors_in_one_folder_are_refused(whole, tmp_path):
    out = tmp_path / "busy"
    out.mkdir()
    with (
        lock_folder(out),
        pytest.raises(InvalidConfiguration, match=f"found process {os.getpid()}.*choose another out=DIR"),
    ):
        collect(CollectConfig(**FEW, out=str(out), workers=1))
    assert {path.name for path in out.iterdir()} == {".lock"}


@pytest.mark.parametrize("change", [{"seed": 4}, {"objects": [4]}, {"fidelity": "kinematic"}])
def test_a_folder_of_other_settings_is_refused_and_untouched(whole, change):
    folder, _ = whole
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InvalidConfiguration, match=f"{next(iter(change))}=.*choose another out=DIR"):
        collect(CollectConfig(**FEW | change, out=str(folder), workers=1))
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transitions": 0}, "transitions"),
        ({"objects": [1]}, "from 2 to 50"),
        ({"lengths": [9]}, "from 1 to 8"),
        ({"structures": ["towr"]}, "Did you mean 'tower'"),
        ({"scene": {"_target_": "sim.tabletop.scene_mix.SceneMix", "colours": ["rad"]}}, "Did you mean 'red'"),
    ],
)
def test_values_out_of_range_are_refused(tmp_path, change, message):
    with pytest.raises(InvalidConfiguration, match=message):
        collect(CollectConfig(**FEW | change, out=str(tmp_path / "new")))
    assert not (tmp_path / "new").exists()


def test_scene_cameras_and_fidelity_are_configuration(tmp_path):
    out = tmp_path / "other"
    words = ["transitions=1", "scene=small", "cameras=front", "lengths=[1]", "fidelity=kinematic"]
    command = ["sim.collect", *words, "workers=1", f"out={out}"]
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    with Archive(out / "demonstrations.h5") as archive:
        recording = archive[archive.episodes[0]]
        assert archive.attributes["command"] == "python -m sim.collect " + " ".join(
            f"'{word}'" if "[" in word else word for word in words
        )
    assert [camera.name for camera in recording.observations[0].cameras] == ["front"]
    assert recording.notes["fidelity"] == "kinematic"
    assert all(max(item["size"]) <= 0.055 for item in recording.notes["scene"]["objects"])
    refused = run(*command, "cameras.width=160")
    assert refused.code == 2
    assert "mix.rig.width=160" in refused.err


NOISY = {"objects": [3], "lengths": [1, 2], "transitions": 4, "seed": 3, "fidelity": "kinematic", "vary_light": False}


@pytest.fixture(scope="module")
def noisy(tmp_path_factory):
    """A collection through a sensor."""
    folder = tmp_path_factory.mktemp("noisy") / "whole"
    collect(
        CollectConfig(
            **NOISY, sensor={"_target_": "sim.sensors.presets.sensor", "name": "harsh"}, out=str(folder), workers=1
        )
    )
    return folder


def test_demonstrations_are_seen_through_the_sensor_with_one_number_for_each_object(noisy):
    expected = sensor("harsh", masks={"merged": 0, "split": 0, "phantoms": 0, "ids_per_view": False}).to_dict()
    with Archive(noisy / "demonstrations.h5") as archive:
        assert json.loads(archive.attributes["mix"])["sensor"] == expected
        recordings = list(archive)
    missing = 0
    for recording in recordings:
        assert recording.notes["sensor"] == expected
        numbers = {}
        for seen in recording.observations:
            assert seen.shared_ids
            assert all(numbers.setdefault(name, number) == number for number, name in seen.labels.items())
            assert (seen.depth_m == 0).any()
            missing += 2 * len(numbers) - sum(len(set(np.unique(view)) - {0}) for view in seen.instances)
        for action in recording.plan:
            assert set(action.arguments) <= set(recording.observations[0].labels.values())
    assert missing > 0
    assert len({r.observations[0].depth_m.tobytes() for r in recordings}) == len(recordings)


def test_the_start_is_looked_at_again_until_it_shows_every_object_of_the_plan():
    def drops(missing: float) -> list[str]:
        mix = DemonstrationMix(
            objects=(3,), lengths=(1,), fidelity="kinematic", sensor=sensor("clean", masks={"missing": missing})
        )
        return [perform(mix, 5, number)[0].reason for number in range(12)]

    assert drops(1.0) == ["unseen"] * 12
    # a look misses an object in both views with a probability of 0.16; three looks, of two objects, with 0.025
    assert drops(0.4).count("unseen") <= 2


def test_an_interrupted_episode_goes_on_without_rendering_again(tmp_path):
    mix = DemonstrationMix(objects=(3,), lengths=(2,))
    whole = perform(mix, 5, 0)[1]
    with Journal(tmp_path / "journal") as journal:
        perform(mix, 5, 0, journal)
        assert journal.recalled == 0
    (tmp_path / "journal" / "002.npz").unlink()
    with Journal(tmp_path / "journal") as journal:
        again = perform(mix, 5, 0, journal)[1]
        assert journal.recalled == 2
    texts = [digest(episode_to_arrays(r.plan, r.observations, r.notes)) for r in (whole, again)]
    assert texts[0] == texts[1]
