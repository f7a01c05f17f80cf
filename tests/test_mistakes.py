"""Mistakes at the entrances: each is one error of the library in one line, and nothing moves.

Every line says what was expected and what was found; the tables have a word of it that shows the way to the fix.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

import nsrecover
from nsrecover import (
    Action,
    BoxesPerceiver,
    Camera,
    FactScene,
    Observation,
    Plan,
    RecoveryAgent,
    geometric,
    load,
    scene_of_boxes,
    symbolic,
)
from nsrecover.core.sessions.requests import Act, Look
from nsrecover.domains.household import household
from nsrecover.domains.instance import Instance
from nsrecover.errors import NsrecoverError
from nsrecover.integrations.server import Limits, create_app
from nsrecover.session import Session, SessionSettings
from tests.commands import run
from tests.scenarios import LAB, LABORATORY, Boxes, Facts, ScriptedWorld

NOT_YET: set[str] = set()
"""Rows that are not refused as they should be."""

NAN, INF = float("nan"), float("inf")
CUBE = (0.5, 0.0, 0.025, 0.05, 0.05, 0.05)
SCENE = dict(Boxes().boxes)
IMAGE = np.zeros((1, 4, 4), np.float32)
CAMERA = Camera(np.eye(3), np.eye(4))


def without(name: str, **others: Any) -> dict[Any, Any]:
    """The scene of boxes without one, and with others."""
    return {**{key: box for key, box in SCENE.items() if key != name}, **others}


def camera_images(**fields: Any) -> Observation:
    """Images of one view."""
    rgb, masks = np.zeros((1, 4, 4, 3), np.uint8), np.zeros((1, 4, 4), np.int32)
    given = {"rgb": rgb, "depth_m": IMAGE + 1, "instances": masks, "cameras": (CAMERA,), "labels": {1: "red"}}
    return Observation(**{**given, **fields})


# Rows are: name -> (what is given, a word of the message).
Rows = Mapping[str, tuple[Any, str]]

PLANS: Rows = {
    "text": ("top(green, red)", "Plan.parse"),
    "list of texts": (["top(green, red)"], "Plan.parse"),
    "list of actions": ([Action("top", ("green", "red"))], "Plan"),
    "one action": (Action("top", ("green", "red")), "plan"),
    "nothing": (None, "plan"),
    "swapped arguments": (SCENE, "plan first"),
    "the class": (Plan, "plan"),
    "actions as texts": (lambda: Plan(("top(green, red)",)), "Action"),
    "unknown operator": (lambda: Plan.parse("tpo(green, red)"), "Did you mean 'top'"),
    "operator in capitals": (lambda: Plan.parse("TOP(green, red)"), "Did you mean 'top'"),
    "unknown object": (lambda: Plan.parse("top(geen, red)"), "Did you mean 'green'"),
    "object in capitals": (lambda: Plan.parse("top(Green, red)"), "Did you mean 'green'"),
    "too few objects": (lambda: Plan.parse("top(green)"), "2"),
    "too many objects": (lambda: Plan.parse("top(green, red, blue)"), "2"),
    "an object onto itself": (lambda: Plan.parse("top(green, green)"), "different"),
    "a circle of cubes": (lambda: Plan.parse("top(green, red); top(red, green)"), "circle"),
    "without brackets": (lambda: Plan.parse("top green red"), "action like"),
    "bracket that is left open": (lambda: Plan.parse("top(green, red"), "action like"),
    "no action": (lambda: Plan.parse(" ; "), "action"),
    "argument without a name": (lambda: Plan.parse("top(green, )"), "2"),
    "a number to parse": (lambda: Plan.parse(7), "text"),
    "nothing to parse": (lambda: Plan.parse(None), "text"),
    "arguments as text": (lambda: Plan((Action("top", "green"),)), "arguments"),
    "numbers as arguments": (lambda: Plan((Action("top", (1, 2)),)), "names"),
    "operator that is no text": (lambda: Plan((Action(7, ("green", "red")),)), "operator"),
    "target of three numbers": (lambda: Plan((Action("restore", ("green",), (0.5, 0.0, 0.1)),)), "six"),
    "target that is no number": (lambda: Plan((Action("restore", ("green",), (NAN, *CUBE[1:])),)), "finite"),
    "target in millimetres": (lambda: Plan((Action("restore", ("green",), (500, 0, 25, 50, 50, 50)),)), "metres"),
}
"""Plans for boxes."""

SCENES: Rows = {
    "nothing": (None, "expected"),
    "text": ("red", "boxes"),
    "a list": ([CUBE], "name"),
    "no object": ({}, "object"),
    "millimetres": ({name: tuple(1000 * x for x in box) for name, box in SCENE.items()}, "metres"),
    "one box in millimetres": (without("grey", grey=(450, -100, 25, 50, 50, 50)), "metres"),
    "no number": (without("grey", grey=(NAN, *CUBE[1:])), "grey"),
    "infinite": (without("grey", grey=(INF, *CUBE[1:])), "grey"),
    "five numbers": (without("grey", grey=CUBE[:5]), "centre"),
    "a text for a number": (without("grey", grey=("left", *CUBE[1:])), "grey"),
    "a name for a box": (without("grey", grey="gray"), "grey"),
    "a box with named sides": (without("grey", grey={"x": 0.4, "y": 0.1}), "grey"),
    "negative size": (without("grey", grey=(*CUBE[:5], -0.05)), "size"),
    "no size": (without("grey", grey=(*CUBE[:3], 0, 0, 0)), "size"),
    "brackets in a name": (without("grey", **{"grey (2)": CUBE}), "name"),
    "comma in a name": (without("grey", **{"grey, small": CUBE}), "name"),
    "line break in a name": (without("grey", **{"grey\nsmall": CUBE}), "name"),
    "empty name": (without("grey", **{"": CUBE}), "name"),
    "number for a name": ({**without("grey"), 7: CUBE}, "name"),
    "an object called table": (without("grey", table=CUBE), "table"),
    "without an object of the plan": (without("green"), "green"),
    "facts": (FactScene(frozenset({("at", "red", "table")})), "boxes"),
    "camera images": (camera_images(), "boxes"),
    "the class": (nsrecover.SceneGraph, "boxes"),
}
"""First observations for boxes."""

LATER: Rows = {name: row for name, row in SCENES.items() if name not in {"no object", "without an object of the plan"}}
"""Observations after the first."""

FACT_PLANS: Rows = {
    "text": ("put(tube, rack)", "Plan.parse"),
    "list of texts": (["put(tube, rack)"], "Plan.parse"),
    "swapped arguments": (FactScene(Facts().state), "plan first"),
    "unknown operator": (lambda: Plan.parse("spinn(tube)"), "Did you mean 'spin'"),
    "unknown object": (lambda: Plan.parse("put(tube, centrifuuge)"), "Did you mean 'centrifuge'"),
    "too few objects": (lambda: Plan.parse("put(tube)"), "2"),
    "objects in the wrong order": (lambda: Plan.parse("put(rack, tube)"), "tube"),
    "an operator of boxes": (lambda: Plan.parse("top(tube, rack)"), "put"),
}
"""Plans for facts."""

FACT_SCENES: Rows = {
    "nothing": (None, "expected"),
    "text": ("at(tube, rack)", "facts"),
    "texts": ({"at(tube, rack)"}, "('"),
    "a number": (7, "facts"),
    "unknown predicate": ({("att", "tube", "rack")}, "Did you mean 'at'"),
    "unknown object": ({("at", "tub", "rack")}, "Did you mean 'tube'"),
    "too many terms": ({("at", "tube", "rack", "bench")}, "2"),
    "value of a state that has two": ({("spun", "tube", "yes")}, "raw"),
    "probability above 1": ({("at", "tube", "rack"): 2.0}, "0 to 1"),
    "probability that is no number": ({("at", "tube", "rack"): NAN}, "0 to 1"),
    "certainty of what does not exist": (FactScene(frozenset(), {("spunn", "tube"): 0.5}), "Did you mean 'spun'"),
    "certainty the other way round": (FactScene(frozenset(), {("tube", "spun"): 0.5}), "spun"),
    "certainty that is no number": (FactScene(frozenset(), {("spun", "tube"): NAN}), "0 to 1"),
    "boxes": (SCENE, "facts"),
    "a scene of boxes": (scene_of_boxes(SCENE), "facts"),
}
"""First observations for facts."""


SYSTEM, LAB_SYSTEM, GOAL = geometric(), symbolic(LAB, [("spun", "tube")]), [("spun", "tube")]
BOX_PLAN = Boxes.plan()


def session(*first: Any, **settings: Any) -> Session[Any]:
    """A session for boxes."""
    return SYSTEM.session(BOX_PLAN, *first, SessionSettings(**settings) if settings else None)


def timed(time_s: Any) -> None:
    """Report the same observation again and again."""
    begun = session()
    while isinstance(begun.request, Look):
        begun.observed(SCENE, time_s)


def stopped() -> Session[Any]:
    """A session that has ended."""
    ended = session(SCENE)
    ended.stop()
    return ended


def monitor() -> nsrecover.Monitor[Any]:
    """A monitor for boxes."""
    return SYSTEM.monitor(BOX_PLAN, SCENE)


class Deaf:
    """A world that cannot carry out anything."""

    def observe(self) -> object:
        """The scene."""
        return SCENE


class Blind:
    """A world that sees nothing."""

    def execute(self, action: Action) -> None:
        """Do nothing."""


def reentrant() -> None:
    """An agent that is run while it runs."""

    class Impatient(Boxes):
        def execute(self, action: Action) -> None:
            agent.run(BOX_PLAN)

        def observe(self) -> object:
            return SCENE if not self.log else agent.run(BOX_PLAN)

    world = Impatient()
    agent = RecoveryAgent(SYSTEM, world)
    world.log.append("begun")
    agent.run(BOX_PLAN)


CALLS: Rows = {
    # systems
    "tolerance of 20 m": (lambda: geometric(tolerance_m=20), "metres"),
    "no tolerance": (lambda: geometric(tolerance_m=0), "tolerance_m"),
    "negative tolerance": (lambda: geometric(tolerance_m=-0.02), "tolerance_m"),
    "tolerance that is no number": (lambda: geometric(tolerance_m=NAN), "tolerance_m"),
    "tolerance as text": (lambda: geometric(tolerance_m="2 cm"), "tolerance_m"),  # type: ignore[arg-type]
    "workspace the other way round": (lambda: geometric(workspace=(0.7, 0.3, 0.3, -0.3)), "x_min"),
    "workspace of three numbers": (lambda: geometric(workspace=(0.3, -0.3, 0.7)), "x_min"),  # type: ignore[arg-type]
    "workspace in millimetres": (lambda: geometric(workspace=(300, -350, 750, 350)), "metres"),
    "workspace with no number": (lambda: geometric(workspace=(NAN, -0.3, 0.7, 0.3)), "workspace"),
    "reach the other way round": (lambda: geometric(reach_m=(0.8, 0.3)), "reach_m"),
    "negative reach": (lambda: geometric(reach_m=(-1.0, 0.8)), "reach_m"),
    "reach of one number": (lambda: geometric(reach_m=0.8), "reach_m"),  # type: ignore[arg-type]
    "facts' domain for boxes": (lambda: geometric(domain=LABORATORY), "symbolic"),  # type: ignore[arg-type]
    "name of a domain": (lambda: geometric(domain="tabletop"), "domain"),  # type: ignore[arg-type]
    "domain for an instance": (lambda: symbolic(LABORATORY), "Instance"),  # type: ignore[arg-type]
    "objects for an instance": (lambda: symbolic(["tube", "rack"]), "Instance"),  # type: ignore[arg-type]
    "plan for a goal": (lambda: symbolic(LAB, Facts.plan()), "goal"),  # type: ignore[arg-type]
    "goal as text": (lambda: symbolic(LAB, "spun(tube)"), "("),  # type: ignore[arg-type]
    "one condition without a list": (lambda: symbolic(LAB, ("spun", "tube")), "("),  # type: ignore[arg-type]
    "goal with an unknown predicate": (lambda: symbolic(LAB, [("spn", "tube")]), "Did you mean 'spun'"),
    "goal with an unknown object": (lambda: symbolic(LAB, [("spun", "tub")]), "Did you mean 'tube'"),
    "goal with too few objects": (lambda: symbolic(LAB, [("at", "tube")]), "2"),
    "goal about an operator": (lambda: symbolic(LAB, [("spin", "tube")]), "Did you mean 'spun'"),
    "seconds of an unknown operator": (lambda: symbolic(LAB, GOAL, {"spinn": 3.0}), "Did you mean 'spin'"),
    "negative seconds": (lambda: symbolic(LAB, GOAL, {"spin": -3.0}), "spin"),
    "seconds that are no number": (lambda: symbolic(LAB, GOAL, {"spin": NAN}), "spin"),
    "seconds as text": (lambda: symbolic(LAB, GOAL, {"spin": "3 s"}), "spin"),  # type: ignore[dict-item]
    "objects without traits": (lambda: Instance(LABORATORY, ["tube", "rack"]), "traits"),  # type: ignore[arg-type]
    "traits as text": (lambda: Instance(LABORATORY, {"tube": "tube"}), "scene_of"),  # type: ignore[dict-item]
    "names of a household as text": (lambda: household("fridge"), "list"),
    "numbers in a household": (lambda: household([1, 2]), "names"),  # type: ignore[list-item]
    "misspelt checkpoint": (lambda: load("tabeltop"), "Did you mean 'tabletop'"),
    "folder without a checkpoint": (lambda: load(Path(__file__).parent), "checkpoint"),
    "number for a checkpoint": (lambda: load(7), "checkpoint"),  # type: ignore[call-overload]
    "false alarms above 1": (lambda: load(alpha=1.5), "alpha"),
    "negative false alarms": (lambda: load(alpha=-0.01), "alpha"),
    "two thresholds": (lambda: load(alpha=0.01, tolerance_m=0.02), "either"),
    "learned tolerance of 20 m": (lambda: load(tolerance_m=20), "metres"),
    "unknown sensor": (lambda: load(alpha=0.05, sensor="d434"), "Did you mean 'd435'"),
    "sensor without a rate": (lambda: load(sensor="d435"), "alpha"),
    "table of three numbers": (lambda: SYSTEM.on_table((0.3, -0.3, 0.7)), "x_min"),  # type: ignore[arg-type]
    "negative room": (lambda: SYSTEM.on_table((0.3, -0.3, 0.7, 0.3), room_m=-1), "room_m"),
    "calibration on nothing": (lambda: SYSTEM.calibrated([], alpha=0.05), "19"),
    "calibration for too many alarms": (lambda: SYSTEM.calibrated([(BOX_PLAN, [SCENE] * 4)], alpha=0.9), "alpha"),
    "calibration with scenes missing": (lambda: SYSTEM.calibrated([(BOX_PLAN, [SCENE])] * 99, alpha=0.2), "4"),
    # observations
    "labels by name": (lambda: camera_images(labels={"red": 1}), "number"),
    "depth in millimetres": (lambda: camera_images(depth_m=IMAGE.astype(np.uint16) + 900), "1000"),
    "negative depth": (lambda: camera_images(depth_m=IMAGE - 1), "depth_m"),
    "no depth": (lambda: camera_images(depth_m=None), "depth_m"),
    "depth that is no number": (lambda: camera_images(depth_m=IMAGE + NAN), "0 where"),
    "depth of another size": (lambda: camera_images(depth_m=IMAGE[:, :2]), "size"),
    "colours as decimals": (lambda: camera_images(rgb=np.zeros((1, 4, 4, 3))), "uint8"),
    "colours of one view alone": (lambda: camera_images(rgb=np.zeros((4, 4, 3), np.uint8)), "views"),
    "masks as decimals": (lambda: camera_images(instances=IMAGE), "integer"),
    "no camera": (lambda: camera_images(cameras=()), "camera"),
    "one camera alone": (lambda: camera_images(cameras=CAMERA), "tuple"),
    "time that is no number": (lambda: camera_images(time_s=NAN), "time_s"),
    "time as text": (lambda: camera_images(time_s="now"), "time_s"),
    "sound without a rate": (lambda: camera_images(audio=np.zeros(9, np.float32)), "rate"),
    "same name twice": (lambda: camera_images(labels={1: "red", 2: "red"}), "name"),
    "pose of three rows": (lambda: Camera(np.eye(3), np.eye(3)), "(4, 4)"),
    "no scene": (lambda: scene_of_boxes({}), "object"),
    # monitors
    "another action than the due one": (lambda: monitor().step(BOX_PLAN[1], SCENE), "set_plan"),
    "text for an action": (lambda: monitor().step("top(green, red)", SCENE), "Action"),  # type: ignore[arg-type]
    "observation for an action": (lambda: monitor().step(SCENE, BOX_PLAN[0]), "Action"),  # type: ignore[arg-type]
    "more actions done than there are": (lambda: monitor().set_plan(BOX_PLAN, 4), "3"),
    "negative number of actions done": (lambda: monitor().set_plan(BOX_PLAN, -1), "0"),
    "looking again before a step": (lambda: monitor().look_again(SCENE), "step"),
    "no perceiver": (lambda: SYSTEM.monitor(BOX_PLAN, SCENE, 7), "perceiver"),
    "perceiver that returns nothing": (lambda: SYSTEM.monitor(BOX_PLAN, SCENE, lambda *_: None), "SceneGraph"),
    # sessions
    "negative planning time": (lambda: session(SCENE, budget_s=-1.0), "budget_s"),
    "planning time that is no number": (lambda: session(SCENE, budget_s=NAN), "budget_s"),
    "negative number of recoveries": (lambda: session(SCENE, max_recoveries=-1), "max_recoveries"),
    "settings as a dict": (lambda: SYSTEM.session(BOX_PLAN, SCENE, {"budget_s": 1.0}), "SessionSettings"),
    "observation after the end": (lambda: stopped().observed(SCENE), "request"),
    "answer without a question": (lambda: session(SCENE).answered(True), "request"),
    "failure without an action": (lambda: session().failed("fell"), "request"),
    "waiting without an action": (lambda: session().waited(), "request"),
    "wrong answer": (lambda: asked().answered("maybe"), "yes"),  # type: ignore[arg-type]
    "answer that is no answer": (lambda: asked().answered(None), "yes"),  # type: ignore[arg-type]
    "seconds as a text": (lambda: timed("now"), "seconds"),
    "episode before an observation": (lambda: session().episode, "observ"),
    # agents
    "world that cannot execute": (lambda: RecoveryAgent(SYSTEM, Deaf()), "execute"),  # type: ignore[arg-type]
    "world that cannot observe": (lambda: RecoveryAgent(SYSTEM, Blind()), "observe"),  # type: ignore[arg-type]
    "class of a world": (lambda: RecoveryAgent(SYSTEM, Boxes), "instance"),  # type: ignore[arg-type]
    "world and system swapped": (lambda: RecoveryAgent(Boxes(), SYSTEM), "system"),  # type: ignore[arg-type]
    "no world": (lambda: RecoveryAgent(SYSTEM, None), "observe"),  # type: ignore[arg-type]
    "agent with negative planning time": (lambda: RecoveryAgent(SYSTEM, Boxes(), budget_s=-1), "budget_s"),
    "negative limit of an action": (lambda: RecoveryAgent(SYSTEM, Boxes(), action_limit_s=-1), "action_limit_s"),
    "resuming nothing": (lambda: RecoveryAgent(SYSTEM, Boxes()).resume(None), "session"),  # type: ignore[arg-type]
    "agent that runs already": (reentrant, "running"),
}
"""Anything else in Python."""


def asked() -> Session[Any]:
    """A session that has asked about a way back."""
    it = session(SCENE, approve=True)
    it.observed(SCENE)
    it.observed(SCENE)
    return it


def refusal(call: Callable[[], object]) -> str:
    """The message of the error that a call raises."""
    with pytest.raises(NsrecoverError) as error:
        call()
    return str(error.value)


def check(message: str, word: str) -> None:
    """A line that says what was expected, what was found, and a certain word."""
    assert "\n" not in message
    assert len(message) < 600
    assert "expected" in message
    assert "found" in message
    assert word in message


def by_monitor(system: Any, plan: Any, scene: Any, world: ScriptedWorld) -> None:
    """Watch."""
    system.monitor(plan, scene)


def by_session(system: Any, plan: Any, scene: Any, world: ScriptedWorld) -> None:
    """Begin a session; nothing may be executed."""
    it = system.session(plan)
    while isinstance(it.request, Look):
        it.observed(scene)
    assert not isinstance(it.request, Act)


def by_agent(system: Any, plan: Any, scene: Any, world: ScriptedWorld) -> None:
    """Let the agent work."""
    world.observe = lambda: scene  # type: ignore[method-assign]
    RecoveryAgent(system, world).run(plan)


def cases(prefix: str, rows: Rows) -> list[Any]:
    """Rows as parameters; those that are not refused yet are expected to fail."""
    marks = {name: [pytest.mark.xfail(strict=True)] * (f"{prefix}: {name}" in NOT_YET) for name in rows}
    return [pytest.param(*row, id=f"{prefix}: {name}", marks=marks[name]) for name, row in rows.items()]


def given(value: Any) -> Any:
    """What a row gives; functions make it when they are called."""
    return value() if callable(value) and not isinstance(value, type) else value


@pytest.mark.parametrize("entrance", [by_monitor, by_session, by_agent])
class TestFirst:
    """The first call of every entrance."""

    @pytest.mark.parametrize(("plan", "word"), cases("plan", PLANS))
    def test_plan_for_boxes(self, plan: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, SYSTEM, Boxes(), word, plan, SCENE)

    @pytest.mark.parametrize(("scene", "word"), cases("scene", SCENES))
    def test_scene_of_boxes(self, scene: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, SYSTEM, Boxes(), word, BOX_PLAN, scene)

    @pytest.mark.parametrize(("plan", "word"), cases("plan of facts", FACT_PLANS))
    def test_plan_for_facts(self, plan: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, LAB_SYSTEM, Facts(), word, plan, Facts().state)

    @pytest.mark.parametrize(("scene", "word"), cases("scene of facts", FACT_SCENES))
    def test_scene_of_facts(self, scene: Any, word: str, entrance: Any) -> None:
        self.refused(entrance, LAB_SYSTEM, Facts(), word, Facts.plan(), scene)

    @staticmethod
    def refused(entrance: Any, system: Any, world: ScriptedWorld, word: str, plan: Any, scene: Any) -> None:
        check(refusal(lambda: entrance(system, given(plan), scene, world)), word)
        assert world.actions == 0


@pytest.mark.parametrize(("scene", "word"), cases("later", LATER))
def test_later_observations_are_refused_and_change_nothing(scene: Any, word: str) -> None:
    watch = monitor()
    check(refusal(lambda: watch.step(BOX_PLAN[0], scene)), word)
    assert watch.num_executed == 0


@pytest.mark.parametrize(("call", "word"), cases("call", CALLS))
def test_calls(call: Callable[[], object], word: str) -> None:
    check(refusal(call), word)


WORLD = """
import nsrecover
plan = "top(a, b)"
class World:
    plan = "top(a, b)"
    def observe(self): return {"a": (0.5, 0, .02, .04, .04, .04), "b": (0.5, .2, .02, .04, .04, .04)}
    def execute(self, action): raise AssertionError("nothing may move")
