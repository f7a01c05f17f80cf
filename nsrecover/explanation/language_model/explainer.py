"""Explanations reworded by a language model and verified sentence by sentence.

    from nsrecover.explanation.language_model.explainer import LanguageExplainer
    model = Endpoint("http://127.0.0.1:8080/v1")
    system = replace(nsrecover.load(), explainer=LanguageExplainer(model))

Cause and recovery are computed; the model only rewords them. Every sentence is checked against the facts, and sentences
that fail are replaced by those of the templates. docs/explanations.md describes the method and its measurements.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.prompts import Listener
from nsrecover.core.protocols import LanguageModel
from nsrecover.core.recovery import Recovery
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.language_model.prompting import StructuredPrompt
from nsrecover.explanation.language_model.rewording import Reworded, reword
from nsrecover.explanation.language_model.rewording_task import task_of


@dataclass(frozen=True)
class LanguageExplainer:
    """Explains a discrepancy in the verified words of a language model; a `nsrecover.core.protocols.Explainer`.

    Attributes:
        model: the language model.
        strategy: how to prompt it.
        fallback: provides the sentences that the model leaves out or gets wrong.
        timeout_s: time limit for all requests about one discrepancy, seconds.
        on_text: receives the answers of the model piece by piece, unverified.
    """

    model: LanguageModel
    strategy: StructuredPrompt = field(default_factory=StructuredPrompt)
    fallback: GroundedExplainer = field(default_factory=GroundedExplainer)
    timeout_s: float = 20.0
    on_text: Listener | None = None

    def __call__(self, discrepancy: Discrepancy, recovery: Recovery | None) -> Explanation:
        """Explain what went wrong, its consequences and the recovery; failures of the model raise nothing.

        Args:
            discrepancy: the deviation from the expected scene.
            recovery: the planned recovery; None if none was searched for.

        Returns:
            The explanation. Its `source` is the name of the model if at least one sentence comes from the model, every
            sentence has a source of its own, and `note` says why some do not come from the model.
        """
        return self.worded(discrepancy, recovery)[0]

    def worded(self, discrepancy: Discrepancy, recovery: Recovery | None) -> tuple[Explanation, Reworded]:
        """Return the explanation together with the model's answers, their tokens and the refused sentences."""
        grounded = self.fallback(discrepancy, recovery)
        if discrepancy.missing_to_tell:  # what was not seen is not reworded
            return grounded, Reworded(grounded.sentences, "it says what could not be seen", (), 0, ())
        domain = self.fallback.domain
        task = task_of(discrepancy, facts_of(discrepancy, recovery, domain), grounded.sentences)
        result = reword(task, self.model, self.strategy, self.timeout_s, self.on_text)
        source = self.model.name if result.used else grounded.source
        # The sentences of the model were judged one by one; the others are as reliable as the grounded text.
        return Explanation(result.sentences, grounded.step, source, grounded.verified, result.note), result
