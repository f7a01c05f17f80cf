"""What faults of all worlds have in common: a name, a step, the objects they act on, and plain data for JSON."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Generic, Self, TypeVar, get_args, get_origin, get_type_hints

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.errors import InvalidAction, InvalidConfiguration, did_you_mean, require_known

T = TypeVar("T")
MomentT = TypeVar("MomentT", contravariant=True)
FaultT = TypeVar("FaultT", bound="AnyFault[Any]")


def to_plain(value: Any) -> Any:
    """A parameter as numbers, strings, lists and dictionaries."""
    if isinstance(value, Action):
        return {"action": str(value), "target": None if value.target is None else list(value.target)}
    if isinstance(value, tuple):
        return [to_plain(item) for item in value]
    return value


@dataclass(frozen=True)
class AnyFault(Generic[MomentT]):
    """A fault that does nothing; each world adds hooks, which its faults override.

    Faults hold parameters, not state; their effect depends on the action and the given generator only, so that an
    episode can be saved, restored and repeated exactly. Hooks of several faults run in the order of the faults.

    Attributes:
        at_step: number of the action in the plan during or after which it strikes, from 0.
        kind: its name in configurations and files: that of its class, in small letters.
    """

    kind: ClassVar[str]

    at_step: int

    def __init_subclass__(cls, **traits: Any) -> None:
        """Set `kind`, and the class variables that are given beside the base classes: `class Push(Fault, cause=…)`."""
        declared = {name for base in cls.__mro__ for name in inspect.get_annotations(base)}
        for name, value in traits.items():
            require_known(name, declared, "a class variable of a fault")
            setattr(cls, name, value)
        cls.kind = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def sample(cls, moment: MomentT, rng: np.random.Generator) -> Self | None:
        """A fault of this kind with random parameters that fit a moment.

        Returns:
            None if the moment offers nothing for it, or all of that is `taken`.
        """
        raise NotImplementedError

    def touched(self, action: Action) -> frozenset[str]:
        """What it acts on directly, by default the first argument of the action; others may fall as a consequence.

        Args:
            action: the action of number `at_step`.
        """
        return frozenset(action.arguments[:1])

    def to_dict(self) -> dict[str, Any]:
        """Its name and parameters as plain data for JSON; `fault_from_dict` of its world reads it."""
        return {"fault": self.kind} | {item.name: to_plain(getattr(self, item.name)) for item in fields(self)}


def registry(*kinds: type[FaultT]) -> dict[str, type[FaultT]]:
    """Kinds of faults by their names."""
    return {kind.kind: kind for kind in kinds}


def fault_from_plain(faults: Mapping[str, type[T]], data: Mapping[str, Any]) -> T:
    """Read a fault from plain data, as `AnyFault.to_dict` writes it.

    Args:
        faults: every fault by its name.
        data: `{"fault": name, "at_step": number, ...}` with the parameters of that fault.

    Raises:
        InvalidConfiguration: the name is unknown, or a parameter is unknown, missing or of the wrong type.
    """
    name = data.get("fault")
    if not isinstance(name, str) or name not in faults:
        raise InvalidConfiguration(f"expected a fault, found {name!r}.{did_you_mean(str(name), faults)}")
    return from_plain(faults[name], name, {key: value for key, value in data.items() if key != "fault"})


def from_plain(kind: type[T], label: str, data: Mapping[str, Any]) -> T:
    """A frozen dataclass from plain parameters.

    Args:
        kind: the dataclass.
        label: its name in messages.
        data: parameter name -> plain value, as `to_plain` returns it.

    Raises:
        InvalidConfiguration: a parameter is unknown, missing or of the wrong type; the message names it.
    """
    hints = {name: hint for name, hint in get_type_hints(kind).items() if get_origin(hint) is not ClassVar}
    for name in data:
        require_known(name, hints, f"a parameter of the fault {label!r}")
    known = fields(kind)  # type: ignore[arg-type]
    for item in known:
        if item.name not in data and item.default is MISSING and item.default_factory is MISSING:
            raise InvalidConfiguration(
                f"expected the parameter {item.name!r} for the fault {label!r}, found {sorted(data)}; add it"
            )
    return kind(
        **{name: _typed(hints[name], value, f"{name!r} of the fault {label!r}") for name, value in data.items()}
    )


def _typed(hint: Any, value: Any, where: str) -> Any:
    if get_origin(hint) is tuple and isinstance(value, list | tuple):
        items = get_args(hint)
        if len(items) == 2 and items[1] is Ellipsis:
            return tuple(_typed(items[0], item, where) for item in value)
        if len(items) == len(value):
            return tuple(_typed(item, part, where) for item, part in zip(items, value, strict=True))
    if hint is Action:
        return action_from(value, where)
    if hint is float and isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if hint in (str, int, bool) and type(value) is hint:
        return value
    expected = hint.__name__ if isinstance(hint, type) and not get_args(hint) else str(hint)
    raise InvalidConfiguration(f"expected {where} as {expected}, found {value!r}; correct it")


def action_from(value: Any, where: str) -> Action:
    """The inverse of `to_plain` for an action; `where` is its name in messages."""
    if not isinstance(value, Mapping) or not isinstance(value.get("action"), str) or set(value) - {"action", "target"}:
        raise InvalidConfiguration(
            f"expected {where} as {{'action': text, 'target': box or null}}, found {value!r}; correct it"
        )
    target = value.get("target")
    try:
        action = Action.parse(value["action"])
        box = None if target is None else tuple(float(number) for number in target)
    except (InvalidAction, TypeError, ValueError) as error:
        raise InvalidConfiguration(f"expected an action in {where}, found {value!r}: {error}") from error
    if box is not None and len(box) != 6:
        raise InvalidConfiguration(f"expected a target box of 6 numbers in {where}, found {len(box)}; correct it")
    return Action(action.operator, action.arguments, box)
