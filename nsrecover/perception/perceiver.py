"""From cameras to scene graph.

Detections (`nsrecover.perception.objects.detections`) are matched to known objects; masks that were split or merged are
corrected; occluded objects and parts are filled in from memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, count

import numpy as np
import numpy.typing as npt

from nsrecover.core import FloatArray, Observation, SceneGraph, SensorFinding, SensorProblem, Unseen, UnseenReason
from nsrecover.core.discrepancy import Cause
from nsrecover.core.entrance import check_kind
from nsrecover.core.geometry import bottom, same_room
from nsrecover.core.protocols import Reported
from nsrecover.errors import InvalidObservation
from nsrecover.perception.cameras.aligning import Pose, aligned, offsets
from nsrecover.perception.cameras.levelling import levelled
from nsrecover.perception.cameras.visibility import one_sided, seen_through, uncertain_m, why_unseen
from nsrecover.perception.cameras.watch import CameraWatch
from nsrecover.perception.lifting import lift_views
from nsrecover.perception.masks.lasting import rejoined
from nsrecover.perception.masks.repair import absorb_fragments, join_parts, separate_by_other_views, separate_merged
from nsrecover.perception.objects.association import RULES as COSTS
from nsrecover.perception.objects.association import associate, association_costs
from nsrecover.perception.objects.depthless import Depthless, GlassOutline, depthless
from nsrecover.perception.objects.detections import (
    AppearanceModel,
    Detections,
    crop_objects,
    detect,
    detect_masks,
    fuse_views,
)
from nsrecover.perception.objects.differing_pixels import RULES as PIXELS
from nsrecover.perception.objects.looks import NOT_COMPARED, Beside, Looks
from nsrecover.perception.objects.memory import RULES as MEMORY
from nsrecover.perception.objects.memory import Memory, supported
from nsrecover.perception.objects.placing import Stand, put_down
from nsrecover.perception.objects.stances import open_top, stance_change
from nsrecover.perception.states import StateReader, read_states
from nsrecover.util.python310 import StrEnum


@dataclass(frozen=True)
class PerceiverRules:
    """When an object is another one, and when it is judged how it stands.

    Attributes:
        nameless: cost of taking a detection for an object without a name; appearance, place and size cost up to about
            3.
        remains: share of the most pixels in which an object was seen. Fewer of another colour in its
            place may belong to its neighbours.
        off_place_m: how an object stands is judged within this distance of where it should be,
        whole: if as many pixels show it, give or take this factor.
        stands: and otherwise than in each of the first looks at it in its place, up to this number.
    """

    nameless: float = 1.0
    remains: float = 1 / 3
    off_place_m: float = 0.03
    whole: float = 0.6
    stands: int = 3


RULES = PerceiverRules()


UNRELIABLE = (SensorProblem.MOVED, SensorProblem.RESCALED, SensorProblem.COVERED)
"""Problems of cameras that deliver images: what these show cannot be told, but they need not be taken again."""


def object_names(observation: Observation) -> tuple[str, ...]:
    """Names of the labelled instances, each once, in the order of their numbers."""
    return tuple(dict.fromkeys(observation.labels[number] for number in sorted(observation.labels)))


class Association(StrEnum):
    """How the objects of one observation are told to be those of the last one."""

    TRACKED = "tracked"
    """By what they look like and where they are; the detector's labels count in the first observation only."""
    KNOWN = "known"
    """By the detector's labels."""


