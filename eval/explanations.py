"""`python -m eval.explanations`: accuracy of explanations, parsed from the text alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from eval.common.episodes import episodes_of
from eval.common.error_states import VIEWS, ErrorStatesConfig, error_states
from eval.common.recordings import footage_of
from eval.common.statistics import grouped, share_of
from eval.common.step_verdicts import MonitorSetting, perceived_steps
from eval.common.systems import check_checkpoint, system_of
from eval.common.tables import document, markdown_table, percent
from eval.common.true_causes import true_causes
from eval.metrics import Metric, share, total, transposed
from eval.metrics import summary as counted
from eval.run import Measurement, Run, run
from nsrecover.core.discrepancy import Cause
from nsrecover.explanation import Audience, GroundedExplainer
from sim.datasets.spec import ErrorEpisode

ORDINALS = (
    "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth", "eleventh",
    "twelfth",
)  # fmt: skip

_WHO = r"(?P<who>the <\d+>(?:, the <\d+>)*(?: and the <\d+>)?)"
_HOW_FAR = (
    r"(?:(?:about )?\d+ (?:cm|mm) (?:from its place|to the (?:left|right) of its place"
    r"|(?:nearer to|farther from) the robot than its place))"
)
_NOW = rf"(?:: (?:it|they) (?:is|are) (?:now|still) (?:on (?:the <\d+>|the table))?(?:,? ?{_HOW_FAR})?)?"
_EVENTS: tuple[tuple[Cause, str], ...] = (
    (Cause.TOPPLED, rf"toppled{_NOW}"),
    (Cause.DROPPED, rf"(?:was|were) dropped{_NOW}"),
    (Cause.NOT_LIFTED, rf"(?:was|were) not lifted{_NOW}"),
    (Cause.MISPLACED, rf"(?:was|were) put in the wrong place{_NOW}"),
    (Cause.MISSING, r"(?:is|are) missing"),
    (Cause.REPLACED, r"(?:was|were) replaced(?: by the <\d+>)?"),
    (Cause.SWAPPED, r"(?:has|have) swapped places(?: with one another| with something else)?"),
    (Cause.MOVED, rf"(?:has|have) moved, although no action should have moved (?:it|them){_NOW}"),
    (Cause.NOT_DONE, r"(?:was|were) not changed by the step"),
    (Cause.MISTAKEN, r"(?:was|were) mistaken(?: for the <\d+>)?"),
    (Cause.CHANGED, r"(?:has|have) changed, although no action should have changed (?:it|them)"),
    (Cause.TURNED, r"(?:is|are) turned, although no action should have turned (?:it|them)"),
    (Cause.LEANING, r"(?:is|are) leaning"),
    (Cause.LYING, r"(?:is|are) lying on another side"),
    (Cause.BLOCKING, r"(?:is|are) in the way(?: of the <\d+>)?"),
    (Cause.HELPED, r"(?:is|are) already as (?:it|they) should be(?: later| after (?:step \d+|the \w+ step))?"),
)
_STEP = re.compile(r"step (\d+), [a-z]+\(|the (\w+) step, [a-z]+ing\b")
_OTHER = re.compile(
    r"^(?:So the <\d+> is not |The <\d+> should be |"
    r"The <\d+>(?:, the <\d+>)*(?: and the <\d+>)? (?:is|are) (?:now|still) |"
    r"The <\d+>(?: and|,) .* may stay |The <\d+> may stay |"
    r"The recovery takes |Then the scene is |This also completes |No recovery (?:is needed|exists|was found)|"
    r".* makes? it impossible)"
)
"""Beginnings of sentences about consequences and recoveries, which name no cause."""


@dataclass(frozen=True)
class ParsedText:
    """Content of a text.

    Attributes:
        step: number of the step of the error, from 1; None if the text names none.
        causes: object -> cause.
        unread: sentences that could not be parsed, and objects with two causes.
    """

    step: int | None
    causes: dict[str, Cause]
    unread: tuple[str, ...] = field(default=())


def read_back(text: str, names: Sequence[str]) -> ParsedText:
    """Parse an explanation.

    Args:
        text: for either audience.
        names: of the objects of the scene.
    """
    masked = text
    # longest first, so that `red cube` is not found in `dark red cube`
    for name in sorted(names, key=len, reverse=True):
        masked = re.sub(rf"(?<![\w<]){re.escape(name)}(?!\w)", f"<{names.index(name)}>", masked)
    headline, *rest = re.split(r"(?<=\.)\s+(?=[A-Z])", masked)
    step = _step_of(headline)
    causes: dict[str, Cause] = {}
    unread = [] if step is not None else [headline]
    told = re.search(r" (?:went wrong:|worked, but|something was not as expected:) (.*)", headline)
    if told is not None:
        rest = [*(each for each in told[1].split(", and ") if _event_of(each) is not None), *rest]
    for sentence in rest:
        if _OTHER.match(sentence):
            continue
        event = _event_of(sentence)
        if event is None:
            unread.append(sentence)
            continue
        cause, numbers = event
        for number in numbers:
            name = names[number]
            if causes.setdefault(name, cause) is not cause:
                unread.append(f"{name}: {causes[name]} and {cause}")
    return ParsedText(step, causes, tuple(unread))


def _step_of(headline: str) -> int | None:
    found = _STEP.search(headline[:1].lower() + headline[1:])
    if found is None:
        return None
    if found[1] is not None:
        return int(found[1])
    digits = re.match(r"\d+", found[2])
    if digits:
        return int(digits[0])
    return ORDINALS.index(found[2]) + 1 if found[2] in ORDINALS else None


def _event_of(sentence: str) -> tuple[Cause, list[int]] | None:
    lowered = sentence[:1].lower() + sentence[1:].rstrip(".")
    for cause, pattern in _EVENTS:
        found = re.fullmatch(rf"{_WHO} {pattern}", lowered)
        if found:
            return cause, [int(number) for number in re.findall(r"<(\d+)>", found["who"])]
    return None


@dataclass
class ExplanationsConfig(ErrorStatesConfig):
    """Measure whether the texts of explanations are true, parsed from the text alone.

      python -m eval.explanations                                                 505 episodes of all five datasets
      python -m eval.explanations 'episodes={I: 20, II: 0, III: 0, IV: 0, V: 0}' seed=7 out=DIR   fewer, and fresh

    Missing episodes are generated and rendered (some seconds each) and kept. Writes metrics.json, table.md and every
    text with its reading and the truth (rows.jsonl) to out=DIR.

    Attributes:
        seed: another seed gives other episodes; 0 are those of `python -m sim.datasets`.
        episodes: number of episodes of each error dataset; episodes.I=0 leaves one out.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        footage: folder for camera images of the episodes; can be deleted.
        states: folder for the perceived and the true state at every error; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    out: str = "outputs/explanations"
    episodes: dict[str, int] = field(default_factory=lambda: {"I": 225, "II": 100, "III": 100, "IV": 20, "V": 60})


