"""History of a run, for panels, questions and the report."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from nsrecover.core.actions import Plan
from nsrecover.core.episode import Episode, EpisodeStatus, StepRecord
from nsrecover.core.facts import FactScene
from nsrecover.core.observation import Observation
from nsrecover.monitoring.fact_belief import FactModel
from nsrecover.serving.reports.media import Clip, Media, Photo
from nsrecover.serving.reports.wording import Wording

WRONG, DONE = "What went wrong?", "What did you do about it?"
MOST_MEDIA = 100
"""Photographs and sound of more turns are not kept."""


class Story:
    """One run. Written in its thread; `episode` may be read from any.

    Args:
        system: of the agent.
        plan: the plan.
        start: the first scene.
        observed: what was observed before the run began.
    """

    def __init__(self, system: Any, plan: Plan, start: Any, observed: Sequence[Any] = ()) -> None:
        self.symbolic = system.model if isinstance(system.model, FactModel) else None
        self.words = Wording(system.domain)
        self.plan, self.media = plan, list[Media]()
        self.episode = Episode(plan, EpisodeStatus.RUNNING, "", start, ())
        self._before: Photo | None = None
        self._seen: list[Observation] = []
        self.latest: Any = None
        """What was observed last."""
        for each in observed:
            self.observed(each)

    @property
    def last_observation(self) -> Observation | None:
        """The last observation of the turn that goes on."""
        return self._seen[-1] if self._seen else None

    def observed(self, observation: Any) -> None:
        """Keep an observation until the turn ends."""
        self.latest = observation
        if isinstance(observation, Observation):
            self._seen.append(observation)

    def turned(self, record: StepRecord) -> Media:
        """Add a turn; returns its photographs and sound."""
        self.episode = replace(self.episode, records=(*self.episode.records, record))
        media = self._collected()
        self.media.append(media)
        if len(self.media) > MOST_MEDIA:
            self.media[-MOST_MEDIA - 1] = Media()
        return media

    def reconsidered(self, record: StepRecord) -> None:
        """The last turn has another recovery."""
        self.episode = replace(self.episode, records=(*self.episode.records[:-1], record))

    def recorded(self, record: StepRecord) -> None:
        """The last turn is over: what was decided about its recovery is known."""
        if self.episode.records and self.episode.records[-1].discrepancy is record.discrepancy:
            self.reconsidered(record)

    def suggested(self) -> tuple[str, ...]:
        """Questions that suit the run so far."""
        wrong = [record for record in self.episode.records if record.discrepancy.deviates]
        if not wrong:
            return (WRONG,)
        if isinstance(self.episode.start, FactScene):
            return (WRONG, "Why?", DONE, "What if you had not done that?")
        recovery = wrong[-1].recovery
        moved = [action.arguments[0] for action in (recovery.actions if recovery else ())][:1]
        about = [(f"Why did you move the {name}?", f"What if you had not moved the {name}?") for name in moved]
        return (WRONG, *(each for pair in about for each in pair), DONE)

    def _collected(self) -> Media:
        """Photographs and sound since the last turn."""
        seen, self._seen = self._seen, []
        photos = [Photo(each.rgb[0], each.cameras[0]) for each in seen]
        before = self._before if self._before is not None else next(iter(photos), None)
        after = photos[-1] if photos else self._before
        self._before = after
        heard = [each for each in seen if each.audio is not None]
        if not heard:
            return Media(before, after)
        samples = np.concatenate([each.audio for each in heard if each.audio is not None])
        return Media(before, after, Clip(samples, heard[0].audio_rate_hz))
