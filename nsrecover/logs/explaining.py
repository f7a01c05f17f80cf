"""From a log to what went wrong, why, and what to do: the progressive explanation of REFLECT, section 3.2, computed."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.names import same_stuff
from nsrecover.domains.household.scene import ONE_HANDED, HouseholdScene
from nsrecover.logs.confidence import confidence, features, open_question
from nsrecover.logs.correction import correct, reaches
from nsrecover.logs.courses import Course
from nsrecover.logs.diagnosis import diagnose
from nsrecover.logs.findings import Checked, Finding, RootCause
from nsrecover.logs.run import LogRun, run_of
from nsrecover.logs.trace import FactTrace

BUDGET_S = 2.0
"""Time for an explanation, seconds of the processor: a busy machine gives the same answers, later."""
_SEARCH = 0.6
"""Share of it for the search for what happened; the rest is for edits of the plan and the correction."""


@dataclass(frozen=True)
class LogExplanation:
    """What went wrong in the run of another robot.

    Attributes:
        finding: the root cause.
        subgoals: every subgoal, checked.
        failed: index of the first subgoal that does not hold; None if the plan itself was at fault.
        correction: steps that lead from the end of the log to success; None if no plan was found.
        succeeds: whether the correction, executed symbolically, achieves every condition.
        wanted: the success condition with objects for names.
        confidence: the calibrated probability that step and kind are right.
        open_question: what keeps the finding from being sure; empty if it is sure enough.
        rivals: other courses of events with their probabilities, the most likely first.
        features: what the confidence depends on.
        assumed: objects that the correction or the finding needs, and that the log nowhere mentions.
        domain: whose words the text uses.
        unread: what of the log could not be read.
        not_considered: what there was no time for; empty if the search ended by itself.
    """

    finding: Finding
    subgoals: tuple[Checked, ...]
    failed: int | None
    correction: tuple[Action, ...] | None
    succeeds: bool
    wanted: tuple[StateFact, ...]
    confidence: float
    open_question: str
    rivals: tuple[tuple[Course, float], ...]
    features: tuple[float, ...]
    assumed: tuple[str, ...]
    domain: Domain
    unread: tuple[str, ...] = ()
    not_considered: str = ""


def explain_log(log: FactTrace, budget_s: float = BUDGET_S) -> LogExplanation:
    """Explain a log.

    Courses of events are simulated with the domain and weighed by all claims. If the execution went as planned, the
    smallest edit of the plan that makes it succeed is the cause.

    Args:
        log: from `nsrecover.logs.read_logs`.
        budget_s: seconds after which the best answer so far is given.
    """
    began = time.thread_time()
    run = run_of(log, began + _SEARCH * budget_s)
    cut = "further courses of events" if run.believer.late else ""
    run.believer.until = began + 0.8 * budget_s
    return explain_run(run, began + budget_s, cut)


def explain_run(run: LogRun, until: float = float("inf"), cut: str = "") -> LogExplanation:
    """Explain a trace that was read.

    Args:
        run: from `nsrecover.logs.run.run_of`.
        until: when the search for a correction has to end, seconds of `time.thread_time`.
        cut: what the search for the course of events did not consider.
    """
    diagnosis = diagnose(run)
    finding = diagnosis.finding
    failed = next((number for number, item in enumerate(run.subgoals) if not item.satisfied), None)
    conditions = (*run.goal, *_doors(run))
    correction: tuple[Action, ...] | None = ()
    start = _start(run, finding)
    if finding.cause is not RootCause.NONE:
        correction = _correction(run, start, conditions, until) if conditions else None
    if not correction and finding.step in run.steps and run.scene.opaque(finding.step):
        # What the failed step should have done is not known: the plan goes on from it.
        correction = tuple(run.steps[run.steps.index(finding.step) :])
    succeeds = (
        correction is not None
        and bool(conditions or not correction)
        and reaches(start, correction, conditions, run.scene)
    )
    late = [cut] if cut else []
    late += ["further edits of the plan"] if run.believer.late and not cut else []
    late += ["longer corrections"] if correction is None and time.thread_time() > until else []
    unread = (f"success_state: {part!r} is no condition on objects of the log" for part in run.log.unread_goal)
    return LogExplanation(
        finding, run.subgoals, failed, correction, succeeds, run.wanted, confidence(run, diagnosis),
        open_question(run, diagnosis), diagnosis.rivals, features(run, diagnosis),
        _assumed(run, (*(correction or ()), *finding.missing)), run.home.domain, (*run.log.unread, *unread),
        ", ".join(late),
    )  # fmt: skip


def _correction(run: LogRun, start: State, conditions: Sequence[StateFact], until: float) -> tuple[Action, ...] | None:
    """A plan to the goal; by one hand, if the robot never opened or switched anything with a full one."""
    home, used = run.home, [n for n, step in enumerate(run.steps) if step.operator in run.scene.switches]
    if isinstance(home, HouseholdScene) and not any(run.scene.held(run.before(number)) for number in used):
        careful = replace(home, static=home.static | {ONE_HANDED})
        if (found := correct(start, conditions, careful, run.steps, until=until)) is not None:
            return found
    return correct(start, conditions, home, run.steps, until=until)


def _assumed(run: LogRun, steps: Sequence[Action]) -> tuple[str, ...]:
    """Objects of steps that the log does not mention: household knowledge, such as the faucet above a sink."""
    known = {name for step in (*run.log.plan, *run.steps) for name in step.arguments}
    known |= {name for condition in run.wanted for name in condition[1:]}
    for event in (*run.log.events, run.log.final):
        known |= event.seen | {name for claim in event.claims for fact in claim.facts for name in fact[1:]}
        known |= set(event.action.arguments) if event.action else set()
    names = dict.fromkeys(name for step in steps for name in step.arguments)
    return tuple(name for name in names if not any(same_stuff(name, one) for one in known))


def _doors(run: LogRun) -> list[StateFact]:
    """Doors of places that the goal fills and that the plan closes at the end have to be closed."""
    closing = [name for name, (_, value) in run.scene.switches.items() if not value]
    shut = {step.arguments[0]: run.scene.sets[step.operator][0] for step in run.steps if step.operator in closing}
    kept = sorted({fact[2] for fact in run.wanted if fact[0] in run.scene.locations and len(fact) == 3} & shut.keys())
    told = {fact[1:2] for fact in run.wanted if fact[0] not in run.scene.locations}
    return [("not", shut[door], door) for door in kept if run.scene.has(door, "door") and (door,) not in told]


def _start(run: LogRun, finding: Finding) -> State:
    """The state from which to go on: the final one, with what follows from the cause."""
    state, scene, domain = run.final, run.scene, run.home.domain
    shown = {
        (fact[0], fact[1]) for claim in run.log.final.claims if claim.holds for fact in claim.facts if len(fact) > 1
    }
    if finding.cause is not RootCause.NONE:
        # What passes by itself and is not seen at the end, such as heat, is brought about again.
        passing = {name for name, variable in domain.variables.items() if not variable.visible}
        state = frozenset(fact for fact in state if fact[0] not in passing or fact[:2] in shown)
    if finding.cause is RootCause.BLOCKED and len(finding.objects) > 1 and scene.covers:
        thing, other = finding.objects[:2]
        state |= {(scene.covers[0], other, thing)} if thing not in scene.places(state, other) else set()
    if finding.cause is RootCause.DROPPED and scene.locations:
        thing = finding.objects[0]
        shattered = any("shatter" in sound or "smash" in sound for event in run.log.events for sound in event.heard)
        again = any(same_stuff(name, thing) for name in run.log.final.named)
        if not (shattered and scene.has(thing, "fragile") and not again):
            state -= {("broken", thing)}
        states = (run.course.start, *run.course.states)
        source = next((places[0] for earlier in states if (places := scene.places(earlier, thing))), None)
        if not again and scene.has(thing, "crackable") and source:
            # It broke: another one is where it came from.
            state = frozenset(fact for fact in state if not (fact[0] in scene.locations and fact[1] == thing))
            state |= {(scene.locations[0], thing, source)}
    return state
