"""`python -m eval.checks.fuzz`: random input for everything that reads what others wrote, and for the server."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from tqdm import tqdm

from eval.checks.fuzz import server
from eval.checks.fuzz.findings import CORPUS, Findings, place_of
from eval.checks.fuzz.targets import TARGETS, Target, check_error
from eval.common.overdue import Overdue, within
from eval.common.runner import Measurement, Run, Settings, run
from eval.common.tables import document, markdown_table
from nsrecover.errors import InvalidConfiguration, NsrecoverError, did_you_mean

SERVER = "server"
NAMES = (*TARGETS, SERVER)
LONGEST_S = 5.0
"""Processor time for one input; one that takes longer is a finding."""
ROUND = 200
"""Inputs of one run of hypothesis, each with a seed of its own."""


@dataclass
class FuzzConfig(Settings):
    """Send random input to everything that reads what others wrote, and to the server.

      python -m eval.checks.fuzz                                 all targets, ten minutes each
      python -m eval.checks.fuzz target=log minutes=1 out=DIR    a quick look

    Valid logs, plans, domains, homes, sentences, bags, recordings, archives and checkpoints are changed at random and
    read. A reader may take an input or
    refuse it with one clear error of ours; everything else, and more than 5 s of processor time, is a failure. The
    server gets valid and invalid requests that schemathesis makes from its schema: no response may have a status of 500
    or above, and every response must match the schema. The smallest input of every kind of failure is kept in
    eval/checks/fuzz/corpus, which the tests read. Writes metrics.json and table.md to out=DIR.

    Attributes:
        target: log, plan, domain, sentence, bag, recording, archive, checkpoint or server; all, or some of them as
            [log,bag], one after the other.
        minutes: duration for each target.
    """

    target: Any = "all"
    minutes: float = 10.0
    workers: int = 1
    out: str = "outputs/fuzz"


def attempt(target: Target, data: bytes, findings: Findings) -> None:
    """Read one input; every outcome but success and one clear error of ours is a finding."""
    try:
        with within(LONGEST_S, processor=True):
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


def targets_of(config: FuzzConfig) -> list[str]:
    """Names of the targets that the settings ask for.

    Raises:
        InvalidConfiguration: there is no such target, or the time is not positive.
    """
    wanted = NAMES if config.target == "all" else [config.target] if isinstance(config.target, str) else config.target
    for name in wanted:
        if name not in NAMES:
            raise InvalidConfiguration(
                f"expected target as all or some of {', '.join(NAMES)}, found {name!r}.{did_you_mean(name, NAMES)}"
            )
    if not config.minutes > 0:
        raise InvalidConfiguration(f"expected minutes > 0, found {config.minutes}")
    return list(wanted)


def check(config: FuzzConfig) -> None:
    """Check the settings, see `targets_of`."""
    targets_of(config)


def measure(config: FuzzConfig, run: Run) -> dict[str, Any]:
    """Fuzz some targets or all; inputs that failed go into the corpus."""
    names = targets_of(config)
    targets = dict(zip(names, run.each(partial(fuzzed, config=config), names, "target"), strict=True))
    failures = sum(len(each["failures"]) for each in targets.values())
    return {"minutes": config.minutes, "seed": config.seed, "failures": failures, "targets": targets}


def fuzzed(name: str, config: FuzzConfig) -> dict[str, Any]:
    """What came out of one target."""
    findings = _attacked(name, config)
    kept = findings.keep(name)
    return {
        "inputs": findings.inputs,
        "outcomes": dict(sorted(findings.outcomes.items())),
        "failures": [
            {"place": place, "found": text, "input": each}
            for (place, (text, _)), each in zip(findings.failures.items(), kept, strict=True)
        ],
    }


def _attacked(name: str, config: FuzzConfig) -> Findings:
    seconds = 60 * config.minutes
    with _progress(name, seconds) as on_input:
        if name == SERVER:
            return server.attack(seconds, config.seed, on_input)
        return attack(TARGETS[name], seconds, config.seed, on_input)


@contextmanager
def _progress(name: str, seconds: float) -> Iterator[Callable[[], None]]:
    """A progress bar of seconds, and what to call after each input."""
    began, inputs = time.monotonic(), itertools.count(1)

    def update() -> None:
        number, passed = next(inputs), min(round(time.monotonic() - began), bar.total)
        if passed > bar.n:
            bar.set_postfix(inputs=number, refresh=False)
            bar.update(passed - bar.n)

    with tqdm(total=round(seconds), unit="s", desc=name) as bar:
        yield update


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


MEASUREMENT = Measurement(FuzzConfig, measure, table_of, check, adds=("target",))

if __name__ == "__main__":
    run(MEASUREMENT)
