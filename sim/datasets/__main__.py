"""`python -m sim.datasets`: generate error datasets; resumable, and independent of the number of workers."""

from __future__ import annotations

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from nsrecover.errors import cli_errors
from sim.datasets.build import DatasetsConfig, build
from sim.datasets.summary import markdown


@hydra.main(version_base="1.3", config_path="../../conf", config_name="datasets")
def main(config: DatasetsConfig) -> None:
    """Entry point."""
    with cli_errors(resumable=True):
        settings = OmegaConf.to_object(config)
        assert isinstance(settings, DatasetsConfig)
        print(markdown(build(settings)), end="")


if __name__ == "__main__":
    ConfigStore.instance().store(name="datasets_schema", node=DatasetsConfig)
    main()
