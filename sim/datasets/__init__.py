"""Error datasets: episodes in which something goes wrong, as small specs that replay to the same states every time.

`spec` is an episode as data, `kinds` the five datasets, `inject` finds faults that show, `replay` carries an episode
out and tells the truth about it, `summary` counts, `verify` replays twice and compares. `python -m sim.datasets`
generates them.
"""

from sim.datasets.kinds import DATASETS, generate
from sim.datasets.replay import ReplayedStep, replay
from sim.datasets.spec import ErrorEpisode, StepError, read_episodes

__all__ = ["DATASETS", "ErrorEpisode", "ReplayedStep", "StepError", "generate", "read_episodes", "replay"]
