"""The sensors to choose from, with the source of every value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from nsrecover.errors import InvalidConfiguration, did_you_mean
from sim.sensors.colour import ColourErrors
from sim.sensors.depth import DepthErrors
from sim.sensors.events import CameraEvent
from sim.sensors.masks import MaskErrors
from sim.sensors.sensor import Calibration, Sensor

# Noise: Nguyen, Izadi and Lovell, "Modeling Kinect sensor noise" (2012), axial noise 1.2 mm + 1.9 mm (z - 0.4 m)²; the
# D435 is of the same size below 1.5 m (Ahn et al., "Analysis and noise modeling of the Intel RealSense D435 for mobile
# robots", 2019). The baseline of 50 mm and the steps of 1/32 pixel of its disparity are of the D400 data sheet; the
# images here have a quarter of the pixels in each direction, so 1/32 pixel there is 1/128 here. Calibration: 3 mm and
# 0.3° are what hand-eye calibration with a printed board leaves. Masks grow by a pixel with half a pixel of roughness,
# and 3 % are missing: what segmenters leave at object boundaries at this resolution.
D435 = Sensor(
    "d435",
    DepthErrors(
        noise_m=0.0012,
        noise_growth=0.0019,
        correlation_px=0.6,
        bias_m=0.001,
        quantum_px=1 / 128,
        baseline_m=0.05,
        edge_holes_px=2,
        edge_holes_share=0.5,
        flying_px=1,
        flying_share=0.3,
        material_holes=0.3,
        random_holes=0.005,
        shadow=True,
    ),
    ColourErrors(exposure=0.1, white_balance=0.03, noise=2.0, blur_px=0.4, jpeg_quality=80),
    MaskErrors(grow_px=1.0, ragged_px=0.3, missing=0.03, ids_per_view=True),
    Calibration(position_m=0.003, rotation_deg=0.3),
)

# Time of flight: no shadow and no steps, but readings between near and far surfaces along edges, and a bias of some
# millimetres (Tölgyessy et al., "Evaluation of the Azure Kinect and its comparison to Kinect V1 and Kinect V2", 2021).
TOF = replace(
    D435,
    name="tof",
    depth=DepthErrors(
        noise_m=0.001,
        noise_growth=0.001,
        bias_m=0.003,
        flying_px=2,
        flying_share=0.6,
        material_holes=0.6,
        random_holes=0.002,
    ),
)

# Passive stereo: wide baseline, errors that are alike over several pixels, holes where there is little texture.
STEREO = replace(
    D435,
    name="stereo",
    depth=DepthErrors(
        noise_m=0.0015,
        noise_growth=0.003,
        correlation_px=1.5,
        bias_m=0.002,
        quantum_px=1 / 64,
        baseline_m=0.12,
        flying_px=1,
        flying_share=0.4,
        material_holes=0.5,
        random_holes=0.03,
        shadow=True,
    ),
)

# Twice the noise of the D435 and everything else at once; an upper end, not a product.
HARSH = Sensor(
    "harsh",
    DepthErrors(
        noise_m=0.0024,
        noise_growth=0.0038,
        correlation_px=0.8,
        bias_m=0.003,
        quantum_px=1 / 64,
        baseline_m=0.05,
        edge_holes_px=1,
        flying_px=2,
        flying_share=0.5,
        material_holes=0.6,
        random_holes=0.03,
        shadow=True,
    ),
    ColourErrors(exposure=0.2, white_balance=0.08, noise=5.0, blur_px=0.7, jpeg_quality=60),
    MaskErrors(
        grow_px=1.0, ragged_px=1.0, missing=0.05, merged=0.02, split=0.02, phantoms=0.05, shift_px=1, ids_per_view=True
    ),
    Calibration(position_m=0.005, rotation_deg=0.5),
)

PRESETS: Mapping[str, Sensor] = {sensor.name: sensor for sensor in (Sensor(), D435, TOF, STEREO, HARSH)}


def sensor(name: str = "clean", events: Sequence[CameraEvent | Mapping[str, Any]] = (), **changes: Any) -> Sensor:
    """A preset with some values changed.

    Args:
        name: of the preset.
        events: what happens to single cameras.
        changes: groups (`depth`, `colour`, `masks`, `calibration`), each a mapping of the values that differ.

    Raises:
        InvalidConfiguration: there is no such preset, group or value.
    """
    if name not in PRESETS:
        raise InvalidConfiguration(
            f"expected a sensor among {', '.join(PRESETS)}, found {name!r}.{did_you_mean(name, PRESETS)}"
        )
    preset = PRESETS[name]
    for group, values in changes.items():
        errors: Any = getattr(preset, group, None)
        known = list(getattr(errors, "__dataclass_fields__", ()))
        wrong = [key for key in values if key not in known]
        if not known or wrong:
            raise InvalidConfiguration(
                f"expected values of {group} among {', '.join(known)}, found {', '.join(wrong)}."
                f"{did_you_mean(wrong[0], known)}"
                if known
                else f"expected depth, colour, masks or calibration, found {group!r}"
            )
        changed: Any = {group: replace(errors, **values)}
        preset = replace(preset, **changed)
    every = [event if isinstance(event, CameraEvent) else CameraEvent(**event) for event in events]
    return replace(preset, events=(*preset.events, *every))
