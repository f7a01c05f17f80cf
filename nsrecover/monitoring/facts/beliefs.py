"""The belief about a scene of facts: what is seen now, and what is remembered with decreasing certainty."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace

from nsrecover.core.facts import PLACE, FactScene, Property, StateFact
from nsrecover.domains.base import State
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.domains.properties import by_property, drifts, with_properties_of

DECAY = 0.98
"""Factor of the certainty of what is not seen, for every action: unknown after 25 actions."""

UNCONFIRMED = 0.5
"""Maximum certainty of unobserved effects of actions; below `SURE`."""

_NONE: State = frozenset()


def fused(looks: Sequence[FactScene], domain: Domain, jointly: bool = False) -> FactScene:
    """What several observations of one scene say together: of each property the value with most certainty behind it.

    Its certainty is its share of all observations that show the property, times that of the best of them; what only one
    of several shows is not confirmed. That a thing is not where it should be counts less than its being seen.

    Args:
        looks: the observations in their order.
        domain: of the facts.
        jointly: whether each of them says of states what it and those before it show together.
    """
    if len(looks) == 1:
        return looks[0]
    groups = [by_property(look.facts, domain) for look in looks]
    props = {prop for group in groups for prop in group} | {prop for look in looks for prop in look.certainty}
    facts, certainty = set[StateFact](), dict[Property, float]()
    for prop in props:
        votes, best = defaultdict[State, float](float), 0.0
        shown = [pair for pair in zip(looks, groups, strict=True) if pair[0].certainty.get(prop, 1.0) > 0]
        together = jointly and prop[0] != PLACE
        for look, group in shown[-1:] if together else shown:
            sure = look.certainty.get(prop, 1.0)
            votes[group.get(prop, _NONE)] += sure
            best = max(best, sure)
        if prop[0] == PLACE and any(weight for value, weight in votes.items() if value):
            votes.pop(_NONE, None)
        # of equally good values the later observation's
        value = max(reversed(list(votes)), key=votes.__getitem__, default=_NONE)
        facts |= value
        total = sum(votes.values())
        sure = best * votes[value] / total if total else 0.0
        if (len(shown) if together else sum(look.knows(prop) for look in looks)) == 1:
            sure = min(sure, UNCONFIRMED)
        if sure < 1.0:
            certainty[prop] = sure
    return FactScene(frozenset(facts), certainty)


def updated(
    expected: FactScene, seen: FactScene, domain: Domain, acted_on: Collection[Property] = (), decay: float = DECAY
) -> FactScene:
    """The belief after an observation.

    What is seen is as it is seen. What is not keeps its expected value, less certain with every action; what the last
    action was to change, and is not seen, counts as unknown, but for what drifts; what was unknown stays unknown.

    Args:
        expected: the belief before, with the imagined effects of the last action.
        seen: the observation.
        domain: of the facts.
        acted_on: the properties that the last action should have changed.
        decay: factor of the certainty of what is not seen; 1 if nothing was done since.
    """
    before, now = by_property(expected.facts, domain), by_property(seen.facts, domain)
    facts, certainty = set[StateFact](), dict[Property, float]()
    for prop in before.keys() | now.keys() | expected.certainty.keys() | seen.certainty.keys():
        sure = seen.certainty.get(prop, 1.0)
        if seen.knows(prop):
            facts |= now.get(prop, _NONE)
        else:
            facts |= before.get(prop, _NONE)
            sure = expected.certainty.get(prop, 1.0) * decay
            if prop in acted_on and not drifts(prop, domain):
                sure = min(sure, UNCONFIRMED)
        if sure < 1.0:
            certainty[prop] = sure
    return FactScene(frozenset(facts), certainty)


def by_laws(instance: Instance, before: State, observed: FactScene, unseen: Collection[Property]) -> FactScene:
    """The belief after an action that failed: what drifts and is not seen follows from the laws.

    Nothing gets hot in a microwave that did not start.

    Args:
        instance: has the laws.
        before: the facts before the action.
        observed: the belief after it, as if it had worked as far as that is not seen.
        unseen: what the action should have changed and that is not seen.
    """
    domain = instance.domain
    drifted = [prop for prop in unseen if drifts(prop, domain)]
    basis = with_properties_of(observed.facts, before, drifted, domain)
    return replace(observed, facts=with_properties_of(observed.facts, instance.settle(basis), drifted, domain))
