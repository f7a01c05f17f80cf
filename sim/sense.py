"""`python -m sim.sense`: exact demonstrations as they are seen through sensors, without simulating them again."""

from __future__ import annotations

import shlex
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import run
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive, write_archive
from nsrecover.records.recording import Recording
from sim.collect import FILE
from sim.common.parallel import run_parallel
from sim.sensors.presets import sensor
from sim.sensors.sensor import Sensor, recorded
from sim.tabletop.demonstrations import for_demonstrations


@dataclass
class SenseConfig:
    """See demonstrations that were recorded with exact images through sensors, without simulating them again.

      python -m sim.sense                                     data/demos through all sensors, into data/demos_sensed
      python -m sim.sense demos=data/demos_heldout out=data/demos_heldout_sensed
      python -m sim.sense 'sensors=[d435]' out=DIR            through one sensor
      python -m train data.train=data/demos_sensed data.held_out=data/demos_heldout_sensed       train with them

    The cameras are not moved: a calibration error is one of the poses that the file states. As in python -m
    sim.collect sensor=NAME, every object keeps one number, and masks are not merged, split or made up.

    Attributes:
        demos: folder or file of exact demonstrations, from `python -m sim.collect`.
        sensors: names of sensors (conf/sensor); every episode is seen through one of them, in turn.
        seed: another seed gives other errors.
        workers: number of processes; the result does not depend on it.
        out: output folder.
    """

    demos: str = "data/demos"
    sensors: list[str] = field(default_factory=lambda: ["clean", "d435", "tof", "stereo", "harsh"])
    seed: int = 1000
    workers: int = 2
    out: str = "data/demos_sensed"


def sense(config: SenseConfig, command: str | None = None) -> Counter[str]:
    """See every episode through one of the sensors, in turn, and write them to a file.

    Args:
        config: the settings.
        command: the command that gives the same file again; noted in it.

    Returns:
        How many episodes were seen through each.

    Raises:
        InvalidRecording: there is no file of episodes, or it is damaged.
        InvalidConfiguration: a sensor does not exist, or the file has been seen through one already.
    """
    if not config.sensors or config.workers < 1:
        raise InvalidConfiguration(
            f"expected at least one sensor and one worker, found sensors={list(config.sensors)}, "
            f"workers={config.workers}"
        )
    sensors = [for_demonstrations(sensor(name)) for name in config.sensors]
    given, out = Path(config.demos), Path(config.out)
    source = given / FILE if given.is_dir() else given
    if source.resolve() == (out / FILE).resolve():
        raise InvalidConfiguration(f"expected another folder for the result, found the same, {out}; set out=DIR")
    with Archive(source, trusted=True) as archive:
        episodes = archive.episodes
    out.mkdir(parents=True, exist_ok=True)
    task = partial(_seen, source=source, sensors=sensors, seed=config.seed)
    every = list(enumerate(episodes))
    with closing(run_parallel(task, every, config.workers)) as seen:
        bar = tqdm(seen, total=len(episodes), unit="episode", desc="seeing")
        attributes = {"sensors": " ".join(config.sensors), "seed": config.seed}
        write_archive(out / FILE, bar, attributes | ({} if command is None else {"command": command}))
    return Counter(config.sensors[turn % len(sensors)] for turn, _ in every)


def _seen(item: tuple[int, int], source: Path, sensors: list[Sensor], seed: int) -> Recording:
    """One episode through the sensor whose turn it is."""
    turn, number = item
    chosen = sensors[turn % len(sensors)]
    with Archive(source, trusted=True) as archive:
        exact = archive[number]
    if "sensor" in exact.notes:
        raise InvalidConfiguration(
            f"expected exact demonstrations in {source}, found some that were seen through a sensor; collect them "
            "with sensor=clean"
        )
    stream = chosen.stream(len(exact.observations[0].cameras), seed + number)
    observations = tuple(stream.observe(recorded(observation)) for observation in exact.observations)
    return replace(exact, observations=observations, notes={**exact.notes, "sensor": chosen.to_dict()})


def main(settings: SenseConfig) -> None:
    """See the episodes, and print the table."""
    given = [word for word in HydraConfig.get().overrides.task if not word.startswith(("out=", "workers="))]
    table = Table("sensor", "episodes", title=f"demonstrations in {settings.out}/{FILE}")
    for name, count in sense(settings, shlex.join(["python", "-m", "sim.sense", *given])).items():
        table.add_row(name, str(count))
    Console().print(table)


if __name__ == "__main__":
    run("sense", SenseConfig, main)
