"""`python -m eval.during`: what goes wrong while a robot moves, watched meanwhile, or judged after the action only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from eval.common.systems import system_of
from eval.during import household, tabletop
from eval.during.settings import ARMS, DuringConfig
from eval.kitchen.course import models
from eval.run import Measurement, Run, run
from nsrecover.errors import require_known
from nsrecover.models.household import SHIPPED
from sim.sensors.presets import sensor as preset


class Domain(NamedTuple):
    """How a domain is measured.

    Attributes:
        kinds: what can go wrong in it.
        measure: settings, run -> metrics.
        table: those -> Markdown.
    """

    kinds: list[str]
    measure: Callable[[DuringConfig, Run], dict[str, Any]]
    table: Callable[[dict[str, Any]], str]


DOMAINS = {
    "tabletop": Domain(tabletop.KINDS, tabletop.measure, tabletop.table),
    "household": Domain(household.KINDS, household.measure, household.table),
}


def complete(config: DuringConfig) -> DuringConfig:
    """The settings with all kinds and arms where none are given."""
    return replace(config, kinds=config.kinds or DOMAINS[config.domain].kinds, arms=config.arms or list(ARMS))


def measure(config: DuringConfig, run: Run) -> dict[str, Any]:
    """Run all episodes in all arms."""
    return DOMAINS[config.domain].measure(complete(config), run)


def table(metrics: dict[str, Any]) -> str:
    """Table of all arms."""
    return DOMAINS[metrics.get("domain", "tabletop")].table(metrics)


def check(config: DuringConfig) -> None:
    """Refuse domains, kinds that do not strike during a motion, sensors and checkpoints that do not exist."""
    preset(config.sensor)
    choices = [("domain", [config.domain], list(DOMAINS)), ("arms", config.arms, list(ARMS))]
    if config.domain in DOMAINS:
        choices.append(("kinds", config.kinds, DOMAINS[config.domain].kinds))
    for what, given, known in choices:
        for each in given:
            require_known(each, known, f"{what} of {known}")
    if config.domain == "household":
        models(config.checkpoint)
    else:
        system_of(config.checkpoint)


def checkpoints(config: DuringConfig) -> list[str | None]:
    """The learned parts of the household, besides those of the tabletop."""
    return [str(SHIPPED)] if config.domain == "household" and config.checkpoint is None else []


MEASUREMENT = Measurement(
    DuringConfig, measure, table, check=check, checkpoints=checkpoints, adds=("episodes", "kinds")
)


if __name__ == "__main__":
    run(MEASUREMENT)
