"""From a discrepancy and a recovery to plain language, every sentence tied to the facts it rests on.

`facts` states what is known, `realise` words it, `verify` reads the words back; `GroundedExplainer` does all three.
"""

from nsrecover.core.deprecation import serve_old_names
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.facts import facts_of, violated_texts
from nsrecover.explanation.grounded import GroundedExplainer
from nsrecover.explanation.templates import realise
from nsrecover.explanation.verify import claims, disagreements

__all__ = ["Audience", "GroundedExplainer", "claims", "disagreements", "facts_of", "realise", "violated_texts"]

serve_old_names(__name__)
