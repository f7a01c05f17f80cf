"""The parts of a system are fields, and every public member keeps those of a user's own, for boxes and for facts."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import nsrecover
from nsrecover import Act, Comparison, Look, Plan, RecoveryPlanner, Session, System
from nsrecover.errors import InvalidConfiguration
from nsrecover.monitoring.fact_causes import FactComparison
from nsrecover.monitoring.imagination import Imagination
from nsrecover.monitoring.outlook import FactImagination
from nsrecover.planning.symbolic.fact_planner import FactPlanner
from tests.nsrecover.kitchen_facts import HOME, START


class Setting(NamedTuple):
    """A system, with a plan, what is seen before and after its only action, and after that action failed."""

    system: System[Any]
    plan: Plan
    before: Any
    after: Any
    failed: Any


def box(x: float, y: float, z: float = 0.02) -> tuple[float, ...]:
    return (x, y, z, 0.04, 0.04, 0.04)


BOXES = {"red": box(0.4, 0.0), "blue": box(0.5, 0.15)}
HELD = START - {("at", "mug", "countertop")} | {("holding", "mug")}
SETTINGS = {
    "boxes": Setting(
        nsrecover.geometric(), Plan.parse("top(blue, red)"), BOXES, BOXES | {"blue": box(0.4, 0.0, 0.06)}, BOXES
    ),
    "facts": Setting(nsrecover.symbolic(HOME), Plan.parse("pick_up(mug)"), START, HELD, START),
}
PARTS = ("perceiver", "imagination", "comparison", "planner", "explainer", "lookahead", "during")


class Own:
    """A part of a user's own that does what another one does, and counts how often it is used."""

    def __init__(self, part: Any) -> None:
        self.part, self.used = part, 0

    def __call__(self, *given: Any) -> Any:
        self.used += 1
        return self.part(*given)

    def __getattr__(self, name: str) -> Any:
        if name in {"part", "with_model"} or name.startswith("__"):
            raise AttributeError(name)
        self.used += 1
        return getattr(self.part, name)


@pytest.fixture(params=SETTINGS)
def setting(request: pytest.FixtureRequest) -> Setting:
    given = SETTINGS[request.param]
    parts = {name: Own(getattr(given.system, name)) for name in PARTS}
    return given._replace(system=replace(given.system, **parts))


def good_runs(setting: Setting) -> list[tuple[Plan, list[Any]]]:
    return [(setting.plan, [setting.before, setting.after])] * 30


MEMBERS: dict[str, Callable[[Setting, Path], object]] = {
    "domain": lambda the, _: the.system.domain,
    "check_plan": lambda the, _: the.system.check_plan(the.plan),
    "monitor": lambda the, _: the.system.monitor(the.plan, the.before),
    "session": lambda the, _: the.system.session(the.plan, the.before),
    "with_model": lambda the, _: the.system.with_model(the.system.model),
    "calibrated": lambda the, _: the.system.calibrated(good_runs(the), 0.1),
    "save": lambda the, folder: the.system.save(folder),
    "calibration_watch": lambda the, _: the.system.calibrated(good_runs(the), 0.1).calibration_watch(),
}
"""Each public member of a system, used. One that is missing here fails the test."""


def test_every_public_member_is_tried() -> None:
    own = {name for name in vars(System) if not name.startswith("_")}
    assert own - {each.name for each in fields(System)} == MEMBERS.keys()
    assert {each.name for each in fields(System)} == {*PARTS, "model", "calibration"}


@pytest.mark.parametrize("member", MEMBERS)
def test_every_public_member_works_and_keeps_own_parts(setting: Setting, member: str, tmp_path: Path) -> None:
    found = MEMBERS[member](setting, tmp_path)
    if isinstance(found, Session):
        found = found.system
    if isinstance(found, System):
        for name in PARTS:
            assert getattr(found, name) is getattr(setting.system, name), name


