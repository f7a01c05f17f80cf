"""`python -m eval.foreign_sentences FILES`: commands by other people, judged by their own annotations."""

import sys

from eval.common.runner import run
from eval.foreign_sentences.command import MEASUREMENT, with_files_named

if __name__ == "__main__":
    sys.argv[1:] = with_files_named(sys.argv[1:])
    run(MEASUREMENT)
