"""`python -m eval.results`: measure every number that the README and the pages print, and write them there."""

from __future__ import annotations

import hashlib
import json
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from conf.command import run
from eval.common.tables import markdown_table
from eval.identity import ROOT, code_state
from eval.results.cells import (
    LEVELS,
    PROVENANCE,
    Command,
    Result,
    apart,
    clean_revision,
    finished,
    hash_of,
    provenance,
    results_of,
)
from eval.results.pages import write_pages
from eval.run import METRICS
from nsrecover.errors import InvalidConfiguration
from sim.common.folder import write_json

KEPT = ("metrics.json", "table.md", "config.yaml", "run.json", "manifest.json", PROVENANCE)
"""Files of a command that results/ keeps."""
RESULTS, DOCS = ROOT / "results", ROOT / "docs"


@dataclass
class ResultsConfig:
    """Measure every number that the README and the pages print at one revision, and write the pages.

      python -m eval.results                        all; 2.5 hours on 2 cores
      python -m eval.results level=quick            the same with few episodes, for a look; results/ stays as it is
      python -m eval.results only=[sensing,shapes]  some of them
      python -m eval.results level=quick dry=true   the commands, and which results are done; measures nothing
      python -m eval.results level=pages            measures nothing, writes the pages again
      python -m eval.results level=check            measures few episodes, and says which kept shares they contradict

    What is finished is not measured again, unless code or weights have changed. An interrupted run continues. When all
    are done, each folder in results/ gets its numbers and provenance.json: commands, revision, and hashes of weights
    and episodes. The list is eval/results/list.yaml.

    Attributes:
        level: how many episodes: quick, normal or full; check, as many as quick; pages measures nothing.
        only: names of results; all if empty.
        dry: whether only to say what is to be done.
        workers: number of processes of each command.
        out: folder of the work; it can be deleted.
    """

    level: str = "normal"
    only: list[str] = field(default_factory=list)
    dry: bool = False
    workers: int = 2
    out: str = "outputs/results"


def main(config: ResultsConfig) -> None:
    """Measure what is not finished, and write results and pages."""
    if config.level == "check":
        sys.exit(int(bool(_check(config))))
    if config.dry:
        results = results_of(config.level, config.only)
        rows = [[each.name, _state(_work(config, each)), each.command.text] for each in results]
        print(markdown_table(("result", "", "command"), rows))
        return
    if config.level != "pages":
        _measure_all(config, results_of(config.level, config.only))
    if config.level != LEVELS[0]:
        for path in write_pages(RESULTS, DOCS):
            print(path)


def _measure_all(config: ResultsConfig, results: list[Result]) -> None:
    if config.level != LEVELS[0] and (revision := clean_revision()).endswith("-dirty"):
        raise InvalidConfiguration(
            f"expected a checkout without changes, found {revision}; commit them, or look at level=quick"
        )
    rows, failed, begun = [], [], time.monotonic()
    for number, result in enumerate(results, 1):
        folder, began, used = _work(config, result), time.monotonic(), _processor_s()
        left = (began - begun) / max(number - 1, 1) * (len(results) - number + 1) / 60
        about = f", about {left:.0f} min left" if number > 1 else ""
        print(f"[{number}/{len(results)}{about}] {result.name}: {result.command.text}", file=sys.stderr, flush=True)
        wrong = "" if finished(folder) else _run(result.command, folder, config.workers)
        if wrong:
            failed.append(f"{result.name}: `{result.command.text}` {wrong}")
        if not wrong and not (folder / PROVENANCE).is_file():
            write_json(folder / PROVENANCE, provenance(result, folder, time.monotonic() - began))
        minutes = [f"{value / 60:.1f}" for value in (time.monotonic() - began, _processor_s() - used)]
        rows.append([result.name, wrong or "done", *minutes])
    print(markdown_table(("result", "", "minutes", "of the processor"), rows))
    print(f"{len(results) - len(failed)} of {len(results)} done at revision {clean_revision()}")
    if failed:
        raise InvalidConfiguration(
            f"expected every command to end well, found {'; '.join(failed)}; run it alone, then this command again"
        )
    if config.level != LEVELS[0]:
        for result in results:
            _publish(result, _work(config, result))


def _state(work: Path) -> str:
    return "done" if finished(work) else "begun" if work.exists() else "to do"


def _processor_s() -> float:
    """Processor time of all commands so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _work(config: ResultsConfig, result: Result) -> Path:
    """Folder of the work on a result: another one for other code, weights or settings."""
    settings = hashlib.sha256(result.command.text.encode()).hexdigest()[:8]
    name = "-".join(filter(None, [code_state(), hash_of(result.weights), settings]))
    return Path(config.out) / config.level / result.name / name


def _run(command: Command, out: Path, workers: int) -> str:
    """Run a command; return how it failed, or an empty text."""
    given = command.given(**({"workers": workers} if command.takes_workers else {}), out=str(out.resolve()))
    done = subprocess.run(
        [sys.executable, "-m", command.module, *command.settings, *given],
        cwd=ROOT, stdout=subprocess.DEVNULL, check=False,
    )  # fmt: skip
    return f"ended with {done.returncode}" if done.returncode else ""


def _publish(result: Result, work: Path) -> None:
    """Put the numbers of a finished result into results/, and its figures into docs/results/."""
    folder = RESULTS / result.name
    folder.mkdir(parents=True, exist_ok=True)
    for name in KEPT:
        if (work / name).is_file():
            shutil.copy(work / name, folder / name)
    for figure in _figures(work):
        shutil.copy(figure, DOCS / "results" / figure.name)


def _figures(work: Path) -> Iterator[Path]:
    """Figures of a command that the pages show already."""
    return (path for path in work.glob("*.png") if (DOCS / "results" / path.name).is_file())


def _check(config: ResultsConfig) -> int:
    """Measure a few cases of each kept result, and print which of its shares are no longer within their intervals.

    Returns:
        The number of results with such shares, or that cannot be measured.
    """
    kept = [each for each in results_of(LEVELS[0], config.only) if (RESULTS / each.name / METRICS).is_file()]
    rows, wrong = [], 0
    for result in kept:
        work = _work(config, result)
        failed = "" if finished(work) else _run(result.command, work, config.workers)
        pairs = [
            json.loads((folder / METRICS).read_text("utf-8"))
            for folder in (RESULTS / result.name, work)[: 2 - bool(failed)]
        ]
        found = [] if failed else list(apart(*pairs))
        changed = [place for place, differs in found if differs]
        wrong += bool(failed or changed)
        rows.append([result.name, len(found), failed or ", ".join(changed) or "none"])
    print(markdown_table(("result", "shares", "outside their intervals"), rows))
    return wrong


if __name__ == "__main__":
    run("results", ResultsConfig, main, resumable=True)
