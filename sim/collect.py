"""`python -m sim.collect`: record successful demonstrations; resumable, and independent of the number of workers."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import shlex
import shutil
import time
from collections import Counter
from collections.abc import Generator, Iterable
from contextlib import closing
from dataclasses import asdict, dataclass, field
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import option, run
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.archive import Archive, pack_archives
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.cameras import DEFAULT_RIG
from sim.common.demonstrations import EpisodeOutcome, part_path, record_episode
from sim.common.folder import claim_folder, read_ledger, write_json
from sim.common.groups import instantiate_group
from sim.common.parallel import Backend, run_parallel
from sim.kitchen import demonstrations as kitchen
from sim.kitchen.demonstrations import KitchenMix
from sim.kitchen.task_list import TASKS
from sim.sensors.presets import sensor_of
from sim.tabletop import demonstrations as tabletop
from sim.tabletop.demonstrations import DemonstrationMix, for_demonstrations
from sim.tabletop.scene_mix import DEFAULT_MIX

FORMAT = 2
"""Version of the folder's layout and of the generation from numbers; increase it when either changes."""
FILE = "demonstrations.h5"
"""All kept episodes, see `nsrecover.records.archive`."""
PARTS = "parts"
"""Folder of episodes that are not in `FILE` yet, see `sim.common.journal`."""
LEDGER, METRICS, CONFIG = "outcomes.jsonl", "metrics.json", "config.yaml"


class Domain(Enum):
    """What is demonstrated."""

    tabletop = "tabletop"
    household = "household"


@dataclass
class CollectConfig:
    """Record successful demonstrations in simulation, or continue an interrupted run.

      python -m sim.collect                                   3,000 transitions into data/demos; minutes on 2 cores
      python -m sim.collect domain=household out=DIR          household tasks in a kitchen; half an hour on 2 cores
      python -m sim.collect seed=1 transitions=2100 out=data/demos_heldout      others, for the calibration
      python -m sim.collect 'objects=[3,5]' 'structures=[tower]' out=DIR        towers of 3 or 5 objects only
      python -m sim.collect scene=small cameras=three out=DIR smaller blocks, three cameras
      python -m sim.collect scene.light=null fidelity=kinematic out=DIR         one light, no arm
      python -m sim.collect sensor=d435 out=DIR               seen through a realistic sensor (docs/sensors.md)
      python -m sim.collect workers=8                         the same episodes, sooner
      RAY_ADDRESS=auto python -m sim.collect workers=64 parallel=ray       the same episodes, on a Ray cluster whose
                                                              machines share this checkout and `out`

    Plans are sampled and executed without faults. An episode is dropped, and counted with its reason, if an action
    does not have the effects of its operator or moves another object. All other episodes are written to one file,
    out/demonstrations.h5 (see docs/recordings.md). A larger number of transitions extends the same file.

    domain=household carries out household tasks in sampled kitchens with the plans of the common search. An episode is
    kept if after every action exactly that is true what the domain expects. The settings of scenes, plans and cameras
    are those of the tabletop, and do not apply.

    Training follows objects by their numbers. So each object keeps one number through all sensors: masks are not
    merged, split or made up, and numbers do not change; all other errors of the sensor are applied. The file records
    the sensor. Errors follow from the seed, the episode and the number of the observation.

    Every transition is written to disk before the next one begins. Start a killed run again with the same command:
    it continues in the middle of the episode. Until the end the episodes are in out/parts.

    Attributes:
        domain: tabletop: sampled plans over blocks; household: the ten tasks in a kitchen, whose settings are tasks
            and layouts.
        transitions: number of actions to record.
        seed: the same seed gives the same demonstrations.
        out: output folder; it belongs to one seed and mix, and a second run continues where the first one stopped.
        workers: number of processes, or of Ray tasks at a time; the result does not depend on it.
        parallel: loky: processes on this machine; ray: the cluster at RAY_ADDRESS, or one started on this machine.
        objects: numbers of objects; every entry is drawn equally often, repeat one to draw it more often; null:
            those of the scene.
        lengths: numbers of actions in a plan, drawn in the same way.
        structures: what plans build, drawn in the same way.
        vary_light: whether every episode has its own lighting.
        fidelity: physics: the arm carries out every action; kinematic: objects are moved without the arm, which is
            much faster.
        tasks: household tasks by number or name, drawn in the same way: T1 is boil water, T10 serve warm water
            (docs/kitchen.md).
        layouts: numbers of kitchen layouts, drawn in the same way; null: all that are not held out.
        microphone: household: whether the robot also hears; recordings are stored with the observations.
        varied: household: share of the vessels that no action touches that are filled, and of those that are dirty.
        scene: see conf/scene.
        cameras: see conf/cameras.
        sensor: see conf/sensor.
    """

    domain: Domain = Domain.tabletop
    transitions: int = 3000
    seed: int = 0
    out: str = "data/demos"
    workers: int = 2
    parallel: Backend = Backend.loky
    objects: list[int] | None = None
    lengths: list[int] = field(default_factory=lambda: list(DemonstrationMix().lengths))
    structures: list[str] = field(default_factory=lambda: list(DemonstrationMix().structures))
    vary_light: bool = True
    fidelity: str = "physics"
    tasks: list[str] = field(default_factory=lambda: [task.code for task in TASKS.values()])
    layouts: list[int] | None = None
    microphone: bool = False
    varied: float = 0.0
    scene: Any = option("default")
    cameras: Any = option("opposed")
    sensor: Any = option("clean")

    def mix(self) -> DemonstrationMix | KitchenMix:
        """The distribution of episodes.

        Raises:
            InvalidConfiguration: a value is out of range.
        """
        if self.domain is Domain.household:
            layouts = None if self.layouts is None else tuple(self.layouts)
            sensor = for_demonstrations(sensor_of(self.sensor))
            return KitchenMix(tuple(self.tasks), layouts, microphone=self.microphone, varied=self.varied, sensor=sensor)
        if self.microphone or self.varied:
            raise InvalidConfiguration(
                f"expected microphone and varied with domain=household only, found microphone={self.microphone} and "
                f"varied={self.varied} with domain=tabletop"
            )
        return DemonstrationMix(
            None if self.objects is None else tuple(self.objects),
            tuple(self.lengths),
            tuple(self.structures),
            self.vary_light,
            DEFAULT_MIX if self.scene is None else instantiate_group("scene", self.scene),
            DEFAULT_RIG if self.cameras is None else instantiate_group("cameras", self.cameras),
            self.fidelity,
            for_demonstrations(sensor_of(self.sensor)),
        )


