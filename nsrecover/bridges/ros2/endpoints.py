"""Topics and the service of a session, for every transport."""

from nsrecover.bridges.ros2.answers import Fields
from nsrecover.records.bags.images import Message
from nsrecover.records.bags.messages import PLAN, TF, seconds

DISCREPANCY, RECOVERY, STATE = (f"/nsrecover/{name}" for name in ("discrepancy", "recovery", "state"))
"""Topics of what the session publishes."""

REPORT = "/nsrecover/report"
"""Name of the service."""

LATCHED = (PLAN, TF[1], STATE)
"""Topics whose last message is kept for those who come later."""


def report_fields(message: Message) -> Fields:
    """The fields of a Report's request that `SessionCore.submit` takes."""
    return {
        "reply_to": int(message.reply_to), "what": message.what, "text": message.text,
        "not_before": seconds(message.not_before),
    }  # fmt: skip
