"""`python -m eval.fuzz`: random input for everything that reads what others wrote, and for the server."""

from eval.common.command import run
from eval.fuzz.command import FuzzConfig, measure

if __name__ == "__main__":
    run("fuzz", FuzzConfig, measure, resumable=True)
