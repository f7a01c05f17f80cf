"""`python -m sim.film`: films with sound, and pages with pictures, of household tasks and of failures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from nsrecover.errors import InvalidConfiguration
from sim.common.folder import write_json
from sim.common.tables import markdown_table
from sim.film.episodes import chosen, script_of
from sim.film.page import write_page
from sim.film.script import Script
from sim.film.shooting import Footage, shoot
from sim.film.video import write_film
from sim.kitchen.task_list import TASKS, task_of
from sim.kitchen.tasks import draw_task

ALL = "all"


@dataclass
class FilmConfig:
    """Film the plan of a household task, or an episode with failures, and make a page with pictures.

      python -m sim.film task=boil_water                 a film and a page; a minute or two
      python -m sim.film task=T5 seed=3 layout=4         in another kitchen, of a layout that is held out
      python -m sim.film task=all video=false            a page for each of the ten tasks
      python -m sim.film dataset=H1 episode=[12]         an episode with a failure
      python -m sim.film dataset=H1 video=false          a page for each kind of failure

    A film has the sound that the robot's microphone hears. Writes NAME.mp4, the page NAME.jpg, and NAME.json with the
    actions and the sound events.

    Attributes:
        task: a household task by name or code, for instance boil_water or T1; all: every task.
        dataset: an error dataset of the kitchen (H1, H2, H3, H4, H5, A2) instead of a task.
        episode: numbers of its episodes; if empty, the first one of every kind of fault.
        errors: folder of the datasets.
        seed: another seed gives another kitchen.
        layout: 0 to 23; null: any that is not held out from training.
        frames_a_second: pictures a second of the film; the renderer takes 0.15 s for each.
        video: false: only the pages with pictures, which are much quicker.
        out: output folder.
    """

    task: str | None = None
    dataset: str | None = None
    episode: list[int] = field(default_factory=list)
    errors: str = "data/errors"
    seed: int = 0
    layout: int | None = None
    frames_a_second: float = 5.0
    video: bool = True
    out: str = "outputs/film"


def film(config: FilmConfig) -> list[dict[str, Any]]:
    """Write films and pages; what is there already is not made again.

    Args:
        config: the settings.

    Returns:
        One record for each episode, as in its JSON file.

    Raises:
        InvalidConfiguration: a setting is out of range, or there is no such task or episode.
    """
    if not 1 <= config.frames_a_second <= 50:
        raise InvalidConfiguration(f"expected frames_a_second from 1 to 50, found {config.frames_a_second:g}")
    out, records = Path(config.out), []
    scripts = list(scripts_of(config))
    for script in tqdm(scripts, desc="episodes", unit="episode", disable=len(scripts) < 2):
        endings = (".jpg", ".json", ".mp4") if config.video else (".jpg", ".json")
        if all((out / f"{script.name}{ending}").is_file() for ending in endings):
            records.append(json.loads((out / f"{script.name}.json").read_text()))
            continue
        footage = shoot(script, config.frames_a_second if config.video else 0.0)
        if config.video:
            write_film(footage, config.frames_a_second, out / f"{script.name}.mp4")
        write_page(footage, out / f"{script.name}.jpg")
        records.append(record_of(footage))
        write_json(out / f"{script.name}.json", records[-1] | {"events": [each.to_dict() for each in footage.events]})
    print(table_of(records))
    return records


def scripts_of(config: FilmConfig) -> Iterator[Script]:
    """What is filmed."""
    if (config.task is None) == (config.dataset is None):
        raise InvalidConfiguration(
            f"expected either task=NAME ({', '.join(TASKS)}, or {ALL}) or dataset=NAME with episode=[NUMBER], found "
            f"{'neither' if config.task is None else 'both'}"
        )
    if config.dataset is not None:
        for episode in chosen(Path(config.errors) / config.dataset, config.episode):
            yield script_of(episode)
        return
    # on the command line a blank needs quotes
    name = str(config.task).replace("_", " ")
    for task in TASKS.values() if name == ALL else [task_of(name)]:
        spec = draw_task(task.name, config.seed, config.layout)
        where = f"{config.seed}" if config.layout is None else f"{config.seed}-layout{config.layout}"
        yield Script(f"{task.code}_{task.name.replace(' ', '_')}-{where}", spec, spec.plan)


def record_of(footage: Footage) -> dict[str, Any]:
    """What an episode was, and what sound cost."""
    script = footage.script
    heard = sorted({event.label for event in footage.events})
    return {
        "name": script.name,
        "title": script.title,
        "task": script.spec.task.code,
        "seed": script.spec.seed,
        "layout": script.spec.kitchen.layout,
        "trouble": script.trouble,
        "verdict": footage.verdict,
        "actions": [
            {"action": act.text, "begin_s": round(act.begin_s, 2), "failure": act.failure, "trouble": list(act.trouble)}
            for act in footage.acts
        ],
        "seconds": round(footage.seconds, 2),
        "sounds": heard,
        "sound_ms_per_second": round(1000 * footage.sound_cpu_s / max(footage.seconds, 1e-6), 1),
    }


def table_of(records: list[dict[str, Any]]) -> str:
    """A line for each episode, and the median cost of sound."""
    rows = [
        [record["name"], str(len(record["actions"])), f"{record['seconds']:.0f} s", f"{len(record['sounds'])}",
         record["verdict"]]
        for record in records
    ]  # fmt: skip
    cost = float(np.median([record["sound_ms_per_second"] for record in records])) if records else 0.0
    return (
        f"{markdown_table(['episode', 'actions', 'length', 'classes of sounds', 'result'], rows)}\n\n"
        f"a second of sound takes {cost:.0f} ms of processor time (median of the episodes; events and recording)"
    )
