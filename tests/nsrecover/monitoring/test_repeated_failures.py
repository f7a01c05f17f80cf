"""What is made of actions that fail: wrong readings, beliefs that would explain it, and effects that are not seen."""

import nsrecover
from nsrecover.core import EpisodeStatus, FactScene
from nsrecover.domains.base import State
from nsrecover.domains.household import household
from nsrecover.monitoring.outlook import explaining
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
    done = [str(action) for action in world.done]
    assert done[:5] == [*["toggle_on(faucet)"] * 3, *map(str, plan.actions[1:])]
    assert set(done[5:]) == {"toggle_on(faucet)"}  # it is tried again before the goal is given up
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP  # the goal includes what could not be read
    assert "faucet" in episode.reason


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
    believed = START | {("holding", "pot"), ("open", "fridge")} - {("at", "pot", "countertop")}
    assert explaining(HOME, believed, nsrecover.Action("put_in", ("pot", "fridge"))) == (("open", "fridge"),)
