"""The measurement of changes: all arms run on the same pairs, and colours show an exchange that place does not."""

from pathlib import Path

from eval.changes.__main__ import MEASUREMENT, OURS, RULE, WITHOUT, ChangesConfig, scored, wanted
from eval.changes.rules import Found, by_rule, pair_of
from sim.datasets.changes.episodes import Event, episode


def test_colours_show_an_exchange_and_the_truth_scores_full_marks() -> None:
    pair = episode(0, 4)
    assert pair.event is Event.REPLACED
    ruled = scored(RULE, pair, by_rule(pair_of(pair.first, pair.second)))
    assert ruled.noticed
    assert not any(ruled.alarms)
    places = {thing.identity: thing.box[:3] for thing in pair.after}
    truth = [Found(each.box[:3], wanted(pair, each.identity), places.get(each.identity)) for each in pair.before]
    true = scored("truth", pair, truth)
    assert true.noticed
    assert true.kind
    assert all(true.identities)
    silent = scored("silent", pair, [Found(each.box[:3], Event.NOTHING, each.box[:3]) for each in pair.before])
    assert not silent.noticed


def test_arms_run_on_the_same_episodes(tmp_path: Path) -> None:
    found = MEASUREMENT.run(ChangesConfig(seed=0, episodes=2, workers=1, out=str(tmp_path)))["arms"]
    assert list(found) == [OURS, WITHOUT, RULE]
    assert len({(arm["noticed"]["of"], arm["false_alarms"]["of"]) for arm in found.values()}) == 1
    assert "replaced noticed" in (tmp_path / "table.md").read_text()
