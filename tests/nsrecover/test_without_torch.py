"""Without torch the server with boxes and checks of files work; test_examples.py runs more without it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

BLOCKED = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"torch", "torchvision", "torch_geometric", "safetensors"}:
            raise ImportError(f"No module named {name!r}")

sys.meta_path.insert(0, Blocked())
"""

SERVER = """
import nsrecover
from fastapi.testclient import TestClient
from nsrecover.serving.server import create_app

START = {"red": (0.5, -0.1), "blue": (0.5, 0.1), "green": (0.4, 0.2)}
PUSHED = {**START, "green": (0.6, -0.2)}
with TestClient(create_app({"boxes": nsrecover.geometric()}), base_url="http://localhost") as client:
    made = client.post("/v1/sessions", json={"plan": ["top(red, blue)", "top(green, red)"]}).json()["session"]
    for places, red_z in ((START, 0.025), (PUSHED | {"red": START["blue"]}, 0.075)):
        boxes = {name: [*xy, red_z if name == "red" else 0.025, 0.05, 0.05, 0.05] for name, xy in places.items()}
        scene = {"objects": [{"name": name, "box": box} for name, box in boxes.items()]}
        answer = client.post(f"/v1/sessions/{made}/scenes", json=scene).json()
        while answer["request"]["code"] == "look":
            answer = client.post(f"/v1/sessions/{made}/scenes", json=scene).json()
    turn = answer["turns"][-1]
    assert [each["name"] for each in turn["discrepancy"]["deviations"]] == ["green"], answer
    assert turn["recovery"]["status"] in ("recovered", "already_at_subgoal"), answer
"""

SERVE = """
import os, threading, urllib.request
from nsrecover.serving.server import serve

def ready(url):
    def ask():
        health = urllib.request.urlopen(url + "/v1/health").read().decode()
        assert "boxes" in health, health
        os._exit(0)
    threading.Thread(target=ask).start()

serve(port=0, systems={}, on_ready=ready)
"""

CAMERAS = """
from nsrecover.records.check_file import check_file

assert not check_file("example", every=False)[0].findings
"""


def run(program: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", f"{BLOCKED}\nsys.path.insert(0, {str(ROOT)!r})\n{program}"],
        cwd=folder, capture_output=True, text=True, timeout=120,
    )  # fmt: skip


def test_what_needs_no_learned_parts_works(tmp_path: Path) -> None:
    """In one process, since each start takes seconds; the last part ends it."""
    done = run("\n".join((SERVER, CAMERAS, "print('all but the last')", SERVE)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "all but the last" in done.stdout


def test_what_needs_torch_names_the_extra(tmp_path: Path) -> None:
    done = run("from nsrecover.cli.app import main\nsys.argv[1:] = ['check', 'example']\nmain()", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'nsrecover[learned]'" in done.stderr
    assert "nsrecover.geometric()" in done.stderr
