"""Codes of answers."""

from __future__ import annotations

from nsrecover.core.discrepancy import CodeWithMeaning


class AnswerCode(CodeWithMeaning):
    """How a request ended. The codes are stable; docs/ros2.md lists them.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    OK = "ok", "The answer is in the other fields."
    NO_PLAN = "no_plan", "No plan was published yet."
    INVALID_PLAN = "invalid_plan", "The plan cannot be read, or does not fit the scene."
    NO_OBSERVATION = "no_observation", "No complete set of messages arrived in time; the message names what is missing."
    INVALID_OBSERVATION = "invalid_observation", "The messages cannot be used, or are implausible."
    NO_REFERENCE = (
        "no_reference",
        "The scene before the action was not seen, for instance after a restart: check first.",
    )
    OUT_OF_STEP = "out_of_step", "The caller and the monitor count differently; the message has both numbers."
    PLAN_DONE = "plan_done", "Every action of the plan is done."
    NOTHING_TO_RECOVER = "nothing_to_recover", "The last verdict was not `deviating`."
    NO_WAY_BACK = "no_way_back", "There is no recovery, or none was found in time; `reason_code` says why."
    BUSY = "busy", "Too many requests are waiting."
    NOT_ACTIVE = "not_active", "The node is not active."
    INTERNAL = "internal", "An error of the monitor; the message has it, and the next request is answered again."
