"""requirements.lock pins a version of every package that `make` installs, and nothing of one machine."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.commands import ROOT

LINES = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if not line.startswith("#")]
PINNED = {canonicalize_name(name): version for name, _, version in (line.partition("==") for line in LINES)}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


@pytest.mark.parametrize("text", [*PROJECT["dependencies"], *EXTRAS["lab"], *EXTRAS["dev"]])
def test_every_requirement_is_pinned_to_a_version_that_it_allows(text: str) -> None:
    requirement = Requirement(text)
    assert requirement.specifier.contains(PINNED[canonicalize_name(requirement.name)]), "run `make lock`"


def test_it_names_packages_and_versions_only() -> None:
    assert all(re.fullmatch(r"[\w.-]+==[\w.!]+", line) for line in LINES)
