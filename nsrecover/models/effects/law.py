"""Laws of an operator: sparse and linear in one frame, with cases that are told apart by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from nsrecover.models.effects.context import SQUARE_M, Array, Context, FramedDemonstrations
from nsrecover.models.effects.sparse import MOST_TERMS, NOISE_M, Sparse, select

Flags = npt.NDArray[np.bool_]

GOOD_M, FAR_M = 0.0035, 0.05
"""A law whose errors have this root mean square on each axis needs no cases. One with larger errors than the second,
which no two cases explain better, is not looked into: demonstrations without a law would take minutes."""
DEEPEST, FEWEST = 5, 6
"""Most cases within cases, and fewest demonstrations of a case."""
LEVELS = np.linspace(0.1, 0.9, 9)


@dataclass(frozen=True)
class Term:
    """One coordinate of a place: relative to an anchor, linear in named features.

    Attributes:
        anchor: name of the point that the coordinate is relative to.
        features: names of the features.
        coefficients: of the constant and of each feature, metres or one.
    """

    anchor: str
    features: tuple[str, ...]
    coefficients: tuple[float, ...]


@dataclass(frozen=True)
class PlacementLaw:
    """Where the moved object goes: two coordinates in a frame."""

    frame: str
    first: Term
    second: Term

    def places(self, view: FramedDemonstrations) -> Array:
        """(N, 2) centres in the table's frame."""
        found = np.zeros((len(view.features), 2))
        for axis, term in enumerate((self.first, self.second)):
            unit = view.axes[:, :, axis]
            features, names = _with_sides(view, term.anchor)
            columns = [names.index(name) for name in term.features]
            along = term.coefficients[0] + features[:, columns] @ np.array(term.coefficients[1:])
            found += unit * (along + (view.anchors[term.anchor] * unit).sum(axis=1))[:, None]
        return found


@dataclass(frozen=True)
class Cases:
    """One law where a condition is at most a level, another one where it is above."""

    condition: str
    level: float
    below: PlacementLaw | Cases
    above: PlacementLaw | Cases


@dataclass(frozen=True)
class TurnRule:
    """Whether the moved object is turned by a quarter.

    Attributes:
        frame: its long side lies along an axis of this frame afterwards; empty: it depends on nothing.
        axis: number of that axis; without a frame 1 for a turn, 0 for none.
    """

    frame: str = ""
    axis: int = 0

    def turned(self, context: Context) -> Flags:
        """(N,)."""
        if not self.frame:
            return np.full(len(context), bool(self.axis))
        wanted = np.abs(context.axes(self.frame)[:, :, self.axis]).argmax(axis=1)
        return np.asarray((context.boxes[:, 0, 4] > context.boxes[:, 0, 3]) != wanted)


def turn_rule(context: Context, after: Array) -> TurnRule:
    """The simplest rule that tells which of the moved objects (N, 6) were turned."""
    before = context.boxes[:, 0]
    slender = (np.abs(before[:, 3] - before[:, 4]) > SQUARE_M) & (np.abs(after[:, 3] - after[:, 4]) > SQUARE_M)
    if not slender.any():
        return TurnRule()
    truth = (before[:, 4] > before[:, 3]) != (after[:, 4] > after[:, 3])
    rules = [TurnRule(), TurnRule(axis=1)]
    rules += [TurnRule(f, axis) for f in context.frames if not f.endswith("exact") for axis in (0, 1)]
    right = [float((rule.turned(context) == truth)[slender].mean()) for rule in rules]
    return rules[int(np.argmax(right))]


@dataclass(frozen=True)
class Fitted:
    """A law with its leave-one-out errors (N, 2) and its score; lower is better."""

    law: PlacementLaw | Cases
    press: Array
    score: float

    @property
    def rms_m(self) -> float:
        """Root mean square of the errors on an axis, metres."""
        return float(np.sqrt((self.press**2).mean()))


