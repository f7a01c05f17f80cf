"""Recorded runs of boxes: towers of three, placed and measured with errors."""

from pathlib import Path

import numpy as np

from nsrecover.core.actions import Plan
from nsrecover.records.scenes_recording import ScenesRecording, save

SIDE = 0.04
PLAN = Plan.parse("top(red, blue); top(green, red); left(grey, blue)")
GAP = 0.03


def box_run(
    rng: np.random.Generator, placed_mm: float = 1.0, measured_mm: float = 1.0, offset_mm: float = 0.0
) -> ScenesRecording:
    """One run that went well; objects end `offset_mm` too far along x."""
    places = {name: rng.uniform((0.4, -0.2), (0.6, -0.1)) for name in ("red", "green")}
    places |= {"blue": rng.uniform((0.4, 0.1), (0.6, 0.2)), "grey": rng.uniform((0.65, -0.3), (0.7, -0.2))}
    centres = {name: np.array([*xy, SIDE / 2]) for name, xy in places.items()}

    def seen() -> dict[str, tuple[float, ...]]:
        return {n: (*(c + rng.normal(0, measured_mm / 1000, 3)), SIDE, SIDE, SIDE) for n, c in centres.items()}

    scenes = [seen()]
    for name, up, aside in (("red", 1, 0.0), ("green", 2, 0.0), ("grey", 0, SIDE + GAP)):
        error = rng.normal(0, placed_mm / 1000, 3) * (1, 1, 0) + (offset_mm / 1000, 0, 0)
        centres[name] = centres["blue"] + (0, aside, up * SIDE) + error
        scenes.append(seen())
    return ScenesRecording(PLAN, tuple(scenes))  # type: ignore[arg-type]


def write_runs(folder: Path, count: int, seed: int = 0, **errors: float) -> Path:
    """A folder of runs."""
    rng = np.random.default_rng(seed)
    for number in range(count):
        save(box_run(rng, **errors), folder / f"run{number:02d}.json")
    return folder
