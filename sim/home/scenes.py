"""Drawn homes: maps that differ in rooms and furniture, true places of objects by the map's priors, and people."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.home_file import load_home
from nsrecover.domains.service.kinds import OPERATOR, POSES
from sim.home.world import Failures, FastHome, Someone

KNOWS, FALSE = 0.6, 0.1
"""Probability that a person knows where an object is, and that what the person then says is false."""


def drawn_home(seed: int, keep: Sequence[str] = ()) -> Home:
    """A variation of the shipped home: some furniture is missing or elsewhere in its room, other priors.

    Args:
        seed: of the variation; 0 is the shipped home.
        keep: furniture that stays.
    """
    home = load_home("apartment")
    if seed == 0:
        return home
    rng = np.random.default_rng([seed, 1])
    # every room keeps a piece of furniture
    firsts = {next(name for name in home.furniture if home.inside(name, room)) for room in home.rooms}
    needed = {*keep, *firsts, home.robot, home.operator_at, "kitchen table"}
    places = {}
    for name, place in home.places.items():
        if place.is_room or place.leads_to or name in needed or rng.random() < 0.8:
            x, y = place.at
            places[name] = replace(place, at=(x + float(rng.normal(0, 0.4)), y + float(rng.normal(0, 0.4))))
    likely = {
        kind: {place: weight * float(rng.gamma(2.0, 0.5)) for place, weight in spots.items() if place in places}
        for kind, spots in home.likely.items()
    }
    people = {name: each for name, each in home.people.items() if not each.place or each.place in places}
    return replace(home, name=f"{home.name} {seed}", places=places, likely=likely, people=people)


def drawn_world(
    home: Home,
    seed: int,
    failures: Failures | None = None,
    nouns: Sequence[str] | None = None,
    fixed: dict[str, str] | None = None,
    false: float = FALSE,
) -> FastHome:
    """A fast home with objects at places drawn from the map's priors.

    Args:
        home: the map.
        seed: of the draw and of the failures.
        failures: how often skills fail.
        nouns: objects that exist; a third of all nouns and the known objects if None.
        fixed: object -> place, of objects that are not drawn.
        false: probability that what a person says about a place is false.
    """
    rng = np.random.default_rng([seed, 2])
    if nouns is None:
        nouns = [noun for noun in home.nouns if noun not in home.categories and rng.random() < 0.33]
    objects = dict(fixed or {})
    for name in dict.fromkeys((*nouns, *home.items)):
        if name not in objects:
            prior = home.prior(name)
            objects[name] = str(rng.choice(list(prior), p=list(prior.values())))
    people = {}
    for name, resident in home.people.items():
        knows = {}
        for each, place in objects.items():
            if rng.random() < KNOWS:
                knows[each] = str(rng.choice(home.furniture)) if rng.random() < false else place
        at = resident.place if resident.place and rng.random() < 0.7 else str(rng.choice(home.rooms))
        if name == OPERATOR:
            at, knows = home.operator_at, {}
        people[name] = Someone(at, str(rng.choice(POSES)), knows)
    return FastHome(home, objects, people, failures, seed)


def make_world(home: Home) -> FastHome:
    """The world of `nsrecover tell`: everything that the home has words for is somewhere; skills fail now and then."""
    nouns = [noun for noun in home.nouns if noun not in home.categories]
    return drawn_world(home, 0, Failures(0.05, 0.1, 0.05, 0.05, 0.0), nouns)
