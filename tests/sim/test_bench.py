"""The commands that measure the simulator."""

import json

import psutil
import pybullet
import pytest

from sim import bench, soak
from sim.bench import Tally, run_episode, standard, tower
from sim.common.statistics import wilson_interval
from sim.tabletop.objects import create_object
from sim.tabletop.scenes import ObjectKind, ObjectSpec


def test_wilson_interval():
    assert wilson_interval(0, 0) == (0.0, 1.0)
    low, high = wilson_interval(95, 100)
    # textbook values
    assert low == pytest.approx(0.8882, abs=1e-4)
    assert high == pytest.approx(0.9785, abs=1e-4)
    assert wilson_interval(100, 100)[1] == pytest.approx(1.0)
    assert wilson_interval(0, 100)[0] == 0.0


def test_an_episode_is_counted_and_timed():
    tally = Tally()
    run_episode(standard(1, 0), tally)
    assert (tally.placed, tally.tried, tally.episodes) == (5, 5, 1), tally.failures
    assert len(tally.placements.wall_s) == 5
    assert len(tally.observations.wall_s) == 6
    assert sum(tally.placements.wall_s) + sum(tally.observations.wall_s) < tally.whole.wall_s[0]
    assert 2000 < tally.steps < 10000


def test_a_failure_ends_the_episode(monkeypatch):
    monkeypatch.setattr(bench, "action_failure", lambda *_: ("lost", "it is gone"))
    tally = Tally()
    run_episode(tower(4)(1, 0), tally, observe=False, label="tower")
    assert (tally.placed, tally.tried) == (0, 1)
    assert "it is gone" in tally.failures[0]


def test_bench_prints_a_table_and_writes_metrics(tmp_path, capsys):
    bench.bench(placements=1, episodes=1, seed=3, out=tmp_path / "new")
    metrics = json.loads((tmp_path / "new" / "metrics.json").read_text())
    assert metrics["tower_4"]["tried"] == 3
    assert metrics["episodes_per_minute"]["wall"] > 0
    assert "towers up to 6" in capsys.readouterr().out


def test_soak_fails_when_memory_grows(monkeypatch, capsys):
    monkeypatch.setattr(soak, "WARM_UP", 1)
    sizes = iter([100.0, 151.0])
    monkeypatch.setattr(soak, "resident_mb", lambda: next(sizes))
    with pytest.raises(SystemExit) as stop:
        soak.soak(minutes=0.0)
    assert stop.value.code == 1
    assert "growth +51.0 MB" in capsys.readouterr().out


def test_drawn_objects_are_freed():
    die = ObjectSpec("red die", ObjectKind.DIE, "red", (0.04, 0.04, 0.04), (0.5, 0.0))

    def build():
        client = pybullet.connect(pybullet.DIRECT)
        pybullet.setPhysicsEngineParameter(enableFileCaching=0, physicsClientId=client)
        for _ in range(10):
            create_object(client, die)
        pybullet.disconnect(client)

    for _ in range(10):
        build()
    before = psutil.Process().memory_info().rss
    for _ in range(40):
        build()
    # 35 kB an object when vertices were given directly
    assert psutil.Process().memory_info().rss - before < 4e6
