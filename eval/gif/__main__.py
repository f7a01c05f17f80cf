"""`python -m eval.gif EPISODE.mp4 FILE.gif`: a small animated picture of a film, for a README."""

import typer

from eval.gif.command import gif
from nsrecover.errors import told_in_one_line

if __name__ == "__main__":
    with told_in_one_line():
        typer.run(gif)
