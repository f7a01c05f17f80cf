"""When the robot asks: how often it asks, and wrongly does not."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from eval.common.statistics import share_of
from eval.instructions.understood import REPHRASED, agrees, paraphrases, stages_of
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.task import Refusal, Task, TaskQuestion
from nsrecover.instructions.understanding import Understanding
from nsrecover.language.meaning import Phrase


@dataclass(frozen=True)
class Said:
    """A sentence, what it may mean, and whether it was written as ambiguous, as a twin, or as a paraphrase."""

    text: str
    means: tuple[tuple[str, ...], ...]
    kind: str


def sentences(half: str) -> list[Said]:
    """The ambiguous sentences, their twins, and the paraphrases of a half."""
    listed = yaml.safe_load((Path(__file__).parent / "texts" / "ambiguous.yaml").read_text("utf-8"))
    found = [Said(text, (tuple(want),), "paraphrase") for want, text in paraphrases(half)]
    for entry in listed[0 if half == "development" else 1 :: 2] if half != "another_hand" else ():
        found.append(Said(entry["say"], tuple(tuple(stages_of(each)) for each in entry["means"]), "ambiguous"))
        found.append(Said(entry["twin"], (tuple(stages_of(entry["want"])),), "twin"))
    return found


def asked(half: str) -> dict[str, Any]:
    """How often the robot asks, and acts in a sense that was not meant, next to always and never asking.

    Args:
        half: of the paraphrases.
    """
    home = load_home("apartment")
    robot = Understanding(home)
    asks: dict[str, list[bool]] = defaultdict(list)
    unasked: dict[str, list[float]] = defaultdict(list)
    rashly = list[float]()
    for said in sentences(half):
        found = robot.task(said.text)
        asks[said.kind].append(_asks(found))
        unasked[said.kind].append(_wrong(found, said))
        rashly.append(_wrong(_answered(robot, said.text), said))
    every = [each for kind in unasked.values() for each in kind]
    return {
        "half": half,
        "asked": {kind: share_of(found) for kind, found in asks.items()},
        "wrongly_unasked": {kind: float(np.mean(found)) for kind, found in unasked.items()},
        "policies": {
            "as shipped": {"questions_per_task": float(np.mean([a for kind in asks.values() for a in kind])),
                           "wrongly_unasked": float(np.mean(every))},
            "always": {"questions_per_task": 1.0, "wrongly_unasked": 0.0},
            "never": {"questions_per_task": 0.0, "wrongly_unasked": float(np.mean(rashly))},
        },
    }  # fmt: skip


def _asks(found: Task | TaskQuestion | Refusal) -> bool:
    return isinstance(found, TaskQuestion) or (isinstance(found, Refusal) and found.code in REPHRASED)


def _wrong(found: Task | TaskQuestion | Refusal, said: Said) -> float:
    """The share of what a sentence may mean that a task is not; 0 if there is no task."""
    return float(np.mean([not agrees(found, want) for want in said.means])) if isinstance(found, Task) else 0.0


def _answered(robot: Understanding, text: str) -> Task | TaskQuestion | Refusal:
    """What a robot does that takes the first option instead of asking."""
    choices: dict[Phrase, str] = {}
    for _ in range(4):
        found = robot.task(text, choices)
        if not isinstance(found, TaskQuestion) or not found.options:
            return found
        choices[found.phrase] = found.options[0]
    return found
