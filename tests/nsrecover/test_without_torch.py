"""Boxes, symbolic plans, logs, explanation and the server work where torch is not installed."""

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

RECOVERY = """
import nsrecover
from nsrecover.records import episode_log
from nsrecover.records.explain_file import explain_file
from nsrecover.explanation import Audience
from pathlib import Path

class Table:
    def __init__(self):
        rows = {"red": 0.15, "green": 0.0, "blue": -0.15}
        self.boxes = {name: (0.45, y, 0.025, 0.05, 0.05, 0.05) for name, y in rows.items()}
        self.actions = 0

    def observe(self):
        return dict(self.boxes)

    def execute(self, action):
        scene = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), action)
        self.boxes = {n: tuple(map(float, b)) for n, b in zip(scene.names, scene.boxes)}
        self.actions += 1
        if self.actions == 2:
            self.boxes["blue"] = (0.6, 0.2, 0.025, 0.05, 0.05, 0.05)

episode = nsrecover.RecoveryAgent(nsrecover.geometric(), Table()).run(
    nsrecover.Plan.parse("top(green, red); top(blue, green)")
)
assert episode.status.value == "completed", episode
assert [record.discrepancy.deviates for record in episode.records].count(True) == 1
episode_log.save(episode, "log.json")
print(explain_file(Path("log.json"), Audience.LAY, ["what went wrong?"], None)[0]["text"])
"""

SYMBOLIC = """
from unified_planning.plans import ActionInstance, SequentialPlan
from unified_planning.shortcuts import *
from nsrecover.bridges.unified_planning import repair

at = Fluent("at", BoolType(), r=UserType("room"))
go = InstantaneousAction("go", a=UserType("room"), b=UserType("room"))
go.add_precondition(at(go.a))
go.add_effect(at(go.a), False)
go.add_effect(at(go.b), True)
problem = Problem("rooms")
problem.add_fluent(at, default_initial_value=False)
problem.add_action(go)
a, b, c = (problem.add_object(name, UserType("room")) for name in "abc")
problem.set_initial_value(at(a), True)
problem.add_goal(at(c))
plan = SequentialPlan([ActionInstance(go, (ObjectExp(a), ObjectExp(c)))])
found = repair(problem, plan, {at(a): False, at(b): True})
assert found.proven_optimal and found.cost == 1, found
print("repaired")
"""

LOGS = """
from nsrecover.logs import explain_log, log_of, report_of

log = log_of({
    "task": "water the plant",
    "plan": ["(pick_up, jug)", "(put_in, jug, sink)", "(toggle_on, faucet)"],
    "success_state": "the jug is filled with water.",
    "event_summary": [
        "00:04. Action: Pick up jug. Visual observation: jug (empty and clean). jug is inside robot gripper.",
        "00:09. Action: Move to sink. Visual observation: faucet (turned off), sink. nothing is inside robot gripper. "
        "Auditory observation: object drops or cracks on hard surface.",
        "00:12. Action: Put jug in sink. Visual observation: faucet (turned off), sink. "
        "nothing is inside robot gripper.",
    ],
    "subgoal_summary": [],
    "final_state": "jug (empty and clean), sink, faucet (turned off). nothing is inside robot gripper.",
})
report = report_of(log, explain_log(log))
assert report["root_cause"] == "dropped", report
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
    done = run("\n".join((RECOVERY, SYMBOLIC, LOGS, SERVER, CAMERAS, "print('all but the last')", SERVE)), tmp_path)
    assert done.returncode == 0, done.stderr
    assert "blue" in done.stdout
    assert "all but the last" in done.stdout


def test_what_needs_torch_names_the_extra(tmp_path: Path) -> None:
    done = run("from nsrecover.cli.app import main\nsys.argv[1:] = ['check', 'example']\nmain()", tmp_path)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert "pip install 'nsrecover[learned]'" in done.stderr
    assert "nsrecover.geometric()" in done.stderr
