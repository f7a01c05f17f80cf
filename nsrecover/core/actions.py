"""Actions over named objects, and plans of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from nsrecover.core.scene import Box
from nsrecover.errors import InvalidAction, InvalidPlan

_ACTION = re.compile(r"^\s*([\w-]+)\s*\(([^()]*)\)\s*$")


@dataclass(frozen=True)
class Action:
    """One step of a plan: an operator and the objects it is applied to. One object moves per action.

    Attributes:
        operator: name of an operator, see `nsrecover.domains.tabletop.operators`.
        arguments: object names; the operator defines which of them moves.
        target: where the moved object shall end, for operators that do not imply it (`free`, `restore`).
    """

    operator: str
    arguments: tuple[str, ...]
    target: Box | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f"{self.operator}({', '.join(self.arguments)})"

    @classmethod
    def parse(cls, text: str) -> Action:
        """Read `top(red cube, blue cube)`.

        Raises:
            InvalidAction: the text is not an operator with arguments in brackets.
        """
        match = _ACTION.match(text) if isinstance(text, str) else None
        if match is None:
            raise InvalidAction(f"expected an action like 'top(red cube, blue cube)', found {text!r}")
        return cls(match[1], tuple(part.strip() for part in match[2].split(",") if part.strip()))


@dataclass(frozen=True)
class Plan:
    """A sequence of T actions."""

    actions: tuple[Action, ...]

    @classmethod
    def parse(cls, lines: Sequence[str] | str) -> Plan:
        """Read a plan from lines (or one string with `;` or newlines between the actions).

        Raises:
            InvalidAction: a line is not an action.
            InvalidPlan: there is no action at all.
        """
        if not isinstance(lines, str | Sequence):
            raise InvalidPlan(f"expected a plan as text or as a list of texts, found {type(lines).__name__}")
        if isinstance(lines, str):
            lines = [part for part in re.split(r"[;\n]", lines) if part.strip()]
        if not lines:
            raise InvalidPlan("expected at least one action, found an empty plan")
        return cls(tuple(Action.parse(line) for line in lines))

    def __len__(self) -> int:
        return len(self.actions)

    def __iter__(self) -> Iterator[Action]:
        return iter(self.actions)

    def __getitem__(self, index: int) -> Action:
        return self.actions[index]

    def __str__(self) -> str:
        return "; ".join(str(action) for action in self.actions)
