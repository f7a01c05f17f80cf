"""`python -m eval.kitchen`: whole household episodes in the kitchen's physics, seen and heard."""

import re
import sys

from eval.common.runner import run
from eval.kitchen.command import MEASUREMENT

if __name__ == "__main__":
    # planner is a group of settings of other commands, which Hydra would look for
    sys.argv[1:] = [re.sub(r"^planner=", "method=", word) for word in sys.argv[1:]]
    run(MEASUREMENT)
