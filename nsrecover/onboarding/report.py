"""The report of a calibration: text and JSON."""

from nsrecover.onboarding.calibration import CalibrationResult, Share
from nsrecover.util.untrusted_json import JsonObject


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


def _share(share: Share) -> JsonObject:
    low, high = share.interval
    return {
        "share": round(share.value, 4), "low": round(low, 4), "high": round(high, 4), "steps": share.steps,
    }  # fmt: skip
