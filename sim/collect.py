"""`python -m sim.collect`: record successful demonstrations, resumable, the same whatever the number of workers."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from joblib import Parallel, delayed
from omegaconf import OmegaConf
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from nsrecover.errors import InvalidConfiguration, told_in_one_line
from sim.demonstrations import Mix, Outcome, demonstrate

FORMAT = 1
"""Version of the folder's layout and of how an episode follows from its number; raise it when either changes."""
MANIFEST, LEDGER, METRICS, CONFIG = "manifest.json", "outcomes.jsonl", "metrics.json", "config.yaml"


@dataclass
class CollectConfig:
    """Top level of conf/collect.yaml."""

    transitions: int = 3000
    seed: int = 0
    out: str = "data/demos"
    workers: int = 2
    objects: list[int] = field(default_factory=lambda: list(Mix().objects))
    lengths: list[int] = field(default_factory=lambda: list(Mix().lengths))
    structures: list[str] = field(default_factory=lambda: list(Mix().structures))
    vary_light: bool = True

    def mix(self) -> Mix:
        """What episodes are made of.

        Raises:
            InvalidConfiguration: a value is out of its range.
        """
        return Mix(tuple(self.objects), tuple(self.lengths), tuple(self.structures), self.vary_light)


def episode_path(out: Path, episode: int) -> Path:
    """Where the recording of an episode is."""
    return out / f"episode_{episode:06d}.npz"


def collect(config: CollectConfig) -> dict[str, Any]:
    """Record demonstrations until there are enough transitions; go on where an earlier run stopped.

    Args:
        config: see conf/collect.yaml.

    Returns:
        What is written to metrics.json.

    Raises:
        InvalidConfiguration: a value is out of its range, or the folder belongs to another seed or mix.
    """
    if config.transitions < 1 or config.workers < 1 or config.seed < 0:
        raise InvalidConfiguration(
            f"expected transitions and workers of at least 1 and a seed of at least 0, found "
            f"transitions={config.transitions}, workers={config.workers}, seed={config.seed}"
        )
    mix, out = config.mix(), Path(config.out)
    _claim(out, mix, config.seed)
    started = time.perf_counter()
    outcomes = _read_ledger(out)
    before = sum(outcome.transitions for outcome in outcomes)
    with tqdm(total=config.transitions, initial=before, unit="transition", desc="demonstrations") as bar:
        _restore_files(out, mix, config, outcomes)
        with (out / LEDGER).open("a", encoding="utf-8") as ledger:
            for outcome in _episodes(out, mix, config, outcomes):
                ledger.write(json.dumps(asdict(outcome), sort_keys=True) + "\n")
                ledger.flush()
                outcomes.append(outcome)
                bar.update(outcome.transitions)
                bar.set_postfix(dropped=sum(bool(item.reason) for item in outcomes), refresh=False)
    # what workers recorded beyond the last episode that was needed
    known = {episode_path(out, outcome.episode) for outcome in outcomes}
    for path in set(out.glob("episode_*.npz")) - known:
        path.unlink()
    seconds = time.perf_counter() - started
    metrics = summary(outcomes) | {"seed": config.seed, "seconds": round(seconds, 1)}
    metrics["transitions_per_second"] = round((metrics["transitions"] - before) / max(seconds, 1e-9), 2)
    _write(out / METRICS, json.dumps(metrics, indent=2) + "\n")
    _write(out / CONFIG, OmegaConf.to_yaml(OmegaConf.structured(config)))
    return metrics


def summary(outcomes: list[Outcome]) -> dict[str, Any]:
    """Counts over all episodes so far: kept, dropped by reason, structures, operators, transitions."""
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
        "operators": dict(sorted(operators.items())),
    }