class ScenePerceiver:
    """Turns observations into scene graphs and remembers occluded objects (protocol `Perceiver`).

    One perceiver belongs to one episode. The first observation names the objects; from then on they are tracked by
    appearance, place and size (`nsrecover.perception.objects.association`). Objects that appear later get
    names of their own.

    Args:
        appearance: the learned encoder of object crops, such as a bundle.
        association: how objects are matched from one observation to the next.
        watch_cameras: whether cameras that fail or move during the episode are named (`findings`), corrected if that is
            possible, and left out if not; see `nsrecover.perception.cameras.watch`.
        states: reads the state variables of the visible objects, for domains that have some; None: none are read.
    """

    def __init__(
        self,
        appearance: AppearanceModel,
        association: Association = Association.TRACKED,
        watch_cameras: bool = True,
        states: StateReader | None = None,
    ) -> None:
        self._appearance = appearance
        self._states = states
        self._association = association
        self._watch_cameras = watch_cameras
        self._memory: Memory | None = None
        self._masks: dict[str, tuple[int, ...]] = {}
        self._unseen: dict[str, Unseen] = {}
        self._unnamed: frozenset[str] = frozenset()
        self._shown: tuple[Observation, dict[str, tuple[int, ...]]] | None = None
        self._cameras: CameraWatch | None = None
        self._findings: tuple[SensorFinding, ...] = ()
        self._offsets: tuple[Pose, ...] = ()
        self._looks, self._compared = Looks(), NOT_COMPARED
        self._stood: dict[str, tuple[tuple[Stand, ...], tuple[Stand, ...]]] = {}
        self._posed: dict[str, Cause] = {}
        self._outlines: dict[str, GlassOutline] = {}

    @property
    def masks(self) -> dict[str, tuple[int, ...]]:
        """Objects that are visible in the last observation, and the numbers of all masks that show each."""
        return dict(self._masks)

    @property
    def reported(self) -> Reported:
        """Report on the last observation besides the scene."""
        found, uncertain = self._compared, dict[str, float]()
        if self._shown is not None and self._memory is not None and one_sided(self._shown[0]):
            uncertain = dict(zip(self._memory.names, uncertain_m(self._memory.boxes).tolist(), strict=True))
        return Reported(
            dict(self._unseen), self._findings, self._unnamed, uncertain, dict(found.changed), found.still, self._posed
        )

    def fork(self) -> ScenePerceiver:
        """An independent copy of the perceiver with the same memory."""
        other = ScenePerceiver(self._appearance, self._association, self._watch_cameras, self._states)
        other._cameras, other._findings, other._offsets = self._cameras, self._findings, self._offsets
        other._memory, other._masks, other._unseen = self._memory, dict(self._masks), dict(self._unseen)
        other._shown, other._unnamed = self._shown, self._unnamed
        other._looks, other._compared = self._looks, self._compared
        other._stood, other._posed, other._outlines = dict(self._stood), self._posed, dict(self._outlines)
        return other

    def reset(self, observation: Observation) -> SceneGraph:
        """The first scene of an episode, which names the objects; errors as for `step`."""
        self._memory, self._unnamed = None, frozenset()
        self._cameras, self._stood, self._outlines = None, {}, {}
        return self.step(observation)

    def step(self, observation: Observation, expected: SceneGraph | None = None) -> SceneGraph:
        """The scene as it is now.

        Args:
            observation: the views.
            expected: the scene as it should be, if that is known. It adds a place where an object may be found, and
                decides where an object is that is not visible; visible objects are where they are seen.

        Raises:
            InvalidObservation: the detector reports no object at all in the first observation, or no camera works;
                nothing has changed then, so another observation can be tried.
        """
        return self(observation, expected)

    def __call__(self, observation: Observation, expected: SceneGraph | None = None) -> SceneGraph:
        """Same as `step`."""
        check_kind(observation, Observation, "camera images")
        if self._memory is None:
            memory, observation, origin, detections = self._begin(observation)
            parts = dict[int, int]()
            found, guesses = _by_label(memory.names, detections), memory.boxes
            dim = [name for name, unknown in zip(memory.names, memory.unknown, strict=True) if unknown]
            self._unseen = {name: Unseen(name, UnseenReason.NO_DEPTH) for name in dim}
            self._looks, self._compared = Looks().look(observation, _masks(memory.names, detections, found))
        else:
            usable = self._with_working_cameras(aligned(observation, self._offsets))
            guesses = _expected_boxes(self._memory, expected)
            if usable is None:
                return self._blind(self._memory, guesses)
            observation, parts = self._whole(levelled(usable))
            memory, observation, origin, detections, found = self._follow(self._memory, observation, guesses)
        memory, self._posed = self._stances(memory, observation, detections, found, guesses)
        self._memory, found = self._admit(memory, detections, found)
        masks_of = _masks(self._memory.names, detections, found)
        self._shown = observation, masks_of
        self._masks = {name: _given(numbers, origin, parts) for name, numbers in masks_of.items()}
        graph = self._memory.graph()
        return graph if self._states is None else replace(graph, states=read_states(self._states, *self._shown))

    def _whole(self, observation: Observation) -> tuple[Observation, dict[int, int]]:
        """An observation without masks that were split since the last one, and which number each part has now."""
        if self._association is Association.KNOWN or self._shown is None:
            return observation, {}
        return rejoined(*self._shown, observation)

    def _blind(self, memory: Memory, guesses: FloatArray) -> SceneGraph:
        """The scene if no camera can be relied on: every object may be where it should be."""
        self._memory, self._masks, self._compared = memory.unconfirmed(guesses), {}, NOT_COMPARED
        self._posed = {}
        self._unseen = {name: Unseen(name, UnseenReason.NO_CAMERA) for name in memory.names}
        return self._memory.graph()

    def _with_working_cameras(self, observation: Observation) -> Observation | None:
        """An observation without the views of cameras that fail, and with the poses of those that were moved.

        Returns:
            None if no view is left, and cameras that deliver images have moved or are covered.

        Raises:
            InvalidObservation: no camera delivers new images.
        """
        if self._cameras is None:
            return observation
        cameras, usable, findings = self._cameras.look(observation)
        if usable is None and not any(each.problem in UNRELIABLE for each in findings):
            raise InvalidObservation(
                f"expected images of at least one working camera, found {'; '.join(map(str, findings))}"
            )
        self._cameras, self._findings = cameras, findings
        return usable

    def _begin(self, first: Observation) -> tuple[Memory, Observation, dict[int, int], Detections]:
        """Remember what the first observation shows.

        Returns:
            The memory; the observation with merged masks divided and with camera poses that agree about the table and
            the objects; of which mask each new one is a part; and detections.
        """
        self._offsets, self._findings = (), ()
        observation, origin = levelled(first), dict[int, int]()
        if not observation.shared_ids:
            observation, origin = separate_by_other_views(observation, detect_masks(observation, self._appearance))
        lifted = lift_views(observation)
        without = depthless(observation, lifted)
        detections = join_parts(
            detect(observation, self._appearance, lifted=lifted, without=without), self._appearance.gate.elsewhere
        )
        if len(observation.cameras) > 1:
            self._offsets = offsets(observation, lifted, detections.numbers)
            first = aligned(first, self._offsets)
            observation = replace(levelled(first), instances=observation.instances, labels=observation.labels)
            detections = detections.lifted_again(lift_views(observation))
        if self._watch_cameras:
            self._cameras = CameraWatch.begin(first)
        return self._remembered(observation, detections, without), observation, origin, detections

    def _remembered(self, observation: Observation, detections: Detections, without: frozenset[int]) -> Memory:
        """The memory of an episode that begins with these detections."""
        names = object_names(observation)
        if not names:
            raise InvalidObservation("expected at least one labelled instance, found none; check the detector")
        visual = np.zeros((len(names), self._appearance.feature_size), dtype=np.float32)
        boxes, seen = np.zeros((len(names), 6), dtype=np.float32), np.zeros(len(names), dtype=np.bool_)
        shown = [i for i, label in enumerate(detections.labels) if label is not None]
        given = [str(detections.labels[i]) for i in shown]
        if twice := sorted({name for name in given if given.count(name) > 1}):
            raise InvalidObservation(
                f"expected each name for one object, found {', '.join(twice)} for several in one view; number objects "
                "that look the same"
            )
        rows = [names.index(name) for name in given]
        visual[rows], boxes[rows], seen[rows] = detections.visual[shown], detections.boxes[shown], True
        through, dim = partial(seen_through, observation), np.zeros_like(seen)
        parts, boxes = boxes.copy(), supported(boxes, through)
        pixels = np.zeros(len(names), dtype=np.float32)
        pixels[rows] = detections.pixels[shown]
        for row in np.flatnonzero(~seen):
            own = [number for number in sorted(without) if observation.labels.get(number) == names[row]]
            if own:
                crops, _, sizes, light = crop_objects(observation, own, self._appearance.crop_size)
                visual[row] = fuse_views(self._appearance.embed(crops, light), np.zeros(len(crops), np.intp), sizes, 1)[
                    0
                ]
                self._outlines[names[row]] = GlassOutline(observation, tuple(own))
                boxes[row], dim[row] = Depthless.of(observation, without).standing(own), True
        memory = Memory.empty(visual.shape[1]).add(names, boxes, visual, pixels, through)
        return replace(memory, shown=parts, seen=seen, unknown=dim)

    def _follow(
        self, memory: Memory, observation: Observation, guesses: FloatArray
    ) -> tuple[Memory, Observation, dict[int, int], Detections, npt.NDArray[np.intp]]:
        """Match what is visible to the remembered objects (-1: none), and remember it.

        Returns:
            The memory after it; the observation with merged masks divided; of which mask each new one is a part;
            detections and matches.
        """
        origin, lifted, exchanged = dict[int, int](), lift_views(observation), np.zeros(len(memory.names), np.bool_)
        without = depthless(observation, lifted)
        if self._association is Association.KNOWN:
            detections = detect(observation, self._appearance, lifted=lifted, without=without)
            found = _by_label(memory.names, detections)
            self._looks, self._compared = self._looks.look(observation, _masks(memory.names, detections, found))
        else:
            sizes = np.stack([memory.first_sizes, memory.sizes], axis=1)
            places = np.stack([memory.boxes, guesses], axis=1)
            observation, origin = separate_merged(observation, lifted, places, sizes)
            costs = partial(_costs, self._appearance, memory, guesses, self._unnamed)
            detections = detect(observation, self._appearance, costs, lifted, without)
            fits = costs(detections)
            beside = self._looks.beside(observation)
            _certain(fits, memory.names, detections, beside)
            found = associate(fits)
            self._looks, self._compared = beside.look(_masks(memory.names, detections, found))
            shares = np.array([self._compared.changed.get(name, 0.0) for name in memory.names])
            other = shares > PIXELS.maybe_other_share
            if other.any():
                apart = fits.copy()
                apart[other, found[other]] = COSTS.unmatched
                other &= (associate(apart) >= 0) | (shares > PIXELS.other_share)
                fits[other, found[other]] = COSTS.unmatched
                found = associate(fits)
                exchanged = other & (found < 0)
                self._looks, self._compared = beside.look(_masks(memory.names, detections, found))
            detections, found = absorb_fragments(detections, found, sizes, origin, self._appearance.gate.elsewhere)
        dim = Depthless.of(observation, without.difference(*detections.numbers))
        through, seen = partial(seen_through, dim.observation), (detections.boxes, detections.visual, detections.pixels)
        now = memory.look(*seen, found, through, guesses, dim.empty)
        rest = np.setdiff1d(np.arange(len(detections)), found)
        in_its_room = same_room(now.boxes, detections.boxes[rest])
        views = [np.mean([_shows(image, detections.numbers[i]) for image in observation.instances]) for i in rest]
        remains = detections.pixels[rest] < RULES.remains * memory.pixels[:, None] * views  # too few to be another one
        now = replace(now, occluded=now.occluded & ~exchanged & ~(in_its_room & ~remains).any(axis=1))
        shows = {
            number: name
            for name, index in zip(now.names, found, strict=True)
            if index >= 0
            for number in detections.numbers[index]
        }
        hidden = [(now.names[i], now.boxes[i]) for i in np.flatnonzero(now.occluded)]
        self._unseen = {name: why_unseen(dim.observation, name, box, shows) for name, box in hidden}
        self._unseen |= {name: Unseen(name, UnseenReason.NO_DEPTH) for name, box in hidden if dim.at(box[None])[0]}
        in_view = [name for name, why in self._unseen.items() if why.reason is not UnseenReason.OCCLUDED]
        now = self._with_moved_outlines(now.in_view(in_view), observation, dim.numbers, guesses)
        return now, observation, origin, detections, found

    def _with_moved_outlines(
        self, memory: Memory, observation: Observation, numbers: frozenset[int], expected: FloatArray
    ) -> Memory:
        """The memory with objects without depth where their outlines are, if no action should have moved them."""
        boxes, (seen, unknown, occluded) = (
            memory.boxes.copy(),
            (each.copy() for each in (memory.seen, memory.unknown, memory.occluded)),
        )
        for row, name in enumerate(memory.names):
            before = self._outlines.get(name)
            now = None if before is None or seen[row] else before.now(observation, numbers)
            if before is None or now is None or not before.moved(now):
                continue
            self._outlines[name] = now
            self._unseen.pop(name, None)
            if np.linalg.norm(expected[row, :3] - boxes[row, :3]) <= MEMORY.moved_m:
                places = [Depthless(each.observation).standing(each.numbers) for each in (before, now)]
                boxes[row, :2] += (places[1] - places[0])[:2]
                seen[row], unknown[row], occluded[row] = True, False, False
        return replace(memory, boxes=boxes, seen=seen, unknown=unknown, occluded=occluded)

    def _stances(
        self,
        memory: Memory,
        observation: Observation,
        detections: Detections,
        found: npt.NDArray[np.intp],
        expected: FloatArray,
    ) -> tuple[Memory, dict[str, Cause]]:
        """Judge how objects stand where they should be (N, 6), and remember it.

        Returns:
            The memory, with what an action has put down where its visible part is, if all cameras look from one side;
            and objects that do not stand as they did.
        """
        posed, boxes, from_one_side = dict[str, Cause](), memory.boxes.copy(), one_sided(observation)
        for row, (name, should, index) in enumerate(zip(memory.names, expected, found.tolist(), strict=True)):
            if index < 0:
                continue
            seen = detections.points[index], boxes[row].copy(), float(detections.pixels[index])
            now = Stand(*seen, observation, detections.numbers[index])
            first, there = self._stood.get(name, ((), ()))
            last = there[0] if there else now
            placed = bool(np.linalg.norm(should[:3] - last.box[:3]) > MEMORY.moved_m)
            if placed and from_one_side and (place := put_down(last, now, should)) is not None:
                boxes[row] = place
            box = boxes[row]
            near = np.linalg.norm(box[:2] - should[:2]) < RULES.off_place_m
            if near and (placed or name not in self._compared.still):
                # an action may set upright what had fallen: what it has put down is to stand as at first
                cause = _stance(first if placed else there, now._replace(box=box), should, placed)
                posed |= {} if cause is None else {name: cause}
            moved = bool(np.linalg.norm(box[:3] - last.box[:3]) > MEMORY.moved_m) or name in posed
            anew = moved or now.pixels > last.pixels / RULES.whole
            stands = () if anew else there
            stands = stands if len(stands) == RULES.stands else (*stands, now._replace(box=box))
            in_first_place = first is there and not (there and moved)
            self._stood[name] = (stands if in_first_place else first), stands
        return replace(memory, boxes=boxes), posed

    def _admit(
        self, memory: Memory, detections: Detections, found: npt.NDArray[np.intp]
    ) -> tuple[Memory, npt.NDArray[np.intp]]:
        """Give names to new objects."""
        new = np.setdiff1d(np.arange(len(detections.numbers)), found)
        names = list(memory.names)
        spare = chain(["new object"], (f"new object {number}" for number in count(2)))
        for index in new:
            label = detections.labels[index]
            named = self._association is Association.KNOWN and label is not None and label not in names
            names.append(str(label) if named else next(name for name in spare if name not in names))
            self._unnamed |= set() if named else {names[-1]}
        appeared = tuple(names[len(memory.names) :])
        known = memory.add(appeared, detections.boxes[new], detections.visual[new], detections.pixels[new])
        return known, np.concatenate([found, new])


