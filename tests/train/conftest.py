"""A handful of real demonstrations, recorded once for all training tests."""

from pathlib import Path

import pytest

from sim.collect import CollectConfig, collect


@pytest.fixture(scope="session")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with training and held-out recordings of real physics, some 100 transitions in all."""
    folder = tmp_path_factory.mktemp("demonstrations")
    for name, transitions, seed in (("train", 90, 11), ("held_out", 20, 12)):
        collect(CollectConfig(transitions=transitions, seed=seed, out=str(folder / name), workers=2))
    return folder
