"""Exact demonstrations are seen through sensors in turn, and their plans and names stay."""

from pathlib import Path

import pytest

from nsrecover.records.archive import Archive
from sim.collect import FILE, CollectConfig, collect
from sim.sense import SenseConfig, sense


@pytest.fixture(scope="module")
def exact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("demos")
    collect(
        CollectConfig(transitions=3, seed=4, out=str(out), workers=1, objects=[2], lengths=[1], fidelity="kinematic")
    )
    return out


def test_every_episode_is_seen_through_the_next_sensor(exact: Path, tmp_path: Path) -> None:
    config = SenseConfig(str(exact), ["clean", "harsh"], workers=1, out=str(tmp_path))
    counts = sense(config)
    with Archive(exact / FILE) as before, Archive(tmp_path / FILE) as after:
        assert sum(counts.values()) == len(before) == len(after) >= 3
        pairs = list(zip(before, after, strict=True))
    assert [pair[1].notes["sensor"]["name"] for pair in pairs[:3]] == ["clean", "harsh", "clean"]
    for number, (first, second) in enumerate(pairs):
        assert first.plan == second.plan
        same = (first.observations[0].depth_m == second.observations[0].depth_m).all()
        assert same == (number % 2 == 0)
        assert set(second.observations[0].labels.items()) <= set(first.observations[0].labels.items())
