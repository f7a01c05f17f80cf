"""Learning one's own operator from recorded runs: `nsrecover learn`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from nsrecover.core import FactScene, SceneGraph
from nsrecover.core.geometry import as_box
from nsrecover.domains.tabletop.spatial import SpatialDomain
from nsrecover.errors import InvalidRecording
from nsrecover.loading import geometric, load, of_boxes
from nsrecover.models.effects.context import Shown
from nsrecover.models.effects.effect import NO_LAW_M, LearnedEffect
from nsrecover.models.effects.law import Cases, PlacementLaw, Term
from nsrecover.models.effects.operator import learn, with_operators
from nsrecover.perception.objects.boxes import BoxesPerceiver
from nsrecover.records.runs import RecordedRun, SceneKind
from nsrecover.system import System
from nsrecover.util.english import amount


def demonstrations_of(name: str, runs: Iterable[RecordedRun], system: System[SceneGraph]) -> list[Shown]:
    """The actions of one operator in recorded runs whose arguments are seen before and after.

    Args:
        name: of the operator.
        runs: with boxes, or with images if the system perceives them.
        system: its perceiver makes scenes of images.

    Raises:
        InvalidRecording: a run has facts instead of boxes, or an argument is not in its scenes.
    """
    return [shown for run in runs for shown in _in_run(name, run, system)]


def _in_run(name: str, run: RecordedRun, system: System[SceneGraph]) -> Iterator[Shown]:
    if run.seen is SceneKind.FACTS:
        raise InvalidRecording(f"expected boxes or images to learn an operator from, found facts in {run.name}")
    perceiver = system.perceiver() if run.seen is SceneKind.IMAGES else BoxesPerceiver()
    scenes: list[SceneGraph] = []
    for seen in run.observations:
        assert not isinstance(seen, FactScene)
        perceived = perceiver.step(seen) if scenes else perceiver.reset(seen)  # type: ignore[arg-type]
        scenes.append(perceived)
    for step, action in enumerate(run.plan):
        if action.operator != name or action.target is not None:
            continue
        before, after = scenes[step : step + 2]
        unknown = [each for each in action.arguments if each not in before.names]
        if unknown or action.arguments[0] not in after.names:
            raise InvalidRecording(
                f"expected the arguments of {action} in the scenes of {run.name}, found {', '.join(before.names)}"
            )
        moved = after.index(action.arguments[0])
        if all(before.seen[before.index(each)] for each in action.arguments) and after.seen[moved]:
            yield Shown(before, action.arguments, as_box(after.boxes[moved].astype(np.float64)))


def learned_system(
    name: str, runs: list[RecordedRun], checkpoint: Path | None
) -> tuple[System[SceneGraph], LearnedEffect, int]:
    """A system that knows an operator, its effect, and from how many demonstrations.

    Args:
        name: of the operator.
        runs: recorded runs.
        checkpoint: what to add the operator to; None: the shipped one for images, geometry for boxes.

    Raises:
        InvalidConfiguration: there are too few demonstrations, or the name is taken.
    """
    images = any(run.seen is SceneKind.IMAGES for run in runs)
    base = load(checkpoint) if checkpoint is not None or images else geometric()
    shown = demonstrations_of(name, runs, base)
    operator = learn(name, shown)
    assert isinstance(operator.place, LearnedEffect)
    assert isinstance(base.domain, SpatialDomain)
    domain = with_operators(base.domain, [operator])
    return of_boxes(base.model.models, replace(domain), base.calibration), operator.place, len(shown)


def lines_of(name: str, effect: LearnedEffect, count: int) -> list[str]:
    """What was learned, for people."""
    errors = 1000 * np.array(effect.errors_m)
    lines = [
        f"{name}: {amount(count, 'demonstration')} with {amount(effect.arity, 'argument')}",
        f"held-out demonstrations: {np.median(errors):.1f} mm off (median), {np.quantile(errors, 0.9):.1f} mm (90 %)",
        *_law_lines(effect.law, ""),
        f"height of the centre: {_term_text(effect.height)}",
    ]
    if effect.turn.frame or effect.turn.axis:
        lines.append(f"turned by a quarter{f', as {effect.turn.frame} says' if effect.turn.frame else ''}")
    if effect.spread_m > NO_LAW_M:
        lines.append(
            f"problem: no law fits: the effect is known to {1000 * effect.spread_m:.0f} mm only; show it more often, "
            "or check that every demonstration follows the same convention"
        )
    return lines


def _law_lines(law: PlacementLaw | Cases, indent: str) -> Iterator[str]:
    if isinstance(law, PlacementLaw):
        yield f"{indent}in the frame '{law.frame}': x = {_term_text(law.first)}; y = {_term_text(law.second)}"
        return
    yield f"{indent}if {law.condition} is at most {law.level:.3g}:"
    yield from _law_lines(law.below, indent + "  ")
    yield f"{indent}otherwise:"
    yield from _law_lines(law.above, indent + "  ")


def _term_text(term: Term) -> str:
    parts = [f"{value:+.2f} {name}" for name, value in zip(term.features, term.coefficients[1:], strict=True)]
    return " ".join([term.anchor, f"{1000 * term.coefficients[0]:+.0f} mm", *parts])
