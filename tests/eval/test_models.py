"""`python -m eval.models` on a few real episodes."""

import json
from pathlib import Path

import numpy as np
import pytest

from eval.common import statistics
from eval.common.recordings import footage_of, through
from eval.common.step_verdicts import MonitorSetting, StepVerdict, anonymous, judge_steps
from eval.models import Variant, assess, association, exact, false_alarms
from nsrecover import load
from nsrecover.errors import InvalidConfiguration
from nsrecover.perception.perceiver import Association
from sim.datasets.spec import ErrorEpisode, read_episodes
from sim.sensors.presets import sensor
from tests.commands import run


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    settings = ["seed=3", "episodes={I: 1, II: 1, III: 0, IV: 0}", "variants=cameras", "workers=1"]
    places = [f"errors={folder}/errors", f"footage={folder}/footage", f"out={folder}/out"]
    done = run("eval.models", *settings, *places)
    assert done.code == 0, done.err
    return folder, done.out


def first(folder: Path, dataset: str) -> ErrorEpisode:
    return next(read_episodes(folder / "errors" / dataset))


def test_it_leaves_metrics_and_tables(measured):
    folder, printed = measured
    assert printed == (folder / "out" / "table.md").read_text()
    metrics = json.loads((folder / "out" / "metrics.json").read_text())
    assert set(metrics["variants"]) == {"two cameras", "one camera", "three cameras"}
    figures = metrics["variants"]["two cameras"]["datasets"]
    assert figures["I"]["steps"]["accuracy"]["of"] == 6  # five steps as they should go, one as it went
    assert figures["II"]["steps"]["accuracy"]["of"] == 2
    injected = metrics["variants"]["two cameras"]["injected"]
    assert injected["steps"]["recall"]["value"] == 1.0
    assert injected["association_after_errors"]["value"] > 0.9
    assert metrics["variants"]["two cameras"]["imagination"]["1"]["median_mm"] < 10


def test_recordings_match_their_specification(measured):
    folder, _ = measured
    episode = first(folder, "I")
    before = {path: path.stat().st_mtime_ns for path in (folder / "footage").iterdir()}
    footage = footage_of(episode, folder / "footage").through(["front"])
    assert {path: path.stat().st_mtime_ns for path in (folder / "footage").iterdir()} == before, "filmed once"
    assert len(footage.successes) == len(episode.plan) + 1 == len(footage.places)
    assert set(footage.failures) == {error.step for error in episode.errors}
    assert [camera.name for camera in footage.successes[0].cameras] == ["front"]
    with pytest.raises(InvalidConfiguration, match="Did you mean 'front'"):
        through(footage.successes[0], ["frnt"])


def test_variants_are_judged_behind_a_sensor(measured):
    folder, _ = measured
    arguments = (first(folder, "I"), str(folder / "footage"), {"two": Variant(), "known": Variant(Association.KNOWN)})
    exact, seen = (assess(*arguments, sensor(name)) for name in ("clean", "d435"))
    for name in exact:
        verdicts = seen[name][0]
        assert [verdict.step for verdict in verdicts] == [verdict.step for verdict in exact[name][0]]
        assert [set(verdict.wrong) for verdict in verdicts] == [set(verdict.wrong) for verdict in exact[name][0]]
        assert sum(verdict.matched for verdict in verdicts) > 0.9 * sum(verdict.visible for verdict in verdicts) > 0
    assert seen["two"][0] != exact["two"][0]
    assert assess(*arguments, sensor("clean", masks={"missing": 1.0})) == {"two": ((), ()), "known": ((), ())}


def test_the_monitor_gets_no_names(measured):
    folder, _ = measured
    observation = footage_of(first(folder, "I"), folder / "footage").successes[0]
    shown, truth = anonymous(observation, np.random.default_rng(0), named=False)
    assert not set(shown.labels.values()) & set(observation.labels.values())
    for number, name in truth.items():
        old = next(key for key, value in observation.labels.items() if value == name)
        np.testing.assert_array_equal(shown.instances == number, observation.instances == old)


def test_an_object_that_the_monitor_cannot_see_moving_is_not_blamed(measured):
    """The monitor judges what the cameras show: with the outcome replaced by the good one, there is no alarm."""
    folder, _ = measured
    episode = first(folder, "I")
    footage = footage_of(episode, folder / "footage").through(["left", "right"])
    step = episode.errors[0].step
    footage.failures[step] = footage.successes[step + 1]
    verdicts, _ = judge_steps(footage, load(), MonitorSetting())
    assert all(not verdict.blamed for verdict in verdicts)


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("episodes={VII: 3}", "expected known datasets, found 'VII'"),
        ("episodes={I: 0}", "at least one episode"),
        ("checkpoint=/nowhere", "expected a checkpoint of the tabletop"),
        ("variants=camera", "Did you mean 'cameras'"),
        ("sede=1", "sede"),
    ],
)
def test_mistakes_get_one_clear_error(argument, message, tmp_path):
    arguments = ["~episodes", f"+{argument}"] if argument.startswith("episodes") else [argument]
    done = run("eval.models", f"out={tmp_path}/out", "variants=main", *arguments)
    assert done.code != 0
    assert message in done.err
    assert "Traceback" not in done.err
    assert not list(tmp_path.glob("out/*"))


# -- the figures of the monitor's verdicts, worked by hand


def verdict(wrong: dict[str, str], blamed: tuple[str, ...], matched: int = 3, **probabilities: float) -> StepVerdict:
    said = {"a": 0.99, "b": 0.98, "c": 0.97} | probabilities
    return StepVerdict("I", 0, 0, 3, wrong, said, blamed, 3, matched)


VERDICTS = [
    verdict({}, ()),
    verdict({}, ()),
    verdict({}, ("a",), a=0.3),
    verdict({"a": "push"}, ("a",), a=0.1),
    verdict({"a": "push", "b": "swap"}, ("b",), matched=2, a=0.7, b=0.05),
    verdict({"c": "slip"}, ()),
]


def test_culprits_are_exact_or_not() -> None:
    assert exact(VERDICTS)["value"] == 0.5
    assert exact(VERDICTS)["of"] == 2


def test_association_counts_visible_objects() -> None:
    assert association(VERDICTS)["value"] == pytest.approx(17 / 18, abs=1e-5)


def test_false_alarms_at_other_thresholds() -> None:
    found = false_alarms(VERDICTS, {0.01: 0.5, 0.05: 0.975})
    assert found["0.01"]["value"] == pytest.approx(1 / 3, abs=1e-5)
    assert found["0.05"]["value"] == 1.0


def test_the_area_under_the_curve() -> None:
    good = np.array([False, False, True, True])
    assert statistics.roc(np.array([0.1, 0.2, 0.8, 0.9]), good)[2] == 1.0
    assert statistics.roc(np.array([0.9, 0.8, 0.2, 0.1]), good)[2] == 0.0
    assert statistics.roc(np.full(4, 0.5), good)[2] == 0.5


def test_a_share_of_zero_has_no_value() -> None:
    assert statistics.share(0, 0)["value"] is None
    assert statistics.share(95, 100)["low"] == pytest.approx(0.8882, abs=1e-3)
