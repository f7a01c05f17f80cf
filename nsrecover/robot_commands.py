"""Commands from recorded runs to a monitor of one's own robot: `new`, `record`, `calibrate`, `watch`, `report`, ..."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import track

from nsrecover.errors import InvalidConfiguration

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
    test: Annotated[
        list[str] | None, typer.Option(help="Other good runs, to count false alarms on; can be repeated.")
    ] = None,
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
    from nsrecover.models.conformal import Calibration, lowest
    from nsrecover.onboarding import calibration, report, scoring
    from nsrecover.records.review import system_for
    from nsrecover.records.runs import read_runs
    from nsrecover.system import System

    runs = list(progress(read_runs(episodes), "reading"))
    system = system_for(runs, checkpoint, tolerance_mm / 1000)
    steps = []
    for number, run in enumerate(progress(runs, "following the runs")):
        steps += scoring.scored_steps(system, run, number, DISTANCES_MM, check_sensors=check_sensors)
    result = calibration.calibration_of(steps, alpha, system.models.threshold, tolerance_mm / 1000)
    if test:
        fresh = []
        for number, run in enumerate(progress(read_runs(test), "following the runs to test")):
            fresh += scoring.scored_steps(system, run, number, DISTANCES_MM, 1, check_sensors)
        result = calibration.tested_on(result, fresh)
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


def progress(items: Iterable[Item], what: str) -> Iterator[Item]:
    """Go through items with a bar on stderr, if that is a terminal."""
    console = Console(stderr=True)
    yield from track(items, description=what, console=console, transient=True, disable=not console.is_terminal)


def register(app: typer.Typer) -> None:
    """Add the commands to the command line."""
    for name, command in COMMANDS.items():
        app.command(name)(command)


COMMANDS: dict[str, Any] = {"calibrate": calibrate}
