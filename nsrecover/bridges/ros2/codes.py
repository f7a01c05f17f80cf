"""Codes of answers."""

from nsrecover.core import CodeWithMeaning


class AnswerCode(CodeWithMeaning):
    """How a report was taken. The codes are stable; docs/integrations.md lists them.

    A member is its code; its docstring (`meaning`) says in words what it means.
    """

    OK = "ok", "The request says what to do next."
    NO_PLAN = "no_plan", "No plan was published yet."
    INVALID_PLAN = "invalid_plan", "The plan cannot be read, or does not fit the scene."
    INVALID_OBSERVATION = "invalid_observation", "Three observations before the first action could not be used."
    INVALID_REPORT = "invalid_report", "The report cannot be read, or is no reply to the last request."
    OUT_OF_STEP = "out_of_step", "The report is on another answer than the last one; the message has both numbers."
    BUSY = "busy", "Too many reports are waiting."
    NOT_ACTIVE = "not_active", "The node is not active."
    INTERNAL = "internal", "An error of the node; the message has it, and the next report is answered again."
