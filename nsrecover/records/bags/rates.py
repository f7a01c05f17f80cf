"""Rates and latencies of the topics of a ROS 2 bag."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from nsrecover.records.bags.images import Message
from nsrecover.records.bags.layout import ENDINGS
from nsrecover.records.bags.messages import BOXES, GRIPPER, LABELS, OBSERVE, PLAN, READABLE, TF, seconds, stamp_of
from nsrecover.records.bags.opening import opened

LATE_S = 1.0
"""Messages that are recorded so long after their stamp come from another clock, or wait in a queue."""

EARLY_S = 0.05
"""Messages that are recorded so long before their stamp come from another clock."""

_READ = (PLAN, OBSERVE, LABELS, GRIPPER, BOXES, *TF)
_STAMPED_SELF = "std_msgs/msg/Header"
_TEXT = "std_msgs/msg/String"


@dataclass(frozen=True)
class TopicRate:
    """How often messages of one topic come, and how late.

    Attributes:
        topic: its name.
        messages: their number.
        rate_hz: messages a second from the first to the last one; None for fewer than two.
        gap_s: longest time between two of them; None for fewer than two.
        latency_s: median and largest time from the stamp of a message to its recording; None if they have no stamp.
    """

    topic: str
    messages: int
    rate_hz: float | None
    gap_s: float | None
    latency_s: tuple[float, float] | None

    def __str__(self) -> str:
        parts = [f"{self.messages} messages"]
        if self.rate_hz is not None and self.gap_s is not None:
            parts.append(f"{self.rate_hz:.3g} Hz, longest gap {self.gap_s:.3g} s")
        if self.latency_s is not None:
            median, largest = (1000 * value for value in self.latency_s)
            parts.append(f"recorded {median:.0f} ms after their stamps (median; at most {largest:.0f} ms)")
        return f"{self.topic}: {'; '.join(parts)}"

    @property
    def problem(self) -> str:
        """What to correct; empty if nothing."""
        if self.latency_s is None or -EARLY_S <= self.latency_s[0] <= LATE_S:
            return ""
        how = f"{abs(self.latency_s[0]):.3g} s {'after' if self.latency_s[0] > 0 else 'before'} their stamps"
        return (
            f"messages on {self.topic} are recorded {how}; use one clock for all computers (NTP or PTP), stamp images "
            "when they are taken, and shorten queues"
        )


def topic_rates(path: str | Path) -> tuple[TopicRate, ...]:
    """Rates and latencies of the topics that `read_bag` reads, by name.

    The time of a message is its stamp, or when it was recorded if it has none.

    Raises:
        InvalidRecording: the bag is missing or damaged.
        InvalidConfiguration: rosbags is not installed.
    """
    stamps: dict[str, list[float]] = {}
    late: dict[str, list[float]] = {}
    with opened(Path(path)) as bag:
        kinds = bag.kinds
        wanted = {topic for topic in kinds if topic.endswith((*_READ, *ENDINGS)) and kinds[topic] in READABLE}
        for topic, time_s, message in bag.messages(wanted):
            stamp = _stamp(message, kinds[topic], time_s)
            stamps.setdefault(topic, []).append(time_s if stamp is None else stamp)
            if stamp is not None:
                late.setdefault(topic, []).append(time_s - stamp)
    return tuple(_rate(topic, np.sort(stamps[topic]), late.get(topic)) for topic in sorted(stamps))


def _stamp(message: Message, kind: str, time_s: float) -> float | None:
    """When a message was measured; None if it does not say so."""
    if kind == _STAMPED_SELF:
        return seconds(message.stamp)
    if hasattr(message, "transforms"):
        return max((seconds(each.header.stamp) for each in message.transforms), default=None)
    if kind == _TEXT:
        return None
    return stamp_of(message, time_s)


def _rate(topic: str, times: npt.NDArray[np.float64], late: list[float] | None) -> TopicRate:
    apart = np.diff(times)
    span = float(apart.sum())
    several = len(times) > 1 and span > 0
    return TopicRate(
        topic=topic,
        messages=len(times),
        rate_hz=len(apart) / span if several else None,
        gap_s=float(apart.max()) if several else None,
        latency_s=None if late is None else (float(np.median(late)), float(max(late))),
    )
