"""The Panda with fewer triangles to render; with its original 100,000, an image takes twice as long."""

from __future__ import annotations

import copy
import hashlib
import os
import stat
import tempfile
import xml.etree.ElementTree as ElementTree
from functools import cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pybullet_data

from nsrecover.errors import InvalidConfiguration

CELL_M = 0.014
"""Side of the grid cells whose vertices are merged into one."""
FINE_CELL_M = 0.005
"""The same for hand and fingers, which cameras see from nearby."""

Array = npt.NDArray[np.float64]
Faces = npt.NDArray[np.int64]

_FINE = ("hand", "finger")
_COLOURS = {"white": "1 1 1 1", "dark": "0.3 0.31 0.33 1"}
_SMOOTH_COSINE = 0.5
_VERSION = "3"


def thinned(vertices: Array, faces: Faces, cell_m: float) -> tuple[Array, Faces]:
    """A mesh with fewer triangles: the vertices in each cell of a grid are merged into their mean.

    Args:
        vertices: (V, 3) metres.
        faces: (F, 3) vertex numbers.
        cell_m: side of a cell.

    Returns:
        Vertices (V', 3) and faces (F', 3); without triangles of zero area and without duplicates.
    """
    _, cells, counts = np.unique(
        np.floor(vertices / cell_m).astype(int), axis=0, return_inverse=True, return_counts=True
    )
    cells = cells.ravel()
    means = np.zeros((len(counts), 3))
    np.add.at(means, cells, vertices)
    merged = cells[faces]
    merged = merged[(merged[:, 0] != merged[:, 1]) & (merged[:, 1] != merged[:, 2]) & (merged[:, 2] != merged[:, 0])]
    # the same triangle starts at its lowest number
    turned = np.argmin(merged, axis=1)[:, None]
    merged = np.take_along_axis(merged, (turned + np.arange(3)) % 3, axis=1)
    return means / counts[:, None], np.unique(merged, axis=0)


def _read(path: Path) -> tuple[Array, dict[str, Faces]]:
    """Vertices (V, 3) of an OBJ file and, for each colour of `_COLOURS`, its triangles (F, 3)."""
    tones, name = {}, ""
    materials = path.with_suffix(".mtl")
    for line in materials.read_text().splitlines() if materials.exists() else ():
        words = line.split()
        if line.startswith("newmtl"):
            name = words[1]
        elif line.startswith("Kd"):
            tones[name] = "dark" if sum(float(word) for word in words[1:]) < 1.0 else "white"
    vertices: list[list[float]] = []
    faces: dict[str, list[list[int]]] = {each: [] for each in _COLOURS}
    tone = "white"
    for line in path.read_text(errors="ignore").splitlines():
        words = line.split()
        if line.startswith("v "):
            vertices.append([float(word) for word in words[1:4]])
        elif line.startswith("usemtl"):
            tone = tones.get(words[1], "white")
        elif line.startswith("f "):
            corners = [int(word.split("/")[0]) - 1 for word in words[1:]]
            faces[tone] += [[corners[0], corners[i], corners[i + 1]] for i in range(1, len(corners) - 1)]
    return np.array(vertices), {each: np.array(rows, dtype=np.int64) for each, rows in faces.items() if rows}


def _write(path: Path, vertices: Array, faces: Faces) -> None:
    """Write an OBJ file with smooth shading except at sharp edges: each corner has its own normal."""
    corners = vertices[faces]
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    smooth = np.zeros_like(vertices)
    for i in range(3):
        np.add.at(smooth, faces[:, i], flat)
    flat, smooth = (each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), 1e-12) for each in (flat, smooth))
    sharp = np.einsum("fki,fi->fk", smooth[faces], flat) < _SMOOTH_COSINE
    normals = np.where(sharp[..., None], flat[:, None], smooth[faces]).reshape(-1, 3)
    lines = [f"v {x:.5f} {y:.5f} {z:.5f}" for x, y, z in vertices]
    lines += [f"vn {x:.4f} {y:.4f} {z:.4f}" for x, y, z in normals]
    lines += [
        f"f {a}//{3 * k + 1} {b}//{3 * k + 2} {c}//{3 * k + 3}" for k, (a, b, c) in enumerate((faces + 1).tolist())
    ]
    path.write_text("\n".join(lines) + "\n")


@cache
def panda_urdf() -> Path:
    """URDF of the Panda of `pybullet_data`: its collision shapes unchanged, a tenth of the visible triangles.

    It is written at first use into the folder for temporary files and reused afterwards.
    """
    source = Path(pybullet_data.getDataPath()) / "franka_panda"
    stamp = f"{_VERSION} {source} {CELL_M} {FINE_CELL_M} {(source / 'panda.urdf').stat().st_mtime_ns}"
    digest = hashlib.sha256(stamp.encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"nsrecover-panda-{os.getuid()}-{digest}"
    if folder.is_symlink() or folder.exists():
        check_owned(folder)
    if not (folder / "panda.urdf").exists():
        # several processes may do this at once: each makes its own, the first one to finish wins
        with tempfile.TemporaryDirectory(dir=folder.parent) as made:
            _make(source, Path(made) / "panda")
            try:
                os.rename(Path(made) / "panda", folder)
            except OSError:
                if not (folder / "panda.urdf").exists():
                    raise
    return folder / "panda.urdf"


def check_owned(folder: Path) -> None:
    """Refuse a folder that others can have filled: the one for temporary files is everybody's.

    Raises:
        InvalidConfiguration: it belongs to another user, others can write there, or it is a link.
    """
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise InvalidConfiguration(
            f"expected a folder that only you can write to, found {folder} of user {found.st_uid} with mode "
            f"{stat.filemode(found.st_mode)}; delete it, or set TMPDIR to a folder of yours"
        )


def _make(source: Path, folder: Path) -> None:
    folder.mkdir(mode=0o700)
    tree = ElementTree.parse(source / "panda.urdf")
    for link in tree.getroot().iter("link"):
        for part in [*link.findall("collision"), *link.findall("visual")]:
            mesh = _child(part, "geometry/mesh")
            path = source / mesh.attrib["filename"].removeprefix("package://")
            mesh.set("filename", str(path))
            if part.tag == "collision":
                continue
            link.remove(part)
            vertices, tones = _read(path)
            for tone, faces in tones.items():
                small = folder / f"{path.parent.name}_{path.stem}_{tone}.obj"
                used = np.unique(faces)
                renumbered = np.searchsorted(used, faces)
                if not small.exists():
                    cell_m = FINE_CELL_M if path.stem in _FINE else CELL_M
                    _write(small, *thinned(vertices[used], renumbered, cell_m))
                drawn = copy.deepcopy(part)
                _child(drawn, "geometry/mesh").set("filename", small.name)
                drawn.remove(_child(drawn, "material"))
                material = ElementTree.SubElement(drawn, "material", name=f"panda_{tone}")
                ElementTree.SubElement(material, "color", rgba=_COLOURS[tone])
                link.append(drawn)
    tree.write(folder / "panda.urdf")


def _child(element: ElementTree.Element, path: str) -> ElementTree.Element:
    """The first element at a path of the URDF."""
    found = element.find(path)
    assert found is not None, f"the Panda's URDF lacks {path}"
    return found
