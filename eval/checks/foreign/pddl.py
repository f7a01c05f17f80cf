"""PDDL of a folder: every domain, with a problem for it where there is one."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from pathlib import Path

from nsrecover.integrations.pddl import domain_from_pddl, scene_from_pddl

_COMMENT = re.compile(r";[^\n]*")
_TITLE = re.compile(r"\(\s*define\s*\(\s*(domain|problem)\s+([^\s()]+)\s*\)\s*(?:\(\s*:domain\s+([^\s()]+))?")


def pairs_of(folder: Path) -> Iterator[tuple[Path, Path | None]]:
    """Each different domain below a folder, and the smallest problem for it.

    A problem belongs to a domain that it names and that lies in its folder, beside that folder with a name that begins
    like it, or in the same folder as `p01-domain.pddl` for `p01.pddl`.
    """
    files = sorted(folder.rglob("*.pddl"))
    titles = {path: title for path in files if (title := _TITLE.search(_text(path)))}
    problems = sorted((p for p, title in titles.items() if title[1] == "problem"), key=lambda p: p.stat().st_size)
    seen = set[str]()
    for path, title in titles.items():
        if title[1] == "domain" and (words := " ".join(_text(path).split())) not in seen:
            seen.add(words)
            own = [p for p in problems if titles[p][3] == title[2] and _belongs(p, path)]
            yield path, own[0] if own else None


def tried(pair: tuple[Path, Path | None]) -> str:
    """Read a domain and its problem; what was read, in words.

    Raises:
        NsrecoverError: they are refused.
    """
    domain_file, problem = pair
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        domain = domain_from_pddl(domain_file)
        if problem is None:
            return "a domain"
        scene_from_pddl(domain, domain_file, problem)
        return "a domain and a problem"


def _belongs(problem: Path, domain: Path) -> bool:
    numbered = domain.stem.removesuffix("-domain")
    if numbered != domain.stem:
        return problem.stem.startswith(numbered) and problem.parent == domain.parent
    beside = problem.parent.parent == domain.parent and problem.parent.name.startswith(domain.stem)
    return problem.parent == domain.parent or beside or problem.parent.parent == domain.parent


def _text(path: Path) -> str:
    return _COMMENT.sub("", path.read_text(encoding="latin-1")).lower()
