"""`python -m eval.logs FILE.jsonl`: accuracy of explained logs against their annotations."""

import sys

from eval.common.command import run
from eval.logs.command import LogsConfig, measure, with_file_named

if __name__ == "__main__":
    sys.argv[1:] = with_file_named(sys.argv[1:])
    run("logs", LogsConfig, measure)
