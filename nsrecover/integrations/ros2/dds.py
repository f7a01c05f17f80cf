"""A DDS participant that speaks as ROS 2 does: names of topics and types, and CDR bytes by rosbags.

A topic `/left/masks` is `rt/left/masks` on the wire, a service `/nsrecover/judge` the topics
`rq/nsrecover/judgeRequest` and `rr/nsrecover/judgeReply`, whose samples begin with the header of rmw_cyclonedds_cpp.

Needs cyclonedds and rosbags: `pip install 'nsrecover[dds]'`.
"""

from __future__ import annotations

import itertools
import secrets
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any

from nsrecover.integrations.ros2.interfaces import PACKAGE, message_of, type_store
from nsrecover.util.extras import needs_extra

with needs_extra("dds", "cyclonedds"):
    from cyclonedds.core import Listener, Policy, Qos
    from cyclonedds.domain import Domain, DomainParticipant
    from cyclonedds.idl import make_idl_struct
    from cyclonedds.idl import types as idl
    from cyclonedds.pub import DataWriter
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic
    from cyclonedds.util import duration

LOOPBACK = """<CycloneDDS><Domain><General>
<Interfaces><NetworkInterface name="lo" multicast="false"/></Interfaces><AllowMulticast>false</AllowMulticast>
</General><Discovery><ParticipantIndex>auto</ParticipantIndex><Peers><Peer address="localhost"/></Peers></Discovery>
</Domain></CycloneDDS>"""
"""Configuration that stays on this machine; by default the environment variable CYCLONEDDS_URI counts."""

DEPTH = 10
"""Messages of a topic that are kept for a reader."""

types: Any = idl  # its generic types are made at run time
_BASE = {"bool": bool, "string": str, "byte": idl.uint8, "octet": idl.uint8, "char": idl.uint8}


class Bus:
    """One participant; messages are those of `type_store`.

    Args:
        domain: ROS_DOMAIN_ID.
        configuration: XML of Cyclone DDS, such as `LOOPBACK`; None: the one of the environment.
    """

    def __init__(self, domain: int = 0, configuration: str | None = None) -> None:
        self.store = type_store()
        self._domain = None if configuration is None else _domain(domain, configuration)
        self._participant = DomainParticipant(domain)
        self._types: dict[str, Any] = {}
        self._nested: dict[str, Any] = {}
        self._topics: dict[str, tuple[Any, str]] = {}
        self._writers: dict[str, Any] = {}
        self._readers: list[Any] = []

    def publish(self, topic: str, kind: str, message: Any, latched: bool = False) -> None:
        """Publish a message.

        Args:
            topic: ROS name, such as `/nsrecover/plan`.
            kind: such as `std_msgs/msg/String`.
            message: of `store.types[kind]`, or its fields.
            latched: whether those who come later get the last one (transient local).
        """
        if topic not in self._writers:
            self._writers[topic] = self._writer("rt" + topic, kind, kind, latched)
        self._write(self._writers[topic], kind, message)

    def subscribe(
        self, topic: str, kind: str, take: Callable[[Any], None], latched: bool = False, lossy: bool = False
    ) -> None:
        """Call a function with every message of a topic, in a thread of the middleware; it must return at once.

        Args:
            topic: ROS name.
            kind: type.
            take: gets each message.
            latched: whether to get the last one that was published before (publishers have to be latched, too).
            lossy: whether publishers may be best effort, as drivers of cameras are.
        """
        self._read("rt" + topic, kind, kind, take, latched, lossy)

    def serve(self, service: str, name: str, answer: Callable[[Any], Future[Mapping[str, Any]]]) -> None:
        """Offer a service.

        Args:
            service: ROS name, such as `/nsrecover/judge`.
            name: of its type, such as `Judge`.
            answer: gets each request and returns at once; its future has the fields of the response.
        """
        request, response = (f"{PACKAGE}/msg/{name}_{half}Wire" for half in ("Request", "Response"))
        writer = self._writer(f"rr{service}Reply", response, f"{PACKAGE}/srv/{name}_Response")

        def take(asked: Any) -> None:
            def reply(done: Future[Mapping[str, Any]]) -> None:
                header = {"guid": asked.guid, "sequence": asked.sequence}
                self._write(writer, response, {**header, **done.result()})

            answer(asked).add_done_callback(reply)

        self._read(f"rq{service}Request", request, f"{PACKAGE}/srv/{name}_Request", take)

    def client(self, service: str, name: str) -> Client:
        """A client of a service; arguments as for `serve`."""
        return Client(self, service, name)

    def close(self) -> None:
        """Leave the domain."""
        for each in (*self._readers, *self._writers.values()):
            each.set_listener(None)
        self._readers.clear()
        self._writers.clear()
        self._topics.clear()
        del self._participant

    def _writer(self, topic: str, kind: str, named: str, latched: bool = False) -> Any:
        qos = _qos(latched)
        writer = DataWriter(self._participant, self._topic(topic, kind, named, qos), qos=qos)
        self._writers[topic] = writer
        return writer

    def _write(self, writer: Any, kind: str, message: Any) -> None:
        if isinstance(message, Mapping):
            message = message_of(self.store, kind, message)
        writer.write(self._types[kind](bytes(self.store.serialize_cdr(message, kind))))

    def _read(
        self, topic: str, kind: str, named: str, take: Callable[[Any], None], latched: bool = False, lossy: bool = False
    ) -> Any:
        store = self.store

        class Arrivals(Listener):
            def on_data_available(self, reader: Any) -> None:
                for sample in reader.take(DEPTH):
                    data = getattr(sample, "cdr", None)  # without data a writer has left
                    if data is not None:
                        take(store.deserialize_cdr(data, kind))

        qos = _qos(latched, lossy)
        topic_of = self._topic(topic, kind, named, _qos())
        listener: Any = Arrivals
        reader = DataReader(self._participant, topic_of, qos=qos, listener=listener())
        self._readers.append(reader)
        return reader

    def _topic(self, topic: str, kind: str, named: str, qos: Any) -> Any:
        if topic not in self._topics:
            self._topics[topic] = Topic(self._participant, topic, self._sample(kind, named), qos=qos), kind
        return self._topics[topic][0]

    def _sample(self, kind: str, named: str) -> Any:
        """The class of samples: CDR bytes under the name and the structure of a type."""
        if kind not in self._types:
            package, group, name = named.split("/")
            struct = make_idl_struct(f"{name}_", f"{package}.{group}.dds_.{name}_", self._fields(kind))

            class Bytes(struct):  # type: ignore[misc,valid-type]
                def __init__(self, cdr: bytes) -> None:
                    self.cdr = cdr

                def serialize(self, *_: Any, **__: Any) -> bytes:
                    return self.cdr

                @classmethod
                def deserialize(cls, data: bytes, *_: Any, **__: Any) -> Any:
                    return cls(bytes(data))

            Bytes.__idl__, Bytes.__idl_typename__ = struct.__idl__, struct.__idl_typename__
            self._types[kind] = Bytes
        return self._types[kind]

    def _fields(self, kind: str) -> dict[str, Any]:
        return {name: self._field(how) for name, how in self.store.fielddefs[kind][1]}

    def _field(self, how: Any) -> Any:
        node, argument = how
        match node.name:
            case "BASE":
                return _BASE.get(argument[0]) or getattr(types, argument[0])
            case "NAME":
                if argument not in self._nested:
                    package, group, name = argument.split("/")
                    self._nested[argument] = make_idl_struct(
                        f"{name}_", f"{package}.{group}.dds_.{name}_", self._fields(argument)
                    )
                return self._nested[argument]
            case "ARRAY":
                return types.array[self._field(argument[0]), argument[1]]
            case _:
                return types.sequence[self._field(argument[0])]


