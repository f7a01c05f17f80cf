"""Explanations in the words of a language model, which is never believed.

    from nsrecover.explanation.language_model.explainer import LanguageExplainer, model_at
    with model_at("http://127.0.0.1:8080/v1") as model:          # or "local"
        system = replace(nsrecover.load(), explainer=LanguageExplainer(model))

Cause and recovery are computed; the model only words them. Every sentence of it is checked against the facts, and what
does not pass is told in the grounded words. docs/language.md says how, and what that was measured to do.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from nsrecover.core.completion import Listener
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.explanation import Explanation
from nsrecover.core.protocols import LanguageModel
from nsrecover.core.recovery import Recovery
from nsrecover.explanation.facts import facts_of
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.language_model.embedded import EmbeddedModel
from nsrecover.explanation.language_model.endpoint import Endpoint
from nsrecover.explanation.language_model.prompting import PromptStrategy, StructuredPrompt
from nsrecover.explanation.language_model.rewording import Reworded, reword
from nsrecover.explanation.language_model.rewording_task import task_of

LOCAL = "local"


@contextmanager
def model_at(address: str, model: str = "") -> Iterator[LanguageModel]:
    """A language model by its address.

    Args:
        address: of an OpenAI-compatible endpoint, or `local` for one that is served by this process while it is used.
        model: name of the model at the endpoint; the first that it lists, if empty.

    Raises:
        InvalidConfiguration: it is no address, or what a local model needs is missing.
    """
    if address == LOCAL:
        with EmbeddedModel() as embedded:
            yield embedded
    else:
        yield Endpoint(address, model)


@dataclass(frozen=True)
class LanguageExplainer:
    """Explains a discrepancy in the words of a language model as far as they are so; a `Explainer`.

    Attributes:
        model: who words it.
        strategy: how it is asked.
        fallback: who says what the model does not say, or says wrongly.
        timeout_s: for all questions to the model about one discrepancy.
        on_text: gets the model's answers piece by piece, before anything is checked.
    """

    model: LanguageModel
    strategy: PromptStrategy = field(default_factory=StructuredPrompt)
    fallback: GroundedExplainer = field(default_factory=GroundedExplainer)
    timeout_s: float = 20.0
    on_text: Listener | None = None

    def __call__(self, discrepancy: Discrepancy, recovery: Recovery | None) -> Explanation:
        """Say what went wrong, what follows, and what will be done; whatever becomes of the model.

        Args:
            discrepancy: what is not as expected.
            recovery: what will be done about it; None if nothing was searched for.

        Returns:
            The explanation. Its `source` is the model's name if a sentence is, every sentence says whose it is, and
            `note` why some are not.
        """
        return self._explained(discrepancy, recovery)[0]

    def worded(self, discrepancy: Discrepancy, recovery: Recovery | None) -> tuple[Explanation, Reworded]:
        """The same, with the model's answers, their tokens and what was refused."""
        return self._explained(discrepancy, recovery)

    def _explained(self, discrepancy: Discrepancy, recovery: Recovery | None) -> tuple[Explanation, Reworded]:
        grounded = self.fallback(discrepancy, recovery)
        case = task_of(discrepancy, facts_of(discrepancy, recovery, self.fallback.operators), grounded.sentences)
        result = reword(case, self.model, self.strategy, self.timeout_s, self.on_text)
        source = self.model.name if result.used else grounded.source
        # What the model said was judged sentence by sentence; the rest is as good as the grounded text.
        return Explanation(result.sentences, grounded.step, source, grounded.verified, result.note), result
