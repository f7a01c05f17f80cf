"""`python -m eval.checks.fuzz`: random input for everything that reads what others wrote, and for the server."""

from __future__ import annotations

from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from eval.checks.fuzz import server
from eval.checks.fuzz.reading import Findings, Reader
from eval.checks.fuzz.targets import TARGETS, Target
from eval.common.served import served
from eval.common.tables import document, markdown_table
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import require_known

SERVER = "server"
NAMES = (*TARGETS, SERVER)
PART = 100
"""Inputs of one run of hypothesis, with a seed of its own; what is done is kept after each."""


@dataclass
class FuzzConfig(Settings):
    """Send random input to everything that reads what others wrote, and to the server.

      python -m eval.checks.fuzz                                 all targets, 2,500 inputs each
      python -m eval.checks.fuzz target=log inputs=100 out=DIR   a quick look

    Valid logs, plans, domains, homes, sentences, bags, recordings, archives and settings of checkpoints are changed at
    random and read, in a process of their own. A reader may take an input or refuse it with one clear error of ours of
    at most 400 characters; everything else, more than 5 s of processor time, more than 300 MB, a hang and a crash are
    failures. The server gets valid and invalid requests that schemathesis makes from its schema: no response may have a
    status of 500 or above, and every response must match the schema. The smallest input of every kind of failure is
    kept in eval/checks/fuzz/corpus, which the tests read. Writes metrics.json and table.md to out=DIR.

    Attributes:
        target: log, plan, domain, sentence, bag, recording, archive, checkpoint or server; all, or some of them as
            [log,bag].
        inputs: number for each target.
    """

    target: Any = "all"
    inputs: int = 2500


def attack(target: Target, inputs: int, seed: int) -> Findings:
    """Read random inputs."""
    findings = Findings()
    with closing(Reader(target)) as reader:

        @hypothesis.seed(seed)
        @settings(
            max_examples=inputs, deadline=None, database=None, suppress_health_check=list(HealthCheck),
            phases=[Phase.generate],
        )  # fmt: skip
        @given(target.inputs())
        def one_round(data: bytes) -> None:
            findings.take(reader.read(data), data)

        one_round()
    return findings


def check(config: FuzzConfig) -> None:
    """Refuse targets that there are not."""
    for name in _names(config):
        require_known(name, NAMES, f"target as all or some of {', '.join(NAMES)}")


def _names(config: FuzzConfig) -> list[str]:
    given = NAMES if config.target == "all" else [config.target] if isinstance(config.target, str) else config.target
    return list(given)


def measure(config: FuzzConfig, run: Run) -> dict[str, Any]:
    """Fuzz some targets or all; inputs that failed go into the corpus."""
    parts = [
        (name, number // PART, min(size, config.inputs - number))
        for name in _names(config)
        for size in [config.inputs if name == SERVER else PART]  # a server takes long to start
        for number in range(0, config.inputs, size)
    ]
    found = list(zip(parts, run.each(partial(fuzzed, seed=config.seed), parts, "part"), strict=True))
    targets = {name: _together([each for part, each in found if part[0] == name]) for name in _names(config)}
    failures = sum(len(each["failures"]) for each in targets.values())
    return {"seed": config.seed, "failures": failures, "targets": targets}


def fuzzed(part: tuple[str, int, int], seed: int) -> dict[str, Any]:
    """What came out of one part of a target."""
    name, which, inputs = part
    own = seed * 1_000_000 + which
    if name == SERVER:
        with served() as one:
            findings = server.fuzz(one.url, own, cases=inputs)
    else:
        findings = attack(TARGETS[name], inputs, own)
    kept = findings.keep(name) if name in TARGETS else [""] * len(findings.failures)
    return {
        "outcomes": findings.outcomes,
        "slowest_s": findings.slowest_s,
        "failures": [
            {"place": place, "found": text, "input": each}
            for (place, (text, _)), each in zip(findings.failures.items(), kept, strict=True)
        ],
    }


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    outcomes = sum((Counter[str](each["outcomes"]) for each in parts), Counter[str]())
    return {
        "inputs": outcomes.total(),
        "outcomes": dict(sorted(outcomes.items())),
        "slowest_s": round(max(each["slowest_s"] for each in parts), 2),
        "failures": list({failure["place"]: failure for each in parts for failure in each["failures"]}.values()),
    }


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the failures."""
    rows = [
        [name, each["inputs"], ", ".join(f"{count:,} {what}" for what, count in each["outcomes"].items()),
         f"{each['slowest_s']:.2f}", len(each["failures"])]
        for name, each in metrics["targets"].items()
    ]  # fmt: skip
    failures = [
        f"{each['place']}: {each['found']} {each['input']}"
        for target in metrics["targets"].values()
        for each in target["failures"]
    ]
    return document(
        f"{metrics['failures']} kinds of failures; seed {metrics['seed']}",
        markdown_table(("target", "inputs", "outcomes", "slowest, s", "kinds of failures"), rows),
        "\n".join(failures[:20]),
    )


MEASUREMENT = Measurement(FuzzConfig, measure, table_of, check, {"inputs": 1}, adds=("target", "inputs"))

if __name__ == "__main__":
    run(MEASUREMENT)
