"""`python -m eval.reports`: time and size of a long report, and pictures of reports for the docs."""

from eval.common.runner import run
from eval.reports.command import MEASUREMENT

if __name__ == "__main__":
    run(MEASUREMENT)
