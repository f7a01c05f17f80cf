"""`nsrecover segment`: the table, its pose and masks of what stands on it, of one RGB-D image or of a run."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import numpy as np
import typer
from PIL import Image

from nsrecover.cli.options import AsJson, reads_bags, show, spread
from nsrecover.core import FloatArray, Observation
from nsrecover.errors import InvalidConfiguration
from nsrecover.records.runs import LAYOUT, is_bag, read_run
from nsrecover.util.atomic_write import atomic_path
from nsrecover.util.english import amount


@dataclass(frozen=True)
class Segmented:
    """Options of `nsrecover segment`."""

    depth: Annotated[
        Path | None, typer.Option(help="Depth image of 16 bits that belongs to a colour image.", dir_okay=False)
    ] = None
    intrinsics: Annotated[str, typer.Option(metavar="FX,FY,CX,CY", help="Of that camera, pixels.")] = ""
    unit_mm: Annotated[float, typer.Option(min=1e-4, help="Millimetres of one step of the depth image.")] = 1.0
    out: Annotated[Path, typer.Option(help="Folder for masks (16 bits) and drawings.")] = Path("segmented")
    as_json: AsJson = False


@reads_bags
@spread
def segment(
    place: Annotated[str, typer.Argument(metavar="COLOUR|RUN", help="A colour image, or a recorded run.")],
    given: Segmented = Segmented(),
) -> None:
    """Find the table and cut out what stands on it, from RGB-D images alone, without a detector.

    A colour image needs `--depth` and `--intrinsics`; the pose of the camera follows from the table: z = 0 on it, x
    away from the camera, its middle at x = 0.5 m. Of a recorded run, whose masks are not used, the observations are
    segmented in turn, and objects keep their numbers. A bag (ROS 2 or ROS 1) needs no more than what a camera's driver
    and tf publish; x and y are then those of the robot's base, and z = 0 is on the table. Masks are written as images
    with the number of its object in every pixel, 0 for the background. The drawings of the last
    observation show masks, boxes and the table's plane.
    Exits with 1 if nothing is found, or the unit of depth cannot be right.
    """
    from nsrecover.onboarding.setup_check import draw_views
    from nsrecover.perception.cameras.checks import RULES as VIEWS
    from nsrecover.perception.masks.table import TableMasks
    from nsrecover.perception.objects.detections import lift_boxes

    observations = _of_images(Path(place), given) if given.depth is not None else _of_run(place)
    masks, found = TableMasks(), list[Observation]()
    for number, each in enumerate(observations):
        found.append(masks.look(each.rgb, each.depth_m, each.cameras, each.time_s))
        for view, camera in enumerate(each.cameras):
            with atomic_path(given.out / f"{number:03d}_{camera.name.replace('/', '_')}.png") as part:
                Image.fromarray(found[-1].instances[view].astype(np.uint16)).save(part, "PNG")
    last = found[-1]
    drawings = [str(path) for path in draw_views(last, given.out)]
    numbers = sorted(set(np.unique(last.instances).tolist()) - {0})
    boxes, _ = lift_boxes(last, numbers)
    document = {
        "observations": len(found),
        "cameras": [{"name": c.name, "world_from_camera": c.world_from_camera} for c in last.cameras],
        "objects": {last.labels.get(n, str(n)): box for n, box in zip(numbers, boxes, strict=True)},
        "drawings": drawings,
    }
    lines = [f"{c.name}: {c.world_from_camera[2, 3]:.3f} m above the table" for c in last.cameras]
    lines += [
        f"{last.labels.get(n, n)}: at {', '.join(f'{v:.3f}' for v in box[:3])} m, "
        f"{' x '.join(f'{1000 * v:.0f}' for v in box[3:])} mm"
        for n, box in zip(numbers, boxes, strict=True)
    ]
    lines.append(f"{amount(len(numbers), 'mask')} in the last of {amount(len(found), 'observation')}; {given.out}")
    heights = [float(camera.world_from_camera[2, 3]) for camera in last.cameras]
    good = bool(numbers) and all(VIEWS.depth_m[0] <= height <= VIEWS.depth_m[1] for height in heights)
    if not good:
        lines.append(
            "problem: no object, or a camera at no likely height; do --unit-mm and --intrinsics fit the images?"
        )
    show({**document, "good": good}, lines, given.as_json)
    if not good:
        raise typer.Exit(1)


def _of_bag(place: Path) -> list[Observation]:
    """Observations of what a driver has recorded, with the table at z = 0."""
    from nsrecover.perception.masks.table import find_table
    from nsrecover.records.bags.reading import read_images

    seen = read_images(place, LAYOUT.get())
    first, tops = seen[0], list[float]()
    for depth_m, camera in zip(first.depth_m, first.cameras, strict=True):
        middle = np.append(find_table(depth_m, camera).middle, 1.0)
        tops.append(float((camera.world_from_camera @ middle)[2]))
    down = np.zeros((4, 4), np.float32)
    down[2, 3] = np.median(tops)
    return [
        replace(each, cameras=tuple(replace(c, world_from_camera=c.world_from_camera - down) for c in each.cameras))
        for each in seen
    ]


def _of_run(place: str) -> list[Observation]:
    if is_bag(Path(place)):
        return _of_bag(Path(place))
    observations = [each for each in read_run(place).observations if isinstance(each, Observation)]
    if not observations:
        raise InvalidConfiguration(f"expected a run with camera images, found none in {place}; record one with cameras")
    return observations


def _of_images(colour: Path, given: Segmented) -> list[Observation]:
    """One observation from two files."""
    assert given.depth is not None
    intrinsics = intrinsics_of(given.intrinsics)
    try:
        rgb = np.asarray(Image.open(colour).convert("RGB"))
        steps = np.asarray(Image.open(given.depth))
    except OSError as problem:
        raise InvalidConfiguration(f"expected a colour and a depth image, found {problem}; give PNG files") from problem
    if steps.ndim != 2 or steps.dtype not in (np.uint16, np.int32):
        raise InvalidConfiguration(
            f"expected a depth image of 16 bits, found {steps.dtype} {steps.shape} in {given.depth}; export depth "
            "without colours"
        )
    depth = (steps * (given.unit_mm / 1000)).astype(np.float32)
    from nsrecover.perception.masks.table import camera_over_table

    camera = camera_over_table(depth, intrinsics, colour.stem)
    return [Observation(rgb[None], depth[None], np.zeros((1, *depth.shape), np.int32), (camera,), {})]


def intrinsics_of(text: str) -> FloatArray:
    """The intrinsics (3, 3) of FX,FY,CX,CY.

    Raises:
        InvalidConfiguration: the text is something else.
    """
    try:
        fx, fy, cx, cy = (float(each) for each in text.split(","))
    except ValueError:
        raise InvalidConfiguration(
            f"expected --intrinsics FX,FY,CX,CY in pixels, found {text!r}; a Kinect at 640 x 480 has 525,525,320,240"
        ) from None
    return np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]], np.float32)
