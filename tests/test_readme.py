"""The README is true: its programs run, its commands exist, its links lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.commands import ROOT, python

TEXT = (ROOT / "README.md").read_text(encoding="utf-8")
PROGRAMS = re.findall(r"```python\n(.*?)```", TEXT, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_every_program_runs_and_the_first_explains_the_collapse(number: int, tmp_path: Path) -> None:
    done = python("-c", PROGRAMS[number], folder=tmp_path)
    assert done.code == 0, done.err
    assert done.out.strip()
    if number == 0:
        assert "went wrong:" in done.out
        assert "The recovery takes" in done.out


def test_links_and_pictures_are_there() -> None:
    for address in re.findall(r"\]\(([^)#]+)\)", TEXT):
        assert address.startswith("http") or (ROOT / address).exists(), address


def test_the_picture_is_small_enough() -> None:
    assert (ROOT / "docs" / "demo.gif").stat().st_size <= 3_000_000


def test_nothing_is_left_to_be_filled_in() -> None:
    assert not re.search(r"TODO|TBD|FIXME|XXX|\?\?\?|<fill", TEXT)


def test_the_modules_of_its_commands_exist() -> None:
    for module in re.findall(r"python -m ([a-z_.]+)", TEXT):
        path = ROOT / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for target in re.findall(
        r"make ([a-z]+)\b", "\n".join(re.findall(r"```(?:bash)?\n(.*?)```", TEXT, flags=re.DOTALL))
    ):
        assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), target
