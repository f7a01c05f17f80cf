"""`python -m eval.redraw`: draw the figures of docs/results again from the committed results."""

from conf.command import run_function
from eval.redraw.command import redraw

if __name__ == "__main__":
    run_function(redraw)
