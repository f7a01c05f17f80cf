"""`python -m eval.displacement`: how far an object must move to be noticed, for each sensor."""

from eval.common.command import run
from eval.displacement.command import DisplacementConfig, measure

if __name__ == "__main__":
    run("displacement", DisplacementConfig, measure)
