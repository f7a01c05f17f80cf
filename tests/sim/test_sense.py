"""Exact demonstrations are seen through sensors in turn, and their plans and names stay."""

from pathlib import Path

import pytest

from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive, write_archive
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


def test_the_result_does_not_depend_on_the_run(exact: Path, tmp_path: Path) -> None:
    digests = []
    for name in ("a", "b"):
        sense(SenseConfig(str(exact), ["d435"], workers=1, out=str(tmp_path / name)))
        with Archive(tmp_path / name / FILE) as archive:
            digests.append([archive.digest(number) for number in archive.episodes])
    assert digests[0] == digests[1]


def test_what_was_seen_through_a_sensor_is_refused(exact: Path, tmp_path: Path) -> None:
    sense(SenseConfig(str(exact), ["d435"], workers=1, out=str(tmp_path)))
    with pytest.raises(InvalidConfiguration, match="sensor=clean"):
        sense(SenseConfig(str(tmp_path), ["tof"], workers=1, out=str(tmp_path / "again")))
    with pytest.raises(InvalidConfiguration, match="expected another folder"):
        sense(SenseConfig(str(exact), ["tof"], workers=1, out=str(exact)))
    with pytest.raises(InvalidConfiguration, match="at least one sensor"):
        sense(SenseConfig(str(exact), [], out=str(tmp_path)))


def test_two_episodes_that_are_the_same_have_other_noise(exact: Path, tmp_path: Path) -> None:
    with Archive(exact / FILE) as archive:
        first = archive[0]
    twice = tmp_path / "twice"
    twice.mkdir()
    write_archive(twice / FILE, [first, first])
    sense(SenseConfig(str(twice), ["d435"], workers=1, out=str(tmp_path / "seen")))
    with Archive(tmp_path / "seen" / FILE) as archive:
        one, other = (archive[number].observations[0] for number in archive.episodes)
    assert (one.rgb != other.rgb).any()
    assert (one.depth_m != other.depth_m).any()
