"""From an episode, of scene graphs or of scenes of facts, to the content of its report."""

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from nsrecover.core.discrepancy import Phase
from nsrecover.core.episode import Episode, EpisodeStatus, StopCode
from nsrecover.core.facts import FactScene
from nsrecover.core.recovery import Recovery
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.costs import counted_by_costs
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.errors import InvalidConfiguration
from nsrecover.explanation.answers.numbering import turns
from nsrecover.records import episode_log
from nsrecover.serving.reports.media import Clip, Extra, GoalJudgement, Media, sounds_of
from nsrecover.serving.reports.model import (
    KIND_WORDS,
    Curve,
    Download,
    Line,
    MarkedAs,
    Outline,
    OutlinedPhoto,
    Report,
    ReportStep,
    Sound,
)
from nsrecover.serving.reports.moments import Moment, answers_of, lines_of, main_moment, summary_of
from nsrecover.serving.reports.pictures import Album, data_uri, outlines
from nsrecover.serving.reports.scenes import BoxScenes, FactScenes
from nsrecover.serving.reports.way import way_of
from nsrecover.serving.reports.wording import Found, Wording, kind_of, kinds_of

PAGE_BYTES = 4_800_000
"""Maximum size of the page; a film that does not fit is left out."""
MARKUP_BYTES = 700_000
"""Room for sentences, tables and drawings."""


Scenes = BoxScenes | FactScenes


