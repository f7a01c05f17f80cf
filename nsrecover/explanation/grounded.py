"""The explainer that needs no language model: facts, their wording, and the check of the one against the other."""

from __future__ import annotations

from dataclasses import dataclass

from nsrecover.core.deprecation import with_old_names
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.templates import realise
from nsrecover.explanation.verify import disagreements


@with_old_names
@dataclass(frozen=True)
class GroundedExplainer:
    """Explains a discrepancy from computed facts alone; a `nsrecover.core.protocols.Explainer`.

    Attributes:
        domain: what the actions mean.
        audience: whom the text is for.
    """

    domain: SpatialDomain = TABLETOP
    audience: Audience = Audience.ENGINEER

    def __call__(self, discrepancy: Discrepancy, recovery: Recovery | None) -> Explanation:
        """Say what went wrong, what follows, and what will be done.

        Args:
            discrepancy: what is not as expected.
            recovery: what will be done about it; None if nothing was searched for.

        Returns:
            The explanation; `verified` if reading it back gives exactly the culprits and causes of the discrepancy.
        """
        facts = facts_of(discrepancy, recovery, self.domain)
        sentences = realise(facts, self.audience, self.domain)
        text = " ".join(sentence.text for sentence in sentences)
        names = tuple(dict.fromkeys((*discrepancy.expected.names, *discrepancy.observed.names)))
        return Explanation(
            sentences=sentences,
            step=discrepancy.step + 1,
            source="grounded",
            verified=not disagreements(text, facts, names),
        )