def collect(config: CollectConfig, command: str | None = None) -> dict[str, Any]:
    """Record demonstrations until there are enough transitions; continue where an earlier run stopped.

    Args:
        config: the settings.
        command: the command that gives the same episodes again; noted in the file.

    Returns:
        The metrics, as in metrics.json.

    Raises:
        InvalidConfiguration: a value is out of range, the folder belongs to another seed or mix, or another collector
            works in it.
    """
    if config.transitions < 1 or config.workers < 1 or config.seed < 0:
        raise InvalidConfiguration(
            f"expected transitions and workers of at least 1 and a seed of at least 0, found "
            f"transitions={config.transitions}, workers={config.workers}, seed={config.seed}"
        )
    mix, out = config.mix(), Path(config.out)
    manifest = {"format": FORMAT, "seed": config.seed, "mix": mix.to_dict()}
    with claim_folder(out, manifest | {"fingerprint": fingerprint(mix, config.seed)}, "a collection"):
        return _collect(config, mix, out, command)


def _collect(
    config: CollectConfig, mix: DemonstrationMix | KitchenMix, out: Path, command: str | None
) -> dict[str, Any]:
    """Collect into a folder that is locked."""
    started = time.perf_counter()
    outcomes = read_ledger(
        out / LEDGER, lambda line: EpisodeOutcome(**json.loads(line)), lambda outcome: outcome.episode
    )
    before = sum(outcome.transitions for outcome in outcomes)
    _record_lost(out, mix, config, outcomes)
    left = config.transitions - before
    with (
        tqdm(total=config.transitions, initial=before, unit="transition", desc="demonstrations") as bar,
        (out / LEDGER).open("a", encoding="utf-8") as ledger,
        closing(_episodes(out, mix, config, itertools.count(len(outcomes)))) as episodes,
    ):
        while left > 0:
            outcome = next(episodes)
            ledger.write(json.dumps(asdict(outcome), sort_keys=True) + "\n")
            ledger.flush()
            outcomes.append(outcome)
            left -= outcome.transitions
            bar.update(outcome.transitions)
            bar.set_postfix(dropped=sum(bool(item.reason) for item in outcomes), refresh=False)
    attributes = {"seed": config.seed, "mix": mix.to_dict()}
    _pack(out, outcomes, attributes if command is None else {"command": command} | attributes)
    seconds = time.perf_counter() - started
    metrics = summary(outcomes) | {"seed": config.seed, "seconds": round(seconds, 1)}
    metrics["transitions_per_second"] = round((metrics["transitions"] - before) / max(seconds, 1e-9), 2)
    write_json(out / METRICS, metrics)
    atomic_write_bytes(out / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)).encode())
    return metrics