@dataclass(frozen=True)
class JudgedText:
    """Explanation with its ground truth.

    Attributes:
        dataset: of the episode.
        episode: its number.
        step: number of the step, from 1.
        register: audience of the text.
        text: the explanation; empty without an alarm.
        said_step: step named in the text.
        said: object -> cause, parsed from the text.
        unread: sentences that could not be parsed.
        true: object -> true cause; empty if the step went well.
        faults: object -> fault of the dataset; only for the tables.
    """

    dataset: str
    episode: int
    step: int
    register: str
    text: str
    said_step: int | None
    said: Mapping[str, str]
    unread: Sequence[str]
    true: Mapping[str, str]
    faults: Mapping[str, str]

    @property
    def culprits_right(self) -> bool:
        """Whether the text names exactly the truly deviating objects."""
        return set(self.said) == set(self.true) and not self.unread

    @property
    def causes_right(self) -> bool:
        """Whether the text names the true cause of every deviation."""
        return dict(self.said) == dict(self.true) and not self.unread

    @property
    def step_right(self) -> bool:
        """Whether the text names the step of the error."""
        return self.said_step == self.step and bool(self.true)


def explain_episode(episode: ErrorEpisode, config: ExplanationsConfig) -> list[JudgedText]:
    """Explain all alarms of an episode, for both audiences.

    Every step starts from a correct scene. Good steps without an alarm are left out.
    """
    system = system_of(config.checkpoint)
    found = error_states(episode, config.footage, config.states, config.checkpoint)
    states = {state.step: state for state in found}
    recorded = footage_of(episode, config.footage)
    texts = list[JudgedText]()
    for look in perceived_steps(recorded.through(VIEWS), system, MonitorSetting()):
        if look.step < 0:
            continue
        step, graph, trace = look.step, look.graph, look.trace
        discrepancy = system.comparison.after(graph, trace, step)
        if not look.failed and not discrepancy.deviates:
            continue
        state = states[step] if look.failed else None
        truth = {} if state is None else {name: cause.value for name, cause in true_causes(state).items()}
        recovery = system.planner.recover(graph, trace, discrepancy, budget_s=5.0) if discrepancy.deviates else None
        for register in Audience:
            text = GroundedExplainer(audience=register)(discrepancy, recovery).text if discrepancy.deviates else ""
            reading = read_back(text, graph.names) if text else ParsedText(None, {})
            texts.append(
                JudgedText(
                    episode.dataset,
                    episode.number,
                    step + 1,
                    register.value,
                    text,
                    reading.step,
                    {name: cause.value for name, cause in reading.causes.items()},
                    reading.unread,
                    truth,
                    {} if state is None else dict(state.error.causes),
                )
            )
    return texts


