"""Collections are resumable, independent of the number of workers, and keep successes only."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hydra import compose, initialize_config_dir
from omegaconf import OmegaConf

from conf.command import register
from nsrecover.core.actions import Action
from nsrecover.domains.tabletop.operators import operator_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive
from nsrecover.records.arrays import digest, episode_to_arrays
from sim.collect import CollectConfig, collect
from sim.common.folder import lock_folder
from sim.common.journal import Journal
from sim.sensors.presets import sensor
from sim.tabletop.demonstrations import DemonstrationMix, action_failure, for_demonstrations, perform, specify
from sim.tabletop.poses import PoseEstimates
from tests.commands import ROOT, run

FEW = {"objects": [3], "lengths": [1, 2], "transitions": 5, "seed": 3}


def _digests(folder: Path) -> dict[int, str]:
    with Archive(folder / "demonstrations.h5") as archive:
        return {episode: archive.digest(episode) for episode in archive.episodes}


def _left_over(folder: Path) -> set[str]:
    known = {"demonstrations.h5", "manifest.json", "outcomes.jsonl", "metrics.json", "config.yaml", ".lock"}
    return {path.name for path in folder.iterdir()} - known


def _settings(name: str) -> dict[str, object]:
    """Settings of a sensor, as the command line gives them."""
    register("collect", CollectConfig)
    with initialize_config_dir(str(ROOT / "conf"), version_base="1.3"):
        return OmegaConf.to_container(compose("collect", [f"sensor={name}"])["sensor"])


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


def test_recordings_show_the_scene_they_name(whole):
    for recording in Archive(whole[0] / "demonstrations.h5"):
        names = {item["name"] for item in recording.notes["scene"]["objects"]}
        assert set(recording.observations[0].labels.values()) == names
        for before, after in zip(recording.observations, recording.observations[1:], strict=False):
            assert np.count_nonzero(before.instances != after.instances) > 20
            assert after.time_s > before.time_s


def test_the_number_of_workers_does_not_matter(whole, tmp_path):
    collect(CollectConfig(**FEW, out=str(tmp_path / "two"), workers=2))
    two, one = (folder / "demonstrations.h5" for folder in (tmp_path / "two", whole[0]))
    assert two.read_bytes() == one.read_bytes()


def test_more_transitions_later_continue_the_same_file(whole, tmp_path):
    out = tmp_path / "again"
    collect(CollectConfig(**FEW | {"transitions": 3}, out=str(out), workers=1))
    ledger = out / "outcomes.jsonl"
    ledger.write_bytes(ledger.read_bytes() + b'{"episode": 2, "struc')
    collect(CollectConfig(**FEW, out=str(out), workers=1))
    assert _digests(out) == _digests(whole[0])
    assert ledger.read_bytes() == (whole[0] / "outcomes.jsonl").read_bytes()


def test_a_lost_file_is_recorded_again(whole, tmp_path):
    out = tmp_path / "again"
    shutil.copytree(whole[0], out)
    (out / "demonstrations.h5").unlink()
    collect(CollectConfig(**FEW, out=str(out), workers=1))
    assert _digests(out) == _digests(whole[0])


def test_two_collectors_in_one_folder_are_refused(whole, tmp_path):
    out = tmp_path / "busy"
    out.mkdir()
    with (
        lock_folder(out),
        pytest.raises(InvalidConfiguration, match=f"found process {os.getpid()}.*choose another out=DIR"),
    ):
        collect(CollectConfig(**FEW, out=str(out), workers=1))
    assert {path.name for path in out.iterdir()} == {".lock"}


def test_a_lock_that_a_dead_process_left_does_not_hold(tmp_path):
    code = (
        "import os, sys; from pathlib import Path; from sim.common.folder import lock_folder\n"
        "with lock_folder(Path(sys.argv[1])): os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=ROOT, check=False)
    assert (tmp_path / ".lock").read_text().strip().isdecimal()
    with lock_folder(tmp_path):
        assert (tmp_path / ".lock").read_text() == str(os.getpid())


def test_a_finished_collection_is_left_as_it_is(whole):
    folder, _ = whole
    before = (folder / "demonstrations.h5").stat().st_mtime_ns
    collect(CollectConfig(**FEW | {"transitions": 2}, out=str(folder), workers=1))
    assert (folder / "demonstrations.h5").stat().st_mtime_ns == before
    assert not _left_over(folder)


@pytest.mark.parametrize("change", [{"seed": 4}, {"objects": [4]}, {"fidelity": "kinematic"}])
def test_a_folder_of_other_settings_is_refused_and_untouched(whole, change):
    folder, _ = whole
    before = {path: path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(InvalidConfiguration, match=f"{next(iter(change))}=.*choose another out=DIR"):
        collect(CollectConfig(**FEW | change, out=str(folder), workers=1))
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_a_folder_of_another_version_is_refused(tmp_path):
    (tmp_path / "manifest.json").write_text('{"format": 1, "seed": 3}')
    with pytest.raises(InvalidConfiguration, match="of format 2, found format 1"):
        collect(CollectConfig(**FEW, out=str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_a_folder_of_something_else_is_refused(tmp_path):
    (tmp_path / "thesis.tex").write_text("important")
    with pytest.raises(InvalidConfiguration, match="empty folder or a collection"):
        collect(CollectConfig(**FEW, out=str(tmp_path)))
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transitions": 0}, "transitions"),
        ({"workers": 0}, "workers"),
        ({"objects": [1]}, "from 2 to 50"),
        ({"objects": []}, "from 2 to 50"),
        ({"lengths": [9]}, "from 1 to 8"),
        ({"structures": ["towr"]}, "Did you mean 'tower'"),
        ({"structures": []}, "known kinds"),
        ({"fidelity": "kinematik"}, "Did you mean 'kinematic'"),
        ({"scene": {"_target_": "sim.tabletop.scene_mix.SceneMix", "colours": ["rad"]}}, "Did you mean 'red'"),
    ],
)
def test_values_out_of_range_are_refused(tmp_path, change, message):
    with pytest.raises(InvalidConfiguration, match=message):
        collect(CollectConfig(**FEW | change, out=str(tmp_path / "new")))
    assert not (tmp_path / "new").exists()


def test_typos_fail_and_user_errors_are_one_line(tmp_path):
    typo = run("sim.collect", f"out={tmp_path / 'new'}", "transitons=5")
    assert typo.code != 0
    assert "transitons" in typo.err
    wrong = run("sim.collect", f"out={tmp_path / 'new'}", "transitions=0")
    assert wrong.code == 2
    assert wrong.err.strip().splitlines()[-1].startswith("error: expected transitions")
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
    collect(CollectConfig(**NOISY, sensor=_settings("harsh"), out=str(folder), workers=1))
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


def test_a_collection_through_a_sensor_does_not_depend_on_workers_and_interruptions(noisy, tmp_path):
    out = tmp_path / "two"
    few = {"sensor": _settings("harsh"), "out": str(out)}
    collect(CollectConfig(**NOISY | {"transitions": 2} | few, workers=1))
    collect(CollectConfig(**NOISY | few, workers=2))
    assert (out / "demonstrations.h5").read_bytes() == (noisy / "demonstrations.h5").read_bytes()


@pytest.mark.parametrize("lost", [(0,), (2,), (1, 2)])
def test_an_interrupted_episode_has_the_same_errors_of_the_sensor(tmp_path, lost):
    mix = DemonstrationMix(objects=(3,), lengths=(2,), fidelity="kinematic", sensor=for_demonstrations(sensor("d435")))
    whole = perform(mix, 5, 0)[1]
    with Journal(tmp_path / "journal") as journal:
        perform(mix, 5, 0, journal)
    for number in lost:
        (tmp_path / "journal" / f"{number:03d}.npz").unlink()
    with Journal(tmp_path / "journal") as journal:
        again = perform(mix, 5, 0, journal)[1]
    texts = [digest(episode_to_arrays(r.plan, r.observations, r.notes)) for r in (whole, again)]
    assert texts[0] == texts[1]


def test_a_journal_keeps_what_was_heard(tmp_path):
    mix = DemonstrationMix(objects=(3,), lengths=(1,), fidelity="kinematic")
    quiet = perform(mix, 5, 0)[1].observations[0]
    heard = replace(quiet, audio=np.linspace(-1, 0.5, 7).astype(np.float32), audio_rate_hz=16_000)
    with Journal(tmp_path / "journal") as journal:
        for number, observation in enumerate((quiet, heard)):
            journal.keep(number, "state", observation)
    with Journal(tmp_path / "journal") as journal:
        assert journal.recall(0, "state").audio is None
        np.testing.assert_allclose(journal.recall(1, "state").audio, heard.audio, atol=1.01 / 32_768)


def test_the_start_is_looked_at_again_until_it_shows_every_object_of_the_plan():
    def drops(missing: float) -> list[str]:
        mix = DemonstrationMix(
            objects=(3,), lengths=(1,), fidelity="kinematic", sensor=sensor("clean", masks={"missing": missing})
        )
        return [perform(mix, 5, number)[0].reason for number in range(12)]

    assert drops(1.0) == ["unseen"] * 12
    # a look misses an object in both views with a probability of 0.16; three looks, of two objects, with 0.025
    assert drops(0.4).count("unseen") <= 2


def test_a_sensor_without_errors_leaves_no_trace(tmp_path):
    mix = DemonstrationMix(objects=(3,), lengths=(1,), fidelity="kinematic")
    outcome, recording = perform(replace(mix, sensor=for_demonstrations(sensor("clean"))), 5, 0)
    assert "sensor" not in mix.to_dict()
    assert "sensor" not in recording.notes
    assert outcome.transitions == 1


def test_events_of_cameras_are_refused(tmp_path):
    settings = _settings("clean") | {"events": [{"kind": "frozen"}]}
    with pytest.raises(InvalidConfiguration, match="without events for demonstrations, found frozen"):
        collect(CollectConfig(**FEW, sensor=settings, out=str(tmp_path / "new")))
    assert not (tmp_path / "new").exists()


def test_a_folder_of_another_sensor_is_refused(noisy):
    with pytest.raises(InvalidConfiguration, match=r"sensor.*choose another out=DIR"):
        collect(CollectConfig(**NOISY, out=str(noisy), workers=1))


def test_an_episode_follows_from_its_seed_and_number():
    mix = DemonstrationMix()
    assert specify(mix, 0, 7) == specify(mix, 0, 7)
    assert len({str(specify(mix, seed, number).plan) for seed in (0, 1) for number in (7, 8)}) == 4


def test_every_lighting_is_the_same_when_it_shall_not_vary():
    steady = replace(DemonstrationMix(), vary_light=False)
    assert specify(steady, 0, 1).rig == specify(steady, 0, 2).rig
    assert specify(DemonstrationMix(), 0, 1).rig != specify(DemonstrationMix(), 0, 2).rig


def _estimates(**places) -> PoseEstimates:
    count = len(places)
    return PoseEstimates(
        tuple(places), np.array(list(places.values()), float), np.tile([0.0, 0, 0, 1], (count, 1)),
        np.full((count, 3), 0.04),
    )  # fmt: skip


def test_judging_names_what_went_wrong():
    action = Action("top", ("a", "b"))
    before = _estimates(a=(0.4, 0.0, 0.02), b=(0.5, 0.0, 0.02), c=(0.5, 0.2, 0.02))
    good = _estimates(a=(0.505, 0.0, 0.06), b=(0.5, 0.0, 0.02), c=(0.5, 0.2, 0.02))
    assert action_failure(action, before, good) is None
    assert action_failure(action, before, before)[0] == "not_achieved"
    assert action_failure(action, before, good.shifted("a", (0.02, 0.0, 0.0)))[0] == "off_target"
    assert action_failure(action, before, good.shifted("c", (0.012, 0.0, 0.0)))[0] == "disturbed"
    assert action_failure(action, before, good.without("c"))[0] == "lost"


def test_a_kept_episode_really_does_what_its_plan_says():
    outcome, recording = perform(DemonstrationMix(objects=(3,), lengths=(2,)), 5, 0)
    assert (outcome.reason, outcome.transitions, outcome.objects) == ("", 2, 3)
    assert all(operator_of(action) for action in recording.plan)


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


def test_what_another_world_has_left_in_the_journal_is_not_used(tmp_path):
    mix = DemonstrationMix(objects=(3,), lengths=(1,))
    with Journal(tmp_path / "journal") as journal:
        perform(mix, 5, 0, journal)
    with Journal(tmp_path / "journal") as journal:
        perform(mix, 6, 0, journal)
        assert journal.recalled == 0


def test_a_damaged_journal_is_recorded_again(tmp_path):
    mix = DemonstrationMix(objects=(3,), lengths=(1,))
    with Journal(tmp_path / "journal") as journal:
        perform(mix, 5, 0, journal)
    (tmp_path / "journal" / "001.npz").write_bytes(b"PK")
    with Journal(tmp_path / "journal") as journal:
        assert perform(mix, 5, 0, journal)[0].transitions == 1
        assert journal.recalled == 1
