"""requirements.lock pins a version of every package that `make` installs, and nothing of one machine."""

import re
import tomllib
from itertools import pairwise

import pytest
from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.commands import ROOT

LINES = [
    line
    for name in ("requirements.lock", "requirements-alone.lock")
    for line in (ROOT / name).read_text().splitlines()
    if not line.startswith("#")
]
PINS = [line for line in LINES if not line.startswith(" ")]
PINNED = {canonicalize_name(name): rest.split()[0] for name, _, rest in (line.partition("==") for line in PINS)}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("text", [*PROJECT["dependencies"], *EXTRAS["lab"], *EXTRAS["dev"]])
def test_every_requirement_is_pinned_to_a_version_that_it_allows(text: str) -> None:
    requirement = Requirement(text)
    if requirement.marker is not None and not requirement.marker.evaluate():
        return
    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)]), "run `make lock`"


def test_every_pin_has_hashes_and_names_no_place() -> None:
    pin, digest = re.compile(r"[\w.-]+==[\w.!]+( ; .+)? \\"), re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert all((digest if line.startswith(" ") else pin).fullmatch(line) for line in LINES)
    assert all(after.startswith(" ") for line, after in pairwise(LINES) if not line.startswith(" "))


@pytest.mark.parametrize("version", ["3.11", "3.12", "3.13"])
def test_each_python_gets_one_physics_engine_that_has_a_wheel_for_it(version: str) -> None:
    here = {**default_environment(), "python_version": version, "python_full_version": f"{version}.0"}
    given = [Requirement(line.rstrip(" \\")) for line in PINS if line.startswith("pybullet")]
    chosen = [each.name for each in given if each.marker is None or each.marker.evaluate(here)]
    assert chosen == ["pybullet" if version == "3.11" else "pybullet-arm64"]
