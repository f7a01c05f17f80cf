"""Whom a text is for: how steps, actions and turns of phrase are worded for an engineer and for a lay person."""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from nsrecover.core.actions import Action
from nsrecover.core.deprecation import serve_old_names, with_old_names
from nsrecover.domains.base import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.grammar import instruction, ordinal, steps


class Audience(StrEnum):
    """Whom a text is for."""

    LAY = "lay"
    ENGINEER = "engineer"


@with_old_names
@dataclass(frozen=True)
class Voice:
    """One way to talk.

    Attributes:
        audience: whom to.
        seed: decides between turns of phrase that mean the same; equal seeds give equal texts.
        domain: the words of actions.
    """

    audience: Audience = Audience.ENGINEER
    seed: str = ""
    domain: Domain = TABLETOP

    @property
    def lay(self) -> bool:
        """Whether it is for somebody who has not written the plan."""
        return self.audience is Audience.LAY

    def one_of(self, *options: str) -> str:
        """A turn of phrase: always the first for engineers, who compare texts."""
        if not self.lay:
            return options[0]
        return options[zlib.crc32(f"{self.seed} {options[0]}".encode()) % len(options)]

    def step(self, number: int | str) -> str:
        """`step 4`, `the fourth step`."""
        return f"the {ordinal(int(number))} step" if self.lay else f"step {number}"

    def steps(self, first: int, last: int) -> str:
        """`steps 5 to 8`, `the fifth to the eighth step`."""
        if not self.lay or first >= last:
            return self.step(last) if self.lay else steps(first, last)
        between = "and" if last == first + 1 else "to"
        return f"the {ordinal(first)} {between} the {ordinal(last)} step"

    def told(self, number: str, action: str) -> str:
        """A step with what it was to do: `step 4, top(a, b),`, `the fourth step, putting the a on the b,`."""
        return f"{self.step(number)}, {doing(Action.parse(action), self.domain) if self.lay else action},"

    def offset(self, words: str) -> str:
        """A distance: lay people are told about how much it is."""
        return f"about {words}" if self.lay and words[:1].isdigit() else words


def doing(action: Action, domain: Domain = TABLETOP) -> str:
    """An action as a participle: `putting the red cube on the blue cube`."""
    verb, _, rest = instruction(action, domain=domain).partition(" ")
    forms = {"put": "putting", "set": "setting", "cut": "cutting", "tip": "tipping"}
    participle = forms.get(verb, f"{verb.removesuffix('e')}ing")
    return f"{participle} {rest}"


def seed_of(parts: Sequence[object]) -> str:
    """A seed from what is told: the same facts always get the same words."""
    return ";".join(map(str, parts))


serve_old_names(__name__)
