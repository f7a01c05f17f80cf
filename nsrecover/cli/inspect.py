"""`nsrecover inspect`: label the episodes of a policy, from its successes alone."""

import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from nsrecover.bridges.lerobot import Listed, episodes_of
from nsrecover.cli.options import AsJson, Checkpoint, show, spread
from nsrecover.cli.segment import intrinsics_of
from nsrecover.errors import InvalidConfiguration
from nsrecover.inspection.labels import Label, check_place, write_labels
from nsrecover.util.english import amount
from nsrecover.util.progress import is_quiet

NO_DEPTH = (
    "note: no camera has depth and calibration (meta/cameras.json, or --depth and --intrinsics): only success or "
    "failure is told, by how the last frame looks; no subtask, object or cause"
)


@dataclass(frozen=True)
class Inspected:
    """Options of `nsrecover inspect`."""

    good: Annotated[
        str,
        typer.Option(metavar="NUMBERS", help="Successful episodes of DATASET, as 0-39,44; by default as described."),
    ] = ""
    alpha: Annotated[
        float, typer.Option(min=0.001, max=0.2, help="Share of successes that may be taken for failures.")
    ] = 0.02
    labels: Annotated[Path | None, typer.Option(metavar="DIR", help="Write a copy of the dataset with labels.")] = None
    depth: Annotated[str, typer.Option(metavar="FEATURE", help="The feature with depth in millimetres.")] = ""
    intrinsics: Annotated[str, typer.Option(metavar="FX,FY,CX,CY", help="Of the camera with depth, pixels.")] = ""
    checkpoint: Checkpoint = None
    as_json: AsJson = False


@spread
def inspect(
    dataset: Annotated[Path, typer.Argument(help="Folder of a LeRobot dataset (v2.1, v3.0) with successful episodes.")],
    judged: Annotated[
        Path | None, typer.Argument(help="Folder of the dataset to label; by default the other episodes of DATASET.")
    ] = None,
    given: Inspected = Inspected(),
) -> None:
    """Tell which episodes of a policy failed, at which subtask, with which object, and why; exit with 1 if some did.

    From the successful episodes of a task alone it learns the subtasks: which object comes where, in which order, and
    when. Nothing is labelled by hand, and the policy needs no plan. Successful are the episodes of `--good`; without
    it those whose last frame has `next.success`, or all if another dataset is
    labelled. 20 of a task do, 50 are
    better. Both datasets need the same cameras.

    Objects are found by depth. Write the calibration into `meta/cameras.json`, see docs/inspect.md, or give `--depth`
    and `--intrinsics` of one camera that sees the table. Without depth only success or failure is told.

      nsrecover inspect datasets/stacking --good 0-39    (labels the others)

      nsrecover inspect datasets/good datasets/new --labels datasets/labelled
    """
    # Imported here, because they load torch, which help does not need.
    import nsrecover
    from nsrecover.inspection.inspecting import Inspector, eyes_for, in_words, said_to_succeed

    every = episodes_of(dataset)
    numbers = _numbers(given.good, every) if given.good else said_to_succeed(dataset, every)
    chosen = [each for each in every if each.index in numbers]
    target = dataset if judged is None else judged
    others = [each for each in episodes_of(target) if judged is not None or each.index not in numbers]
    if not chosen or not (others or given.labels):
        raise InvalidConfiguration(
            f"expected successful episodes and others to label, found {len(chosen)} and {len(others)} in {dataset}; "
            "say which succeeded with --good, or name a second dataset"
        )
    if given.labels:
        check_place(target, given.labels)
    matrix = intrinsics_of(given.intrinsics) if given.intrinsics else None
    eyes = eyes_for(dataset, nsrecover.load(given.checkpoint), matrix, given.depth)
    if eyes.setup is None:
        print(NO_DEPTH, file=sys.stderr)
    labelled = episodes_of(target) if given.labels else others
    with Progress(console=Console(stderr=True, quiet=is_quiet()), transient=True) as progress:
        bar = progress.add_task("watching", total=len(chosen) + len(labelled))
        inspector = Inspector.learned(eyes, dataset, chosen, given.alpha, lambda: progress.advance(bar))
        found = []
        for each in labelled:
            found.append(inspector.label(target, each))
            progress.advance(bar)
    if given.labels:
        write_labels(target, given.labels, found)
    told = [each for each in found if each.episode in {one.index for one in others}]
    failed = sum(not each.succeeded for each in told)
    tasks = [
        {
            "task": task.words, "successes": task.successes[0], "different": task.successes[1], "alpha": task.alpha,
            "subtasks": [
                {"subtask": in_words(each), "after": sorted(each.before), "duration_s": each.duration_s}
                for each in task.subtasks
            ],
        }
        for task in inspector.tasks.values()
    ]  # fmt: skip
    if given.as_json:
        show({"tasks": tasks, "episodes": [each.to_dict() for each in told]}, (), True)
    else:
        for task in inspector.tasks.values():
            print(f"\n{task.words}: learned from {amount(task.successes[0], 'success')}")
            for number, subtask in enumerate(task.subtasks):
                low, high = subtask.duration_s
                print(f"  {number + 1}. {in_words(subtask)}, after {low:.1f} to {high:.1f} s")
        _print(told)
        print(f"{failed} of {amount(len(told), 'episode')} failed")
    if failed:
        raise typer.Exit(1)


def _print(labels: Sequence[Label]) -> None:
    table = Table("episode", "", "at", "subtask", "object", "why", box=None, header_style="bold")
    for each in labels:
        at = "" if each.time_s is None else f"{each.time_s:.1f} s"
        ended = "[green]succeeded[/]" if each.succeeded else "[red]failed[/]"
        table.add_row(str(each.episode), ended, at, each.subtask or "", each.object or "", each.why)
    Console().print(table)


def _numbers(text: str, every: Sequence[Listed]) -> set[int]:
    """Numbers of episodes from a text like 0-39,44."""
    known, found = {each.index for each in every}, set[int]()
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d+)(?:-(\d+))?\s*", part)
        if match is None or int(match[1]) not in known or int(match[2] or match[1]) not in known:
            raise InvalidConfiguration(
                f"expected numbers of episodes from {min(known)} to {max(known)}, as 0-39,44, found {part!r}"
            )
        found |= set(range(int(match[1]), int(match[2] or match[1]) + 1))
    return found
