"""`python -m eval`: whole episodes in the simulator under planners, judged by ground truth."""

import sys

from eval.common.runner import run
from eval.kitchen import __main__ as kitchen
from eval.sweep.command import MEASUREMENT

if __name__ == "__main__":
    if kitchen.is_meant(sys.argv[1:]):
        kitchen.main()
    else:
        run(MEASUREMENT)
