"""Writing logs in the text format that `nsrecover.explanation.logs.reading` reads."""

from __future__ import annotations

from typing import Any

from nsrecover.explanation.logs.reading import AUDITORY, VISUAL
from nsrecover.explanation.logs.records import HouseholdLog, KeyFrame, Observation, Related


def document_of(log: HouseholdLog) -> dict[str, Any]:
    """A log as JSON: the text that was read, where the format has only one way to say it."""
    return {
        **log.extra,
        "task": log.task,
        "plan": list(log.plan_lines),
        "success_state": log.success_state,
        "event_summary": [line_of(frame) for frame in log.events],
        "subgoal_summary": [line_of(frame) for frame in log.subgoals],
        "final_state": told(log.final),
    }


def line_of(frame: KeyFrame) -> str:
    """A key frame as a line."""
    visual, sounds = told(frame.observation), frame.observation.sounds
    line = f"{frame.time}. {frame.label}: {frame.text}."
    line += f" {VISUAL}{visual}" if visual else ""
    return line + (f" {AUDITORY}{sounds}." if sounds else "")


def told(observation: Observation) -> str:
    """What was seen, as sentences."""
    sentences = []
    if observation.seen:
        sentences.append(
            ", ".join(f"{item.name} ({' and '.join(item.states)})" if item.states else item.name
                      for item in observation.seen)
        )  # fmt: skip
    for sentence in observation.sentences:
        sentences.append(
            f"{sentence.subject} is {sentence.relation} {sentence.object}"
            if isinstance(sentence, Related)
            else sentence.text
        )
    return " ".join(f"{sentence}." for sentence in sentences)
