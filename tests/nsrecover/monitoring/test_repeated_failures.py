"""What is made of actions that fail: wrong readings, beliefs that would explain it, and effects that are not seen."""

from collections.abc import Callable

import nsrecover
from nsrecover import Act, Session
from nsrecover.core import EpisodeStatus, FactScene, StopCode
from nsrecover.domains import Domain, Effect, Kind, Operator, Parameter, StateVariable, absent, scene_of
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
    believed = START | {("holding", "pot"), ("open", "fridge")} - {("at", "pot", "countertop")}
    assert explaining(HOME, believed, nsrecover.Action("put_in", ("pot", "fridge"))) == (("open", "fridge"),)


LIGHT = Parameter("?lamp", "lamp")
ROOMS = Domain.of(
    "rooms",
    Kind("lamp"),
    StateVariable("lit", ("dark", "lit"), "lamp"),
    Operator("light", (LIGHT,), (absent("lit", "?lamp"),), (Effect(adds=(("lit", "?lamp"),)),)),
)


def rooms(see: Callable[[Session[FactScene]], State]) -> tuple[list[str], Session[FactScene]]:
    """The actions and the end of a session that should light two lamps."""
    goal, done = [("lit", "a"), ("lit", "b")], list[str]()
    system = nsrecover.symbolic(scene_of(ROOMS, {"a": "lamp", "b": "lamp"}), goal)
    session = system.session(nsrecover.Plan.parse("light(a); light(b)"), frozenset())
    for _ in range(60):
        if isinstance(session.request, Act):
            done.append(str(session.request.action))
        if not session.request.final:
            session.observed(see(session))
    return done, session


def test_an_action_that_fails_in_full_view_is_tried_again_and_named_in_the_end() -> None:
    done, session = rooms(lambda session: frozenset())
    assert done[:3] == ["light(a)"] * 3
    assert session.episode.why in (StopCode.REPEATED, StopCode.TOO_MANY)
    assert "a" in session.episode.reason.split(": ")[-1].split(", ")


def test_one_lying_look_at_the_end_is_not_believed() -> None:
    lit = set[tuple[str, str]]()
    done = list[str]()

    def see(session: Session[FactScene]) -> State:
        if isinstance(session.request, Act):
            done.append(str(session.request.action))
            if done.count("light(b)") == 1 and done[-1] == "light(b)":
                return frozenset(lit | {("lit", "b")})  # it did nothing, and one look says that it did
            lit.add(("lit", session.request.action.arguments[0]))
        return frozenset(lit)

    _, session = rooms(see)
    assert done == ["light(a)", "light(b)", "light(b)"]
    assert session.episode.status is EpisodeStatus.COMPLETED
