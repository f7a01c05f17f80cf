"""When the robot asks: calibration of its trust in usual readings, and how often it asks and wrongly does not."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from eval.common.statistics import share_of
from eval.instructions.understood import REPHRASED, agrees, paraphrases, stages_of
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions import choosing
from nsrecover.instructions.choosing import Trust, kind_of
from nsrecover.instructions.reading import Phrase
from nsrecover.instructions.task import Question, Refusal, Task
from nsrecover.instructions.understanding import Understanding

ALPHA = 0.05
"""Share of sentences with doubts that may be acted on in a sense that was not meant."""

_NEVER = Trust({}, math.inf)


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


def calibrated() -> Trust:
    """The trust that fits the development half.

    The score of each sentence is computed from probabilities that were counted without it.
    """
    understanding = Understanding(load_home("apartment"), Trust({}, 0.0))
    sides: dict[str, list[tuple[int, bool]]] = defaultdict(list)
    doubtful: list[Said] = []
    for said in sentences("development"):
        found, _ = understanding.candidates(said.text)
        if len(found) < 2:
            continue
        for want in said.means:
            meant = next((each for each in found if agrees(each.task, want)), None)
            for doubt in meant.reading.doubts if meant is not None else ():
                sides[kind_of(doubt)].append((len(doubtful), meant is not None and doubt not in meant.flips))
        doubtful.append(said)

    def usual(without: int) -> dict[str, float]:
        counted = {kind: [right for i, right in found if i != without] for kind, found in sorted(sides.items())}
        return {kind: round((sum(right) + 1) / (len(right) + 2), 3) for kind, right in counted.items()}

    scores = []
    for i, said in enumerate(doubtful):
        found, _ = Understanding(understanding.home, Trust(usual(i), 0.0)).candidates(said.text)
        scores += [max((each.score for each in found if agrees(each.task, want)), default=0.0) for want in said.means]
    return Trust(usual(-1), round(_lowest(scores), 3))


def write_trust(trust: Trust) -> None:
    """Write the trust that the library ships."""
    head = "# Written by python -m eval.instructions calibrate=true: how often the usual side of a doubt is meant\n"
    text = yaml.safe_dump({"usual": dict(trust.usual), "threshold": trust.threshold})
    Path(choosing.__file__).with_name("trust.yaml").write_text(head + text, encoding="utf-8")


def _lowest(scores: Sequence[float]) -> float:
    """The split-conformal threshold: at most ALPHA of further scores are below it; 0 if there are too few."""
    rank = math.floor((len(scores) + 1) * ALPHA)
    return float(np.sort(scores)[rank - 1]) if rank else 0.0


def asked(half: str) -> dict[str, Any]:
    """How often the robot asks, and acts in a sense that was not meant, next to always and never asking.

    Args:
        half: of the paraphrases.
    """
    home = load_home("apartment")
    robot, rash = Understanding(home), Understanding(home, _NEVER)
    asks: dict[str, list[bool]] = defaultdict(list)
    unasked: dict[str, list[float]] = defaultdict(list)
    rashly = list[float]()
    for said in sentences(half):
        found = robot.task(said.text)
        asks[said.kind].append(_asks(found))
        unasked[said.kind].append(_wrong(found, said))
        rashly.append(_wrong(_answered(rash, said.text), said))
    every = [each for kind in unasked.values() for each in kind]
    return {
        "half": half,
        "asked": {kind: share_of(found) for kind, found in asks.items()},
        "wrongly_unasked": {kind: float(np.mean(found)) for kind, found in unasked.items()},
        "policies": {
            "calibrated": {"questions_per_task": float(np.mean([a for kind in asks.values() for a in kind])),
                           "wrongly_unasked": float(np.mean(every))},
            "always": {"questions_per_task": 1.0, "wrongly_unasked": 0.0},
            "never": {"questions_per_task": 0.0, "wrongly_unasked": float(np.mean(rashly))},
        },
    }  # fmt: skip


def _asks(found: Task | Question | Refusal) -> bool:
    return isinstance(found, Question) or (isinstance(found, Refusal) and found.code in REPHRASED)


def _wrong(found: Task | Question | Refusal, said: Said) -> float:
    """The share of what a sentence may mean that a task is not; 0 if there is no task."""
    return float(np.mean([not agrees(found, want) for want in said.means])) if isinstance(found, Task) else 0.0


def _answered(rash: Understanding, text: str) -> Task | Question | Refusal:
    """What a robot does that takes the first option instead of asking."""
    choices: dict[Phrase, str] = {}
    for _ in range(4):
        found = rash.task(text, choices)
        if not isinstance(found, Question) or not found.options:
            return found
        choices[found.phrase] = found.options[0]
    return found