def summary(outcomes: list[EpisodeOutcome]) -> dict[str, Any]:
    """Counts over all episodes: kept, dropped by reason, structures, operators, transitions."""
    kept = [outcome for outcome in outcomes if not outcome.reason]
    operators: Counter[str] = Counter()
    for outcome in kept:
        operators.update(outcome.operators or {})
    return {
        "transitions": sum(outcome.transitions for outcome in kept),
        "episodes": len(outcomes),
        "kept": len(kept),
        "dropped": dict(sorted(Counter(outcome.reason for outcome in outcomes if outcome.reason).items())),
        "structures": dict(sorted(Counter(outcome.structure for outcome in kept).items())),
        "objects": _histogram(outcome.objects for outcome in kept),
        "lengths": _histogram(outcome.transitions for outcome in kept),
        "operators": dict(sorted(operators.items())),
    }


def _histogram(numbers: Iterable[int]) -> dict[str, int]:
    """Frequency of each number, in ascending order, with text keys as in JSON."""
    return {str(number): count for number, count in sorted(Counter(numbers).items())}


def fingerprint(mix: DemonstrationMix | KitchenMix, seed: int) -> str:
    """Hash of everything that decides the episodes."""
    text = json.dumps({"format": FORMAT, "seed": seed, "mix": mix.to_dict()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _episodes(
    out: Path, mix: DemonstrationMix | KitchenMix, config: CollectConfig, numbers: Iterable[int]
) -> Generator[EpisodeOutcome, None, None]:
    """Results of episodes, in order."""
    (out / PARTS).mkdir(exist_ok=True)
    parts = str((out / PARTS).resolve())
    perform: Any = kitchen.perform if isinstance(mix, KitchenMix) else tabletop.perform
    function = partial(record_episode, partial(perform, mix, config.seed), parts)
    return run_parallel(function, numbers, config.workers, config.parallel)


def _record_lost(
    out: Path, mix: DemonstrationMix | KitchenMix, config: CollectConfig, outcomes: list[EpisodeOutcome]
) -> None:
    """Record episodes again that are in the ledger but not in the folder."""
    packed = _packed(out)
    kept = [outcome.episode for outcome in outcomes if not outcome.reason]
    lost = [number for number in kept if number not in packed and not part_path(out / PARTS, number).is_file()]
    if lost:
        with closing(_episodes(out, mix, config, lost)) as again:
            for _ in tqdm(again, total=len(lost), unit="episode", desc="recording lost episodes again"):
                pass


def _packed(out: Path) -> frozenset[int]:
    """Numbers of the episodes in `FILE`."""
    if not (out / FILE).is_file():
        return frozenset()
    with Archive(out / FILE, trusted=True) as archive:
        return frozenset(archive.episodes)


def _pack(out: Path, outcomes: list[EpisodeOutcome], attributes: dict[str, Any]) -> None:
    """Merge all finished episodes into `FILE` and delete the parts."""
    packed = _packed(out)
    new = [o.episode for o in outcomes if not o.reason and o.episode not in packed]
    if new:
        sources = [out / FILE] * bool(packed) + [part_path(out / PARTS, number) for number in new]
        pack_archives(out / FILE, sources, attributes)
    # this also deletes episodes that workers began beyond the last needed one
    shutil.rmtree(out / PARTS, ignore_errors=True)


def print_table(metrics: dict[str, Any], out: str) -> None:
    """Print the final table."""
    table = Table(title=f"demonstrations in {out}/{FILE}")
    table.add_column("what")
    table.add_column("count", justify="right")
    table.add_row("transitions", str(metrics["transitions"]))
    table.add_row("episodes kept", str(metrics["kept"]))
    for structure, count in metrics["structures"].items():
        table.add_row(f"  {structure}", str(count))
    for number, count in metrics["objects"].items():
        table.add_row(f"  of {number} objects", str(count))
    for number, count in metrics["lengths"].items():
        table.add_row(f"  of {number} actions", str(count))
    table.add_row("episodes dropped", str(sum(metrics["dropped"].values())))
    for reason, count in metrics["dropped"].items():
        table.add_row(f"  {reason}", str(count))
    table.add_row("transitions a second", str(metrics["transitions_per_second"]))
    Console().print(table)


def main(settings: CollectConfig) -> None:
    """Collect, and print the table."""
    # workers and output folder do not change the contents
    given = [word for word in HydraConfig.get().overrides.task if not re.match(r"(out|workers|parallel)=", word)]
    print_table(collect(settings, shlex.join(["python", "-m", "sim.collect", *given])), settings.out)


if __name__ == "__main__":
    run("collect", CollectConfig, main, resumable=True)
