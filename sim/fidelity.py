"""`python -m sim.fidelity`: compare the kinematic world with the physical one.

It carries out the same error-free demonstrations with and without the arm, and prints how often both end in the same
state, how many objects end in the same place, and how long an action takes in each.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from omegaconf import OmegaConf
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import run
from nsrecover.errors import InvalidConfiguration
from sim.tabletop.demonstrations import DemonstrationMix, DemonstrationSpec, specify
from sim.tabletop.kinematic import Fidelity
from sim.tabletop.truth import Truth, deviations
from sim.tabletop.world import TabletopWorld


@dataclass
class FidelityConfig:
    """Execute the same error-free demonstrations with the arm (physics) and without it (kinematic), and compare.

      python -m sim.fidelity                          100 episodes; about seven minutes
      python -m sim.fidelity episodes=20 seed=7 out=DIR

    Prints how often both end in the same state (no object more than 20 mm off or on another support), which
    episodes do not, and what an action costs in each. Processor times hardly depend on the load of the machine.

    Attributes:
        episodes: number of demonstrations to execute in both worlds.
        seed: another seed gives other scenes and plans.
        objects: number of objects in every scene, 2 to 12.
        out: output folder for metrics.json and config.yaml.
    """

    episodes: int = 100
    seed: int = 0
    objects: int = 5
    out: str = "outputs/fidelity"


@dataclass
class Durations:
    """Total durations at one fidelity.

    Attributes:
        wall_s: wall time of all actions.
        cpu_s: processor time of all actions.
        build_s: wall time of building the worlds.
    """

    wall_s: float = 0.0
    cpu_s: float = 0.0
    build_s: float = 0.0


@dataclass
class FidelityComparison:
    """Results over all episodes.

    Attributes:
        episodes: number of episodes that were run at both fidelities.
        actions: their number of actions.
        objects: their number of objects.
        same_episodes: episodes that end in the same state: no object deviates by more than 20 mm or has another
            support.
        same_objects: objects that end in the same state.
        distances_m: distance between the two final places of every object that is on the table in both.
        durations: of each fidelity.
        differing: episode number -> deviating objects with their difference.
    """

    episodes: int = 0
    actions: int = 0
    objects: int = 0
    same_episodes: int = 0
    same_objects: int = 0
    distances_m: list[float] = field(default_factory=list)
    durations: dict[Fidelity, Durations] = field(
        default_factory=lambda: {fidelity: Durations() for fidelity in Fidelity}
    )
    differing: dict[int, dict[str, str]] = field(default_factory=dict)

    def metrics(self) -> dict[str, Any]:
        """The metrics, as in metrics.json: shares 0 to 1, seconds and millimetres."""
        physics, kinematic = self.durations[Fidelity.PHYSICS], self.durations[Fidelity.KINEMATIC]
        return {
            "episodes": self.episodes,
            "actions": self.actions,
            "same_state": self.same_episodes / self.episodes,
            "same_objects": self.same_objects / self.objects,
            "distance_mm": {
                "median": 1000 * float(np.median(self.distances_m)),
                "p95": 1000 * float(np.quantile(self.distances_m, 0.95)),
            },
            "action_s": {str(fidelity): total.wall_s / self.actions for fidelity, total in self.durations.items()},
            "action_cpu_s": {str(fidelity): total.cpu_s / self.actions for fidelity, total in self.durations.items()},
            "build_s": {str(fidelity): total.build_s / self.episodes for fidelity, total in self.durations.items()},
            "times_faster": physics.cpu_s / kinematic.cpu_s,
            "differing": {str(episode): reasons for episode, reasons in self.differing.items()},
        }


def run_in(spec: DemonstrationSpec, fidelity: Fidelity, durations: Durations) -> Truth:
    """Carry out an episode, add its durations, and return its final state."""
    started = time.perf_counter()
    with TabletopWorld(spec.scene, rig=spec.rig, seed=spec.scene.seed, fidelity=fidelity) as world:
        built, cpu = time.perf_counter(), time.process_time()
        for action in spec.plan:
            world.execute(action)
        durations.build_s += built - started
        durations.wall_s += time.perf_counter() - built
        durations.cpu_s += time.process_time() - cpu
        return world.truth()


def compare(episodes: int, seed: int, objects: int = 5) -> FidelityComparison:
    """Carry out the same demonstrations at both fidelities.

    Args:
        episodes: number of demonstrations.
        seed: of the demonstrations.
        objects: number of objects in every scene.

    Raises:
        InvalidConfiguration: no plan was found for any scene.
    """
    result, mix = FidelityComparison(), DemonstrationMix(objects=(objects,))
    for episode in tqdm(range(episodes), unit="episode", desc="both fidelities"):
        try:
            spec = specify(mix, seed, episode)
        except InvalidConfiguration:
            continue
        ends = {fidelity: run_in(spec, fidelity, result.durations[fidelity]) for fidelity in Fidelity}
        physics, kinematic = ends[Fidelity.PHYSICS], ends[Fidelity.KINEMATIC]
        reasons = deviations(kinematic, physics)
        result.episodes += 1
        result.actions += len(spec.plan)
        result.objects += len(physics.names)
        result.same_episodes += not reasons
        result.same_objects += len(physics.names) - len(reasons)
        both = physics.present & kinematic.present
        result.distances_m += np.linalg.norm((physics.positions - kinematic.positions)[both], axis=1).tolist()
        if reasons:
            result.differing[episode] = reasons
    if not result.episodes:
        raise InvalidConfiguration(
            f"expected plans for scenes of {objects} objects, found none; ask for fewer objects or another seed"
        )
    return result


def print_table(metrics: dict[str, Any]) -> None:
    """Print the final table."""
    table = Table(title=f"{metrics['episodes']} demonstrations, {metrics['actions']} actions, at both fidelities")
    for column in ("", "physics", "kinematic"):
        table.add_column(column, justify="right" if column else "left")
    rows = {"an action": "action_s", "an action, processor time": "action_cpu_s", "building the world": "build_s"}
    for label, key in rows.items():
        table.add_row(label, *(f"{1000 * metrics[key][str(fidelity)]:.1f} ms" for fidelity in Fidelity))
    table.add_row("times faster (processor)", "1", f"{metrics['times_faster']:.0f}")
    table.add_row("same end state", "", f"{100 * metrics['same_state']:.1f} %")
    table.add_row("objects in the same state", "", f"{100 * metrics['same_objects']:.1f} %")
    table.add_row("distance, median", "", f"{metrics['distance_mm']['median']:.2f} mm")
    Console().print(table)
    for episode, reasons in metrics["differing"].items():
        print(f"  episode {episode}: " + "; ".join(f"the {name} {why}" for name, why in reasons.items()))


def main(settings: FidelityConfig) -> None:
    """Compare, write metrics.json and config.yaml, and print the table."""
    if settings.episodes < 1 or settings.seed < 0:
        raise InvalidConfiguration(
            f"expected episodes of at least 1 and a seed of at least 0, found episodes={settings.episodes}, "
            f"seed={settings.seed}"
        )
    metrics = asdict(settings) | compare(settings.episodes, settings.seed, settings.objects).metrics()
    out = Path(settings.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "metrics.json").write_text(json.dumps(metrics, indent=2) + "\n", encoding="utf-8")
    (out / "config.yaml").write_text(OmegaConf.to_yaml(OmegaConf.structured(settings)), encoding="utf-8")
    print_table(metrics)


if __name__ == "__main__":
    run("fidelity", FidelityConfig, main)
