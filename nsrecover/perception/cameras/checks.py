"""Whether an observation is plausible: units, camera convention and poses, the table, and agreement of the cameras.

The table must be at z = 0 where the cameras see it, and a robot that is in view at the origin. If it is not, other
readings of the same numbers are tried (depth in millimetres, poses in OpenGL's convention, inverted poses, exchanged
cameras); the one that puts everything into its place is named as the likely mistake.

A camera that is turned about the vertical, or moved along the table, sees the table where it should be. Only another
camera tells.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import numpy.typing as npt

from nsrecover.core import Camera, FloatArray, Observation, SensorFinding, SensorProblem
from nsrecover.errors import InvalidObservation
from nsrecover.perception.cameras.agreement import contradictions, unmasked
from nsrecover.perception.cameras.exchange import RULES as EXCHANGE
from nsrecover.perception.cameras.exchange import likely_orders
from nsrecover.perception.cameras.levelling import fitted_plane
from nsrecover.perception.cameras.mask_fit import misplaced_masks
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import mask_pixels, to_world


@dataclass(frozen=True)
class PlausibleView:
    """What a plausible observation of a table with objects looks like.

    Attributes:
        depth_m: range of plausible distances of the table from a camera.
        plane_m: maximum apparent distance of table points from the plane of the table.
        height_m: maximum apparent distance of the table from z = 0.
        table_share: share of the readings beside the objects that show the table in a plausible view.
        tilt_deg: maximum apparent tilt of the table.
        little_share: share of the readings that shows some of a table that is in its place, though little of it.
        bent_m: a table is bent if its points are farther than this from a plane,
        flatter: and readings along rays make it flatter by this factor.
        sizes: sizes of images that are tried, times the given one.
        focal_lengths: focal lengths that are tried, times the given one.
        reach_m: no object that matters is farther from the robot's base.
        agree_m: tops of one object are at most this far apart in two views, whose calibrations may be off by a degree
            each.
        setup_agree_m: the same when a robot is set up: what was placed well is at most 2 cm off.
        flat: a colour image whose values differ by less, but for 1 % at either end, shows nothing.
        missing_rows: largest share of rows of a colour image that are black although there is something near.
        wide_m: an object whose upper end is wider is furniture: two views may show different parts of it.
        readings: fewest depth readings of a working camera.
        unmasked: a view without masks that sees so many objects of the other views has no working segmenter; one or two
            may be missing by chance.
    """

    depth_m: tuple[float, float] = (0.1, 5.0)
    plane_m: float = 0.02
    height_m: float = 0.03
    table_share: float = 0.3
    tilt_deg: float = 2.0
    little_share: float = 0.05
    bent_m: float = 0.004
    flatter: float = 0.5
    sizes: tuple[float, float] = (0.5, 2.0)
    focal_lengths: tuple[float, ...] = (0.5, 0.9, 1.1, 2.0)
    reach_m: float = 1.5
    agree_m: float = 0.07
    setup_agree_m: float = 0.03
    flat: int = 16
    missing_rows: float = 0.05
    wide_m: float = 0.25
    readings: int = 400
    unmasked: int = 3


RULES = PlausibleView()


_FLIP = np.diag([1.0, -1.0, -1.0, 1.0]).astype(np.float32)


def check_observation(observation: Observation, agree_m: float = RULES.agree_m) -> tuple[SensorFinding, ...]:
    """What is implausible about an observation that should show a table with objects; empty if nothing is.

    Args:
        observation: the observation.
        agree_m: how far apart the places of the same objects may be in two views, metres.
    """
    broken = tuple(_broken_views(observation)) or tuple(_bent_views(observation))
    if broken:
        return broken
    remaining = tuple(_remaining(observation, agree_m))
    if all(each.problem is SensorProblem.VIEWS_DISAGREE for each in remaining) and (
        misplaced := tuple(_misplaced_masks(observation))
    ):
        return misplaced
    if not remaining:
        robot = _robot_seen(observation)
        exchanged = (
            finding
            for finding, changed in _exchanged(observation)
            if robot < 5 and _robot_seen(changed) > 20 and _plausible(changed)
        )
        return (*exchanged,)[:1] or (*_without_masks(observation),)
    if _plausible(observation):  # but for a stricter `agree_m`
        return remaining
    likely = next((finding for finding, changed in _other_readings(observation) if _plausible(changed)), None)
    return (likely,) if likely else remaining


def require_plausible(observation: Observation) -> None:
    """Refuse an implausible observation.

    Raises:
        InvalidObservation: with what was found and the likely fix.
    """
    findings = check_observation(observation)
    if findings:
        raise InvalidObservation(
            "expected a plausible observation, found "
            + "; ".join(map(str, findings))
            + " (`check_sensors=False` accepts it as it is)"
        )


def _broken_views(observation: Observation) -> Iterator[SensorFinding]:
    for camera, depth in zip(observation.cameras, observation.depth_m, strict=True):
        readings = int(np.count_nonzero(depth > 0))
        if readings < RULES.readings:
            yield SensorFinding(SensorProblem.NO_DEPTH, camera.name, f"{readings} depth readings")
    for camera, colour, depth in zip(observation.cameras, observation.rgb, observation.depth_m, strict=True):
        if found := _no_picture(colour, depth):
            yield SensorFinding(SensorProblem.COVERED, camera.name, found)
    for (one, first), (two, second) in combinations(zip(observation.cameras, observation.rgb, strict=True), 2):
        if np.array_equal(first, second):
            yield SensorFinding(SensorProblem.VIEWS_DISAGREE, f"{one.name} and {two.name}", "the same colour image")
    if not (observation.instances > 0).any():
        yield SensorFinding(SensorProblem.NO_MASKS, "", "no instance mask")


def _no_picture(colour: npt.NDArray[np.uint8], depth_m: FloatArray) -> str:
    """What is wrong with a colour image that does not show what its depth shows; empty if nothing is."""
    low, high = np.quantile(colour.reshape(-1, 3), (0.01, 0.99), axis=0)
    if (high - low).max() < RULES.flat:
        return f"a colour image of {'black' if high.max() < RULES.flat else 'one'} colour"
    # rows beyond the lens, which rectified images have, have no depth; a simulator's empty background is far
    rows = ((depth_m > 0) & (depth_m < RULES.depth_m[1])).mean(axis=1) > 0.5
    if (missing := float((rows & ~colour.any(axis=(1, 2))).mean())) > RULES.missing_rows:
        return f"a colour image with {missing:.0%} of its rows black, where there is depth"
    return ""


def _bent_views(observation: Observation) -> Iterator[SensorFinding]:
    """Views in which the table is bent, and is flat if the readings are distances along the rays."""
    for view, camera in enumerate(observation.cameras):
        bent_m = _unevenness(observation, view)
        if bent_m > RULES.bent_m and _unevenness(_along_rays(observation), view) < RULES.flatter * bent_m:
            found = f"a table bent by {1000 * bent_m:.0f} mm, which is flat if depth is the distance along each ray"
            yield SensorFinding(SensorProblem.RAY_DEPTH, camera.name, found)


def _along_rays(observation: Observation) -> Observation:
    """The observation if its readings are distances along the rays."""
    depth = np.empty_like(observation.depth_m)
    for view, (camera, image) in enumerate(zip(observation.cameras, observation.depth_m, strict=True)):
        k, (height, width) = camera.intrinsics, image.shape
        x, y = (np.arange(width) + 0.5 - k[0, 2]) / k[0, 0], (np.arange(height) + 0.5 - k[1, 2]) / k[1, 1]
        depth[view] = image / np.sqrt(1 + x**2 + y[:, None] ** 2)
    return replace(observation, depth_m=depth)


def _unevenness(observation: Observation, view: int) -> float:
    """Median distance of table points from the plane through them, metres; 0 if no table is in view."""
    points = _beside_objects(observation, view)
    points = points[(np.linalg.norm(points[:, :2], axis=1) < RULES.reach_m) & (np.abs(points[:, 2]) < 0.15)]
    found = fitted_plane(points, np.zeros(2), (0.15, 0.1, 0.08, 0.06), RULES.readings // 4)
    if found is None:
        return 0.0
    (slope_x, slope_y, height), near = found
    off = points[near, 2] - points[near, 0] * slope_x - points[near, 1] * slope_y - height
    return float(np.median(np.abs(off)))


def _without_masks(observation: Observation) -> Iterator[SensorFinding]:
    """Views without masks that see what has masks in other views."""
    for view, camera in enumerate(observation.cameras):
        if not (observation.instances[view] > 0).any() and (number := unmasked(observation, view)) >= RULES.unmasked:
            yield SensorFinding(
                SensorProblem.NO_MASKS, camera.name, f"no instance mask, although {number} objects are in sight"
            )


def _misplaced_masks(observation: Observation) -> Iterator[SensorFinding]:
    for view, camera in enumerate(observation.cameras):
        if how := misplaced_masks(observation, view):
            yield SensorFinding(
                SensorProblem.MISPLACED_MASKS, camera.name, f"masks that fit the depth if they are {how}"
            )


def _other_readings(observation: Observation) -> Iterator[tuple[SensorFinding, Observation]]:
    """Observations with a likely mistake corrected, and what that mistake is."""
    depth, cameras = observation.depth_m, observation.cameras
    scales = {1.0: "", 1e-3: "depth that is plausible as millimetres", 1e-2: "depth that is plausible as centimetres"}
    poses = {
        "": None,
        "a pose that is plausible in OpenGL's convention": SensorProblem.CAMERA_CONVENTION,
        "a pose that is plausible if it is inverted": SensorProblem.INVERTED_POSE,
        "an OpenGL pose that is plausible if it is inverted": SensorProblem.INVERTED_POSE,
    }
    for (scale, unit), (pose, problem) in product(scales.items(), poses.items()):
        if not unit and problem is None:
            continue
        changed = tuple(replace(camera, world_from_camera=_reread(camera, pose)) for camera in cameras)
        finding = SensorFinding(problem or SensorProblem.DEPTH_UNIT, "", " and ".join(filter(None, (unit, pose))))
        yield finding, replace(observation, depth_m=(depth * scale).astype(np.float32), cameras=changed)
    yield from _exchanged(observation)
    for change, sizes in (("a size", RULES.sizes), ("a focal length", RULES.focal_lengths)):
        for factor in sizes:
            times = np.array([[factor, 1, factor], [1, factor, factor], [1, 1, 1]], dtype=np.float32)
            times[:2, 2] = factor if change == "a size" else 1.0
            changed = tuple(replace(camera, intrinsics=camera.intrinsics * times) for camera in cameras)
            found = f"intrinsics that are plausible with {change} {factor:g} times theirs"
            yield SensorFinding(SensorProblem.INTRINSICS, "", found), replace(observation, cameras=changed)


def _exchanged(observation: Observation) -> Iterator[tuple[SensorFinding, Observation]]:
    """Observations with the cameras in the orders that fit the images best; a robot that is in view stays in view."""
    cameras, robot = observation.cameras, _robot_seen(observation)
    for order in likely_orders(observation):
        names = ", ".join(cameras[i].name for i in order)
        finding = SensorFinding(
            SensorProblem.EXCHANGED_CAMERAS, "", f"images that fit the cameras in the order {names}"
        )
        changed = replace(observation, cameras=tuple(cameras[i] for i in order))
        if robot < EXCHANGE.robot_points or _robot_seen(changed) >= EXCHANGE.robot_points:
            yield finding, changed


def _reread(camera: Camera, pose: str) -> FloatArray:
    matrix = camera.world_from_camera
    if "inverted" in pose:
        matrix = np.linalg.inv(matrix)
    return np.asarray(matrix @ _FLIP if "OpenGL" in pose else matrix, dtype=np.float32)


def _plausible(observation: Observation) -> bool:
    return next(_remaining(observation), None) is None


def _remaining(observation: Observation, agree_m: float = RULES.agree_m) -> Iterator[SensorFinding]:
    """What is wrong with an observation, taken as it is."""
    tops = []
    for view, camera in enumerate(observation.cameras):
        depth = observation.depth_m[view]
        median = float(np.median(depth[depth > 0]))
        if not RULES.depth_m[0] <= median <= RULES.depth_m[1]:
            yield SensorFinding(SensorProblem.DEPTH_UNIT, camera.name, f"a median depth of {median:.3g} m")
            return
        height, tilt, share = table_plane(observation, view)
        level = abs(height) <= RULES.height_m and tilt <= RULES.tilt_deg
        if level and RULES.little_share <= share < RULES.table_share:
            yield SensorFinding(
                SensorProblem.LITTLE_TABLE, camera.name, f"{share:.0%} of the readings beside the objects on the table"
            )
        elif share < RULES.table_share:
            yield SensorFinding(
                SensorProblem.TABLE_PLANE, camera.name,
                f"{share:.0%} of the readings beside the objects on a plane near z = 0",
            )  # fmt: skip
        elif not level:
            yield SensorFinding(
                SensorProblem.TABLE_PLANE, camera.name, f"a table at {1000 * height:.0f} mm, tilted by {tilt:.1f}°"
            )
        elif camera.world_from_camera[2, 3] < 0:
            yield SensorFinding(SensorProblem.INVERTED_POSE, camera.name, "a camera below the table")
        tops.append(_tops(observation, view))
    for camera, own in zip(observation.cameras, tops, strict=True):
        far = [place for place, _ in own.values() if np.linalg.norm(place[:2]) > RULES.reach_m]
        if own and len(far) == len(own):
            yield SensorFinding(SensorProblem.OUT_OF_REACH, camera.name, f"all objects over {RULES.reach_m} m away")
    for (one, first), (two, second) in zip(list(enumerate(tops))[:-1], list(enumerate(tops))[1:], strict=True):
        apart = _disagreement(first, second) if observation.shared_ids else 0.0
        if apart > agree_m:
            names = f"{observation.cameras[one].name} and {observation.cameras[two].name}"
            yield SensorFinding(
                SensorProblem.VIEWS_DISAGREE, names, f"places of the same objects {1000 * apart:.0f} mm apart"
            )
            return
    against = contradictions(observation)
    for one, two in np.argwhere(against)[:1]:
        names = f"{observation.cameras[one].name} and {observation.cameras[two].name}"
        yield SensorFinding(
            SensorProblem.VIEWS_DISAGREE, names,
            f"{against[one, two]} objects of the first where the second sees the bare table",
        )  # fmt: skip


def table_plane(observation: Observation, view: int) -> tuple[float, float, float]:
    """The table as one view sees it.

    Returns:
        Its height in metres, its tilt in degrees, and the share of the readings beside the objects that show it; floor
        and walls far away do not count. Zeros if it is not near z = 0.
    """
    points = _beside_objects(observation, view)
    points = points[np.linalg.norm(points[:, :2], axis=1) < RULES.reach_m]
    middle = np.median(points[:, :2], axis=0) if len(points) else np.zeros(2)
    found = fitted_plane(points, middle, (0.1, 0.05, 0.03, RULES.plane_m, RULES.plane_m), RULES.readings // 4)
    if found is None:
        return 0.0, 0.0, 0.0
    plane, near = found
    return float(plane[2]), float(np.degrees(np.arctan(np.hypot(*plane[:2])))), float(near.mean())


def _robot_seen(observation: Observation) -> int:
    """Number of sampled points, beside the objects, on something that stands at the origin."""
    points = np.concatenate([_beside_objects(observation, view) for view in range(len(observation.cameras))])
    at_origin = np.linalg.norm(points[:, :2], axis=1) < EXCHANGE.robot_m
    return int(np.count_nonzero(at_origin & (points[:, 2] > EXCHANGE.robot_m / 3) & (points[:, 2] < 2.0)))


def _beside_objects(observation: Observation, view: int) -> FloatArray:
    """Some 4,000 points (M, 3) of one view that show no object."""
    rows, columns = np.nonzero((observation.instances[view] == 0) & (observation.depth_m[view] > 0))
    some = slice(None, None, max(len(rows) // 4000, 1))
    return to_world(observation, view, rows[some], columns[some])


def _tops(observation: Observation, view: int) -> dict[int, tuple[FloatArray, bool]]:
    """Instance number -> middle (3,) of the upper end of what one view shows of it, and whether that is all of it.

    Of furniture, and of what the edge of the image cuts, two views show different parts.
    """
    found, instances = {}, observation.instances[view]
    edges = {*instances[[0, -1]].ravel().tolist(), *instances[:, [0, -1]].ravel().tolist()}
    for number, (rows, columns) in mask_pixels(observation, view).items():
        if len(rows) >= LIFTING.min_pixels:
            points = to_world(observation, view, rows, columns)
            high = points[points[:, 2] > np.quantile(points[:, 2], 0.9) - 0.01]
            # between the ends: each view sees more of the side that it looks at
            ends = np.quantile(high, (0.05, 0.95), axis=0)
            narrow = float(np.ptp(ends[:, :2], axis=0).max()) < RULES.wide_m
            found[number] = ends.mean(axis=0), number not in edges and narrow
    return found


def _disagreement(first: dict[int, tuple[FloatArray, bool]], second: dict[int, tuple[FloatArray, bool]]) -> float:
    """Median distance of the places of the same objects in two views, of those that both show whole."""
    whole = [number for number in first.keys() & second.keys() if first[number][1] and second[number][1]]
    apart = [float(np.linalg.norm(first[number][0] - second[number][0])) for number in whole]
    return float(np.median(apart)) if apart else 0.0
