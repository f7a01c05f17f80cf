"""Masks and detections as other programs write them: the right pixels, or a refusal that names what was found.

`POLYGONS` holds the pixels that pycocotools 2.0.11 gives; where it is installed, random polygons are compared, too.
"""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nsrecover.bridges.detectors import (
    TaggedObject,
    sam2_detections,
    sam2_track_detections,
    tag_boxes,
)
from nsrecover.core import Camera
from nsrecover.errors import InvalidObservation
from nsrecover.perception.masks.formats import instances_of, mask_of, run_lengths

H, W = 60, 80
SQUARE = np.zeros((H, W), np.bool_)
SQUARE[10:30, 10:30] = True
RUNS = run_lengths(SQUARE)
COMPRESSED = "Rc0d0X10000000000000000000000000000000000000^m2"
CORNERS = [[10, 10, 30, 10, 30, 30, 10, 30]]


class Tensor:
    """As torch's: no array, but it can become one."""

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.values


READ: dict[str, Any] = {
    "boolean": SQUARE,
    "0 and 1": SQUARE.astype(np.uint8),
    "0 and 255, as in a PNG": SQUARE.astype(np.uint8) * 255,
    "0.0 and 1.0": SQUARE.astype(np.float32),
    "nested lists of numbers": SQUARE.astype(int).tolist(),
    "nested lists of booleans": SQUARE.tolist(),
    "a batch of one": SQUARE[None],
    "a channel of one": SQUARE[..., None],
    "a tensor": Tensor(SQUARE),
    "an image of pillow": Image.fromarray(SQUARE.astype(np.uint8) * 255),
    "run lengths": RUNS,
    "run lengths as decimals": {"size": [60.0, 80.0], "counts": [float(each) for each in RUNS["counts"]]},
    "compressed run lengths": {"size": [H, W], "counts": COMPRESSED},
    "compressed run lengths as bytes": {"size": [H, W], "counts": COMPRESSED.encode()},
    "run lengths in a list": [RUNS],
    "run lengths in two parts": [run_lengths(SQUARE & (np.arange(W) < 20)), run_lengths(SQUARE & (np.arange(W) >= 20))],
    "a polygon": CORNERS,
    "a polygon without the outer list": CORNERS[0],
    "a polygon of pairs": [[[10, 10], [30, 10], [30, 30], [10, 30]]],
    "a polygon that is closed": [[*CORNERS[0], 10, 10]],
    "a polygon in two parts": [[10, 10, 20, 10, 20, 30, 10, 30], [20, 10, 30, 10, 30, 30, 20, 30]],
}


@pytest.mark.parametrize("given", READ.values(), ids=READ)
def test_a_square_has_400_pixels_whatever_it_is_written_as(given: Any) -> None:
    np.testing.assert_array_equal(mask_of(given, H, W), SQUARE)


REFUSED: dict[str, tuple[Any, str]] = {
    "probabilities": (np.where(SQUARE, 0.9, 0.05), r"0\.05 to 0\.9"),
    "probabilities as lists": (np.where(SQUARE, 0.9, 0.05).tolist(), r"0\.05 to 0\.9"),
    "logits": (np.where(SQUARE, 4.0, -4.0), "logits"),
    "numbers of objects": (np.where(SQUARE, 7, 0), "label images"),
    "not a number": (np.where(SQUARE, np.nan, 0.0), "0 and 1"),
    "another resolution": (SQUARE[::2, ::2], r"60 x 80 .*\(30, 40\)"),
    "another resolution as lists": (SQUARE[::2, ::2].astype(int).tolist(), r"60 x 80 .*\(30, 40\)"),
    "a stack of two": (np.stack([SQUARE, SQUARE]), r"\(2, 60, 80\)"),
    "shares of the image": ([[0.125, 0.17, 0.375, 0.17, 0.375, 0.5]], "shares"),
    "a polygon of a larger image": ([[20, 20, 160, 20, 160, 110]], "x from 20 to 160"),
    "a box": ([[10, 10, 20, 20]], "polygons"),
    "a polygon of objects": ([[{"x": 1, "y": 2}] * 3], "polygons"),
    "no polygon": ([], "no polygon"),
    "a text": ("[[10, 10, 30, 10, 30, 30]]", "found str"),
    "run lengths of width and height": ({"size": [W, H], "counts": RUNS["counts"]}, r"\[height, width\]"),
    "run lengths as printed bytes": ({"size": [H, W], "counts": "b'mask'"}, "characters"),
    "run lengths cut off": ({"size": [H, W], "counts": RUNS["counts"][:-1]}, "pixels"),
    "run lengths of halves": ({"size": [H, W], "counts": [0.5, 4799.5]}, "whole"),
    "run lengths as start and length": ({"rle": [610, 20]}, "`size` and `counts`"),
}


