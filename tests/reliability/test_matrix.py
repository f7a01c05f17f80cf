"""docs/reliability.md: every promise has tests that exist, and every test of this folder is a promise."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.commands import ROOT

TESTS = ROOT / "tests"
PAGE = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")
TABLES = re.findall(r"^\| (?:fault|attack|case) \|[^\n]*\n\| ---[^\n]*\n((?:\|[^\n]*\n)+)", PAGE, re.MULTILINE)
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for table in TABLES for line in table.splitlines()]


@cache
def named_in(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(each.name for each in tree.body if isinstance(each, ast.FunctionDef) and "test" in each.name)


@pytest.mark.parametrize("row", ROWS, ids=[row[0][:60] for row in ROWS])
def test_every_promise_has_tests_that_exist(row: list[str]) -> None:
    _fault, promise, tests = row
    named = re.findall(r"`([^`:]+)::(\w+)`", tests)
    assert promise
    assert named
    assert tests == ", ".join(f"`{path}::{name}`" for path, name in named)
    for path, name in named:
        assert name in named_in(TESTS / path), f"{path} has no test {name}"


def test_every_test_of_this_folder_is_a_promise() -> None:
    own = {
        f"reliability/{path.name}::{name}"
        for path in (TESTS / "reliability").glob("test_*.py")
        if path.name != Path(__file__).name
        for name in named_in(path)
        if name.startswith("test_")
    }
    assert own <= set(re.findall(r"`([^`]+::\w+)`", PAGE))
    assert len(ROWS) == len({row[0] for row in ROWS}) >= 50
