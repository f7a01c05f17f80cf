"""`python -m eval.reproduce`: write docs/reproduce.md from the committed results."""

import typer

from eval.reproduce.command import write
from nsrecover.errors import cli_errors

if __name__ == "__main__":
    with cli_errors():
        typer.run(write)
