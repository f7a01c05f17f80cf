"""`python -m eval.redraw`: draw the figures of docs/results again from the committed results."""

import typer

from eval.redraw.command import redraw
from nsrecover.errors import cli_errors

if __name__ == "__main__":
    with cli_errors():
        typer.run(redraw)
