"""The pages in docs/ are true: their programs run, their commands and settings exist, their links lead somewhere."""

import re
import shlex
from pathlib import Path

import pytest

from tests.commands import ROOT, python, run

PAGES = {path.name: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))}
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
        for text in [*PAGES.values(), (ROOT / "README.md").read_text(encoding="utf-8")]
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
def test_links_lead_somewhere(name: str) -> None:
    for address in re.findall(r"\]\(([^)#]+)\)", PAGES[name]):
        assert address.startswith("http") or (ROOT / "docs" / address).exists(), address


@pytest.mark.parametrize("name", list(PAGES))
def test_modules_exist(name: str) -> None:
    for module in re.findall(r"python -m ([a-z_.0-9]+[a-z0-9])", PAGES[name]):
        path = ROOT / Path(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
