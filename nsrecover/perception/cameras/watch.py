"""Watch over the cameras during an episode: names those that freeze, fail, are exchanged, move or change their scale.

Everything follows from the observations alone. Small motions and changes of scale are corrected, exchanged images are
put back, and other failing views are left out, so that perception goes on with the remaining ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from scipy import ndimage
from scipy.optimize import linear_sum_assignment

from nsrecover.core import Camera, FloatArray, Observation, SensorFinding, SensorProblem
from nsrecover.perception.cameras.agreement import RULES as AGREEMENT
from nsrecover.perception.cameras.checks import RULES as VIEWS
from nsrecover.perception.cameras.landmarks import Landmarks, landmarks_of
from nsrecover.perception.cameras.motion import CameraMotion, motion_of
from nsrecover.perception.cameras.visibility import readings
from nsrecover.perception.lifting import RULES as LIFTING
from nsrecover.perception.lifting import depth_noise, to_world


@dataclass(frozen=True)
class WatchRules:
    """When a camera counts as moved, covered, frozen or exchanged, and what is corrected.

    Attributes:
        shift_m: largest shift of a camera that is corrected; what the estimate adds to it is allowed for by `slack`.
        turn_deg: largest turn of it that is corrected, degrees.
        slack: estimates of a motion may be too large by this factor, since shift and turn are hard to tell apart.
        named_m: a camera has moved if what it sees seems displaced by more than this.
        named_scale: the scale of depth has changed if it differs by more than this.
        largest_scale: largest change of it that is corrected.
        matched: a camera has moved too far to be corrected if a smaller share of the landmarks is where they should be.
        beyond: and if something farther away is seen at more than this share of them.
        lost: a view with a smaller share of its landmarks in their places is useless: the camera was moved or covered.
        far_m: it was covered if what is seen is farther from the landmarks than this.
        changed_m: readings that differ by more than this show something else.
        exchanged: images fit another camera if the share of readings that differ is smaller by this factor.
        fewest_different: images fit their own camera if a smaller share of the readings differs.
        real_noise_m: a depth image with more noise never repeats itself.
        surface_m: maximum distance between a reading and a point that it shows.
    """

    shift_m: float = 0.015
    turn_deg: float = 1.5
    slack: float = 1.5
    named_m: float = 0.006
    named_scale: float = 0.01
    largest_scale: float = 0.06
    matched: float = 0.7
    beyond: float = 0.1
    lost: float = 0.4
    far_m: float = 0.25
    changed_m: float = 0.03
    exchanged: float = 0.3
    fewest_different: float = 0.01
    real_noise_m: float = 0.0001
    surface_m: float = 0.015


RULES = WatchRules()


@dataclass(frozen=True, eq=False)
class _Eye:
    """What is known of one camera.

    Attributes:
        landmarks: of the first observation.
        rgb: (H, W, 3) its last image.
        depth: (H, W) its last depth.
        camera: its pose then.
        motion: what is corrected at present, if anything.
        frozen: whether it repeats its images.
    """

    landmarks: Landmarks
    rgb: npt.NDArray[np.uint8]
    depth: FloatArray
    camera: Camera
    motion: CameraMotion | None = None
    frozen: bool = False


@dataclass(frozen=True, eq=False)
class CameraWatch:
    """What is known of the cameras of an episode; immutable.

    Attributes:
        eyes: one for each camera.
    """

    eyes: tuple[_Eye, ...]

    @classmethod
    def begin(cls, observation: Observation) -> CameraWatch:
        """A watch that begins with a plausible observation."""
        return cls(
            tuple(
                _Eye(landmarks_of(rgb, depth, instances, camera), rgb, depth, camera)
                for rgb, depth, instances, camera in _views(observation)
            )
        )

    def look(self, observation: Observation) -> tuple[CameraWatch, Observation | None, tuple[SensorFinding, ...]]:
        """Check the next observation.

        Returns:
            The watch after it; the observation, corrected and without failing views, None if none is left; and what was
            found.
        """
        if len(self.eyes) != len(observation.cameras) or self.eyes[0].depth.shape != observation.depth_m.shape[1:]:
            return CameraWatch.begin(observation), observation, ()
        findings = list[SensorFinding]()
        blind = [view for view, depth in enumerate(observation.depth_m) if np.count_nonzero(depth) < VIEWS.readings]
        for view in blind:
            readings = int(np.count_nonzero(observation.depth_m[view]))
            findings.append(_found(SensorProblem.NO_DEPTH, observation, view, f"{readings} depth readings"))
        frozen = [
            view for view in range(len(self.eyes)) if view not in blind and self._frozen(view, observation, blind)
        ]
        for view in frozen:
            findings.append(_found(SensorProblem.FROZEN, observation, view, "the same images as before"))
        working = [view for view in range(len(self.eyes)) if view not in (*blind, *frozen)]
        order = self._order(observation, working)
        if order != list(range(len(self.eyes))):
            names = " and ".join(observation.cameras[v].name for v, source in enumerate(order) if v != source)
            exchanged = SensorFinding(
                SensorProblem.EXCHANGED_CAMERAS, names, "each other's images", compensated=True
            )  # fmt: skip
            findings.append(exchanged)
            observation = _rearranged(observation, order)
        eyes, cameras, depth = list(self.eyes), list(observation.cameras), observation.depth_m
        for view, (rgb, image, instances, camera) in enumerate(_views(observation)):
            eye = self.eyes[view]
            if view in blind:
                continue  # what was seen last stays known
            if view in frozen:
                eyes[view] = replace(eye, frozen=True)
                continue
            motion = motion_of(eye.landmarks, rgb, image, instances, camera, eye.motion)
            finding = _judged(motion, observation, view)
            if finding is not None:
                findings.append(finding)
            corrected = finding is not None and finding.compensated
            eyes[view] = _Eye(eye.landmarks, rgb, image, camera, motion if corrected else None)
            if corrected:
                pose = camera.world_from_camera @ motion.offset
                cameras[view] = replace(camera, world_from_camera=pose.astype(np.float32))
                depth = depth.copy() if depth is observation.depth_m else depth
                depth[view] = image / motion.scale
            elif finding is not None:
                working.remove(view)
        if findings:
            observation = replace(observation, cameras=tuple(cameras), depth_m=depth)
        return CameraWatch(tuple(eyes)), _chosen(observation, working), tuple(findings)

    def _frozen(self, view: int, observation: Observation, blind: Sequence[int]) -> bool:
        """Whether a camera repeats its last images, although noise or what others see says that it should not."""
        eye, depth = self.eyes[view], observation.depth_m[view]
        if not (np.array_equal(eye.depth, depth) and np.array_equal(eye.rgb, observation.rgb[view])):
            return False
        if eye.frozen or depth_noise(depth, depth > 0) > RULES.real_noise_m:
            return True
        return any(
            self._contradicts(other, observation, view)
            for other in range(len(self.eyes))
            if other != view and other not in blind
        )

    def _contradicts(self, other: int, observation: Observation, view: int) -> bool:
        """Whether another camera saw changes that one should have seen, too."""
        before, now = self.eyes[other].depth, observation.depth_m[other]
        both = (before > 0) & (now > 0)
        came, left = both & (now < before - RULES.changed_m), both & (now > before + RULES.changed_m)
        earlier = replace(
            observation,
            depth_m=np.where(np.arange(len(observation.depth_m))[:, None, None] == other, before, observation.depth_m),
        )
        for changed, seen, appeared in ((came, observation, True), (left, earlier, False)):
            rows, columns = np.nonzero(ndimage.binary_erosion(changed, border_value=1))
            if len(rows) < LIFTING.min_pixels:
                continue
            points = to_world(seen, other, rows, columns)
            found = readings(observation, view, points)
            reading, distance = found.depth_m, found.expected_m
            # what came should be seen, or hidden; what left should not be seen
            against = reading > distance + RULES.changed_m if appeared else np.abs(reading - distance) < RULES.surface_m
            if np.count_nonzero(against & (reading > 0)) >= LIFTING.min_pixels:
                return True
        return False

    def _order(self, observation: Observation, working: Sequence[int]) -> list[int]:
        """For every camera the view whose images fit it: its own, unless cameras are exchanged."""
        order = list(range(len(self.eyes)))
        own = {view: self._different(view, view, observation) for view in working}
        odd = [view for view in working if own[view] > RULES.fewest_different]
        if len(odd) < 2:
            return order
        shares = np.array([[self._different(view, source, observation) for source in odd] for view in odd])
        own_shares = shares.diagonal()
        fits = (shares < RULES.exchanged * own_shares[:, None]) | np.eye(len(odd), dtype=np.bool_)
        _, sources = linear_sum_assignment(np.where(fits, shares, len(odd) + 1.0))
        for row, source in enumerate(sources):
            if fits[row, source]:
                order[odd[row]] = odd[source]
        return order if sorted(order) == list(range(len(order))) else list(range(len(order)))

    def _different(self, view: int, source: int, observation: Observation) -> float:
        """Share of the readings of one view that differ from what a camera saw last."""
        some = slice(None, None, max(observation.depth_m.shape[2] // AGREEMENT.stride_of, 1))
        before, now = self.eyes[view].depth[some, some], observation.depth_m[source][some, some]
        both = (before > 0) & (now > 0)
        return float((np.abs(before - now) > RULES.changed_m + 0.02 * before)[both].mean()) if both.any() else 1.0


def _judged(motion: CameraMotion, observation: Observation, view: int) -> SensorFinding | None:
    """What a motion means, if anything."""
    if motion.matched < (RULES.matched if motion.beyond > RULES.beyond else RULES.lost):
        covered = motion.beyond <= RULES.beyond and motion.off_m > RULES.far_m
        problem = SensorProblem.COVERED if covered else SensorProblem.MOVED
        return _found(problem, observation, view, f"{motion.matched:.0%} of the background in its place")
    if motion.moved_m > RULES.named_m:
        small = motion.shift_m <= RULES.slack * RULES.shift_m and motion.turn_deg <= RULES.slack * RULES.turn_deg
        text = f"a background displaced by {1000 * motion.moved_m:.0f} mm"
        return _found(SensorProblem.MOVED, observation, view, text, small)
    if abs(motion.scale - 1) > RULES.named_scale:
        text = f"depth that is {100 * (motion.scale - 1):+.1f} % of what it was"
        return _found(SensorProblem.RESCALED, observation, view, text, abs(motion.scale - 1) <= RULES.largest_scale)
    return None


def _found(
    problem: SensorProblem, observation: Observation, view: int, text: str, compensated: bool = False
) -> SensorFinding:
    return SensorFinding(problem, observation.cameras[view].name, text, compensated)


def _views(observation: Observation) -> list[tuple[npt.NDArray[np.uint8], FloatArray, npt.NDArray[np.int32], Camera]]:
    images = (observation.rgb, observation.depth_m, observation.instances, observation.cameras)
    return list(zip(*images, strict=True))


def _rearranged(observation: Observation, order: Sequence[int]) -> Observation:
    """An observation in which camera n has the images of view `order[n]`."""
    rows = list(order)
    return replace(
        observation, rgb=observation.rgb[rows], depth_m=observation.depth_m[rows], instances=observation.instances[rows]
    )


def _chosen(observation: Observation, views: Sequence[int]) -> Observation | None:
    """An observation with some of its views; labels of what only others show are left out."""
    rows = list(views)
    if len(rows) == len(observation.cameras):
        return observation
    if not rows:
        return None
    return replace(
        observation,
        rgb=observation.rgb[rows],
        depth_m=observation.depth_m[rows],
        instances=observation.instances[rows],
        cameras=tuple(observation.cameras[row] for row in rows),
    )
