"""Every file that CONTRIBUTING names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_every_file_that_contributing_names_exists() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    named = re.findall(r"`((?:nsrecover|sim|train|eval|conf|tests|docs|results|examples|ros2)/[\w./-]*)`", text)
    assert len(named) > 10
    assert [name for name in named if not (ROOT / name).exists()] == []
