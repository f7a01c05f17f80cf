"""Logs of household runs that fail, as a robot that perceives with errors writes them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np

from eval.household.fact_world import FactWorld
from eval.kitchen.read_back import KNOWN
from nsrecover.domains.base import Atom
from nsrecover.domains.household import Trait
from nsrecover.domains.household.scene import shut_in
from nsrecover.logs.recorded import TraceMoment, traced
from nsrecover.logs.trace import RawTrace
from sim.datasets.household import HouseholdEpisode
from sim.datasets.shipped import shipped_lines

CAUSES = KNOWN["reflect"]
"""Kind of a fault that REFLECT has -> root causes that are right."""
STRENGTHS = {"light": (0.05, 0.01), "middle": (0.15, 0.03), "strong": (0.30, 0.08)}
"""How often a property is not seen, and misread, at three strengths of the errors of perception."""
WIDE = "wide"
"""Errors drawn for each log, up to those of the strongest."""
ACTION_S = 3.0
GOOD_EVERY = 9
"""Every so many-th log is of a run without a failure."""


@dataclass(frozen=True)
class WrittenLog:
    """A log with what is true about it.

    Attributes:
        name: strength, seed and number.
        trace: with `truth` in `extra`: the root causes that are right, and the times of the failure.
    """

    name: str
    trace: RawTrace


def written_logs(count: int, seed: int, strength: str, held_out: bool) -> Iterator[WrittenLog]:
    """Logs of runs of H1 whose failures REFLECT has, and of good runs (H4).

    Args:
        count: number of logs.
        seed: the same seed gives the same logs.
        strength: of the errors of perception, a key of `STRENGTHS`, or `WIDE`.
        held_out: runs to measure with, instead of those to fit on.
    """
    good, bad = _episodes("H4"), _episodes("H1")
    for number in range(count):
        rng = np.random.default_rng([seed, number, *strength.encode(), held_out])
        chosen = good if number % GOOD_EVERY == GOOD_EVERY - 1 else bad
        episode = chosen[2 * int(rng.integers(len(chosen) // 2)) + held_out]
        hidden, wrong = rng.uniform(0.0, STRENGTHS["strong"]) if strength == WIDE else STRENGTHS[strength]
        yield WrittenLog(f"{strength}-{seed}-{number}", trace_of_episode(episode, hidden, wrong, rng))


@cache
def _episodes(dataset: str) -> list[HouseholdEpisode]:
    every = map(HouseholdEpisode.from_json, shipped_lines(dataset, 0, 1000))
    return [each for each in every if all(fault.kind in CAUSES for fault in each.faults)]


def trace_of_episode(episode: HouseholdEpisode, hidden: float, wrong: float, rng: np.random.Generator) -> RawTrace:
    """Carry out an episode without recovery, and write down what an imperfect observer sees after every action.

    Args:
        episode: the task and what goes wrong.
        hidden: probability that a property, or an object that the action does not name, is not seen.
        wrong: probability that a property is misread.
        rng: draws the errors.
    """
    world, moments = FactWorld(episode, hidden, wrong, int(rng.integers(2**31))), list[TraceMoment]()
    for number, action in enumerate(episode.robots_plan, 1):
        world.execute(action)
        near = {name for name in world.home.objects if rng.random() >= hidden} | {*action.arguments}
        seen = frozenset(name for name in near if _in_sight(world, name))
        moments.append(TraceMoment(ACTION_S * number, action, world.observe(), seen, ends=True))
    task, plan = episode.spec.task, episode.robots_plan
    fault = next(iter(episode.faults), None)
    truth: dict[str, Any] = {"causes": ["none"], "steps": []}
    if fault is not None:  # from where it strikes to the action that it keeps from its effect
        first = max(fault.at_step, 0) + 1
        steps = range(first, max(world.failed or 0, first + 1) + 1)
        truth = {"causes": list(CAUSES[fault.kind]), "steps": [_clock(ACTION_S * each) for each in steps]}
    return replace(traced(task.name, plan, task.words, moments, world.home), extra={"truth": truth})


def _in_sight(world: FactWorld, name: str) -> bool:
    exists = world.home.holds(world.state, Atom("exists", (name,)))
    return exists and Trait.LIQUID not in world.home.traits(name) and shut_in(world.state, name, world.home) is None


def _clock(time_s: float) -> str:
    return f"{int(time_s) // 60:02d}:{int(time_s) % 60:02d}"
