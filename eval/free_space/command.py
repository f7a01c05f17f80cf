"""`python -m eval.free_space`: share of free proposals, their distance and their time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import torch
from tqdm import tqdm

from eval.common.runner import Measurement, Run, Settings
from eval.free_space import tables as free_tables
from eval.free_space.scenes import MOST_OF_SIMULATOR, JudgedProblem, PlacementProblem, ProposedPlace, problems
from nsrecover.core.scene import FloatArray
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.bundle import Bundle
from nsrecover.models.free_place import (
    MARGINS_M,
    are_free,
    is_free,
    nearest_free_place,
    proposed_free_place,
    within_reach,
)

GAPS_M = (0.0, 0.01, 0.03)
"""Gaps at which raw proposals are judged; the network is trained to keep the last one."""
DENSE_M, COARSE_M = 0.002, 0.01
"""Spacing of the grid that checks the exact nearest place, and of the grid of the baseline."""
MOST_TRIES = 10_000
BATCH = 256
REPEATS = 5

Way = Callable[[PlacementProblem], FloatArray | None]


@dataclass
class FreeSpaceConfig(Settings):
    """Measure the placement sampler: whether the proposed places are free, how near they are, how long it takes.

      python -m eval.free_space                                   1300 scenes with 3 to 20 objects; two minutes
      python -m eval.free_space scenes=5 timed=50 out=DIR         a quick look
      python -m eval.free_space checkpoint=outputs/train/bundle   your own checkpoint
      python -m eval.free_space seed=8 objects=[10,10] scenes=500 other scenes, all with ten objects

    In every scene an object has to leave its place, and its old place and all other objects must stay clear. Compared
    are the network's proposal, the checked answer of the library (the proposal, or else the nearest free place), the
    nearest free place by geometry alone (exact), a grid of 10 mm, the nearest of as many uniform draws as the network
    has hypotheses, and uniform sampling until a place is free. Every answer is compared with the nearest place with
    the same gap. Writes metrics.json, table.md and a figure to out=DIR.

    Attributes:
        seed: the same seed gives the same scenes; training never uses these.
        scenes: number of synthetic scenes for every number of objects, and of simulated ones for up to 10 objects.
        objects: least and greatest number of objects.
        checkpoint: folder of a checkpoint; the shipped one if null.
        threads: numbers of PyTorch threads to measure times with.
        timed: number of scenes to measure times on.
    """

    seed: int = 7
    scenes: int = 50
    objects: list[int] = field(default_factory=lambda: [3, 20])
    checkpoint: str | None = None
    threads: list[int] = field(default_factory=lambda: [1, 2])
    timed: int = 300
    out: str = "outputs/free_space"


def ways(bundle: Bundle, seed: int) -> dict[str, Way]:
    """Return the compared methods by name; each one maps a problem to a place."""
    rng = np.random.default_rng([seed, MOST_TRIES])
    return {
        free_tables.PROPOSAL: partial(proposal, bundle),
        free_tables.ANSWER: lambda problem: proposed_free_place(bundle, problem.box, problem.obstacles),
        free_tables.NEAREST: partial(
            first_margin, lambda p, gap_m: nearest_free_place(p.box, p.obstacles, bundle, gap_m)
        ),
        free_tables.GRID: partial(first_margin, partial(on_grid, bundle, COARSE_M)),
        free_tables.AS_MANY: partial(first_margin, partial(as_many, bundle, rng)),
        free_tables.UNIFORM: partial(first_margin, partial(uniform, bundle, rng)),
    }


def proposal(bundle: Bundle, problem: PlacementProblem) -> FloatArray:
    """Return the unchecked proposal of the network."""
    scene = np.concatenate([problem.box[None], problem.obstacles])
    return np.asarray(bundle.free_box(scene[None], [0])[0])


def first_margin(
    search: Callable[[PlacementProblem, float], FloatArray | None], problem: PlacementProblem
) -> FloatArray | None:
    """Return the first place that a search finds, with decreasing gaps."""
    return next((place for place in (search(problem, gap_m) for gap_m in MARGINS_M) if place is not None), None)


def on_grid(bundle: Bundle, spacing_m: float, problem: PlacementProblem, gap_m: float) -> FloatArray | None:
    """Return the nearest free point of a grid over the workspace."""
    size, middles = problem.box[3:5], problem.obstacles[:, :2]
    low, high = np.asarray(bundle.workspace[:2]) + size / 2, np.asarray(bundle.workspace[2:]) - size / 2
    axes = [np.arange(low[i], high[i], spacing_m) for i in (0, 1)]
    half = (size + problem.obstacles[:, 3:5]) / 2 + gap_m
    x, y = ((np.abs(axes[i][:, None] - middles[:, i]) < half[:, i]).astype(np.float32) for i in (0, 1))
    away = np.hypot(axes[0][:, None] - problem.box[0], axes[1] - problem.box[1])
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    away[(x @ y.T > 0) | ~within_reach(points, bundle)] = np.inf
    best = np.unravel_index(away.argmin(), away.shape) if away.size else None
    if best is None or np.isinf(away[best]):
        return None
    return np.array([*points[best], problem.box[5] / 2, *problem.box[3:]], dtype=np.float32)


def uniform(bundle: Bundle, rng: np.random.Generator, problem: PlacementProblem, gap_m: float) -> FloatArray | None:
    """Return the first free one of up to `MOST_TRIES` uniform draws from the workspace."""
    half = problem.box[3:5] / 2
    low, high = np.asarray(bundle.workspace[:2]) + half, np.asarray(bundle.workspace[2:]) - half
    place = np.array([0, 0, problem.box[5] / 2, *problem.box[3:]], dtype=np.float32)
    for _ in range(MOST_TRIES):
        place[:2] = rng.uniform(low, high)
        if is_free(place, problem.obstacles, bundle, gap_m):
            return place
    return None


def as_many(bundle: Bundle, rng: np.random.Generator, problem: PlacementProblem, gap_m: float) -> FloatArray | None:
    """Return the nearest free one of as many uniform draws as the network has hypotheses: the chance level."""
    half = problem.box[3:5] / 2
    low, high = np.asarray(bundle.workspace[:2]) + half, np.asarray(bundle.workspace[2:]) - half
    centres = rng.uniform(low, high, (bundle.free_space.hypotheses * (1 + len(problem.obstacles)), 2))
    centres = centres[are_free(centres, problem.box[3:5], problem.obstacles, bundle, gap_m)]
    if not len(centres):
        return None
    nearest = centres[np.linalg.norm(centres - problem.box[:2], axis=1).argmin()]
    return np.array([*nearest, problem.box[5] / 2, *problem.box[3:]], dtype=np.float32)


def judge(problem: PlacementProblem, compared: dict[str, Way], bundle: Bundle) -> JudgedProblem:
    """Run every method, and compare its place with the nearest free place."""
    room = {gap_m: nearest_free_place(problem.box, problem.obstacles, bundle, gap_m) for gap_m in {*GAPS_M, *MARGINS_M}}
    gap_m = next((gap_m for gap_m in MARGINS_M if room[gap_m] is not None), None)
    nearest = None if gap_m is None else room[gap_m]
    nearest_m = _moved(problem, nearest)
    dense = None if gap_m is None else on_grid(bundle, DENSE_M, problem, gap_m)
    answers = {}
    for name, way in compared.items():
        place = way(problem)
        free = place is not None and gap_m is not None and is_free(place, problem.obstacles, bundle, gap_m)
        answers[name] = ProposedPlace(place, free, _moved(problem, place))
    raw = answers[free_tables.PROPOSAL].place
    assert raw is not None  # the network always proposes a place
    keeps = {g: is_free(raw, problem.obstacles, bundle, g) for g in GAPS_M if room[g] is not None}
    return JudgedProblem(problem, gap_m, nearest_m, keeps, 1000 * (_moved(problem, dense) - nearest_m), answers)


def _moved(problem: PlacementProblem, place: FloatArray | None) -> float:
    return float("nan") if place is None else float(np.linalg.norm(place[:2] - problem.box[:2]))


def clock(asked: Sequence[PlacementProblem], compared: dict[str, Way], threads: int) -> dict[str, list[float]]:
    """Return the seconds of every method for every problem, with a number of threads of PyTorch.

    The best of `REPEATS` runs counts, to exclude other load.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    seconds: dict[str, list[float]] = {name: [] for name in compared}
    try:
        for name, way in compared.items():
            for problem in asked[:20]:
                way(problem)  # warm up
            for problem in tqdm(asked, unit="scene", desc=f"timing {name}, {threads} thread(s)", leave=False):
                seconds[name].append(min(_seconds(way, problem) for _ in range(REPEATS)))
    finally:
        torch.set_num_threads(before)
    return seconds


