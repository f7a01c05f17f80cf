"""From a discrepancy and a recovery to plain language, every sentence tied to the facts it rests on.

`facts` states what is known, `realise` words it, `verify` reads the words back; `GroundedExplainer` does all three.
"""

from nsrecover.explain.facts import facts_of
from nsrecover.explain.grounded import GroundedExplainer
from nsrecover.explain.realise import realise
from nsrecover.explain.verify import claims, disagreements
from nsrecover.explain.voice import Register

__all__ = ["GroundedExplainer", "Register", "claims", "disagreements", "facts_of", "realise"]
