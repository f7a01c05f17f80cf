"""`python -m train.patience`: for how long frames of good actions of a household may look wrong."""

from __future__ import annotations

from dataclasses import dataclass, replace

from conf.command import run
from nsrecover.models.checkpoint import folder_of
from nsrecover.models.household import FORMAT, HouseholdModels
from nsrecover.monitoring.fact_frames import Frame, fit_patience
from train.watched_actions import watched_actions


@dataclass
class PatienceConfig:
    """Learn for how long what may look wrong in good actions of a household, so that those are not interrupted.

      python -m sim.household_glances && python -m train.patience     times like those of the shipped checkpoint
      python -m train.patience demos=DIR checkpoint=DIR               from other demonstrations, for another checkpoint

    Every second action says how long each property may be wrong, the others by how much these times are multiplied.

    Attributes:
        demos: folder that `python -m sim.household_glances` wrote.
        checkpoint: folder of the household checkpoint that gets the times.
        alpha: share of good actions that may be interrupted.
    """

    demos: str = "data/household_glances"
    checkpoint: str = "nsrecover/checkpoints/household"
    alpha: float = 0.02


def learn(config: PatienceConfig) -> dict[str, float]:
    """Learn the times, and write them into the checkpoint.

    Raises:
        InvalidRecording: there are no demonstrations, one is damaged, or they are too few.
    """
    episodes = watched_actions(config.demos, "python -m sim.household_glances", _frame)
    before, actions = HouseholdModels.load(config.checkpoint).config, [each for episode in episodes for each in episode]
    patience_s = fit_patience(actions, config.alpha)
    learned = {"patience": {"actions": len(actions), "alpha": config.alpha}}
    changed = replace(before, patience_s=patience_s, metrics={**before.metrics, **learned})
    FORMAT.save(folder_of(config.checkpoint), changed)
    return patience_s


def _frame(data: tuple[float, list[tuple[str, str, float]]]) -> Frame:
    now_s, weights = data
    return float(now_s), {(str(what), str(name)): float(weight) for what, name, weight in weights}


def main(config: PatienceConfig) -> None:
    """Learn, and print the times."""
    patience_s = learn(config)
    print(f"what may be wrong for how long, seconds; written to {config.checkpoint}:")
    print("\n".join(f"  {what}: {length_s:g}" for what, length_s in patience_s.items()))


if __name__ == "__main__":
    run("patience", PatienceConfig, main)
