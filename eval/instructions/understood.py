"""What is understood of generated commands and paraphrases, and how long a plan takes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.instructions.generator import KINDS, Generator
from eval.instructions.sentences import paraphrases
from eval.instructions.wanted import agrees
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.choosing import MEANING
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import Question, RefusalCode, Task
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_home

REPHRASED = (RefusalCode.NOT_UNDERSTOOD, RefusalCode.UNKNOWN_NAME)
"""Refusals after which the robot asks for other words."""


def understood_commands(commands: int, seed: int) -> dict[str, Any]:
    """How many generated commands lead to the wanted goals with a plan, by kind, and how long that takes."""
    right, confident, examples, seconds = list[bool](), list[bool](), list[str](), list[float]()
    kinds: dict[str, list[bool]] = {make.__name__.removeprefix("_"): [] for make in KINDS}
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
            options = first.options if isinstance(first, Question) and first.phrase == MEANING else ()
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
