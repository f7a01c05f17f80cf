"""The library needs no package of the GNU GPL."""

import pytest

from eval.checks.supply_chain import SEPARATE, Package, copyleft_in, installed, needed, project
from tests.commands import run


@pytest.fixture(scope="module")
def packages() -> dict[str, Package]:
    return installed()


@pytest.mark.parametrize(
    ("licence", "copyleft"),
    [
        ("MIT", False), ("GPL-3.0-only", True), ("AGPL-3.0-or-later", True), ("LGPL-2.1-or-later", False),
        ("GNU General Public License v3 (GPLv3)", True), ("GNU Lesser General Public License v3 (LGPLv3)", False),
        ("MIT OR GPL-3.0-only", False), ("BSD License; MIT License", False), ("unknown", False),
        ("GPL-3.0-only WITH GCC-exception-3.1", False),
    ],
)  # fmt: skip
def test_a_licence_is_copyleft_if_it_leaves_no_other_choice(licence: str, copyleft: bool) -> None:
    assert Package("x", "1", licence).copyleft is copyleft


def test_the_gpl_is_in_separate_extras_only(packages: dict[str, Package]) -> None:
    about = project()
    extras = about["optional-dependencies"]
    others = {name: texts for name, texts in extras.items() if name not in SEPARATE}
    assert copyleft_in(packages, {"the library": about["dependencies"], **others}) == {}
    assert "up-fast-downward" in copyleft_in(packages, {"dev": extras["dev"]})["dev"]


def test_what_is_needed_is_found_by_all_ways() -> None:
    assert {"numpy", "typer", "rich", "markdown-it-py"} <= needed(project()["dependencies"])
    assert "torch" not in needed(project()["dependencies"])
    assert {"torch", "sympy", "starlette"} <= needed(["torch", "fastapi"])
    assert needed(["no-such-package"]) == frozenset()


def test_the_licence_of_every_package_is_printed(packages: dict[str, Package]) -> None:
    done = run("eval.checks.supply_chain")
    assert done.code == 0, done.err
    assert all(f"| {name} " in done.out for name in packages)