def report_of(
    episode: Episode,
    title: str,
    description: str = "",
    *,
    media: Sequence[Media] = (),
    judgement: GoalJudgement | None = None,
    extras: Sequence[Extra] = (),
    domain: Domain | None = None,
) -> Report:
    """The content of the report about an episode.

    Args:
        episode: from the agent, from a log, or a reviewed recording; its scenes are scene graphs or facts.
        title: of the page.
        description: what the run was about.
        media: photographs and sound of every turn; empty if there are none.
        judgement: the outcome as a referee sees it; None: as the robot sees it.
        extras: further files to download; a film is shown.
        domain: has the words of facts and actions; needed for scenes of facts.

    Raises:
        InvalidConfiguration: there are scenes of facts and no domain, or media of another number of turns.
    """
    if media and len(media) != len(episode.records):
        raise InvalidConfiguration(
            f"expected media for each of the {len(episode.records)} turns, found {len(media)}; give one for each"
        )
    if domain is None and isinstance(episode.start, FactScene):
        raise InvalidConfiguration("expected the domain of scenes of facts, found none; pass domain=system.domain")
    words = Wording(domain or TABLETOP)
    moments = moments_of(episode, words)
    main = main_moment(episode, moments)
    shown = main if main is not None else max(0, len(moments) - 1)
    scenes = _scenes(episode, moments, shown, words)
    kinds = [moment.kind for moment in moments]
    graphs = [graph for moment in moments for graph in (moment.found.expected, moment.found.observed)]
    album = Album(media, [graph for graph in graphs if isinstance(graph, SceneGraph)])
    sounds = sounds_of([each.clip for each in media] or [None] * len(moments), kinds)
    steps = tuple(
        _step(episode, moments, i, words, scenes, _pictures(episode, moments, i, media, album), sounds[i])
        for i in range(len(moments))
    )
    ends_s = [record.time_s - episode.start_s for record in episode.records]
    files, films = _files(episode, words, extras), [each for each in extras if _is_film(each)]
    stored = album.size + sum(len(file.href) for file in files)
    stored += sum(len(sound.wav) * 4 // 3 for sound in sounds if sound is not None and sound.wav)  # in base64
    fitting = [each for each in films if len(each.content) * 4 / 3 <= PAGE_BYTES - MARKUP_BYTES - stored]
    ends = (fitting[0].ends_s if fitting else ()) or ends_s
    steps = tuple(replace(step, ends_s=max(end, 0.0)) for step, end in zip(steps, ends, strict=True))
    outcome, outcome_kind = _outcome(episode, judgement)
    return Report(
        title=title,
        description=description,
        summary=summary_of(episode, moments, words, judgement),
        outcome=outcome,
        outcome_kind=outcome_kind,
        answers=answers_of(episode, moments, words.domain, judgement),
        steps=steps,
        shown=shown,
        way=way_of(episode, words),
        curves=tuple(
            curve
            for moment in moments
            if (curve := curve_of(moment.turn.recovery, moment.label(len(episode.plan)), words.domain)) is not None
        ),
        images=album.images,
        film=data_uri(fitting[0].content, fitting[0].mime) if fitting else "",
        notes=_notes(media, sounds, films, fitting),
        downloads=files,
    )


def latest_step(episode: Episode, words: Wording, clip: Clip | None = None) -> ReportStep:
    """The last turn of an episode that goes on, as in its report, without photographs.

    Args:
        episode: the episode so far, with a turn at least.
        words: how its domain is put into words.
        clip: the sound of the turn.
    """
    last = len(episode.records) - 1
    moments = moments_of(episode, words, first=last)
    (sound,) = sounds_of([clip], [moments[last].kind])
    return _step(episode, moments, last, words, _scenes(episode, moments, last, words), (), sound)


def _is_film(extra: Extra) -> bool:
    return extra.mime.startswith("video/")


def _files(episode: Episode, words: Wording, extras: Sequence[Extra]) -> tuple[Download, ...]:
    """Downloads of the page."""
    document = json.dumps(episode_log.to_document(episode, words.domain), ensure_ascii=False)
    raw = Extra("episode.json", "Everything that was recorded, as JSON", document.encode())
    return tuple(
        Download(each.name, each.label, _size(each.content), data_uri(each.content, each.mime))
        for each in (raw, *extras)
        if not _is_film(each)
    )


def moments_of(episode: Episode, words: Wording, first: int = 0) -> list[Moment]:
    """The turns of an episode, marked, and explained from a first one on."""
    found, way_step = [], 0
    for number, turn in enumerate(turns(episode)):
        kind = kind_of(turn.discrepancy)
        explanation = None if kind is MarkedAs.OK or number < first else words.explain(turn.discrepancy, turn.recovery)
        way_step = way_step + (turn.record.action is not None) if turn.step is None else 0
        found.append(Moment(turn, kind, explanation, max(way_step, 1) if turn.step is None else None))
    return found


def _scenes(episode: Episode, moments: Sequence[Moment], shown: int, words: Wording) -> Scenes | None:
    comparisons: list[Any] = [moment.found for moment in moments]
    if not comparisons:
        return None
    if isinstance(episode.start, FactScene):
        return FactScenes(episode, comparisons, words.domain)
    return BoxScenes(comparisons, comparisons[shown])


def _step(
    episode: Episode,
    moments: Sequence[Moment],
    i: int,
    words: Wording,
    scenes: Scenes | None,
    pictures: tuple[OutlinedPhoto, ...],
    sound: Sound | None,
) -> ReportStep:
    moment = moments[i]
    found: Any = moment.found
    lines = lines_of(moment.explanation.sentences) if moment.explanation is not None else _as_expected(found)
    before = "Before " if found.phase is Phase.BEFORE else ""
    label = moment.label(len(episode.plan))
    verdict = KIND_WORDS[moment.kind]
    return ReportStep(
        kind=moment.kind,
        label=f"{before}{label.lower()}" if before else label,
        heading=words.heading(found.action),
        action=str(found.action),
        verdict=f"{verdict} before it, so it was not executed" if before else verdict,
        recovering=moment.turn.step is None,
        pictures=pictures,
        scenes=scenes.views(found) if scenes is not None else (),
        sound=sound,
        lines=lines,
        rows=scenes.rows(found) if scenes is not None else (),
        numbers=_numbers(found, moment.turn.recovery, words.domain),
    )


def _as_expected(found: Found) -> tuple[Line, ...]:
    return (Line("Everything is as expected.", (f"as_expected({found.step + 1}, {found.action})",)),)


def _pictures(
    episode: Episode, moments: Sequence[Moment], i: int, media: Sequence[Media], album: Album
) -> tuple[OutlinedPhoto, ...]:
    """The photographs before and after a turn; what deviates is outlined in both."""
    if not media:
        return ()
    found, kinds = moments[i].found, kinds_of(moments[i].found)
    earlier: object = episode.start if i == 0 else moments[i - 1].turn.record.graph
    pictures = []
    before, after = media[i].before, media[i].after
    if before is not None and before is not after:
        pictures.append(album.picture("Before", before, outlines(before, earlier, kinds)))
    if after is not None:
        lines: list[Outline] = outlines(after, found.observed, kinds)
        lines += outlines(after, found.expected, {n: k for n, k in kinds.items() if k is MarkedAs.ERROR}, expected=True)
        title = "After" if found.phase is Phase.AFTER else "At the check"
        pictures.append(album.picture(title, after, lines))
    return tuple(pictures)


def _numbers(found: Found, recovery: Recovery | None, domain: Domain) -> tuple[tuple[str, str], ...]:
    """Measured values: probabilities in %, lengths in cm, times in s."""
    numbers = [("observations", str(found.looks))]
    if found.chances:
        numbers.append(("D, the expected number of wrong objects", f"{found.total:.2f}"))
        numbers.append(("an object is wrong below", f"{100 * found.threshold:.1f} %"))
    if recovery is not None:
        numbers.append(("planning time", f"{recovery.seconds:.2f} s"))
        numbers.append(("scenes searched", str(recovery.expansions)))
        if math.isfinite(recovery.cost):
            proven = ", proven optimal" if recovery.proven_optimal else ""
            numbers.append(
                (
                    "cost of the recovery and the rest of the plan",
                    f"{recovery.cost:g} {counted_by_costs(domain)}{proven}",
                )
            )
    return tuple(numbers)


def curve_of(recovery: Recovery | None, label: str, domain: Domain) -> Curve | None:
    """The curve of a search; None if it has found no recovery, or one without actions.

    Args:
        recovery: with its improvements; None if none was searched for.
        label: of the step.
        domain: says what costs count.
    """
    if recovery is None or not recovery.improvements or not recovery.actions:
        return None
    found = recovery.improvements
    return Curve(
        tuple(each.seconds for each in found),
        tuple(each.cost for each in found),
        tuple(each.expansions for each in found),
        max(recovery.seconds, found[-1].seconds),
        recovery.lower_bound if 0 < recovery.lower_bound < math.inf else None,
        recovery.proven_optimal,
        label,
        counted_by_costs(domain),
    )


def _outcome(episode: Episode, judgement: GoalJudgement | None) -> tuple[str, MarkedAs]:
    if judgement is not None:
        return ("goal reached", MarkedAs.OK) if judgement.reached else ("goal not reached", MarkedAs.ERROR)
    return {
        EpisodeStatus.RUNNING: ("still going on", MarkedAs.DOUBT),
        EpisodeStatus.COMPLETED: ("plan completed", MarkedAs.OK),
        EpisodeStatus.ASKED_FOR_HELP: (
            "ended" if episode.why is StopCode.STOPPED else "asked for help",
            MarkedAs.DOUBT,
        ),
        EpisodeStatus.REVIEWED: ("recording", MarkedAs.DOUBT),
    }[episode.status]


def _notes(
    media: Sequence[Media], sounds: Sequence[Sound | None], films: Sequence[Extra], fitting: Sequence[Extra]
) -> tuple[str, ...]:
    """Return notes about what was left out of the page, and why."""
    notes = []
    if not any(each.before or each.after for each in media):
        notes.append("There are no photographs: this episode was stored without images.")
    if any(sound is not None and sound.wav is None for sound in sounds):
        notes.append("The sound of some steps is left out, so that the page stays small.")
    if films and not fitting:
        notes.append(f"The film is too large for this page; it is the file {films[0].name} next to it.")
    return tuple(notes)


def _size(content: bytes) -> str:
    return f"{max(1, round(len(content) / 1000))} kB"
