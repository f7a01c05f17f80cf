"""Plans and observations from the messages of clients."""

from collections.abc import Sequence

import numpy as np

from nsrecover import core
from nsrecover.core.observation import Camera, Observation
from nsrecover.errors import InvalidObservation
from nsrecover.perception.objects.boxes import oriented_box
from nsrecover.records.wav import read_wav
from nsrecover.serving.server import messages
from nsrecover.serving.server.images import DEPTH, INSTANCES, RGB, from_base64, read_png
from nsrecover.serving.server.limits import AUDIO_S

IMAGES = (("rgb", RGB), ("depth", DEPTH), ("instances", INSTANCES))
"""Images of each view, in the order in which they are passed, with the accepted kinds of files."""


def plan_of(steps: Sequence[str | messages.ActionMessage]) -> core.Plan:
    """Return the plan of a message.

    Raises:
        InvalidAction: a text is not an action.
    """
    return core.Plan(
        tuple(
            core.Action.parse(step)
            if isinstance(step, str)
            else core.Action(step.operator, tuple(step.arguments), step.target)
            for step in steps
        )
    )


def json_observation(message: messages.ObservationMessage, max_pixels: int) -> Observation:
    """Return an observation whose images and audio were sent as base64.

    Args:
        message: the observation.
        max_pixels: largest number of pixels of all views together.

    Raises:
        InvalidObservation: the parts are invalid or do not fit together.
    """
    most, views = max_pixels // len(message.views), []
    for number, view in enumerate(message.views):
        images = []
        for name, kinds in IMAGES:
            label = f"view {number}, {name}"
            images.append(read_png(from_base64(getattr(view, f"{name}_png"), label), label, kinds, most))
        views.append(images)
    sizes = {image.shape[:2] for view in views for image in view}
    if len(sizes) != 1:
        found = ", ".join(f"{width} x {height}" for height, width in sorted(sizes))
        raise InvalidObservation(f"expected all images of one size, found {found}; scale them and their intrinsics")
    audio, rate_hz = None, 0
    if message.audio_wav is not None:
        audio, rate_hz = read_wav(from_base64(message.audio_wav, "audio", "a WAV file"), max_s=AUDIO_S)
    rgb, depth, instances = map(np.stack, zip(*views, strict=True))
    return Observation(
        rgb=rgb.astype(np.uint8, copy=False),
        depth_m=depth.astype(np.float32) * np.float32(message.depth_unit_m),
        instances=instances.astype(np.int32),
        cameras=tuple(_camera(view.camera) for view in message.views),
        labels={int(number): name.strip() for number, name in message.labels.items()},
        gripper_opening_m=message.gripper_opening_m,
        holding=message.holding,
        time_s=message.time_s,
        audio=audio,
        audio_rate_hz=rate_hz,
        shared_ids=message.shared_ids,
    )


def _camera(message: messages.CameraMessage) -> Camera:
    pose = np.array(message.world_from_camera, dtype=np.float32)
    k = np.array(message.intrinsics, dtype=np.float32)
    if k[0, 0] < 1 or k[1, 1] < 1:
        raise InvalidObservation(
            f"camera {message.name!r}: expected focal lengths of at least 1 pixel, found {k[0, 0]:g} and {k[1, 1]:g}; "
            "pass the intrinsics K, row by row"
        )
    return Camera(k, pose, message.name)


def facts_of(message: messages.SeenFacts) -> core.FactScene:
    """Return a scene of facts."""
    certainty = {(variable.strip(), name.strip()): sure for (variable, name), sure in message.certainty}
    return core.FactScene(frozenset(tuple(term.strip() for term in fact) for fact in message.facts), certainty)


def scene_of(message: messages.SceneMessage) -> core.SceneGraph:
    """Return a scene of external perception; without features, `visual` has zero columns.

    Raises:
        InvalidObservation: names are repeated, features have different lengths, or a quaternion is zero.
    """
    names = tuple(each.name.strip() for each in message.objects)
    lengths = sorted({len(each.features or ()) for each in message.objects})
    if len(lengths) > 1:
        raise InvalidObservation(
            f"expected features of one length for every object, or none, found {lengths}; encode the objects with the "
            "same checkpoint, or leave the features out"
        )
    held = None if message.held is None else message.held.strip()
    if held is not None and held not in names:
        raise InvalidObservation(f"expected `held` to be one of the objects, found {held!r}")
    boxes, oriented = zip(*(oriented_box(each.name, each.box) for each in message.objects), strict=True)
    visual = np.array([each.features or [] for each in message.objects], dtype=np.float32)
    return core.SceneGraph(
        names=names,
        visual=visual.reshape(len(names), -1),
        boxes=np.stack(boxes),
        seen=np.array([each.seen for each in message.objects]),
        occluded=np.array([each.hidden and not each.seen for each in message.objects]),
        unknown=np.array([each.unknown and not each.hidden and not each.seen for each in message.objects]),
        held=None if held is None else names.index(held),
        oriented=None if np.isnan(oriented).all() else np.stack(oriented),
    )
