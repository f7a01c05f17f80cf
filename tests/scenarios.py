"""Small worlds of boxes and of facts with a script of what goes wrong, and the twelve scenarios of the contract.

The worlds keep the truth themselves, by rules of a few lines, and write down what they were asked for.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsrecover import Action, FactScene, Plan, geometric, symbolic
from nsrecover.core import Box, StateFact
from nsrecover.core.sessions.requests import Answer, Decision
from nsrecover.domains.base import Effect, Operator, Parameter, Role, StateVariable, Words, absent, fact
from nsrecover.domains.domain import Domain
from nsrecover.domains.instance import Instance

_TUBE, _PLACE = Parameter("?tube", "tube"), Parameter("?place", "place")
_AT_ANY = ("at", "?tube", "*")

LABORATORY = Domain(
    "laboratory",
    variables={
        "spun": StateVariable("spun", ("raw", "spun"), "tube"),
        "mixed": StateVariable("mixed", ("separate", "mixed"), "tube"),
        "broken": StateVariable("broken", ("intact", "broken"), "tube"),
    },
    relations={"at": Role.LOCATION},
    operators={
        "put": Operator(
            "put",
            (_TUBE, _PLACE),
            (absent("broken", "?tube"),),
            (Effect(adds=(("at", "?tube", "?place"),), deletes=(_AT_ANY,)),),
            words=Words("put {tube} into {place}", "put {tube} into {place}"),
        ),
        "spin": Operator(
            "spin",
            (_TUBE,),
            (absent("broken", "?tube"), fact("at", "?tube", "centrifuge")),
            (Effect(adds=(("spun", "?tube"),)),),
            words=Words("spin {tube}", "spun {tube}"),
        ),
        "mix": Operator(
            "mix",
            (_TUBE,),
            (absent("broken", "?tube"), fact("spun", "?tube")),
            (Effect(adds=(("mixed", "?tube"),)),),
            words=Words("mix {tube}", "mixed {tube}"),
            reversible=False,
        ),
    },
    words={"at": Words("{0} is at {1}"), "spun": Words("{0} is spun"), "mixed": Words("{0} is mixed")},
)
"""Tubes that are put somewhere, spun in a centrifuge and mixed, which cannot be undone."""

LAB = Instance(
    LABORATORY,
    {
        "tube": frozenset({"tube"}),
        "flask": frozenset({"tube"}),
        **dict.fromkeys(("rack", "bench", "centrifuge", "floor"), frozenset({"place"})),
    },
)
SIDE_M = 0.05
Hook = Callable[["ScriptedWorld"], None]


class LostConnection(Exception):
    """What a driver of a robot raises."""


@dataclass
class ScriptedWorld(ABC):
    """A world that does what it is told but for what its script says, and logs what it was asked for.

    Attributes:
        acts: number of an action, from 1 -> what happens instead of it; 0 stands for every action.
        shows: number of an observation, from 0 for the first -> what is wrong with it; -n: with all from n on.
        log: the requests: `act …`, `look …`; the observation after an action is part of the action.
        stop: ends the run; set by the driver.
    """

    acts: Mapping[int, str] = field(default_factory=dict)
    shows: Mapping[int, str] = field(default_factory=dict)
    log: list[str] = field(default_factory=list)
    stop: Callable[[], None] = lambda: None
    observations: int = 0
    actions: int = 0
    reported: bool = False

    def observe(self) -> Any:
        """What is seen; logged unless it is the first time or after an action."""
        if self.reported:
            self.log.append("look")
        return self._seen()

    def look(self, names: Sequence[str]) -> Any:
        """What is seen from where some names are seen best."""
        self.log.append("look")
        return self._seen()

    def execute(self, action: Action) -> None:
        """Carry out an action, or what the script has in its place."""
        self.log.append(f"act {action}")
        self.actions += 1
        self.reported = False
        what = self.acts.get(self.actions, self.acts.get(0, "works"))
        if what == "raises":
            raise LostConnection("the arm does not answer")
        if what in {"works", "stops", "helped"}:
            self.carry_out(action)
        if what == "stops":
            self.stop()
        if what == "helped":
            self.carry_out(self.plan()[self.actions])
        if what in {"drops", "is lost"}:
            self.disturb(what)

    def _seen(self) -> Any:
        now = self.observations
        self.observations, self.reported = now + 1, True
        lasting = [what for number, what in self.shows.items() if number < 0 and now >= -number]
        return self.show(self.shows.get(now, lasting[0] if lasting else ""))

    @staticmethod
    @abstractmethod
    def plan() -> Plan:
        """What should be done."""

    @staticmethod
    @abstractmethod
    def system() -> Any:
        """The system for this world."""

    @abstractmethod
    def carry_out(self, action: Action) -> None:
        """Do what an action should do."""

    @abstractmethod
    def disturb(self, what: str) -> None:
        """Drop or lose what the first action of the plan moves."""

    @abstractmethod
    def show(self, what: str) -> Any:
        """The scene; or an observation that does not show what the last action changed, or shows it wrongly."""


@dataclass
class Boxes(ScriptedWorld):
    """Four cubes that are to become a tower."""

    boxes: dict[str, Box] = field(
        default_factory=lambda: {
            name: (0.45, y, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)
            for name, y in (("red", 0.2), ("green", 0.1), ("blue", 0.0), ("grey", -0.1))
        }
    )

    @staticmethod
    def plan() -> Plan:
        return Plan.parse("top(green, red); top(blue, green); top(grey, blue)")

    @staticmethod
    def system() -> Any:
        return geometric()

    def carry_out(self, action: Action) -> None:
        moved = action.arguments[0]
        if not set(action.arguments) <= self.boxes.keys():
            return  # it is lost
        x, y, z = action.target[:3] if action.target else self.boxes[action.arguments[1]][:3]
        self.boxes[moved] = (x, y, z if action.target else z + SIDE_M, SIDE_M, SIDE_M, SIDE_M)

    def disturb(self, what: str) -> None:
        del self.boxes["green"]
        if what == "drops":
            self.boxes["green"] = (0.6, 0.25, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)

    def show(self, what: str) -> dict[str, Box | None]:
        wrong: dict[str, dict[str, Box | None]] = {
            "": {},
            "unseen": {"green": None},
            "wrong": {"green": (0.6, 0.25, SIDE_M / 2, SIDE_M, SIDE_M, SIDE_M)},
        }
        return {**self.boxes, **wrong[what]}


@dataclass
class Facts(ScriptedWorld):
    """A tube in a laboratory."""

    state: frozenset[StateFact] = frozenset({("at", "tube", "rack"), ("at", "flask", "bench")})

    @staticmethod
    def plan() -> Plan:
        return Plan.parse("put(tube, centrifuge); spin(tube); mix(tube)")

    @staticmethod
    def system() -> Any:
        return symbolic(LAB, [("spun", "tube"), ("mixed", "tube")])

    def carry_out(self, action: Action) -> None:
        tube = action.arguments[0]
        if ("broken", tube) in self.state:
            return
        if action.operator == "put":
            self._move(tube, action.arguments[1])
        elif action.operator == "spin" and ("at", tube, "centrifuge") in self.state:
            self.state |= {("spun", tube)}
        elif action.operator == "mix" and ("spun", tube) in self.state:
            self.state |= {("mixed", tube)}

    def _move(self, tube: str, place: str) -> None:
        self.state = frozenset(one for one in self.state if one[:2] != ("at", tube)) | {("at", tube, place)}

    def disturb(self, what: str) -> None:
        if what == "drops":
            self._move("tube", "floor")
        else:
            self.state |= {("broken", "tube")}

    def show(self, what: str) -> FactScene:
        prop = ("spun", "tube")
        if what == "unseen":
            return FactScene(self.state - {("spun", "tube")}, {prop: 0.0})
        return FactScene(self.state ^ {("spun", "tube")} if what == "wrong" else self.state)


@dataclass(frozen=True)
class Scenario:
    """What goes wrong, and what a session asks for then.

    Attributes:
        acts: see `ScriptedWorld`.
        shows: see `ScriptedWorld`.
        requests: all that is asked for, the end included; numbers stand for actions of the plan.
        vetoes: whether a person is asked about every way back, and says no.
        resumes: whether the session is pickled and read again once, when it looks.
    """

    acts: Mapping[int, str] = field(default_factory=dict)
    shows: Mapping[int, str] = field(default_factory=dict)
    requests: tuple[str | int, ...] = ()
    vetoes: bool = False
    resumes: bool = False


DROP = {1: "drops"}
HOPELESS = (1, "look", 1, "look", 1, "look", 1, "look", "stopped repeated")
UNSEEN = ("look", "look", "look", "look", "stopped cannot_tell")
"""Two looks for what an action did, and two more for the next action, which needs it."""

SURE = ("look", "done")
"""What the last action did is seen twice."""

BOXES: Mapping[str, Scenario] = {
    "works": Scenario(requests=(1, 2, 3, *SURE)),
    "drop": Scenario(DROP, requests=(1, "look", 1, 2, 3, *SURE)),
    "never lifts": Scenario({0: "fails"}, requests=HOPELESS),
    "one bad look": Scenario(shows={1: "wrong"}, requests=(1, "look", "look", 2, 3, *SURE)),
    "cannot tell, then seen": Scenario(shows={1: "unseen"}, requests=(1, "look", 2, 3, *SURE)),
    "unseen and needed": Scenario(shows={-1: "unseen"}, requests=(1, *UNSEEN)),
    "helper": Scenario({1: "helped"}, requests=(1, "look", 3, *SURE)),
    "veto": Scenario(DROP, requests=(1, "look", "ask approve", "stopped vetoed"), vetoes=True),
    "impossible": Scenario({1: "is lost"}, requests=(1, "look", "stopped no_way_back")),
    "executor raises": Scenario({2: "raises"}, requests=(1, 2, "stopped execution_failed")),
    "stop": Scenario({1: "stops"}, requests=(1, "stopped stopped")),
    "resumed": Scenario(DROP, requests=(1, "look", 1, 2, 3, *SURE), resumes=True),
}
"""The scenarios for boxes."""

FACTS: Mapping[str, Scenario] = {
    **BOXES,
    "works": Scenario(requests=(1, 2, 3, "look", "done")),
    "drop": Scenario(DROP, requests=(1, "look", 1, 2, "look", 3, "look", "done")),
    # after it has failed twice, another way is tried: first take it away from where it is
    "never lifts": Scenario(
        {0: "fails"}, requests=(1, "look", 1, "look", "act put(tube, bench)", "look", 1, "look", "stopped repeated")
    ),
    "one bad look": Scenario(shows={2: "wrong"}, requests=(1, 2, "look", "look", "look", 3, "look", "done")),
    "cannot tell, then seen": Scenario(shows={2: "unseen"}, requests=(1, 2, "look", 3, "look", "done")),
    "unseen and needed": Scenario(shows={-2: "unseen"}, requests=(1, 2, *("look",) * 5, "stopped cannot_tell")),
    "helper": Scenario({1: "helped"}, requests=(1, *("look",) * 3, 3, "look", "done")),
    "impossible": Scenario({1: "is lost"}, requests=(1, "look", "look", "stopped no_way_back")),
    "resumed": Scenario(DROP, requests=(1, "look", 1, 2, "look", 3, "look", "done"), resumes=True),
}
"""The scenarios for facts.

Of a robot of which nothing is known one look at the goal leaves more doubt than a plan may end with, so that the goal
is looked at twice. The third action cannot be undone: once an action has failed, the one before is looked at twice,
too. What others have done takes three looks. What is not seen is what the second action does.
"""


def named(world: ScriptedWorld, requests: Sequence[str | int]) -> list[str]:
    """Requests with the actions of a world's plan for their numbers."""
    return [one if isinstance(one, str) else f"act {world.plan()[one - 1]}" for one in requests]


@dataclass
class Refusing:
    """A person who says no to everything; the questions are part of a world's log."""

    log: list[str]

    def decide(self, decision: Decision[Any]) -> Answer:
        """No."""
        self.log.append(f"ask {decision.question}")
        return Answer.NO
