"""What the commands that measure something have in common: a Hydra config goes in, a folder with a table comes out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import DictConfig, OmegaConf

from nsrecover.errors import cli_errors

CONF = Path(__file__).parents[2] / "conf"
METRICS, TABLE, CONFIG = "metrics.json", "table.md", "config.yaml"
"""What a command leaves in its folder: numbers, the table that is printed at the end, and its resolved config."""


class Settings(Protocol):
    """The top level of a command's config."""

    out: str


Config = TypeVar("Config", bound=Settings)


def run(name: str, schema: type[Config], measure: Callable[[Config], Any], resumable: bool = False) -> None:
    """Run a command: compose its config from the command line, measure, print the table that was left.

    Args:
        name: of its primary config in conf/, which refers to the schema as `NAME_schema`.
        schema: its top level.
        measure: does the work and leaves a table in `out`.
        resumable: whether it goes on where it was interrupted, which is then said.
    """

    @hydra.main(version_base="1.3", config_path=str(CONF), config_name=name)
    def main(config: DictConfig) -> None:
        with cli_errors(resumable=resumable):
            settings = OmegaConf.to_object(config)
            assert isinstance(settings, schema)
            measure(settings)
            print((Path(settings.out) / TABLE).read_text(encoding="utf-8"), end="")

    ConfigStore.instance().store(name=f"{name}_schema", node=schema)
    main()