def _seconds(way: Way, problem: PlacementProblem) -> float:
    began = time.perf_counter()
    way(problem)
    return time.perf_counter() - began


def batched(bundle: Bundle, asked: Sequence[PlacementProblem]) -> float | None:
    """Return the seconds per scene in batches of `BATCH` scenes; the best of five runs."""
    if not asked:
        return None
    width = 1 + max(len(problem.obstacles) for problem in asked)
    rows = [asked[i % len(asked)] for i in range(BATCH)]
    # all scenes of a batch have the same number of boxes: shorter ones repeat an obstacle
    scenes = np.stack(
        [
            np.concatenate([p.box[None], p.obstacles, np.repeat(p.obstacles[:1], width - 1 - len(p.obstacles), 0)])
            for p in rows
        ]
    )
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        bundle.free_box(scenes, np.zeros(BATCH, dtype=np.int64))
        best = min(best, time.perf_counter() - began)
    return best / BATCH


def check(config: FreeSpaceConfig) -> None:
    """Refuse settings that cannot be used."""
    if len(config.objects) != 2 or not 2 <= config.objects[0] <= config.objects[1]:
        raise InvalidConfiguration(
            f"expected objects as the fewest (at least 2) and the most, found {config.objects}; e.g. objects=[3, 20]"
        )
    if config.scenes < 1 or config.timed < 1 or not config.threads or min(config.threads) < 1:
        raise InvalidConfiguration(
            f"expected scenes, timed and threads of at least 1, found scenes={config.scenes}, timed={config.timed}, "
            f"threads={config.threads}"
        )
    Bundle.load(config.checkpoint)


