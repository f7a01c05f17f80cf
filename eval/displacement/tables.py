"""Detection against displacement: shares, the displacement detected with 95 % probability, table and figure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from eval.common.figures import finish, save
from eval.common.statistics import share_of
from eval.common.tables import document, markdown_table, number, percent_of
from eval.displacement.looks import Look

RULE_MM = 20.0
"""Distance of the simple rule."""

BETWEEN_MM = (15.0, 30.0)
"""Displacements over which the methods are compared."""


def summary(looks: Sequence[Look], rate: float) -> dict[str, Any]:
    """Metrics of one sensor.

    Scenes with even numbers set the tolerances that keep the rate of false alarms; those with odd numbers are measured.

    Args:
        looks: of all scenes.
        rate: false alarms per look.
    """
    setting, measured = ([look for look in looks if look.scene % 2 == half] for half in (0, 1))
    strict = {name: _kept(setting, name, rate) for name in ("ours", "rule")}
    of_rule = float(np.mean([_value(look, "rule") > RULE_MM for look in setting if look.distance_mm == 0]))
    equal = {"ours": _kept(setting, "ours", of_rule), "rule": RULE_MM}
    return {
        "default": _at(measured, {"ours": RULE_MM, "rule": RULE_MM}),
        "strict": _at(measured, strict),
        "equal": _at(measured, equal),
    }


def _at(looks: Sequence[Look], tolerances_mm: Mapping[str, float]) -> dict[str, Any]:
    """Rates of both methods at their tolerances."""
    return {name: _rates(looks, name, tolerance) for name, tolerance in tolerances_mm.items()}


def _rates(looks: Sequence[Look], name: str, tolerance_mm: float) -> dict[str, Any]:
    distances = sorted({look.distance_mm for look in looks})
    detected = {
        distance: share_of(_value(look, name) > tolerance_mm for look in looks if look.distance_mm == distance)
        for distance in distances
    }
    low, high = BETWEEN_MM
    return {
        "tolerance_mm": round(tolerance_mm, 2),
        "false_alarms": detected.pop(0.0),
        "detected": {f"{distance:g}": found for distance, found in detected.items()},
        "detected_15_to_30_mm": share_of(
            _value(look, name) > tolerance_mm for look in looks if low <= look.distance_mm <= high
        ),
        "d95_mm": _reaches({distance: found["value"] for distance, found in detected.items()}, 0.95),
    }


def _value(look: Look, name: str) -> float:
    """Smallest tolerance at which a look gives no alarm, mm."""
    return look.ours_mm if name == "ours" else look.rule_mm


def _kept(looks: Sequence[Look], name: str, rate: float) -> float:
    """Smallest tolerance at which no more than a share of the looks at unchanged scenes is an alarm, mm."""
    values = np.sort([_value(look, name) for look in looks if look.distance_mm == 0])
    return float(values[min(int(np.ceil((1 - rate) * (len(values) + 1))), len(values)) - 1])


def _reaches(shares: Mapping[float, float], level: float) -> float | None:
    """Displacement from which on a share is detected, mm, interpolated; None if it is not reached."""
    distances = sorted(shares)
    for before, here in zip([None, *distances[:-1]], distances, strict=True):
        if all(shares[later] >= level for later in distances[distances.index(here) :]):
            if before is None:
                return round(here, 1)
            part = (level - shares[before]) / max(shares[here] - shares[before], 1e-9)
            return round(before + float(np.clip(part, 0.0, 1.0)) * (here - before), 1)
    return None


def markdown(metrics: Mapping[str, Any]) -> str:
    """The table of all sensors."""
    sensors, rate = metrics["sensors"], metrics["rate"]
    header = ["sensor", "setting", "method", "tolerance, mm", "false alarms", "25 mm detected", "15 to 30 mm detected",
              "detected with 95 %, mm"]  # fmt: skip
    settings = {
        "default": f"{RULE_MM:g} mm",
        "strict": f"strictest with {100 * rate:g} % false alarms",
        "equal": f"false alarms of the {RULE_MM:g} mm rule",
    }
    names = {"ours": "learned comparison", "rule": "distance"}
    rows = [
        [
            sensor,
            settings[setting],
            names[method],
            number(found["tolerance_mm"], 1),
            percent_of(found["false_alarms"], 1),
            percent_of(found["detected"]["25"], 1) if "25" in found["detected"] else "-",
            percent_of(found["detected_15_to_30_mm"], 1),
            number(found["d95_mm"], 1, none="not reached"),
        ]
        for sensor, summed in sensors.items()
        for setting, methods in summed.items()
        for method, found in methods.items()
    ]
    return document("The smallest displacement that is detected", markdown_table(header, rows))


def draw(metrics: Mapping[str, Any], folder: Path) -> None:
    """Curves of the share detected at the strictest setting, of both methods: displacement.png and .svg."""
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axis = figure.subplots()
    for colour, (sensor, summed) in enumerate(metrics["sensors"].items()):
        for method, line in (("ours", "-"), ("rule", ":")):
            found = summed["strict"][method]["detected"]
            label = f"{sensor}, {'learned' if method == 'ours' else 'distance'}"
            shares = [100 * each["value"] for each in found.values()]
            axis.plot([float(key) for key in found], shares, line, color=f"C{colour}", label=label)
    axis.axhline(95, color="0.7", linewidth=0.8)
    finish(axis, "displacement, mm", "detected, %")
    axis.legend(fontsize=8)
    save(figure, folder, "displacement")
