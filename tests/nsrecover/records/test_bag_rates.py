"""Rates, gaps and latencies of the topics of a bag, as they were written."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from nsrecover.core.actions import Plan
from nsrecover.records.bags.rates import topic_rates
from nsrecover.records.bags.writing import BagSettings, write_bag
from nsrecover.records.recording import Recording, example
from tests.commands import run

nsr = partial(run, "nsrecover.cli.app")


@pytest.fixture(scope="module")
def episode() -> Recording:
    """Three moments, 2 s and 3 s apart."""
    whole = example()
    times = (100.0, 102.0, 105.0)
    seen = tuple(replace(each, time_s=at) for each, at in zip(whole.observations, times, strict=False))
    return Recording(Plan(whole.plan.actions[:2]), seen)


def test_rates_gaps_and_latencies_are_those_of_the_messages(episode: Recording, tmp_path: Path) -> None:
    bag = write_bag(episode, tmp_path / "bag", BagSettings(delays_s={"/left/masks": 0.25}))
    found = {each.topic: each for each in topic_rates(bag)}
    for topic, latency in (("/left/masks", 0.25), ("/right/color/image_raw", 0.0), ("/tf", 0.0)):
        each = found[topic]
        assert (each.messages, each.problem) == (3, "")
        assert (each.rate_hz, each.gap_s) == (pytest.approx(2 / 5), pytest.approx(3.0))
        assert each.latency_s == (pytest.approx(latency, abs=1e-6), pytest.approx(latency, abs=1e-6))
    assert found["/nsrecover/labels"].latency_s is None, "texts have no stamp"
    assert (found["/nsrecover/plan"].messages, found["/nsrecover/plan"].rate_hz) == (1, None)


def test_the_command_names_clocks_that_differ(episode: Recording, tmp_path: Path) -> None:
    bag = write_bag(episode, tmp_path / "good")
    done = nsr("check-setup", str(bag), "--out", str(tmp_path / "drawn"))
    assert done.code == 0, done.err
    assert "/left/depth/image_raw: 3 messages; 0.4 Hz, longest gap 3 s; recorded 0 ms after their" in done.out
    late = write_bag(episode, tmp_path / "late", BagSettings(delays_s={"/left/depth/image_raw": 4.0}))
    done = nsr("check-setup", str(late), "--out", str(tmp_path / "drawn"))
    assert done.code == 1
    assert "problem: messages on /left/depth/image_raw are recorded 4 s after their stamps" in done.out
    early = write_bag(episode, tmp_path / "early", BagSettings(delays_s={"/left/depth/image_raw": -0.5}))
    assert "0.5 s before their stamps" in nsr("check-setup", str(early), "--out", str(tmp_path / "drawn")).out
