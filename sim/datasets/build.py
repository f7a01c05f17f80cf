"""Error datasets in folders: resumable, and independent of the number of workers.

Those of the tabletop (`kinds`) and of the kitchen (`household`) are written in the same way; a kitchen gives several
episodes at once, because they share its fault-free run.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from omegaconf import OmegaConf
from tqdm import tqdm

from conf.command import option
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.models.outcomes.episode import ContactEpisode
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.common.folder import claim_folder, read_ledger, write_json
from sim.common.groups import instantiate_group
from sim.common.parallel import Backend, run_parallel
from sim.datasets.contact import drawing as contact
from sim.datasets.household import HOUSEHOLD_DATASETS, HouseholdEpisode
from sim.datasets.household import generate as generate_household
from sim.datasets.household.drawing import HouseholdDataset
from sim.datasets.household.summary import markdown as household_markdown
from sim.datasets.household.summary import summarise as household_summarise
from sim.datasets.kinds import DATASETS, ErrorDataset, generate
from sim.datasets.own_operators.build import NAME as OWN_OPERATORS
from sim.datasets.own_operators.build import WORLDS, worlds_table, write_worlds
from sim.datasets.shipped import SEED, manifest_of, shipped_lines
from sim.datasets.spec import EPISODES, ErrorEpisode
from sim.datasets.summary import markdown, summarise

METRICS, CONFIG, TABLE = "metrics.json", "config.yaml", "table.md"
CONTACT_EPISODES = 4000
ALL = "all"


@dataclass
class DatasetsConfig:
    """Generate error datasets, or continue an interrupted run.

      python -m sim.datasets                                  those of the tabletop, as they come with the checkout
      python -m sim.datasets shipped=false out=DIR            generate all of them; most of an hour on 2 cores
      python -m sim.datasets dataset=I                        one of them, into data/errors/I
      python -m sim.datasets dataset=III episodes=50 seed=7 out=DIR     a fresh one
      python -m sim.datasets dataset=I scene=unseen out=DIR   with other objects than in training (conf/scene)
      python -m sim.datasets dataset=VII seed=7 out=DIR           for nsrecover learn place DIR/world000/demonstrations
      python -m sim.datasets dataset=H1 episodes=50 seed=7 out=DIR      of the kitchen; about 3 s of one core each
      python -m sim.datasets.verify data/errors/I             replay 20 of its episodes twice and compare

    I    5 objects, plans of 5 steps, 1 to 5 errors at one step
    II   5 objects, plans of 1 to 8 steps, an error after every step
    III  6 to 10 objects, plans of 5 steps, 5 errors at one step
    IV   no injected errors: tall towers, tight gaps and clutter, in which actions fail unprompted
    V    unrecoverable: an object is gone, out of reach, or without its support; half of them recoverable look-alikes
    VI   8 to 15 objects at any yaw fill the table, plans of 2 or 3 steps, an error after every step
    X    14 to 22 objects, plans of 20 to 40 steps without an arm, with people who help and hinder
    XI   single pushes, rolls, topplings and drops in clutter, half of them with an error; no images
    XI_demos  the same without errors
    VII  worlds with an operator that nobody has written: demonstrations of it as recorded runs, and episodes
    H1   ten household tasks, one failure in each episode
    H2   two to four failures at different steps
    H3   irreversible: the goal is out of reach afterwards; half of them harmless look-alikes
    H4   no injected failures
    H5   what can be saved: going on with the plan would lose the goal for good
    A2   the ten cases of table A2 of Yu et al.

    An episode is one line of episodes.jsonl: scene (for kitchens: task, layout and seed), plan, faults, and which
    objects deviate afterwards, by how much and why (compared with the fault-free run). table.md counts them.

    Attributes:
        dataset: I, II, III, IV, V, VI, X (tabletop), all of these, VII (own operators), XI or XI_demos (outcomes
            that are distributions), or H1, H2, H3, H4, H5, A2 (kitchen).
        episodes: number of episodes; the default number of the dataset if null (I 750, II 1300, III 200, IV 200, V
            120, VI 60, X 60, XI 4000, H1 1000, H2 300, H3 300, H4 200, H5 200, A2 200); of VII the number of worlds
            (20).
        seed: another seed gives other episodes.
        out: output folder; with dataset=all it gets one folder for each dataset.
        workers: number of processes; the result does not depend on it.
        parallel: loky: processes on this machine; ray: a Ray cluster.
        shipped: copy the episodes of seed 0 that come with the checkout; false generates them in an empty folder,
            which takes up to an hour.
        scene: see conf/scene.
    """

    dataset: str = ALL
    episodes: int | None = None
    seed: int = 0
    out: str = "data/errors"
    workers: int = 2
    parallel: Backend = Backend.loky
    shipped: bool = True
    scene: Any = option(None)


@dataclass(frozen=True)
class Batch:
    """Episodes that are drawn together, and their effort.

    Attributes:
        lines: JSON of each.
        redrawn: scenes that were rejected before.
        tried: faults that were tried.
        without_effect: kind -> faults that were tried and rejected; only where that is counted.
    """

    lines: tuple[str, ...]
    redrawn: int
    tried: int
    without_effect: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Source:
    """How a dataset is made.

    Attributes:
        name: of the dataset.
        episodes: default number.
        size: episodes of a batch.
        draw: number of a batch -> the batch; can be sent to another process.
        read: one line -> an episode.
        count: episodes -> summary.
        show: summaries -> tables.
        manifest: of the folder.
        is_shipped: whether the episodes of the shipped seed come with the checkout.
    """

    name: str
    episodes: int
    size: int
    draw: Callable[[int], Batch]
    read: Callable[[str], Any]
    count: Callable[[Sequence[Any]], dict[str, Any]]
    show: Callable[[Mapping[str, Mapping[str, Any]]], str]
    manifest: Mapping[str, Any]
    is_shipped: bool


def build(config: DatasetsConfig) -> dict[str, dict[str, Any]]:
    """Generate one dataset, or all of the tabletop; continue where an earlier run stopped.

    Args:
        config: the settings; `episodes` of VII are worlds.

    Returns:
        Dataset -> its metrics, as in metrics.json.

    Raises:
        InvalidConfiguration: a value is out of range, or a folder belongs to another dataset.
    """
    known = [*DATASETS, *HOUSEHOLD_DATASETS, OWN_OPERATORS, *contact.CONTACT_DATASETS]
    if config.dataset != ALL and config.dataset not in known:
        raise InvalidConfiguration(
            f"expected dataset as one of {', '.join(known)} or {ALL}, found {config.dataset!r}."
            f"{did_you_mean(config.dataset, [*known, ALL])}"
        )
    if config.workers < 1 or config.seed < 0 or (config.episodes is not None and config.episodes < 1):
        raise InvalidConfiguration(
            f"expected workers and episodes of at least 1 and a seed of at least 0, found workers={config.workers}, "
            f"episodes={config.episodes}, seed={config.seed}"
        )
    if config.dataset in known and config.dataset not in DATASETS and config.scene is not None:
        raise InvalidConfiguration(f"expected no scene for dataset {config.dataset}, which has its own; leave it out")
    names = list(DATASETS) if config.dataset == ALL else [config.dataset]
    out = Path(config.out)
    if config.dataset == OWN_OPERATORS:
        folder = out / OWN_OPERATORS if config.out == DatasetsConfig.out else out
        return {OWN_OPERATORS: write_worlds(folder, config.seed, config.episodes or WORLDS)}
    summaries = {}
    for name in names:
        # a single dataset goes exactly into out=DIR
        folder = out / name if config.dataset == ALL or config.out == DatasetsConfig.out else out
        make = _household if name in HOUSEHOLD_DATASETS else _contact if name in contact.CONTACT_DATASETS else _tabletop
        source = make(name, config)
        with claim_folder(folder, source.manifest, "an error dataset"):
            summaries[name] = _generate_all(source, folder, config)
    if config.dataset == ALL:
        atomic_write_bytes(out / TABLE, markdown(summaries).encode())
    return summaries


def tables(summaries: Mapping[str, Mapping[str, Any]]) -> str:
    """The tables of what `build` returns."""
    if OWN_OPERATORS in summaries:
        return worlds_table(dict(summaries[OWN_OPERATORS]))
    if set(summaries) <= set(contact.CONTACT_DATASETS):
        return contact.contact_table(summaries)
    return (household_markdown if set(summaries) <= set(HOUSEHOLD_DATASETS) else markdown)(summaries)


def _tabletop(name: str, config: DatasetsConfig) -> Source:
    """A dataset of the tabletop, with other scenes if the configuration has some."""
    dataset, manifest = DATASETS[name], manifest_of(name, config.seed)
    if config.scene is not None:
        dataset = replace(dataset, mix=instantiate_group("scene", config.scene))  # type: ignore[type-var]
        if dataset.mix != DATASETS[name].mix:
            manifest["scene"] = dataset.mix.to_dict()
    return Source(
        name,
        dataset.episodes,
        1,
        partial(_drawn_scene, dataset, config.seed),
        ErrorEpisode.from_json,
        summarise,
        markdown,
        manifest,
        dataset == DATASETS[name],
    )


def _household(name: str, config: DatasetsConfig) -> Source:
    dataset = HOUSEHOLD_DATASETS[name]
    return Source(
        name,
        dataset.episodes,
        dataset.per_kitchen,
        partial(_drawn_kitchen, dataset, config.seed),
        HouseholdEpisode.from_json,
        household_summarise,
        household_markdown,
        manifest_of(name, config.seed),
        True,
    )


def _contact(name: str, config: DatasetsConfig) -> Source:
    return Source(
        name,
        CONTACT_EPISODES,
        contact.BATCH,
        partial(_drawn_contact, name, config.seed),
        ContactEpisode.from_json,
        contact.summarise_contact,
        contact.contact_table,
        manifest_of(name, config.seed),
        False,
    )


def _drawn_contact(name: str, seed: int, batch: int) -> Batch:
    return Batch(contact.drawn_lines(name, seed, batch), 0, 0)


def _drawn_scene(dataset: ErrorDataset, seed: int, number: int) -> Batch:
    drawn = generate(dataset, seed, number)
    return Batch((drawn.episode.to_json(),), drawn.redrawn, drawn.tried)


def _drawn_kitchen(dataset: HouseholdDataset, seed: int, kitchen: int) -> Batch:
    drawn = generate_household(dataset, seed, kitchen)
    effort = drawn.effort
    lines = tuple(episode.to_json() for episode in drawn.episodes)
    return Batch(lines, effort.kitchens, effort.tried, dict(effort.without_effect))


def _generate_all(source: Source, folder: Path, config: DatasetsConfig) -> dict[str, Any]:
    name, wanted = source.name, config.episodes or source.episodes
    started = time.perf_counter()
    found = read_ledger(folder / EPISODES, source.read, lambda episode: int(episode.number))
    before, redrawn, tried, rejected = len(found), 0, 0, Counter[str]()
    if config.shipped and config.seed == SEED and source.is_shipped:
        lines = list(shipped_lines(name, before, wanted))
        found += map(source.read, lines)
        with (folder / EPISODES).open("a", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in lines)
    drawn_from = len(found)
    batches = range(drawn_from // source.size, -(-wanted // source.size))
    with (
        tqdm(total=wanted, initial=min(drawn_from, wanted), unit="episode", desc=f"dataset {name}") as bar,
        (folder / EPISODES).open("a", encoding="utf-8") as file,
        closing(run_parallel(source.draw, batches, config.workers, config.parallel)) as every,
    ):
        for number, batch in zip(batches, every, strict=True):
            # an earlier run may have wanted a part of the batch
            lines = list(batch.lines[max(0, len(found) - number * source.size) :][: wanted - len(found)])
            file.writelines(line + "\n" for line in lines)
            file.flush()
            found += map(source.read, lines)
            redrawn += batch.redrawn
            tried += batch.tried
            rejected.update(batch.without_effect)
            bar.update(len(lines))
            bar.set_postfix(redrawn=redrawn, refresh=False)
    seconds = round(time.perf_counter() - started, 1)
    summary = source.count(found[:wanted]) | {"dataset": name, "seed": config.seed}
    run: dict[str, Any] = {
        "shipped": drawn_from - before,
        "generated": len(found) - drawn_from,
        "scenes_redrawn": redrawn,
        "faults_tried": tried,
        "seconds": seconds,
    }
    if rejected:
        run["faults_without_effect"] = dict(sorted(rejected.items()))
    write_json(folder / METRICS, summary | {"last_run": run})
    atomic_write_bytes(folder / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)).encode())
    atomic_write_bytes(folder / TABLE, source.show({name: summary}).encode())
    return summary
