"""Error datasets of the kitchen: `H1` to `H4`, as small specifications that always replay to the same states.

`spec` is an episode as data, `drawing` defines the four datasets, `running` carries an episode out and gives its ground
truth (`truth`), `summary` counts. `python -m sim.datasets dataset=H1` generates them.
"""

from sim.datasets.household.drawing import HOUSEHOLD_DATASETS, generate
from sim.datasets.household.running import ReplayedStep, replay
from sim.datasets.household.spec import HouseholdEpisode, read_episodes
from sim.datasets.household.truth import HouseholdError

__all__ = [
    "HOUSEHOLD_DATASETS",
    "HouseholdEpisode",
    "HouseholdError",
    "ReplayedStep",
    "generate",
    "read_episodes",
    "replay",
]
