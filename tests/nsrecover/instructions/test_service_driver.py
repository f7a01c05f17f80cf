"""The service agent drives sessions: for the same stage of a task it asks a robot for what the bare loop asks for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from eval.instructions.episodes import ScriptedOperator
from nsrecover import Action, Plan, symbolic
from nsrecover.core import Episode
from nsrecover.core.sessions.requests import Act, Answer, Ask, Decision, Look
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.sessions.supervision import Stoppable, Supervisor
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.agent import ServiceAgent
from nsrecover.instructions.belief import Belief
from nsrecover.instructions.planning import plan_stage
from nsrecover.instructions.seeing import BelievedWorld, Sight
from nsrecover.instructions.task import Task
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import Failures, FastHome, Someone

HOME = load_home("apartment")
UNDERSTANDING = Understanding(HOME)
SENTENCE = "bring me the banana from the side table"


class NotedHome(FastHome):
    """A home whose robot does something else than it is told at some actions; `acts` has number -> what."""

    def __init__(self, acts: Mapping[int, str]) -> None:
        people = {"operator": Someone("living room"), "ashley": Someone("dining table", "sitting")}
        objects = {"apple": "countertop", "banana": "side table"}
        super().__init__(HOME, objects, people, Failures(), 0)
        self.acts, self.log, self.stops = acts, list[str](), False

    def observe(self) -> Sight:
        self.log.append("observe")
        return super().observe()

    def execute(self, action: Action) -> None:
        self.log.append(f"act {action}")
        number = sum(entry.startswith("act") for entry in self.log)
        match self.acts.get(number, self.acts.get(0, "works")):
            case "raises":
                raise OSError("the base does not answer")
            case "is lost":
                del self.objects["banana"]
            case "stops":
                self.stops = True
                super().execute(action)
            case "works":
                super().execute(action)


@dataclass
class Watching(Supervisor):
    """Stops the run when the world says so, and says no to every recovery if it is asked."""

    world: NotedHome
    approves: bool = False
    agent: Stoppable | None = None

    def begins(self, agent: Stoppable, plan: Plan, start: Any) -> None:
        self.agent = agent

    def observes(self, observation: Any) -> None:
        if self.world.stops and self.agent is not None:
            self.agent.stop()

    def decides(self, decision: Decision[Any]) -> Answer:
        self.world.log.append(f"ask {decision.question}")
        return Answer.NO


def bare_loop(world: NotedHome, approve: bool) -> Episode[Any]:
    """The first stage by the loop of the documentation."""
    task = UNDERSTANDING.task(SENTENCE, {})
    assert isinstance(task, Task)
    belief = Belief.at_start(HOME, task.operator_at)
    found = plan_stage(task.stages[0], belief, 10)
    assert found is not None
    seen = BelievedWorld(world, belief, found.stage, found.instance, lambda *_: "", [])
    system = symbolic(found.instance, found.stage.goal, assumed=found.start)
    session = system.session(Plan(found.actions), settings=SessionSettings(max_recoveries=40, approve=approve))
    while not (request := session.request).final:
        match request:
            case Act(action):
                if world.stops:
                    session.stop()
                    continue
                try:
                    seen.execute(action)
                except OSError as problem:
                    session.failed(str(problem))
                else:
                    session.observed(seen.observe())
            case Look():
                session.observed(seen.observe())
            case Ask(decision):
                world.log.append(f"ask {decision.question}")
                session.answered(False)
    return session.episode


@pytest.mark.parametrize(
    ("acts", "approve", "why"),
    [
        ({}, False, None),
        ({1: "nothing"}, False, None),
        ({2: "nothing"}, False, None),
        ({3: "nothing"}, False, None),
        ({0: "nothing"}, False, "repeated"),
        ({3: "is lost"}, False, "no_way_back"),
        ({2: "raises"}, False, "execution_failed"),
        ({1: "stops"}, False, "stopped"),
        ({1: "nothing"}, True, "vetoed"),
    ],
)
def test_a_stage_is_carried_out_as_the_session_says(acts: Mapping[int, str], approve: bool, why: str | None) -> None:
    own, other = NotedHome(acts), NotedHome(acts)
    expected = bare_loop(own, approve)
    agent = ServiceAgent(
        UNDERSTANDING, other, ScriptedOperator([""] * 9), attempts=1, supervisor=Watching(other, approve)
    )
    _, episode = agent.run(SENTENCE).episodes[0]
    assert other.log[: len(own.log)] == own.log
    assert (episode.status, episode.why) == (expected.status, expected.why)
    assert [str(each.plan) for each in episode.records] == [str(each.plan) for each in expected.records]
    assert [each.discrepancy.verdict for each in episode.records] == [
        each.discrepancy.verdict for each in expected.records
    ]
    assert episode.why == why
