"""Corrections of what was done, as people say them: 15 kinds, in drawn homes, judged by what is true in the end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import share
from eval.instructions.episodes import ScriptedOperator
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_home, drawn_world

KINDS: Mapping[str, tuple[str, tuple[str, ...], str]] = {
    "another object": (
        "put the {a} on the {p}",
        ("no, I meant the {b}", "that's not what I meant, I wanted the {b}", "the {b}, please", "no no, the {b}"),
        "{b} {p}",
    ),
    "not this, that": (
        "put the {a} on the {p}",
        ("not the {a}, the {b}", "I said the {b}, not the {a}", "no, not the {a} but the {b}",
         "the {b} and not the {a}"),
        "{b} {p}",
    ),
    "another goal": (
        "put the {a} on the {p}",
        ("no, on the {q}", "I meant the {q}", "it should be on the {q}", "wrong, the {q}"),
        "{a} {q}",
    ),
    "not there, there": (
        "put the {a} on the {p}",
        ("on the {q}, not on the {p}", "not on the {p}, on the {q}", "no, the {q}, not the {p}",
         "I said the {q} and not the {p}"),
        "{a} {q}",
    ),
    "another command": (
        "put the {a} on the {p}",
        ("no, put it on the {q}", "put it on the {q} instead", "please take it to the {q}",
         "could you move it to the {q}?"),
        "{a} {q}",
    ),
    "bring it": (
        "put the {a} on the {p}",
        ("no, bring it to me", "actually, give it to me", "I wanted you to bring it here", "bring it to me instead"),
        "{a} operator",
    ),
    "another person": (
        "bring the {a} to {x}",
        ("no, to {y}", "I meant {y}", "not {x}, {y}", "give it to {y} instead"),
        "{a} {y}",
    ),
    "to me": (
        "bring the {a} to {x}",
        ("no, to me", "I wanted it for me", "not to {x}, to me", "bring it to me"),
        "{a} operator",
    ),
    "another one": (
        "bring me the red mug",
        ("no, the blue one", "the other one", "mine is the blue one", "not the red one, the blue one"),
        "blue mug operator",
    ),
    "a full command": (
        "bring me the {a}",
        ("no, put the {b} on the {q}", "that is wrong. put the {b} on the {q}", "sorry, I meant put the {b} on the {q}",
         "no. take the {b} to the {q}"),
        "{b} {q}",
    ),
    "one more": (
        "put the {a} on the {p}",
        ("the {b} too", "and also the {b}", "you forgot the {b}", "the {b} as well"),
        "{b} {p}",
    ),
    "both slots": (
        "put the {a} on the {p}",
        ("no, the {b} on the {q}", "I meant the {b} on the {q}", "not the {a}, the {b}, and on the {q}",
         "the {b}, on the {q}"),
        "{b} {q}",
    ),
    "only no": (
        "put the {a} on the {p}",
        ("no|the {q}", "nope|put it on the {q}", "that's wrong|I meant the {q}", "no!|on the {q}, please"),
        "{a} {q}",
    ),
    "a complaint": (
        "put the {a} on the {p}",
        ("why did you do that?|I meant the {b}", "that is not mine|the {b}", "you are not listening|no, the {b}",
         "hm, bad idea|put the {b} there|the {b} on the {p}"),
        "{b} {p}",
    ),
    "within the sentence": (
        "bring the {a} to {x}, no, to {y}|put the {a} on the {p}, I mean the {q}",
        ("yes",),
        "{a} {y}|{a} {q}",
    ),
}  # fmt: skip
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
        for kind, (commands, answers, wanted) in KINDS.items():
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
