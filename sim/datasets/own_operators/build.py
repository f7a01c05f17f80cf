"""Dataset VII in a folder: for each world its demonstrations as recorded runs, and its episodes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tqdm import tqdm

from nsrecover.core import Action, Plan
from nsrecover.core.geometry import as_box
from nsrecover.records.scenes_recording import ScenesRecording, save
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import claim_folder, write_json
from sim.common.tables import document, markdown_table
from sim.datasets.own_operators.conventions import Boxes, convention
from sim.datasets.own_operators.scenes import OPERATOR, demonstrations, episode

NAME, WORLDS, SHOWN, EPISODES = "VII", 20, 200, 15
"""Name of the dataset; default number of worlds; demonstrations and episodes of each."""
DIGITS = 5


def write_worlds(folder: Path, seed: int, worlds: int) -> dict[str, Any]:
    """Write the worlds of a seed; worlds that are complete are kept.

    Returns:
        The contents of metrics.json.

    Raises:
        InvalidConfiguration: the folder holds something else.
    """
    families = []
    with claim_folder(folder, {"format": 1, "dataset": NAME, "seed": seed}, "worlds with their own operators"):
        for number in tqdm(range(worlds), unit="world", desc=f"dataset {NAME}"):
            place = folder / f"world{number:03d}"
            world = convention(seed, number)
            families.append(world.family)
            if (place / "world.json").exists():
                continue
            for index, shown in enumerate(demonstrations(seed, number, world, SHOWN)):
                scenes = tuple({n: as_box(box) for n, box in boxes.items()} for boxes in (shown.before, shown.after))
                plan = Plan((Action(OPERATOR, shown.arguments),))
                save(ScenesRecording(plan, scenes), place / "demonstrations" / f"run{index:04d}.json")
            every = [episode(seed, number, world, index) for index in range(EPISODES)]
            lines = [
                json.dumps({
                    "actions": each.actions, "scenes": [_plain(boxes) for boxes in each.scenes], "fault": each.fault,
                    "shift_m": each.shift.round(DIGITS).tolist(),
                })
                for each in every
            ]  # fmt: skip
            atomic_write_bytes(place / "episodes.jsonl", ("\n".join(lines) + "\n").encode())
            write_json(place / "world.json", {"family": world.family, "tolerance_m": world.tolerance_m})
        metrics = {"dataset": NAME, "seed": seed, "worlds": worlds, "shown": SHOWN, "episodes": worlds * EPISODES}
        write_json(folder / "metrics.json", metrics | {"families": families})
        atomic_write_bytes(folder / "table.md", worlds_table(metrics | {"families": families}).encode())
    return metrics | {"families": families}


def worlds_table(metrics: dict[str, Any]) -> str:
    """The table of `write_worlds`."""
    rows = [[f"world{number:03d}", family] for number, family in enumerate(metrics["families"])]
    head = f"{metrics['shown']} demonstrations and {EPISODES} episodes in each"
    return document(head, markdown_table(["world", "family"], rows))


def _plain(boxes: Boxes) -> dict[str, list[float]]:
    return {name: box.round(DIGITS).tolist() for name, box in boxes.items()}
