"""The tutorial works as printed: all its blocks in order, in a new folder."""

import re
import shlex
from pathlib import Path

import pytest

from tests.commands import ROOT, python

PAGE = (ROOT / "docs" / "your_robot.md").read_text(encoding="utf-8")
PARTS = dict(zip(("boxes", "cameras", "bag"), re.split(r"^## \d\. ", PAGE, flags=re.MULTILINE)[1:], strict=True))


def run_blocks(text: str, folder: Path) -> str:
    """Run the blocks of a part in order; return what the last command printed."""
    place, out = folder, ""
    for kind, block in re.findall(r"```(bash|python)\n(.*?)```", text, flags=re.DOTALL):
        lines = [block] if kind == "python" else block.splitlines()
        for line in lines:
            expected = 0
            if kind == "python":
                command = ["-c", line]
            else:
                words = shlex.split(line, comments=True)
                if "||" in words:  # `command || test $? -eq CODE`
                    expected, words = int(words[-1]), words[: words.index("||")]
                if words[0] == "cd":
                    place = place / words[1]
                    continue
                start = {"nsrecover": ["-m", "nsrecover.cli.app"], "python": []}[words[0]]
                command = [*start, *words[1:]]
            done = python(*command, folder=place)
            assert done.code == expected, f"{line}\n{done.out}\n{done.err}"
            out = done.out
    return out


@pytest.mark.parametrize(
    ("part", "ending"),
    [
        ("boxes", "done: top(green, red)"),
        ("cameras", "report.html"),
        ("bag", "1 of 3 steps did not go as expected"),
    ],
)
def test_every_block_of_a_part_works(part: str, ending: str, tmp_path: Path) -> None:
    assert ending in run_blocks(PARTS[part], tmp_path)
