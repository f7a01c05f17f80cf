"""The execution of a plan, shared by the behaviours of `nsrecover.integrations.behaviour_trees`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from nsrecover.core.actions import Action, Plan
from nsrecover.core.discrepancy import Discrepancy, Verdict
from nsrecover.core.observation import Observation
from nsrecover.core.protocols import Perceiver, World
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.core.traces import Trace
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.unseen import missing_texts
from nsrecover.monitoring.comparison import Circumstances
from nsrecover.monitoring.expected_trace import rejoined
from nsrecover.monitoring.imagination import as_expected
from nsrecover.monitoring.monitor import LOOKS
from nsrecover.perception.function import as_perceiver
from nsrecover.perception.objects.boxes import BoxesPerceiver
from nsrecover.system import System
from nsrecover.util.extras import needs_extra

with needs_extra("py_trees", "py_trees"):
    from py_trees.behaviour import Behaviour
    from py_trees.blackboard import Client
    from py_trees.common import Access, Status

MAX_RECOVERIES = 10
"""Largest number of searches for a recovery in one episode; then the tree fails."""

KEYS = ("step", "ahead", "verdict", "culprits", "causes", "violated", "missing", "discrepancy", "recovery", "reason")
"""The keys on the blackboard."""


class PlanExecution:
    """The execution of one plan: the expected scenes, the progress, and the last discrepancy.

    An interruption of the tree changes nothing; `reset` begins a new episode. The execution writes on the blackboard,
    under `namespace`: `step` (number of steps of the given plan that count as done), `ahead` (the remaining actions as
    text, inserted ones first), `verdict` (code of `nsrecover.Verdict`, or ""), `culprits` (names), `causes` (name ->
    code of `nsrecover.Cause`), `violated` (preconditions as text), `missing` (what is missing to tell, as text),
    `discrepancy` and `recovery` (the objects, or None) and `reason` (why the execution has given up, or "").

    Args:
        system: from `nsrecover.load()` or `nsrecover.geometric()`.
        world: takes observations, and carries out actions unless `act` is given.
        plan: the plan.
        act: makes the behaviour that carries out an action. By default the world carries it out within one tick; pass
            behaviours that are RUNNING while the robot moves if the tree has other things to do.
        perceiver: makes a perceiver for each episode, for observations other than images, boxes and scene graphs.
        budget_s: planning time for one recovery.
        max_recoveries: largest number of searches for a recovery in one episode.
        namespace: namespace on the blackboard, different for each execution.
    """

    def __init__(
        self,
        system: System,
        world: World[Any],
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
        self._board = Client(name=f"plan execution of {namespace}", namespace=namespace)
        for key in KEYS:
            self._board.register_key(key, access=Access.WRITE)
        self.reset()

    def reset(self, plan: Plan | None = None) -> None:
        """Begin a new episode: stop running behaviours, and forget all observations and recoveries.

        Args:
            plan: the plan of the new episode; by default the same as before.
        """
        for behaviour in self._attached:
            if behaviour.status != Status.INVALID:
                behaviour.stop(Status.INVALID)
        if plan is not None:
            self._given = plan
        self._perceive: Perceiver[Any] | None = None
        self._trace: Trace | None = None
        self._done, self._judged, self._inserted_until, self._searches = 0, 0, 0, 0
        self._doubts, self._unconfirmed, self._belonging = 0, frozenset[str](), set[str]()
        self.discrepancy: Discrepancy | None = None
        self.recovery: Recovery | None = None
        self.reason = ""
        self._publish()

    def attach(self, behaviour: Behaviour) -> None:
        """Register a behaviour that `reset` has to stop."""
        self._attached.append(behaviour)

    @property
    def plan(self) -> Plan:
        """The current plan: the given one with the inserted and without the skipped actions."""
        return self._given if self._trace is None else self._trace.plan

    @property
    def step(self) -> int:
        """Number of steps of the given plan that count as done."""
        return len(self._given) - len(self.plan) + max(self._done, self._inserted_until)

    @property
    def inserted(self) -> tuple[Action, ...]:
        """The remaining actions of a recovery."""
        return self.plan.actions[self._done : self._inserted_until]

    @property
    def num_executed(self) -> int:
        """Number of actions of the current plan that are done."""
        return self._done

    @property
    def next_action(self) -> Action | None:
        """The next action; None if all are done."""
        return self.plan[self._done] if self._done < len(self.plan) else None

    @property
    def complete(self) -> bool:
        """Whether all actions are done and the last observation was as expected."""
        known = self.discrepancy is not None and self.discrepancy.as_expected
        return self._trace is not None and self._done == self._judged == len(self.plan) and known

    @property
    def may_look_again(self) -> bool:
        """Whether another observation may tell what the last ones did not."""
        return self._doubts < LOOKS

    def observe(self) -> Discrepancy:
        """Take an observation, and compare it with the expected scene before or after the latest action.

        Returns:
            The discrepancy, false in a condition if there is none. It is found again until it is corrected. If three
            observations do not tell whether an action worked, the execution goes on with the check before the next
            action, which says whether that needs what was not seen.

        Raises:
            InvalidAction: the plan has an unknown operator or wrong arguments.
            UnknownObject: the plan names an object that is not in the scene.
            InvalidObservation: the observation is invalid.
        """
        observation = self.world.observe()
        comparison, imagination = self.system.comparison, self.system.imagination
        if self._trace is None or self._perceive is None:
            perceive = self._perceiver_of(observation)
            graph = perceive.reset(observation)
            cast(SpatialDomain, self.system.domain).check(self._given, graph)
            self._trace, self._perceive = imagination.trace(graph, self._given), perceive
            self._belonging = {*graph.names, *(name for action in self._given for name in action.arguments)}
        else:
            graph = self._perceive.step(observation, self._trace.graphs[self._done])
            self._trace = self._trace.with_objects_of(graph)
        known = self._circumstances(graph)
        self._trace = replace(
            self._trace, graphs=tuple(each.with_nodes_of(graph, known.newcomers) for each in self._trace.graphs)
        )
        trace, done = self._trace, self._done
        left = done < len(trace.plan)
        if done > self._judged:
            found = comparison.after(graph, trace, done - 1, known)
            if not found.deviates and (found.as_expected or (left and self._doubts + 1 >= LOOKS)):
                self._judged, self._doubts = done, 0
                known = replace(known, unconfirmed=_unconfirmed(found))
                # Prevents prediction errors from adding up. Only after an action; otherwise slow drift would pass.
                self._trace = trace = imagination.rebase(trace, done, graph)
                found = comparison.before(graph, trace, done, known) if left else found
        else:
            found = (
                comparison.before(graph, trace, done, known)
                if left
                else comparison.after(graph, trace, done - 1, known)
            )
        self._doubts = self._doubts + 1 if found.verdict is Verdict.CANNOT_TELL else 0
        self._unconfirmed = _unconfirmed(found)
        self.discrepancy = found
        if found.as_expected and self.reason:
            self.reason, self._searches = "", 0  # the scene was corrected from outside
        self._publish()
        return found

    def _circumstances(self, graph: SceneGraph) -> Circumstances:
        """What is known of the last observation besides the scene."""
        return Circumstances(
            unseen=getattr(self._perceive, "unseen", {}),
            unconfirmed=self._unconfirmed,
            newcomers=tuple(name for name in graph.names if name not in self._belonging),
            sensors=tuple(getattr(self._perceive, "findings", ())),
            looks=self._doubts + 1,
            short_m=getattr(self._perceive, "short_m", 0.0),
        )

    def mark_attempted(self) -> None:
        """Count the next action as done; the next observation decides whether it worked."""
        if self.next_action is not None:
            self._done += 1
            self._publish()

    @property
    def trace(self) -> Trace:
        """The expected scenes; available after the first observation."""
        assert self._trace is not None
        return self._trace

    def begin_search(self) -> bool:
        """Forget the last recovery and count a new search; return False if there were too many."""
        self.recovery, self.reason = None, ""
        self._searches += 1
        if self._searches > self.max_recoveries:
            wrong = self.discrepancy
            last = (
                (wrong.deviating or violated_texts(wrong, self.system.domain))
                if wrong is not None and wrong.deviates
                else ()
            )
            self.give_up(f"a way back was searched {self.max_recoveries} times, the last time for {', '.join(last)}")
            return False
        return True

    def same_scene(self, before: SceneGraph, now: SceneGraph) -> bool:
        """Return whether two scenes are the same by the criterion for deviations."""
        if before.names != now.names or (before.missing != now.missing).any():
            return False
        same = as_expected(self.system.models, before, now) >= self.system.models.threshold
        return bool((same | now.missing).all())

    def rejoin(self, recovery: Recovery) -> None:
        """Insert a recovery that was found for the scene of the last observation."""
        assert self.discrepancy is not None
        graph, trace = self.discrepancy.observed, self.trace
        subgoal = recovery.resumes_at(len(trace.plan))
        if recovery.actions:
            # It may lead back to an action that an earlier recovery inserted.
            self._inserted_until = len(recovery.actions) + max(0, self._inserted_until - subgoal)
            self._trace, self._done = rejoined(graph, trace, recovery), 0
        else:
            self._done = subgoal
            self._trace = Trace(trace.plan, (*trace.graphs[:subgoal], graph, *recovery.rest))
        self._judged = self._done
        self.recovery = recovery
        self._publish()

    def give_up(self, reason: str) -> None:
        """Record why there is no way to continue."""
        self.reason = reason
        self._publish()

    def _perceiver_of(self, observation: object) -> Perceiver[Any]:
        if self._make_perceiver is not None:
            return as_perceiver(self._make_perceiver())
        return self.system.perceiver() if isinstance(observation, Observation) else BoxesPerceiver()

    def _publish(self) -> None:
        """Write the blackboard."""
        found = self.discrepancy
        wrong = found if found is not None and found.deviates else None
        values = (
            self.step,
            tuple(map(str, self.plan.actions[self._done :])),
            found.verdict.value if found is not None else "",
            wrong.deviating if wrong is not None and wrong.deviates else (),
            {each.name: each.cause.value for each in wrong.deviations} if wrong is not None else {},
            violated_texts(wrong, self.system.domain) if wrong is not None and wrong.deviates else (),
            missing_texts(found) if found is not None else (),
            wrong,
            self.recovery,
            self.reason,
        )
        for key, value in zip(KEYS, values, strict=True):
            self._board.set(key, value)


def _unconfirmed(found: Discrepancy) -> frozenset[str]:
    """Objects that an action was to move, and that have not been seen since."""
    return frozenset(each.name for each in found.unseen if each.moved)
