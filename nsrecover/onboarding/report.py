"""The report of a calibration: text, JSON, and a page with figures."""

import base64
import io
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.onboarding.calibration import CalibrationResult, Share
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.extras import needs_extra
from nsrecover.util.untrusted_json import JsonObject

PAGE = "report.html"


def document_of(result: CalibrationResult) -> JsonObject:
    """The result as JSON data."""
    return {
        "alpha": result.alpha,
        "threshold": round(result.threshold, 6),
        "threshold_of_tolerance": round(result.neutral, 6),
        "threshold_spread": [round(value, 6) for value in result.spread],
        "promised": result.promised,
        "runs": result.runs,
        "steps": len(result.steps),
        "steps_needed_for_the_promise": result.needed_steps,
        "false_alarms_left_out": _share(result.false_alarms),
        "cannot_tell": _share(result.cannot_tell),
        "detection_by_mm": {f"{distance:g}": _share(share) for distance, share in result.detection.items()},
        **(
            {}
            if result.tested is None
            else {
                "tested_false_alarms": _share(result.tested),
                "tested_detection_by_mm": {f"{d:g}": _share(share) for d, share in result.tested_detection.items()},
            }
        ),
        "improve": [each.text for each in result.advice],
    }


def lines_of(result: CalibrationResult) -> list[str]:
    """The result as short lines of text."""
    how = (
        f"promised: {len(result.steps)} good steps are enough"
        if result.promised
        else f"estimated, not promised: that needs {result.needed_steps} good steps, found {len(result.steps)}"
    )
    decides = "the tolerance decides, not the noise" if result.limited_by_tolerance else "the noise decides"
    lines = [
        f"{result.runs} runs, {len(result.steps)} good steps",
        f"false alarms at most {result.alpha:g} per step ({how})",
        f"threshold {result.threshold:.4g} ({decides}; other runs would give {result.spread[0]:.3g} to "
        f"{result.spread[1]:.3g} before the tolerance limits it)",
        f"alarms on runs that did not set the threshold: {result.false_alarms}",
        f"cannot tell by one look: {result.cannot_tell}",
        "detected, of objects displaced on the table:",
    ]
    lines += [f"  {distance:>4g} mm  {share}" for distance, share in result.detection.items()]
    if result.tested is not None:
        lines.append(f"alarms on the runs to test: {result.tested}; detected, of their displaced copies:")
        lines += [f"  {distance:>4g} mm  {share}" for distance, share in result.tested_detection.items()]
    lines += ["improve first:" if result.advice else "nothing stands out to be improved"]
    return lines + [f"  {number}. {each.text}" for number, each in enumerate(result.advice, start=1)]


def write_page(result: CalibrationResult, folder: Path) -> Path:
    """Write the report as a page that needs no other file.

    Raises:
        InvalidConfiguration: the extra `report` is not installed.
    """
    with needs_extra("report", "jinja2"):
        from jinja2 import Environment, PackageLoader
    environment = Environment(loader=PackageLoader("nsrecover.onboarding", "pages"), autoescape=True)
    page = environment.get_template("calibration.html.jinja").render(
        lines=lines_of(result), figures=[_scores_figure(result), _detection_figure(result)]
    )
    atomic_write_bytes(folder / PAGE, page.encode())
    return folder / PAGE


def _share(share: Share) -> JsonObject:
    low, high = share.interval
    return {
        "share": round(share.value, 4), "low": round(low, 4), "high": round(high, 4), "steps": share.steps,
    }  # fmt: skip


def _scores_figure(result: CalibrationResult) -> str:
    """Scores of all good steps, by operator, and the threshold."""
    figure, axes = _axes()
    for number, operator in enumerate(sorted({step.operator for step in result.steps})):
        scores = np.array([step.score for step in result.steps if step.operator == operator])
        heights = number + np.linspace(-0.3, 0.3, len(scores))
        axes.plot(np.clip(1.0 - scores, 1e-5, 1.0), heights, "o", markersize=3)
        axes.text(1.2e-5, number + 0.32, operator, fontsize=8)
    axes.axvline(1.0 - result.threshold, color="#b22")
    axes.set(
        xscale="log", xlabel="P(not as expected) of good steps; red: alarm from here on", yticks=[], xlim=(1e-5, 1.1)
    )
    return _png(figure)


def _detection_figure(result: CalibrationResult) -> str:
    """Share of detected displacements with intervals."""
    figure, axes = _axes()
    distances = list(result.detection)
    shares = [result.detection[distance] for distance in distances]
    low, high = zip(*(share.interval for share in shares), strict=True) if shares else ((), ())
    axes.fill_between(distances, low, high, alpha=0.25)
    axes.plot(distances, [share.value for share in shares], marker="o", markersize=3)
    axes.set(xlabel="displacement, mm", ylabel="detected", ylim=(-0.02, 1.02))
    return _png(figure)


def _axes() -> tuple[Any, Any]:
    with needs_extra("report", "matplotlib"):
        from matplotlib.figure import Figure
    figure = Figure(figsize=(5.2, 3.0), layout="constrained")
    return figure, figure.add_subplot()


def _png(figure: Any) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return base64.b64encode(buffer.getvalue()).decode()
