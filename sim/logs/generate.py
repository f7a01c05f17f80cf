"""Logs by seed: tasks, failures, wordings and errors drawn at random."""

from __future__ import annotations

import random
from collections.abc import Iterator

from sim.logs import tasks, wording
from sim.logs.failures import KINDS, fail
from sim.logs.writing import STRENGTHS, WIDE, Written, write


def generate(count: int, seed: int, strength: str, held_out: bool) -> Iterator[Written]:
    """Logs of a household robot.

    The kinds of failure take turns, so that each is equally frequent where tasks have it.

    Args:
        count: number of logs.
        seed: the same seed gives the same logs.
        strength: of the errors, a key of `STRENGTHS`, or `wide`: rates of all errors drawn for each log.
        held_out: tasks and wordings to measure with, instead of those to develop with.
    """
    families = list(tasks.HELD_OUT if held_out else tasks.DEVELOPMENT)
    words = wording.HELD_OUT if held_out else wording.DEVELOPMENT
    kinds, number = list(KINDS), 0
    for index in range(100 * count):
        if number == count:
            return
        # One source for each log: a log does not depend on those before it.
        chance = random.Random(f"{seed} {strength} {held_out} {index}")
        task = tasks.draw(chance.choice(families), chance)
        failure = fail(task, kinds[index % len(kinds)], chance)
        if failure is not None:
            errors = WIDE.drawn(chance) if strength == "wide" else STRENGTHS[strength]
            written = write(task, failure, words, errors, chance)
            written.document["id"] = f"{strength}-{seed}-{index}"
            number += 1
            yield written
