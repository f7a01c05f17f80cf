"""`python -m eval.checks.live`: the simulated tabletop with its live page, or measurements of the page."""

from __future__ import annotations

import contextlib
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import nsrecover
import nsrecover.serving.live
from conf.command import option, run
from eval.checks.live.measuring import measure_delays, measure_slowdown, photograph, write
from eval.checks.live.tabletop import table
from eval.common.systems import system_of
from eval.run import TABLE
from nsrecover.errors import InvalidConfiguration
from sim.sensors.presets import sensor_of
from sim.sensors.sensor import Sensor
from sim.tabletop.scenarios import scenario


@dataclass
class LiveConfig:
    """Watch the simulated tabletop on its live page, and make things go wrong; or measure the page.

      python -m eval.checks.live                                     serve the page of one episode
      python -m eval.checks.live scenario=slip seed=3 approve=true   another one; every recovery waits for a person
      python -m eval.checks.live measure=true episodes=5             times, to out=DIR
      python -m eval.checks.live measure=true pictures=docs/live     pictures for the docs, too

    The page prints its address with a token, and waits to be let go on. Needs pip install 'nsrecover[server]';
    measurements need Chromium and pip install 'nsrecover[browser]'.

    Attributes:
        measure: whether to measure the time from events to screens and the slowdown of the robot, instead of
            serving the page.
        scenario: one of: collapse, slip, helper.
        seed: another seed gives another scene, other colours, another order and another moment of the fault.
        episodes: number of episodes, with this seed and the next ones.
        port: port of the page; 0 for any free one.
        paused: whether the robot waits before its first action until a viewer lets it go on.
        approve: whether every recovery waits for a person at first.
        faults: whether the faults of the scenario strike; viewers can inject others.
        sound: whether there is a microphone.
        checkpoint: folder of a checkpoint; the shipped one if null.
        sensor: see conf/sensor.
        repeats: how often an episode is timed with and without the page.
        pictures: folder for pictures of the page; none if null.
        out: output folder.
    """

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
    sensor: Any = option("d435")
    repeats: int = 20
    pictures: str | None = None
    out: str = "outputs/live"


def watch(config: LiveConfig, sensor: Sensor) -> None:
    """Serve the page, and run one episode after the other."""
    system = system_of(config.checkpoint)
    for number in range(config.episodes):
        item = scenario(config.scenario, config.seed + number)
        with table(item, sensor, config.faults, config.sound) as world:
            agent = nsrecover.RecoveryAgent(system, world)
            with nsrecover.serving.live.page(
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


def main(config: LiveConfig) -> None:
    """Measure the page, or serve it."""
    sensor = sensor_of(config.sensor)
    if config.measure:
        measure(config, sensor)
        print((Path(config.out) / TABLE).read_text(encoding="utf-8"), end="")
    else:
        watch(config, sensor)


if __name__ == "__main__":
    run("live", LiveConfig, main)
