"""The measurement of own operators: the oracle reaches its goals, and the rule is a strong one."""

from pathlib import Path

import numpy as np
import pytest

from eval.own_operators.__main__ import MEASUREMENT, ORACLE, OURS, OwnOperatorsConfig
from eval.own_operators.rule import write_rule
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.runs import read_runs
from sim.datasets.build import DatasetsConfig, build
from sim.datasets.own_operators.conventions import FAMILIES, convention
from sim.datasets.own_operators.scenes import demonstrations, draw, inside

SEED = 3


def test_arms_run_on_the_same_episodes(tmp_path: Path) -> None:
    found = MEASUREMENT.run(
        OwnOperatorsConfig(seed=SEED, worlds=2, episodes=4, shown=[20], workers=1, out=str(tmp_path))
    )
    assert {arm["goals"]["of"] for arm in found["arms"].values()} == {8}
    assert found["arms"][f"{ORACLE} 0"]["goals"]["value"] >= 0.75
    assert found["arms"][f"{OURS} 20"]["error_mm"]["median"] < 6.0
    assert (tmp_path / "table.md").read_text().count("|") > 50


@pytest.mark.parametrize("number", [0, 6, 7, 11, 18])
def test_a_rule_finds_what_a_person_finds(number: int) -> None:
    world = convention(SEED, number)
    *shown, last = demonstrations(SEED, number, world, 101)
    place = write_rule(shown)(last.before, last.arguments)
    assert np.linalg.norm(place[:3] - last.after[last.arguments[0]][:3]) < 0.015


@pytest.mark.parametrize("number", range(len(FAMILIES)))
def test_every_family_has_scenes_that_keep_its_convention(number: int) -> None:
    world = convention(SEED, number)
    actions, scenes = draw(np.random.default_rng(0), world, 1)
    placed = scenes[1][actions[0][0]]
    np.testing.assert_allclose(placed, world.place(scenes[0], actions[0]))
    assert inside(placed)
    again = demonstrations(SEED, number, world, 1)[0]
    assert again.arguments == demonstrations(SEED, number, world, 3)[0].arguments


def test_the_dataset_is_written_for_the_command_that_learns(tmp_path: Path) -> None:
    config = DatasetsConfig(dataset="VII", seed=SEED, episodes=1, out=str(tmp_path))
    assert build(config)["VII"]["families"] == ["beside"]
    runs = list(read_runs([tmp_path / "world000" / "demonstrations"]))
    assert len(runs) == 200
    (action,) = runs[0].plan
    assert action.operator == "place"
    assert set(action.arguments) <= set(runs[0].observations[0])
    with pytest.raises(InvalidConfiguration, match="seed"):
        build(DatasetsConfig(dataset="VII", seed=SEED + 1, episodes=1, out=str(tmp_path)))
