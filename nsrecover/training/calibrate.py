"""The decision threshold, by split-conformal calibration on successful held-out steps, and what was measured."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nsrecover.core.scene import FloatArray
from nsrecover.domains.tabletop.operators import has_own_effect, reference_name
from nsrecover.models.bundle import Bundle
from nsrecover.models.conformal import Calibration, conformal_threshold, lowest
from nsrecover.models.same_place import same_place
from nsrecover.training.demonstrations import Demonstration
from nsrecover.util.untrusted_json import JsonMapping, JsonObject

NEUTRAL_THRESHOLD = 0.5
"""The discriminator's own decision point; calibration may lower it, to keep the promised false-alarm rate."""

FALSE_ALARM_RATES = (0.001, 0.01, 0.05)

_TEST_EVERY = 3
"""Every third held-out episode is for measuring; the others set the threshold."""


def calibrate(
    held_out: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle, alpha: float
) -> JsonObject:
    """Set the threshold on some of the held-out episodes, and measure on the others.

    Args:
        held_out: successful episodes that were not trained on.
        visual: the features of each, by the trained encoder.
        bundle: its configuration is given the threshold and the calibration scores.
        alpha: false-alarm rate per step to keep to.

    Returns:
        What was measured.
    """
    tested = [i for i in range(len(held_out)) if i % _TEST_EVERY == 1]
    others = [i for i in range(len(held_out)) if i % _TEST_EVERY != 1]
    test, test_visual = [held_out[i] for i in tested], [visual[i] for i in tested]
    scores = lowest_probabilities([held_out[i] for i in others], [visual[i] for i in others], bundle)
    fresh = lowest_probabilities(test, test_visual, bundle)
    kept = lowest(scores.tolist())
    sensors = _by_sensor([held_out[i] for i in others], scores), _by_sensor(test, fresh)
    calibrations = {name: Calibration(lowest(own), len(own)) for name, own in sensors[0].items() if name}
    thresholds = {rate: conformal_threshold(kept, len(scores), rate) for rate in FALSE_ALARM_RATES}
    threshold = min(NEUTRAL_THRESHOLD, conformal_threshold(kept, len(scores), alpha))
    bundle.config = replace(
        bundle.config,
        threshold=threshold,
        calibration=kept,
        calibration_steps=len(scores),
        sensors=calibrations,
    )
    return {
        "threshold": threshold,
        "calibration_steps": len(scores),
        "test_steps": len(fresh),
        "false_alarm_rate": float((fresh < threshold).mean()),
        "false_alarms": {str(rate): float((fresh < found).mean()) for rate, found in thresholds.items()},
        "sensors": {
            name: _measured(calibrations[name], sensors[1][name], threshold, alpha)
            for name in calibrations
            if sensors[1].get(name)
        },
        "box_error_mm": box_errors_mm(test, test_visual, bundle, (1, 3, 5)),
        "displacement_recall_by_mm": displacement_recall(test, test_visual, bundle),
    }


def _by_sensor(demonstrations: Sequence[Demonstration], scores: FloatArray) -> dict[str, list[float]]:
    """Scores of the steps of some demonstrations, by the sensor that they were seen through."""
    names = [demo.sensor for demo in demonstrations for _ in demo.plan]
    found: dict[str, list[float]] = {}
    for name, score in zip(names, scores.tolist(), strict=True):
        found.setdefault(name, []).append(score)
    return found


def scores_by_sensor(demonstrations: Sequence[Demonstration], bundle: Bundle) -> dict[str, list[float]]:
    """The lowest P(as expected) of every successful step, by the sensor that it was seen through."""
    visual = [demo.appearance(bundle) for demo in demonstrations]
    return _by_sensor(demonstrations, lowest_probabilities(demonstrations, visual, bundle))


def recalibrate(bundle: Bundle, demonstrations: Sequence[Demonstration], note: JsonMapping) -> None:
    """Replace what a checkpoint was calibrated on, for each sensor; its threshold stays.

    What good steps look like depends on the perception around the networks, so that a calibration grows old with it.

    Args:
        bundle: its configuration is changed.
        demonstrations: successful episodes that were not trained on.
        note: where they come from, for the provenance.
    """
    sensors = scores_by_sensor(demonstrations, bundle)
    every = [score for found in sensors.values() for score in found]
    bundle.config = replace(
        bundle.config,
        calibration=lowest(every),
        calibration_steps=len(every),
        sensors={name: Calibration(lowest(found), len(found)) for name, found in sensors.items() if name},
        provenance={**bundle.config.provenance, "calibration": note},
    )


