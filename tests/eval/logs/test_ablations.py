"""Ablations of the diagnosis of logs."""

import pytest

from eval.logs.ablations import ABLATIONS, ablated_rates, ablation_table
from eval.logs.generated import judged_run
from nsrecover.explanation.logs import log_of
from sim.logs.generate import generate


def row(number: int, right: bool) -> dict[str, object]:
    return {
        "id": str(number), "step_right": right, "kind_right": right, "read_right": right,
        "refused": "" if right else "why", "subgoals": [[True, right]],
    }  # fmt: skip


def test_differences_are_paired() -> None:
    full, fewer = [row(n, n != 0) for n in range(10)], [row(n, n > 3) for n in range(10)]
    found = ablated_rates(full, {"something": fewer, "little": full})
    rate = found["something"]["step_right"]
    assert (rate["value"], rate["difference"], rate["changed"]) == (0.6, -0.3, 3)
    assert rate["interval"][0] < -0.3 < rate["interval"][1]
    table = ablation_table(found, {"step": "a", "kind": "b", "read_back": "c", "correction_accepted": "d"})
    assert "60.0 % (-30.0 [" in table
    assert "90.0 % (no log changes)" in table
    with pytest.raises(ValueError, match="same logs"):
        ablated_rates(full, {"something": fewer[::-1]})


def test_every_kind_of_evidence_can_be_removed() -> None:
    (one,) = generate(1, 5, "light", held_out=False)
    log = log_of(one.document)
    without = {ablation.key: ablation.of(log) for ablation in ABLATIONS}
    assert len(without["frames"].events) == len(log.subgoals) < len(log.events)
    assert without["end"].final == log.events[-1].observation
    assert {frame.observation.held for frame in without["gripper"].events} == {None}
    assert not any(frame.observation.relations() for frame in without["places"].events)
    assert any(frame.observation.held is not None for frame in without["places"].events)
    assert not any(word for frame in without["states"].events for word in frame.observation.states().values())
    assert not any(frame.observation.sounds for frame in without["sounds"].events)


def test_what_the_log_says_can_be_removed() -> None:
    (one,) = generate(1, 5, "light", held_out=False)
    document = one.document | {
        "final_state": "dirty pan (empty), sink.", "success_state": "the pan is clean (e.g. by hand) [soon]."
    }  # fmt: skip
    log = log_of(document)
    without = {ablation.key: ablation.of(log) for ablation in ABLATIONS}
    assert log.final.states()["pan"] == ("dirty", "empty")
    assert without["names"].final.states()["pan"] == ("empty",)
    assert without["asides"].success_state == "the pan is clean by hand soon."
    assert judged_run(one, ABLATIONS[0])["id"] == one.document["id"]
