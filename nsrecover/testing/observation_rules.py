"""Rules about a single observation: its fields, its depth, and what the sensor checks say of it."""

import dataclasses
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from nsrecover.core import ADVICE, Camera, FloatArray, Observation
from nsrecover.domains.tabletop.relations import TABLE
from nsrecover.errors import InvalidObservation
from nsrecover.perception.cameras.checks import check_observation
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import box_around, lift_points
from nsrecover.testing.lifted import LiftedObservation
from nsrecover.testing.rules import Rule, RuleLog, Tolerances
from nsrecover.testing.settings import tells_state

_ODD_READING_M = 1.0
_WELL_SEEN = 100
_LOST_AUDIO = 0.02


def check_type(log: RuleLog, observation: object) -> None:
    """Check the type, the shapes and the fields."""
    found, kind = "", type(observation)
    if not isinstance(observation, Observation):
        found = f"{kind.__module__}.{kind.__qualname__}"
    else:
        try:
            observation.__post_init__()  # arrays may have changed since it was made
        except InvalidObservation as error:
            found = f"an invalid one ({error})"
        arrays = (observation.depth_m, observation.instances)
        if not found and not all(isinstance(array, np.ndarray) for array in (observation.rgb, *arrays)):
            found = "images that are not NumPy arrays"
        elif not found and not np.issubdtype(observation.depth_m.dtype, np.floating):
            found = f"depth_m of type {observation.depth_m.dtype}"
        elif not found and not isinstance(observation.labels, Mapping):
            found = f"labels of type {type(observation.labels).__name__}"
        elif not found and not math.isfinite(observation.time_s):
            found = f"time_s = {observation.time_s}"
    log.check(
        Rule.OBSERVATION_VALID, not found, "a valid nsrecover.Observation from observe()", found,
        "build one from nsrecover.core.observation, which documents every field",
    )  # fmt: skip


def check_leaks(log: RuleLog, observation: Observation, state_words: frozenset[str]) -> None:
    """Check that an observation holds nothing but what cameras, masks, gripper and microphone give."""
    documented = {field.name for field in dataclasses.fields(Observation)}
    extra = sorted({*vars(observation), *(field.name for field in dataclasses.fields(observation))} - documented)
    found = f"fields {extra}" if extra else ""
    for camera in observation.cameras:
        more = sorted(set(vars(camera)) - {field.name for field in dataclasses.fields(Camera)})
        found = found or (f"fields {more} of camera {camera.name!r}" if more else "")
    odd = [name for name in observation.labels.values() if type(name) is not str and isinstance(name, str)]
    found = found or (f"labels of type {type(odd[0]).__name__}" if odd else "")
    telling = [name for name in observation.labels.values() if tells_state(name, state_words)]
    found = found or (f"names that tell a state: {telling}" if telling else "")
    log.check(
        Rule.NOTHING_LEAKS, not found, "the documented fields of an observation, and names that tell no state", found,
        "leave contents, temperatures, events and states to be seen and heard; a world may keep its truth elsewhere",
    )  # fmt: skip


def check_fields(log: RuleLog, observation: Observation, known: Mapping[str, object]) -> None:
    """Check names, labels, images and gripper; `known` holds the names that were seen before."""
    labels = observation.labels
    odd = [
        name for name in labels.values()
        if not isinstance(name, str) or not name or name.strip() != name or set(name) & set("(),;\n") or name == TABLE
    ]  # fmt: skip
    log.check(
        Rule.NAMES_USABLE, not odd, "object names that can be written in a plan, like 'red cube'",
        str(odd), "rename them in the detector's labels",
    )  # fmt: skip
    numbers = {int(number) for number in np.unique(observation.instances)} - {0}
    nameless = sorted(numbers - set(labels))
    log.check(
        Rule.LABELS_COMPLETE, not nameless, "a label for every instance number in the images",
        f"none for {nameless}", "add them to labels, or write 0 where there is no object",
    )  # fmt: skip
    unseen = sorted(name for number, name in labels.items() if number not in numbers and name not in known)
    log.check(
        Rule.LABELS_SEEN, not unseen, "labels only for what is or was in the images",
        f"{unseen} without any pixels", "label only what the detector found",
    )  # fmt: skip
    blank = [camera.name for view, camera in enumerate(observation.cameras) if np.ptp(observation.rgb[view]) == 0]
    log.check(
        Rule.PICTURES_NOT_BLANK, not blank, "colour images that show something", f"a single colour from {blank}",
        "check that the cameras are on, and in the order of the views",
    )  # fmt: skip
    opening, holding = observation.gripper_opening_m, observation.holding
    sane = isinstance(holding, bool | np.bool_) and math.isfinite(opening) and 0.0 <= opening <= 1.0
    log.check(
        Rule.GRIPPER_FIELDS, sane, "gripper_opening_m in metres (0 to 1) and holding true or false",
        f"{opening!r} and {holding!r}", "give the distance between the fingers, and what the gripper feels",
    )  # fmt: skip


def check_audio(log: RuleLog, before: Observation, observation: Observation, limits: Tolerances) -> None:
    """Check that audio goes on from the observation before."""
    found = ""
    if (before.audio is None) != (observation.audio is None):
        found = "an observation with audio and one without"
    elif before.audio_rate_hz != observation.audio_rate_hz:
        found = f"{before.audio_rate_hz} and then {observation.audio_rate_hz} samples a second"
    elif observation.audio is not None:
        heard_s, passed_s = len(observation.audio) / observation.audio_rate_hz, observation.time_s - before.time_s
        if abs(heard_s - passed_s) > max(limits.audio_s, _LOST_AUDIO * passed_s):
            found = f"{heard_s:.2f} s of audio for {passed_s:.2f} s"
    log.check(
        Rule.AUDIO_COVERS_TIME, not found, "audio at one rate that covers the time since the last observation", found,
        "return all samples since the last observation, or None if there is no microphone",
    )  # fmt: skip


