"""What is understood of generated commands and paraphrases, and what the service robot recovers from."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np

from eval.common.output import write_results
from eval.common.statistics import share_of
from eval.common.tables import markdown_table, percent_of
from eval.instructions.asking import asked, calibrated, write_trust
from eval.instructions.episodes import PAPER, episode, paper_command
from eval.instructions.generator import KINDS, Generator
from eval.instructions.sentences import paraphrases
from eval.instructions.wanted import agrees
from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.planning import TaskPlan
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_home

MODES = ("M1", "M2", "M3", "all")


@dataclass
class InstructionsConfig:
    """Top level of conf/instructions.yaml."""

    commands: int = 1000
    episodes: int = 20
    homes: int = 5
    half: str = "development"
    calibrate: bool = False
    seed: int = 0
    out: str = "outputs/instructions"


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
        "plan_s": {"median": float(np.median(seconds)), "p95": float(np.quantile(seconds, 0.95))},
    }


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


def measure(config: InstructionsConfig) -> dict[str, Any]:
    """Measure everything and write the results."""
    if config.calibrate:
        write_trust(calibrated())
    metrics: dict[str, Any] = {"seed": config.seed, "commands": config.commands, "episodes": config.episodes}
    if config.commands:
        generated = understood_commands(config.commands, config.seed)
        metrics |= {"understood": generated["understood"]["value"], "generated": generated}
    metrics["paraphrases"] = understood_paraphrases(config.half)
    metrics["asking"] = asked(config.half)
    if config.episodes:
        runs = {mode: [episode(mode, i, config.seed) for i in range(config.episodes)] for mode in MODES}
        done = {mode: share_of(each.done for each in group) for mode, group in runs.items()}
        metrics |= {"recovered": {mode: share["value"] for mode, share in done.items()}, "done": done}
        metrics["claimed_though_not_done"] = share_of(
            each.claimed and not each.done for group in runs.values() for each in group
        )
        metrics["questions_per_task"] = float(np.mean([each.questions for group in runs.values() for each in group]))
    if config.homes:
        paper = [
            [paper_command(i, config.seed * 1000 + home + 1) for i in range(len(PAPER))] for home in range(config.homes)
        ]
        shown = share_of(each.done and each.kind in each.recoveries for home in paper for each in home)
        metrics["paper_commands"] = shown["value"]
        metrics["paper"] = {
            "homes": config.homes,
            "done_and_recovery_shown": shown,
            "all_seven": share_of(all(each.done for each in home) for home in paper),
            "done": share_of(each.done for home in paper for each in home),
            "by_command": {
                str(i + 1): {
                    "done": share_of(home[i].done for home in paper),
                    "recoveries": dict(Counter(code for home in paper for code in home[i].recoveries)),
                }
                for i in range(len(PAPER))
            },
        }
    write_results(config.out, metrics, markdown(metrics), config)
    return metrics


def markdown(metrics: dict[str, Any]) -> str:
    """The main numbers as a table."""
    rows = [["paraphrases understood", percent_of(metrics["paraphrases"]["understood"])],
            ["paraphrases with a wrong plan", percent_of(metrics["paraphrases"]["wrong_plan"])]]  # fmt: skip
    asking = metrics["asking"]
    for kind, name in (
        ("ambiguous", "ambiguous sentences asked about"),
        ("twin", "their unambiguous twins asked about"),
    ):
        if kind in asking["asked"]:
            rows.append([name, percent_of(asking["asked"][kind])])
    for policy, name in (("calibrated", "calibrated"), ("always", "always asking"), ("never", "never asking")):
        found = asking["policies"][policy]
        numbers = f"{100 * found['wrongly_unasked']:.1f} % and {found['questions_per_task']:.2f}"
        rows.append([f"wrongly not asked, and questions per task: {name}", numbers])
    if "generated" in metrics:
        generated = metrics["generated"]
        rows += [["generated commands understood", percent_of(generated["understood"])],
                 ["generated commands with a wrong plan", percent_of(generated["wrong_plan"])],
                 ["sentence to plan, median", f"{1000 * generated['plan_s']['median']:.1f} ms"]]  # fmt: skip
    rows += [[f"done, {mode}", percent_of(share)] for mode, share in metrics.get("done", {}).items()]
    if "questions_per_task" in metrics:
        rows.append(["questions per task", f"{metrics['questions_per_task']:.2f}"])
    if "paper" in metrics:
        rows.append(["the paper's commands done", percent_of(metrics["paper"]["done"])])
        rows.append(["and with the kind of recovery", percent_of(metrics["paper"]["done_and_recovery_shown"])])
    return markdown_table(["", "measured"], rows)
