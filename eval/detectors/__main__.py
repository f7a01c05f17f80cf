"""`python -m eval.detectors`: failure detectors side by side on the same filmed episodes."""

from __future__ import annotations

from eval.common.command import run
from eval.detectors.compare import DetectorsConfig, compare

if __name__ == "__main__":
    run("detectors", DetectorsConfig, compare, resumable=True)