def fingerprint(mix: Mix, seed: int) -> str:
    """Changes with everything that decides what an episode of a number is."""
    text = json.dumps({"format": FORMAT, "seed": seed, "mix": mix.to_dict()}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _claim(out: Path, mix: Mix, seed: int) -> None:
    """Make the folder ours, or check that it is."""
    manifest = {"format": FORMAT, "seed": seed, "mix": mix.to_dict(), "fingerprint": fingerprint(mix, seed)}
    path = out / MANIFEST
    if path.is_file():
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise InvalidConfiguration(
                f"expected the manifest of a collection in {path}, found other text; use another out=DIR"
            )
        differing = [key for key in ("format", "seed", "mix") if found.get(key) != manifest[key]]
        if differing:
            raise InvalidConfiguration(
                f"expected {out} to hold a collection with "
                f"{', '.join(f'{key}={json.dumps(manifest[key])}' for key in differing)}, found "
                f"{', '.join(f'{key}={json.dumps(found.get(key))}' for key in differing)}; "
                "choose another out=DIR, the same settings, or delete the folder"
            )
        return
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise InvalidConfiguration(
            f"expected an empty folder or a collection at {out}, found something else; choose another out=DIR"
        )
    out.mkdir(parents=True, exist_ok=True)
    _write(path, json.dumps(manifest, indent=2) + "\n")


def _read_ledger(out: Path) -> list[Outcome]:
    """Outcomes of earlier runs, in order; a last line that was cut off is cut away."""
    path = out / LEDGER
    if not path.is_file():
        return []
    outcomes, whole = list[Outcome](), 0
    for line in path.read_bytes().splitlines(keepends=True):
        try:
            outcome = Outcome(**json.loads(line))
        except (ValueError, TypeError):
            break
        if not line.endswith(b"\n") or outcome.episode != len(outcomes):
            break
        outcomes.append(outcome)
        whole += len(line)
    os.truncate(path, whole)
    return outcomes


def _restore_files(out: Path, mix: Mix, config: CollectConfig, outcomes: list[Outcome]) -> None:
    """Record again what the ledger has and the folder has not."""
    lost = [o.episode for o in outcomes if not o.reason and not episode_path(out, o.episode).is_file()]
    if lost:
        Parallel(n_jobs=config.workers)(
            delayed(demonstrate)(mix, config.seed, episode, episode_path(out, episode)) for episode in lost
        )


def _episodes(out: Path, mix: Mix, config: CollectConfig, outcomes: list[Outcome]) -> Iterator[Outcome]:
    """New episodes in the order of their numbers, until there are enough transitions.

    Episodes run in batches that get smaller towards the end, so that little is recorded in vain.
    """
    left = config.transitions - sum(outcome.transitions for outcome in outcomes)
    first = len(outcomes)
    with Parallel(n_jobs=config.workers, return_as="generator") as parallel:
        while left > 0:
            size = min(16 * config.workers, max(config.workers, left // max(mix.lengths)))
            batch = parallel(
                delayed(demonstrate)(mix, config.seed, episode, episode_path(out, episode))
                for episode in range(first, first + size)
            )
            first += size
            # the whole batch is waited for even when its last episodes are not needed any more
            for outcome in batch:
                if left > 0:
                    left -= outcome.transitions
                    yield outcome


def _write(path: Path, text: str) -> None:
    """Write a text file whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    part.write_text(text, encoding="utf-8")
    part.replace(path)


def print_table(metrics: dict[str, Any], out: str) -> None:
    """The short table at the end."""
    table = Table(title=f"demonstrations in {out}")
    table.add_column("what")
    table.add_column("count", justify="right")
    table.add_row("transitions", str(metrics["transitions"]))
    table.add_row("episodes kept", str(metrics["kept"]))
    for structure, count in metrics["structures"].items():
        table.add_row(f"  {structure}", str(count))
    table.add_row("episodes dropped", str(sum(metrics["dropped"].values())))
    for reason, count in metrics["dropped"].items():
        table.add_row(f"  {reason}", str(count))
    table.add_row("transitions a second", str(metrics["transitions_per_second"]))
    Console().print(table)


@hydra.main(version_base="1.3", config_path="../conf", config_name="collect")
def main(config: CollectConfig) -> None:
    """Entry point."""
    with told_in_one_line(resumable=True):
        settings = OmegaConf.to_object(config)
        assert isinstance(settings, CollectConfig)
        print_table(collect(settings), settings.out)


if __name__ == "__main__":
    ConfigStore.instance().store(name="collect_schema", node=CollectConfig)
    main()
