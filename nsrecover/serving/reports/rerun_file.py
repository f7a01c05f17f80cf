"""An episode as a file for the Rerun viewer: photographs, both scenes in 3-D, probabilities and sentences over turns.

Needs the extra `rerun`; nothing is sent anywhere, and no viewer is started.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from nsrecover.core.episode import Episode
from nsrecover.core.facts import FactScene
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.reports.build import moments_of
from nsrecover.serving.reports.media import Media
from nsrecover.serving.reports.model import MarkedAs
from nsrecover.serving.reports.wording import Wording, kinds_of
from nsrecover.util.extras import needs_extra

SUFFIX = ".rrd"
_TURN, _SECONDS = "turn", "seconds"
_COLOURS = {
    MarkedAs.OK: (0, 132, 99),
    MarkedAs.ERROR: (209, 69, 10),
    MarkedAs.HELP: (0, 114, 178),
    MarkedAs.DOUBT: (185, 137, 0),
}
_LEVELS = {MarkedAs.OK: "INFO", MarkedAs.HELP: "INFO", MarkedAs.DOUBT: "WARN", MarkedAs.ERROR: "ERROR"}
_JPEG_QUALITY = 85


def need_rerun(path: str | Path) -> None:
    """Refuse to begin if the file could not be written in the end.

    Raises:
        InvalidConfiguration: the extra is not installed, or the path has another ending than `.rrd`.
    """
    if Path(path).suffix != SUFFIX:
        raise InvalidConfiguration(f"expected a file ending in {SUFFIX} for Rerun, found {path}")
    with needs_extra("rerun", "rerun-sdk"):
        import rerun  # noqa: F401


def write_rerun(episode: Episode, path: str | Path, media: Sequence[Media] = (), domain: Domain = TABLETOP) -> None:
    """Write a file for the Rerun viewer, `rerun FILE.rrd`; it replaces an older one once it is complete.

    The time lines are `turn`, the number of the turn from 0, and `seconds` since the start. `photo` has the photograph
    after the turn, `expected` and `seen` the boxes (metres, robot's frame) or the facts, `probability/NAME` P(as
    expected) of every object, and `text` the sentences.

    Args:
        episode: of scene graphs or of scenes of facts.
        path: of the file; ends in `.rrd`.
        media: photographs of every turn; empty if there are none.
        domain: has the words of facts and actions.

    Raises:
        InvalidConfiguration: the extra is not installed, or the path has another ending.
    """
    need_rerun(path)
    import rerun

    target = Path(path)
    unfinished = target.with_name(f".{target.stem}.unfinished{SUFFIX}")
    try:
        with rerun.RecordingStream("nsrecover", make_default=False) as stream:
            stream.save(unfinished)
            _log(rerun, stream, episode, Wording(domain), media)
            stream.flush()
            stream.disconnect()
        os.replace(unfinished, target)
    finally:
        unfinished.unlink(missing_ok=True)


def _log(rerun: Any, stream: Any, episode: Episode, words: Wording, media: Sequence[Media]) -> None:
    stream.log("/", rerun.ViewCoordinates.RIGHT_HAND_Z_UP, static=True)
    for number, moment in enumerate(moments_of(episode, words)):
        record, found = moment.turn.record, moment.found
        stream.set_time(_TURN, sequence=number)
        stream.set_time(_SECONDS, duration=max(0.0, record.time_s - episode.start_s))
        photo = media[number].after if media else None
        if photo is not None:
            stream.log("photo", rerun.Image(photo.rgb).compress(jpeg_quality=_JPEG_QUALITY))
        kinds = kinds_of(found)
        for name, scene in (("expected", found.expected), ("seen", found.observed)):
            stream.log(name, _scene(rerun, scene, kinds, words))
        for name, chance in found.chances.items():
            stream.log(f"probability/{rerun.escape_entity_path_part(name)}", rerun.Scalars(chance))
        sentences = [] if moment.explanation is None else [each.text for each in moment.explanation.sentences]
        text = f"{moment.label(len(episode.plan))}: {words.heading(found.action)}. {' '.join(sentences)}".strip()
        stream.log("text", rerun.TextLog(text, level=_LEVELS[moment.kind]))


def _scene(rerun: Any, scene: Any, kinds: dict[str, MarkedAs], words: Wording) -> Any:
    """A scene as boxes with names, or as a list of facts."""
    if isinstance(scene, FactScene):
        facts = sorted(fact for fact in scene.facts if len(fact) > 1)
        return rerun.TextDocument("\n".join(f"- {words.domain.text(fact)}" for fact in facts))
    assert isinstance(scene, SceneGraph)
    there = np.flatnonzero(~scene.missing)
    names = [scene.names[i] for i in there]
    return rerun.Boxes3D(
        centers=scene.boxes[there, :3],
        half_sizes=scene.boxes[there, 3:] / 2,
        labels=names,
        colors=[_COLOURS[kinds.get(name, MarkedAs.OK)] for name in names],
    )
