"""`python -m train domain=household`: state model, sound model and what belongs to both, from demonstrations."""

from __future__ import annotations

import itertools
import json
import re
import sys
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from tqdm import tqdm

from conf.command import run
from nsrecover.core import Discrepancy, FactScene
from nsrecover.domains.base import State
from nsrecover.domains.household.domain import LASTING
from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.household.names import noun
from nsrecover.errors import InvalidConfiguration, InvalidRecording
from nsrecover.loading import HouseholdSystem
from nsrecover.models.household import HouseholdConfig, HouseholdModels
from nsrecover.models.sound import SoundModel
from nsrecover.perception.household import AT_THE_END_S, Sign
from nsrecover.perception.sounds import Hearing, SoundPerceiver
from nsrecover.records.archive import Archive
from nsrecover.records.recording import Recording
from nsrecover.util.atomic_write import atomic_write_bytes
from train import sounds
from train.revision import revision
from train.state_labels import home_of, states_of
from train.states import Example, frames_of, is_held_out, learned

FILE = "demonstrations.h5"
"""File of demonstrations in a folder."""
FEWEST = 5
"""A sound is a sign if both values were demonstrated after at least so many steps."""
FEWEST_STEPS = 3
"""An action has sounds to expect if it was demonstrated at least so often."""
HEARD_IF, HEARD_IF_NOT = 0.8, 0.05
"""A sound is a sign if it was heard in at least, and at most, this share of the steps."""


@dataclass
class TrainHouseholdConfig:
    """Train what a household needs from successful demonstrations.

      python -m train domain=household data=DIR                         one file or folder of demonstrations
      python -m train domain=household 'demos=[DIR,DIR2]' steps=4000     several
      python -m train domain=household data=DIR sounds=data/sounds      the sound network, too

    That is: the states of objects from images, sounds and when they are expected, which sound says that something
    runs, and how long actions take. Layouts whose number divided by 5 leaves 2 are not learned from: they choose
    temperatures and thresholds, and false alarms are counted on them. Writes one checkpoint (config.json, states,
    sounds) and metrics.json to out=DIR.

    Attributes:
        domain: of this training.
        demos: a file of demonstrations or a folder with one (`python -m sim.collect domain=household
            microphone=true out=DIR`), or a list of them; data=DIR says the same.
        sounds: folder with recordings of single sounds (`python -m sim.sound.clips`) to train the sound network
            from; null: keep the network of the shipped sound model, and learn from the demonstrations only what is
            heard during which action.
        out: output folder, which `nsrecover.load(DIR, domain=HOUSEHOLD)` takes.
        steps: batches of the state network.
        sound_steps: batches of the sound network.
        batch: crops in a batch.
        rate: highest learning rate.
        seed: of everything random.
    """

    domain: str = "household"
    demos: Any = "data/household_demos"
    sounds: str | None = None
    out: str = "outputs/train_household"
    steps: int = 2400
    sound_steps: int = 2200
    batch: int = 96
    rate: float = 2e-3
    seed: int = 0


def train(config: TrainHouseholdConfig) -> dict[str, Any]:
    """Train both models, learn durations and signs, measure on layouts that were not learned from, write the bundle.

    Args:
        config: the settings.

    Returns:
        The contents of metrics.json.

    Raises:
        InvalidConfiguration: a setting cannot be used, or the demonstrations do not suffice.
        InvalidRecording: they are not of a household.
    """
    if config.domain != "household":
        raise InvalidConfiguration(f"expected domain=household, found {config.domain!r}")
    if min(config.steps, config.batch) < 1 or config.sound_steps < 0 or config.seed < 0 or not config.rate > 0:
        raise InvalidConfiguration(
            "expected steps and batch of at least 1, sound_steps and seed of at least 0 and a rate above 0, found "
            f"steps={config.steps}, batch={config.batch}, sound_steps={config.sound_steps}, seed={config.seed}, "
            f"rate={config.rate}"
        )
    began = time.perf_counter()
    command = " ".join(["python", "-m", "train", *sys.argv[1:]])
    out, files = Path(config.out), [file_of(Path(each)) for each in _listed(config.demos)]
    ears = _ears(config, out)
    examples, lessons = read(files, ears)
    states = learned(examples, config.steps, config.batch, config.rate, config.seed, command)
    del examples
    trained = time.perf_counter()
    learn = [lesson for lesson in lessons if not lesson.held_out]
    ears.config = replace(ears.config, expected=expected_sounds(learn))
    models = HouseholdModels(
        states,
        ears,
        HouseholdConfig(durations=durations(learn), signs=signs(lessons), metrics={"states": states.config.metrics}),
    )
    models.save(out)  # what follows only measures
    alarms = false_alarms(models, files)
    provenance = {
        "command": command,
        "seed": config.seed,
        "episodes": len(lessons),
        "transitions": sum(len(lesson.actions) for lesson in lessons),
        "revision": revision(),
        "seconds": {
            "training": round(trained - began, 1),
            "calibration": round(time.perf_counter() - trained, 1),
        },
    }
    metrics = {"states": dict(states.config.metrics), "held_out": alarms}
    models = replace(models, config=replace(models.config, metrics=metrics, provenance=provenance))
    models.save(out)
    found = {**metrics, "signs": [vars(sign) for sign in models.config.signs], "provenance": provenance}
    atomic_write_bytes(out / "metrics.json", json.dumps(found, indent=1).encode() + b"\n")
    return found


