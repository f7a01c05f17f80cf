"""A scripted world that a `SessionCore` hears of, and a robot that does what it is asked for."""

import json
import time
from types import SimpleNamespace
from typing import Any

from nsrecover.bridges.ros2.answers import action_of
from nsrecover.bridges.ros2.core import SessionCore
from nsrecover.core import FactScene
from nsrecover.records.bags.messages import BOXES, FACTS
from nsrecover.util.json_data import to_json
from tests.scenarios import ScriptedWorld


def text(**document: Any) -> Any:
    return SimpleNamespace(data=json.dumps(document))


class Robot:
    """Reports to a core, and publishes what is seen until there is an answer."""

    def __init__(self, core: SessionCore, world: ScriptedWorld) -> None:
        self.core, self.world, self.number = core, world, 0

    def tell(self, what: str = "", **fields: Any) -> dict[str, Any]:
        """Report, and return the answer."""
        answer = self.core.submit({"reply_to": self.number, "what": what, **fields})
        while not answer.done():
            seen = self.world.show("")
            facts = isinstance(seen, FactScene)
            document: Any = to_json(seen) if facts else {"boxes": seen}
            self.core.take(FACTS if facts else BOXES, text(stamp_s=time.time(), **document))
            time.sleep(0.002)
        told: dict[str, Any] = answer.result()
        self.number = told.get("number", self.number)
        return told

    def carry_out(self, told: dict[str, Any], turns: int = 99) -> dict[str, Any]:
        """Do what is asked for until a person is asked or it ends; return the last answer."""
        while (code := told["request"]["code"]) in ("act", "look") and turns:
            if code == "act":
                self.world.execute(action_of(SimpleNamespace(**told["request"]["action"])))
            told, turns = self.tell("observed", not_before=time.time()), turns - 1
        return told
