"""Operators with a learned effect: from demonstrations, and in the folder of a checkpoint."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np

from nsrecover.core.actions import Action
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.base import Not, Parameter, Same, Words
from nsrecover.domains.tabletop.operators import CLEAR, REACHED_M
from nsrecover.domains.tabletop.spatial import SpatialDomain, SpatialOperator
from nsrecover.errors import InvalidCheckpoint, InvalidConfiguration
from nsrecover.models.effects.context import Shown
from nsrecover.models.effects.effect import LearnedEffect, fit
from nsrecover.models.effects.law import Cases, PlacementLaw, Term, TurnRule
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.untrusted_json import JsonMapping, read_json

FOLDER, FORMAT = "operators", "nsrecover operator"
"""Folder inside a checkpoint, and value of the field `format` of its files."""
ARGUMENTS = ("?moved", "?reference", "?third")


@dataclass(frozen=True)
class Kept:
    """The promise of an operator with a learned effect: the object is where the effect leads."""

    effect: LearnedEffect

    def __call__(self, before: SceneGraph, after: SceneGraph, action: Action) -> bool:
        """Whether it holds, from the scene before the action and the scene after it."""
        there = after.boxes[after.index(action.arguments[0]), :3]
        away = float(np.linalg.norm(there - np.asarray(self.effect(before, action)[:3])))
        return away <= max(REACHED_M, self.effect.spread_m)


def operator_with(name: str, effect: LearnedEffect) -> SpatialOperator:
    """The operator of a name and a learned effect.

    Raises:
        InvalidConfiguration: the name cannot be written in a plan, or there are more than three arguments.
    """
    if not re.fullmatch(r"\w+", name):
        raise InvalidConfiguration(f"expected a name of letters, digits and _ for an operator, found {name!r}")
    if effect.arity > len(ARGUMENTS):
        raise InvalidConfiguration(f"expected one to three arguments for {name!r}, found {effect.arity}")
    variables = ARGUMENTS[: effect.arity]
    blanks = ", ".join(f"{{{variable[1:]}}}" for variable in variables)
    words = name.replace("_", " ")
    return SpatialOperator(
        name,
        tuple(Parameter(variable, "movable") for variable in variables),
        preconditions=(*(Not(Same("?moved", other)) for other in variables[1:]), CLEAR),
        words=Words(f"{words} {blanks}", unkept=f"{words} has not put {{moved}} in its place"),
        promise=Kept(effect),
        place=effect,
        relative=effect.relative,
    )


def learn(name: str, shown: Sequence[Shown]) -> SpatialOperator:
    """Learn an operator from demonstrations; see `nsrecover.models.effects.effect.fit` for errors."""
    return operator_with(name, fit(shown))


def with_operators(domain: SpatialDomain, operators: Iterable[SpatialOperator]) -> SpatialDomain:
    """A domain with further operators at the end.

    Raises:
        InvalidConfiguration: a name is taken by an operator that was not learned.
    """
    known = dict(domain.operators)
    for operator in operators:
        if operator.name in known and not isinstance(known[operator.name].place, LearnedEffect):
            raise InvalidConfiguration(
                f"expected a name that is not taken, found {operator.name!r}; known: {', '.join(known)}"
            )
        known[operator.name] = operator
    return replace(domain, operators=known)


def save_operators(domain: SpatialDomain, folder: str | Path) -> None:
    """Write the learned operators of a domain into the folder of a checkpoint."""
    for name, operator in domain.operators.items():
        if isinstance(operator.place, LearnedEffect):
            document = {"format": FORMAT, "schema": 1, "name": name, "effect": asdict(operator.place)}
            atomic_write_bytes(Path(folder) / FOLDER / f"{name}.json", json.dumps(document, indent=1).encode() + b"\n")


def operators_in(folder: str | Path) -> list[SpatialOperator]:
    """The learned operators in the folder of a checkpoint; none if it has no such files.

    Raises:
        InvalidCheckpoint: one of them is damaged.
    """
    return [_read(path) for path in sorted((Path(folder) / FOLDER).glob("*.json"))]


def _read(path: Path) -> SpatialOperator:
    try:
        document = cast(JsonMapping, read_json(path))
        if document["format"] != FORMAT or document["schema"] != 1:
            raise ValueError(f"format {document['format']!r}, schema {document['schema']!r}")
        return operator_with(str(document["name"]), _effect(cast(JsonMapping, document["effect"])))
    except (OSError, KeyError, TypeError, ValueError, InvalidConfiguration) as problem:
        raise InvalidCheckpoint(
            f"expected a learned operator in {path}, found: {problem}; learn it again with `nsrecover learn`"
        ) from problem


def _effect(data: JsonMapping) -> LearnedEffect:
    turn = cast(JsonMapping, data["turn"])
    errors, sides = cast("list[float]", data["errors_m"]), cast("list[tuple[float, float]]", data["sides_m"])
    return LearnedEffect(
        arity=int(cast(int, data["arity"])),
        kinds=tuple(map(str, cast("list[str]", data["kinds"]))),
        law=_law(cast(JsonMapping, data["law"])),
        height=_term(cast(JsonMapping, data["height"])),
        turn=TurnRule(str(turn["frame"]), int(cast(int, turn["axis"]))),
        sides={str(name): int(way) % 4 for name, way in cast("dict[str, int]", data["sides"]).items()},
        errors_m=tuple(map(float, errors)),
        sides_m=tuple((float(low), float(high)) for low, high in sides),
    )


def _law(data: JsonMapping) -> PlacementLaw | Cases:
    if "frame" in data:
        first, second = (_term(cast(JsonMapping, data[part])) for part in ("first", "second"))
        return PlacementLaw(str(data["frame"]), first, second)
    below, above = (_law(cast(JsonMapping, data[part])) for part in ("below", "above"))
    return Cases(str(data["condition"]), float(cast(float, data["level"])), below, above)


def _term(data: JsonMapping) -> Term:
    features = tuple(map(str, cast("list[str]", data["features"])))
    coefficients = tuple(map(float, cast("list[float]", data["coefficients"])))
    if len(coefficients) != len(features) + 1 or not np.isfinite(coefficients).all():
        raise ValueError(f"expected {len(features) + 1} finite coefficients, found {coefficients}")
    return Term(str(data["anchor"]), features, coefficients)