@dataclass(frozen=True)
class Lesson:
    """What is learned from a demonstration besides states.

    Attributes:
        held_out: whether it is not learned from.
        actions: operator and noun of the first argument of each of the T actions.
        seconds: their durations.
        states: T + 1.
        hearings: T; None without sound.
        names: the objects of the household that can be switched.
    """

    held_out: bool
    actions: tuple[tuple[str, str], ...]
    seconds: tuple[float, ...]
    states: tuple[State, ...]
    hearings: tuple[Hearing, ...] | None
    names: tuple[str, ...]


def file_of(path: Path) -> Path:
    """The file of demonstrations that a setting names, as such or by its folder.

    Raises:
        InvalidConfiguration: there is none.
    """
    found = path / FILE if path.is_dir() else path
    if not found.is_file():
        raise InvalidConfiguration(
            f"expected a file of household demonstrations, found none at {found}; record some with "
            f"`python -m sim.collect domain=household microphone=true out={path}`"
        )
    return found


def read(files: Sequence[Path], ears: SoundModel) -> tuple[list[Example], list[Lesson]]:
    """Frames with labels, and lessons, of all demonstrations."""
    examples, lessons = list[Example](), list[Lesson]()
    for path, number, recording in _recordings(files):
        examples += frames_of(recording, f"{path}:{number}")
        lessons.append(_lesson(recording, ears))
    return examples, lessons


def _recordings(files: Sequence[Path], only_held_out: bool = False) -> Iterator[tuple[Path, int, Recording]]:
    for path in files:
        with Archive(path, trusted=True) as archive:
            for number in tqdm(archive.episodes, desc=f"reading {path}", unit="episode"):
                recording = archive[number]
                if not only_held_out or is_held_out(recording):
                    yield path, number, recording


def _lesson(recording: Recording, ears: SoundModel) -> Lesson:
    home, _ = home_of(recording)
    listener, hearings = SoundPerceiver(ears), list[Hearing]()
    listener.reset(recording.observations[0])
    hearings = [listener.step(observation) for observation in recording.observations[1:]]
    times = [observation.time_s for observation in recording.observations]
    return Lesson(
        is_held_out(recording),
        tuple((action.operator, noun(action.arguments[0])) for action in recording.plan),
        tuple(float(after - before) for before, after in itertools.pairwise(times)),
        tuple(states_of(recording)),
        tuple(hearings) if all(each.listened for each in hearings) else None,
        tuple(name for name in home.names if Trait.SWITCH in home.traits(name)),
    )


def durations(lessons: Sequence[Lesson]) -> dict[str, float]:
    """Operator -> mean seconds of its demonstrations."""
    found: dict[str, list[float]] = defaultdict(list)
    for lesson in lessons:
        for (operator, _), seconds in zip(lesson.actions, lesson.seconds, strict=True):
            found[operator].append(seconds)
    return {operator: round(float(np.mean(values)), 2) for operator, values in sorted(found.items())}


def expected_sounds(lessons: Sequence[Lesson]) -> Mapping[str, Mapping[str, float]]:
    """Operator and noun of its first argument -> class -> share of the steps in which it was heard.

    Raises:
        InvalidRecording: no step has sound.
    """
    steps: Counter[str] = Counter()
    heard: dict[str, Counter[str]] = defaultdict(Counter)
    for lesson in lessons:
        for action, hearing in zip(lesson.actions, lesson.hearings or (), strict=lesson.hearings is not None):
            steps[" ".join(action)] += 1
            heard[" ".join(action)].update(hearing.labels)
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


def signs(lessons: Sequence[Lesson]) -> tuple[Sign, ...]:
    """The sounds that say whether something runs: heard after nearly all steps if it does, and hardly ever if not."""
    count: Counter[tuple[str, bool]] = Counter()
    heard: dict[tuple[str, bool], Counter[str]] = defaultdict(Counter)
    for lesson in lessons:
        for state, hearing in zip(lesson.states[1:], lesson.hearings or (), strict=False):
            if hearing.end_s - hearing.start_s < AT_THE_END_S:
                continue
            now = {
                event.label for event in hearing.events if event.known and event.end_s > hearing.end_s - AT_THE_END_S
            }
            for name in lesson.names:
                key = (noun(name), ("running", name) in state)
                count[key] += 1
                heard[key].update(now)
    found = []
    for kind in sorted({kind for kind, _ in count}):
        if min(count[kind, True], count[kind, False]) < FEWEST:
            continue
        for label in sorted(heard[kind, True]):
            if_so, if_not = (  # a share of nothing and of all is not certain (Laplace)
                (heard[kind, value][label] + 0.5) / (count[kind, value] + 1) for value in (True, False)
            )
            if if_so >= HEARD_IF and if_not <= HEARD_IF_NOT:
                found.append(Sign(label, "running", kind, round(if_so, 4), round(if_not, 4)))
    return tuple(found)


def false_alarms(models: HouseholdModels, files: Sequence[Path]) -> dict[str, Any]:
    """How often the monitor reports something, or cannot tell, in demonstrations of held-out layouts."""
    counts: Counter[str] = Counter()
    causes: Counter[str] = Counter()
    seconds = list[float]()
    for _, _, recording in _recordings(files, only_held_out=True):
        if not len(recording.plan):
            continue
        home, start = home_of(recording)
        home = replace(home, domain=LASTING)
        goal = [tuple(fact) for fact in recording.notes["goal"]]
        system = HouseholdSystem(models).system(home, goal, assumed=start)
        monitor = system.monitor(recording.plan, recording.observations[0])
        good = True
        for action, observation in zip(recording.plan, recording.observations[1:], strict=True):
            began = time.perf_counter()
            found: Discrepancy[FactScene] = monitor.step(action, observation)
            seconds.append(time.perf_counter() - began)
            counts["steps"] += 1
            counts["alarms"] += found.deviates
            counts["doubts"] += bool(found.missing_to_tell) and not found.deviates
            good = good and not found.deviates
            for each in found.deviations:
                about = {fact[0] for fact in (*each.expected, *(each.observed or ()))}
                causes[f"{' '.join(sorted(about))} of {noun(each.name)} after {action.operator}"] += 1
        counts["episodes"] += 1
        counts["without_alarm"] += good
    return {
        **{name: counts[name] for name in ("episodes", "without_alarm", "steps", "alarms", "doubts")},
        "alarms_about": dict(causes.most_common(20)),
        "monitor_ms": round(1000 * float(np.median(seconds)), 1) if seconds else None,
    }


def _listed(demos: Any) -> list[str]:
    found = [demos] if isinstance(demos, str) else demos
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise InvalidConfiguration(f"expected demos as a file or folder, or a list of them, found {demos!r}")
    return found


def _ears(config: TrainHouseholdConfig, out: Path) -> SoundModel:
    """The sound model: trained from recordings of single sounds, or the shipped network."""
    if config.sounds is None:
        return SoundModel.load()
    folder = out / "sounds"
    if not (folder / "config.json").is_file():
        sounds.train(Path(config.sounds), folder, config.sound_steps, seed=config.seed)
    return SoundModel.load(folder)


def print_table(metrics: dict[str, Any]) -> None:
    """Print what was measured on held-out layouts."""
    table = Table("variable", "accuracy", "given", "right of given", title="states, layouts not learned from")
    for name, found in metrics["states"]["held_out"].items():
        table.add_row(name, str(found["accuracy"]), str(found["given"]), str(found["accuracy_of_given"]))
    Console().print(table)
    Console().print(metrics["held_out"], metrics["provenance"]["seconds"])


def main() -> None:
    """Entry point of the command; `data=`, which names a group of settings elsewhere, stands for `demos=`."""
    sys.argv[1:] = [re.sub(r"^data=", "demos=", word) for word in sys.argv[1:]]
    run("train_household", TrainHouseholdConfig, lambda config: print_table(train(config)))


if __name__ == "__main__":
    main()
