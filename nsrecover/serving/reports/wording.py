"""The words of a report: explanations for readers, short forms, and how a verdict is marked."""

from dataclasses import dataclass

from nsrecover.core.actions import Action
from nsrecover.core.discrepancy import AnyDeviation, Cause, Discrepancy, Verdict
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.audience import Audience, participle
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.phrases import instruction
from nsrecover.explanation.templates import in_short
from nsrecover.serving.reports.model import MarkedAs
from nsrecover.util.english import capital

Found = Discrepancy[object]
"""A discrepancy of either kind of scene."""


@dataclass(frozen=True)
class Wording:
    """How a domain is put into words for readers who do not know the plan.

    Attributes:
        domain: has the words of the operators and facts.
    """

    domain: Domain = TABLETOP

    def explain(self, found: Found, recovery: Recovery | None) -> Explanation:
        """Return the explanation of a discrepancy and its recovery."""
        return GroundedExplainer(self.domain, Audience.LAY)(found, recovery)

    def in_short(self, found: Found) -> str:
        """Return what happened in a few words."""
        return in_short(facts_of(found, None, self.domain), self.domain)

    def heading(self, action: Action) -> str:
        """Return an action as a heading: `Put the red cube on the blue cube`."""
        return capital(instruction(action, domain=self.domain))

    def doing(self, action: Action) -> str:
        """Return an action as a participle: `putting the red cube on the blue cube`."""
        return participle(action, self.domain)


def is_help(deviation: AnyDeviation) -> bool:
    """Whether a deviation helps the plan: a later step is done already."""
    return deviation.cause is Cause.HELPED


def kind_of(found: Found) -> MarkedAs:
    """How a verdict is marked."""
    if found.as_expected:
        return MarkedAs.OK
    if found.verdict is Verdict.CANNOT_TELL:
        return MarkedAs.DOUBT
    return MarkedAs.HELP if found.deviations and all(map(is_help, found.deviations)) else MarkedAs.ERROR


def kinds_of(found: Found) -> dict[str, MarkedAs]:
    """Object -> how it is marked, for those that are not as expected."""
    return {each.name: MarkedAs.HELP if is_help(each) else MarkedAs.ERROR for each in found.deviations}
