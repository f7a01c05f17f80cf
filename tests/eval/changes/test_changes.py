"""The measurement of changes: the truth scores full marks, place alone sees no exchange, and all arms run."""

from pathlib import Path

from eval.changes.__main__ import MEASUREMENT, ORACLE, ChangesConfig, oracle, scored
from eval.changes.rules import by_both, by_place, pair_of
from sim.datasets.changes.episodes import Event, episode


def test_colours_show_an_exchange_that_place_does_not() -> None:
    pair = episode(0, 4)
    assert pair.event is Event.REPLACED
    seen = pair_of(pair.first, pair.second)
    told = {rule: scored(pair, rule(seen)) for rule in (by_place, by_both)}
    assert (told[by_place]["noticed"], told[by_both]["noticed"]) == (False, True)
    assert not any(told[by_both]["alarms"])
    truth = scored(pair, oracle(pair))
    assert truth["noticed"]
    assert truth["kind"]
    assert all(truth["identities"])


def test_arms_run_on_the_same_episodes(tmp_path: Path) -> None:
    found = MEASUREMENT.run(ChangesConfig(seed=0, episodes=2, workers=1, out=str(tmp_path)))
    assert len({(arm["noticed"]["of"], arm["false_alarms"]["of"]) for arm in found["arms"].values()}) == 1
    assert found["arms"][ORACLE]["identities"]["value"] == 1.0
    assert "place rule" in (tmp_path / "table.md").read_text()
