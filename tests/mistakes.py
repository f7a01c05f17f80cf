"""Mistakes at the entrances, as tables: what is given, and a word of the error that shows the way to the fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nsrecover
from nsrecover import (
    Action,
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
from nsrecover.session import Session, SessionSettings
from tests.case_files import cases_of
from tests.scenarios import LAB, LABORATORY, Boxes, Facts, ScriptedWorld

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
CASES = cases_of(__file__)


def texts(part: str) -> Rows:
    """Rows of texts of plans."""
    return {name: (partial(Plan.parse, text), word) for name, (text, word) in CASES[part].items()}


PLANS: Rows = {
    **texts("plans"),
    "text": ("top(green, red)", "Plan.parse"),
    "list of texts": (["top(green, red)"], "Plan.parse"),
    "one action": (Action("top", ("green", "red")), "plan"),
    "nothing": (None, "plan"),
    "swapped arguments": (SCENE, "plan first"),
    "the class": (Plan, "plan"),
    "actions as texts": (lambda: Plan(("top(green, red)",)), "Action"),
    "a number to parse": (lambda: Plan.parse(7), "text"),
    "arguments as text": (lambda: Plan((Action("top", "green"),)), "arguments"),
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
    "inches": ({name: tuple(x / 0.0254 for x in box) for name, box in SCENE.items()}, "inches"),
    "above the table": ({n: (*box[:2], box[2] + 0.08, *box[3:]) for n, box in SCENE.items()}, "table's top at z = 0"),
    "from the floor": ({n: (*box[:2], box[2] + 0.75, *box[3:]) for n, box in SCENE.items()}, "table's top at z = 0"),
    "from above": ({n: (*box[:2], box[2] - 0.2, *box[3:]) for n, box in SCENE.items()}, "table's top at z = 0"),
    "truth values": (without("grey", grey=(True,) * 6), "grey"),
    "numbers as text": (without("grey", grey=tuple(map(str, CUBE))), "grey"),
    "one box in millimetres": (without("grey", grey=(450, -100, 25, 50, 50, 50)), "metres"),
    "no number": (without("grey", grey=(NAN, *CUBE[1:])), "grey"),
    "five numbers": (without("grey", grey=CUBE[:5]), "centre"),
    "a name for a box": (without("grey", grey="gray"), "grey"),
    "a box with named sides": (without("grey", grey={"x": 0.4, "y": 0.1}), "grey"),
    "no size": (without("grey", grey=(*CUBE[:3], 0, 0, 0)), "size"),
    "brackets in a name": (without("grey", **{"grey (2)": CUBE}), "name"),
    "comma in a name": (without("grey", **{"grey, small": CUBE}), "name"),
    "empty name": (without("grey", **{"": CUBE}), "name"),
    "number for a name": ({**without("grey"), 7: CUBE}, "name"),
    "an object called table": (without("grey", table=CUBE), "table"),
    "without an object of the plan": (without("green"), "green"),
    "facts": (FactScene(frozenset({("at", "red", "table")})), "boxes"),
    "camera images": (camera_images(), "boxes"),
    "the class": (nsrecover.SceneGraph, "boxes"),
}
"""First observations for boxes."""

FIRST = {"no object", "without an object of the plan", "inches", "above the table"}
LATER: Rows = {name: row for name, row in SCENES.items() if name not in FIRST}
"""Observations after the first."""

FACT_PLANS: Rows = {
    **texts("plans of facts"),
    "text": ("put(tube, rack)", "Plan.parse"),
    "list of texts": (["put(tube, rack)"], "Plan.parse"),
    "swapped arguments": (FactScene(Facts().state), "plan first"),
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
    "negative tolerance": (lambda: geometric(tolerance_m=-0.02), "tolerance_m"),
    "tolerance that is no number": (lambda: geometric(tolerance_m=NAN), "tolerance_m"),
    "tolerance as text": (lambda: geometric(tolerance_m="2 cm"), "tolerance_m"),  # type: ignore[arg-type]
    "workspace the other way round": (lambda: geometric(workspace=(0.7, 0.3, 0.3, -0.3)), "x_min"),
    "workspace of three numbers": (lambda: geometric(workspace=(0.3, -0.3, 0.7)), "x_min"),  # type: ignore[arg-type]
    "workspace in millimetres": (lambda: geometric(workspace=(300, -350, 750, 350)), "metres"),
    "workspace with no number": (lambda: geometric(workspace=(NAN, -0.3, 0.7, 0.3)), "workspace"),
    "reach the other way round": (lambda: geometric(reach_m=(0.8, 0.3)), "reach_m"),
    "reach of one number": (lambda: geometric(reach_m=0.8), "reach_m"),  # type: ignore[arg-type]
    "facts' domain for boxes": (lambda: geometric(domain=LABORATORY), "symbolic"),  # type: ignore[arg-type]
    "name of a domain": (lambda: geometric(domain="tabletop"), "domain"),  # type: ignore[arg-type]
    "domain for an instance": (lambda: symbolic(LABORATORY), "Instance"),  # type: ignore[arg-type]
    "objects for an instance": (lambda: symbolic(["tube", "rack"]), "Instance"),  # type: ignore[arg-type]
    "plan for a goal": (lambda: symbolic(LAB, Facts.plan()), "goal"),  # type: ignore[arg-type]
    "one condition without a list": (lambda: symbolic(LAB, ("spun", "tube")), "("),  # type: ignore[arg-type]
    "goal with an unknown predicate": (lambda: symbolic(LAB, [("spn", "tube")]), "Did you mean 'spun'"),
    "goal about an operator": (lambda: symbolic(LAB, [("spin", "tube")]), "Did you mean 'spun'"),
    "seconds of an unknown operator": (lambda: symbolic(LAB, GOAL, {"spinn": 3.0}), "Did you mean 'spin'"),
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
    "two thresholds": (lambda: load(alpha=0.01, tolerance_m=0.02), "either"),
    "learned tolerance of 20 m": (lambda: load(tolerance_m=20), "metres"),
    "unknown sensor": (lambda: load(alpha=0.05, sensor="d434"), "Did you mean 'd435'"),
    "sensor without a rate": (lambda: load(sensor="d435"), "alpha"),
    "table of three numbers": (lambda: SYSTEM.model.on_table((0.3, -0.3, 0.7)), "x_min"),  # type: ignore[arg-type]
    "negative room": (lambda: SYSTEM.model.on_table((0.3, -0.3, 0.7, 0.3), room_m=-1), "room_m"),
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
    "looking again before a step": (lambda: monitor().look_again(SCENE), "step"),
    "no perceiver": (lambda: SYSTEM.monitor(BOX_PLAN, SCENE, 7), "perceiver"),
    "perceiver that returns nothing": (lambda: SYSTEM.monitor(BOX_PLAN, SCENE, lambda *_: None), "SceneGraph"),
    # sessions
    "planning time that is no number": (lambda: session(SCENE, budget_s=NAN), "budget_s"),
    "negative number of recoveries": (lambda: session(SCENE, max_recoveries=-1), "max_recoveries"),
    "settings as a dict": (lambda: SYSTEM.session(BOX_PLAN, SCENE, {"budget_s": 1.0}), "SessionSettings"),
    "observation after the end": (lambda: stopped().observed(SCENE), "request"),
    "answer without a question": (lambda: session(SCENE).answered(True), "request"),
    "failure without an action": (lambda: session().failed("fell"), "request"),
    "waiting without an action": (lambda: session().waited(), "request"),
    "wrong answer": (lambda: asked().answered("maybe"), "yes"),  # type: ignore[arg-type]
    "seconds as a text": (lambda: timed("now"), "seconds"),
    "episode before an observation": (lambda: session().episode, "observ"),
    # agents
    "world that cannot execute": (lambda: RecoveryAgent(SYSTEM, Deaf()), "execute"),  # type: ignore[arg-type]
    "world that cannot observe": (lambda: RecoveryAgent(SYSTEM, Blind()), "observe"),  # type: ignore[arg-type]
    "class of a world": (lambda: RecoveryAgent(SYSTEM, Boxes), "instance"),  # type: ignore[arg-type]
    "world and system swapped": (lambda: RecoveryAgent(Boxes(), SYSTEM), "system"),  # type: ignore[arg-type]
    "no world": (lambda: RecoveryAgent(SYSTEM, None), "observe"),  # type: ignore[arg-type]
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
    """Rows as parameters."""
    return [pytest.param(*row, id=f"{prefix}: {name}") for name, row in rows.items()]


def given(value: Any) -> Any:
    """What a row gives; functions make it when they are called."""
    return value() if callable(value) and not isinstance(value, type) else value
