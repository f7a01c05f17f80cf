"""Explanations of a discrepancy and its recovery in plain language; every sentence refers to its facts.

`facts` computes the facts, `templates` verbalizes them, `verify` parses the text and compares it with the facts;
`GroundedExplainer` combines the three.
"""

from nsrecover.explanation.audience import Audience
from nsrecover.explanation.facts import facts_of, violated_texts
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.reasons import reason_text
from nsrecover.explanation.templates import verbalize
from nsrecover.explanation.verify import claims, disagreements

__all__ = [
    "Audience",
    "GroundedExplainer",
    "claims",
    "disagreements",
    "facts_of",
    "reason_text",
    "verbalize",
    "violated_texts",
]
