"""Corrections of what was done, as people say them: 15 kinds, in drawn homes, judged by what is true in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from eval.common.statistics import share
from eval.instructions.episodes import ScriptedOperator
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_home, drawn_world

KINDS: Mapping[str, Mapping[str, Any]] = yaml.safe_load(Path(__file__).with_name("corrections.yaml").read_text("utf-8"))
"""Kind -> a command, what the person says in the end (several answers apart by "|"), and what is to be where then."""


def corrections(homes: int, seed: int) -> dict[str, Any]:
    """How many corrections end as they were meant, by kind, and how many end in "Done" with something else.

    Args:
        homes: number of drawn homes; one correction of each kind in each.
        seed: of the draw.
    """
    counts, examples = Counter[tuple[str, str]](), list[str]()
    for number in range(homes):
        rng = np.random.default_rng([seed, number, 15])
        for kind, (commands, answers, wanted) in ((kind, each.values()) for kind, each in KINDS.items()):
            names = _drawn(rng, seed + number)
            way = int(rng.integers(len(commands.split("|"))))
            command = commands.split("|")[way].format(**names)
            said = answers[int(rng.integers(len(answers)))].format(**names).split("|")
            goal = wanted.split("|")[way].format(**names)
            result = _result(seed + number, names, command, said, goal)
            counts[kind, result] += 1
            if result != "right" and len(examples) < 60:
                examples.append(f"{result}: {command} / {' / '.join(said)}")
    total = sum(counts.values())
    results = ("claimed though wrong", "right", "asked for help", "refused")
    shares = {each: share(sum(n for (_, result), n in counts.items() if result == each), total) for each in results}
    by_kind = {kind: {each: counts[kind, each] for each in results} for kind in KINDS}
    return {**shares, "by_kind": by_kind, "examples": examples}


def _drawn(rng: np.random.Generator, seed: int) -> dict[str, str]:
    """Two objects, two surfaces and two people of a home."""
    home = drawn_home(seed)
    surfaces = [each for each in home.furniture if "surface" in home.places[each].traits]
    a, b = rng.choice(["banana", "apple", "sponge", "watch", "key", "bread", "teddy bear", "cola"], 2, replace=False)
    p, q, spot = rng.choice(surfaces, 3, replace=False)
    x, y = rng.choice([each for each in home.people if each != OPERATOR], 2, replace=False)
    return {"a": str(a), "b": str(b), "p": str(p), "q": str(q), "x": str(x), "y": str(y), "spot": str(spot)}


def _result(seed: int, names: Mapping[str, str], command: str, said: Sequence[str], goal: str) -> str:
    """What a command and its correction end in."""
    home = drawn_home(seed)
    things = [names["a"], names["b"], "red mug", "blue mug"]
    world = drawn_world(home, seed, None, things, dict.fromkeys(things, names["spot"]))
    outcome = ServiceAgent(Understanding(home), world, ScriptedOperator(said), feedback=True).run(command)
    if outcome.status is OutcomeStatus.REFUSED:
        return "refused"
    if outcome.status is not OutcomeStatus.DONE:
        return "asked for help"
    thing, place = next((each, goal.removeprefix(f"{each} ")) for each in things if goal.startswith(f"{each} "))
    return "right" if world.objects[thing] == place else "claimed though wrong"
