"""`python -m eval.planning`: length and time of recovery plans on stored error states."""

from eval.common.command import run
from eval.planning.command import PlanningConfig, measure

if __name__ == "__main__":
    run("planning", PlanningConfig, measure, resumable=True)
