"""What is understood of generated commands and paraphrases, and how long a plan takes."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.instructions.generator import KINDS, Generator
from eval.instructions.sentences import paraphrases
from eval.instructions.wanted import agrees
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.task import Refusal, RefusalCode, Task
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


def understood_with(half: str, models: Mapping[str, Callable[[str], str | None]]) -> dict[str, Any]:
    """How many paraphrases are understood if language models propose other words for those that are not.

    The operator agrees to a proposal that leads to the wanted goals, and to no other one.

    Args:
        half: of the paraphrases.
        models: name -> proposes other words, or None.
    """
    understanding = Understanding(load_home("apartment"))
    right, wrong, proposed = defaultdict[str, list[bool]](list), defaultdict[str, list[bool]](list), Counter[str]()
    for want, sentence in paraphrases(half):
        first = understanding.task(sentence)
        for name, rephrase in models.items():
            found = first
            if isinstance(found, Refusal) and found.code in REPHRASED and (other := rephrase(sentence)) is not None:
                proposed[name] += 1
                again = understanding.task(other)
                found = again if isinstance(again, Task) and agrees(again, want) else found
            right[name].append(isinstance(found, Task) and agrees(found, want))
            wrong[name].append(isinstance(found, Task) and not right[name][-1])
    return {
        name: {"understood": share_of(right[name]), "wrong_plan": share_of(wrong[name]), "proposed": proposed[name]}
        for name in models
    }
