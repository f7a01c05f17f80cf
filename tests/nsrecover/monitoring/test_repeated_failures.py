"""What is made of actions that fail: wrong readings, beliefs that would explain it, and effects that are not seen."""

import nsrecover
from nsrecover.core import EpisodeStatus, FactScene
from nsrecover.domains.base import State
from nsrecover.domains.household import household
from nsrecover.monitoring.facts.beliefs import fused
from nsrecover.monitoring.facts.failures import Failures
from tests.nsrecover.kitchen_facts import HOME, START, FactWorld

FAUCET = ("running", "faucet")
BURNER = ("running", "stove burner")
HOT = ("hot", "pot")


def test_a_reading_that_never_changes_does_not_stop_the_robot() -> None:
    plan = nsrecover.Plan.parse("toggle_on(faucet); pick_up(mug); put_on(mug, dining table)")
    world = FactWorld(show=lambda state: FactScene(state - {FAUCET}))
    goal = (("at", "mug", "dining table"),)
    episode = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, (*goal, FAUCET), assumed=START), world).run(plan)
    assert set(goal) <= world.state
    assert [str(action) for action in world.done].count("toggle_on(faucet)") == 3
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP  # the goal includes what could not be read
    assert "faucet" in episode.reason


def test_a_place_is_relied_on_however_often_it_is_seen() -> None:
    plan = nsrecover.Plan.parse("pick_up(mug); put_on(mug, dining table)")
    world = FactWorld(hook=lambda number, state: (state - {("holding", "mug")}) | {("at", "mug", "countertop")})
    episode = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, assumed=START), world).run(plan)
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "mug" in episode.reason
    assert [str(action) for action in world.done].count("pick_up(mug)") >= 3


def test_what_is_not_seen_is_not_believed_to_be_hot_on_a_burner_that_is_seen_to_be_off() -> None:
    home = household(["stove burner", "pot"], complete=True, one_handed=True)
    start: State = frozenset({("at", "pot", "stove burner")})
    system = nsrecover.symbolic(home, (HOT,), assumed=start)
    plan = nsrecover.Plan.parse("toggle_on(stove burner)")
    cold = {("hot", "pot"): 0.0}
    failed = system.monitor(plan, FactScene(start))
    assert failed.step(plan[0], FactScene(start, cold)).deviates
    assert HOT not in failed.graph.facts
    done = system.monitor(plan, FactScene(start))
    assert not done.step(plan[0], FactScene(start | {BURNER}, cold)).deviates
    assert HOT in done.graph.facts


def test_a_failure_speaks_against_the_states_that_would_explain_it() -> None:
    failures = Failures(HOME)
    believed = START | {("holding", "pot"), ("open", "fridge")} - {("at", "pot", "countertop")}
    failures.note(nsrecover.Action("put_in", ("pot", "fridge")), [("place", "pot")], believed)
    assert failures.doubted == {("open", "fridge"): 1}
    failures.forget()
    assert not failures.doubted


def test_observations_of_one_scene_may_build_on_each_other() -> None:
    off, on = FactScene(frozenset(), {FAUCET: 0.7}), FactScene(frozenset({FAUCET}), {FAUCET: 0.8})
    assert FAUCET in fused([on, off], HOME.domain).facts
    assert FAUCET not in fused([on, off], HOME.domain, jointly=True).facts
    assert not fused([on, FactScene(frozenset(), {FAUCET: 0.0})], HOME.domain, jointly=True).knows(FAUCET)
