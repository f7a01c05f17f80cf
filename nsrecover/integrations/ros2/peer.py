"""The monitor as a DDS peer next to a ROS 2 system, from pip alone: topics and services as the rclpy node has them."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from concurrent.futures import Future
from functools import partial
from typing import Any

from nsrecover.integrations.ros2.answers import Fields
from nsrecover.integrations.ros2.core import CoreSettings, MonitorCore
from nsrecover.integrations.ros2.dds import Bus
from nsrecover.integrations.ros2.endpoints import LATCHED, PUBLISHED, Request, request_fields
from nsrecover.records.bags.messages import type_of
from nsrecover.system import System


class MonitorPeer:
    """Connects a `MonitorCore` with a bus, and runs its worker.

    Args:
        system: the monitor's.
        bus: the participant.
        settings: of the core.
    """

    def __init__(self, system: System, bus: Bus, settings: CoreSettings | None = None) -> None:
        self._bus = bus
        self.core = MonitorCore(system, settings, self._publish)
        for topic in self.core.topics:
            latched = topic in LATCHED
            bus.subscribe(topic, type_of(topic), partial(self.core.take, topic), latched, lossy=not latched)
        for request in Request:
            bus.serve(request.service, request.value, partial(self._answer, request))
        self._worker = threading.Thread(target=self.core.run, name="nsrecover monitor", daemon=True)
        self._worker.start()

    def close(self) -> None:
        """Stop the worker; the bus stays."""
        self.core.stop()
        self._worker.join()

    def _publish(self, topic: str, fields: Fields) -> None:
        self._bus.publish(topic, PUBLISHED[topic], fields, topic in LATCHED)

    def _answer(self, request: Request, message: Any) -> Future[Mapping[str, Any]]:
        return self.core.submit(request, request_fields(request, message))  # type: ignore[return-value]
