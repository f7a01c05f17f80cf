"""`nsrecover explain`, in a process of its own."""

import json
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from nsrecover.core.actions import Action
from tests.commands import run
from tests.nsrecover.logs.household_logs import told_logs

explain = partial(run, "nsrecover.cli.app", "explain")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    document: dict[str, Any] = told_logs("jug")[0].document
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document))
    return path


def test_json_has_what_programs_need_and_torch_stays_out(path: Path) -> None:
    # What was imported is told on stderr, so that a slow start does not go unnoticed.
    program = (
        "import sys; from nsrecover.cli.app import main\n"
        "try: main()\n"
        "finally: print([m for m in ('torch', 'scipy') if m in sys.modules], file=sys.stderr)"
    )
    command = [sys.executable, "-c", program, "explain", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "[]"
    found = json.loads(done.stdout)
    assert {"kind", "steps", "root_cause", "objects", "text", "correction", "text_agrees"} <= set(found)
    assert (found["kind"], found["root_cause"], found["objects"], found["text_agrees"]) == (
        "execution", "dropped", ["jug"], True,
    )  # fmt: skip
    assert all(Action.parse(step) for step in found["correction"])


def test_registers_differ_and_both_name_the_thing(path: Path) -> None:
    lay, engineer = (explain(str(path), "--audience", who).out for who in ("lay", "engineer"))
    assert "dropped the jug" in lay
    assert "pick_up(jug)" not in lay
    assert "pick_up(jug)" in engineer
