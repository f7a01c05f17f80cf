"""`python -m eval.household`: household tasks monitored at the level of facts, without cameras."""

from eval.common.command import run
from eval.household.command import HouseholdConfig, measure

if __name__ == "__main__":
    run("household", HouseholdConfig, measure)
