"""Tables of cases in YAML files."""

from pathlib import Path
from typing import Any

import yaml


def cases_of(test: str) -> Any:
    """The cases of a test module, `__file__`: those of the YAML file of its name beside it."""
    return yaml.safe_load(Path(test).with_suffix(".yaml").read_text("utf-8"))
