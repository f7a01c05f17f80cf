"""`python -m eval.checks.supply_chain`: licences of the packages that nsrecover needs."""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from conf.command import run_function
from eval.common.tables import markdown_table

ROOT = Path(__file__).parents[2]

SEPARATE = ("fast-downward", "dev")
"""Extras with programs under the GNU GPL, which run as processes of their own."""


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


def project() -> dict[str, Any]:
    """The section `project` of pyproject.toml."""
    found: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return found


def copyleft_in(packages: dict[str, Package], requirements: dict[str, list[str]]) -> dict[str, list[str]]:
    """Name of each set of requirements -> its packages under the GNU GPL, if there are any."""
    found = {part: sorted(n for n in needed(texts) & packages.keys() if packages[n].copyleft)
             for part, texts in requirements.items()}  # fmt: skip
    return {part: names for part, names in found.items() if names}


def supply_chain() -> None:
    """Print the licence of every installed package; exit with 1 if the library needs one of the GNU GPL.

    Packages of the GNU GPL may be in the extras `fast-downward` and `dev`, where they are programs of their own.
    """
    packages = installed()
    rows = [[each.name, each.version, each.licence] for each in packages.values()]
    print(markdown_table(("package", "version", "licence"), rows))
    about = project()
    extras = {name: texts for name, texts in about["optional-dependencies"].items() if name not in SEPARATE}
    if wrong := copyleft_in(packages, {"the library": about["dependencies"], **extras}):
        print(f"expected the GNU GPL in {' and '.join(SEPARATE)} only, found it in {wrong}", file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    run_function(supply_chain)
