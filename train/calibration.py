"""`python -m train.calibration`: calibrate a trained checkpoint anew, for each sensor."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from conf.command import run
from nsrecover.models.bundle import Bundle
from nsrecover.models.checkpoint import CARD, folder_of
from nsrecover.training.calibrate import recalibrate
from nsrecover.training.demonstrations import fingerprint, load_demonstrations, recordings
from train.revision import revision

_ANEW = "\nCalibrated anew by `"
"""Begins the last line of a card."""


@dataclass
class CalibrationConfig:
    """Calibrate a trained checkpoint anew on good episodes that it was not trained on, for each sensor.

      python -m sim.collect seed=7101 transitions=1150 out=data/fresh
      python -m sim.sense demos=data/fresh out=data/fresh_sensed && python -m train.calibration demos=data/fresh_sensed

    Needed after a change of the perception: its errors are part of what the rates are promised for. The weights and
    the checkpoint's own threshold stay. `python -m eval.alarms` measures whether the promises hold on other episodes.

    Attributes:
        demos: good episodes seen through sensors.
        checkpoint: folder of the checkpoint, which is changed.
        cache: folder for perceived episodes.
    """

    demos: str = "data/demos_heldout_sensed"
    checkpoint: str = "nsrecover/checkpoints/tabletop_sensors"
    cache: str = "data/cache"


def main(config: CalibrationConfig) -> None:
    """Calibrate, write the checkpoint, and print the number of steps."""
    bundle, sources = Bundle.load(config.checkpoint), recordings(config.demos)
    demonstrations = load_demonstrations(sources, bundle.crop_size, config.cache)
    note = {"command": "python -m train.calibration", "data": fingerprint(sources), "revision": revision()}
    recalibrate(bundle, demonstrations, note)
    steps = {name: found.steps for name, found in bundle.config.sensors.items()}
    card = (folder_of(config.checkpoint) / CARD).read_text(encoding="utf-8").partition(_ANEW)[0]
    bundle.save(config.checkpoint, f"{card}{_ANEW}{note['command']}`, data {note['data']}; steps by sensor: {steps}.\n")
    print(f"calibrated on {steps}; written to {Path(config.checkpoint)}")


if __name__ == "__main__":
    run("calibration", CalibrationConfig, main)