def _stance(earlier: Sequence[Stand], now: Stand, should: FloatArray, placed: bool) -> Cause | None:
    """What has happened to an object (its box as it is), if it stands otherwise than in all earlier looks at it.

    One look may have shown it badly; those that showed more or less of it say nothing.
    """
    cause = None
    for before in earlier:
        whole = RULES.whole < now.pixels / before.pixels < 1 / RULES.whole
        if whole and abs(should[5] - before.box[5]) < MEMORY.like_known_m:
            # where it was put it stands on what is there, which may be seen higher or lower than expected
            rise = bottom(now.box if placed else should) - bottom(before.box)
            shift = np.append(now.box[:2] - before.box[:2], rise).astype(np.float32)
            was_open = open_top(before.points, before.observation)
            cause = stance_change(before.points, now.points, shift, now.observation, placed, was_open)
            if cause is None:
                return None
    return cause


def _costs(
    appearance: AppearanceModel,
    memory: Memory,
    expected: FloatArray,
    unnamed: frozenset[str],
    detections: Detections,
) -> FloatArray:
    """How badly each of M detections fits each of N remembered objects, (N, M); some of these have no name."""
    places = np.stack([memory.boxes[:, :3], expected[:, :3]], axis=1)
    # what an object was at first tells it apart from one of its colour that fell, too, and was taken for it
    visual = np.stack([memory.visual, memory.first_visual], axis=1)
    sizes = np.stack([memory.sizes, memory.first_sizes], axis=1)
    details = appearance.learned(visual), appearance.learned(detections.visual)
    pixels = memory.pixels, detections.pixels
    costs = association_costs(
        visual, sizes, places, detections.visual, detections.boxes, details, pixels, appearance.gate
    )
    # one that has no name may be a part of a named one that was not recognised once
    nameless = np.array([name in unnamed for name in memory.names], dtype=np.bool_)
    return np.where(nameless[:, None] & (costs < COSTS.unmatched), costs + RULES.nameless, costs).astype(np.float32)


