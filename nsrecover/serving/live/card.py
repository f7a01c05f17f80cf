"""What a person needs to know to decide about a recovery: cause, picture, what would be done, and what stays."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Action
from nsrecover.core.episode import Episode
from nsrecover.core.observation import Camera, Observation
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.explanation.why import why
from nsrecover.serving.reports.build import moments_of
from nsrecover.serving.reports.media import Photo, Polygon
from nsrecover.serving.reports.model import MarkedAs, Outline
from nsrecover.serving.reports.pictures import (
    data_uri,
    jpeg,
    outline_of_box,
    outlines,
    outlines_of_masks,
    view_of,
)
from nsrecover.serving.reports.wording import Wording, kinds_of
from nsrecover.util.english import amount, listed, the

MOST_ARROWS, MOST_OUTLINES = 12, 100
LARGE = 720, 80
"""Width in pixels and quality of the photograph."""
HIGH_M, MAP_PX, AROUND = 10.0, (900, 560), 0.12
"""Height of the eye above a drawing, its size, and the share of it that stays free around the objects."""


@dataclass(frozen=True)
class Arrow:
    """An action in a picture: an object moves from one point to another, pixels.

    Attributes:
        name: the object.
        start: where it is before the action.
        end: where it is afterwards.
        points: its outline before the action, as in SVG; empty if it is not known.
    """

    name: str
    start: tuple[float, float]
    end: tuple[float, float]
    points: str = ""


@dataclass(frozen=True)
class Sketch:
    """A picture with outlines and the actions of a recovery.

    Attributes:
        href: the photograph as data URI; empty for a drawing from above.
        size: width and height, pixels.
        view: the part that is shown: left, top, width and height, pixels.
        outlines: of objects that are not as expected; in a drawing of all.
        arrows: the actions, in their order.
    """

    href: str
    size: tuple[float, float]
    view: tuple[float, float, float, float]
    outlines: tuple[Outline, ...]
    arrows: tuple[Arrow, ...]


@dataclass(frozen=True)
class Card:
    """What is shown about a recovery that waits for a person.

    Attributes:
        cause: what is wrong since when, and why, as sentences.
        summary: how long it takes, and what it touches and leaves.
        sketch: the picture; None if there is none.
    """

    cause: tuple[str, ...]
    summary: str
    sketch: Sketch | None = None


def card_of(episode: Episode, words: Wording, recovery: Recovery, observation: object) -> Card:
    """The card of a recovery from the last turn of an episode.

    Args:
        episode: so far.
        words: how its domain is put into words.
        recovery: the recovery.
        observation: what was seen last; its photographs are shown, if it has any.
    """
    moment = moments_of(episode, words, first=len(episode.records) - 1)[-1]
    told = moment.explanation.sentences[:1] if moment.explanation is not None else ()
    causes = why(moment.found, moment.turn.by_hand, words.domain)[:1]
    cause = tuple(each.text for each in (*told, *causes))
    return Card(cause, summary_of(episode, recovery), sketch_of(episode, recovery, observation))


def summary_of(episode: Episode, recovery: Recovery) -> str:
    """A recovery in one line: number of actions, duration as measured in this run, what it touches and leaves."""
    record = episode.records[-1]
    touched = list(dict.fromkeys(action.arguments[0] for action in recovery.actions if action.arguments))
    stays = dict.fromkeys((*recovery.staying, *record.discrepancy.deviating))
    left = [the(name) for name in stays if name not in touched and name in record.graph.names]
    done = sum(each.action is not None for each in episode.records)
    seconds = (record.time_s - episode.start_s) / done * len(recovery.actions) if done else 0.0
    where = f"leaves {listed(left)} where {'it is' if len(left) == 1 else 'they are'}" if left else ""
    if not recovery.actions:
        return ", ".join(filter(None, ["no extra action", where]))
    parts = [
        amount(len(recovery.actions), "action"),
        f"about {seconds:.0f} s" if seconds >= 1 else "",
        f"touches {amount(len(touched), 'object')}" if touched else "touches nothing",
        where,
        "no other way costs less" if recovery.proven_optimal else "others may cost less" if not record.vetoed else "",
        "a cheaper way was not wanted" if any(each.cost < recovery.cost for each in record.vetoed) else "",
    ]
    return ", ".join(filter(None, parts))


def sketch_of(episode: Episode, recovery: Recovery, observation: object) -> Sketch | None:
    """The picture of a recovery: the photograph that shows most of it, or a drawing from above; None without both."""
    found = episode.records[-1].discrepancy
    drawn = []
    if isinstance(observation, Observation):
        for rgb, camera, masks in zip(observation.rgb, observation.cameras, observation.instances, strict=True):
            boxed = isinstance(found.observed, SceneGraph)
            photo = Photo(rgb, camera) if boxed else Photo(rgb, None, outlines_of_masks(masks, observation.labels))
            kinds = kinds_of(found)
            wrong = {name: kind for name, kind in kinds.items() if kind is MarkedAs.ERROR}
            lines = outlines(photo, found.observed, kinds) + outlines(photo, found.expected, wrong, expected=True)
            scenes = [scene for scene in (found.expected, found.observed) if isinstance(scene, SceneGraph)]
            view = view_of([photo], scenes) or (0.0, 0.0, float(rgb.shape[1]), float(rgb.shape[0]))
            arrows = _arrows(recovery.actions, _outlined(photo, recovery, found.observed))
            drawn.append((rgb, view, lines, arrows))
    elif isinstance(found.observed, SceneGraph) and found.observed.names:
        photo = _from_above([found.observed, found.expected, *recovery.graphs])
        kinds = dict.fromkeys(found.observed.names, MarkedAs.OK) | kinds_of(found)
        lines = outlines(photo, found.observed, kinds)
        arrows = _arrows(recovery.actions, _outlined(photo, recovery, found.observed))
        return Sketch("", MAP_PX, (0.0, 0.0, float(MAP_PX[0]), float(MAP_PX[1])), tuple(lines[:MOST_OUTLINES]), arrows)
    if not drawn:
        return None
    rgb, view, lines, arrows = max(drawn, key=lambda each: len(each[2]) + len(each[3]))
    size = float(rgb.shape[1]), float(rgb.shape[0])
    return Sketch(data_uri(jpeg(rgb, *LARGE), "image/jpeg"), size, view, tuple(lines[:MOST_OUTLINES]), arrows)


Outlined = Sequence[tuple[Polygon | None, Polygon | None]]
"""For each action, the outlines of its object before and after it."""


def _outlined(photo: Photo, recovery: Recovery, seen: object) -> Outlined:
    if isinstance(seen, SceneGraph) and photo.camera is not None:
        scenes = [seen, *(graph for graph in recovery.graphs if isinstance(graph, SceneGraph))]
        moves = zip(recovery.actions, scenes, scenes[1:], strict=False)
        return [tuple(_box(action, scene, photo.camera) for scene in pair) for action, *pair in moves]  # type: ignore[misc]
    known = photo.outlines
    return [
        (known.get(action.arguments[0]), known.get(action.arguments[1])) if len(action.arguments) > 1 else (None, None)
        for action in recovery.actions
    ]


def _box(action: Action, scene: SceneGraph, camera: Camera) -> Polygon | None:
    name = action.arguments[0]
    if name not in scene.names or scene.missing[scene.index(name)]:
        return None
    return outline_of_box(scene.boxes[scene.index(name)], camera)


def _arrows(actions: Sequence[Action], outlined: Outlined) -> tuple[Arrow, ...]:
    found = []
    for action, (before, after) in zip(actions[:MOST_ARROWS], outlined, strict=False):
        if before is not None and after is not None:
            start, end = _middle(before), _middle(after)
            points = " ".join(f"{x:.1f},{y:.1f}" for x, y in before)
            found.append(Arrow(action.arguments[0], start, end, points))
    return tuple(found)


def _middle(polygon: Polygon) -> tuple[float, float]:
    x, y = (polygon.min(axis=0) + polygon.max(axis=0)) / 2
    return round(float(x), 1), round(float(y), 1)


def _from_above(scenes: Sequence[object]) -> Photo:
    """An empty picture from above all objects of some scenes; the robot stands below it."""
    boxes = np.concatenate([scene.boxes[~scene.missing] for scene in scenes if isinstance(scene, SceneGraph)])
    reach: npt.NDArray[np.float64] = boxes[:, 3:5].max(axis=1, keepdims=True).astype(np.float64)
    low, high = (boxes[:, :2] - reach).min(axis=0), (boxes[:, :2] + reach).max(axis=0)
    middle, span = (low + high) / 2, np.maximum(high - low, 0.2)
    width, height = MAP_PX
    focal = HIGH_M * (1 - 2 * AROUND) * min(width / span[1], height / span[0])
    intrinsics = np.array([[focal, 0, width / 2], [0, focal, height / 2], [0, 0, 1]], np.float32)
    pose = np.array([[0, -1, 0, middle[0]], [-1, 0, 0, middle[1]], [0, 0, -1, HIGH_M], [0, 0, 0, 1]], np.float32)
    return Photo(np.zeros((height, width, 3), np.uint8), Camera(intrinsics, pose, "from above"))
