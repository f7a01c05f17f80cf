"""Installed packages: their licences, and what needs them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

OURS = "nsrecover"

_COPYLEFT = re.compile(r"\bA?GPL|GNU (Affero )?General Public", re.IGNORECASE)
_EXCEPTION = re.compile(r"GCC-exception|Classpath-exception|linking exception", re.IGNORECASE)


@dataclass(frozen=True)
class Package:
    """An installed package.

    Attributes:
        name: in its canonical form.
        version: of what is installed.
        licence: as its metadata says: an SPDX expression, classifiers, or the first line of a text; `unknown` if none.
    """

    name: str
    version: str
    licence: str

    @property
    def copyleft(self) -> bool:
        """Whether the GNU GPL or AGPL is its only licence: programs that link it would have to have it, too."""
        choices = re.split(r"\bOR\b|;", self.licence)
        return all(_COPYLEFT.search(each) and not _EXCEPTION.search(each) for each in choices)


def package_of(distribution: metadata.Distribution) -> Package:
    """What the metadata of a package say."""
    fields: Any = distribution.metadata
    classifiers = [
        each.rpartition(" :: ")[2] for each in fields.get_all("Classifier", []) if each.startswith("License :: ")
    ]
    named = [each for each in classifiers if each != "OSI Approved"]
    text = str(fields.get("License") or "").strip().splitlines()[:1]
    licence = fields.get("License-Expression") or "; ".join(named) or "".join(text) or "unknown"
    return Package(canonicalize_name(fields["Name"]), distribution.version, str(licence))


def installed() -> dict[str, Package]:
    """All installed packages by name, but our own."""
    found = {package.name: package for package in map(package_of, metadata.distributions())}
    found.pop(OURS, None)
    return dict(sorted(found.items()))


def needed(requirements: Iterable[str]) -> frozenset[str]:
    """Names of the installed packages that requirements lead to, by all ways.

    Args:
        requirements: as in pyproject.toml; what is not installed is left out.
    """
    found, open_ = set[tuple[str, str]](), [(Requirement(text), "") for text in requirements]
    while open_:
        requirement, extra = open_.pop()
        name = canonicalize_name(requirement.name)
        if requirement.marker is not None and not requirement.marker.evaluate({"extra": extra}):
            continue
        try:
            inner = metadata.distribution(name).requires or []
        except metadata.PackageNotFoundError:
            continue
        for wanted in ("", *requirement.extras):
            if (name, wanted) not in found:
                found.add((name, wanted))
                open_ += [(Requirement(text), wanted) for text in inner]
    return frozenset(name for name, _ in found)
