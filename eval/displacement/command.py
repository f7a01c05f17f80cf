"""`python -m eval.displacement`: the smallest displacement that is detected behind each sensor."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eval.common.identity import identity
from eval.common.output import in_workers, write_results
from eval.common.systems import system_of
from eval.displacement import tables
from eval.displacement.looks import Look, looks_at
from nsrecover.errors import InvalidConfiguration
from sim.common.cameras import FRONT, LEFT, RIGHT
from sim.common.folder import claim_folder, read_ledger
from sim.sensors.presets import sensor

FORMAT = 2
"""Version of the ledger of looks."""

CAMERAS = {view.name: view for view in (LEFT, RIGHT, FRONT)}


@dataclass
class DisplacementConfig:
    """Top level of conf/displacement.yaml."""

    seed: int = 0
    scenes: int = 200
    objects: int = 5
    distances_mm: list[float] = field(default_factory=list)
    repeats: int = 4
    looks: int = 3
    rate: float = 0.01
    sensors: list[str] = field(default_factory=list)
    views: list[str] = field(default_factory=lambda: ["left", "right"])
    checkpoint: str | None = None
    workers: int = 2
    out: str = "outputs/displacement"


def measure(config: DisplacementConfig) -> dict[str, Any]:
    """Displace one object in every scene, and write metrics, table and figure.

    Args:
        config: see conf/displacement.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used, or the folder holds other results.
    """
    _check(config)
    out = Path(config.out)
    task = partial(
        looks_at,
        seed=config.seed,
        objects=config.objects,
        distances_mm=tuple(config.distances_mm),
        repeats=config.repeats,
        sensors=tuple(config.sensors),
        views=tuple(CAMERAS[name] for name in config.views),
        checkpoint=config.checkpoint,
        observations=config.looks,
    )
    manifest = {key: value for key, value in asdict(config).items() if key not in ("workers", "out", "scenes", "rate")}
    manifest = identity("eval.displacement.command", {"format": FORMAT, **manifest}, [config.checkpoint])
    with claim_folder(out, manifest, "the looks of a measurement"):
        ledger = out / "looks.jsonl"
        done = dict(read_ledger(ledger, _parsed, None))
        left = [scene for scene in range(config.scenes) if scene not in done]
        results = in_workers(task, left, config.workers, "scene", "displacing")
        with ledger.open("a", encoding="utf-8") as file:
            for scene, looks in zip(left, results, strict=True):
                done[scene] = looks
                file.write(json.dumps({"scene": scene, "looks": [asdict(look) for look in looks]}) + "\n")
                file.flush()
        every = [look for scene in range(config.scenes) for look in done[scene]]
        found = {
            name: tables.summary([look for look in every if look.sensor == name], config.rate)
            for name in config.sensors
        }
        metrics = {"seed": config.seed, "scenes": config.scenes, "rate": config.rate, "sensors": found}
        tables.draw(found, out)
        write_results(out, metrics, tables.markdown(found, config.rate), config)
    return metrics


def _check(config: DisplacementConfig) -> None:
    """Refuse settings that cannot be used, before the work begins."""
    system_of(config.checkpoint)
    for name in config.sensors:
        sensor(name)
    unknown = [name for name in config.views if name not in CAMERAS]
    if unknown or not config.views:
        raise InvalidConfiguration(f"expected views among {', '.join(CAMERAS)}, found {list(config.views)}")
    if (
        config.scenes < 4
        or min(config.repeats, config.looks) < 1
        or not 0 < config.rate < 0.5
        or min(config.distances_mm, default=0) <= 0
    ):
        raise InvalidConfiguration(
            "expected at least 4 scenes, 1 repeat, 1 look, a rate between 0 and 0.5 and distances above 0, found "
            f"scenes={config.scenes}, repeats={config.repeats}, looks={config.looks}, rate={config.rate}, "
            f"distances_mm={list(config.distances_mm)}"
        )


def _parsed(line: str) -> tuple[int, list[Look]]:
    data = json.loads(line)
    return int(data["scene"]), [Look(**look) for look in data["looks"]]
