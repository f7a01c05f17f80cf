"""Result of a demo run as data: pictures, records, errors and the judgement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from nsrecover.core.actions import Plan
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.episode import Episode, StepRecord
from nsrecover.core.explanation import Explanation
from nsrecover.core.recovery import Recovery
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.reports.media import Media

Picture = npt.NDArray[np.uint8]
"""(H, W, 3) uint8."""


@dataclass(frozen=True, eq=False)
class Turn:
    """One turn of the agent with its pictures.

    Attributes:
        label: `step 4 of 6`, or `recovery 2 of 5`.
        record: action and verdict of the agent.
        media: photographs before and after it, and its sound.
        film_s: when it ends in the film, seconds; None: by the robot's clock.
    """

    label: str
    record: StepRecord[Any]
    media: Media
    film_s: float | None = None


@dataclass(frozen=True, eq=False)
class NoticedError:
    """Error that the agent noticed, and the true deviations at that time.

    Attributes:
        label: of the turn.
        step: number of the action in the original plan, from 1; None within a recovery.
        discrepancy: verdict of the monitor.
        recovery: the planned recovery.
        explanation: the text.
        true_culprits: truly deviating object -> deviation; None within a recovery, where no reference state exists.
    """

    label: str
    step: int | None
    discrepancy: Discrepancy[Any]
    recovery: Recovery[Any] | None
    explanation: Explanation | None
    true_culprits: Mapping[str, str] | None

    @property
    def culprits_right(self) -> bool | None:
        """Whether exactly the truly deviating objects were found; None without a reference state."""
        if self.true_culprits is None:
            return None
        return set(self.discrepancy.deviating) == set(self.true_culprits)


@dataclass(frozen=True, eq=False)
class DemoResult:
    """Result of one scenario with one seed.

    Attributes:
        scenario: its name.
        description: of its faults.
        seed: of the scene, the faults and the physics.
        plan: the original plan.
        status: `completed`, `asked_for_help`, or `failed` if the run could not continue.
        reason: why it did not complete.
        turns: every turn, with pictures.
        errors: every noticed error.
        deviations: truly deviating object at the end -> deviation; empty if the goal is reached.
        undetected: objects that truly deviated at a step without an alarm.
        seconds: wall time of the run, without video and report.
        episode: what the agent returned; None if the run could not continue.
        sensor: name of the sensor that the robot sees through.
        domain: the words for facts and actions; None: those of the tabletop.
        log: what the robot recovered from, as pairs of a code and a text; where it was given a sentence.
    """

    scenario: str
    description: str
    seed: int
    plan: Plan
    status: str
    reason: str
    turns: tuple[Turn, ...]
    errors: tuple[NoticedError, ...]
    deviations: Mapping[str, str]
    undetected: tuple[str, ...] = ()
    seconds: float = 0.0
    episode: Episode[Any] | None = field(default=None, repr=False)
    sensor: str = "clean"
    domain: Domain | None = None
    log: tuple[tuple[str, str], ...] = ()

    @property
    def goal_reached(self) -> bool:
        """Whether every object is where the fault-free run puts it."""
        return not self.deviations

    @property
    def recovery_actions(self) -> tuple[str, ...]:
        """Executed recovery actions, in order."""
        return tuple(str(turn.record.action) for turn in self.turns if turn.record.recovering and turn.record.action)

    @property
    def recovery_time_s(self) -> float:
        """Planning time of all recoveries."""
        return sum(error.recovery.seconds for error in self.errors if error.recovery is not None)

    def metrics(self) -> dict[str, Any]:
        """Contents of `metrics.json`."""
        first = self.errors[0] if self.errors else None
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "sensor": self.sensor,
            "goal_reached": self.goal_reached,
            "detected_step": None if first is None else first.step,
            "culprits": [] if first is None else sorted(first.discrepancy.deviating),
            "true_culprits": [] if first is None else sorted(first.true_culprits or ()),
            "recovery_actions": list(self.recovery_actions),
            "recovery_time_s": round(self.recovery_time_s, 4),
            "status": self.status,
            "why": None if self.episode is None else self.episode.why,
            "reason": self.reason,
            "explanation": first.explanation.text if first is not None and first.explanation is not None else "",
            "errors": [_error_metrics(error) for error in self.errors],
            "undetected": list(self.undetected),
            "deviations": dict(self.deviations),
            "plan": [str(action) for action in self.plan],
            "seconds": round(self.seconds, 2),
            **({"log": [list(entry) for entry in self.log]} if self.log else {}),
        }


def _error_metrics(error: NoticedError) -> dict[str, Any]:
    recovery = error.recovery
    return {
        "label": error.label,
        "step": error.step,
        "phase": error.discrepancy.phase.value,
        "causes": {culprit.name: culprit.cause.value for culprit in error.discrepancy.deviations},
        "violated": list(violated_texts(error.discrepancy)),
        "true_culprits": None if error.true_culprits is None else dict(error.true_culprits),
        "recovery": None
        if recovery is None
        else {
            "status": recovery.status.value,
            "actions": [str(action) for action in recovery.actions],
            "subgoal": recovery.subgoal,
            "proven_optimal": recovery.proven_optimal,
            "expansions": recovery.expansions,
            "seconds": round(recovery.seconds, 4),
            "reason": reason_text(recovery),
        },
    }


def summary_line(result: DemoResult) -> str:
    """Return one line for a run: first error, its correctness, and the outcome."""
    parts = [f"{result.scenario} seed {result.seed}:", "goal reached" if result.goal_reached else "GOAL NOT REACHED"]
    if result.errors:
        first = result.errors[0]
        verdict = {True: "culprits right", False: "CULPRITS WRONG", None: "culprits not comparable"}[
            first.culprits_right
        ]
        parts.append(f"| noticed at {first.label}, {verdict}: {_names(first.discrepancy.deviating)}")
        if first.culprits_right is False:
            parts.append(f"(really {_names(sorted(first.true_culprits or ()))})")
        parts.append(f"| {len(result.recovery_actions)} recovery actions")
    else:
        parts.append("| nothing noticed")
    if result.reason:
        parts.append(f"| {result.reason}")
    if result.deviations:
        parts.append(f"| {'; '.join(f'{name}: {why}' for name, why in result.deviations.items())}")
    parts.append(f"| {result.seconds:.0f} s")
    return " ".join(parts)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) if names else "none"