def measure(config: FreeSpaceConfig, run: Run) -> dict[str, Any]:
    """Run all methods on all scenes, and draw them."""
    bundle = Bundle.load(config.checkpoint)
    counts = range(config.objects[0], config.objects[1] + 1)
    compared = ways(bundle, config.seed)
    total = config.scenes * sum(1 + (count <= MOST_OF_SIMULATOR) for count in counts)
    drawn = problems(config.seed, counts, config.scenes, bundle)
    every = list(tqdm(drawn, total=total, desc="drawing", unit="scene"))
    judged = [judge(problem, compared, bundle) for problem in tqdm(every, unit="scene", desc="judging")]
    order = np.random.default_rng(config.seed).permutation(len(every))[: config.timed]
    timed = [every[i] for i in order]
    seconds = {threads: clock(timed, compared, threads) for threads in config.threads}
    metrics = {
        "seed": config.seed,
        "scenes": len(every),
        **free_tables.summary(judged),
        "ms": {str(threads): free_tables.milliseconds(by_way) for threads, by_way in seconds.items()},
        "batched_proposal_ms": round(1000 * (batched(bundle, timed) or 0), 4),
    }
    free_tables.draw(judged, metrics, bundle, run.folder)
    return metrics


MEASUREMENT = Measurement(FreeSpaceConfig, measure, free_tables.markdown, check=check)
