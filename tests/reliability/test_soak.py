"""Whole episodes in which robots, sensors and people fail: each ends as reached, impossible or asked for help."""

import threading
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from eval.checks.soak import __main__ as command
from eval.checks.soak import episodes
from eval.checks.soak.__main__ import (
    CRASHED,
    MEASUREMENT,
    WARM_UP,
    Record,
    SoakConfig,
    attempt,
    growth_mb,
    table_of,
)
from eval.checks.soak.disturbed import Disturbance, DisturbedWorld
from eval.checks.soak.episodes import ENDS, Ending, kind_of, run_episode
from eval.instructions.episodes import ScriptedOperator
from eval.run import ROWS
from nsrecover import Action, Plan, symbolic
from nsrecover.bridges.pddl import domain_from_pddl
from nsrecover.core import Fact, FactScene
from nsrecover.domains.base import Has, Or, condition_of
from nsrecover.domains.instance import Instance
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from nsrecover.records.recording import example
from nsrecover.testing.simulated_home import FastHome, make_world


@pytest.mark.parametrize(
    ("number", "seed"), [*((number, 1234) for number in (0, 1, 2, 4, 5, 6, 7, 8, 15, 16)), (257, 8201), (488, 8201)]
)
def test_episodes_of_facts_and_commands_end_well(number: int, seed: int) -> None:
    """In the last two a person says what can be no name."""
    record = attempt(number, seed)
    assert record.ended in ENDS, record.reason
    assert bool(record.reason) == (record.ended != "reached")


def test_an_episode_depends_on_its_number_and_the_seed_only() -> None:
    # not one with an action that hangs, which depends on time
    first, again, other = run_episode(6, 5), run_episode(6, 5), run_episode(6, 6)
    assert "HANGS" not in first.disturbances
    assert first == again
    assert first != other


def test_of_a_hundred_episodes_every_kind_has_its_share() -> None:
    kinds = [kind_of(number) for number in range(100)]
    assert {kind: kinds.count(kind) for kind in set(kinds)} == {"facts": 50, "home": 40, "tabletop": 9, "kitchen": 1}
    assert "kitchen" in kinds[:WARM_UP]


def test_a_soak_test_goes_on_after_an_interruption_and_counts_crashes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = []

    def facts(rng: np.random.Generator, seed: int) -> Ending:
        ran.append(seed)
        if len(ran) == 2:
            raise ValueError("boom")
        return Ending("reached", "", ("LATE",), true=len(ran) != 1)

    monkeypatch.setitem(episodes.KINDS, "facts", facts)
    MEASUREMENT.run(SoakConfig(episodes=2, out=str(tmp_path)))
    with (tmp_path / ROWS).open("a") as file:
        file.write('{"unit": "epis')  # killed while it wrote
    metrics = MEASUREMENT.run(SoakConfig(episodes=4, out=str(tmp_path)))
    assert len(ran) == 4
    assert metrics["ended"] == {"reached": 3, "impossible": 0, "asked_for_help": 0}
    assert metrics["crashes"] == 1
    assert "ValueError: boom" in metrics["first_crashes"][0]
    assert metrics["disturbances"] == {"LATE": 3}
    assert (metrics["truly_reached_of_claimed"]["value"], metrics["growth_mb"]) == (0.66667, None)
    assert "| all      |          4 |         3 |            0 |                0 |         1 |" in table_of(metrics)


def test_an_episode_that_never_ends_is_a_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(episodes.KINDS, "facts", lambda rng, seed: time.sleep(60))
    monkeypatch.setattr(command, "LONGEST_S", 0.1)
    record = attempt(0, 0)
    assert (record.ended, "within 0.1 s" in record.reason) == (CRASHED, True)


def test_memory_is_compared_after_the_warm_up_of_the_longest_process() -> None:
    def record(number: int, memory_mb: float, process: int) -> Record:
        return Record(number, "facts", "reached", "", (), True, False, 0.1, memory_mb, process)

    first = [record(n, 5000.0, 1) for n in range(50)]
    rest = [record(50 + n, 900.0 if n < WARM_UP else 1000.0 + n, 2) for n in range(WARM_UP + 100)]
    assert growth_mb([*first, *rest]) == (45.0, 45.0)
    assert growth_mb(first) is None


