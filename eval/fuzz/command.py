"""`python -m eval.fuzz`: random input for everything that reads what others wrote, and for the server."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from tqdm import tqdm

from eval.common.output import write_results
from eval.common.overdue import Overdue, within
from eval.common.tables import document, markdown_table
from eval.fuzz import server
from eval.fuzz.findings import CORPUS, Findings, place_of
from eval.fuzz.targets import TARGETS, Target, check_error
from nsrecover.errors import InvalidConfiguration, NsrecoverError, did_you_mean

SERVER = "server"
NAMES = (*TARGETS, SERVER)
LONGEST_S = 20.0
"""Time for one input; one that takes longer is a finding."""
ROUND = 200
"""Inputs of one run of hypothesis, each with a seed of its own."""


@dataclass
class FuzzConfig:
    """Top level of conf/fuzz.yaml."""

    target: str = "all"
    minutes: float = 10.0
    seed: int = 0
    out: str = "outputs/fuzz"


def attempt(target: Target, data: bytes, findings: Findings) -> None:
    """Read one input; every outcome but success and one clear error of ours is a finding."""
    try:
        with within(LONGEST_S):
            target.read(data)
        findings.count("taken")
    except NsrecoverError as problem:
        try:
            check_error(problem)
            findings.count("refused")
        except AssertionError as unclear:
            findings.fail(f"unclear {place_of(problem)}", str(unclear), data)
    except (Exception, Overdue) as problem:
        findings.fail(place_of(problem), f"{type(problem).__name__}: {str(problem)[:500]}", data)


def attack(target: Target, seconds: float, seed: int, on_input: Callable[[], object] = lambda: None) -> Findings:
    """Read random inputs for a time.

    Args:
        target: what reads them.
        seconds: duration.
        seed: of the inputs.
        on_input: called after each.
    """
    findings, inputs, end = Findings(), target.inputs(), time.monotonic() + seconds
    for number in itertools.count():
        if time.monotonic() >= end:
            return findings

        @hypothesis.seed(seed * 1_000_000 + number)
        @settings(
            max_examples=ROUND, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )  # fmt: skip
        @given(inputs)
        def one_round(data: bytes) -> None:
            if time.monotonic() < end:
                attempt(target, data, findings)
                on_input()

        one_round()
    raise AssertionError


def measure(config: FuzzConfig) -> dict[str, Any]:
    """Fuzz one target or all, and write metrics and table; inputs that failed go into the corpus.

    Raises:
        InvalidConfiguration: there is no such target, or the time is not positive.
    """
    if config.target != "all" and config.target not in NAMES:
        raise InvalidConfiguration(
            f"expected target as all or one of {', '.join(NAMES)}, found {config.target!r}."
            f"{did_you_mean(config.target, NAMES)}"
        )
    if not config.minutes > 0:
        raise InvalidConfiguration(f"expected minutes > 0, found {config.minutes}")
    seconds, found = 60 * config.minutes, dict[str, Findings]()
    for name in NAMES if config.target == "all" else (config.target,):
        with _progress(name, seconds) as on_input:
            if name == SERVER:
                found[name] = server.attack(seconds, config.seed, on_input)
            else:
                found[name] = attack(TARGETS[name], seconds, config.seed, on_input)
    targets = {name: _metrics(name, findings) for name, findings in found.items()}
    failures = sum(len(each["failures"]) for each in targets.values())
    metrics = {"minutes": config.minutes, "seed": config.seed, "failures": failures, "targets": targets}
    write_results(config.out, metrics, table_of(metrics), config)
    return metrics


class _progress:  # noqa: N801 - a context manager in the place of a function
    """Progress bar of seconds."""

    def __init__(self, name: str, seconds: float) -> None:
        self._bar = tqdm(total=round(seconds), unit="s", desc=name, file=sys.stderr)
        self._began, self._inputs = time.monotonic(), 0

    def __enter__(self) -> Callable[[], None]:
        return self._update

    def __exit__(self, *_: object) -> None:
        self._bar.close()

    def _update(self) -> None:
        self._inputs += 1
        passed = min(round(time.monotonic() - self._began), self._bar.total)
        if passed > self._bar.n:
            self._bar.set_postfix(inputs=self._inputs, refresh=False)
            self._bar.update(passed - self._bar.n)


def _metrics(name: str, findings: Findings) -> dict[str, Any]:
    kept = findings.keep(name)
    return {
        "inputs": findings.inputs,
        "outcomes": dict(sorted(findings.outcomes.items())),
        "failures": [
            {"place": place, "found": text, "input": each}
            for (place, (text, _)), each in zip(findings.failures.items(), kept, strict=True)
        ],
    }


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the failures."""
    rows = [
        [name, each["inputs"], ", ".join(f"{count:,} {what}" for what, count in each["outcomes"].items()),
         len(each["failures"])]
        for name, each in metrics["targets"].items()
    ]  # fmt: skip
    failures = [
        f"{each['place']}: {each['found']} ({Path(CORPUS.parent.name) / CORPUS.name / each['input']})"
        for target in metrics["targets"].values()
        for each in target["failures"]
    ]
    return document(
        f"{metrics['failures']} kinds of failures; {metrics['minutes']:g} min for each target, seed {metrics['seed']}",
        markdown_table(("target", "inputs", "outcomes", "kinds of failures"), rows),
        "\n".join(failures[:20]),
    )
