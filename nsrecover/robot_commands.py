"""Commands from recorded runs to a monitor of one's own robot: `new`, `record`, `calibrate`, `watch`, `report`, ..."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import track

import nsrecover
from nsrecover.errors import InvalidConfiguration
from nsrecover.models.conformal import Calibration, lowest
from nsrecover.records.runs import Run, read_runs
from nsrecover.system import System

Item = TypeVar("Item")

DISTANCES_MM = (5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 60.0)

Episodes = Annotated[
    list[str],
    typer.Argument(
        metavar="EPISODES...",
        help="Recorded runs: .npz, .h5, boxes as .json, ROS 2 bags (.mcap, .db3 or their folder), or folders of these.",
    ),
]
Checkpoint = Annotated[Path | None, typer.Option(help="Folder of a checkpoint; by default the shipped one.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]


def calibrate(
    episodes: Episodes,
    alpha: Annotated[float, typer.Option(help="Requested rate of false alarms per good step, at most 0.2.")] = 0.01,
    tolerance_mm: Annotated[
        float, typer.Option(min=2.0, max=100.0, help="Displacement from which on an object is out of place.")
    ] = 20.0,
    out: Annotated[Path, typer.Option(help="Folder for the checkpoint and the report.")] = Path("calibrated"),
    checkpoint: Checkpoint = None,
    check_sensors: Annotated[bool, typer.Option(help="Refuse runs whose first images are implausible.")] = True,
    as_json: AsJson = False,
) -> None:
    """Set the monitor's threshold from at least 10 runs that went well, and say what it is worth.

    Needed are successful runs only: another arrangement of the objects in each, all operators that you use. The result
    is a folder for `nsrecover.load(FOLDER)`, `nsrecover check RUN --checkpoint FOLDER` and `nsrecover watch`. The
    report says whether the rate is promised or estimated (1 % needs 99 good steps for a promise), how large a
    displacement is detected how often, how uncertain both are, and what to improve first.

    From camera images this needs `nsrecover[learned]`; from boxes it does not. The page needs `nsrecover[report]`.
    """
    from nsrecover.onboarding import calibration, report, scoring

    runs = list(progress(read_runs(episodes), "reading"))
    system = system_for(runs, checkpoint, tolerance_mm / 1000)
    steps = []
    for number, run in enumerate(progress(runs, "following the runs")):
        steps += scoring.scored_steps(system, run, number, DISTANCES_MM, check_sensors=check_sensors)
    result = calibration.calibration_of(steps, alpha, system.models.threshold, tolerance_mm / 1000)
    scores = [step.score for step in steps]
    calibrated = System(
        system.models.with_threshold(result.threshold),
        domain=system.domain,
        calibration=Calibration(lowest(scores), len(scores)),
    )
    document = report.document_of(result)
    calibrated.save(out, "\n".join(["# Calibrated on own runs", "", *report.lines_of(result), ""]))
    (out / "calibration.json").write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    try:
        page = str(report.write_page(result, out))
    except InvalidConfiguration as missing:
        page = f"no page: {missing}"
    if as_json:
        print(json.dumps({**document, "checkpoint": str(out), "report": page}, indent=2))
        return
    for line in report.lines_of(result):
        print(line)
    print(f"checkpoint: {out}   report: {page}")


def system_for(runs: list[Run], checkpoint: Path | None, tolerance_m: float | None = None) -> System:
    """The system for the kind of observations of some runs.

    Raises:
        InvalidConfiguration: the runs are of both kinds, or images need torch.
        InvalidCheckpoint: the checkpoint cannot be used.
    """
    kinds = {run.has_images for run in runs}
    if len(kinds) > 1:
        with_images = next(run.name for run in runs if run.has_images)
        raise InvalidConfiguration(
            f"expected runs with images or runs with boxes, found both ({with_images} has images); give one kind"
        )
    if kinds == {True} or checkpoint is not None:
        return nsrecover.load(checkpoint, tolerance_m=tolerance_m)
    return nsrecover.geometric() if tolerance_m is None else nsrecover.geometric(tolerance_m)


def progress(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Go through items with a bar on stderr, if that is a terminal."""
    console = Console(stderr=True)
    yield from track(items, description=what, console=console, transient=True, disable=not console.is_terminal)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for name, command in COMMANDS.items():
        app.command(name)(command)


COMMANDS: dict[str, Any] = {"calibrate": calibrate}
