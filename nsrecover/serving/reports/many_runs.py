"""A page about many runs, for those who are responsible for them: trend, causes, time lost, and who had to help."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nsrecover.core.discrepancy import Cause
from nsrecover.core.episode import Episode, EpisodeStatus, Fate
from nsrecover.explanation.answers.numbering import clock, duration
from nsrecover.explanation.answers.run import lost_s
from nsrecover.explanation.templates import PHRASES, WORST_FIRST
from nsrecover.records import episode_log, scenes_recording
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.episodes import stored_episode, title_of
from nsrecover.serving.reports.model import MarkedAs
from nsrecover.serving.reports.page import environment, write_page
from nsrecover.util.atomic_write import atomic_write_bytes
from nsrecover.util.english import amount
from nsrecover.util.progress import progress
from nsrecover.util.untrusted_json import read_json

FEW = 10
"""With fewer runs nothing is said about a trend."""
CONDITION = "a condition of a step did not hold"
_MARKS = {EpisodeStatus.COMPLETED: MarkedAs.OK, EpisodeStatus.ASKED_FOR_HELP: MarkedAs.ERROR}


@dataclass(frozen=True)
class RunRow:
    """One run.

    Attributes:
        name: of its file.
        href: address of its report, relative to the page.
        episode: what happened.
        summary: the first sentence of its report.
        causes: the worst cause of each error, in words.
        total_s: how long it took, seconds.
        lost_s: what of that was lost to errors, seconds.
    """

    name: str
    href: str
    episode: Episode
    summary: str
    causes: tuple[str, ...]
    total_s: float
    lost_s: float

    @property
    def kind(self) -> MarkedAs:
        """How it is marked."""
        return _MARKS.get(self.episode.status, MarkedAs.DOUBT)

    @property
    def helped(self) -> bool:
        """Whether a person had to decide, or to help."""
        asked = any(record.decided or record.fate is Fate.VETOED for record in self.episode.records)
        return asked or self.episode.status is EpisodeStatus.ASKED_FOR_HELP


@dataclass(frozen=True)
class ManyRuns:
    """The content of the page.

    Attributes:
        runs: in the order in which they were given.
        causes: cause in words, how often it occurred, and in how many runs; the most frequent first.
    """

    runs: tuple[RunRow, ...]
    causes: tuple[tuple[str, int, int], ...] = field(init=False)

    def __post_init__(self) -> None:
        often, within = Counter[str](), defaultdict[str, set[str]](set)
        for run in self.runs:
            often.update(run.causes)
            for cause in run.causes:
                within[cause].add(run.name)
        found = tuple((cause, count, len(within[cause])) for cause, count in often.most_common())
        object.__setattr__(self, "causes", found)

    @property
    def summary(self) -> str:
        """How the runs went, in sentences."""
        done, ended = (
            sum(run.kind in kinds for run in self.runs) for kinds in ((MarkedAs.OK,), (MarkedAs.OK, MarkedAs.ERROR))
        )
        others = len(self.runs) - ended
        are = "is a recording" if others == 1 else "are recordings"
        recorded = f"{amount(others, 'other')} {are} or still going on. " if others else ""
        errors = sum(len(run.causes) for run in self.runs)
        total, lost = sum(run.total_s for run in self.runs), sum(run.lost_s for run in self.runs)
        share = f", {100 * lost / total:.0f} % of the time" if total else ""
        helped = amount(sum(run.helped for run in self.runs), "run")
        return (
            f"{done} of {amount(ended, 'run')} completed the plan. {recorded}{amount(errors, 'error')} noticed. "
            f"{duration(lost)} of {duration(total)} were lost to errors{share}. "
            f"A person had to decide or to help in {helped}."
        )

    @property
    def trend(self) -> str:
        """How the second half compares with the first."""
        if len(self.runs) < FEW:
            return f"{amount(len(self.runs), 'run')} show no trend; {FEW} are needed at least."
        half = len(self.runs) // 2
        halves = self.runs[:half], self.runs[half:]
        done, errors, lost = (
            [sum(value(run) for run in each) / len(each) for each in halves]
            for value in (lambda run: run.kind is MarkedAs.OK, lambda run: len(run.causes), lambda run: run.lost_s)
        )
        return (
            f"First and second half: completed {100 * done[0]:.0f} % and {100 * done[1]:.0f} %, errors a run "
            f"{errors[0]:.1f} and {errors[1]:.1f}, seconds lost a run {lost[0]:.1f} and {lost[1]:.1f}. "
            "Counts of so few runs vary by chance."
        )

    @property
    def longest_s(self) -> float:
        """Duration of the longest run, seconds; for the bars."""
        return max((run.total_s for run in self.runs), default=0.0) or 1.0


def write_runs(paths: Sequence[str], out: Path, system: str | Path | None = None) -> ManyRuns:
    """Write the page about many runs, and the report of each into the folder beside it that has the page's name.

    Args:
        paths: logs of episodes, recorded runs, or folders of these.
        out: file for the page.
        system: what judges recordings, see `nsrecover.loading.system_at`.

    Raises:
        InvalidRecording: a file is neither a log nor a recording.
    """
    files, rows = [file for path in paths for file in files_of(path)], []
    folder = out.with_suffix("")
    stored = [stored_episode(file, system) for file in progress(files, "reading")]  # before anything is written
    for number, (file, (episode, domain, media)) in enumerate(zip(files, stored, strict=True), start=1):
        report = report_of(episode, title_of(file), media=media, domain=domain)
        href = f"{number:03d}_{Path(file).stem}.html"
        folder.mkdir(parents=True, exist_ok=True)
        write_page(report, folder / href)
        end_s = episode.records[-1].time_s if episode.records else episode.start_s
        took_s = max(end_s - episode.start_s, 0.0)
        name = Path(file).stem if Path(file).stem != "episode" else Path(file).parent.name
        rows.append(
            RunRow(name, f"{folder.name}/{href}", episode, report.summary, _causes(episode), took_s, lost_s(episode))
        )
    found = ManyRuns(tuple(rows))
    atomic_write_bytes(out, environment().get_template("many_runs.html.jinja").render(page=found, clock=clock).encode())
    return found


def files_of(path: str) -> list[str]:
    """The runs of a folder, in the order of their names; another path as it is."""
    if not Path(path).is_dir() or (Path(path) / "metadata.yaml").exists():  # a ROS 2 bag is a folder
        return [path]
    return sorted(
        str(file) for file in Path(path).rglob("*") if file.suffix in (".npz", ".mcap", ".db3") or _is_run(file)
    )


def _is_run(file: Path) -> bool:
    """Whether a file is the log of an episode, or recorded boxes or facts, and not other JSON."""
    if file.suffix != ".json":
        return False
    try:
        document = read_json(file)
    except ValueError:
        return True  # the error says what is wrong with it
    recorded = isinstance(document, dict) and document.get("format") in (scenes_recording.BOXES, scenes_recording.FACTS)
    return recorded or episode_log.is_episode(document)


def _causes(episode: Episode) -> tuple[str, ...]:
    """The worst cause of each error, in words."""
    found = []
    for record in episode.records:
        if record.discrepancy.deviates:
            own = {each.cause for each in record.discrepancy.deviations}
            worst = next((cause for cause in WORST_FIRST if cause in own and cause is not Cause.HELPED), None)
            if worst is not None or not own:
                found.append(CONDITION if worst is None else _words(worst))
    return tuple(found)


def _words(cause: Cause) -> str:
    return f"an object {PHRASES[cause].partition(',')[0].replace('[', '').replace(']', '')}"
