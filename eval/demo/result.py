"""Result of a demo run as data: pictures, records, errors and the judgement."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from eval.run import METRICS
from nsrecover.core import Episode, EpisodeStatus, Plan, SceneGraph, StepRecord, StopCode
from nsrecover.domains.domain import Domain
from nsrecover.explanation.facts import violated_texts
from nsrecover.explanation.reasons import reason_text
from nsrecover.records import episode_log
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.media import Extra, GoalJudgement, Media
from nsrecover.serving.reports.model import Report
from nsrecover.serving.reports.page import write_page

PAGE, LOG = "report.html", "episode.json"


def write_report(result: DemoResult, folder: Path, video: Path | None = None) -> None:
    """Write `report.html`, `metrics.json` and the log of the episode, if there is one.

    Args:
        result: the run.
        folder: made if necessary.
        video: an mp4 to put into the page, if it is small enough.
    """
    write_page(report_of_demo(result, video), folder / PAGE)
    (folder / METRICS).write_bytes(_metrics(result))
    if result.episode is not None:
        episode_log.save(result.episode, folder / LOG, result.domain)


def report_of_demo(result: DemoResult, video: Path | None = None) -> Report:
    """The content of the report of a run; see `write`."""
    extras = [Extra(METRICS, "What was measured, with the ground truth", _metrics(result))]
    if video is not None:
        ends_s = tuple(turn.film_s for turn in result.turns if turn.film_s is not None)
        extras.append(Extra(video.name, "Film", video.read_bytes(), "video/mp4", ends_s))
    sensor = "exact images" if result.sensor == "clean" else f"through the sensor {result.sensor}"
    sees = "" if result.domain is not None else f" The robot sees {sensor}."
    return report_of(
        result.episode or _broken_off(result),
        f"{result.scenario.capitalize()}, seed {result.seed}",
        f"What was staged: {result.description}{sees}",
        media=[turn.media for turn in result.turns],
        judgement=_judgement(result),
        extras=extras,
        domain=result.domain,
    )


def _broken_off(result: DemoResult) -> Episode:
    """The episode of a run that could not go on."""
    nothing = np.zeros((0, 6), np.float32)
    empty = SceneGraph((), nothing, nothing, np.zeros(0, np.bool_))
    records = tuple(turn.record for turn in result.turns)
    why = StopCode.NO_OBSERVATION
    return Episode(result.plan, EpisodeStatus.ASKED_FOR_HELP, result.reason, empty, records, why=why)


def _judgement(result: DemoResult) -> GoalJudgement:
    """The outcome by ground truth, in sentences."""
    if result.goal_reached:
        text = (
            "Everything is where a run without faults puts it, judged by the simulator."
            if result.domain is None
            else "The goal holds, judged by the simulator."
        )
    else:
        wrong = (why if result.domain is not None else f"the {name}: {why}" for name, why in result.deviations.items())
        text = f"The simulator says: {'; '.join(wrong)}."
    if result.undetected:
        text += f" Not noticed when it happened: {', '.join(result.undetected)}."
    return GoalJudgement(result.goal_reached, text)


def _metrics(result: DemoResult) -> bytes:
    return (json.dumps(result.metrics(), indent=2) + "\n").encode()


@dataclass(frozen=True, eq=False)
class Turn:
    """One turn of the agent with its pictures, and the truth.

    Attributes:
        label: `step 4 of 6`, or `recovery 2 of 5`.
        record: action and verdict of the agent.
        media: photographs before and after it, and its sound.
        film_s: when it ends in the film, seconds; None: by the robot's clock.
        step: number of the action in the original plan, from 1; None within a recovery.
        true: truly deviating object -> deviation; None within a recovery, where no reference state exists.
    """

    label: str
    record: StepRecord[Any]
    media: Media
    film_s: float | None = None
    step: int | None = None
    true: Mapping[str, str] | None = None

    @property
    def culprits_right(self) -> bool | None:
        """Whether exactly the truly deviating objects were found; None without a reference state."""
        return None if self.true is None else set(self.record.discrepancy.deviating) == set(self.true)


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
    deviations: Mapping[str, str]
    undetected: tuple[str, ...] = ()
    seconds: float = 0.0
    episode: Episode[Any] | None = field(default=None, repr=False)
    sensor: str = "clean"
    domain: Domain | None = None
    log: tuple[tuple[str, str], ...] = ()

    @property
    def errors(self) -> list[Turn]:
        """The turns with an error that the agent noticed."""
        return [turn for turn in self.turns if turn.record.discrepancy.deviates]

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
        return sum(turn.record.recovery.seconds for turn in self.errors if turn.record.recovery is not None)

    def metrics(self) -> dict[str, Any]:
        """Contents of `metrics.json`."""
        errors = [_error_metrics(turn) for turn in self.errors]
        first = errors[0] if errors else {"step": None, "causes": {}, "true_culprits": {}, "explanation": ""}
        return {
            "scenario": self.scenario,
            "seed": self.seed,
            "sensor": self.sensor,
            "goal_reached": self.goal_reached,
            "detected_step": first["step"],
            "culprits": sorted(first["causes"]),
            "true_culprits": sorted(first["true_culprits"] or ()),
            "recovery_actions": list(self.recovery_actions),
            "recovery_time_s": round(self.recovery_time_s, 4),
            "status": self.status,
            "why": None if self.episode is None else self.episode.why,
            "reason": self.reason,
            "explanation": first["explanation"],
            "errors": errors,
            "undetected": list(self.undetected),
            "deviations": dict(self.deviations),
            "plan": [str(action) for action in self.plan],
            "seconds": round(self.seconds, 2),
            **({"log": [list(entry) for entry in self.log]} if self.log else {}),
        }


def _error_metrics(turn: Turn) -> dict[str, Any]:
    found, recovery, explanation = turn.record.discrepancy, turn.record.recovery, turn.record.explanation
    return {
        "label": turn.label,
        "step": turn.step,
        "phase": found.phase.value,
        "causes": {each.name: each.cause.value for each in found.deviations},
        "violated": list(violated_texts(found)),
        "true_culprits": None if turn.true is None else dict(turn.true),
        "explanation": "" if explanation is None else explanation.text,
        "recovery": recovery and {
            "status": recovery.status.value,
            "actions": [str(action) for action in recovery.actions],
            "subgoal": recovery.subgoal,
            "proven_optimal": recovery.proven_optimal,
            "expansions": recovery.expansions,
            "seconds": round(recovery.seconds, 4),
            "reason": reason_text(recovery),
        },
    }  # fmt: skip