class Millimetres(World):
    def observe(self): return {"a": (500, 0, 20, 40, 40, 40), "b": (500, 200, 20, 40, 40, 40)}
class Deaf:
    plan, observe = "top(a, b)", World.observe
class NoPlan(World):
    plan = None
def broken(): raise ValueError("no camera")
def nothing(): pass
number = 7
"""

COMMANDS: Mapping[str, tuple[str, str]] = {
    "check nothing": ("check", "recording"),
    "check a missing file": ("check nowhere.npz", "nowhere.npz"),
    "check a text": ("check world.py", "world.py"),
    "check an empty recording": ("check empty.npz", "empty.npz"),
    "check boxes that are no JSON": ("check broken.json", "broken.json"),
    "check a folder": ("check .", "."),
    "check in no time": ("check example --budget-s -1", "budget-s"),
    "check in a text": ("check example --budget-s soon", "budget-s"),
    "check by an unknown checkpoint": ("check example --checkpoint nowhere", "nowhere"),
    "check with an unknown option": ("check example --jsn", "--json"),
    "check and log into a file": ("check example --log world.py/log.json", "world.py"),
    "watch nothing": ("watch", "FACTORY"),
    "watch a missing file": ("watch nowhere.py:World", "nowhere.py"),
    "watch without a colon": ("watch world.py", ":"),
    "watch what is not in the file": ("watch world.py:Wold", "Did you mean 'World'"),
    "watch a world that cannot be made": ("watch world.py:broken", "no camera"),
    "watch a number": ("watch world.py:number", "number"),
    "watch nothing that was made": ("watch world.py:nothing", "observe"),
    "watch a world that cannot execute": ("watch world.py:Deaf", "execute"),
    "watch without a plan": ("watch world.py:NoPlan", "--plan"),
    "watch an empty plan": ("watch world.py:World --plan=", "action"),
    "watch an unknown operator": ("watch world.py:World --plan=tpo(a,b)", "Did you mean 'top'"),
    "watch an unknown object": ("watch world.py:World --plan=top(a,c)", "'c'"),
    "watch half an action": ("watch world.py:World --plan=top(a,b", "top(a,b"),
    "watch millimetres": ("watch world.py:Millimetres", "metres"),
    "watch at no port": ("watch world.py:World --live --port 99999", "port"),
    "watch by an unknown checkpoint": ("watch world.py:World --checkpoint nowhere", "nowhere"),
    "watch and log into a file": ("watch world.py:World --out world.py/log.json", "world.py"),
    "serve to all without a token": ("serve --host 0.0.0.0 --boxes-only", "token"),
    "serve at no port": ("serve --port 99999", "port"),
    "serve a system without a name": ("serve --system nowhere", "NAME=DIR"),
    "serve with a missing token": ("serve --token-file nowhere", "nowhere"),
    "serve nobody": ("serve --sessions 0", "sessions"),
    "a new project nowhere": ("new", "DIR"),
    "a new project in a file": ("new world.py", "world.py"),
    "a new project over another": ("new full", "full"),
    "a misspelt command": ("chek example", "check"),
}
"""Commands in a folder with `world.py`, damaged files and a folder that is not empty."""


@pytest.mark.parametrize(("command", "word"), cases("command", COMMANDS))
def test_commands(command: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "world.py").write_text(WORLD)
    (tmp_path / "broken.json").write_text("{")
    (tmp_path / "empty.npz").touch()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "world.py").touch()
    done = run("nsrecover.cli", *command.split(), folder=tmp_path)
    assert done.code == 2
    assert word in done.err
    assert "Traceback" not in done.err
    assert len([line for line in done.err.splitlines() if line.strip()]) == 1
    assert not (tmp_path / "watched.json").exists()


BODY = {"plan": list(map(str, BOX_PLAN))}
POSTED = [{"name": name, "box": list(box)} for name, box in SCENE.items()]


def posted(which: str, **fields: Any) -> dict[str, Any]:
    """A scene in which one object has other fields."""
    return {"objects": [{**each, **(fields if each["name"] == which else {})} for each in POSTED]}


SESSIONS: Rows = {
    "no JSON": ("{", "JSON"),
    "a list": ([], "dictionary"),
    "no plan": ({}, "plan"),
    "a number": ({"plan": 7}, "plan"),
    "an empty plan": ({"plan": []}, "plan"),
    "half an action": ({"plan": ["top(green"]}, "top(green"),
    "an unknown operator": ({"plan": ["tpo(green, red)"]}, "Did you mean 'top'"),
    "too few objects": ({"plan": ["top(green)"]}, "2"),
    "an unknown field": ({**BODY, "plans": []}, "plans"),
    "an unknown system": ({**BODY, "system": "tabletpo"}, "tabletop"),
}
"""Bodies of `POST /v1/sessions`."""

POSTED_SCENES: Rows = {
    "no object": ({"objects": []}, "object"),
    "nothing": ({}, "objects"),
    "a box of five": (posted("grey", box=list(CUBE[:5])), "box"),
    "text in a box": (posted("grey", box=["left", *CUBE[1:]]), "box"),
    "millimetres": (posted("grey", box=[450, -100, 25, 50, 50, 50]), "metres"),
    "negative size": (posted("grey", box=[*CUBE[:5], -0.05]), "box"),
    "no size": (posted("grey", box=[*CUBE[:3], 0, 0, 0]), "size"),
    "no number": (json.dumps(posted("grey", box=[NAN, *CUBE[1:]])), "number"),
    "an object called table": (posted("grey", name="table"), "table"),
    "a name with a bracket": (posted("grey", name="grey (2)"), "name"),
    "a name twice": (posted("grey", name="red"), "red"),
    "an object of the plan missing": (posted("green", name="gren"), "green"),
}
"""First bodies of `POST /v1/sessions/…/scenes`."""


@pytest.fixture(scope="module")
def http() -> Any:
    """A server for boxes."""
    with TestClient(create_app({"tabletop": SYSTEM}, Limits(), None), base_url="http://127.0.0.1") as client:
        yield client


def answered(http: TestClient, path: str, body: Any, word: str) -> None:
    """A request that is refused in one line; an observation may be asked for again, nothing else."""
    content = body if isinstance(body, str) else json.dumps(body)
    answer = http.post(path, content=content, headers={"Content-Type": "application/json"})
    message = answer.json().get("message") or answer.json()["problem"]
    assert answer.status_code in {400, 422, 404} or answer.json()["request"]["code"] == "look"
    assert "\n" not in message
    assert word in message


@pytest.mark.parametrize(("body", "word"), cases("http session", SESSIONS))
def test_bodies_of_sessions(http: TestClient, body: Any, word: str) -> None:
    answered(http, "/v1/sessions", body, word)


@pytest.mark.parametrize(("body", "word"), cases("http scene", POSTED_SCENES))
def test_bodies_of_scenes(http: TestClient, body: Any, word: str) -> None:
    name = http.post("/v1/sessions", json=BODY).json()["session"]
    answered(http, f"/v1/sessions/{name}/scenes", body, word)


def test_a_perceiver_that_is_used_again_has_forgotten_the_episode_before() -> None:
    perceiver = BoxesPerceiver()
    SYSTEM.monitor(BOX_PLAN, {**SCENE, "cup": CUBE}, perceiver)
    assert SYSTEM.monitor(BOX_PLAN, SCENE, perceiver).graph.names == tuple(SCENE)


def test_the_table_is_long_enough() -> None:
    tables = (PLANS, SCENES, FACT_PLANS, FACT_SCENES, CALLS, COMMANDS, SESSIONS, POSTED_SCENES)
    assert sum(map(len, tables)) >= 120
