"""A handful of real demonstrations, recorded once for all training tests."""

from pathlib import Path

import pytest
from filelock import FileLock

from sim.collect import CollectConfig, collect
from tests.commands import shared_folder


@pytest.fixture(scope="session")
def demonstrations(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with training and held-out recordings without the arm, some 100 transitions in all.

    They are recorded once, by the process that is first to need them.
    """
    folder = shared_folder(tmp_path_factory) / "demonstrations"
    with FileLock(f"{folder}.lock"):
        if not folder.is_dir():
            unfinished = folder.with_suffix(".part")
            for name, transitions, seed in (("train", 90, 11), ("held_out", 20, 12)):
                out = str(unfinished / name)
                collect(CollectConfig(transitions=transitions, seed=seed, fidelity="kinematic", out=out, workers=1))
            unfinished.rename(folder)
    return folder
