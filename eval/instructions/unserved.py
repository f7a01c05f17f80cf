"""Generated commands with something that no skill serves: superlatives, clothes, gender, relations, time, manner."""

from __future__ import annotations

from collections import Counter
from typing import Any

from eval.common.statistics import share
from eval.instructions.generator import UNSERVED, WORDS, Generator
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_home


def unserved_commands(commands: int, seed: int) -> dict[str, Any]:
    """How many commands with something that no skill serves lead to a plan, and how many to an answer that names it."""
    home = drawn_home(seed * 1000 + 7)
    generator, understanding = Generator(home, seed * 100_000 + 7), Understanding(home)
    counts, examples = Counter[tuple[str, str]](), list[str]()
    for number in range(commands):
        kind = list(UNSERVED)[number % len(UNSERVED)]
        text, words = generator.made(UNSERVED[kind])
        sentence = f"{generator.of(WORDS['POLITE'])}{text}{generator.of(WORDS['ENDING'])}"
        found = understanding.plan(sentence)
        if isinstance(found, TaskPlan):
            result = "plan"
        else:
            result = "named" if any(word in found.text for word in words) else "not named"
        counts[kind, result] += 1
        if result != "named" and len(examples) < 40:
            examples.append(f"{result}: {sentence}")
    total = sum(counts.values())
    results = ("plan", "named", "not named")
    shares = {each: share(sum(n for (_, result), n in counts.items() if result == each), total) for each in results}
    return {
        **shares,
        "by_kind": {k: {each: counts[k, each] for each in results} for k in UNSERVED},
        "examples": examples,
    }
