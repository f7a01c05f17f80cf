"""Bags, masks, logs, plans and recorded runs of a folder, and how each is read."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

from nsrecover.errors import InvalidObservation
from nsrecover.integrations.plansys2 import read_plan
from nsrecover.perception.masks.formats import mask_of
from nsrecover.records.bags.rates import topic_rates
from nsrecover.records.explain_file import explain_file
from nsrecover.records.runs import is_bag, read_run
from nsrecover.util.english import amount
from nsrecover.util.untrusted_json import read_json, read_text


class Kind(StrEnum):
    """What a file is."""

    BAG = "bags"
    MASKS = "masks"
    LOG = "logs"
    PLAN = "plans"
    RUN = "recorded runs"


def kind_of(path: Path) -> Kind | None:
    """What a file is by its name and content; None if it is of no kind that is tried."""
    if is_bag(path):
        return Kind.BAG
    match path.suffix.lower():
        case ".json" | ".jsonl":
            start = _start(path)
            if b'"segmentation"' in start or (b'"counts"' in start and b'"size"' in start):
                return Kind.MASKS
            return Kind.LOG if b'"plan"' in start or b'"event_summary"' in start else None
        case ".plan" | ".soln":
            return Kind.PLAN
        case ".npz" | ".h5" | ".hdf5":
            return Kind.RUN
    return None


def files_in(folder: Path, kind: Kind) -> Iterator[Path]:
    """The files of a kind below a folder; a folder that is a bag counts as one."""
    for path in sorted(folder.iterdir()):
        if path.name.startswith("."):
            continue
        if path.is_dir() and not is_bag(path):
            yield from files_in(path, kind)
        elif kind_of(path) is kind:
            yield path


def tried(path: Path) -> str:
    """Read a file; what was read, in words.

    Raises:
        NsrecoverError: it is refused.
    """
    match kind_of(path):
        case Kind.BAG:
            topic_rates(path)
            return f"a run of {amount(len(read_run(path).plan), 'action')}"
        case Kind.MASKS:
            return _masks(path)
        case Kind.LOG:
            return amount(len(explain_file(path)), "log")
        case Kind.PLAN:
            read_plan(read_text(path))
            return "a plan"
    return f"a run of {amount(len(read_run(path).plan), 'action')}"


def _start(path: Path) -> bytes:
    """The first megabyte of a file."""
    with path.open("rb") as file:
        return file.read(1_000_000)


def _masks(path: Path) -> str:
    """Read every mask of a file.

    Raises:
        InvalidObservation: one cannot be used; says how many.
    """
    document = read_json(path)
    images = document.get("images", ()) if isinstance(document, dict) else ()
    sizes = {each["id"]: (each["height"], each["width"]) for each in images if {"id", "height", "width"} <= set(each)}
    every = list(_segmentations(document))
    refused = []
    for segmentation, image in every:
        size = segmentation.get("size") if isinstance(segmentation, dict) else sizes.get(image)
        try:
            if not isinstance(size, list | tuple) or len(size) != 2:
                raise InvalidObservation("expected the height and width of the image of a mask, found none")
            mask_of(segmentation, int(size[0]), int(size[1]))
        except InvalidObservation as problem:
            refused.append(str(problem))
    if refused:
        raise InvalidObservation(f"{refused[0]} ({len(refused)} of {len(every)} masks)")
    return "masks"


def _segmentations(document: Any) -> Iterator[tuple[Any, Any]]:
    """Every segmentation in a document, and the id of its image, if it says so."""
    if isinstance(document, dict) and "segmentation" in document:
        yield document["segmentation"], document.get("image_id")
    elif isinstance(document, dict) and "counts" in document and "size" in document:
        yield document, None
    elif isinstance(document, dict | list):
        for each in document.values() if isinstance(document, dict) else document:
            yield from _segmentations(each)
