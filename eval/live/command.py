"""`python -m eval.live`: the simulated tabletop with its live page, or measurements of the page."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nsrecover
import nsrecover.live
from conf.command import run
from eval.common.command import TABLE
from eval.common.systems import system_of
from eval.live.measuring import measure_delays, measure_slowdown
from eval.live.pictures import photograph
from eval.live.results import write
from eval.live.tabletop import table
from nsrecover.errors import InvalidConfiguration
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor
from sim.tabletop.scenarios import scenario


@dataclass
class LiveConfig:
    """Top level of conf/live.yaml."""

    measure: bool = False
    scenario: str = "collapse"
    seed: int = 0
    episodes: int = 1
    port: int = 8700
    paused: bool = True
    approve: bool = False
    faults: bool = True
    sound: bool = True
    checkpoint: str | None = None
    sensor: Any = None
    repeats: int = 20
    pictures: str | None = None
    out: str = "outputs/live"


def watch(config: LiveConfig, sensor: Sensor) -> None:
    """Serve the page, and run one episode after the other.

    Args:
        config: see conf/live.yaml.
        sensor: through which the robot sees.
    """
    system = system_of(config.checkpoint)
    for number in range(config.episodes):
        item = scenario(config.scenario, config.seed + number)
        with table(item, sensor, config.faults, config.sound) as world:
            agent = nsrecover.RecoveryAgent(system, world)
            with nsrecover.live.page(
                agent, title=f"Simulated tabletop: {item.name}, seed {item.seed}", port=config.port,
                paused=config.paused, approve=config.approve, injector=world,
            ) as page:  # fmt: skip
                print(f"open {page.url}", flush=True)
                episode = agent.run(item.plan)
                print(f"{episode.status.value.replace('_', ' ')}. {episode.reason}".rstrip(), flush=True)
                print("Ctrl-C ends the page" if number + 1 == config.episodes else "Ctrl-C: the next one", flush=True)
                with contextlib.suppress(KeyboardInterrupt):
                    threading.Event().wait()


def measure(config: LiveConfig, sensor: Sensor) -> dict[str, Any]:
    """Measure the time from events to screens, and how much the page slows the robot down.

    Args:
        config: see conf/live.yaml.
        sensor: through which the robot sees.

    Returns:
        The contents of metrics.json.

    Raises:
        InvalidConfiguration: a setting is out of its range, or a browser is missing.
    """
    if config.repeats < 2 or config.episodes < 1:
        raise InvalidConfiguration(
            f"expected at least 2 repeats and 1 episode, found repeats={config.repeats} and episodes={config.episodes}"
        )
    system = system_of(config.checkpoint)
    items = [scenario(config.scenario, config.seed + number) for number in range(config.episodes)]
    metrics = {
        "scenario": config.scenario,
        "seed": config.seed,
        "sensor": sensor.name,
        "delays": measure_delays(system, items, sensor),
        "slowdown": measure_slowdown(system, items, sensor, config.repeats),
    }
    write(config, metrics)
    if config.pictures is not None:
        photograph(system, items[0], sensor, Path(config.pictures))
    return metrics


def _main(config: LiveConfig) -> None:
    sensor = sensor_of(config.sensor)
    if config.measure:
        measure(config, sensor)
        print((Path(config.out) / TABLE).read_text(encoding="utf-8"), end="")
    else:
        watch(config, sensor)


def main() -> None:
    """Entry point of the command."""
    run("live", LiveConfig, _main)
