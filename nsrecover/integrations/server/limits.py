"""How much a client may ask of the server."""

from __future__ import annotations

from dataclasses import dataclass, fields

from nsrecover.errors import InvalidConfiguration

VIEWS, OBJECTS, ACTIONS, FEATURES, NAME_LENGTH = 8, 64, 100, 4096, 100
"""Part of the interface, and so of the schema: views of an observation, objects of a scene, actions of a plan, length
of an appearance feature, characters of a name."""


@dataclass(frozen=True)
class Limits:
    """Everything a client can use up.

    Attributes:
        sessions: at the same time.
        idle_s: a session that nobody has asked for anything for so long is forgotten.
        body_bytes: of one request.
        body_values: commas and opening brackets in a JSON body: what makes it slow to read.
        pixels: of all views of one observation together.
        receive_s: for a request to arrive.
        planning_s: for one recovery, whatever budget is asked for.
        events_s: for which one request for events is answered; clients come back for more.
        listeners: of one session's events at the same time.
        workers: threads that look at images, and as many again that plan.
    """

    sessions: int = 64
    idle_s: float = 900.0
    body_bytes: int = 16_000_000
    body_values: int = 200_000
    pixels: int = 8_000_000
    receive_s: float = 30.0
    planning_s: float = 30.0
    events_s: float = 300.0
    listeners: int = 4
    workers: int = 2

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise InvalidConfiguration(f"expected {each.name} > 0, found {getattr(self, each.name)}")
