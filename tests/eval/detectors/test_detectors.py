"""`python -m eval.detectors`: real detectors on a few real episodes, and its figures worked by hand."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from omegaconf import OmegaConf

from eval.common.recordings import footage_of, names_of_masks
from eval.detectors.__main__ import MEASUREMENT, DetectorsConfig, at_equal_rates, evidence, resampled, threshold_at
from eval.detectors.judged_moments import JudgedEpisode, JudgedMoment
from nsrecover.core import Plan
from sim.datasets.spec import EPISODES, ErrorEpisode, StepError
from sim.sensors.presets import sensor
from sim.tabletop.faults import Displaced, Removed
from sim.tabletop.scenes import ObjectKind, ObjectSpec, SceneSpec
from tests.tables_text import unpadded

CONF = Path(__file__).parents[3] / "conf" / "detector"
COMPARED = ("ours", "distance", "graph", "relations", "images", "counts")


def cube(colour: str, x: float, y: float) -> ObjectSpec:
    return ObjectSpec(f"{colour} cube", ObjectKind.CUBE, colour, (0.045, 0.045, 0.045), (x, y))


SCENE = SceneSpec((cube("red", 0.45, 0.1), cube("blue", 0.5, -0.1), cube("green", 0.6, 0.2)))
PLAN = Plan.parse("right(red cube, blue cube); top(green cube, blue cube)")
GONE = ErrorEpisode(
    "V", 0, SCENE, PLAN, (Removed(0, "green cube"),), 7,
    errors=(StepError(0, {"green cube": "gone from the table"}, {"green cube": "removed"}),),
    recoverable=False, reason="gone",
)  # fmt: skip
MOVED = ErrorEpisode(
    "V", 1, SCENE, PLAN, (Displaced(0, "green cube", (-0.03, 0.05)),), 8,
    errors=(StepError(0, {"green cube": "58 mm off"}, {"green cube": "displaced"}),),
)  # fmt: skip


def settings(folder: Path) -> DetectorsConfig:
    """Of two episodes: an object is taken away, and put elsewhere."""
    detectors = OmegaConf.merge(*(OmegaConf.load(CONF / f"{name}.yaml") for name in COMPARED))
    group = OmegaConf.to_container(
        OmegaConf.create({"checkpoint": None, "trunk": "encoder", "detector": detectors}), resolve=True
    )
    return DetectorsConfig(
        episodes={"V": 2},
        errors=str(folder / "errors"),
        footage=str(folder / "footage"),
        detector=group["detector"],
        workers=1,
        out=str(folder / "out"),
    )


@pytest.fixture(scope="module")
def compared(tmp_path_factory):
    folder = tmp_path_factory.mktemp("detectors")
    (folder / "errors" / "V").mkdir(parents=True)
    (folder / "errors" / "V" / EPISODES).write_text("".join(f"{episode.to_json()}\n" for episode in (GONE, MOVED)))
    return folder, MEASUREMENT.run(settings(folder))


def test_ours_detects_all_errors_without_false_alarms(compared):
    folder, metrics = compared
    assert metrics["moments"]["good"] == 4
    assert metrics["moments"]["errors"] == 2
    own = metrics["detectors"]["ours"]["own_thresholds"][0]
    assert own["detection"]["value"] == 1.0
    assert own["false_alarms"]["value"] == 0.0
    assert metrics["detectors"]["ours"]["area"] == 1.0
    assert {"config.yaml", "table.md"} <= {p.name for p in (folder / "out").iterdir()}
    table = (folder / "out" / "table.md").read_text()
    assert all(f"| {name} |" in unpadded(table) for name in metrics["detectors"])


def test_a_recording_is_seen_through_a_sensor(compared):
    exact = footage_of(MOVED, compared[0] / "footage").through(["left", "right"])
    assert exact.sensed(sensor("clean")) is exact
    seen, again = (exact.sensed(sensor("d435")) for _ in range(2))
    assert seen.exact is exact
    assert not seen.unseen
    assert (len(seen.successes), set(seen.failures)) == (len(exact.successes), {0})
    assert seen.places is exact.places
    pairs = [(seen.failures[0], again.failures[0]), *zip(seen.successes, again.successes, strict=True)]
    for one, other in pairs:
        assert not one.shared_ids
        assert (one.depth_m == other.depth_m).all()
        assert (one.instances == other.instances).all()
        assert (one.depth_m == 0).mean() > 0.01
    # the error and its outcome without the error are observed at the same moment: what stays has the same noise
    noise = exact.sensed(sensor("clean", depth={"noise_m": 0.001}))
    same = exact.failures[0].depth_m == exact.successes[1].depth_m
    assert 0.9 < same.mean() < 1.0
    assert (noise.failures[0].depth_m[same] == noise.successes[1].depth_m[same]).all()
    assert (noise.failures[0].depth_m != noise.successes[0].depth_m)[same].mean() > 0.5
    names = names_of_masks(exact.successes[0], seen.successes[0])
    assert {names[number] for number in seen.successes[0].labels} == set(SCENE.names)


# -- figures worked by hand


def judged(wrong: str, score: float) -> JudgedMoment:
    return JudgedMoment(0, (wrong,) if wrong else (), {"x": score, "y": -score})


EPISODE = JudgedEpisode(
    0,
    "I",
    0,
    (
        *(judged("", 0.5 + number / 100) for number in range(40)),
        judged("push", 0.1),
        judged("push", 0.501),
        judged("swap", 0.505),
        judged("swap", 0.9),
        judged("", 0.4),
    ),
)


def test_thresholds_keep_to_the_rate():
    good = np.arange(100.0)
    for rate, alarms in ((0.0, 0), (0.01, 1), (0.05, 5), (0.055, 5)):
        threshold = threshold_at(good, rate)
        assert (good < threshold).sum() == alarms
    tied = np.repeat([1.0, 2.0], [10, 90])
    assert (tied < threshold_at(tied, 0.05)).sum() == 0, "never more alarms than asked for"


def test_equal_rates():
    found = evidence([EPISODE], "x")
    rows = at_equal_rates(found, found)
    assert rows["0.001"]["threshold"] == 0.4  # no false alarm allowed among 41: below the lowest of them
    assert rows["0.001"]["detection"]["value"] == 0.25
    assert rows["0.05"]["threshold"] == 0.51  # two are allowed
    assert rows["0.05"]["detection"]["value"] == 0.75
    assert rows["0.05"]["false_alarms"]["value"] == round(2 / 41, 5)
    assert rows["0.05"]["only_first"] == rows["0.05"]["only_this"] == 0
    other = at_equal_rates(evidence([EPISODE], "y"), found)
    assert other["0.05"]["only_first"] == 3  # it finds 0.9 only
    assert other["0.05"]["only_this"] == 1
    assert other["0.05"]["p"] == 0.625  # 3 against 1: two tails of four tosses, 2 (1 + 4) / 16
    assert other["0.05"]["first_ahead"]["value"] == 0.5
    assert rows["0.05"]["first_ahead"] == {"value": 0.0, "low": 0.0, "high": 0.0}


def test_episodes_drawn_again_show_how_much_hangs_on_each():
    """With two equal episodes the interval is empty; with one detected and one missed it is widest."""
    alike = [replace(EPISODE, number=number) for number in range(2)]
    shares = resampled(evidence(alike, "x"), 0.05)
    assert set(shares) == {0.75}
    found = JudgedEpisode(0, "I", 0, (judged("", 0.5), judged("push", 0.1)))
    missed = JudgedEpisode(1, "I", 1, (judged("", 0.5), judged("push", 0.9)))
    shares = resampled(evidence([found, missed], "x"), 0.05)
    assert set(shares) == {0.0, 0.5, 1.0}
    assert np.mean(shares == 0.5) == pytest.approx(0.5, abs=0.05)