class LawFitter:
    """Fits laws to the places (N, 2) of demonstrations.

    Args:
        context: the demonstrations.
        places: where the moved objects went, in the table's frame.
        turned: (N,) which were turned.
    """

    def __init__(self, context: Context, places: Array, turned: Flags) -> None:
        self.context, self.places = context, places
        self.views = {frame: context.view(frame, turned) for frame in context.frames}

    def law(
        self,
        rows: npt.NDArray[np.intp],
        frames: Sequence[str],
        most: int = MOST_TERMS,
        anchors: Sequence[str] | None = None,
    ) -> Fitted:
        """The best law for some demonstrations, among some frames and anchors."""
        found = [self._in_frame(rows, frame, most, anchors) for frame in frames]
        return min(found, key=lambda each: each.score)

    def _in_frame(self, rows: npt.NDArray[np.intp], frame: str, most: int, anchors: Sequence[str] | None) -> Fitted:
        view, terms, press, score = self.views[frame], [], [], 0.0
        for axis in (0, 1):
            best: tuple[float, Term, Array] | None = None
            for anchor, points in view.anchors.items():
                if anchors is not None and anchor not in anchors:
                    continue
                features, names = _with_sides(view, anchor)
                unit = view.axes[rows][:, :, axis]
                target = ((self.places[rows] - points[rows]) * unit).sum(axis=1)
                fit = select(features[rows], target, most)
                # an anchor of the scene rather than an argument has to be clearly better
                value = fit.score + (2.0 * np.log(len(rows)) if anchor.startswith("row") else 0.0)
                if best is None or value < best[0]:
                    best = value, _term(anchor, names, fit), fit.press
            assert best is not None
            score += best[0]
            terms.append(best[1])
            press.append(best[2])
        score += {"table": 0.0}.get(frame, 1.0)
        return Fitted(PlacementLaw(frame, terms[0], terms[1]), np.stack(press, axis=1), score)

    def cases(self, rows: npt.NDArray[np.intp], whole: Fitted | None = None, depth: int = 0) -> Fitted:
        """A law for some demonstrations, with cases where one law does not explain them."""
        whole = whole or self.law(rows, self.context.frames)
        if whole.rms_m < GOOD_M or depth == DEEPEST or len(rows) < 2 * FEWEST:
            return whole
        if depth == 0:
            each = [self._by_kind(rows, whole, i) for i in range(min(2, self.context.arity))]
            by_kind = min(each, key=lambda fitted: fitted.score)
            if by_kind.rms_m < GOOD_M:
                return by_kind
            split = self._split(rows, whole, depth)
            return min((whole, by_kind, split), key=lambda fitted: fitted.score)
        return self._split(rows, whole, depth)

    def _by_kind(self, rows: npt.NDArray[np.intp], whole: Fitted, argument: int) -> Fitted:
        """One law for each kind of an argument; kinds that are shown too seldom share one."""
        law, press, left = whole.law, np.zeros((len(rows), 2)), np.ones(len(rows), np.bool_)
        groups = []
        for name, values in self.context.conditions.items():
            here = values[rows] > 0.5
            if name.startswith(f"kind {argument} ") and here.sum() >= FEWEST - 2:
                groups.append((name, here, self.law(rows[here], self.context.frames, 3)))
                left &= ~here
        if len(groups) < 2:
            return replace(whole, score=np.inf)
        score = sum(fitted.score for _, _, fitted in groups) + 2.0 * np.log(len(rows))
        if left.any():
            law = max(groups, key=lambda group: group[1].sum())[2].law
            known = self.law(rows[~left], self.context.frames)
            law = known.law if known.rms_m < 2 * GOOD_M else law
            assert isinstance(law, PlacementLaw)
            press[left] = (law.places(self.views[law.frame]) - self.places)[rows[left]]
            count = int(left.sum())
            score += 2 * count * float(np.log((press[left] ** 2).mean() + NOISE_M**2))
        else:
            law = groups[-1][2].law
        for name, here, fitted in groups:
            press[here] = fitted.press
            law = Cases(name, 0.5, law, fitted.law)
        return Fitted(law, press, float(score))

    def _split(self, rows: npt.NDArray[np.intp], whole: Fitted, depth: int) -> Fitted:
        """Two cases, each of which may have cases, if they are worth it."""
        frames = list(dict.fromkeys(["table", getattr(whole.law, "frame", "table")]))
        anchors = ("table", *(f"object {i}" for i in range(self.context.arity)))
        best: tuple[float, str, float] | None = None
        for name, values in self.context.conditions.items():
            here = values[rows]
            levels = [0.5] if name.startswith("kind") else np.unique(np.quantile(here, LEVELS))
            for level in levels:
                low = here <= level
                if min(low.sum(), (~low).sum()) < FEWEST - 2:
                    continue
                parts = [self.law(rows[side], frames, 3, anchors) for side in (low, ~low)]
                score = sum(part.score for part in parts) + (
                    0.0 if name.startswith("kind") else 2.0 * np.log(len(rows))
                )
                if best is None or score < best[0]:
                    best = score, name, float(level)
        if best is None or (whole.rms_m > FAR_M and best[0] >= whole.score):
            return whole
        _, name, level = best
        level = self._refined(rows, name, level)
        low = self.context.conditions[name][rows] <= level
        if min(low.sum(), (~low).sum()) < 3:
            return whole
        below, above = (self.cases(rows[side], None, depth + 1) for side in (low, ~low))
        score = below.score + above.score + 4.0 * np.log(len(rows))
        if score >= whole.score:
            return whole
        press = np.zeros((len(rows), 2))
        press[low], press[~low] = below.press, above.press
        return Fitted(Cases(name, level, below.law, above.law), press, score)

    def _refined(self, rows: npt.NDArray[np.intp], name: str, level: float) -> float:
        """The level at which demonstrations are better explained by the one law than by the other."""
        values = self.context.conditions[name][rows]
        if name.startswith("kind"):
            return level
        low = values <= level
        errors = []
        for side in (low, ~low):
            law = self.law(rows[side], self.context.frames, 4).law
            assert isinstance(law, PlacementLaw)
            away = law.places(self.views[law.frame])[rows] - self.places[rows]
            errors.append(np.minimum(np.linalg.norm(away, axis=1), 0.05))
        order = np.argsort(values)
        cost = np.cumsum(np.append(0.0, (errors[0] - errors[1])[order]))
        cut = int(cost[3:-3].argmin()) + 3 if len(cost) > 6 else len(order) // 2
        return float((values[order][cut - 1] + values[order][min(cut, len(order) - 1)]) / 2)


def places_of(law: PlacementLaw | Cases, context: Context, views: dict[str, FramedDemonstrations]) -> Array:
    """(N, 2) centres in the table's frame."""
    if isinstance(law, PlacementLaw):
        return law.places(views[law.frame])
    below = (context.conditions.get(law.condition, np.zeros(len(context))) <= law.level)[:, None]
    return np.where(below, places_of(law.below, context, views), places_of(law.above, context, views))


def frames_of(law: PlacementLaw | Cases) -> set[str]:
    """The frames that a law is written in."""
    return {law.frame} if isinstance(law, PlacementLaw) else frames_of(law.below) | frames_of(law.above)


def _with_sides(view: FramedDemonstrations, anchor: str) -> tuple[Array, tuple[str, ...]]:
    if anchor.startswith("object"):
        return view.features, view.names
    return np.column_stack([view.features, view.sides[anchor]]), (*view.names, "side 0", "side 1")


def _term(anchor: str, names: Sequence[str], fit: Sparse) -> Term:
    return Term(anchor, tuple(names[column] for column in fit.columns), tuple(fit.coefficients.tolist()))
