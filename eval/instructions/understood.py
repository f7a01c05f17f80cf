"""What is understood of generated commands and paraphrases, with and without a second reader, and times of plans."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from eval.common.statistics import share_of
from eval.instructions.generator import KINDS, Generator
from nsrecover.core.prompts import Completion, Listener, Prompt
from nsrecover.domains.service.home_file import load_home
from nsrecover.errors import ModelFailure, require_known
from nsrecover.instructions.choosing import MEANING
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import RefusalCode, Stage, Task, TaskQuestion
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_home

OWN_HAND = (
    "paraphrases.yaml",
    *(f"texts/{name}.yaml" for name in ("errands", "people", "stories", "careless", "mixed", "long", "operator")),
)
STYLES = tuple(f"texts/styles_{i}.yaml" for i in range(1, 6))
PARAPHRASES = {
    "development": (*((name, slice(0, None, 2)) for name in OWN_HAND), *((name, slice(None)) for name in STYLES)),
    "held_out": tuple((name, slice(1, None, 2)) for name in OWN_HAND),
    "another_hand": (("another_hand.yaml", slice(None)),),
}
"""Files of paraphrases, and which sentences of each of their groups."""


def paraphrases(half: str) -> list[tuple[list[str], str]]:
    """The wanted goals and the sentence of every paraphrase of a half.

    Raises:
        InvalidConfiguration: there are no such paraphrases.
    """
    require_known(half, PARAPHRASES, "a known half")
    return [
        (stages_of(group["want"]), sentence)
        for name, chosen in PARAPHRASES[half]
        for group in yaml.safe_load((Path(__file__).parent / name).read_text(encoding="utf-8"))
        for sentence in group["say"][chosen]
    ]


def stages_of(want: str) -> list[str]:
    """The stages of a group; the goals of following and guiding belong to one stage."""
    return re.split(r"; (?!followed|guided)", want)


# -- what a task leads to, in the words of generated commands and paraphrases


def wanted(task: Task) -> tuple[str, ...]:
    """The goals of a task's stages, each with "@" and the place to which its search is limited.

    Taking something that a later stage moves, and meeting or finding someone or something before a later stage concerns
    it, are left out, as they are means; where they limit the search, that is noted at the later stage.
    """
    found, within = list[str](), dict[str, str]()
    for i, stage in enumerate(task.stages):
        limits = {**stage.things, **stage.people}
        for name, place in limits.items():
            within[name] = place or within.get(name, "")
        first = stage.goal[0]
        later = {name for after in task.stages[i + 1 :] for name in (*after.things, *after.people)}
        if first[0] in ("holding", "found", "beside") and first[1] in later and first[1] != "operator":
            continue
        found.append(_text(stage, within))
    return tuple(found)


def _text(stage: Stage, within: dict[str, str]) -> str:
    about = [fact for fact in sorted(stage.goal) if fact[0] != "counted"]
    words = [" ".join(fact) for fact in about]
    if stage.goal[0][0] in ("told", "answered"):
        words = [f"{stage.goal[0][0]} {next(iter(stage.people))}"]
    elif stage.goal[0][0] == "counted":
        words = [" ".join(sorted(stage.goal)[0])]
    names = [name for name in (*stage.things, *stage.people) if name != "operator"]
    place = next((within[name] for name in names if within.get(name)), "")
    return "; ".join(words) + (f" @{place}" if place else "")


def agrees(task: Task, want: Sequence[str]) -> bool:
    """Whether a task leads to what is wanted; a command may limit a search that the wanted goal does not."""
    found = wanted(task)
    return len(found) == len(want) and all(
        one == other or (" @" not in other and one.split(" @")[0] == other)
        for one, other in zip(found, want, strict=True)
    )


# -- generated commands and paraphrases, and times of plans


REPHRASED = (RefusalCode.NOT_UNDERSTOOD, RefusalCode.UNKNOWN_NAME)
"""Refusals after which the robot asks for other words."""


def understood_commands(commands: int, seed: int) -> dict[str, Any]:
    """How many generated commands lead to the wanted goals with a plan, by kind, and how long that takes."""
    right, confident, examples, seconds = list[bool](), list[bool](), list[str](), list[float]()
    kinds: dict[str, list[bool]] = {kind: [] for kind in KINDS}
    for block in range(0, commands, 500):
        home = drawn_home(seed * 1000 + block // 500 + 1)
        generator, understanding = Generator(home, seed * 100_000 + block), Understanding(home)
        understanding.plan("go to the kitchen")
        for _ in range(min(500, commands - block)):
            command = generator.command()
            began = time.perf_counter()
            found = understanding.plan(command.text)
            seconds.append(time.perf_counter() - began)
            planned = isinstance(found, TaskPlan)
            good = isinstance(found, TaskPlan) and agrees(found.task, command.want)
            right.append(good)
            confident.append(planned and not good)
            kinds[command.kind].append(good)
            if not good and len(examples) < 20:
                examples.append(command.text)
    return {
        "understood": share_of(right),
        "wrong_plan": share_of(confident),
        "by_kind": {kind: share_of(each) for kind, each in kinds.items() if each},
        "not_understood": examples,
        "plan_s": _median_and_p95(seconds),
    }


def plan_times(commands: int, seed: int, objects: int = 60) -> dict[str, Any]:
    """How long the plan for a command takes in a home of which so many objects are known by name, seconds."""
    home = drawn_home(seed * 1000 + 1)
    rng = np.random.default_rng([seed, 8])
    generator = Generator(home, seed)
    for name in [*generator.nouns, *(f"{noun} 2" for noun in generator.nouns)][: objects - len(home.items)]:
        home = home.with_item(name, str(rng.choice(home.furniture)))
    understanding, seconds = Understanding(home), list[float]()
    understanding.plan("go to the kitchen")
    for _ in range(commands):
        text = generator.command().text
        began = time.perf_counter()
        understanding.plan(text)
        seconds.append(time.perf_counter() - began)
    return {"objects": len(home.items), "commands": commands, **_median_and_p95(seconds)}


def _median_and_p95(seconds: Sequence[float]) -> dict[str, float]:
    return {"median": float(np.median(seconds)), "p95": float(np.quantile(seconds, 0.95))}


def understood_paraphrases(half: str) -> dict[str, Any]:
    """How many of some paraphrases lead to the wanted goals with a plan, and how many to another plan.

    Raises:
        InvalidConfiguration: there are no such paraphrases.
    """
    understanding = Understanding(load_home("apartment"))
    right, wrong, examples = list[bool](), list[bool](), list[str]()
    for want, sentence in paraphrases(half):
        found = understanding.plan(sentence)
        good = isinstance(found, TaskPlan) and agrees(found.task, want)
        right.append(good)
        wrong.append(isinstance(found, TaskPlan) and not good)
        if not good and half == "development":
            examples.append(sentence)
    return {"half": half, "understood": share_of(right), "wrong_plan": share_of(wrong), "not_understood": examples}


def understood_with(half: str, readers: Mapping[str, ModelReader | None], most: int | None = None) -> dict[str, Any]:
    """How many paraphrases are understood with a second reader, and how often the operator is asked.

    The operator agrees to what leads to the wanted goals, and to nothing else.

    Args:
        half: of the paraphrases.
        readers: name -> the second reader; None without one.
        most: paraphrases that are read, spread evenly; all if None.
    """
    found = {}
    said = paraphrases(half)
    said = said[:: max(1, len(said) // most)] if most else said
    for name, second in readers.items():
        understanding = Understanding(load_home("apartment"), second=second)
        right, wrong, asked, seconds = list[bool](), list[bool](), list[bool](), list[float]()
        for want, sentence in said:
            began = time.perf_counter()
            first = understanding.task(sentence)
            seconds.append(time.perf_counter() - began)
            options = first.options if isinstance(first, TaskQuestion) and first.phrase == MEANING else ()
            tasks = [first, *(understanding.task(sentence, {MEANING: option}) for option in options)]
            right.append(any(isinstance(each, Task) and agrees(each, want) for each in tasks))
            wrong.append(isinstance(first, Task) and not right[-1])
            asked.append(bool(options))
        found[name] = {
            "wrong_plan": share_of(wrong),
            "understood": share_of(right),
            "asked": share_of(asked),
            "read_s": _median_and_p95(seconds),
        }
    return found


class ErraticModel:
    """A language model that fails, talks nonsense, or chooses among what it may say by chance.

    Args:
        seed: of its errors.
    """

    name = "erratic"

    def __init__(self, seed: int) -> None:
        self._rng = np.random.default_rng([seed, 6])

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """Return an answer that has little to do with the question.

        Raises:
            ModelFailure: now and then.
        """
        schema = prompt.schema["properties"]["clauses"] if prompt.schema is not None else {"items": {"properties": {}}}
        fields = schema["items"]["properties"]
        drawn = {slot: str(self._rng.choice(of["enum"])) for slot, of in fields.items() if "enum" in of}
        clause = {slot: text for slot, text in drawn.items() if slot == "do" or self._rng.random() < 0.5}
        answer = json.dumps({"clauses": [clause]})
        options = (answer, answer, answer, answer, "", "not JSON", answer[:-3], json.dumps({"do": 7}))
        chosen = int(self._rng.integers(len(options) + 1))
        if chosen == len(options):
            raise ModelFailure("no complete answer in time")
        return Completion(options[chosen])


def with_models(half: str, seed: int) -> dict[str, Any]:
    """What is understood of a half of the paraphrases without a model, and with an erratic one.

    Args:
        half: of the paraphrases.
        seed: of the erratic model.
    """
    return understood_with(half, {"none": None, "erratic": ModelReader(ErraticModel(seed))})
