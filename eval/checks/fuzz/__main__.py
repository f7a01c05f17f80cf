"""`python -m eval.checks.fuzz`: random input for everything that reads what others wrote, and for the server."""

from __future__ import annotations

import random
import signal
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from eval.checks.fuzz import server
from eval.checks.fuzz.crafted import crafted
from eval.checks.fuzz.reading import ENDS_S, SIGNALS, Findings, Outcome, Reader, end
from eval.checks.fuzz.targets import TARGETS, Target
from eval.common.served import served
from eval.common.tables import document, markdown_table
from eval.run import Measurement, Run, Settings, run
from nsrecover.errors import require_known

SERVER, CRAFTED, ENDED = "server", "crafted", "ended"
NAMES = (*TARGETS, SERVER, CRAFTED, ENDED)
FILES = tuple(name for name in TARGETS if name not in ("plan", "sentence"))
"""Targets with crafted files."""
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
    failures. The target crafted reads files that are made to break readers; the target ended sends SIGTERM or SIGINT to
    commands that read damaged files, which have to end within 2 s. The server gets valid and invalid requests that
    schemathesis makes from its schema: no response may have a status of 500 or above, and every response must match the
    schema. The smallest input of every kind of failure is kept in eval/checks/fuzz/corpus, which the tests read. Writes
    metrics.json and table.md to out=DIR.

    Attributes:
        target: log, plan, domain, sentence, bag, recording, archive, checkpoint, server, crafted or ended; all, or some
            of them as [log,bag].
        inputs: number for each target; of crafted files there are as many as there are.
    """

    target: Any = "all"
    inputs: int = 2500
    out: str = "outputs/fuzz"


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


def attack_crafted(target: Target) -> Findings:
    """Read the crafted files of a target."""
    findings = Findings()
    with closing(Reader(target)) as reader:
        for what, make in crafted(target.examples()):
            findings.take(reader.read(data := make()), data, what)
    return findings


def attack_ended(names: tuple[str, ...], commands: int, seed: int) -> Findings:
    """Let commands read crafted files, or parts of good ones, and end them at a random moment."""
    rng, findings = random.Random(seed), Findings()
    for _ in range(commands):
        target = TARGETS[rng.choice(names)]
        what, make = rng.choice(list(crafted(target.examples())))
        whole = rng.choice(target.examples())
        data = make() if rng.random() < 0.5 else whole[: rng.randrange(len(whole))]
        number: signal.Signals = rng.choice(list(SIGNALS))
        code, seconds = end(target, data, number, rng.choice((0.0, 0.01, 0.05, 0.3)) * rng.random())
        findings.slowest_s = max(findings.slowest_s, seconds)
        if code in (SIGNALS[number], 0, 2) and seconds <= ENDS_S:
            findings.outcomes["ended by the signal" if code == SIGNALS[number] else "was done"] += 1
        else:
            said = f"{what} code {code} after {seconds:.1f} s"
            findings.take(Outcome(f"{number.name}, {target.name}", said), data)
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
    names = _names(config)
    parts = [part for name in names for part in _parts(name, config.inputs)]
    found = run.each(partial(fuzzed, seed=config.seed), parts, "part")
    targets = {
        name: _together([each for part, each in zip(parts, found, strict=True) if part[0] == name]) for name in names
    }
    failures = sum(len(each["failures"]) for each in targets.values())
    return {"seed": config.seed, "failures": failures, "targets": targets}


def _parts(name: str, inputs: int) -> Iterator[tuple[str, str, int]]:
    """Target, part of it, and number of inputs of the part."""
    if name == CRAFTED:
        yield from ((name, target, 0) for target in FILES)
        return
    size = inputs if name == SERVER else PART  # a server takes long to start
    for number in range(0, inputs, size):
        yield name, str(number // PART), min(size, inputs - number)


def fuzzed(part: tuple[str, str, int], seed: int) -> dict[str, Any]:
    """What came out of one part of a target."""
    name, which, inputs = part
    own = seed if name == CRAFTED else seed * 1_000_000 + int(which)
    if name == CRAFTED:
        findings = attack_crafted(TARGETS[which])
    elif name == ENDED:
        findings = attack_ended(FILES, inputs, own)
    elif name == SERVER:
        with served() as one:
            findings = server.fuzz(one.url, own, cases=inputs)
    else:
        findings = attack(TARGETS[name], inputs, own)
    kept = findings.keep(name) if name in TARGETS else [""] * len(findings.failures)
    return {
        "inputs": findings.inputs,
        "outcomes": findings.outcomes,
        "slowest_s": findings.slowest_s,
        "most_mb": findings.most_mb,
        "failures": [
            {"place": place, "found": text, "input": each}
            for (place, (text, _)), each in zip(findings.failures.items(), kept, strict=True)
        ],
    }


def _together(parts: list[dict[str, Any]]) -> dict[str, Any]:
    outcomes = sum((Counter[str](each["outcomes"]) for each in parts), Counter[str]())
    return {
        "inputs": sum(each["inputs"] for each in parts),
        "outcomes": dict(sorted(outcomes.items())),
        "slowest_s": round(max(each["slowest_s"] for each in parts), 2),
        "most_mb": round(max(each["most_mb"] for each in parts)),
        "failures": list({failure["place"]: failure for each in parts for failure in each["failures"]}.values()),
    }


def table_of(metrics: dict[str, Any]) -> str:
    """Metrics as a table, with the failures."""
    rows = [
        [name, each["inputs"], ", ".join(f"{count:,} {what}" for what, count in each["outcomes"].items()),
         f"{each['slowest_s']:.2f}", each["most_mb"] or "", len(each["failures"])]
        for name, each in metrics["targets"].items()
    ]  # fmt: skip
    failures = [
        f"{each['place']}: {each['found']} {each['input']}"
        for target in metrics["targets"].values()
        for each in target["failures"]
    ]
    columns = ("target", "inputs", "outcomes", "slowest, s", "most, MB", "kinds of failures")
    return document(
        f"{metrics['failures']} kinds of failures; seed {metrics['seed']}",
        markdown_table(columns, rows),
        "\n".join(failures[:20]),
    )


MEASUREMENT = Measurement(FuzzConfig, measure, table_of, check, {"inputs": 1}, adds=("target", "inputs"))

if __name__ == "__main__":
    run(MEASUREMENT)
