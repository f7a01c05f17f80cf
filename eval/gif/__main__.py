"""`python -m eval.gif EPISODE.mp4 FILE.gif`: a small animated picture of a film, for a README."""

import typer

from eval.gif.command import gif
from nsrecover.errors import cli_errors

if __name__ == "__main__":
    with cli_errors():
        typer.run(gif)
