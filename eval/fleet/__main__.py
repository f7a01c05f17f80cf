"""`python -m eval.fleet`: many robots, some of them hostile, use one server at the same time."""

from eval.common.command import run
from eval.fleet.command import FleetConfig, measure

if __name__ == "__main__":
    run("fleet", FleetConfig, measure)
