"""`python -m eval.record SCENARIO FILE`: record a scenario as a robot that never looks carries it out."""

import typer

from eval.record.command import record
from nsrecover.errors import told_in_one_line

if __name__ == "__main__":
    with told_in_one_line():
        typer.run(record)
