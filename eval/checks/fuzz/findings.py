"""Inputs that failed: sorted by where they failed, the smallest of each, and kept in the tree."""

from __future__ import annotations

import hashlib
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.util.atomic_write import atomic_write_bytes

CORPUS = Path(__file__).parent / "corpus"
"""Inputs that ever failed, in a folder for each target; the tests read all of them."""


TAKEN, REFUSED = "taken", "refused"


@dataclass(frozen=True)
class Outcome:
    """What came of one input.

    Attributes:
        what: `TAKEN`, `REFUSED`, or the place of a failure.
        said: the error.
        seconds: processor time.
        mb: largest growth of the memory meanwhile, with that of other processes which were asked.
    """

    what: str
    said: str = ""
    seconds: float = 0.0
    mb: float = 0.0

    @property
    def failed(self) -> bool:
        """Whether it is a finding."""
        return self.what not in (TAKEN, REFUSED)


@dataclass
class Findings:
    """What came out of the inputs of one target.

    Attributes:
        inputs: number of inputs.
        outcomes: number of inputs by outcome: taken, refused, failed; or by status of the server's answer.
        failures: place -> description and the smallest input that failed there.
        slowest_s: longest processor time for an input.
        most_mb: most memory for an input.
    """

    inputs: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: dict[str, tuple[str, bytes]] = field(default_factory=dict)
    slowest_s: float = 0.0
    most_mb: float = 0.0

    def take(self, outcome: Outcome, data: bytes, name: str = "") -> None:
        """Count an input and its outcome."""
        self.slowest_s, self.most_mb = max(self.slowest_s, outcome.seconds), max(self.most_mb, outcome.mb)
        if outcome.failed:
            self.fail(outcome.what, f"{name} {outcome.said}".strip(), data)
        else:
            self.count(outcome.what)

    def count(self, outcome: str) -> None:
        """Count an input that did not fail."""
        self.inputs += 1
        self.outcomes[outcome] += 1

    def fail(self, place: str, description: str, data: bytes) -> None:
        """Count an input that failed."""
        self.count("failed")
        if place not in self.failures or len(data) < len(self.failures[place][1]):
            self.failures[place] = description, data

    def keep(self, target: str, corpus: Path = CORPUS) -> list[str]:
        """Write the inputs that failed into the corpus; returns their names there."""
        names = []
        for _, data in self.failures.values():
            name = f"{target}/{hashlib.sha256(data).hexdigest()[:12]}"
            (corpus / target).mkdir(parents=True, exist_ok=True)
            atomic_write_bytes(corpus / name, data)
            names.append(name)
        return names


def place_of(problem: BaseException) -> str:
    """Type of an error and the line of ours that is nearest to it."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [each for each in frames if Path(each.filename).is_relative_to(Path(__file__).parents[3])]
    ours = [each for each in own if "/.venv/" not in each.filename] or list(frames)
    last = ours[-1] if ours else None
    return f"{type(problem).__name__} at {Path(last.filename).name}:{last.lineno}" if last else type(problem).__name__


def kept(target: str) -> list[Path]:
    """The corpus of a target."""
    return sorted(path for path in (CORPUS / target).glob("*") if path.is_file())
