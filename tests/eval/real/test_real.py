"""Readers of public sets, edits of frames, and `python -m eval.real`, on rendered boxes in the layouts of the sets."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from eval.real.__main__ import MEASUREMENT, RealConfig
from eval.real.edits import SHIFT_M, moved, removed, replaced
from eval.real.readers import frame_of_cloud, frames_in
from nsrecover.core import Observation
from nsrecover.errors import InvalidRecording
from nsrecover.perception.masks.table import find_table
from tests.nsrecover.perception.test_table_masks import APART, SHAPE, K, seen
from tests.observations import front_camera
from tests.tables_text import unpadded

LABELS = np.array([1, 20, 30, 41], np.int32)
"""As mOSD numbers the table and three objects."""


def packed(data: bytes) -> bytes:
    """LZF without any compression: runs of at most 32 literal bytes."""
    parts = [data[i : i + 32] for i in range(0, len(data), 32)]
    return b"".join(bytes([len(part) - 1]) + part for part in parts)


def cloud(path: Path, form: str) -> npt.NDArray[np.float32]:
    """Write a rendered scene as mOSD does; its depth."""
    rgb, depth, masks = seen(APART, front_camera())
    rgb, depth, masks = rgb[::8, ::8], depth[::8, ::8], masks[::8, ::8]
    kind = np.dtype([("x", "f4"), ("y", "f4"), ("z", "f4"), ("rgb", "f4"), ("label", "u4")])
    points = np.zeros(depth.shape, kind)
    rows, columns = np.indices(depth.shape)
    z = np.where(depth > 0, depth, np.nan)
    points["x"], points["y"], points["z"] = (columns - 39.5) / 65.6 * z, (rows - 29.5) / 65.6 * z, z
    colour = rgb.astype(np.uint32)
    points["rgb"] = (colour[..., 0] << 16 | colour[..., 1] << 8 | colour[..., 2]).view(np.float32)
    points["label"] = np.where(depth > 0, LABELS[masks], 0)
    header = (
        f"# .PCD v0.7\nVERSION 0.7\nFIELDS x y z rgb label\nSIZE 4 4 4 4 4\nTYPE F F F F U\nCOUNT 1 1 1 1 1\n"
        f"WIDTH {depth.shape[1]}\nHEIGHT {depth.shape[0]}\nPOINTS {depth.size}\nDATA {form}\n"
    )
    flat = points.ravel()
    if form == "binary":
        body = flat.tobytes()
    elif form == "binary_compressed":
        raw = b"".join(flat[name].tobytes() for name in kind.names)
        body = struct.pack("<II", len(packed(raw)), len(raw)) + packed(raw)
    else:
        body = "\n".join(" ".join(repr(float(value)) for value in point) for point in flat.tolist()).encode()
    path.write_bytes(header.encode() + body)
    return depth


@pytest.mark.parametrize("form", ["ascii", "binary", "binary_compressed"])
def test_clouds_are_read_in_every_form(form: str, tmp_path: Path) -> None:
    depth = cloud(tmp_path / "learn3.pcd", form)
    frame = frame_of_cloud(tmp_path / "learn3.pcd")
    assert np.array_equal(frame.depth_m, depth)
    assert frame.intrinsics[[0, 1, 0, 1], [0, 1, 2, 2]] == pytest.approx([65.6, 65.6, 40, 30], abs=0.01)
    assert frame.labels is not None
    assert set(np.unique(frame.labels)) == {0, 2, 3, 4}
    if form != "ascii":  # a colour that is no number is lost in text
        assert tuple(frame.rgb[frame.labels == 2][0]) == (200, 40, 40)


def test_broken_files_and_empty_folders_are_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidRecording, match="public set"):
        list(frames_in(tmp_path))
    for number, text in enumerate((b"no cloud", b"FIELDS x\nSIZE 4\nTYPE Q\nDATA ascii\n1\n")):
        (tmp_path / f"test{number}.pcd").write_bytes(text)
        with pytest.raises(InvalidRecording, match="PCD"):
            frame_of_cloud(tmp_path / f"test{number}.pcd")


def test_edits_change_one_object_by_what_they_say() -> None:
    rgb, depth, masks = seen(APART, front_camera())
    before = Observation(rgb[None], depth[None], masks[None], (front_camera(),), {1: "a", 2: "b", 3: "c"})
    table = find_table(depth, K)
    gone, shifted = removed(before, 1, table), moved(before, 1, table)
    assert not (gone.instances == 1).any()
    near = np.abs(table.heights(_points(gone)[masks == 1])) < 0.01
    assert near.mean() > 0.95
    for after in (gone, shifted):
        for number in (2, 3):
            assert (after.instances[0][masks == number] == number).mean() > 0.98
    places = [np.mean(np.nonzero(each.instances[0] == 1), axis=1) for each in (before, shifted)]
    apart = np.linalg.norm(places[1] - places[0]) * np.median(depth[masks == 1]) / K[0, 0]
    assert apart == pytest.approx(SHIFT_M, abs=0.003)
    painted = replaced(before, 1, replace(before, instances=np.where(masks == 2, 2, 0)[None]))
    assert np.array_equal((painted.rgb != before.rgb).any(axis=-1)[0], masks == 1)


def _points(each: Observation) -> npt.NDArray[np.float64]:
    v, u = np.indices(SHAPE) + 0.5
    z = each.depth_m[0]
    return np.stack([(u - K[0, 2]) / K[0, 0] * z, (v - K[1, 2]) / K[1, 1] * z, z], axis=-1)


def test_frames_in_the_layouts_of_the_sets_are_judged(tmp_path: Path) -> None:
    folder = tmp_path / "mosd"
    folder.mkdir()
    for name, side in (("00", 0.0), ("01", 30.0)):
        rgb, depth, masks = seen(APART, front_camera(side=side))
        Image.fromarray(rgb).save(folder / f"{name}-color.png")
        Image.fromarray(np.round(10_000 * depth).astype(np.uint16)).save(folder / f"{name}-depth.png")
        Image.fromarray(np.where(depth > 0, LABELS[masks], 0).astype(np.uint8)).save(folder / f"{name}-labels.png")
    camera_of = {"kind": "boxes", "fx": 525.0, "fy": 525.0, "cx": 319.5, "cy": 239.5}
    (folder / "frames.json").write_text(json.dumps({"00": camera_of, "01": camera_of}))
    other = tmp_path / "UnseenObjectClustering" / "data" / "demo"
    other.mkdir(parents=True)
    Image.fromarray(rgb).save(other / "000004-color.png")
    Image.fromarray(np.round(1000 * depth).astype(np.uint16)).save(other / "000004-depth.png")
    assert [frame.source for frame in frames_in(tmp_path)] == ["mOSD", "mOSD", "UnseenObjectClustering"]
    found = MEASUREMENT.run(RealConfig(folder=str(tmp_path), frames=1, out=str(tmp_path / "out")))["sets"]["mOSD"]
    assert found["segmented"]["value"] == 1.0
    assert found["segmented"]["of"] == found["moved"]["of"] == found["removed"]["of"] == 3
    assert found["table_mm"]["largest"] < 1.0
    assert found["refused"]["value"] == 0.0
    for still in (found["false_alarms"], found["flicker"], found["made"]["frames"], found["placed"]["good"]):
        assert still["of"] > 0
        assert still["value"] == 0.0
    for noticed in (found["made"]["moved"], found["made"]["removed"], found["placed"]["off_50"]):
        assert noticed["of"] > 0
        assert noticed["value"] == 1.0
    assert "| frames | 1 |" in unpadded((tmp_path / "out" / "table.md").read_text())
