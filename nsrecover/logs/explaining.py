"""From a log to what went wrong, why, and what to do: the progressive explanation of REFLECT, section 3.2, computed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import State
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import is_slice, same_stuff
from nsrecover.domains.household.scene import contents, places
from nsrecover.domains.instance import Instance
from nsrecover.logs.confidence import SURE_ENOUGH, confidence, features, open_question
from nsrecover.logs.correction import PLACING, correct, reaches
from nsrecover.logs.diagnosis import diagnose
from nsrecover.logs.effects import SEEN
from nsrecover.logs.findings import Checked, Finding, RootCause
from nsrecover.logs.own_domain import diagnosed, reading_of
from nsrecover.logs.reading.records import HouseholdLog
from nsrecover.logs.reading.things import named
from nsrecover.logs.reading.wanted import goal_of
from nsrecover.logs.run import LogRun, run_of
from nsrecover.logs.simulation import Course


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
        unread: what of the log could not be read; with a domain of one's own also every word that it does not have.
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
    features: tuple[float, ...] = ()
    assumed: tuple[str, ...] = ()
    domain: Domain = HOUSEHOLD
    unread: tuple[str, ...] = ()


def explain_log(log: HouseholdLog, scene: Instance | None = None) -> LogExplanation:
    """Explain a log.

    Courses of events are simulated with the domain and weighed by all observations. If the execution went as planned,
    the smallest edit of the plan that makes it succeed is the cause.

    Args:
        log: from `nsrecover.logs.reading.format.read_logs`.
        scene: domain and objects of one's own, from `nsrecover.domains.scene_of`; the household if None.
    """
    return explain_run(run_of(log)) if scene is None else _in_own_words(log, scene)


def _in_own_words(log: HouseholdLog, scene: Instance) -> LogExplanation:
    reading = reading_of(log, scene)
    finding, checked, share, way = diagnosed(reading)
    failed = next((number for number, item in enumerate(checked) if not item.satisfied), None)
    question = "" if share >= SURE_ENOUGH else "several explanations fit"
    return LogExplanation(
        finding, tuple(checked), failed, None if way is None else tuple(way), way is not None, (), share,
        question, (), domain=scene.domain, unread=reading.unknown,
    )  # fmt: skip


def explain_run(run: LogRun) -> LogExplanation:
    """Explain a prepared log."""
    diagnosis = diagnose(run)
    finding = diagnosis.finding
    failed = next((number for number, item in enumerate(run.subgoals) if not item.satisfied), None)
    start = _start(run, finding)
    conditions = (*run.goal, *_mistaken_away(run, finding), *_doors(run))
    correction: tuple[Action, ...] | None = ()
    if finding.cause is not RootCause.NONE:
        correction = correct(start, conditions, run.home, run.steps)
    succeeds = correction is not None and reaches(start, correction, conditions, run.home)
    unread = (f"success_state: {part!r} is no condition on objects of the log" for part in run.unread)
    return LogExplanation(
        finding, run.subgoals, failed, correction, succeeds, run.wanted,
        confidence(run, diagnosis), open_question(run, diagnosis), diagnosis.rivals, features(run, diagnosis),
        _assumed(run.log, (*(correction or ()), *finding.missing)),
        unread=(*run.log.unread, *unread),
    )  # fmt: skip


def _assumed(log: HouseholdLog, steps: Sequence[Action]) -> tuple[str, ...]:
    """Objects of steps that the log does not mention: household knowledge, such as the faucet above a sink."""
    known = {*named(log), *goal_of(log, named(log)).names}
    known |= {name for frame in (*log.events, *log.subgoals) for name in frame.step.arguments}
    names = dict.fromkeys(name for step in steps for name in step.arguments)
    return tuple(name for name in names if not any(same_stuff(name, one) for one in known))


def _doors(run: LogRun) -> list[StateFact]:
    """Doors of places that the goal fills and that the plan closes at the end have to be closed."""
    shut = {item.planned.arguments[0] for item in run.subgoals if item.step.operator == "close_obj"}
    kept = {fact[2] for fact in run.wanted if fact[0] == "at" and run.home.has(fact[2], Trait.DOOR)}
    return [("closed", door) for door in sorted(kept & shut) if ("closed", door) not in run.wanted]


def _mistaken_away(run: LogRun, finding: Finding) -> list[StateFact]:
    """An object that was taken by mistake must not stay on the dish that the right one goes to."""
    if finding.cause is not RootCause.MISTAKEN_OBJECT or len(finding.objects) < 2:
        return []
    thing, other = finding.objects[:2]
    dishes = [fact[2] for fact in run.wanted if fact[:2] == ("at", thing) and run.home.has(fact[2], Trait.DISH)]
    return [("away_from", other, dish) for dish in dishes if other in contents(run.final, dish)]


def _start(run: LogRun, finding: Finding) -> State:
    """The state from which to go on: the final one, with what follows from the cause."""
    state = run.final
    if finding.cause is not RootCause.NONE:
        # Heat is rarely visible: objects that may have cooled down are heated again.
        shown = {
            name for name, words in run.log.final.states().items() if any(SEEN.get(w) == ("hot", True) for w in words)
        }
        state = frozenset(fact for fact in state if fact[0] != "hot" or fact[1] in shown)
    if finding.cause is RootCause.BLOCKED and len(finding.objects) > 1:
        thing, other = finding.objects[:2]
        state |= {("covers", other, thing)}
    state |= _behind_doors(run)
    if finding.cause is RootCause.DROPPED:
        thing = finding.objects[0]
        state -= {("broken", thing)}
        lost = not any(same_stuff(name, thing) for name in run.log.final.states())
        states = (run.course.start, *run.course.states)
        source = next((places(earlier, thing)[0] for earlier in states if places(earlier, thing)), None)
        if lost and run.home.has(thing, Trait.CRACKABLE) and source:
            # It broke: another one is where it came from.
            state = frozenset(fact for fact in state if not (fact[0] in PLACING and fact[1] == thing))
            state |= {("at", thing, source)}
    return state


def _behind_doors(run: LogRun) -> set[StateFact]:
    """Objects that were never seen are taken to be behind a door that was never open, if there is one."""
    seen = {name for frame in run.log.events for name in frame.observation.states()} | set(run.log.final.states())
    seen |= {fact[1] for state in run.course.states for fact in state if fact[0] in ("at", "holding")}
    shut = [
        door
        for door in run.home.all(Trait.DOOR)
        if door in seen and not any(("open", door) in state for state in run.course.states)
    ]
    wanted = {step.arguments[0] for step in run.steps if step.operator == "pick_up"}
    return {("at", name, shut[0]) for name in sorted(wanted - seen) if shut and not is_slice(name)}
