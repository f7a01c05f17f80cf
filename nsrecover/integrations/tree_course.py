"""What the behaviours of `nsrecover.integrations.behaviour_trees` share: a plan, how far it is, what was seen last."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from nsrecover.core.actions import Action, Plan, Trace
from nsrecover.core.deprecation import with_old_names
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import Perceiver
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.tabletop.operators import check_plan
from nsrecover.explanation.facts import violated_texts
from nsrecover.integrations import missing
from nsrecover.monitoring.expected_trace import rejoined
from nsrecover.monitoring.imagination import as_expected
from nsrecover.perception.boxes import BoxesPerceiver
from nsrecover.perception.function import as_perceiver
from nsrecover.system import System

try:
    from py_trees.behaviour import Behaviour
    from py_trees.blackboard import Client
    from py_trees.common import Access, Status
except ImportError as absent:
    raise missing("py_trees", "py_trees") from absent

MAX_RECOVERIES = 10
"""After this many searches for a way back in one episode the tree fails instead of trying again."""

KEYS = ("step", "ahead", "culprits", "causes", "violated", "discrepancy", "recovery", "reason")
"""What is on the blackboard."""


class TreeWorld(Protocol):
    """A robot and its cameras; like `nsrecover.core.protocols.World`, but what is observed may be anything."""

    def observe(self) -> Any:
        """Camera images, boxes by name, a scene graph, or whatever the perceiver takes."""
        ...

    def execute(self, action: Action) -> None:
        """Carry out one action as well as the robot can."""
        ...


@with_old_names
class Course:
    """One plan under way: the scenes it should lead through, how far it is, and what was seen last.

    It stays where it is when a tree is interrupted, and goes on from there; `reset` begins a new episode. It writes on
    the blackboard, under `namespace`: `step` (how many steps of the plan that was given count as done), `ahead` (the
    actions to be done, as text, those that a recovery has inserted first), `culprits` (names), `causes` (name -> code
    of `nsrecover.Cause`), `violated` (preconditions, in words), `discrepancy` and `recovery` (the objects
    themselves, or None) and `reason` (why there is no way to go on, or "").

    Args:
        system: from `nsrecover.load()` or `nsrecover.geometric()`.
        world: observes; and carries out actions, if no `act` is given.
        plan: what to do.
        act: makes the behaviour that carries out an action. By default the world does, in one tick, however long that
            takes; give behaviours that are RUNNING while the robot moves, if the tree has other things to do.
        perceiver: makes a perceiver for each episode, for observations that are neither images nor boxes nor graphs.
        budget_s: planning time for one recovery.
        max_recoveries: searches for a way back in one episode before it gives up.
        namespace: of the blackboard; one for each course.
    """

    def __init__(
        self,
        system: System,
        world: TreeWorld,
        plan: Plan,
        *,
        act: Callable[[Action], Behaviour] | None = None,
        perceiver: Callable[[], Perceiver[Any] | Callable[..., SceneGraph]] | None = None,
        budget_s: float | None = 1.0,
        max_recoveries: int = MAX_RECOVERIES,
        namespace: str = "nsrecover",
    ) -> None:
        self.system, self.world, self.act = system, world, act
        self.budget_s, self.max_recoveries = budget_s, max_recoveries
        self._make_perceiver = perceiver
        self._attached: list[Behaviour] = []
        self._given = plan
        self._board = Client(name=f"course of {namespace}", namespace=namespace)
        for key in KEYS:
            self._board.register_key(key, access=Access.WRITE)
        self.reset()

    def reset(self, plan: Plan | None = None) -> None:
        """Begin a new episode: everything that was seen, searched or inserted is forgotten; what is running is stopped.

        Args:
            plan: what to do; the same as before by default.
        """
        for behaviour in self._attached:
            if behaviour.status != Status.INVALID:
                behaviour.stop(Status.INVALID)
        if plan is not None:
            self._given = plan
        self._perceive: Perceiver[Any] | None = None
        self._trace: Trace | None = None
        self._done, self._judged, self._inserted_until, self._searches = 0, 0, 0, 0
        self.discrepancy: Discrepancy | None = None
        self.recovery: Recovery | None = None
        self.reason = ""
        self._tell()

    def attach(self, behaviour: Behaviour) -> None:
        """Let `reset` stop a behaviour."""
        self._attached.append(behaviour)

    @property
    def plan(self) -> Plan:
        """The plan as it stands: what was given, with what has been inserted and skipped since."""
        return self._given if self._trace is None else self._trace.plan

    @property
    def step(self) -> int:
        """How many steps of the plan that was given count as done."""
        return len(self._given) - len(self.plan) + max(self._done, self._inserted_until)

    @property
    def inserted(self) -> tuple[Action, ...]:
        """The actions of a recovery that are still to be done."""
        return self.plan.actions[self._done : self._inserted_until]

    @property
    def num_executed(self) -> int:
        """How many actions of the plan as it stands are done."""
        return self._done

    @property
    def next_action(self) -> Action | None:
        """The next action; None if all are done."""
        return self.plan[self._done] if self._done < len(self.plan) else None

    @property
    def complete(self) -> bool:
        """Whether all actions are done and the scene was seen to be as it should be after them."""
        return self._trace is not None and self._done == self._judged == len(self.plan) and not self.discrepancy

    def look(self) -> Discrepancy:
        """Take an observation and compare it with what the plan expects, now or after the action just attempted.

        Returns:
            What is wrong; false in a condition if all is well. It is found again at every look until it is mended.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: it names an object that is not in the scene.
            InvalidObservation: the observation cannot be used.
        """
        observation = self.world.observe()
        comparison, imagination = self.system.comparison, self.system.imagination
        if self._trace is None or self._perceive is None:
            perceive = self._perceiver_of(observation)
            graph = perceive.reset(observation)
            check_plan(self._given, graph)
            self._trace, self._perceive = imagination.trace(graph, self._given), perceive
        else:
            graph = self._perceive.step(observation, self._trace.graphs[self._done])
            self._trace = self._trace.with_objects_of(graph)
        trace, done = self._trace, self._done
        left = done < len(trace.plan)
        if done > self._judged:
            found = comparison.after(graph, trace, done - 1)
            if not found:
                self._judged = done
                # so that errors of the imagination do not add up; only after an action, or slow drift would pass
                self._trace = trace = imagination.rebase(trace, done, graph)
                found = comparison.before(graph, trace, done) if left else found
        else:
            found = comparison.before(graph, trace, done) if left else comparison.after(graph, trace, done - 1)
        self.discrepancy = found
        if not found and self.reason:
            self.reason, self._searches = "", 0  # somebody has helped
        self._tell()
        return found

    def attempted(self) -> None:
        """Count the next action as done; whether it worked, the next look says."""
        if self.next_action is not None:
            self._done += 1
            self._tell()

    @property
    def trace(self) -> Trace:
        """What the scenes should be; there is none before the first look."""
        assert self._trace is not None
        return self._trace

    def begin_search(self) -> bool:
        """Forget the last way back, and count a search for another; false if there have been too many."""
        self.recovery, self.reason = None, ""
        self._searches += 1
        if self._searches > self.max_recoveries:
            wrong = self.discrepancy
            last = (wrong.deviating or violated_texts(wrong)) if wrong else ()
            self.give_up(f"a way back was searched {self.max_recoveries} times, the last time for {', '.join(last)}")
            return False
        return True

    def same_scene(self, before: SceneGraph, now: SceneGraph) -> bool:
        """Whether nothing has happened between two looks, by the same measure that errors are noticed with."""
        if before.names != now.names or (before.missing != now.missing).any():
            return False
        same = as_expected(self.system.models, before, now) >= self.system.models.threshold
        return bool((same | now.missing).all())

    def rejoin(self, recovery: Recovery) -> None:
        """Insert a way back that was found for the scene seen last."""
        assert self.discrepancy is not None
        graph, trace = self.discrepancy.observed, self.trace
        subgoal = len(trace.plan) if recovery.subgoal is None else recovery.subgoal
        if recovery.actions:
            # it may lead back to what an earlier recovery had inserted
            self._inserted_until = len(recovery.actions) + max(0, self._inserted_until - subgoal)
            self._trace, self._done = rejoined(graph, trace, recovery), 0
        else:
            self._done = subgoal
            self._trace = Trace(trace.plan, (*trace.graphs[:subgoal], graph, *recovery.rest))
        self._judged = self._done
        self.recovery = recovery
        self._tell()

    def give_up(self, reason: str) -> None:
        """Say why there is no way to go on."""
        self.reason = reason
        self._tell()

    def _perceiver_of(self, observation: object) -> Perceiver[Any]:
        if self._make_perceiver is not None:
            return as_perceiver(self._make_perceiver())
        return self.system.perceiver() if isinstance(observation, Observation) else BoxesPerceiver()

    def _tell(self) -> None:
        """Write on the blackboard."""
        wrong = self.discrepancy if self.discrepancy else None
        values = (
            self.step,
            tuple(map(str, self.plan.actions[self._done :])),
            wrong.deviating if wrong else (),
            {culprit.name: culprit.cause.value for culprit in wrong.deviations} if wrong else {},
            violated_texts(wrong) if wrong else (),
            wrong,
            self.recovery,
            self.reason,
        )
        for key, value in zip(KEYS, values, strict=True):
            self._board.set(key, value)
