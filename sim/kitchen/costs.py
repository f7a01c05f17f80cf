"""`python -m sim.kitchen.costs`: what skills, observations and sound cost, and whether memory grows."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import psutil
import typer
from tqdm import tqdm

from conf.command import run_function
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import write_json
from sim.common.origin import write_run
from sim.kitchen.scenes import NUM_LAYOUTS
from sim.kitchen.sounding import microphone_in
from sim.kitchen.tasks import TASKS, draw_task
from sim.kitchen.world import KitchenWorld

LIMITS = {"skill_s": 1.0, "observation_s": 0.12, "sound_s": 0.1, "growth_mb": 50.0}
"""What is to be kept: medians of a skill, of an observation and of a second of sound, and growth of the memory."""
WARM_UP = len(TASKS)
"""Episodes before the memory is measured for the first time, one of each task: they load modules as they need them, and
the compiler for long searches alone takes 130 MB."""


@dataclass
class Costs:
    """Processor times of episodes, seconds.

    Attributes:
        skills: operator -> of each action, without its sound.
        observations: of each, with two cameras, without its sound.
        sound: of each second of sound: watching the physics, and the recording.
    """

    skills: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    observations: list[float] = field(default_factory=list)
    sound: list[float] = field(default_factory=list)

    def add(self, seed: int, number: int) -> None:
        """Carry out the plan of a task, with an observation with sound after every action."""
        names = tuple(TASKS)
        spec = draw_task(names[number % len(names)], seed + number, number % NUM_LAYOUTS)
        with KitchenWorld(spec.kitchen, microphone=microphone_in(spec.kitchen, number)) as world:
            assert world.hearing is not None, "the kitchen has a microphone"
            watch, listen = _Watch(), _Watch()
            world.hearing.step = watch.timed(world.hearing.step)  # type: ignore[method-assign]
            world.hearing.listen = listen.timed(world.hearing.listen)  # type: ignore[method-assign]
            for action in spec.plan:
                watch.cpu_s = listen.cpu_s = 0.0
                skill = _cpu_s(lambda action=action: world.execute(action))  # type: ignore[misc]
                seen: list[Any] = []
                look = _cpu_s(lambda seen=seen: seen.append(world.observe()))  # type: ignore[misc]
                self.skills[action.operator].append(skill - watch.cpu_s)
                self.observations.append(look - listen.cpu_s)
                self.sound.append((watch.cpu_s + listen.cpu_s) * seen[0].audio_rate_hz / len(seen[0].audio))
                if world.failures[-1]:
                    return

    def summary(self) -> dict[str, Any]:
        """Medians, by operator, too, and their numbers."""
        every = [value for values in self.skills.values() for value in values]
        return {
            "skill_s": _median(every),
            "observation_s": _median(self.observations),
            "sound_s": _median(self.sound),
            "actions": len(every),
            "operators": {
                name: {"median_s": _median(values), "of": len(values)} for name, values in sorted(self.skills.items())
            },
        }


@dataclass
class _Watch:
    """Adds up the processor time of calls."""

    cpu_s: float = 0.0

    def timed(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            started = time.process_time()
            result = work(*arguments)
            self.cpu_s += time.process_time() - started
            return result

        return call


def _cpu_s(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _median(values: list[float]) -> float:
    return round(float(np.median(values)), 4)


def main(
    minutes: Annotated[float, typer.Option(help="Processor time of the episodes after the warm-up.", min=0.0)] = 10.0,
    seed: Annotated[int, typer.Option(help="Another seed gives other kitchens.", min=0)] = 0,
    out: Annotated[Path | None, typer.Option(help="Folder for metrics.json and run.json.")] = None,
) -> None:
    """Run tasks in one process, and measure skills, observations, sound and the growth of the memory.

    The exit code is 1 if a limit is exceeded: a skill 1.0 s, an observation with two cameras 0.12 s, a second of sound
    0.1 s (medians of processor time), growth 50 MB. Example: `python -m sim.kitchen.costs --minutes 10`.
    """
    costs, number, first, started = Costs(), 0, 0.0, 0.0
    found: dict[str, Any] = {}
    if out is not None:
        write_run(out, "sim.kitchen.costs")
    with tqdm(total=round(60 * minutes), unit="s") as bar:
        while number <= WARM_UP or time.process_time() - started < 60 * minutes:
            try:
                costs.add(1000 * seed, number)
            except InvalidConfiguration as problem:
                bar.write(f"episode {number}: {problem}")
            number += 1
            if number == WARM_UP:
                first, started = _resident_mb(), time.process_time()
            if number > WARM_UP:
                bar.update(min(int(time.process_time() - started), bar.total) - bar.n)
                bar.set_postfix(episodes=number - WARM_UP, MB=f"{_resident_mb():.1f}")
                found = costs.summary() | {
                    "seed": seed,
                    "episodes": number - WARM_UP,
                    "processor_min": round((time.process_time() - started) / 60, 2),
                    "memory_mb": [round(first, 1), round(_resident_mb(), 1)],
                    "growth_mb": round(_resident_mb() - first, 1),
                }
                if out is not None:
                    write_json(out / "metrics.json", found)
    for name, limit in LIMITS.items():
        print(f"{name}: {found[name]:g} (limit {limit:g})")
    if exceeded := [name for name, limit in LIMITS.items() if found[name] > limit]:
        print(f"expected at most the limits, exceeded: {', '.join(exceeded)}", file=sys.stderr)
        sys.exit(1)


def _resident_mb() -> float:
    return float(psutil.Process().memory_info().rss) / 1e6


if __name__ == "__main__":
    run_function(main)
