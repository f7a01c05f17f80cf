"""What is understood, recovered from, asked and searched: all numbers of `python -m eval.instructions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.common.tables import markdown_table, number, percent_of, value_at
from eval.instructions.asking import asked
from eval.instructions.corrections import corrections
from eval.instructions.episodes import FALSE, MODES, episode, paper_commands
from eval.instructions.searching import search_costs
from eval.instructions.understood import (
    paraphrases,
    plan_times,
    understood_commands,
    understood_paraphrases,
    with_models,
)
from eval.instructions.unserved import unserved_commands
from eval.run import Measurement, Run, Settings, run

_TIMED = 300
"""Commands of which the time to a plan is measured in a home with many known objects."""


@dataclass
class InstructionsConfig(Settings):
    """Measure which commands are understood, and what is recovered from in a simulated home.

    Reads generated commands of RoboCup@Home's kinds and paraphrases written by hand, and carries out tasks in a home
    without contact physics in which information is missing (M1), the plan is wrong (M2), or skills fail (M3).

      python -m eval.instructions                                       1,000 commands, 20 episodes of each kind
      python -m eval.instructions seed=1 commands=10000 episodes=200 homes=20 searches=500 half=held_out out=DIR

    Writes metrics.json and table.md to out=DIR. A run that was stopped continues with the next part.

    Attributes:
        commands: number of generated commands; none: they are left out.
        episodes: number of episodes of each kind of recovery, of all together, and of people who answer falsely; 0:
            left out.
        homes: number of drawn homes for the paper's seven commands.
        searches: number of drawn homes in which the cost of a search is compared with the optimum; about 3 s for each;
            0: left out.
        corrections: number of drawn homes in each of which 15 kinds of corrections are carried out; 0: left out.
        half: paraphrases: development or held_out half of those by the author of the grammar, or another_hand.
        seed: of commands, homes and episodes.
    """

    commands: int = 1000
    episodes: int = 20
    homes: int = 5
    searches: int = 5
    corrections: int = 2
    half: str = "development"


def recovered(episodes: int, seed: int) -> dict[str, Any]:
    """How many episodes of each kind are done, next to an oracle, and which refuted facts are kept."""
    runs = {mode: [episode(mode, i, seed) for i in range(episodes)] for mode in MODES}
    done = {mode: share_of(each.done for each in group) for mode, group in runs.items()}
    every = [each for group in runs.values() for each in group]
    return {
        "recovered": {mode: share["value"] for mode, share in done.items()},
        "done": done,
        "of_what_the_oracle_does": {
            mode: share_of(each.done for each in group if each.by_oracle) for mode, group in runs.items()
        },
        "by_oracle": {mode: share_of(each.by_oracle for each in group) for mode, group in runs.items()},
        "misled": share_of(each.misled for each in runs[FALSE]),
        "keeps_a_refuted_fact": share_of(bool(each.refuted) for each in every),
        "claimed_though_not_done": share_of(each.claimed and not each.done for each in every),
        "asked_for_help": share_of(not each.claimed for each in every),
        "questions_per_task": float(np.mean([each.questions for each in every])),
    }


def parts_of(config: InstructionsConfig) -> dict[str, Callable[[], Any]]:
    """What is measured: key of metrics.json, `*` for several keys -> how."""
    seed, wanted = config.seed, {
        "generated": config.commands, "unserved": config.commands, "plan_s": config.commands, "*": config.episodes,
        "paper": config.homes, "corrections": config.corrections, "search": config.searches,
    }  # fmt: skip
    every: dict[str, Callable[[], Any]] = {
        "generated": lambda: understood_commands(config.commands, seed),
        "unserved": lambda: unserved_commands(config.commands // 3, seed),
        "plan_s": lambda: plan_times(_TIMED, seed),
        "paraphrases": lambda: understood_paraphrases(config.half),
        "asking": lambda: asked(config.half),
        "models": lambda: with_models(config.half, seed),
        "*": lambda: recovered(config.episodes, seed),
        "paper": lambda: paper_commands(config.homes, seed),
        "corrections": lambda: corrections(config.corrections, seed),
        "search": lambda: search_costs(config.searches, seed),
    }
    return {name: part for name, part in every.items() if wanted.get(name, 1)}


def measured(name: str, config: InstructionsConfig) -> dict[str, Any]:
    """One part."""
    return {name: parts_of(config)[name]()}


def measure(config: InstructionsConfig, run: Run) -> dict[str, Any]:
    """Measure every part."""
    metrics: dict[str, Any] = {"seed": config.seed, "commands": config.commands, "episodes": config.episodes}
    for part in run.each(partial(measured, config=config), list(parts_of(config)), "part"):
        metrics |= part.get("*", part)
    metrics["wrongly_unasked"] = metrics["asking"]["policies"]["as shipped"]["wrongly_unasked"]
    if "generated" in metrics:
        metrics["understood"] = metrics["generated"]["understood"]["value"]
    if "paper" in metrics:
        metrics["paper_commands"] = metrics["paper"]["done_and_recovery_shown"]["value"]
    return metrics


def markdown(metrics: Mapping[str, Any]) -> str:
    """The main numbers as a table; without what was left out."""
    rows = list[tuple[str, str]]()

    def add(title: str, *path: str, cell: Callable[[Any], str] = percent_of) -> None:
        """Add a number, if it was measured."""
        with suppress(KeyError):
            rows.append((title, cell(value_at(metrics, path))))

    add("paraphrases understood", "paraphrases", "understood")
    add("paraphrases with a wrong plan", "paraphrases", "wrong_plan")
    add("paraphrases understood, language model: erratic", "models", "erratic", "understood")
    add("ambiguous sentences asked about", "asking", "asked", "ambiguous")
    add("their unambiguous twins asked about", "asking", "asked", "twin")
    for policy, name in {"as shipped": "as shipped", "always": "always asking", "never": "never asking"}.items():
        add(f"wrongly not asked, and questions per task: {name}", "asking", "policies", policy, cell=_policy)
    add("generated commands understood", "generated", "understood")
    add("generated commands with a wrong plan", "generated", "wrong_plan")
    known = metrics.get("plan_s", {}).get("objects")
    add(f"sentence to plan, {known} known objects, median and 95th percentile", "plan_s", cell=_times)
    for mode in metrics.get("of_what_the_oracle_does", ()):
        add(f"done, of what an oracle does: {mode}", "of_what_the_oracle_does", mode)
    add("a refuted fact is kept", "keeps_a_refuted_fact")
    add("false completion: said to be done, and not done", "claimed_though_not_done")
    add("asked for help, or refused", "asked_for_help")
    add("questions per task in the episodes", "questions_per_task", cell=number)
    add("the paper's commands done, with the kind of recovery", "paper", "done_and_recovery_shown")
    add("homes with all seven", "paper", "all_seven")
    add("commands with something that no skill serves: a plan", "unserved", "plan")
    add("commands with something that no skill serves: it is named", "unserved", "named")
    add("corrections of 15 kinds: said to be done though not", "corrections", "claimed though wrong")
    add("corrections of 15 kinds: done as meant", "corrections", "right")
    homes = metrics.get("search", {}).get("homes")
    add(f"expected cost of a search over the optimum, {homes} homes", "search", cell=_search)
    return markdown_table(["", "measured"], rows)


def _policy(found: Mapping[str, float]) -> str:
    return f"{100 * found['wrongly_unasked']:.1f} % and {found['questions_per_task']:.2f}"


def _times(found: Mapping[str, float]) -> str:
    return f"{1000 * found['median']:.1f} and {1000 * found['p95']:.1f} ms"


def _search(found: Mapping[str, float]) -> str:
    return f"{found['over_optimum']:.3f} (worst home {found['worst']:.3f})"


MEASUREMENT = Measurement(
    InstructionsConfig, measure, markdown, check=lambda config: paraphrases(config.half), checkpoint=None
)


if __name__ == "__main__":
    run(MEASUREMENT)
