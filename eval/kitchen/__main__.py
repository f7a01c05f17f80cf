"""`python -m eval.kitchen`: the same as `python -m eval dataset=H1`."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

from conf.command import run
from eval.kitchen.command import KitchenEvalConfig, print_table


def main() -> None:
    """Entry point; `planner=`, which names a group of settings elsewhere, stands for `method=`."""
    sys.argv[1:] = [re.sub(r"^planner=", "method=", word) for word in sys.argv[1:]]
    run("kitchen_episodes", KitchenEvalConfig, print_table, resumable=True)


def is_meant(arguments: Sequence[str]) -> bool:
    """Whether the arguments of `python -m eval` are about a dataset of the kitchen."""
    return any(re.match(r"dataset=H\d", word) for word in arguments)


if __name__ == "__main__":
    main()