def summary(texts: Sequence[JudgedText]) -> dict[str, Any]:
    """Return the counts of all texts, for each audience and dataset."""
    return {
        register.value: {
            name: counted([each for each in texts if each.register == register and each.dataset in chosen], METRICS)
            for name, chosen in {**{d: (d,) for d in _datasets(texts)}, "all": _datasets(texts)}.items()
        }
        for register in Audience
    }


def _datasets(texts: Sequence[JudgedText]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.dataset for each in texts))


def _objects(each: JudgedText) -> list[bool]:
    return [each.said.get(name) == cause for name, cause in each.true.items()]


def _by_cause(texts: Sequence[JudgedText]) -> dict[str, Any]:
    found = [(true, each.said.get(name) == true) for each in texts for name, true in each.true.items()]
    groups = grouped(found, lambda pair: pair[0])
    return {cause: share_of(right for _, right in group) for cause, group in groups.items()}


def _percent(value: Mapping[str, Any]) -> str:
    if value["value"] is None:
        return ""
    return f"{percent(value['value'], digits=1)} ({100 * value['low']:.1f} to {100 * value['high']:.1f})"


def _share(name: str, title: str, good: Callable[[Any], Any], every: bool = False) -> Metric:
    shown = share(name, title, good, lambda each: every or each.true)
    return replace(shown, cell=lambda counts: _percent(counts[name]))


METRICS = (
    Metric("episodes", "episodes with an explanation", lambda texts: len({(t.dataset, t.episode) for t in texts}),
           lambda counts: counts["episodes"]),
    total("errors", "errors", lambda each: bool(each.true)),
    _share("culprits", "exactly the true culprits", lambda each: each.culprits_right),
    _share("causes", "the true cause of every one of them", lambda each: each.causes_right),
    _share("causes_by_object", "the true cause, by object", _objects),
    # a text about a good step names a wrong step
    _share("step", "the true step", lambda each: each.step_right, every=True),
    total("unread", "texts not parsed completely", lambda each: bool(each.unread)),
    Metric("by_cause", "", _by_cause, str),
)  # fmt: skip


def markdown(metrics: Mapping[str, Any]) -> str:
    """Tables of both audiences, of causes and of wrong causes."""
    parts = list[str]()
    for register in Audience:
        counts = metrics["registers"][register.value]
        parts += [f"### Audience: {register.value}", transposed("", counts, METRICS)]
    causes = metrics["registers"][Audience.LAY.value]["all"]["by_cause"]
    return document(
        *parts,
        markdown_table(
            ("what truly happened", "objects", "named correctly"),
            [[cause, each["of"], _percent(each)] for cause, each in causes.items()],
        ),
        markdown_table(
            ("put out of place by", "what truly happened", "what the text says", "objects"),
            metrics["wrong_causes"],
        ),
    )


def wrong_causes(texts: Sequence[JudgedText]) -> list[list[str | int]]:
    """Fault, true cause, said cause and number of objects whose cause a text for laypeople gets wrong."""
    wrong = Counter(
        (each.faults.get(name, ""), true, each.said.get(name, "nothing"))
        for each in texts
        if each.register == Audience.LAY
        for name, true in each.true.items()
        if each.said.get(name) != true
    )
    return [[*key, count] for key, count in wrong.most_common()]


def _episodes(config: ExplanationsConfig) -> list[ErrorEpisode]:
    return episodes_of(config.episodes, config.seed, config.errors, config.workers)


def measure(config: ExplanationsConfig, run: Run) -> dict[str, Any]:
    """Explain, parse and judge."""
    for folder in (config.footage, config.states):
        Path(folder).mkdir(parents=True, exist_ok=True)
    task = partial(explain_episode, config=config)
    every = run.each(task, run.episodes, "episode", key=lambda each: f"{each.dataset} {each.number}")
    texts = [each for some in every for each in some]
    return {
        "seed": config.seed,
        "episodes": dict(config.episodes),
        "registers": summary(texts),
        "wrong_causes": wrong_causes(texts),
    }


MEASUREMENT = Measurement(ExplanationsConfig, measure, markdown, check=check_checkpoint, episodes=_episodes)

if __name__ == "__main__":
    run(MEASUREMENT)
