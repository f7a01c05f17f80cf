"""What several test files need."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built wheel; built once, whichever of the processes that run the tests is first to need it."""
    own = tmp_path_factory.getbasetemp()
    shared = own.parent if own.name.startswith("popen-") else own
    with FileLock(shared / "wheel.lock"):
        if not (shared / "wheel").is_dir():
            _build(shared / "source", shared / "wheel.part")
            (shared / "wheel.part").rename(shared / "wheel")
    (path,) = (shared / "wheel").glob("*.whl")
    return path


def _build(source: Path, out: Path) -> None:
    """From a copy, so that no build folder is left in the checkout."""
    source.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    for name in ("nsrecover", "sim", "train", "eval", "conf"):
        shutil.copytree(ROOT / name, source / name, ignore=shutil.ignore_patterns("__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(source)],
        capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
