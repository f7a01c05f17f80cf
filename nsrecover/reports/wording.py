"""The words of a report: explanations for readers, short forms, and how a verdict is marked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import Cause, Deviation, Verdict
from nsrecover.core.explanation import Explanation
from nsrecover.core.facts import StateFact
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.explanation import fact_explainer, templates
from nsrecover.explanation.audience import Audience, participle
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.grammar import instruction
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.reports.model import Kind
from nsrecover.util.english import capital

Found = Any
"""A `Discrepancy`, or a `Discrepancy[FactScene]` in symbolic domains."""


@dataclass(frozen=True)
class Wording:
    """How a domain is put into words.

    Attributes:
        domain: has the words of the operators.
        explain: explains a discrepancy and a recovery to readers who do not know the plan.
        in_short: what happened in a few words.
    """

    domain: Domain
    explain: Callable[[Found, Any], Explanation]
    in_short: Callable[[Found], str]

    def heading(self, action: Action) -> str:
        """An action as a heading: `Put the red cube on the blue cube`."""
        return capital(instruction(action, domain=self.domain))

    def doing(self, action: Action) -> str:
        """An action as a participle: `putting the red cube on the blue cube`."""
        return participle(action, self.domain)


def wording_of_boxes(domain: SpatialDomain = TABLETOP) -> Wording:
    """The words for scene graphs."""
    return Wording(
        domain,
        GroundedExplainer(domain, Audience.LAY),
        lambda found: templates.in_short(facts_of(found, None, domain)) or "a condition of the step did not hold",
    )


def wording_of_facts(instance: Instance) -> Wording:
    """The words for scenes of facts."""
    explain = fact_explainer.FactExplainer(instance, Audience.LAY)
    return Wording(instance.domain, explain, lambda found: fact_explainer.in_short(found, instance.domain))


def is_help(deviation: Deviation | Deviation[tuple[StateFact, ...]]) -> bool:
    """Whether a deviation helps the plan: a later step is done already."""
    return deviation.cause in (Cause.HELPED, Cause.HELPED)


def kind_of(found: Found) -> Kind:
    """How a verdict is marked."""
    if found.as_expected:
        return Kind.OK
    if found.verdict is Verdict.CANNOT_TELL:
        return Kind.DOUBT
    return Kind.HELP if found.deviations and all(map(is_help, found.deviations)) else Kind.ERROR


def kinds_of(found: Found) -> dict[str, Kind]:
    """Object -> how it is marked, for those that are not as expected."""
    return {each.name: Kind.HELP if is_help(each) else Kind.ERROR for each in found.deviations}
