"""`python -m eval.completion`: how often an episode is called completed although its goal does not hold."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import grouped, mean
from eval.common.tables import columns_table, document, figure
from eval.completion.worlds import BoxWorld, Ended, FactWorld, RandomWorld, Trouble, carry_out, task_of
from eval.metrics import Metric, Rows, columns, share, summary, total
from eval.run import Measurement, Run, Settings, run
from nsrecover.core.episode import EpisodeStatus, StopCode

BOXES = "boxes"
UNDECIDED = {str(StopCode.CANNOT_TELL), str(StopCode.GOAL_UNSEEN)}
"""Reasons to end without a verdict."""


@dataclass
class CompletionConfig(Settings):
    """Run random episodes of boxes and of facts, in which actions fail, observations lie, and others change things.

      python -m eval.completion                                   6000 episodes; about ten minutes on one core
      python -m eval.completion fails=[0.3] lies=[0] drops=[0] changes=[0] worlds=[cold_store,workshop] episodes=40

    Attributes:
        episodes: of each world.
        worlds: boxes, or domains of facts in eval/completion/domains.
        fails: shares of actions that fail; one is drawn for each episode.
        lies: shares of observations that show something as it is not.
        drops: shares of observations that do not show something.
        changes: shares of actions during which others change something.
    """

    episodes: int = 1500
    worlds: list[str] = field(default_factory=lambda: [BOXES, "laboratory", "cold_store", "workshop"])
    fails: list[float] = field(default_factory=lambda: [0.0, 0.1, 0.3, 0.5])
    lies: list[float] = field(default_factory=lambda: [0.0, 0.02, 0.05, 0.1])
    drops: list[float] = field(default_factory=lambda: [0.0, 0.1])
    changes: list[float] = field(default_factory=lambda: [0.0, 0.1])


@dataclass(frozen=True)
class CompletionRow:
    """A random episode.

    Attributes:
        world: where.
        number: of the episode.
        trouble: what went wrong.
        ended: how it ended.
    """

    world: str
    number: int
    trouble: Trouble
    ended: Ended

    @property
    def completed(self) -> bool:
        """Whether the session said so."""
        return self.ended.status == EpisodeStatus.COMPLETED

    @property
    def false(self) -> bool:
        """Whether it said so although the goal does not hold."""
        return self.completed and bool(self.ended.unmet)


def world_of(name: str, number: int, config: CompletionConfig) -> RandomWorld[Any]:
    """The world of an episode."""
    rng = np.random.default_rng([config.seed, number])
    trouble = Trouble(*(float(rng.choice(each)) for each in (config.fails, config.lies, config.drops, config.changes)))
    return (
        BoxWorld(rng, trouble) if name == BOXES else FactWorld(rng, trouble, task=task_of(name), stated=number % 2 == 0)
    )


def ended(item: tuple[str, int], config: CompletionConfig) -> CompletionRow:
    """Run an episode."""
    world = world_of(*item, config)
    return CompletionRow(*item, world.trouble, carry_out(world)[0])


def _per_action(rows: Rows) -> float | None:
    acts = sum(row.ended.acts for row in rows)
    return sum(row.ended.looks for row in rows) / acts if acts else None


METRICS = (
    total("episodes", "number"),
    share("completed", "completed", lambda row: row.completed, digits=2),
    share("false_completion", "false completion", lambda row: row.false, lambda row: row.completed, digits=2),
    share("undecided_where_clear", "cannot tell, all looks clear", lambda row: row.ended.why in UNDECIDED,
          lambda row: row.ended.wrong == 0, digits=2),
    Metric("asked_for_help", "",
           lambda rows: dict(Counter(row.ended.why for row in rows if not row.completed).most_common()), str),
    Metric("looks_per_action", "looks per action", _per_action, figure("looks_per_action", digits=2)),
    Metric("actions", "actions", lambda rows: mean([row.ended.acts for row in rows]), figure("actions")),
)  # fmt: skip


def measure(config: CompletionConfig, run: Run) -> dict[str, Any]:
    """Run all episodes."""
    items = [(name, number) for number in range(config.episodes) for name in config.worlds]
    rows = run.each(partial(ended, config=config), items, "episode", lambda item: f"{item[0]} {item[1]}")
    parts: dict[str, list[CompletionRow]] = {"all": rows}
    for part in (lambda row: row.world, lambda row: f"{100 * row.trouble.fails:.0f} % failures",
                 lambda row: f"{100 * row.trouble.lies:.0f} % lies"):  # fmt: skip
        parts |= {name: list(group) for name, group in grouped(rows, part).items()}
    false = [f"{row.world} {row.number}: {row.trouble}: {row.ended.unmet}" for row in rows if row.false]
    return {
        "seed": config.seed,
        "parts": {name: summary(group, METRICS) for name, group in parts.items()},
        "false": false,
    }


def table(metrics: Mapping[str, Any]) -> str:
    """A line for each part."""
    parts = columns_table(["episodes of"], metrics["parts"], columns(METRICS))
    return document("Random episodes of boxes and facts", parts)


MEASUREMENT = Measurement(CompletionConfig, measure, table, least={"episodes": 1}, checkpoint=None, adds=("episodes",))

if __name__ == "__main__":
    run(MEASUREMENT)
