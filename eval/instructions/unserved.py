"""Generated commands with something that no skill serves: superlatives, clothes, gender, relations, time, manner."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from eval.common.statistics import share
from eval.instructions.generator import BRING, ENDING, POLITE, Generator
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_home

_SUPERLATIVES = ("biggest", "smallest", "heaviest", "lightest", "largest", "thinnest")
_COLOURS, _CLOTHES = (
    ("blue", "yellow", "black", "white", "red", "orange", "gray"),
    ("t-shirt", "shirt", "blouse", "sweater", "coat", "jacket"),
)
_GENDERS, _GROUPS = (
    ("lady", "gentleman", "woman", "boy", "girl"),
    ("ladies", "women", "men", "boys", "girls", "children"),
)
Drawn = tuple[str, tuple[str, ...]]


def _superlative(g: Generator) -> Drawn:
    word, place = g.of(_SUPERLATIVES), g.of(g.spots)
    category = g.of(list(g.home.categories))
    said = (f"{g.of(BRING)} me the {word} {category} from the {place}",
            f"tell me what is the {word} object on the {place}",
            f"find the {word} {category} in the {g.of(g.home.rooms)}",
            f"put the {word} {category} on the {place}")  # fmt: skip
    return g.of(said), (word,)


def _clothes(g: Generator) -> Drawn:
    cloth, room, target = f"{g.of(_COLOURS)} {g.of(_CLOTHES)}", g.of(g.home.rooms), g.of(g.spots)
    said = (f"follow the person wearing a {cloth} in the {room} to the {target}",
            f"guide the person in the {cloth} to the {target}",
            f"tell me how many people in the {room} are wearing {cloth}s",
            f"say hello to the person wearing a {cloth} in the {room}",
            f"find the guest with the {cloth} and follow them")  # fmt: skip
    return g.of(said), tuple(cloth.split())


def _gender(g: Generator) -> Drawn:
    one, group, room = g.of(_GENDERS), g.of(_GROUPS), g.of(g.home.rooms)
    if g.rng.random() < 0.5:
        return f"tell me how many {group} are in the {room}", (group,)
    return f"guide the {one} in the {room} to the {g.of(g.spots)}", (one,)


def _relation(g: Generator) -> Drawn:
    thing, other, place = g.of(g.nouns), g.of(g.nouns), g.of(g.spots)
    word = g.of(("next to", "behind", "in front of", "under"))
    said = (f"{g.of(BRING)} me the {thing} {word} the {other}", f"put the {thing} {word} the {place}")
    return g.of(said), tuple(word.split())


def _quantity(g: Generator) -> Drawn:
    count, thing = g.of(("three", "four", "five")), g.of(g.nouns)
    return f"{g.of(BRING)} me {count} {thing}s", (count, thing)


def _other(g: Generator) -> Drawn:
    thing = g.of(g.nouns)
    return g.of(((f"{g.of(BRING)} me another {thing}"), f"find a different {thing}", f"take the other {thing}")), (
        "other",
        "different",
    )


def _exclusion(g: Generator) -> Drawn:
    category = g.of([each for each in g.home.categories if each != "personal item"])
    thing = g.of(g.home.categories[category])
    return f"{g.of(BRING)} me a {category} but not the {thing}", ("not", thing)


def _when_and_how(g: Generator) -> Drawn:
    word = g.of(("tomorrow", "at noon", "slowly", "carefully"))
    return g.of(
        (f"go to the {g.of(g.home.rooms)} {word}", f"put the {g.of(g.nouns)} on the {g.of(g.surfaces)} {word}")
    ), tuple(word.split())


KINDS: Mapping[str, Callable[[Generator], Drawn]] = {
    "superlatives": _superlative,
    "clothes": _clothes,
    "gender": _gender,
    "relations": _relation,
    "quantity": _quantity,
    "another one": _other,
    "exclusion": _exclusion,
    "when and how": _when_and_how,
}


def unserved_commands(commands: int, seed: int) -> dict[str, Any]:
    """How many commands with something that no skill serves lead to a plan, and how many to an answer that names it."""
    home = drawn_home(seed * 1000 + 7)
    generator, understanding = Generator(home, seed * 100_000 + 7), Understanding(home)
    counts, examples = Counter[tuple[str, str]](), list[str]()
    for number in range(commands):
        kind = list(KINDS)[number % len(KINDS)]
        text, words = KINDS[kind](generator)
        sentence = f"{generator.of(POLITE)}{text}{generator.of(ENDING)}"
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
    return {**shares, "by_kind": {k: {each: counts[k, each] for each in results} for k in KINDS}, "examples": examples}
