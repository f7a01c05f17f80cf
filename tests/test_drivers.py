"""One contract for everything that drives a session: the same requests in the same order, and the same end."""

import pickle
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import py_trees
import pytest

from nsrecover import RecoveryAgent, Session, SessionSettings
from nsrecover.bridges.behaviour_trees import FollowPlan
from nsrecover.core.episode import Episode, StepRecord
from nsrecover.core.sessions.requests import Act, Answer, Ask, Decision, Look
from nsrecover.core.sessions.supervision import Supervisor
from tests.nsrecover.bridges.driven import by_behaviortree_cpp, by_gymnasium, by_http, by_ros2, http_server
from tests.nsrecover.onboarding.driven import by_check, by_watch, recorded
from tests.scenarios import BOXES, FACTS, Boxes, Facts, LostConnection, Refusing, Scenario, ScriptedWorld, named

Driver = Callable[[ScriptedWorld, Scenario, Refusing], Episode[Any]]


def new_session(world: ScriptedWorld, scenario: Scenario) -> Session[Any]:
    """The session of a scenario, after its first observation."""
    settings = SessionSettings(budget_s=None, approve=scenario.vetoes)
    session: Session[Any] = world.system().session(world.plan(), world.observe(), settings)
    return session


def turn(session: Session[Any], world: ScriptedWorld, person: Refusing) -> None:
    """Do what a session asks for, once."""
    stops: list[bool] = []
    world.stop = lambda: stops.append(True)
    match session.request:
        case Act(action):
            try:
                world.execute(action)
            except LostConnection as error:
                session.failed(str(error))
                return
            session.stop() if stops else session.observed(world.observe())
        case Look(names):
            session.observed(world.look(names))
        case Ask(decision):
            session.answered(person.decide(decision))


def bare_loop(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """The loop of the documentation."""
    session = begun(world, scenario, person)
    while not session.request.final:
        turn(session, world, person)
    return session.episode


class _Person(Supervisor):
    def __init__(self, person: Refusing) -> None:
        self._person = person

    def decides(self, decision: Decision[Any]) -> Answer:
        return self._person.decide(decision)


def agent(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """`RecoveryAgent`; to be resumed it is given a session that another loop has begun."""
    it = RecoveryAgent(world.system(), world, budget_s=None, supervisor=_Person(person))
    world.stop = it.stop
    if not (scenario.resumes or scenario.vetoes):
        return it.run(world.plan())
    return it.resume(begun(world, scenario, person))


def begun(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Session[Any]:
    """A session for drivers that are given one; to be resumed it has been driven by another loop, and pickled."""
    session = new_session(world, scenario)
    if scenario.resumes:
        turn(session, world, person)
        session = pickle.loads(pickle.dumps(session))
    return session


def behaviour_tree(world: ScriptedWorld, scenario: Scenario, person: Refusing) -> Episode[Any]:
    """`FollowPlan` of py_trees, ticked until it ends."""
    follow = FollowPlan(begun(world, scenario, person), world, decide=person.decide)
    world.stop = follow.stop_session
    tree = py_trees.trees.BehaviourTree(follow)
    for _ in range(10_000):
        tree.tick()
        if follow.status is not py_trees.common.Status.RUNNING:
            return follow.session.episode
        time.sleep(0.0005)  # observations are judged in another thread
    raise AssertionError("the behaviour does not end")


DRIVERS: Mapping[str, Driver] = {
    "session": bare_loop, "agent": agent, "py_trees": behaviour_tree, "gymnasium": by_gymnasium, "ros2": by_ros2,
    "behaviortree_cpp": by_behaviortree_cpp, "http": by_http, "watch": by_watch,
}  # fmt: skip
CASES = [
    pytest.param(kind, scenario, id=f"{kind.__name__.lower()}: {name}")
    for kind, table in ((Boxes, BOXES), (Facts, FACTS))
    for name, scenario in table.items()
]


@pytest.fixture(scope="module", autouse=True)
def server() -> Iterator[None]:
    with http_server():
        yield


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(("kind", "scenario"), CASES)
def test_every_driver_asks_for_the_same(kind: type[ScriptedWorld], scenario: Scenario, driver: str) -> None:
    world = kind(scenario.acts, scenario.shows)
    episode = DRIVERS[driver](world, scenario, Refusing(world.log))
    *requests, end = named(world, scenario.requests)
    assert world.log == requests
    assert end == ("done" if episode.why is None else f"stopped {episode.why}")
    assert episode.status == ("completed" if end == "done" else "asked_for_help")
    assert bool(episode.reason) == (end != "done")


@pytest.mark.parametrize(("kind", "scenario"), CASES)
def test_a_recorded_run_is_judged_as_a_session_that_reviews_it(kind: type[ScriptedWorld], scenario: Scenario) -> None:
    world = kind(scenario.acts, scenario.shows)
    plan, seen = recorded(world)
    session = world.system().session(plan, settings=SessionSettings(budget_s=None, reviews=True))
    requests = list[str]()
    for observation in seen:
        session.observed(observation)
        requests.append(str(getattr(session.request, "action", session.request.code)))
    assert requests == [*map(str, plan), "done"]
    own, checked = session.episode, by_check(world, plan, seen)
    assert [str(each.action) for each in checked.records] == requests[:-1]
    assert list(map(_judged, checked.records)) == list(map(_judged, own.records))
    assert (checked.status, checked.why) == (own.status, None)


def _judged(record: StepRecord[Any]) -> object:
    way = record.recovery
    return record.discrepancy.verdict, record.discrepancy.deviating, way and (way.status, way.actions, way.subgoal)