@pytest.mark.parametrize("member", [name for name in MEMBERS if name not in {"domain", "check_plan", "save"}])
def test_own_parts_are_used_after_every_member(setting: Setting, member: str, tmp_path: Path) -> None:
    found = MEMBERS[member](setting, tmp_path)
    system = found if isinstance(found, System) else setting.system
    counted = ("perceiver", "imagination", "comparison", "planner", "explainer")
    for name in counted:
        getattr(system, name).used = 0
    session = system.session(setting.plan, setting.before)
    for _ in range(8):
        if isinstance(session.request, Act | Look) and len(session.records) < 1:
            session.observed(setting.failed)
    assert session.records[0].discrepancy.deviates
    assert session.records[0].explanation is not None
    assert all(getattr(system, name).used for name in counted)


class OwnImagination(Imagination):
    """A user's own."""


class OwnComparison(Comparison):
    """A user's own."""


class OwnPlanner(RecoveryPlanner):
    """A user's own."""


class OwnFactImagination(FactImagination):
    """A user's own."""


class OwnFactComparison(FactComparison):
    """A user's own."""


class OwnFactPlanner(FactPlanner):
    """A user's own."""


@pytest.mark.parametrize(
    ("setting", "own"),
    [
        ("boxes", {"imagination": OwnImagination, "comparison": OwnComparison, "planner": OwnPlanner}),
        ("facts", {"imagination": OwnFactImagination, "comparison": OwnFactComparison, "planner": OwnFactPlanner}),
    ],
    indirect=["setting"],
)
def test_a_part_that_works_with_the_model_gets_the_new_one_and_stays_what_it_is(
    setting: Setting, own: dict[str, Any]
) -> None:
    model = setting.system.model
    given = getattr(model, "models", None) or model.instance
    system = replace(setting.system, **{name: kind(given) for name, kind in own.items()})
    learned = system.calibrated(good_runs(setting), 0.1)
    assert learned.model != model
    for name, kind in own.items():
        assert type(getattr(learned, name)) is kind
    if hasattr(model, "models"):
        assert learned.comparison.models.threshold == learned.model.models.threshold != 0.5


def runs_of_facts(good: int, failing: int = 0) -> list[tuple[Plan, list[Any]]]:
    """Runs in which the mug is taken at once, and some in which that fails at first."""
    once, again = Plan.parse("pick_up(mug)"), Plan.parse("pick_up(mug); pick_up(mug)")
    return [(once, [START, HELD])] * good + [(again, [START, START, HELD])] * failing


def test_rates_of_facts_are_learned_saved_and_used(tmp_path: Path) -> None:
    system = nsrecover.symbolic(HOME)
    learned = system.calibrated(runs_of_facts(60), 0.05)
    usual, rates = system.model.rates.failures, learned.model.rates.failures
    assert rates.of("pick_up").mean < usual.of("pick_up").mean / 3, "60 that went well"
    assert learned.model.rates.misread.of("place").mean < system.model.rates.misread.of("place").mean
    again = nsrecover.symbolic(HOME, calibrated=learned.save(tmp_path))
    assert again.model.rates == learned.model.rates
    assert again.calibration == learned.calibration
    belief = again.monitor(Plan.parse("pick_up(mug)"), START).belief
    assert belief.tracker.failures.of("pick_up").mean == pytest.approx(rates.of("pick_up").mean)  # type: ignore[attr-defined]
    watch = again.calibration_watch()
    assert any(watch.update(0.0) for _ in range(100)), "steps that look failed are not like those of the calibration"


def test_actions_that_failed_in_the_runs_count_as_failures() -> None:
    failures = nsrecover.symbolic(HOME).calibrated(runs_of_facts(40, 20), 0.05).model.rates.failures
    # one look at each action: a late frame is possible, too
    assert failures.operators["pick_up"].bad == pytest.approx(20, abs=5), "20 of 80 actions"
    assert failures.operators["pick_up"].good == pytest.approx(60, abs=5)


def test_runs_that_say_nothing_of_the_robot_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="60 of 60"):
        nsrecover.symbolic(HOME).calibrated([(Plan.parse("pick_up(mug)"), [START, START])] * 60, 0.05)
    with pytest.raises(InvalidConfiguration, match="at least 99"):
        nsrecover.symbolic(HOME).calibrated(runs_of_facts(60), 0.01)
