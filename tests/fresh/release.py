"""`python -m tests.fresh.release OUT`: the wheel and sdist of this checkout, the same bytes whenever they are built.

The wheel is built from the sdist, so that what a checkout has besides cannot get into it.
"""

import gzip
import io
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
EPOCH_S = 1_700_000_000
"""Date of every file, seconds since 1970."""


def build(out: Path) -> tuple[Path, Path]:
    """Build both into a folder, from a copy, so that no build folder is left in the checkout.

    Returns:
        The wheel and the sdist.

    Raises:
        RuntimeError: it cannot be built.
    """
    with tempfile.TemporaryDirectory() as folder:
        for name in ("pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, folder)
        for name in ("nsrecover", "sim", "train", "eval", "conf"):
            shutil.copytree(ROOT / name, Path(folder) / name, ignore=shutil.ignore_patterns("__pycache__"))
        done = subprocess.run(
            [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), folder],
            env={**os.environ, "SOURCE_DATE_EPOCH": str(EPOCH_S)},
            capture_output=True,
            text=True,
            timeout=300,
        )
    if done.returncode:
        raise RuntimeError(done.stdout + done.stderr)
    (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
    _without_dates(sdist)
    return wheel, sdist


def _without_dates(sdist: Path) -> None:
    """Write an archive again, sorted, without times and users."""
    packed = io.BytesIO()
    with tarfile.open(sdist) as old, tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as new:
        for member in sorted(old.getmembers(), key=lambda each: each.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = EPOCH_S, 0, 0, "", ""
            member.mode, member.pax_headers = 0o755 if member.isdir() else 0o644, {}
            new.addfile(member, old.extractfile(member))
    sdist.write_bytes(gzip.compress(packed.getvalue(), mtime=EPOCH_S))


if __name__ == "__main__":
    print(*build(Path(sys.argv[1])), sep="\n")
