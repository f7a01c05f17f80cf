"""`python -m eval.detectors`: compare failure detectors on the same recorded episodes."""

from __future__ import annotations

from eval.common.command import run
from eval.detectors.compare import DetectorsConfig, compare

if __name__ == "__main__":
    run("detectors", DetectorsConfig, compare, resumable=True)