def _measured(calibration: Calibration, fresh: Sequence[float], threshold: float, alpha: float) -> JsonObject:
    """False alarms of one sensor on steps that did not set its threshold."""
    own = conformal_threshold(calibration.scores, calibration.steps, alpha)
    return {
        "steps": len(fresh),
        "false_alarm_rate": float(np.mean(np.asarray(fresh) < threshold)),
        "own_threshold": own,
        "own_false_alarm_rate": float(np.mean(np.asarray(fresh) < own)),
    }


def calibration_warning(calibrated: JsonMapping, alpha: float) -> str:
    """The warning about a calibration whose threshold is 0; empty if the threshold is higher.

    Args:
        calibrated: the result of `calibrate`.
        alpha: the requested false-alarm rate per step.
    """
    if calibrated["threshold"] > 0:
        return ""
    return (
        f"warning: expected at least {math.ceil(1 / alpha) - 1} held-out steps that went well to set the threshold on, "
        f"for a false-alarm rate of {alpha}, found {calibrated['calibration_steps']}, or some that did not go well; "
        "the threshold is 0 and the monitor never alarms. Hold out more episodes (two thirds of them set the "
        "threshold) or choose a larger alpha, with another out=DIR; or calibrate what was trained: "
        "nsrecover.load(BUNDLE).calibrated(episodes, alpha)"
    )


def lowest_probabilities(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle
) -> FloatArray:
    """For every successful step, the lowest P(as expected) over the objects, which decides on an alarm.

    The expectation is imagined from the frame before the step, as the agent does it.
    """
    scores = []
    for demo, features in zip(demonstrations, visual, strict=True):
        for step, action in enumerate(demo.plan):
            boxes, looks = demo.boxes[step].copy(), features[step].copy()
            moved = demo.names.index(action.arguments[0])
            if has_own_effect(action):
                box, feature = _predict(bundle, looks, boxes, demo, step)
                boxes[moved], looks[moved] = box, feature
            else:
                # the target comes with the action, and is where the object was put
                boxes[moved] = demo.boxes[step + 1, moved]
            scores.append(same_place(bundle, looks, boxes, features[step + 1], demo.boxes[step + 1]).min())
    return np.asarray(scores, dtype=np.float32)


def _predict(
    bundle: Bundle, visual: FloatArray, boxes: FloatArray, demo: Demonstration, step: int
) -> tuple[FloatArray, FloatArray]:
    action = demo.plan[step]
    moved, reference = (demo.names.index(name) for name in (action.arguments[0], reference_name(action)))
    number = bundle.config.operators.index(action.operator)
    box, feature = bundle.predict(visual[None], boxes[None], [number], [moved], [reference])
    return box[0], feature[0]


def box_errors_mm(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle, steps: Sequence[int]
) -> dict[str, float]:
    """Median error of the moved object's imagined centre after 1, 2, ... imagined steps, millimetres."""
    errors: dict[int, list[float]] = {count: [] for count in steps}
    for demo, features in zip(demonstrations, visual, strict=True):
        boxes, looks = demo.boxes[0].copy(), features[0].copy()
        for step, action in enumerate(demo.plan):
            moved = demo.names.index(action.arguments[0])
            if not has_own_effect(action):
                boxes[moved] = demo.boxes[step + 1, moved]
                continue
            boxes[moved], looks[moved] = _predict(bundle, looks, boxes, demo, step)
            if step + 1 in errors:
                errors[step + 1].append(float(np.linalg.norm(boxes[moved, :3] - demo.boxes[step + 1, moved, :3])))
    return {str(count): round(1000 * float(np.median(found)), 2) for count, found in errors.items() if found}


def displacement_recall(
    demonstrations: Sequence[Demonstration], visual: Sequence[FloatArray], bundle: Bundle, seed: int = 0
) -> dict[str, float]:
    """Share of displaced copies of held-out objects that the discriminator detects, by distance in millimetres."""
    rng = np.random.default_rng(seed)
    looks = np.concatenate([features[0] for features in visual])
    boxes = np.concatenate([demo.boxes[0] for demo in demonstrations])
    rates = {}
    for millimetres in (5, 10, 15, 20, 25, 30, 40, 60):
        direction = rng.normal(size=(len(boxes), 3))
        shifted = boxes.copy()
        shifted[:, :3] += direction / np.linalg.norm(direction, axis=1, keepdims=True) * millimetres / 1000
        rates[str(millimetres)] = round(float((bundle.same(looks, boxes, looks, shifted) < bundle.threshold).mean()), 4)
    return rates
