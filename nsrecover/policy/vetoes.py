"""What a person's veto leads to: another recovery, if there is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.protocols import TakesVetoes
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneT
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.core.traces import Trace
from nsrecover.util.english import counted


def other_way(
    planner: object,
    trace: Trace[SceneT],
    found: Discrepancy[SceneT],
    vetoed: Sequence[Recovery[SceneT]],
    settings: SessionSettings,
    cancelled: Callable[[], bool],
) -> Recovery[SceneT] | str:
    """Another recovery than those that a person does not want; if there is none, why.

    Args:
        planner: finds other ways if it takes vetoes (`TakesVetoes`).
        trace: what the plan was expected to lead through.
        found: what is wrong.
        vetoed: the recoveries that are not wanted.
        settings: time of one search, and how many vetoes are accepted.
        cancelled: ends the searches.
    """
    reason = f"a person vetoed {'the recovery' if len(vetoed) == 1 else counted(len(vetoed), 'recovery')}"
    if len(vetoed) >= settings.max_vetoes or not isinstance(planner, TakesVetoes):
        return reason
    other = planner.instead(found.observed, trace, found, vetoed, budget_s=settings.budget_s, cancelled=cancelled)
    return cast("Recovery[SceneT] | None", other) or f"{reason}, and no other one exists"
