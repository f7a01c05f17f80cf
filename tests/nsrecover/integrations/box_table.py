"""A table of boxes that a `MonitorCore` hears of, and an ideal robot."""

from __future__ import annotations

import json
import time
from types import SimpleNamespace
from typing import Any

import nsrecover
from nsrecover.integrations.ros2.core import MonitorCore
from nsrecover.integrations.ros2.endpoints import Request
from nsrecover.records.bags.messages import BOXES

SIDE = 0.04


def text(**document: Any) -> Any:
    return SimpleNamespace(data=json.dumps(document))


class Table:
    """Boxes that a core hears of, and an ideal robot."""

    def __init__(self, core: MonitorCore) -> None:
        self.core = core
        rows = (("red", 0.15), ("green", 0.0), ("blue", -0.15))
        self.boxes = {n: (0.45, y, SIDE / 2, SIDE, SIDE, SIDE) for n, y in rows}
        self.done: list[str] = []

    def act(self, action: Any) -> None:
        named = nsrecover.Action(action["operator"], tuple(action["arguments"]))
        if action["has_target"]:
            named = nsrecover.Action(named.operator, named.arguments, tuple(action["target"]))
        scene = nsrecover.geometric().imagination.step(nsrecover.scene_of_boxes(self.boxes), named)
        self.boxes = {n: tuple(map(float, b)) for n, b in zip(scene.names, scene.boxes, strict=True)}
        self.done.append(str(named))

    def ask(self, request: Request, **fields: Any) -> dict[str, Any]:
        answer = self.core.submit(request, fields)
        while not answer.done():
            self.core.take(BOXES, text(stamp_s=time.time(), boxes=self.boxes))
            time.sleep(0.002)
        return answer.result()
