"""A table of boxes that a `SessionCore` hears of, and an ideal robot."""

import json
import time
from types import SimpleNamespace
from typing import Any

import nsrecover
from nsrecover.bridges.ros2.answers import action_of
from nsrecover.bridges.ros2.core import SessionCore
from nsrecover.records.bags.messages import BOXES

SIDE = 0.04


def text(**document: Any) -> Any:
    return SimpleNamespace(data=json.dumps(document))


class Table:
    """Boxes that a core hears of, and an ideal robot; `falls` has the numbers of actions after which green falls."""

    def __init__(self, core: SessionCore, falls: tuple[int, ...] = ()) -> None:
        self.core, self.falls = core, falls
        rows = (("red", 0.15), ("green", 0.0), ("blue", -0.15))
        self.boxes: Any = {n: (0.45, y, SIDE / 2, SIDE, SIDE, SIDE) for n, y in rows}
        self.done: list[str] = []
        self.number = 0

    def act(self, action: Any) -> None:
        named = action_of(SimpleNamespace(**action))
        scene = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), named)
        self.boxes = {n: tuple(map(float, b)) for n, b in zip(scene.names, scene.boxes, strict=True)}
        self.done.append(str(named))
        if len(self.done) in self.falls:
            self.boxes["green"] = (0.6, 0.25, SIDE / 2, SIDE, SIDE, SIDE)

    def tell(self, what: str = "", **fields: Any) -> dict[str, Any]:
        """Report, and hear of boxes until there is an answer."""
        answer = self.core.submit({"reply_to": self.number, "what": what, **fields})
        while not answer.done():
            self.core.take(BOXES, text(stamp_s=time.time(), boxes=self.boxes))
            time.sleep(0.002)
        told: dict[str, Any] = answer.result()
        self.number = told.get("number", self.number)
        return told
