"""`python -m sim.policies`: LeRobot datasets of a scripted policy that succeeds and fails."""

from conf.command import run
from sim.policies.command import PoliciesConfig, main

if __name__ == "__main__":
    run("policies", PoliciesConfig, main)
