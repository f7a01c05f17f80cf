"""Judgement of good runs by the monitor: scores, residuals, and displaced copies."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nsrecover.core import FloatArray, SceneGraph, Verdict
from nsrecover.monitoring.imagination import as_expected
from nsrecover.monitoring.monitor import AnyMonitor
from nsrecover.perception.objects.association import RULES as COSTS
from nsrecover.perception.objects.association import LooksGate
from nsrecover.records.runs import RecordedRun
from nsrecover.system import System
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.json_data import from_json, to_json
from nsrecover.util.progress import progress
from nsrecover.util.untrusted_json import read_json


@dataclass(frozen=True)
class ScoredStep:
    """One step of a run that went well.

    Attributes:
        run: number of the run.
        name: of the run.
        step: number of the step, from 1.
        action: as text.
        operator: of the action.
        score: lowest P(as expected) of its objects.
        worst: the object with it.
        placed_mm: (3,) where the moved object was seen, relative to where it was expected; None if it was not seen.
        rested_mm: largest distance between two looks of an object that nothing moved; None if there is none.
        verdict: of the monitor, with the threshold that the system came with.
        gone: objects that were gone from their places.
        displaced: displacement, mm -> P(as expected) of one object that was seen that much aside.
        unlike: difference of looks (1 - cosine) of the moved object before and after; None without images of both.
    """

    run: int
    name: str
    step: int
    action: str
    operator: str
    score: float
    worst: str
    placed_mm: tuple[float, float, float] | None
    rested_mm: float | None
    verdict: Verdict
    gone: tuple[str, ...]
    displaced: dict[float, float]
    unlike: float | None = None


def scored_steps(
    system: System,
    run: RecordedRun,
    number: int,
    distances_mm: Sequence[float],
    seed: int = 0,
    check_sensors: bool = True,
) -> list[ScoredStep]:
    """Follow a run with the monitor.

    Args:
        system: its models compare; its threshold plays no part in the scores.
        run: a run that went well.
        number: of the run.
        distances_mm: displacements to try: one object of the observed scene is moved aside by each, on the table, in a
            random direction. Its box keeps the error of the real measurement.
        seed: of objects and directions.
        check_sensors: see `System.monitor`.

    Raises:
        InvalidObservation: an observation cannot be used.
        UnknownObject: the plan names an object that is not in the first scene.
    """
    rng = np.random.default_rng([seed, number])
    monitor: AnyMonitor = system.monitor(run.plan, run.observations[0], check_sensors=check_sensors)
    steps = []
    for step, (action, seen) in enumerate(zip(run.plan, run.observations[1:], strict=True), start=1):
        before = monitor.graph
        due = monitor.next_action
        assert due is not None
        found = monitor.step(due, seen)
        graph = found.observed
        worst = int(np.argmin(found.probabilities))
        steps.append(
            ScoredStep(
                run=number,
                name=run.name,
                step=step,
                action=str(action),
                operator=action.operator,
                score=float(found.probabilities[worst]),
                worst=graph.names[worst],
                placed_mm=_placed(found.expected, graph, action.arguments[0]),
                rested_mm=_rested(before, graph, action.arguments[0]),
                verdict=found.verdict,
                gone=tuple(name for name, gone in zip(graph.names, graph.missing, strict=True) if gone),
                displaced=_displaced(system, found.expected, graph, distances_mm, rng),
                unlike=_unlike(before, graph, action.arguments[0]),
            )
        )
    return steps


def all_steps(
    system: System,
    runs: Sequence[RecordedRun],
    distances_mm: Sequence[float],
    kept_in: Path,
    what: str,
    seed: int = 0,
    check_sensors: bool = True,
) -> list[ScoredStep]:
    """The steps of many runs, with progress on stderr.

    The steps of every run are written to a folder when it is finished, and read from there the next time.

    Args:
        system: see `scored_steps`, as the other arguments.
        runs: that went well.
        distances_mm: displacements to try.
        kept_in: folder for the finished runs; safe to delete.
        what: the work, for the progress.
        seed: of objects and directions.
        check_sensors: see `System.monitor`.
    """
    kept_in.mkdir(parents=True, exist_ok=True)
    settings = json.dumps([_fingerprint(system), list(distances_mm), seed, check_sensors])
    files = []
    for number, run in enumerate(runs):
        name = hashlib.sha256(f"{settings} {number} {run.name} {run.fingerprint()}".encode()).hexdigest()[:24]
        files.append(kept_in / f"{name}.json")
    left = [number for number, file in enumerate(files) if not file.is_file()]
    for number in progress(left, what):
        steps = scored_steps(system, runs[number], number, distances_mm, seed, check_sensors)
        atomic_write_bytes(files[number], json.dumps(to_json(steps)).encode())
    return [step for file in files for step in from_json(list[ScoredStep], read_json(file))]


def own_gate(steps: Sequence[ScoredStep]) -> LooksGate | None:
    """The gate for looks that good steps give; None without images of enough moved objects."""
    unlike = [step.unlike for step in steps if step.unlike is not None]
    return LooksGate.calibrated(unlike) if len(unlike) >= COSTS.fewest_pairs else None


def _unlike(before: SceneGraph, after: SceneGraph, name: str) -> float | None:
    """How differently an object looks in two scenes that both show it."""
    if not before.visual.shape[1] or not all(name in scene.names for scene in (before, after)):
        return None
    first, second = before.index(name), after.index(name)
    shown = before.seen[first] and after.seen[second]
    return float(1.0 - before.visual[first] @ after.visual[second]) if shown else None


def _fingerprint(system: System) -> str:
    """Hash of what a system would save."""
    found = hashlib.sha256()
    with TemporaryDirectory() as folder:
        system.save(folder)
        for file in sorted(Path(folder).iterdir()):
            found.update(file.read_bytes())
    return found.hexdigest()


def _placed(expected: SceneGraph, seen: SceneGraph, moved: str) -> tuple[float, float, float] | None:
    i = seen.index(moved)
    if not seen.seen[i]:
        return None
    x, y, z = 1000 * (seen.boxes[i, :3] - expected.boxes[expected.index(moved), :3]).astype(float)
    return float(x), float(y), float(z)


def _rested(before: SceneGraph, seen: SceneGraph, moved: str) -> float | None:
    """Largest distance of an unmoved object from where it was seen before, which is the error of measuring."""
    both = [name for name in before.names if name in seen.names and name != moved]
    far = [
        float(np.linalg.norm(before.boxes[before.index(n), :3] - seen.boxes[seen.index(n), :3]))
        for n in both
        if before.seen[before.index(n)] and seen.seen[seen.index(n)]
    ]
    return 1000 * max(far) if far else None


def _displaced(
    system: System, expected: SceneGraph, seen: SceneGraph, distances_mm: Sequence[float], rng: np.random.Generator
) -> dict[float, float]:
    visible = np.flatnonzero(seen.seen)
    if not len(visible):
        return {}
    chosen, angle = int(rng.choice(visible)), rng.uniform(0, 2 * np.pi)
    direction = np.array([np.cos(angle), np.sin(angle), 0.0], np.float32)
    found = {}
    for distance in distances_mm:
        boxes: FloatArray = seen.boxes.copy()
        boxes[chosen, :3] += direction * (distance / 1000)
        probabilities = as_expected(system.model.models, expected, replace(seen, boxes=boxes))
        found[float(distance)] = float(probabilities[chosen])
    return found
