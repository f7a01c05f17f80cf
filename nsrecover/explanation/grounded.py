"""The explainer without a language model: facts, sentences from templates, and their verification."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.templates import verbalize
from nsrecover.explanation.verify import disagreements
from nsrecover.monitoring.scene_model import SceneModel
from nsrecover.util.python310 import Self


@dataclass(frozen=True)
class GroundedExplainer:
    """Explains a discrepancy by templates from computed facts; a `nsrecover.core.protocols.Explainer`.

    Attributes:
        domain: the domain of the actions and facts.
        audience: readers of the text.
    """

    domain: Domain = TABLETOP
    audience: Audience = Audience.ENGINEER

    def with_model(self, model: SceneModel[Any]) -> Self:
        """The same explainer with the words of another model."""
        return replace(self, domain=model.domain)

    def __call__(self, discrepancy: Discrepancy[object], recovery: Recovery | None) -> Explanation:
        """Explain what went wrong, its consequences and the recovery.

        Args:
            discrepancy: the deviation from the expected scene.
            recovery: the planned recovery; None if none was searched for.

        Returns:
            The explanation; `verified` if parsing it gives exactly the culprits and causes of the discrepancy.
        """
        facts = facts_of(discrepancy, recovery, self.domain)
        sentences = verbalize(facts, self.audience, self.domain)
        text = " ".join(sentence.text for sentence in sentences)
        scenes = (discrepancy.expected, discrepancy.observed)
        names = (*(name for scene in scenes for name in getattr(scene, "names", ())), *discrepancy.deviating)
        return Explanation(
            sentences=sentences,
            step=discrepancy.step + 1,
            source="grounded",
            verified=not disagreements(text, facts, tuple(dict.fromkeys(names))),
        )