def _certain(fits: FloatArray, names: tuple[str, ...], detections: Detections, beside: Beside) -> None:
    """Let objects that look the same in the same place be themselves, in costs (N, M)."""
    there = {name: index for name, index in beside.in_place(detections.numbers).items() if name in names}
    same = beside.look({name: detections.numbers[index] for name, index in there.items()})[1].same
    for name in same:
        row, index = names.index(name), there[name]
        fits[row], fits[:, index], fits[row, index] = COSTS.unmatched, COSTS.unmatched, 0.0


def _given(numbers: Sequence[int], origin: Mapping[int, int], parts: Mapping[int, int]) -> tuple[int, ...]:
    """The numbers that an observation has for masks, of which some were parts of one, and others were joined."""
    whole = dict.fromkeys(origin.get(each, each) for each in numbers)
    return (*whole, *(part for part, each in parts.items() if each in whole))


def _masks(names: tuple[str, ...], detections: Detections, found: npt.NDArray[np.intp]) -> dict[str, tuple[int, ...]]:
    """Object -> numbers of the masks that show it, of the objects that are seen."""
    return {name: detections.numbers[index] for name, index in zip(names, found, strict=True) if index >= 0}


def _shows(image: npt.NDArray[np.int32], numbers: tuple[int, ...]) -> bool:
    """Whether a view (H, W) shows one of some masks."""
    return any((image == number).any() for number in numbers)


def _by_label(names: tuple[str, ...], detections: Detections) -> npt.NDArray[np.intp]:
    labels = list(detections.labels)
    return np.array([labels.index(name) if name in labels else -1 for name in names], dtype=np.intp)


def _expected_boxes(memory: Memory, expected: SceneGraph | None) -> FloatArray:
    """Where each remembered object should be (N, 6): where it was, unless something else is expected."""
    boxes = memory.boxes.copy()
    if expected is not None:
        for row, name in enumerate(memory.names):
            if name in expected.names:
                boxes[row] = expected.boxes[expected.index(name)]
    return boxes
