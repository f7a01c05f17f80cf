"""Execution of actions by robots that may raise errors or never return."""

from __future__ import annotations

import logging
import threading
from typing import Any

from nsrecover.core.actions import Action
from nsrecover.core.protocols import World


class ExecutionFailed(Exception):
    """An action that the robot did not end as `World.execute` has to; where it left the scene is not known."""


def carry_out(world: World[Any], action: Action, limit_s: float | None = None) -> None:
    """Execute an action.

    Args:
        world: the robot.
        action: the action.
        limit_s: seconds after which it counts as failed; the call then goes on in its thread. None: no limit, and the
            action is executed in the thread of the caller.

    Raises:
        ExecutionFailed: the robot raised an error, which is logged, or did not return within the limit.
    """
    if limit_s is None:
        _attempt(world, action)
        return
    ended, problems = threading.Event(), list[ExecutionFailed]()

    def attempt() -> None:
        try:
            _attempt(world, action)
        except ExecutionFailed as problem:
            problems.append(problem)
        finally:
            ended.set()

    threading.Thread(target=attempt, name=f"nsrecover {action}", daemon=True).start()
    if not ended.wait(limit_s):
        raise ExecutionFailed(f"{action} did not end within {limit_s:g} s, so the robot may still be moving")
    if problems:
        raise problems[0]


def _attempt(world: World[Any], action: Action) -> None:
    try:
        world.execute(action)
    except Exception as problem:
        logging.getLogger("nsrecover.agent").exception("%s raised an error", action)
        raise ExecutionFailed(
            f"the robot raised an error while it carried out {action}: {type(problem).__name__}: {problem}"
        ) from problem
