"""Costs of actions: from their operators, or from the durations of demonstrations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from nsrecover.core.actions import Action
from nsrecover.domains.domain import Domain
from nsrecover.errors import InvalidConfiguration, did_you_mean


def cost_of(action: Action, domain: Domain) -> float:
    """Cost of an action."""
    return domain.operators[action.operator].cost_of(action.arguments)


def counted_by_costs(domain: Domain) -> str:
    """What the costs of actions count, as a plural noun: `actions`, `seconds`, or else `units of the domain`."""
    each_one = all(operator.cost == 1.0 and not operator.prices for operator in domain.operators.values())
    return domain.cost_unit or ("actions" if each_one else "units of the domain")


def with_durations(domain: Domain, durations: Mapping[str, float]) -> Domain:
    """A domain whose operators cost what they take on average, in seconds.

    Args:
        domain: the domain.
        durations: operator -> seconds, positive; the others keep their costs.

    Raises:
        InvalidConfiguration: an operator is unknown, or a duration is not positive.
    """
    for name, seconds in durations.items():
        if name not in domain.operators or not isinstance(seconds, int | float) or not seconds > 0:
            raise InvalidConfiguration(
                f"expected durations above 0 of operators of the domain {domain.name!r}, found {seconds!r} for "
                f"{name!r}.{did_you_mean(name, domain.operators)}"
            )
    operators = {
        name: replace(operator, cost=durations.get(name, operator.cost)) for name, operator in domain.operators.items()
    }
    return replace(domain, operators=operators, cost_unit="seconds")
