"""The revision of the checkout, for the provenance of checkpoints."""

from __future__ import annotations

import subprocess
from pathlib import Path


def revision() -> str:
    """Git revision of the checkout, or `unknown` outside of one."""
    try:
        found = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"],
            cwd=Path(__file__).parent,
            capture_output=True,
            text=True,
            check=True,
        )
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return found.stdout.strip()
