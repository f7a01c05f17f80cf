"""`python -m eval.real data=DIR`: the monitor and the table's masks on public sets of real RGB-D frames."""

import sys

from eval.common.runner import run
from eval.real.command import MEASUREMENT

if __name__ == "__main__":
    # conf/data is a group of the training, so that Hydra would look there for a setting of this name
    given = [f"folder={each[5:]}" if each.startswith("data=") else each for each in sys.argv[1:]]
    sys.argv[1:] = given
    run(MEASUREMENT)
