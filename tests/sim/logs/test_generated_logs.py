"""Generated logs: the same seed gives the same logs, their truth holds, and the reader diagnoses them."""

import json
from collections import Counter

from eval.logs.measuring import METRICS, judged_run, reliability
from eval.metrics import summary
from nsrecover.core.actions import Action
from nsrecover.logs import document_of, log_of
from sim.logs.generate import generate
from sim.logs.world import World, judge


def test_logs_follow_from_their_seed_and_are_read_back() -> None:
    first, again = ([one.document for one in generate(12, 5, "strong", held_out=False)] for _ in range(2))
    assert json.dumps(first) == json.dumps(again)
    for document in first:
        log = log_of(document)
        assert log.unread == ()
        assert document_of(log) == document


def test_the_truth_of_a_log_holds_in_the_household() -> None:
    for one in generate(12, 3, "middle", held_out=True):
        truth = one.document["truth"]
        assert truth["valid"] == (truth["kind"] == "none") == all(map(one.end.holds, one.failure.goal))
        assert len(truth["subgoals"]) == len(one.document["plan"])
        assert bool(truth["steps"]) == (truth["kind"] != "none")


def test_the_household_enforces_what_people_do_not_say() -> None:
    world = World(
        where={"pot": {"shelf"}, "metal bowl": {"microwave"}, "mug": {"coffee machine"},
               "coffee machine": set(), "shelf": set()},
        on={"coffee machine"},
    )  # fmt: skip
    for step, why in (
        (Action("toggle_on", ("microwave",)), "metal"),
        (Action("pick_up", ("egg",)), "no egg"),
    ):
        assert why in str(world.do(step))
    assert world.do(Action("pick_up", ("pot",))) is None
    assert "running" in str(world.do(Action("put_in", ("pot", "coffee machine"))))
    world.on.clear()
    assert "too large" in str(world.do(Action("put_in", ("pot", "coffee machine"))))
    assert judge(world, (Action("put_on", ("pot", "shelf")),), (("at", "pot", "shelf"),)) is None


def test_most_generated_failures_are_diagnosed() -> None:
    rows = [judged_run(one) for one in generate(20, 11, "light", held_out=False)]
    found = summary(rows, METRICS)
    assert found["step"]["value"] >= 0.85
    assert found["subgoals"]["value"] >= 0.95
    assert sum(each["right"]["of"] for each in reliability(rows)) == len(rows)
    assert len(Counter(row["truth"] for row in rows)) >= 6
