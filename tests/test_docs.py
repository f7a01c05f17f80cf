"""README and docs/ are true: programs run, commands, settings and files exist, and links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from tests.commands import ROOT, python, run

PAGES = {
    path.name: path.read_text(encoding="utf-8") for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
PROGRAMS = [
    pytest.param(program, id=f"{name}-{number}")
    for name, text in PAGES.items()
    for number, program in enumerate(re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL))
    if (name, number) != ("your_robot.md", 1) and "import onnxruntime" not in program
]
"""All but two that need what commands write: test_tutorial.py and test_export.py run them."""
COMMANDS = sorted(
    {
        line.split("#")[0].strip()
        for text in PAGES.values()
        for block in re.findall(r"```bash\n(.*?)```", text, flags=re.DOTALL)
        for line in block.splitlines()
        if line.startswith(("python -m sim.collect", "python -m sim.datasets ", "python -m train "))
    }
)


@pytest.mark.parametrize("program", PROGRAMS)
def test_every_program_runs(program: str, tmp_path: Path) -> None:
    done = python("-c", program, folder=tmp_path)
    assert done.code == 0, done.err
    assert done.out.strip()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_setting_of_a_command_is_known(command: str) -> None:
    """Hydra composes the settings without running anything, and fails at a typo."""
    _, _, module, *arguments = shlex.split(command)
    done = run(module, *arguments, "--cfg", "job")
    assert done.code == 0, done.err


@pytest.mark.parametrize("name", list(PAGES))
def test_links_and_modules_exist(name: str) -> None:
    folder = ROOT if name == "README.md" else ROOT / "docs"
    for address in re.findall(r"\]\(([^)#]+)\)", PAGES[name]):
        assert address.startswith("http") or (folder / address).exists(), address
    for module in re.findall(r"python -m ([a-z_.0-9]+[a-z0-9])", PAGES[name]):
        path = ROOT / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module


def test_the_readme_is_finished_its_picture_small_and_its_make_targets_exist() -> None:
    assert not re.search(r"TODO|TBD|FIXME|XXX|\?\?\?|<fill", PAGES["README.md"])
    assert (ROOT / "docs" / "demo.gif").stat().st_size <= 3_000_000
    blocks = re.findall(r"```(?:bash)?\n(.*?)```", PAGES["README.md"], flags=re.DOTALL)
    targets = re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), flags=re.MULTILINE)
    assert {*re.findall(r"make ([a-z]+)\b", "\n".join(blocks))} <= {*targets}


def test_every_file_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:nsrecover|sim|train|eval|conf|tests|docs|results|examples|ros2)/[\w./-]*)`", text)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []
