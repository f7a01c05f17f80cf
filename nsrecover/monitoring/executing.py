"""Execution of actions by robots that may raise errors or never return."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from nsrecover.core.actions import Action


class ExecutionFailed(Exception):
    """An action that the robot did not end as `World.execute` has to; where it left the scene is not known."""


def carry_out(execute: Callable[[Action], None], action: Action, limit_s: float | None = None) -> None:
    """Execute an action.

    Args:
        execute: has the robot carry it out.
        action: the action.
        limit_s: seconds after which it counts as failed; the call then goes on in its thread. None: no limit, and the
            action is executed in the thread of the caller.

    Raises:
        ExecutionFailed: the robot raised an error, which is logged, or did not return within the limit.
    """
    if limit_s is None:
        _attempt(execute, action)
        return
    ended, problems = threading.Event(), list[ExecutionFailed]()

    def attempt() -> None:
        try:
            _attempt(execute, action)
        except ExecutionFailed as problem:
            problems.append(problem)
        finally:
            ended.set()

    threading.Thread(target=attempt, name=f"nsrecover {action}", daemon=True).start()
    if not ended.wait(limit_s):
        raise ExecutionFailed(f"{action} did not end within {limit_s:g} s, so the robot may still be moving")
    if problems:
        raise problems[0]


def _attempt(execute: Callable[[Action], None], action: Action) -> None:
    try:
        execute(action)
    except Exception as problem:
        logging.getLogger("nsrecover.agent").exception("%s raised an error", action)
        raise ExecutionFailed(
            f"the robot raised an error while it carried out {action}: {type(problem).__name__}: {problem}"
        ) from problem