class Client:
    """A client of one service; made by `Bus.client`.

    Args:
        bus: the participant.
        service: ROS name.
        name: of the type.
    """

    def __init__(self, bus: Bus, service: str, name: str) -> None:
        self._bus, self._guid, self._numbers = bus, secrets.randbits(63), itertools.count(1)
        self._request, response = (f"{PACKAGE}/msg/{name}_{half}Wire" for half in ("Request", "Response"))
        self._waiting: dict[int, Future[Any]] = {}
        self._writer = bus._writer(f"rq{service}Request", self._request, f"{PACKAGE}/srv/{name}_Request")
        bus._read(f"rr{service}Reply", response, f"{PACKAGE}/srv/{name}_Response", self._take)
        self._lock = threading.Lock()

    def ask(self, fields: Mapping[str, Any]) -> Future[Any]:
        """Send a request; the future has the response."""
        with self._lock:
            number, answer = next(self._numbers), Future[Any]()
            self._waiting[number] = answer
        self._bus._write(self._writer, self._request, {"guid": self._guid, "sequence": number, **fields})
        return answer

    def _take(self, response: Any) -> None:
        with self._lock:
            answer = self._waiting.pop(response.sequence, None) if response.guid == self._guid else None
        if answer is not None:
            answer.set_result(response)


_DOMAINS: dict[int, Any] = {}


def _domain(number: int, configuration: str) -> Any:
    """A domain with a configuration; a process has each domain once."""
    if number not in _DOMAINS:
        _DOMAINS[number] = Domain(number, configuration)
    return _DOMAINS[number]


def _qos(latched: bool = False, lossy: bool = False) -> Any:
    return Qos(
        Policy.Reliability.BestEffort if lossy else Policy.Reliability.Reliable(duration(seconds=1)),
        Policy.Durability.TransientLocal if latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(1 if latched else DEPTH),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )
