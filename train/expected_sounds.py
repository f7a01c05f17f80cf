"""`python -m train.expected_sounds`: which sounds belong to which action, from successful demonstrations with sound."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from tqdm import tqdm

from conf.command import run_function
from nsrecover.domains.household.names import noun
from nsrecover.errors import InvalidRecording
from nsrecover.models.sound import SoundModel
from nsrecover.perception.sounds import Hearing, SoundPerceiver
from nsrecover.records.archive import Archive
from nsrecover.records.recording import Recording

FEWEST_STEPS = 3
"""An action has expectations if it was demonstrated at least so often."""


def train(
    model: Path = Path("nsrecover/checkpoints/household/sounds"), data: Path = Path("data/kitchen/demonstrations.h5")
) -> None:
    """Count what is heard during each action of successful demonstrations, and note it in a sound model.

    Args:
        model: folder of the sound model, which is written again.
        data: file of demonstrations that `python -m sim.collect domain=household microphone=true` wrote.
    """
    known = SoundModel.load(model)
    with Archive(data, trusted=True) as archive:
        recordings = (archive[episode] for episode in tqdm(archive.episodes, desc="listening", unit="episode"))
        expected = expected_sounds(heard_steps(known, recordings))
    known.config = replace(known.config, expected=expected)
    known.save(model)
    print(f"sounds of {len(expected)} actions, written to {model}")


def heard_steps(model: SoundModel, recordings: Iterable[Recording]) -> Iterator[tuple[str, Hearing]]:
    """Operator and noun of the first argument of every step of demonstrations, with what was heard."""
    for recording in recordings:
        perceiver = SoundPerceiver(model)
        perceiver.reset(recording.observations[0])
        for action, observation in zip(recording.plan, recording.observations[1:], strict=True):
            name = f"{action.operator} {noun(action.arguments[0])}" if action.arguments else action.operator
            yield name, perceiver.step(observation)


def expected_sounds(steps_heard: Iterable[tuple[str, Hearing]]) -> Mapping[str, Mapping[str, float]]:
    """Operator and noun of its first argument -> class -> share of the steps in which it was heard.

    Args:
        steps_heard: as from `heard_steps`.

    Raises:
        InvalidRecording: no step has sound.
    """
    steps: Counter[str] = Counter()
    heard: dict[str, Counter[str]] = defaultdict(Counter)
    for name, hearing in steps_heard:
        if hearing.listened:
            steps[name] += 1
            heard[name].update(hearing.labels)
    if not steps:
        raise InvalidRecording(
            "expected demonstrations with sound, found none; record them with "
            "`python -m sim.collect domain=household microphone=true`"
        )
    return {
        name: {label: round(times / count, 3) for label, times in heard[name].most_common()}
        for name, count in sorted(steps.items())
        if count >= FEWEST_STEPS
    }


if __name__ == "__main__":
    run_function(train)
