"""Commands that read damaged files and are ended by a signal meanwhile."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import time
from collections.abc import Sequence
from multiprocessing.connection import Connection

from eval.checks.fuzz.crafted import crafted
from eval.checks.fuzz.findings import Findings
from eval.checks.fuzz.targets import Target
from nsrecover.errors import cli_errors

SIGNALS = {signal.SIGTERM: 143, signal.SIGINT: 130}
"""Signals, and the exit code of a command that one ends."""
LONGEST_S = 2.0
"""Time for a command to end."""


def attack(targets: Sequence[Target], commands: int, seed: int) -> Findings:
    """Let commands read crafted files and files with wrong bytes, and end them at a random moment.

    Args:
        targets: what reads them.
        commands: number of commands.
        seed: of the files, moments and signals.
    """
    rng, findings = random.Random(seed), Findings()
    made = {target.name: (target.examples(), list(crafted(target.examples()))) for target in targets}
    for _ in range(commands):
        target = rng.choice(targets)
        examples, files = made[target.name]
        what, make = rng.choice(files)
        data = make() if rng.random() < 0.5 else _flipped(rng.choice(examples), rng)
        number, delay_s = rng.choice(list(SIGNALS)), rng.choice((0.0, 0.01, 0.05, 0.3)) * rng.random()
        code, seconds = end(target, data, number, delay_s)
        findings.slowest_s = max(findings.slowest_s, seconds)
        if code in (SIGNALS[number], 0, 2) and seconds <= LONGEST_S:
            findings.count("ended by the signal" if code == SIGNALS[number] else "was done")
        else:
            findings.fail(f"{number.name}, {target.name}", f"{what} code {code} after {seconds:.1f} s", data)
    return findings


def _flipped(data: bytes, rng: random.Random) -> bytes:
    wrong = bytearray(data)
    for _ in range(rng.randint(1, 5)):
        wrong[rng.randrange(len(wrong))] ^= 1 << rng.randrange(8)
    return bytes(wrong)


def end(target: Target, data: bytes, number: signal.Signals, delay_s: float) -> tuple[int | None, float]:
    """Start a command that reads a file, and send it a signal some seconds later.

    Returns:
        Its exit code, and the seconds that it took to end; code None if it had to be killed.
    """
    processes = multiprocessing.get_context("fork")
    ours, theirs = processes.Pipe()
    process = processes.Process(target=_command, args=(target, data, theirs))
    process.start()
    theirs.close()
    ours.recv()
    time.sleep(delay_s)
    began = time.monotonic()
    if process.is_alive():
        os.kill(process.pid or 0, number)
    process.join(10 * LONGEST_S)
    seconds, code = time.monotonic() - began, process.exitcode
    process.kill()
    process.join()
    return code, seconds


def _command(target: Target, data: bytes, pipe: Connection) -> None:
    """What a command does that reads a file."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
    with cli_errors():
        pipe.send("reads")
        target.read(data)
