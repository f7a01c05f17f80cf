"""The effect of an operator, learned from demonstrations: fit, predict, and how uncertain it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.geometry import as_box
from nsrecover.core.scene import Box, SceneGraph
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.effects.context import Array, Context, Shown, kind_of, usual_sides
from nsrecover.models.effects.law import Cases, LawFitter, PlacementLaw, Term, TurnRule, frames_of, places_of, turn_rule
from nsrecover.models.effects.sparse import select

FEWEST_SHOWN = 10
STRUCTURE = 250
"""At most so many demonstrations decide on the form of a law; all of them decide on its numbers."""
PARTS = 4
NO_LAW_M = 0.01
"""No law fits if one of ten demonstrations is farther off than this, although all were learned from."""
SLIGHT = 0.1
"""A place that depends on where the object was by a smaller factor does not count as relative to that."""


@dataclass(frozen=True)
class LearnedEffect:
    """Where an operator puts its first argument.

    Attributes:
        arity: number of arguments.
        kinds: kinds that the laws tell apart.
        law: of the place on the table.
        height: of the centre, relative to the anchor.
        turn: whether the object is turned by a quarter.
        errors_m: errors of demonstrations that were held out, ascending, metres; if no law fits, of all of them.
        sides: direction in which objects usually go, by kind, see `Context`.
        sides_m: (arity, 2) shortest and longest side of each argument in the demonstrations.
    """

    arity: int
    kinds: tuple[str, ...]
    law: PlacementLaw | Cases
    height: Term
    turn: TurnRule
    sides: Mapping[str, int] = field(default_factory=dict)
    errors_m: tuple[float, ...] = ()
    sides_m: tuple[tuple[float, float], ...] = ()

    def boxes(self, scenes: Sequence[tuple[SceneGraph, tuple[str, ...]]]) -> Array:
        """(N, 6) boxes of the moved objects after actions with some arguments in some scenes."""
        context = Context(scenes, self.kinds, self.sides)
        turned = self.turn.turned(context)
        views = {frame: context.view(frame, turned) for frame in frames_of(self.law)}
        found = context.boxes[:, 0].copy()
        found[turned, 3:5] = found[turned, 4:2:-1]
        found[:, :2] = places_of(self.law, context, views)
        anchors, names, features = _heights(context)
        columns = [names.index(name) for name in self.height.features]
        found[:, 2] = anchors[self.height.anchor] + self.height.coefficients[0]
        found[:, 2] += features[:, columns] @ np.array(self.height.coefficients[1:])
        return found

    def __call__(self, graph: SceneGraph, action: Action) -> Box:
        """The moved object's box after an action."""
        return as_box(self.boxes([(graph, action.arguments)])[0])

    @property
    def relative(self) -> bool:
        """Whether the place depends on where the moved object is before."""
        laws, terms, frames = [self.law], list[Term](), set[str]()
        while laws:
            law = laws.pop()
            if isinstance(law, PlacementLaw):
                terms += [law.first, law.second]
                frames.add(law.frame.partition(" ")[0])
            else:
                laws += [law.below, law.above]
        own = any(term.anchor == "object 0" for term in terms)
        weights = [pair for term in terms for pair in zip(term.features, term.coefficients[1:], strict=True)]
        own = own or any(name.startswith(("way 0", "place 0")) and abs(weight) > SLIGHT for name, weight in weights)
        return own or "start" in frames or (self.arity == 1 and bool(frames - {"table"}))

    @property
    def spread_m(self) -> float:
        """Nine of ten held-out demonstrations were imagined this exactly, metres."""
        return float(np.quantile(self.errors_m, 0.9)) if self.errors_m else float("inf")


def _heights(context: Context) -> tuple[dict[str, Array], tuple[str, ...], Array]:
    """Anchors of heights (N,), and names and values (N, P) of what they depend on."""
    half = context.boxes[:, :, 5] / 2
    centres = context.boxes[:, :, 2]
    anchors = {"table": np.zeros(len(context))} | {
        f"bottom {i}": centres[:, i] - half[:, i] for i in range(context.arity)
    }
    names = tuple(f"height {i}" for i in range(context.arity))
    return anchors, names, half


