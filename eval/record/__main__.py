"""`python -m eval.record SCENARIO FILE`: record a scenario of an open-loop robot."""

import typer

from eval.record.command import record
from nsrecover.errors import cli_errors

if __name__ == "__main__":
    with cli_errors():
        typer.run(record)
