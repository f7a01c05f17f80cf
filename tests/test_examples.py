"""Every example runs where only the wheel and the extra that it names are installed."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
NEEDS = re.compile(r"pip install '?nsrecover(?:\[([\w,-]+)\])?'?$", flags=re.MULTILINE)
"""How an example says in its docstring what it needs."""
OTHERS = re.compile(r"^ +pip install (?!nsrecover)([\w-]+)$", flags=re.MULTILINE)
"""How it names a package that no extra has."""


def extras_of(example: Path) -> frozenset[str]:
    named = NEEDS.search(example.read_text(encoding="utf-8"))
    assert named is not None, f"{example.name} does not say what it needs: pip install 'nsrecover[EXTRA]'"
    return frozenset((named[1] or "").split(",")) - {""}


class FreshEnvironments:
    """Virtual environments of their own, one for each set of extras.

    What pip would fetch is linked from this environment instead: the distributions that the wheel's metadata asks for,
    those that these ask for, and nothing else. The wheel itself is installed by pip.
    """

    def __init__(self, wheel: Path, folder: Path) -> None:
        self._wheel, self._folder = wheel, folder
        self._made: dict[frozenset[str], Path] = {}

    def python(self, extras: frozenset[str], others: frozenset[str] = frozenset()) -> Path:
        """Interpreter of the environment with some extras and other packages."""
        if (key := extras | others) not in self._made:
            self._made[key] = self._make(self._folder / ("-".join(sorted(key)) or "plain"), extras, others)
        return self._made[key]

    def _make(self, place: Path, extras: frozenset[str], others: frozenset[str]) -> Path:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(place)], check=True, timeout=300)
        (site,) = place.glob("lib/python*/site-packages")
        python = place / "bin" / "python"
        # pip wants a checkout's extras to be there, so the wheel comes first and alone
        pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps", "--no-index", "-q"]
        subprocess.run([*pip, str(self._wheel)], env=without_python_settings(), check=True, timeout=300)
        (metadata,) = site.glob("nsrecover-*.dist-info")
        for found in needed(Distribution.at(metadata), extras):
            link(found, site)
        for other in map(distribution, others):
            for found in (other, *needed(other, ())):
                link(found, site)
        return python


def needed(top: Distribution, extras: Iterable[str]) -> Iterator[Distribution]:
    """Everything that has to be installed for a distribution with some extras, except itself."""
    waiting, known = [(top, frozenset(extras))], set[tuple[str, frozenset[str]]]()
    while waiting:
        each, wanted = waiting.pop()
        for line in each.requires or ():
            requirement = Requirement(line)
            markers = [{"extra": extra} for extra in (*wanted, "")]
            if requirement.marker is not None and not any(requirement.marker.evaluate(m) for m in markers):
                continue
            key = canonicalize_name(requirement.name), frozenset(requirement.extras)
            if key in known:
                continue
            known.add(key)
            try:
                found = distribution(requirement.name)
            except PackageNotFoundError:
                continue  # for another machine than this one: the platform's own build does without
            yield found
            waiting.append((found, key[1]))


def link(found: Distribution, site: Path) -> None:
    """Make a distribution importable in another environment."""
    for top in {path.parts[0] for path in found.files or () if path.parts[0] not in ("..", "__pycache__")}:
        there, here = site / top, Path(str(found.locate_file(top)))
        if not there.exists() and here.exists():
            there.symlink_to(here)


@pytest.fixture(scope="module")
def environments(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> FreshEnvironments:
    return FreshEnvironments(wheel, tmp_path_factory.mktemp("environments"))


def without_python_settings() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_", "COVERAGE_"))}


def run(python: Path, arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run outside the checkout, with only the installed packages on the path."""
    environment = without_python_settings()
    return subprocess.run(
        [str(python), *arguments], cwd=folder, env=environment, capture_output=True, text=True, timeout=400
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs_from_the_wheel_with_its_extra(example: Path, environments: FreshEnvironments, tmp_path: Path) -> None:
    others = frozenset(OTHERS.findall(example.read_text(encoding="utf-8")))
    for name in others:
        try:
            distribution(name)
        except PackageNotFoundError:
            pytest.skip(f"{name} is not installed, and no extra has it")
    done = run(environments.python(extras_of(example), others), [str(example)], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


def test_the_environments_are_fresh(environments: FreshEnvironments, tmp_path: Path) -> None:
    """Neither the checkout nor what was not asked for can be imported."""
    plain = environments.python(frozenset())
    for module in ("fastapi", "pybullet", "gymnasium", "unified_planning", "eval", "pytest"):
        assert run(plain, ["-c", f"import {module}"], tmp_path).returncode == 1, module
    where = run(plain, ["-c", "import nsrecover; print(nsrecover.__file__)"], tmp_path).stdout
    assert str(plain.parents[1]) in where
