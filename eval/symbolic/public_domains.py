"""Random problems of five public planning domains (those of the planning competitions), as PDDL.

The domains are in `domains/`, written anew; a generator gives the objects, the initial state and the goal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from unified_planning.io import PDDLReader

DOMAINS = Path(__file__).parent / "domains"


class Parts(NamedTuple):
    """Objects (type -> names), facts of the initial state, facts of the goal, and whether costs are minimised."""

    objects: Mapping[str, Iterable[str]]
    initial: list[str]
    goal: list[str]
    costs: bool = False


def names(prefix: str, count: int) -> list[str]:
    """Return numbered names."""
    return [f"{prefix}{i}" for i in range(count)]


def random_towers(rng: random.Random, count: int) -> tuple[int, ...]:
    """Return random towers: the block below each block, -1 for the table."""
    below, tops = [-1] * count, list[int]()
    for block in rng.sample(range(count), count):
        place = rng.randrange(len(tops) + 1)
        if place == len(tops):
            tops.append(block)
        else:
            below[block], tops[place] = tops[place], block
    return tuple(below)


def blocks(rng: random.Random, size: int) -> Parts:
    """`size` blocks in random towers."""
    every = names("b", size)
    start, goal = random_towers(rng, size), random_towers(rng, size)
    initial = ["(hand-empty)", *(f"(clear {b})" for i, b in enumerate(every) if i not in start)]
    initial += [f"(on-table {b})" if at < 0 else f"(on {b} {every[at]})" for b, at in zip(every, start, strict=True)]
    return Parts({"block": every}, initial, [f"(on {every[i]} {every[at]})" for i, at in enumerate(goal) if at >= 0])


def gripper(rng: random.Random, size: int) -> Parts:
    """`size` balls in three rooms."""
    balls, rooms, hands = names("ball", size), names("room", 3), ["left", "right"]
    initial = ["(robot-in room0)", *(f"(empty {h})" for h in hands)]
    initial += [f"(lies-in {b} {rng.choice(rooms[:2])})" for b in balls]
    return Parts({"ball": balls, "room": rooms, "hand": hands}, initial, [f"(lies-in {b} room2)" for b in balls])


def logistics(rng: random.Random, size: int) -> Parts:
    """`size` parcels in three cities of three places, with a truck each, and one plane."""
    cities, parcels, trucks = names("city", 3), names("parcel", size), names("truck", 3)
    airports = [f"{c}-airport" for c in cities]
    places = [[f"{c}-place{i}" for i in range(2)] for c in cities]
    spots = [[airport, *more] for airport, more in zip(airports, places, strict=True)]
    every = [p for some in spots for p in some]
    initial = [f"(part-of {p} {c})" for c, some in zip(cities, spots, strict=True) for p in some]
    initial += [f"(at {t} {rng.choice(some)})" for t, some in zip(trucks, spots, strict=True)]
    initial += [f"(at plane0 {rng.choice(airports)})"]
    ways = [rng.sample(every, 2) for _ in parcels]
    initial += [f"(at {g} {a})" for g, (a, _) in zip(parcels, ways, strict=True)]
    objects = {
        "city": cities, "airport": airports, "place": [p for some in places for p in some], "truck": trucks,
        "plane": ["plane0"], "parcel": parcels,
    }  # fmt: skip
    return Parts(objects, initial, [f"(at {g} {b})" for g, (_, b) in zip(parcels, ways, strict=True)])


def _graph(rng: random.Random, nodes: list[str], more: int) -> set[tuple[str, str]]:
    """Edges, both ways, of a random connected graph: a tree and some more."""
    order = rng.sample(nodes, len(nodes))
    edges = {(order[i], rng.choice(order[:i])) for i in range(1, len(order))}
    for _ in range(more):
        first, second = rng.sample(nodes, 2)
        edges.add((first, second))
    return {pair for a, b in edges for pair in ((a, b), (b, a))}


def rovers(rng: random.Random, size: int) -> Parts:
    """Two rovers, `size` goals among samples and pictures, and about as many spots."""
    spots, targets, modes = names("spot", size), names("target", 3), ["colour", "high-res"]
    both = names("rover", 2)
    edges = sorted(_graph(rng, spots, size))
    initial = [f"(lander-at lander0 {spots[0]})", *(f"(sees {a} {b})" for a, b in edges)]
    initial += [f"(sees {spots[0]} {spots[0]})"]
    for i, rover in enumerate(both):
        initial += [f"(at {rover} {rng.choice(spots)})", f"(has-camera {rover})", f"(digs-soil {rover})"]
        initial += [f"(digs-rock {rover})"] if i else []
        initial += [f"(tank-of tank{i} {rover})", f"(empty tank{i})", f"(on-board camera{i} {rover})"]
        initial += [f"(aims-at camera{i} {rng.choice(targets)})", *(f"(supports camera{i} {m})" for m in modes[i:])]
        initial += [f"(path {rover} {a} {b})" for a, b in edges]
    initial += [f"(shows {o} {s})" for o in targets for s in rng.sample(spots, 2)]
    soil, rock = rng.sample(spots, size // 3), rng.sample(spots, size // 3)
    initial += [*(f"(soil {s})" for s in soil), *(f"(rock {s})" for s in rock)]
    pictures = rng.sample([(o, modes[1]) for o in targets] + [(o, modes[0]) for o in targets], size // 3)
    goal = [*(f"(sent-soil {s})" for s in soil), *(f"(sent-rock {s})" for s in rock)]
    goal += [f"(sent-picture {o} {m})" for o, m in pictures]
    objects: dict[str, Iterable[str]] = {
        "rover": both, "spot": spots, "tank": names("tank", 2), "camera": names("camera", 2), "mode": modes,
        "lander": ["lander0"], "target": targets,
    }  # fmt: skip
    return Parts(objects, initial, goal)


def barman(rng: random.Random, size: int) -> Parts:
    """`size` drinks to serve, about half of them cocktails, with one glass more."""
    parts, cocktails = names("ingredient", 3), names("cocktail", (size + 1) // 2)
    glasses, hands, levels = names("glass", size + 1), ["left", "right"], names("level", 3)
    initial = [f"(gives dispenser{i} {part})" for i, part in enumerate(parts)]
    initial += [f"({state} {v})" for v in (*glasses, "shaker0") for state in ("stands", "clean", "empty")]
    initial += [*(f"(free {h})" for h in hands), "(level-of shaker0 level0)", "(lowest shaker0 level0)"]
    initial += ["(after level0 level1)", "(after level1 level2)"]
    for cocktail in cocktails:
        first, second = rng.sample(parts, 2)
        initial += [f"(first-part {cocktail} {first})", f"(second-part {cocktail} {second})"]
    wanted = [*cocktails, *(rng.choice(parts) for _ in range(size - len(cocktails)))]
    objects: dict[str, Iterable[str]] = {
        "hand": hands, "level": levels, "dispenser": names("dispenser", 3), "ingredient": parts,
        "cocktail": cocktails, "glass": glasses, "shaker": ["shaker0"],
    }  # fmt: skip
    return Parts(objects, initial, [f"(contains {g} {d})" for g, d in zip(glasses, wanted, strict=False)], True)


GENERATORS: dict[str, Callable[[random.Random, int], Parts]] = {
    made.__name__: made for made in (blocks, gripper, logistics, rovers, barman)
}
"""Name of a domain -> its generator."""


def problem_text(domain: str, seed: int, size: int) -> str:
    """Return a random problem of a domain as PDDL.

    Args:
        domain: a key of `GENERATORS`.
        seed: of the problem.
        size: number of the objects of which there are most; see the generators.
    """
    parts = GENERATORS[domain](random.Random(f"{domain} {seed} {size}"), size)
    objects = "\n    ".join(f"{' '.join(some)} - {kind}" for kind, some in parts.objects.items() if some)
    initial = "\n    ".join([*parts.initial, *(["(= (total-cost) 0)"] if parts.costs else [])])
    metric = "\n  (:metric minimize (total-cost))" if parts.costs else ""
    return (
        f"(define (problem {domain}-{size}-{seed})\n  (:domain {domain})\n  (:objects\n    {objects})\n"
        f"  (:init\n    {initial})\n  (:goal (and {' '.join(parts.goal)})){metric})\n"
    )


def random_problem(domain: str, seed: int, size: int) -> Any:
    """Return a random problem of a domain as a problem of unified-planning; arguments as for `problem_text`."""
    return PDDLReader().parse_problem_string((DOMAINS / f"{domain}.pddl").read_text(), problem_text(domain, seed, size))