@pytest.mark.parametrize(("given", "named"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_binary_mask_of_the_image_is_refused(given: Any, named: str) -> None:
    with pytest.raises(InvalidObservation, match=named):
        mask_of(given, H, W)


POLYGONS: dict[str, tuple[list[float], str]] = {
    "corners between pixels": ([1.5, 0.5, 6.2, 2.4, 3.1, 5.9], "|..##|..####|..###|...#|...#|"),
    "a line of no width": ([1, 1, 5, 1, 1, 1], "||||||"),
    "a bow tie": ([0, 0, 6, 6, 6, 0, 0, 6], "#....#|##..##|######|##..##|#....#||"),
    "a corner outside": ([-2, -2, 4, 1, 1, 6], "###|####|###|##|##||"),
    "half pixels": ([0.5, 0.5, 3.5, 0.5, 3.5, 3.5, 0.5, 3.5], "|.###|.###|.###|||"),
}


@pytest.mark.parametrize(("corners", "rows"), POLYGONS.values(), ids=POLYGONS)
def test_polygons_fill_the_pixels_that_pycocotools_fills(corners: list[float], rows: str) -> None:
    found = mask_of([corners], 7, 8).astype(int)
    assert "|".join("".join(".#"[on] for on in row).rstrip(".") for row in found) == rows


def test_random_polygons_and_compressed_run_lengths_are_those_of_pycocotools() -> None:
    mask = pytest.importorskip("pycocotools.mask")
    rng = np.random.default_rng(7)
    for _ in range(300):
        corners = (rng.random((rng.integers(3, 9), 2)) * [W, H]).round(int(rng.integers(0, 3))).ravel().tolist()
        (theirs,) = mask.frPyObjects([corners], H, W)
        np.testing.assert_array_equal(mask_of([corners], H, W), mask.decode(theirs))
        np.testing.assert_array_equal(mask_of(theirs, H, W), mask.decode(theirs))


def detection(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "segmentation": CORNERS, **more}


ONCE: dict[str, tuple[list[dict[str, Any]], Any]] = {
    "two classes": ([detection("cup"), detection("bowl")], "'cup' and as 'bowl'"),
    "two classes, as sure": ([detection("cup", score=0.5), detection("bowl", score=0.5)], "'cup' and as 'bowl'"),
    "the first is surer": ([detection("cup", confidence=0.9), detection("bowl", confidence=0.6)], {1: "cup"}),
    "the second is surer": ([detection("cup", score=0.3), detection("bowl", score=0.6)], {2: "bowl"}),
    "three times": ([detection(name, score=s) for name, s in (("a", 0.3), ("b", 0.6), ("c", 0.5))], {2: "b"}),
    "the neighbour of what is left out": (
        [{"name": name, "segmentation": [[x, 10, x + 30, 10, x + 30, 40, x, 40]], "score": s}
         for name, s, x in (("a", 0.5, 10), ("b", 0.6, 16), ("c", 0.7, 22))], {1: "a", 3: "c"},
    ),
    "nearly the same pixels": (
        [detection("cup"), {"name": "bowl", "segmentation": [[11, 10, 30, 10, 30, 30, 11, 30]]}], "the same pixels",
    ),
    "a part": (
        [detection("cup"), {"name": "handle", "segmentation": [[10, 10, 20, 10, 20, 30, 10, 30]]}],
        {1: "cup", 2: "handle"},
    ),
    "nothing": ([detection("cup"), {"name": "bowl", "segmentation": np.zeros((H, W), np.uint8)}], "'bowl'"),
    "covered by two": (
        [
            detection("tray"),
            {"name": "left", "segmentation": [[10, 10, 20, 10, 20, 30, 10, 30]]},
            {"name": "right", "segmentation": [[20, 10, 30, 10, 30, 30, 20, 30]]},
        ],
        {2: "left", 3: "right"},
    ),
    "two names for most of the pixels": (
        [detection("cup", confidence=0.9),
         {"name": "bowl", "segmentation": [[12, 12, 30, 12, 30, 28, 12, 28]], "score": 0.3}], {1: "cup"},
    ),
    "a score beside a confidence of None": (
        [detection("cup", confidence=None, score=0.9), detection("bowl", score=0.3)], {1: "cup"},
    ),
    "a number beyond 32 bits": ([detection("cup", number=2**31 + 5)], "number objects anew"),
    "no name": ([detection(None)], "a text as `name`"),  # type: ignore[arg-type]
    "an empty name": ([detection(" ")], "a text as `name`"),
    "no mapping": ([["cup", CORNERS]], "`name` and `segmentation`"),  # type: ignore[list-item]
    "numbers as words": ([detection("cup", number="one")], "numbers"),
    "a confidence that is none": ([detection("cup", confidence=float("nan"))], "finite"),
}  # fmt: skip


@pytest.mark.parametrize(("given", "expected"), ONCE.values(), ids=ONCE)
def test_an_object_is_found_once_and_has_pixels(given: list[dict[str, Any]], expected: Any) -> None:
    if isinstance(expected, str):
        with pytest.raises(InvalidObservation, match=expected):
            instances_of(given, H, W)
        return
    instances, labels = instances_of(given, H, W)
    assert labels == expected
    assert sorted(np.unique(instances[instances > 0])) == sorted(labels)


PERCENT = [[[10, 20, 60, 20, 60, 80, 10, 80]], [[70, 20, 95.5, 20, 95.5, 80, 70, 80]]]


def test_polygons_in_percent_of_a_large_image_are_refused() -> None:
    given = [{"name": name, "segmentation": corners} for name, corners in zip("ab", PERCENT, strict=True)]
    with pytest.raises(InvalidObservation, match=r"in percent; multiply x by 6\.4 and y by 4\.8"):
        instances_of(given, 480, 640)
    assert len(instances_of(given, 100, 120)[1]) == 2  # the image is that small
    assert len(instances_of(given[:1], 480, 640)[1]) == 1  # one object may be in the corner
    far = {"name": "c", "segmentation": [[200, 200, 300, 200, 300, 300]]}
    assert len(instances_of([*given, far], 480, 640)[1]) == 3
    masks = [{**each, "segmentation": mask_of(each["segmentation"], 480, 640)} for each in given]
    assert len(instances_of(masks, 480, 640)[1]) == 2


def sam2(mask: np.ndarray, **more: Any) -> dict[str, Any]:
    return {"segmentation": mask, "area": int(mask.sum()), "stability_score": 0.9, **more}


def test_sam2_leaves_out_the_background_and_no_large_object() -> None:
    tray, table = np.zeros((2, 1080, 1920), np.bool_)
    tray[100:700, 100:700], table[:, :1900] = True, True
    assert [each["name"] for each in sam2_detections([sam2(tray), sam2(table)])] == ["object 1"]
    for lost in ("area", "stability_score"):
        with pytest.raises(InvalidObservation, match=lost):
            sam2_detections([sam2(tray, **{lost: None})])


@pytest.mark.parametrize("side", [5, 300])
def test_sam2_masks_none_of_which_is_an_object_by_size_are_refused(side: int) -> None:
    mask = np.zeros((480, 640), np.bool_)
    mask[:side, :side] = True
    with pytest.raises(InvalidObservation, match=f"30 to 76800 pixels, found areas from {side**2} .*adapt `pixels`"):
        sam2_detections([sam2(mask)])
    assert len(sam2_detections([sam2(mask)], pixels=(1, 200_000))) == 1
    assert sam2_detections([]) == []


def test_sam2_probabilities_are_refused() -> None:
    with pytest.raises(InvalidObservation, match=r"0\.05 to 0\.9"):
        sam2_track_detections({1: np.where(SQUARE, 0.9, 0.05)}, {1: "cup"})
    for given in (SQUARE, SQUARE.astype(np.float32), np.where(SQUARE, 3.0, -3.0)):
        (found,) = sam2_track_detections({1: given}, {1: "cup"})
        assert mask_of(found["segmentation"], H, W).sum() == 400


CAMERA = Camera(np.diag([500.0, 500, 1]).astype(np.float32), np.eye(4, dtype=np.float32))
TAGGED = dict.fromkeys((3, 4, 5), TaggedObject("red", (0.05, 0.05, 0.05)))


def tag(margin: float, x: float, number: int = 3, z: float = 0.6, **more: Any) -> Any:
    return SimpleNamespace(
        tag_id=number, decision_margin=margin, pose_R=np.eye(3), pose_t=np.array([[x], [0], [z]]), **more
    )


TAGS: dict[str, tuple[list[Any], Any]] = {
    "two margins": ([tag(90, 0.0), tag(30, 0.2)], 0.0),
    "two margins, the better one last": ([tag(30, 0.2), tag(90, 0.0)], 0.0),
    "the better one has corrected bits": ([tag(90, 0.2, hamming=2), tag(40, 0.0, hamming=0)], 0.0),
    "only corrected bits": ([tag(90, 0.2, hamming=1)], None),
    "two tags of one object, one less sharp": ([tag(50, 0.2, 4), tag(90, 0.0, 3)], "20 cm apart"),
    "three tags of one object, two of which agree": (
        [tag(90, 0.0, 3), tag(89, 0.001, 4), tag(30, 0.2, 5)],
        "its tags 3 and 5 20 cm apart",
    ),
    "two tags of one object, one with corrected bits": ([tag(50, 0.2, 4, hamming=1), tag(90, 0.0, 3)], 0.0),
    "the same tag from two families of threads": ([tag(90, 0.0), tag(89, 0.001)], 0.0),
    "two tags of one object that disagree": ([tag(88, 0.2, 4), tag(90, 0.0, 3)], "its tags 4 and 3 20 cm apart"),
    "two tags of one object that agree": ([tag(88, 0.001, 4), tag(90, 0.0, 3)], 0.0),
    "two tags with one number": ([tag(90, 0.0), tag(85, 0.2)], "different tag for each"),
    "a margin that is none": ([tag(float("nan"), 0.2)], None),
    "no margin": ([tag(None, 0.0)], "a number as `decision_margin`"),  # type: ignore[arg-type]
    "no number": ([SimpleNamespace(decision_margin=90)], "a number as `tag_id`"),
    "behind the camera": ([tag(90, 0.0, z=-0.6)], "in front of the camera"),
}


@pytest.mark.parametrize(("given", "expected"), TAGS.values(), ids=TAGS)
def test_a_tag_that_is_detected_twice_is_where_it_is_seen_best(given: list[Any], expected: Any) -> None:
    if isinstance(expected, str):
        with pytest.raises(InvalidObservation, match=expected):
            tag_boxes(given, CAMERA, TAGGED)
        return
    box = tag_boxes(given, CAMERA, TAGGED)["red"]
    assert (None if box is None else box[0]) == expected
