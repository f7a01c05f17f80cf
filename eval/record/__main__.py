"""`python -m eval.record SCENARIO FILE`: record a scenario of an open-loop robot."""

from conf.command import run_function
from eval.record.command import record

if __name__ == "__main__":
    run_function(record)
