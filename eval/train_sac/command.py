"""`python -m eval.train_sac`: soft actor-critic with hindsight replay on scenes of the kinematic simulator."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from tqdm import tqdm

from eval.common.output import write_results
from eval.common.statistics import share
from eval.common.tables import document, markdown_table, percent_of
from eval.train_sac.planner import POLICY, sac_class
from nsrecover.errors import InvalidConfiguration
from nsrecover.util.atomic_write import atomic_path
from sim.common.folder import claim_folder, write_json

if TYPE_CHECKING:
    from eval.train_sac.environment import ReachGoals

MODEL, REPLAY, PROGRESS = "model.zip", "replay.pkl", "progress.json"
FORMAT = 1


@dataclass
class Task:
    """Test goals.

    Attributes:
        objects: number of objects.
        length: of the plan to the goal.
        tries: allowed actions as a multiple of the length.
        name: for the tables; the key of the task if empty.
    """

    objects: int = 3
    length: int = 1
    tries: int = 1
    name: str = ""


@dataclass
class TrainSacConfig:
    """Top level of conf/train_sac.yaml."""

    steps: int = 100_000
    seed: int = 0
    counts: list[int] = field(default_factory=lambda: [3, 4, 5])
    lengths: list[int] = field(default_factory=lambda: [1, 2, 3])
    slots: int = 5
    tries: int = 5
    every: int = 1000
    minutes: float | None = 60.0
    tasks: dict[str, Task] = field(default_factory=dict)
    episodes: int = 200
    out: str = "outputs/sac"


def train(config: TrainSacConfig) -> dict[str, Any]:
    """Train a policy, continuing an interrupted run, and compare it with random actions.

    Args:
        config: see conf/train_sac.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        InvalidConfiguration: a setting is out of its range, or the folder holds another policy.
    """
    if config.steps < 1 or config.every < 1 or config.episodes < 1 or config.seed < 0:
        raise InvalidConfiguration(
            f"expected steps, every and episodes of at least 1 and a seed of at least 0, found steps={config.steps}, "
            f"every={config.every}, episodes={config.episodes}, seed={config.seed}"
        )
    if config.minutes is not None and config.minutes < 0:
        raise InvalidConfiguration(f"expected minutes of at least 0, or null, found minutes={config.minutes}")
    out = Path(config.out)
    free = ("out", "steps", "minutes", "every", "tasks", "episodes")
    decisive = {name: value for name, value in asdict(config).items() if name not in free}
    with claim_folder(out, {"format": FORMAT, **decisive}, "a policy"):
        model, seconds = _learn(config, out)
        tasks = {task.name or key: _measure(task, model, config) for key, task in config.tasks.items()}
        metrics = {"steps": int(model.num_timesteps), "seconds": round(seconds, 1), "seed": config.seed, "tasks": tasks}
        write_results(out, metrics, _table(metrics), config)
    return metrics


def _learn(config: TrainSacConfig, out: Path) -> tuple[Any, float]:
    progress = out / PROGRESS
    before = json.loads(progress.read_text(encoding="utf-8"))["seconds"] if progress.is_file() else 0.0
    began = time.process_time()
    with closing(_goals(config.counts, config.lengths, config.tries, config.slots)) as environment:
        model = _begin(config, out, environment)
        with tqdm(total=config.steps, initial=model.num_timesteps, unit="step", desc="training") as bar:
            while model.num_timesteps < config.steps:
                seconds = before + time.process_time() - began
                if config.minutes is not None and seconds > 60 * config.minutes and progress.is_file():
                    bar.write(f"stopped after {config.minutes:g} minutes of processor time; minutes=null goes on")
                    break
                done = model.num_timesteps
                model.learn(min(config.every, config.steps - done), reset_num_timesteps=False)
                _save(model, out, before + time.process_time() - began)
                bar.update(model.num_timesteps - done)
                if model.ep_success_buffer:
                    bar.set_postfix(success=f"{np.mean(model.ep_success_buffer):.3f}", refresh=False)
    return model, json.loads(progress.read_text(encoding="utf-8"))["seconds"]


def _goals(counts: Sequence[int], lengths: Sequence[int], tries: int, slots: int) -> ReachGoals:
    sac_class()  # raises if it is not installed
    from eval.train_sac.environment import ReachGoals

    return ReachGoals(counts, lengths, tries, slots)


def _begin(config: TrainSacConfig, out: Path, environment: ReachGoals) -> Any:
    """Return a new model, or the saved one with its replay buffer."""
    sac = sac_class()
    if (out / PROGRESS).is_file():
        model = sac.load(out / MODEL, env=environment, device="cpu")
        model.load_replay_buffer(out / REPLAY)
        # a new process must not repeat the scenes of the first one
        model.set_random_seed(config.seed + model.num_timesteps)
        return model
    from stable_baselines3 import HerReplayBuffer

    return sac(
        "MultiInputPolicy",
        environment,
        replay_buffer_class=HerReplayBuffer,
        replay_buffer_kwargs={"n_sampled_goal": 4, "goal_selection_strategy": "future"},
        learning_starts=min(1000, config.every),
        batch_size=256,
        gamma=0.9,
        buffer_size=max(config.steps, 1000),
        seed=config.seed,
        device="cpu",
    )


def _save(model: Any, out: Path, seconds: float) -> None:
    """Write every file atomically; the last file marks the others as complete."""
    writers = {REPLAY: model.save_replay_buffer, MODEL: model.save, POLICY: model.policy.save}
    for name, write in writers.items():
        with atomic_path(out / name) as part:
            write(part)
    write_json(out / PROGRESS, {"steps": int(model.num_timesteps), "seconds": seconds})


def _measure(task: Task, model: Any, config: TrainSacConfig) -> dict[str, Any]:
    """Measure goals reached by the policy and by random actions, in test scenes."""
    reached = {"policy": 0, "random": 0}
    for who in reached:
        with closing(_goals([task.objects], [task.length], task.tries, config.slots)) as environment:
            environment.action_space.seed(config.seed)
            seen, _ = environment.reset(seed=10_000 + config.seed)
            for _ in tqdm(range(config.episodes), unit="goal", desc=f"{task.objects} objects, {who}", leave=False):
                over = False
                while not over:
                    chosen = environment.action_space.sample()
                    if who == "policy":
                        chosen = model.predict(seen, deterministic=True)[0]
                    seen, _, terminated, truncated, info = environment.step(chosen)
                    over = terminated or truncated
                reached[who] += info["is_success"]
                seen, _ = environment.reset()
    return asdict(task) | {who: share(count, config.episodes) for who, count in reached.items()}


def _table(metrics: dict[str, Any]) -> str:
    rows = [
        [
            name,
            task["objects"],
            task["length"],
            task["tries"] * task["length"],
            percent_of(task["policy"]),
            percent_of(task["random"]),
            task["policy"]["of"],
        ]
        for name, task in metrics["tasks"].items()
    ]
    head = ("goals", "objects", "plan", "actions allowed", "reached", "by random actions", "goals tried")
    return document(
        f"{metrics['steps']} steps in {metrics['seconds'] / 60:.1f} minutes.",
        markdown_table(head, rows),
    )
