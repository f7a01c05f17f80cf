"""`python -m eval.redraw`: draw the figures of docs/results again from the committed results."""

from __future__ import annotations

import json
import lzma
from pathlib import Path
from typing import Annotated, Any

import typer

from eval.common.command import METRICS
from eval.detectors import figures as detector_figures
from eval.detectors.compare import SCORES
from eval.detectors.equal_rate import evidence
from eval.detectors.judged_moments import JudgedEpisode
from eval.models import figures as model_figures
from eval.planning import figures as planning_figures
from nsrecover.errors import InvalidConfiguration

PNG = ("png",)
SOURCES = {"detectors": "detectors", "models": "models_small", "planning": "planning_small"}
"""Figure and command -> folder of its results; the small ones are runs for the figure alone."""


def redraw(
    results: Annotated[Path, typer.Option(help="Folder of the committed results.")] = Path("results"),
    out: Annotated[Path, typer.Option(help="Folder of the figures.")] = Path("docs/results"),
) -> None:
    """Draw detectors.png, models.png and planning.png, from results/detectors, models_small and planning_small.

    The figures of whole episodes are drawn by `python -m eval.tables`.
    """
    found = {name: results / folder for name, folder in SOURCES.items() if (results / folder / METRICS).is_file()}
    if not found:
        raise InvalidConfiguration(
            f"expected {METRICS} in {', '.join(SOURCES.values())} in {results}, found none; run this command from the "
            "root of the checkout"
        )
    out.mkdir(parents=True, exist_ok=True)
    for name, folder in found.items():
        try:
            metrics = json.loads((folder / METRICS).read_text(encoding="utf-8"))
            if name == "detectors":
                _draw_detectors(folder / f"{SCORES}.xz", metrics, out)
            elif name == "models":
                model_figures.draw(metrics["variants"], out, PNG)
            else:
                planning_figures.draw(metrics["figures"], out, PNG)
        except (OSError, ValueError, KeyError, TypeError, lzma.LZMAError) as problem:
            raise InvalidConfiguration(f"expected results of eval.{name} in {folder}, found: {problem!r}") from None
        print(out / f"{name}.png")


def _draw_detectors(scores: Path, metrics: dict[str, Any], out: Path) -> None:
    with lzma.open(scores, "rt", encoding="utf-8") as lines:
        judged = [JudgedEpisode.from_json(line) for line in lines]
    detector_figures.draw({name: evidence(judged, name) for name in metrics["detectors"]}, out, PNG)
