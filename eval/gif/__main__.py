"""`python -m eval.gif EPISODE.mp4 FILE.gif`: a small animated GIF of a video, for a README."""

import typer

from eval.gif.command import gif
from nsrecover.errors import cli_errors

if __name__ == "__main__":
    with cli_errors():
        typer.run(gif)
