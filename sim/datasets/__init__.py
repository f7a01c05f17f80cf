"""Error datasets: episodes with errors, as small specifications that always replay to the same states.

`spec` is an episode as data, `kinds` defines the six datasets, `inject` finds faults with a visible effect, `replay`
carries an episode out and gives its ground truth, `summary` counts, `verify` replays twice and compares.
`python -m sim.datasets` generates them.
"""

from sim.datasets.kinds import DATASETS, generate
from sim.datasets.replay import ReplayedStep, replay
from sim.datasets.spec import ErrorEpisode, StepError, read_episodes

__all__ = ["DATASETS", "ErrorEpisode", "ReplayedStep", "StepError", "generate", "read_episodes", "replay"]
