"""`python -m sim.datasets.verify FOLDER…`: replay random episodes of error datasets twice and compare."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from tqdm import tqdm

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import MANIFEST, write_json
from sim.common.origin import write_run
from sim.common.tables import markdown_table
from sim.datasets import household
from sim.datasets.build import METRICS, TABLE, tables
from sim.datasets.replay import final_truth, replay
from sim.datasets.spec import ErrorEpisode, read_episodes


def differences(episode: ErrorEpisode) -> list[str]:
    """Differences between two replays of an episode, and between them and its stored ground truth."""
    return _compared(
        episode, replay, {"poses": final_truth, "supports": lambda steps: [step.truth.supports for step in steps]}
    )


def household_differences(episode: household.HouseholdEpisode) -> list[str]:
    """The same for an episode in a kitchen; the kitchen is simulated again for the second replay."""
    return _compared(episode, household.replay, {
        "poses": lambda steps: [step.truth.poses() for step in steps],
        "facts": lambda steps: [step.truth.facts for step in steps],
    })  # fmt: skip


def _compared(
    episode: Any, replayed: Callable[[Any], Iterable[Any]], ends: Mapping[str, Callable[[Sequence[Any]], object]]
) -> list[str]:
    first, second = (list(replayed(episode)) for _ in range(2))
    found = [f"two replays end with other {what}" for what, of in ends.items() if of(first) != of(second)]
    if tuple(step.error for step in first if step.error is not None) != episode.errors:
        found.append("a replay is not as the stored ground truth says")
    return found


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    return dict(json.loads(path.read_text(encoding="utf-8"))) if path.is_file() else {}


def _differences(folder: Path) -> Iterator[Callable[[], tuple[int, int, list[str]]]]:
    """For every episode of a folder a function that gives its number, its number of actions, and its differences."""
    name = _manifest(folder).get("dataset")
    if name in household.HOUSEHOLD_DATASETS:
        for kitchen in household.read_episodes(folder):
            yield lambda it=kitchen: (it.number, len(it.plan), household_differences(it))  # type: ignore[misc]
        return
    for episode in read_episodes(folder):
        yield lambda it=episode: (it.number, len(it.plan), differences(it))  # type: ignore[misc]


def verify(
    folders: Annotated[list[Path], typer.Argument(help="Folders that `python -m sim.datasets` wrote.")],
    episodes: Annotated[int, typer.Option(help="How many random episodes of each.", min=1)] = 20,
    seed: Annotated[int, typer.Option(help="Which ones.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option(help="Write contents and differences here; nothing by default.")] = None,
) -> None:
    """Replay random episodes of error datasets twice: the poses must be bit-equal, and agree with the ground truth."""
    found = dict[str, dict[str, Any]]()
    for folder in folders:
        every = list(_differences(folder))
        if not every:
            raise InvalidConfiguration(f"expected episodes in {folder}, found none; generate the dataset again")
        chosen = np.random.default_rng(seed).permutation(len(every))[:episodes]
        wrong, steps = list[str](), 0
        for row in tqdm(sorted(chosen), desc=str(folder), unit="episode", leave=False):
            number, actions, differences = every[row]()
            wrong += [f"  episode {number}: {text}" for text in differences]
            steps += actions
        print(f"{folder}: {len(chosen)} episodes ({steps} steps) replayed twice, {len(wrong)} differences")
        print("\n".join(wrong), end="\n" if wrong else "")
        name = _manifest(folder).get("dataset", folder.name)
        found[name] = {"replayed": len(chosen), "steps": steps, "differences": len(wrong)}
    if out is not None:
        _write(out, folders, found)
    if any(counts["differences"] for counts in found.values()):
        raise typer.Exit(1)


def _write(out: Path, folders: Iterable[Path], replays: Mapping[str, Mapping[str, int]]) -> None:
    """Write what the datasets contain, and how many replays differed, for the manual."""
    summaries = dict[str, dict[str, Any]]()
    for folder in folders:
        read = json.loads((folder / METRICS).read_text(encoding="utf-8"))
        summaries[read["dataset"]] = {key: value for key, value in read.items() if key != "last_run"}
    rows = [[name, *counts.values()] for name, counts in replays.items()]
    table = markdown_table(["dataset", "episodes replayed twice", "steps", "differences"], rows)
    out.mkdir(parents=True, exist_ok=True)
    write_json(out / METRICS, {"datasets": summaries, "replays": replays})
    atomic_write_bytes(out / TABLE, f"{tables(summaries)}\n{table}\n".encode())
    write_run(out, "sim.datasets.verify")


if __name__ == "__main__":
    run_function(verify)
