"""`python -m eval.reproduce`: write docs/reproduce.md from the committed results."""

from conf.command import run_function
from eval.reproduce.command import write

if __name__ == "__main__":
    run_function(write)
