"""`python -m eval.detectors`: failure detectors side by side on the same filmed episodes."""

from __future__ import annotations

from pathlib import Path

import hydra
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf

from eval.detectors.compare import DetectorsConfig, compare
from eval.models import TABLE
from nsrecover.errors import told_in_one_line


@hydra.main(version_base="1.3", config_path="../../conf", config_name="detectors")
def main(config: DetectorsConfig) -> None:
    """Entry point."""
    with told_in_one_line(resumable=True):
        settings = OmegaConf.to_object(config)
        assert isinstance(settings, DetectorsConfig)
        compare(settings)
        print((Path(settings.out) / TABLE).read_text(encoding="utf-8"), end="")


if __name__ == "__main__":
    ConfigStore.instance().store(name="detectors_schema", node=DetectorsConfig)
    main()
