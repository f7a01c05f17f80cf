"""Whether cameras, masks and boxes of a setup can be used, drawn over the images."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from nsrecover.core import Camera, FactScene, Observation
from nsrecover.errors import InvalidObservation, NsrecoverError
from nsrecover.onboarding.running_robot import Liveness, check_boxes
from nsrecover.perception.cameras.checks import RULES as VIEWS
from nsrecover.perception.masks.table import TableMasks
from nsrecover.perception.objects.detections import lift_boxes
from nsrecover.records.check_file import checked
from nsrecover.records.review import system_for
from nsrecover.records.runs import RecordedRun
from nsrecover.util.atomic_write import atomic_path
from nsrecover.util.english import amount

COLOURS = ((230, 60, 60), (60, 160, 90), (70, 110, 230), (240, 170, 30), (160, 80, 200), (40, 180, 190))
TABLE_M = ((0.3, 0.8), (-0.4, 0.4), 0.1)
"""Drawn part of the plane z = 0: x, y, and distance of the lines."""

SLOW_S = 1.0
"""An observation that takes longer slows every step down."""

SCATTER_MM = 5.0
"""Boxes at rest that scatter more are noisy."""


@dataclass(frozen=True)
class SetupCheck:
    """What was found.

    Attributes:
        facts: what was measured, one line each.
        problems: what to correct, one line each; empty if all is well.
        drawings: files of images with what was found drawn over them.
    """

    facts: tuple[str, ...]
    problems: tuple[str, ...]
    drawings: tuple[Path, ...] = ()


def check_run(run: RecordedRun, out: Path | None = None, place: str | None = None) -> SetupCheck:
    """Check the observations of a recorded run.

    Args:
        run: the run.
        out: folder for the drawings of the first observation; none are made if None.
        place: of the system, see `nsrecover.loading.system_at`; facts need one.
    """
    facts, problems = [f"{amount(len(run.plan), 'action')}, {amount(len(run.observations), 'observation')}"], []
    drawings: tuple[Path, ...] = ()
    for number, seen in enumerate(run.observations):
        where = f"observation {number}"
        if not isinstance(seen, Observation):
            try:
                if isinstance(seen, FactScene):
                    system_for([run], place).monitor(run.plan, seen)
                else:
                    check_boxes(dict(seen), first=number == 0)
            except NsrecoverError as problem:
                problems.append(f"{where}: {problem}")
            continue
        # during a run the arm and its work may be in view; the first observation has to be clean
        if number == 0:
            seen, standing = _with_table_masks(seen)
            facts += standing
        found = checked(seen, where, VIEWS.setup_agree_m)
        if number == 0:
            facts += [str(view) for view in found.views]
            problems += [str(finding) for finding in found.findings]
            drawings = draw_views(seen, out) if out is not None else ()
    times = [seen.time_s for seen in run.observations if isinstance(seen, Observation)]
    if len(times) > 1:
        apart = np.diff(times)
        facts.append(f"{np.median(apart):.1f} s from one observation to the next")
        if (apart < 0).any():
            problems.append("the clock goes back; give time_s of one clock, in seconds")
    missing = _unnamed(run)
    if missing:
        problems.append(
            f"{', '.join(missing)} of the plan not in the first observation; check the names of the detector"
        )
    return SetupCheck(tuple(facts), tuple(problems), drawings)


def check_live(live: Liveness, last: Any, out: Path | None = None) -> SetupCheck:
    """Check a running robot from several looks at a scene at rest; arguments as for `check_run`."""
    facts = [f"an observation takes {1000 * live.seconds:.0f} ms (median of {live.looks})"]
    problems = []
    if live.seconds > SLOW_S:
        problems.append(f"an observation takes {live.seconds:.1f} s; every step waits for up to three of them")
    drawings: tuple[Path, ...] = ()
    if isinstance(last, Observation):
        last, standing = _with_table_masks(last)
        facts += standing
        found = checked(last, "the last observation", VIEWS.setup_agree_m)
        facts += [str(view) for view in found.views]
        problems += [str(finding) for finding in found.findings]
        drawings = draw_views(last, out) if out is not None else ()
    for name, scatter in live.scatter_mm.items():
        facts.append(
            f"{name}: seen in {live.looks - live.missing[name]} of {live.looks} looks, within {scatter:.1f} mm"
        )
        if scatter > SCATTER_MM:
            problems.append(f"{name} scatters by {scatter:.0f} mm at rest; average some images, or improve its mask")
    for name, times in live.missing.items():
        if times:
            problems.append(f"{name} was not seen in {times} of {live.looks} looks; give None for what is occluded")
    return SetupCheck(tuple(facts), tuple(problems), drawings)


def _with_table_masks(seen: Observation) -> tuple[Observation, tuple[str, ...]]:
    """An observation with masks, made from depth if it has none, and what stands on the table by depth alone."""
    try:
        found = TableMasks().look(seen.rgb, seen.depth_m, seen.cameras, seen.time_s)
    except InvalidObservation:  # the checks of the cameras say more
        return seen, ()
    facts = []
    for camera, own, given in zip(seen.cameras, found.instances, seen.instances, strict=True):
        numbers = np.unique(own[own > 0]).tolist()
        bare = sum(bool((given[own == number] > 0).mean() < 0.2) for number in numbers)
        facts.append(f"{camera.name}: depth shows {amount(len(numbers), 'object')} on the table, {bare} without a mask")
    if (seen.instances > 0).any():
        return seen, tuple(facts)
    return found, (*facts, "no masks given: these are used")


def draw_views(seen: Observation, folder: Path) -> tuple[Path, ...]:
    """Draw masks, boxes, names and the table's plane over the image of every camera.

    Lines of the table have to lie on the table, and boxes around their objects, in every image.
    """
    numbers = sorted(seen.labels) if seen.shared_ids else sorted(set(np.unique(seen.instances).tolist()) - {0})
    boxes, visible = lift_boxes(seen, numbers)
    paths = []
    for view, camera in enumerate(seen.cameras):
        tinted = seen.rgb[view].astype(np.float32)
        for place, number in enumerate(numbers):
            mask = seen.instances[view] == number
            tinted[mask] = 0.6 * tinted[mask] + 0.4 * np.array(COLOURS[place % len(COLOURS)])
        image = Image.fromarray(tinted.astype(np.uint8))
        draw = ImageDraw.Draw(image)
        _draw_table(draw, camera)
        for place, number in enumerate(numbers):
            if visible[place]:
                name = seen.labels.get(number, str(number))
                _draw_box(draw, camera, boxes[place], COLOURS[place % len(COLOURS)], name)
        path = folder / f"view_{camera.name.replace('/', '_')}.png"
        with atomic_path(path) as part:
            image.resize((2 * image.width, 2 * image.height)).save(part, "PNG")
        paths.append(path)
    return tuple(paths)


def _draw_table(draw: ImageDraw.ImageDraw, camera: Camera) -> None:
    (x0, x1), (y0, y1), step = TABLE_M
    lines = [((x, y0, 0.0), (x, y1, 0.0)) for x in np.arange(x0, x1 + 1e-6, step)]
    lines += [((x0, y, 0.0), (x1, y, 0.0)) for y in np.arange(y0, y1 + 1e-6, step)]
    for ends in lines:
        _line(draw, camera, np.array(ends), (255, 255, 255))


def _draw_box(
    draw: ImageDraw.ImageDraw, camera: Camera, box: npt.NDArray[np.float32], colour: tuple[int, int, int], name: str
) -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * box[3:] / 2 + box[:3]
    for one in range(8):
        for bit in (1, 2, 4):
            if not one & bit:
                _line(draw, camera, corners[[one, one | bit]], colour)
    pixels = _pixels(camera, corners)
    if pixels is not None:
        left, top = pixels.min(axis=0).tolist()
        draw.text((left, top - 11), name, fill=(255, 255, 255))


def _line(
    draw: ImageDraw.ImageDraw, camera: Camera, ends: npt.NDArray[np.floating], colour: tuple[int, int, int]
) -> None:
    pixels = _pixels(camera, ends)
    if pixels is not None:
        draw.line([tuple(map(float, pixel)) for pixel in pixels], fill=colour)


def _pixels(camera: Camera, points: npt.NDArray[np.floating]) -> npt.NDArray[np.float64] | None:
    """Pixels (N, 2) of points (N, 3); None if one is behind the camera."""
    pose = np.asarray(camera.world_from_camera, np.float64)
    seen = (np.asarray(points, np.float64) - pose[:3, 3]) @ pose[:3, :3]
    if (seen[:, 2] < 0.02).any():
        return None
    projected = seen @ np.asarray(camera.intrinsics, np.float64).T
    return np.asarray(projected[:, :2] / projected[:, 2:])


def _unnamed(run: RecordedRun) -> Sequence[str]:
    """Objects of the plan that the first observation does not name."""
    first = run.observations[0]
    if isinstance(first, FactScene):
        return ()
    names = set(first.labels.values()) if isinstance(first, Observation) else set(first)
    return sorted({name for action in run.plan for name in action.arguments} - names)
