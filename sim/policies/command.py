"""`python -m sim.policies`: records episodes in resumable pieces and writes them as two LeRobot datasets."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from nsrecover.errors import require_known
from nsrecover.inspection.dataset import VERSIONS, DatasetLayout, RecordedFrames, write_dataset
from nsrecover.util.atomic_write import atomic_path, atomic_write_bytes
from sim.common.parallel import run_parallel
from sim.policies.recording import Truth, record
from sim.policies.tasks import KINDS, MIX, episode_of, in_words, task_of
from sim.sensors.presets import sensor

GOOD, OTHERS, TRUTH = "good", "others", "truth.json"
Item = tuple[str, int, int]


@dataclass
class PoliciesConfig:
    """Record a scripted policy and write LeRobot datasets: OUT/good has successes, OUT/others successes and failures.

      python -m sim.policies                                  3 tasks; about 15 minutes of one core
      python -m sim.policies tasks=1 good=4 others=4 out=DIR  a small one

    Colour, depth and masks as the sensor and its detector give them; OUT/truth.json has what the simulator knows about
    the episodes of OUT/others. The same command continues.

    Attributes:
        tasks: their number; each has its own objects and plan.
        good: successful episodes of each task.
        others: other episodes of each task; every second one is disturbed.
        seed: another seed gives other tasks.
        sensor: of the cameras, see conf/sensor.
        rate_hz: frames a second.
        version: of the format, v2.1 or v3.0.
        workers: number of processes.
        out: output folder.
    """

    tasks: int = 3
    good: int = 40
    others: int = 40
    seed: int = 5301
    sensor: str = "d435"
    rate_hz: float = 2.0
    version: str = "v3.0"
    workers: int = 1
    out: str = "data/policies"


def main(config: PoliciesConfig) -> None:
    """Record what is missing, and write the datasets."""
    sensor(config.sensor)
    require_known(config.version, VERSIONS, "a known version")
    counts = {GOOD: config.good, OTHERS: config.others}
    items = [(part, task, n) for n in range(max(counts.values())) for task in range(config.tasks) for part in counts]
    items = [item for item in items if item[2] < counts[item[0]]]
    with closing(run_parallel(partial(recorded, config=config), items, config.workers)) as every:
        truths = dict(zip(items, tqdm(every, total=len(items), unit="episode", desc="recording"), strict=True))
    kept = {part: [each for each in sorted(items) if each[0] == part] for part in counts}
    kept[GOOD] = [each for each in kept[GOOD] if truths[each].succeeded]
    views = tuple(view.camera(MIX.rig.width, MIX.rig.height) for view in MIX.rig.views)
    layout = DatasetLayout(config.version, config.rate_hz, views, (MIX.rig.height, MIX.rig.width), names_of(config))
    for part, own in kept.items():
        episodes = (
            RecordedFrames(pq.read_table(_path(item, config)).to_pylist(), in_words(task_of(config.seed, item[1]).plan))
            for item in own
        )
        if own:
            write_dataset(Path(config.out) / part, episodes, layout)
    told = [asdict(truths[each]) for each in kept[OTHERS]]
    atomic_write_bytes(Path(config.out) / TRUTH, json.dumps(told, indent=1).encode())
    failed = sum(not each["succeeded"] for each in told)
    print(f"{len(kept[GOOD])} successes, {len(told)} others of which {failed} failed, in {config.out}")


def names_of(config: PoliciesConfig) -> tuple[str, ...]:
    """The objects of all tasks."""
    every = {name for task in range(config.tasks) for name in task_of(config.seed, task).scene.names}
    return tuple(sorted(every))


def recorded(item: Item, config: PoliciesConfig) -> Truth:
    """Carry out an episode and keep its frames, unless they are there."""
    part, task, number = item
    path = _path(item, config)
    told = path.with_suffix(".json")
    if not told.is_file():
        kind = KINDS[(number // 2 + task) % len(KINDS)] if part == OTHERS and number % 2 else ""
        episode = episode_of(config.seed, task, number + 100_000 * (part == OTHERS), kind)
        frames, truth = record(episode, sensor(config.sensor), names_of(config), config.rate_hz)
        with atomic_path(path) as made:
            pq.write_table(pa.Table.from_pylist(frames), made)
        atomic_write_bytes(told, json.dumps(asdict(truth)).encode())
    data = json.loads(told.read_text(encoding="utf-8"))
    return Truth(**{**data, "objects": tuple(data["objects"])})


def _path(item: Item, config: PoliciesConfig) -> Path:
    return Path(config.out) / "parts" / f"{item[0]}_{item[1]}_{item[2]:04d}.parquet"
