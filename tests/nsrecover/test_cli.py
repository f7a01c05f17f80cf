"""The command line with the shipped checkpoint and the shipped episode."""

import json
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

import nsrecover
from nsrecover.cli import commands
from nsrecover.errors import InvalidRecording
from nsrecover.records.recording import Recording, example, save
from nsrecover.records.review import review
from tests.commands import run

nsr = partial(run, "nsrecover.cli.app")


def test_info_tells_the_version_and_the_measured_metrics() -> None:
    done = nsr("info", "--json")
    assert done.code == 0, done.err
    document = json.loads(done.out)
    assert document["version"]
    assert document["metrics"]
    assert "top" in document["operators"]


def test_info_fits_one_screen_and_all_of_it_can_be_had() -> None:
    lines = nsr("info").out.splitlines()
    assert len(lines) <= 20
    assert max(map(len, lines)) <= 120
    assert any(line.startswith("false alarms ") and "%" in line for line in lines)


def test_a_program_may_leave_out_the_options_of_bags(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecording, match="found nothing there"):
        commands.train(episodes=[str(tmp_path / "none")], out=tmp_path)


def test_the_version_and_what_an_error_says_to_developers() -> None:
    assert nsr("--version").out == f"nsrecover {nsrecover.__version__}\n"
    assert nsr("-h").out == nsr().out
    done = nsr("--debug", "check", "nowhere.npz")
    assert done.code == 2
    assert "Traceback" in done.err
    assert "nowhere.npz" in done.err.strip().splitlines()[-1]


def first_error(episode: Recording) -> int:
    """The number of the first step that went wrong."""
    records = review(nsrecover.load(), episode).records
    return next(record.discrepancy.step for record in records if record.discrepancy.deviates)


def test_a_good_run_is_checked_quietly_with_exit_code_0(tmp_path: Path) -> None:
    episode = example()
    first = first_error(episode)
    good = Recording(type(episode.plan)(episode.plan.actions[:first]), episode.observations[: first + 1])
    save(good, tmp_path / "good.npz")
    done = nsr("--quiet", "check", str(tmp_path / "good.npz"), "--json")
    assert (done.code, done.err) == (0, "")
    assert len(json.loads(done.out)["steps"]) == first


def test_check_finds_the_collapse_in_the_shipped_episode() -> None:
    done = nsr("check", "example", "--json")
    assert done.code == 1, done.err  # it found something wrong
    steps = json.loads(done.out)["steps"]
    wrong = [step for step in steps if not step["as_expected"]]
    assert steps[0]["as_expected"]
    assert "toppled" in {culprit["cause"] for culprit in wrong[0]["deviations"]}
    assert wrong[0]["recovery"]["status"] == "recovered"
    assert all(culprit["name"] in wrong[0]["explanation"] for culprit in wrong[0]["deviations"])


def test_check_observation_accepts_the_shipped_episode() -> None:
    done = nsr("check-observation", "example", "--every", "--json")
    assert done.code == 0, done.err
    checked = json.loads(done.out)
    assert len(checked) == len(example().observations)
    assert all(each["plausible"] and not each["findings"] for each in checked)
    assert [view["masks"] for view in checked[0]["views"]] == [5, 5]


def test_check_observation_names_the_mistake_and_its_fix(tmp_path: Path) -> None:
    good = example()
    depth = [replace(seen, depth_m=seen.depth_m / 100) for seen in good.observations]
    Recording(good.plan, tuple(depth)).save(tmp_path / "odd.npz", check_sensors=False)
    done = nsr("check-observation", str(tmp_path / "odd.npz"))
    assert done.code == 1, done.err
    assert "observation 0: implausible" in done.out
    assert "a median depth of 0.01" in done.out
    assert "give depth_m in metres" in done.out
    refused = nsr("check", str(tmp_path / "odd.npz"))
    assert refused.code == 2
    assert "give depth_m in metres" in refused.err
