"""The report of a stored episode: the log of an episode, or a recorded run that is reviewed now."""

from pathlib import Path

from nsrecover.core.episode import Episode
from nsrecover.core.observation import Observation
from nsrecover.domains.domain import Domain
from nsrecover.errors import InvalidRecording
from nsrecover.records import episode_log
from nsrecover.records.review import review, system_for
from nsrecover.records.runs import RecordedRun, SceneKind, read_run
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.media import Clip, Media, Photo
from nsrecover.serving.reports.model import Report
from nsrecover.serving.reports.page import write_page
from nsrecover.serving.reports.rerun_file import write_rerun
from nsrecover.util.untrusted_json import read_json


def report_at(path: str, system: str | Path | None = None) -> Report:
    """The report of a file.

    Args:
        path: the log of an episode (`.json`), a recorded run, or `example`.
        system: what judges a recording, see `nsrecover.loading.system_at`; facts need one.

    Raises:
        InvalidRecording: the file is neither.
    """
    episode, domain, media = stored_episode(path, system)
    return report_of(episode, title_of(path), media=media, domain=domain)


def write_report(path: str, out: Path, system: str | Path | None = None, rerun: Path | None = None) -> Report:
    """Write the report of a file, and a file for the Rerun viewer if it is wanted; arguments and errors as above."""
    episode, domain, media = stored_episode(path, system)
    report = report_of(episode, title_of(path), media=media, domain=domain)
    write_page(report, out)
    if rerun is not None:
        write_rerun(episode, rerun, media, domain)
    return report


def title_of(path: str) -> str:
    """The title of the report of a file."""
    return f"Episode {Path(path).stem}"


def stored_episode(path: str, system: str | Path | None = None) -> tuple[Episode, Domain, list[Media]]:
    """The episode of a file, its domain, and the photographs and the sound of every turn if it has them."""
    logged = _logged(Path(path))
    if logged is not None:
        return *logged, []
    run = read_run(path)
    judge = system_for([run], system)
    return review(judge, run), judge.domain, _media(run) if run.seen is SceneKind.IMAGES else []


def _logged(path: Path) -> tuple[Episode, Domain] | None:
    """The episode of a log, and its domain; None if the file is something else."""
    if path.suffix != ".json" or not path.is_file():
        return None
    try:
        document = read_json(path)
    except ValueError as problem:
        raise InvalidRecording(f"expected JSON in {path}, found: {problem}") from problem
    if not episode_log.is_episode(document):
        return None
    return episode_log.from_document(document, str(path)), episode_log.domain_of(document, str(path))


def _media(run: RecordedRun) -> list[Media]:
    """Photographs of the first camera, and what was heard."""
    seen = [each for each in run.observations if isinstance(each, Observation)]
    photos = [Photo(each.rgb[0], each.cameras[0]) for each in seen]
    clips = [None if each.audio is None else Clip(each.audio, each.audio_rate_hz) for each in seen]
    return [Media(photos[i], photos[i + 1], clips[i + 1]) for i in range(len(run.plan))]