def fit(shown: Sequence[Shown], cases: bool = True) -> LearnedEffect:
    """Learn an effect.

    Args:
        shown: the demonstrations, all with the same number of arguments.
        cases: whether one law may have several cases.

    Raises:
        InvalidConfiguration: there are too few, or their numbers of arguments differ.
    """
    arities = sorted({len(each.arguments) for each in shown})
    if len(shown) < FEWEST_SHOWN or len(arities) != 1:
        raise InvalidConfiguration(
            f"expected at least {FEWEST_SHOWN} demonstrations with the same number of arguments, found {len(shown)} "
            f"with {' and '.join(map(str, arities)) or 'no'} arguments; record more"
        )
    effect = _fitted(shown, cases)
    used = shown[: STRUCTURE if len(shown) <= STRUCTURE else 2 * STRUCTURE]
    errors = np.linalg.norm(_errors(effect, used), axis=1)
    for part in range(PARTS if np.quantile(errors, 0.9) <= NO_LAW_M else 0):
        held = [i for i in range(len(used)) if i % PARTS == part]
        other = _fitted([each for i, each in enumerate(used) if i % PARTS != part], cases)
        errors[held] = np.linalg.norm(_errors(other, [used[i] for i in held]), axis=1)
    sides = np.array([[each.graph.boxes[each.graph.index(n), 3:] for n in each.arguments] for each in shown])
    ranges = tuple((float(sides[:, i].min()), float(sides[:, i].max())) for i in range(arities[0]))
    return replace(effect, errors_m=tuple(np.sort(errors).tolist()), sides_m=ranges)


def _errors(effect: LearnedEffect, shown: Sequence[Shown]) -> Array:
    """(N, 3) imagined minus shown centres."""
    imagined = effect.boxes([(each.graph, each.arguments) for each in shown])
    return np.asarray((imagined - np.array([each.after for each in shown]))[:, :3])


def _fitted(shown: Sequence[Shown], cases: bool) -> LearnedEffect:
    names = Counter(kind_of(name) for each in shown for name in each.arguments[:2])
    kinds = tuple(kind for kind, count in sorted(names.items()) if count >= 3) if len(names) > 1 else ()
    scenes, after = [(each.graph, each.arguments) for each in shown], np.array([each.after for each in shown])
    context = Context(scenes, kinds)
    context = Context(scenes, kinds, usual_sides(context.names, context.boxes, after) if kinds else None)
    turn = turn_rule(context, after)
    fitter = LawFitter(context, after[:, :2], turn.turned(context))
    rows = np.arange(len(shown))[:STRUCTURE]
    whole = fitter.law(rows, context.frames)
    found = fitter.cases(rows, whole) if cases else whole
    law = _refit(found.law, fitter, np.arange(len(shown))) if len(shown) > STRUCTURE else found.law
    anchors, labels, features = _heights(context)
    fits = {anchor: select(features, after[:, 2] - level, 3) for anchor, level in anchors.items()}
    anchor = min(fits, key=lambda each: fits[each].score)
    height = Term(anchor, tuple(labels[i] for i in fits[anchor].columns), tuple(fits[anchor].coefficients.tolist()))
    return LearnedEffect(context.arity, kinds, law, height, turn, context.sides)


def _refit(law: PlacementLaw | Cases, fitter: LawFitter, rows: npt.NDArray[np.intp]) -> PlacementLaw | Cases:
    """A law with the numbers that fit all demonstrations best; cases and frames stay, as do laws of rare cases."""
    if len(rows) < FEWEST_SHOWN:
        return law
    if isinstance(law, Cases):
        low = fitter.context.conditions[law.condition][rows] <= law.level
        below, above = _refit(law.below, fitter, rows[low]), _refit(law.above, fitter, rows[~low])
        return Cases(law.condition, law.level, below, above)
    return fitter.law(rows, [law.frame], anchors=(law.first.anchor, law.second.anchor)).law