class Counting:
    """A world that counts its actions and numbers its observations."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.seen = example().observations[0]

    def observe(self) -> object:
        self.seen = replace(self.seen, time_s=self.seen.time_s + 1, audio=np.ones(9, np.float32), audio_rate_hz=8000)
        return self.seen

    def execute(self, action: Action) -> None:
        self.done.append(action.operator)


def disturbed(which: Disturbance, change: Callable[[], None] = lambda: None) -> tuple[Counting, DisturbedWorld]:
    inside = Counting()
    return inside, DisturbedWorld(inside, {which: 1.0}, np.random.default_rng(0), change)


def test_disturbances_do_what_they_say() -> None:
    inside, world = disturbed(Disturbance.IDLE)
    world.execute(Action("a", ()))
    assert inside.done == []
    inside, world = disturbed(Disturbance.REPEATS)
    for name in "ab":
        world.execute(Action(name, ()))
    assert inside.done == ["a", "a"]
    for which, done in ((Disturbance.RAISES, []), (Disturbance.RAISES_AFTERWARDS, ["a"])):
        inside, world = disturbed(which)
        with pytest.raises(Exception, match="the arm's controller"):
            world.execute(Action("a", ()))
        assert inside.done == done
        assert world.struck == {which}
    _, world = disturbed(Disturbance.NO_FRAME)
    with pytest.raises(TimeoutError):
        world.observe()
    assert disturbed(Disturbance.NOTHING)[1].observe() is None
    _, world = disturbed(Disturbance.REPEATED)
    assert world.observe() is world.observe()
    _, world = disturbed(Disturbance.LATE)
    first, second = world.observe(), world.observe()
    assert world.observe() is first
    assert first is not second
    inside, world = disturbed(Disturbance.CLOCK)
    assert world.observe().time_s < inside.seen.time_s
    assert not disturbed(Disturbance.DEAF)[1].observe().audio.any()
    changes: list[bool] = []
    disturbed(Disturbance.CHANGES, lambda: changes.append(True))[1].planned()
    assert changes == [True]


def test_an_action_that_hangs_returns_when_its_world_is_closed() -> None:
    inside, world = disturbed(Disturbance.HANGS)
    with closing(world):
        thread = threading.Thread(target=world.execute, args=(Action("a", ()),))
        thread.start()
        thread.join(0.1)
        assert thread.is_alive()
    thread.join(10)
    assert (thread.is_alive(), inside.done) == (False, [])


# -- what the soak tests found


def service(world: object, limit_s: float | None = None, feedback: bool = False) -> ServiceAgent:
    understanding, silent = Understanding(load_home("apartment")), ScriptedOperator([""] * 9)
    return ServiceAgent(understanding, world, silent, feedback, action_limit_s=limit_s)  # type: ignore[arg-type]


class Blind(FastHome):
    """A home whose robot perceives nothing from the n-th time on."""

    sees = 0

    def observe(self) -> object:  # type: ignore[override]
        self.sees -= 1
        return super().observe() if self.sees >= 0 else None


@pytest.mark.parametrize("sees", [0, 1, 4])
def test_a_service_robot_whose_sensors_give_nothing_asks_for_help(sees: int) -> None:
    world = make_world(load_home("apartment"))
    world.__class__, world.sees = Blind, sees  # type: ignore[attr-defined, assignment]
    outcome = service(world).run("bring me the apple from the kitchen table")
    assert outcome.status is OutcomeStatus.ASKED_FOR_HELP
    assert "expected an observation, found None" in outcome.text or "expected a sight, found None" in outcome.text


class Hanging(FastHome):
    released = threading.Event()
    begun = 0

    def execute(self, action: Action) -> None:
        type(self).begun += 1
        self.released.wait(30)


@pytest.mark.parametrize("feedback", [False, True])
def test_a_service_robot_whose_skill_never_returns_begins_nothing_else(feedback: bool) -> None:
    world = make_world(load_home("apartment"))
    world.__class__, Hanging.begun = Hanging, 0
    Hanging.released.clear()
    try:
        outcome = service(world, 0.1, feedback).run("bring me the apple from the kitchen table")
    finally:
        Hanging.released.set()
    assert outcome.status is OutcomeStatus.ASKED_FOR_HELP
    assert "did not end within 0.1 s" in outcome.text
    assert Hanging.begun == 1


def test_conditions_without_facts_are_named_too() -> None:
    text = """(define (domain d) (:requirements :strips :typing :equality) (:types room) (:predicates (at ?x ?r - room))
      (:action go :parameters (?a ?b - room) :precondition (and (at ?a ?a) (not (= ?a ?b)))
        :effect (and (not (at ?a ?a)) (at ?b ?b))))"""
    rooms = Instance(domain_from_pddl(text), dict.fromkeys(("hall", "kitchen"), frozenset({"room"})))
    system, seen = symbolic(rooms), FactScene(frozenset({("at", "hall", "hall")}))
    assert system.monitor(Plan.parse("go(hall, kitchen)"), seen).check().as_expected
    found = system.monitor(Plan.parse("go(hall, hall)"), seen).check()
    assert found.unmet == (Fact("not", ("same", "hall", "hall")),)
    assert condition_of(Or((Has("mug", "flat"), Has("mug", "hollow")))) == ("flat", "mug")
    assert condition_of(Or(())) == ("false",)
