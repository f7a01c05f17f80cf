"""`python -m eval.checks.foreign DIR` tries PDDL, bags, masks, logs, plans, runs, and counts refusals and why."""

from __future__ import annotations

import re
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from conf.command import run_function
from eval.common.tables import markdown_table
from nsrecover.bridges.pddl import domain_from_pddl, scene_from_pddl
from nsrecover.bridges.plansys2 import read_plan
from nsrecover.errors import InvalidConfiguration, InvalidObservation, NsrecoverError
from nsrecover.perception.masks.formats import mask_of
from nsrecover.records.bags.rates import topic_rates
from nsrecover.records.explain_file import explain_file
from nsrecover.records.runs import is_bag, read_run
from nsrecover.util.english import amount
from nsrecover.util.untrusted_json import read_json, read_text

MOST_S = 5.0
"""Longest time for one file that is no fault, seconds of the processor."""
_COMMENT = re.compile(r";[^\n]*")
_TITLE = re.compile(r"\(\s*define\s*\(\s*(domain|problem)\s+([^\s()]+)\s*\)\s*(?:\(\s*:domain\s+([^\s()]+))?")
Tried = TypeVar("Tried")


def rows_of(what: str, given: Iterable[Tried], read: Callable[[Tried], str]) -> Iterator[tuple[str, ...]]:
    """What became of each file: its kind, outcome and text, and the file.

    The outcome is `read`, `refused`, `slow` or `crashed`.
    """
    for file in given:
        began = time.process_time()
        try:
            outcome, text = "read", read(file)
        except NsrecoverError as error:
            outcome, text = "refused", str(error)
        except Exception as error:  # what this command looks for
            outcome, text = "crashed", repr(error)
        if time.process_time() - began > MOST_S:
            outcome, text = "slow", f"{time.process_time() - began:.0f} s, {outcome}: {text}"
        yield what, outcome, text, str(file[0] if isinstance(file, tuple) else file)


def pairs_of(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Each different PDDL domain below a folder, and the smallest problem for it.

    A problem belongs to a domain that it names and that lies in its folder, beside that folder with a name that begins
    like it, or in the same folder as `p01-domain.pddl` for `p01.pddl`.
    """
    titles = {path: title for path in sorted(folder.rglob("*.pddl")) if (title := _TITLE.search(_pddl(path)))}
    problems = sorted((p for p, title in titles.items() if title[1] == "problem"), key=lambda p: p.stat().st_size)
    seen = set[str]()
    for path, title in titles.items():
        if title[1] == "domain" and (words := " ".join(_pddl(path).split())) not in seen:
            seen.add(words)
            own = [p for p in problems if titles[p][3] == title[2] and _belongs(p, path)]
            yield path, own[0] if own else None


def _pddl(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="latin-1")).lower()


def _belongs(problem: Path, domain: Path) -> bool:
    numbered = domain.stem.removesuffix("-domain")
    if numbered != domain.stem:
        return problem.stem.startswith(numbered) and problem.parent == domain.parent
    return domain.parent in (problem.parent, problem.parent.parent)


def read_pair(pair: tuple[Path, Path | None]) -> str:
    """Read a domain and its problem; what was read, in words."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        domain = domain_from_pddl(pair[0])
        if pair[1] is None:
            return "a domain"
        scene_from_pddl(domain, pair[0], pair[1])
        return "a domain and a problem"


def _bag(path: Path) -> str:
    topic_rates(path)
    return _run(path)


def _run(path: Path) -> str:
    return f"a run of {amount(len(read_run(path).plan), 'action')}"


def _plan(path: Path) -> str:
    read_plan(read_text(path))
    return "a plan"


def _masks(path: Path) -> str:
    """Read every mask of a file; an error says how many cannot be used."""
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


READERS: Mapping[str, Callable[[Path], str]] = {
    "bags": _bag, "masks": _masks, "logs": lambda path: amount(len(explain_file(path)), "log"), "plans": _plan,
    "recorded runs": _run,
}  # fmt: skip
"""Kind of a file -> its reader, which says in words what was read."""
_ENDINGS = {".plan": "plans", ".soln": "plans", **dict.fromkeys((".npz", ".h5", ".hdf5"), "recorded runs")}


def kind_of(path: Path) -> str | None:
    """What a file is by its name and content; None if it is of no kind that is tried."""
    if is_bag(path):
        return "bags"
    if path.suffix.lower() in (".json", ".jsonl"):
        with path.open("rb") as file:
            start = file.read(1_000_000)
        if b'"segmentation"' in start or (b'"counts"' in start and b'"size"' in start):
            return "masks"
        return "logs" if b'"plan"' in start or b'"event_summary"' in start else None
    return _ENDINGS.get(path.suffix.lower())


def files_in(folder: Path, kind: str) -> Iterator[Path]:
    """The files of a kind below a folder; a folder that is a bag counts as one."""
    for path in sorted(each for each in folder.iterdir() if not each.name.startswith(".")):
        if path.is_dir() and not is_bag(path):
            yield from files_in(path, kind)
        elif kind_of(path) == kind:
            yield path


def reason(text: str) -> str:
    """The kind of a refusal: what was found, without places and names of files."""
    return re.sub(r" in line \d+ of .*| at /.*|; .*", "", text.partition(", found ")[2] or text)[:70]


def foreign(
    folder: Annotated[
        Path, typer.Argument(help="A folder with PDDL, bags, masks of COCO's format, logs, plans, recorded runs.")
    ],
    each: Annotated[bool, typer.Option(help="Print every file that is not read, and why.")] = False,
) -> None:
    """Try the files of a folder; exit with 1 if one crashes or takes more than 5 s."""
    if not folder.is_dir():
        raise InvalidConfiguration(f"expected a folder, found {str(folder)!r}; give one with bags, PDDL or masks")
    rows = [
        *rows_of("PDDL", pairs_of(folder), read_pair),
        *(row for kind, read in READERS.items() for row in rows_of(kind, files_in(folder, kind), read)),
    ]
    if not rows:
        raise InvalidConfiguration(
            f"expected PDDL, bags, masks or logs in {str(folder)!r}, found none; give another folder"
        )
    if each:
        for _, outcome, text, name in rows:
            if outcome != "read":
                print(f"{outcome}: {name}: {text}")
    counts = Counter((what, outcome, text if outcome == "read" else reason(text)) for what, outcome, text, _ in rows)
    print(markdown_table(("kind", "outcome", "of", "files"), [(*key, n) for key, n in sorted(counts.items())]))
    if any(outcome in ("crashed", "slow") for _, outcome, *_ in rows):
        print("expected every file to be read or refused within 5 s, found others; see --each", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run_function(foreign)
