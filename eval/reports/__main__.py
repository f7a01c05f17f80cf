"""`python -m eval.reports`: time and size of a long report, and pictures of reports for the docs."""

from eval.common.command import run
from eval.reports.command import ReportsConfig, measure

if __name__ == "__main__":
    run("reports", ReportsConfig, measure)