def check_depth(log: RuleLog, lifted: LiftedObservation) -> None:
    """Check that pixels without a reading are 0."""
    observation, odd = lifted.observation, ""
    for view, camera in enumerate(observation.cameras):
        metres = observation.depth_m[view]
        if metres.min() < 0:
            odd = f"{metres.min():.3g} m in the view of {camera.name!r}"
        for name in observation.labels.values():
            own = metres[lifted.mask(view, name)]
            own = own[own > 0]
            if len(own) >= LIFTING.min_pixels:
                median = float(np.median(own))
                far = float(own[np.abs(own - median).argmax()])
                # Relative, so that a wrong unit is not mistaken for missing readings.
                if abs(far - median) > max(_ODD_READING_M, 0.5 * median):
                    odd = f"{far:.3g} m on {name!r}, the rest of which is {median:.3g} m from {camera.name!r}"
    log.check(
        Rule.NO_READING_IS_ZERO, not odd, "depth_m of 0 where there is no reading", odd,
        "write 0 for invalid, clipped and far-plane pixels",
    )  # fmt: skip


def check_intrinsics(log: RuleLog, observation: Observation) -> None:
    """Check that K is plausible for images of this size."""
    height, width = observation.instances.shape[1:]
    odd = ""
    for camera in observation.cameras:
        k = np.asarray(camera.intrinsics, dtype=float)
        zeros = abs(k[1, 0]) + abs(k[2, 0]) + abs(k[2, 1]) + abs(k[2, 2] - 1) + abs(k[0, 1]) / max(abs(k[0, 0]), 1e-9)
        if zeros > 1e-3 or k[0, 0] <= 0 or k[1, 1] <= 0:
            odd = f"{k.round(3).tolist()} for {camera.name!r}"
        elif not (0.2 * width < k[0, 2] < 0.8 * width and 0.2 * height < k[1, 2] < 0.8 * height):
            odd = f"the middle at ({k[0, 2]:.0f}, {k[1, 2]:.0f}) for {camera.name!r}"
        elif not (0.1 < k[0, 0] / width < 12 and 0.5 < k[0, 0] / k[1, 1] < 2):
            odd = f"focal lengths of {k[0, 0]:.4g} and {k[1, 1]:.4g} pixels for {camera.name!r}"
    log.check(
        Rule.INTRINSICS_PLAUSIBLE, not odd, f"intrinsics [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] in pixels of the "
        f"{width}x{height} images", odd, "scale K with the images when they are resized; cx goes with the width",
    )  # fmt: skip


def check_table(log: RuleLog, lifted: LiftedObservation, limits: Tolerances, grounded: bool = True) -> None:
    """Check for every camera that the objects stand on the table; if not `grounded`, that none is below the floor."""
    observation = lifted.observation
    for view, camera in enumerate(observation.cameras):
        points, owners = lift_points(_alone(observation, view), 0)
        by_object = [points[owners == number, 2] for number in observation.labels]
        heights = [np.percentile(own, (2, 98)) for own in by_object if len(own) >= LIFTING.min_pixels]
        if heights:
            low, high = float(np.min(heights)), float(np.max(heights))
            standing = low <= limits.table_m or not grounded
            log.check(
                Rule.TABLE_AT_ZERO, standing and low >= -limits.table_m and high <= limits.height_m,
                f"objects {'that stand on' if grounded else 'above'} z = 0 (within {1000 * limits.table_m:.0f} mm), "
                f"lower than {limits.height_m} m",
                f"objects from z = {low:.3f} to {high:.3f} m as {camera.name!r} sees them",
                "put the origin on the top of the table with z up, and let a camera see the sides of the objects",
            )  # fmt: skip


def _alone(observation: Observation, view: int) -> Observation:
    return Observation(
        observation.rgb[[view]], observation.depth_m[[view]], observation.instances[[view]],
        (observation.cameras[view],), observation.labels,
    )  # fmt: skip


def check_sizes(log: RuleLog, lifted: LiftedObservation, limits: Tolerances) -> None:
    """Check that the objects have the size of things on a table."""
    observation, (low, high) = lifted.observation, limits.size_m
    whole_masks = (lift_points(observation, view) for view in range(len(observation.cameras)))
    boxes = [box for points, owners in whole_masks for box in _own_boxes(observation, points, owners).items()]
    odd = {observation.labels[n]: box[3:].round(3).tolist() for n, box in boxes if not low <= box[3:].max() <= high}
    log.check(
        Rule.SIZES_PLAUSIBLE, not odd, f"objects of {low} to {high} m", str(odd),
        "check the masks (do they spill onto the background?), the unit of depth and K",
    )  # fmt: skip


def check_sensors(log: RuleLog, observation: Observation, limits: Tolerances) -> None:
    """Check what the library checks before anything moves."""
    findings = check_observation(observation, limits.agree_m)
    log.check(
        Rule.SENSORS_PLAUSIBLE, not findings, "an observation that the sensor checks accept",
        "; ".join(f"{each.camera} {each.found}".strip() for each in findings),
        "; ".join(ADVICE[each.problem] for each in findings),
    )  # fmt: skip


def _own_boxes(observation: Observation, points: FloatArray, owners: npt.NDArray[np.int32]) -> dict[int, FloatArray]:
    """Return instance number -> box (6,) of every object of which a single view shows many points (M, 3)."""
    own = {number: points[owners == number] for number in observation.labels}
    return {number: box_around(points) for number, points in own.items() if len(points) >= _WELL_SEEN}
