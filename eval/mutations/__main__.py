"""`python -m eval.mutations`: hand-made bugs, and whether the tests of their package notice them."""

from eval.common.command import run
from eval.mutations.command import MutationsConfig, measure

if __name__ == "__main__":
    run("mutations", MutationsConfig, measure)
