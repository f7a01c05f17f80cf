"""`python -m eval.sound_facts`: how well the sounds of an episode are told as events with an object and a time."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from eval.common.statistics import share_of
from eval.common.tables import document, markdown_table, percent_of
from eval.run import Measurement, Run, Settings, run
from nsrecover.core import Observation
from nsrecover.models.sound import SHIPPED, SoundModel
from nsrecover.perception.sounds import Hearing, SoundHeard, SoundPerceiver
from sim.sound.background import Background
from sim.sound.examples import CLASSES, example_event
from sim.sound.microphone import Microphone, events_at, record
from sim.sound.room import Room

HIT = "hit"
FACTS: Mapping[str, str] = {
    **{label: HIT for label in CLASSES if label.startswith("impact ")},
    "shatter": "broken",
    "toaster_pop": "popped",
    "egg_crack": "cracked",
    "pouring": "pouring",
    **dict.fromkeys(("running_water", "microwave_hum", "coffee_machine", "tv"), "running"),
}
"""Class of a sound -> what it tells; other classes tell nothing here, and must not be taken for one of these.

A body that is dropped and one that is knocked sound alike: whether the gripper held it tells them apart."""
APART_S = 3.0
"""From the start of a sound to that of the next one."""
EXACT_S = 0.5
"""Greatest error of the time at which a sound began."""
_SOUNDS = 3
"""In each recording."""


@dataclass
class SoundFactsConfig(Settings):
    """Measure which events are told from recordings of several sounds each: what, of which object, and when.

    A recording has three sounds of different classes in one room, one after the other. Counted is how many events are
    told with their fact within half a second of their begin, and also with their object: an appliance, or the group of
    materials of what was hit.

      python -m eval.sound_facts seed=5         280 recordings, 30 of each class; minutes

    Writes metrics.json and table.md to out=DIR.

    Attributes:
        seed: another seed gives other recordings.
        recordings: number of recordings.
        snr_db: ratio of the mean power of each sound over three seconds and of everything else, decibels.
        checkpoint: folder of a sound model; the shipped one if null.
    """

    recordings: int = 280
    snr_db: float = 20.0
    checkpoint: str | None = None
    workers: int = 1


Event = tuple[str, str, float, float]
"""Fact, object, when it began and how long it lasted, seconds."""


def measure(config: SoundFactsConfig, run: Run) -> dict[str, Any]:
    """Precision and recall of each fact over all recordings."""
    rows = run.each(partial(_recording, config=config), range(config.recordings), "recording")
    facts: dict[str, Any] = {}
    for fact in dict.fromkeys(FACTS.values()):
        for what, key in enumerate(("", "_of_object"), start=1):
            right = [_is_true(one, true, what) for true, said in rows for one in said if one[0] == fact]
            heard = [_is_said(one, said, what) for true, said in rows for one in true if one[0] == fact]
            facts.setdefault(fact, {}).update({f"precision{key}": share_of(right), f"recall{key}": share_of(heard)})
    return {"seed": config.seed, "recordings": config.recordings, "snr_db": config.snr_db, "facts": facts}


def _recording(number: int, config: SoundFactsConfig) -> tuple[list[Event], list[Event]]:
    """The sound events of a recording, and the facts that are reported of them."""
    rng, model = np.random.default_rng([config.seed, number]), SoundModel.load(config.checkpoint)
    room = Room(reverberation_s=float(rng.uniform(0.3, 0.7)), seed=int(rng.integers(16)))
    microphone = Microphone(
        room=room, background=Background(float(rng.uniform(25.0, 35.0))), seed=int(rng.integers(2**31))
    )
    end_s = _SOUNDS * APART_S
    samples, rate_hz = record([], 0.0, end_s, microphone)
    # each sound is as loud beside the noise as all others
    mixed, power, events = samples.astype(np.float64), float(np.mean(samples**2)), []
    for place in range(_SOUNDS):
        event = example_event(CLASSES[(number * _SOUNDS + place) % len(CLASSES)], rng)
        length = min(event.duration_s, APART_S - 1.0)
        event = replace(event, start_s=event.start_s + place * APART_S, duration_s=length)
        sound = events_at([event], 0, len(samples), microphone, microphone.position_m)
        mixed += sound * math.sqrt(power / _SOUNDS / float(np.mean(sound**2))) * 10 ** (config.snr_db / 20)
        events.append(event)
    audio = np.asarray(mixed * (0.5 / np.abs(mixed).max()), np.float32)
    nothing = np.zeros((0, 4, 4))
    heard = SoundPerceiver(model).reset(
        Observation(
            np.zeros((0, 4, 4, 3), np.uint8), nothing.astype(np.float32), nothing.astype(np.int32), (), {},
            time_s=end_s, audio=audio, audio_rate_hz=rate_hz,
        )
    )  # fmt: skip
    named = model.config.group
    true = [
        (FACTS[event.label], named(event.label), event.start_s, event.duration_s)
        for event in events
        if event.label in FACTS
    ]
    return true, _told(heard, named)


def _told(heard: Hearing, named: Callable[[str], str]) -> list[Event]:
    """The events that were heard; of several materials of one hit, the most probable group."""
    told = list[Event]()
    hits: dict[SoundHeard, Counter[str]] = {}
    for event in heard.events:
        fact = FACTS.get(event.label)
        if fact == HIT:
            first = next((other for other in hits if other.start_s == event.start_s), event)
            hits.setdefault(first, Counter())[named(event.label)] += event.probability  # type: ignore[assignment]
        elif fact is not None:
            told.append((fact, named(event.label), event.start_s, event.end_s - event.start_s))
    return told + [(HIT, max(each, key=each.__getitem__), hit.start_s, 0.0) for hit, each in hits.items()]


def _is_said(one: Event, said: list[Event], what: int) -> bool:
    """Whether an event was told at its time, by its first or both parts: fact and object."""
    return any(other[:what] == one[:what] and abs(other[2] - one[2]) <= EXACT_S for other in said)


def _is_true(one: Event, true: list[Event], what: int) -> bool:
    """Whether an event that was told happened then, or goes on."""
    return any(other[:what] == one[:what] and -EXACT_S <= one[2] - other[2] <= max(EXACT_S, other[3]) for other in true)


def table_of(metrics: Mapping[str, Any]) -> str:
    """One line for each fact."""
    keys = ("precision", "recall", "precision_of_object", "recall_of_object")
    rows = [
        [fact, found["recall"]["of"], *(percent_of(found[key], 1) for key in keys)]
        for fact, found in metrics["facts"].items()
    ]
    head = ["fact", "events", *(key.replace("_of_", ", with the ") for key in keys)]
    return document(markdown_table(head, rows))


MEASUREMENT = Measurement(
    SoundFactsConfig,
    measure,
    table_of,
    check=lambda config: SoundModel.load(config.checkpoint),
    least={"recordings": 1},
    checkpoint=str(SHIPPED),
)


if __name__ == "__main__":
    run(MEASUREMENT)
