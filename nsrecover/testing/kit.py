"""`check_world`: check that a simulator or a robot keeps all rules of a `World`. No learned part is loaded."""

import contextlib
from collections.abc import Callable, Collection
from typing import cast

from nsrecover.core import Action, Observation, World
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.testing.examination import Examination
from nsrecover.testing.lifted import LiftedObservation
from nsrecover.testing.rules import ConformanceReport, Rule, RuleLog, Tolerances
from nsrecover.testing.settings import setting_of

MakeWorld = Callable[[], World[Observation]]
_FACTORY_RULES = (Rule.REPRODUCIBLE, Rule.WORLDS_INDEPENDENT, Rule.CLOSE_TWICE)


def check_world(
    world: World[Observation] | MakeWorld,
    *,
    action: Action | None = None,
    provoke_failure: bool = True,
    limits: Tolerances | None = None,
    skip: Collection[Rule] = (),
    domain: SpatialDomain | Domain = TABLETOP,
) -> ConformanceReport:
    """Check that a world keeps all rules of `Rule`.

    The kit takes several observations. It gives the robot actions that it has to refuse, lets it move one object (and
    put it back, if the kit chose the action), and asks for something that cannot be done.

    Args:
        world: a factory (or class) that makes a fresh world at each call, or a single world such as a real robot, for
            which the rules about several worlds are skipped. The kit closes the worlds that it makes.
        action: the action to carry out; it must be feasible in the first observation. By default the kit stacks two
            free-standing objects, or shifts one.
        provoke_failure: whether to ask for something that cannot be done, which must not raise: a place 6 m away, or to
            put down what is not held.
        limits: tolerances of the rules; by default those that suit a simulator.
        skip: rules to leave out.
        domain: of a tabletop, in which `top` and `free` are tried and cameras stand still; or of a household, in which
            `pick_up` and `put_on` are tried and cameras move with the robot.

    Returns:
        The result of every rule: passed, or skipped with the reason.

    Raises:
        WorldNotConforming: the world breaks a rule; the message names it.
        InvalidAction: `action` is malformed, or not feasible in the first observation.
        UnknownObject: `action` names an object that is not in the first observation.
    """
    log, made = RuleLog(skip), list[World[Observation]]()
    make = None if _is_world(world) or not callable(world) else world

    def fresh() -> World[Observation]:
        new = make() if make is not None else cast(World[Observation], world)
        if make is not None and all(new is not each for each in made):
            made.append(new)
        return new

    try:
        setting = setting_of(domain)
        first = Examination(fresh(), log, limits or Tolerances(), setting)
        start = first.observe_twice()
        second = None
        if make is None:
            log.skip("a single world was given; give a factory", *_FACTORY_RULES)
        else:
            second = Examination(fresh(), log, first.limits, setting)
            _compare_worlds(first, start, second)
        first.refuse(start)
        saved, then = first.act(start, action)
        if provoke_failure:
            first.fail(start)
        else:
            log.skip("provoke_failure is off", Rule.FAILURE_NOT_RAISED)
        if second is not None:
            _see_no_traces(first, start, second, Examination(fresh(), log, first.limits, setting))
        first.restore(saved, then)
        if make is not None:
            _close_twice(log, made)
        return log.report()
    finally:
        for each in made:
            with contextlib.suppress(Exception):  # the broken rule is the error to report
                getattr(each, "close", lambda: None)()


def _is_world(candidate: object) -> bool:
    """Return whether this is meant to be a world, rather than a factory of worlds."""
    return not isinstance(candidate, type) and any(hasattr(candidate, name) for name in ("observe", "execute"))


def _compare_worlds(first: Examination, start: LiftedObservation, second: Examination) -> None:
    """Check that two worlds of one factory start with the same observation."""
    again = second.world is first.world
    first.log.check(
        Rule.WORLDS_INDEPENDENT, not again, "a new world from every call of the factory", "the same one again",
        "make the world inside the factory, or pass the world instead of a factory",
    )  # fmt: skip
    first.check_same(Rule.REPRODUCIBLE, start, second.observe(), "the first observation of two worlds of one factory")


def _see_no_traces(first: Examination, start: LiftedObservation, second: Examination, late: Examination) -> None:
    """Check that the actions in the first world have not changed other worlds."""
    if not first.log.actions:
        first.log.skip("nothing could be done in the first world", Rule.WORLDS_INDEPENDENT)
        return
    second.check_same(
        Rule.WORLDS_INDEPENDENT, second.seen[0], second.observe(), "a world, while another one was acted in"
    )
    late.check_same(Rule.WORLDS_INDEPENDENT, start, late.observe(), "a world made after another one was acted in")


def _close_twice(log: RuleLog, worlds: list[World[Observation]]) -> None:
    for world in worlds:
        close = getattr(world, "close", None)
        if not callable(close):
            log.skip("the world has no close()", Rule.CLOSE_TWICE)
            return
        found = ""
        try:
            close()
            close()
        except Exception as error:
            found = f"{type(error).__name__}: {error}"
        log.check(
            Rule.CLOSE_TWICE, not found, "close() to work, and to do nothing when called again", found,
            "keep a flag that it is closed",
        )  # fmt: skip
