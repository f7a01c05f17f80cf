"""Limits for the clients of the server."""

from dataclasses import dataclass, fields

from nsrecover.errors import InvalidConfiguration

AUDIO_S = 120.0
"""Longest recording of an observation, seconds."""
VIEWS, OBJECTS, FACTS, ACTIONS, ARGUMENTS, FEATURES, NAME_LENGTH, TEXT_LENGTH = 8, 64, 2000, 100, 8, 4096, 100, 500
"""Limits in the schema: views of an observation, objects and facts of a scene, actions of a plan, arguments of one,
length of an appearance feature, characters of a name and of a text."""


@dataclass(frozen=True)
class ServerLimits:
    """Limits of the resources that clients can use.

    Attributes:
        sessions: number of simultaneous sessions.
        sessions_of_client: number of simultaneous sessions of one client: of one token if there are several, else of
            one address.
        idle_s: time after which a session without requests is closed, seconds.
        body_bytes: size of a request.
        body_values: number of commas and opening brackets in a JSON body, which determine the parsing time.
        pixels: number of pixels of all views of an observation.
        receive_s: time for a request to arrive, seconds.
        planning_s: planning time of a recovery, whatever budget the client requests, seconds.
        judging_s: a process that needs longer for one report, without its search, is taken to hang, and ends, seconds.
        events_s: duration of one answer with events, after which clients reconnect, seconds.
        listeners: number of simultaneous listeners to the events of a session.
        requests_per_s: lasting rate of requests from one address; for a moment, twice as many may come at once.
        workers: number of processes in which reports to sessions are worked on, and of those in which is searched.
        searches: number of simultaneous searches; while several clients search, each has one at a time.
    """

    sessions: int = 64
    sessions_of_client: int = 16
    idle_s: float = 900.0
    body_bytes: int = 16_000_000
    body_values: int = 200_000
    pixels: int = 8_000_000
    receive_s: float = 30.0
    planning_s: float = 30.0
    judging_s: float = 60.0
    events_s: float = 300.0
    listeners: int = 4
    requests_per_s: float = 200.0
    workers: int = 2
    searches: int = 16

    def __post_init__(self) -> None:
        for each in fields(self):
            if not getattr(self, each.name) > 0:
                raise InvalidConfiguration(f"expected {each.name} > 0, found {getattr(self, each.name)}")
