"""`python -m train.outcomes`: distributions of where pushes, rolls, topplings and drops lead."""

from __future__ import annotations

import json
import random
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import lightning
import torch

from conf.command import run
from nsrecover.models.outcomes.model import OUTCOMES, OutcomeConfig, OutcomeModel
from nsrecover.training.outcomes import (
    OutcomeBudget,
    OutcomeExample,
    calibrate_outcomes,
    examples_in,
    train_outcomes,
)
from nsrecover.util.untrusted_json import JsonObject
from train.revision import revision


@dataclass
class TrainOutcomesConfig:
    """Learn where objects end up after actions whose outcome is no point, from good episodes only.

      python -m sim.datasets dataset=XI_demos seed=1 episodes=8000 out=data/outcomes/demos
      python -m sim.datasets dataset=XI_demos seed=2 episodes=2400 out=data/outcomes/classes
      python -m sim.datasets dataset=XI_demos seed=3 episodes=2400 out=data/outcomes/thresholds
      python -m train.outcomes                                a checkpoint like the shipped one; minutes on one core
      python -m train.outcomes 'demos=[DIR]' checkpoint=DIR each=300          from fewer or your own

    The folders have recorded actions, one line each (`nsrecover.models.outcomes.episode`). Pushes are learned twice:
    with shapes and yaws, and from axis-aligned boxes alone ("push_boxes"), which is what cameras give.

    Attributes:
        demos: folders of good episodes to learn from.
        classes: others, for the calibration by class.
        thresholds: others, for the thresholds.
        checkpoint: folder to write.
        each: episodes of every operator to learn from; all if null.
        networks: number of networks, whose densities are averaged.
        rounds: rounds of message passing.
        epochs: passes.
        batch_size: episodes in a batch.
        learning_rate: at the start.
        seed: of everything random.
    """

    demos: list[str] = field(default_factory=lambda: ["data/outcomes/demos"])
    classes: str = "data/outcomes/classes"
    thresholds: str = "data/outcomes/thresholds"
    checkpoint: str = f"nsrecover/checkpoints/{OUTCOMES}"
    each: int | None = None
    networks: int = 2
    rounds: int = 0
    epochs: int = 60
    batch_size: int = 64
    learning_rate: float = 2e-3
    seed: int = 0


def learn(config: TrainOutcomesConfig) -> OutcomeModel:
    """Train, calibrate and write the model.

    Raises:
        InvalidRecording: a folder has no good episodes.
    """
    started = time.perf_counter()
    demos, classes, thresholds = (
        both_views(folder, each)
        for folder, each in ((config.demos, config.each), ([config.classes], None), ([config.thresholds], None))
    )
    random.Random(config.seed).shuffle(demos)
    settings = OutcomeConfig(demos[0].nodes.values.shape[1], networks=config.networks, rounds=config.rounds)
    lightning.seed_everything(config.seed, workers=True, verbose=False)
    model = OutcomeModel(settings)
    budget = OutcomeBudget(config.epochs, config.batch_size, config.learning_rate, config.seed)
    fitted = train_outcomes(model, demos, budget)
    calibrate_outcomes(model, classes, thresholds)
    measured: JsonObject = {"held_out_negative_log_likelihood": fitted}
    provenance: JsonObject = {
        "command": " ".join(["python -m train.outcomes", *sys.argv[1:]]),
        "seed": config.seed,
        "episodes": len(demos),
        "epochs": config.epochs,
        "revision": revision(),
        "torch": torch.__version__,
        "seconds": round(time.perf_counter() - started, 1),
    }
    model.config = replace(model.config, metrics=measured, provenance=provenance)
    model.save(config.checkpoint, outcome_card(model.config))
    return model


def both_views(folders: Sequence[str], each: int | None = None) -> list[OutcomeExample]:
    """Good episodes with shapes, and the pushes among them once more from boxes alone."""
    shown, boxes = ([one for folder in folders for one in examples_in(folder, only, each)] for only in (False, True))
    return shown + [one for one in boxes if one.action.operator == "push_boxes"]


def outcome_card(config: OutcomeConfig) -> str:
    """Markdown: what the checkpoint is, from what it was learned, and what was measured."""
    source = config.provenance
    return f"""# nsrecover checkpoint: outcomes

Perceptrons on hand features and rigid propagation ({config.networks} networks, width {config.width}, mixtures of
{config.components} normal distributions; {config.rounds} rounds of message passing): where all objects of a scene end
up after a push, a roll, a toppling or a drop.

- Data: {source.get("episodes")} simulated good episodes (`python -m sim.datasets dataset=XI_demos`); no failure was
  seen in training. Calibrated by class and, on other episodes, by operator: {dict(config.episodes)}.
- Command: `{source.get("command")}`, seed {source.get("seed")}, revision {source.get("revision")}, torch
  {source.get("torch")}, {source.get("seconds")} s.
- Sensor: a centre is measured with a standard deviation of {config.sensor_m} metres along x, y and z.
- License: that of the project. Weights are stored as safetensors; nothing is unpickled when it is loaded.
- How many errors it notices: `python -m eval.outcomes`.

```json
{json.dumps(dict(config.metrics), indent=2)}
```
"""


def main(config: TrainOutcomesConfig) -> None:
    """Learn, and print what was learned."""
    model = learn(config)
    print(f"{dict(model.config.episodes)} good episodes set the thresholds; written to {Path(config.checkpoint)}")


if __name__ == "__main__":
    run("train_outcomes", TrainOutcomesConfig, main)
