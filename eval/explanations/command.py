"""`python -m eval.explanations`: accuracy of explanations, parsed from the text alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from eval.common.episodes import episodes_of
from eval.common.error_states import VIEWS, ErrorStatesConfig, error_states
from eval.common.output import in_workers, write_results
from eval.common.recordings import load_recording, record_episode
from eval.common.statistics import share, share_of
from eval.common.step_verdicts import MonitorSetting, perceived_steps
from eval.common.systems import system_of
from eval.common.tables import document, markdown_table, percent
from eval.common.true_causes import true_causes
from eval.explanations.read_back import ParsedText, read_back
from nsrecover.explanation import Audience, GroundedExplainer
from nsrecover.util.atomic_write import atomic_write_bytes
from sim.datasets.spec import ErrorEpisode

TEXTS = "texts.jsonl"


@dataclass
class ExplanationsConfig(ErrorStatesConfig):
    """Top level of conf/explanations.yaml."""

    out: str = "outputs/explanations"


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
    recorded = load_recording(episode, record_episode(episode, Path(config.footage)))
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
            name: _counts([each for each in texts if each.register == register and each.dataset in chosen])
            for name, chosen in {**{d: (d,) for d in _datasets(texts)}, "all": _datasets(texts)}.items()
        }
        for register in Audience
    }


def _datasets(texts: Sequence[JudgedText]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.dataset for each in texts))


def _counts(texts: Sequence[JudgedText]) -> dict[str, Any]:
    errors = [each for each in texts if each.true]
    objects = [(name, cause, each) for each in errors for name, cause in each.true.items()]
    return {
        "episodes": len({(each.dataset, each.episode) for each in texts}),
        "errors": len(errors),
        "culprits": share_of(each.culprits_right for each in errors),
        "causes": share_of(each.causes_right for each in errors),
        "causes_by_object": share_of(each.said.get(name) == cause for name, cause, each in objects),
        # a text about a good step names a wrong step
        "step": share_of(each.step_right for each in texts),
        "unread": sum(bool(each.unread) for each in texts),
        "by_cause": {
            cause: share(sum(each.said.get(name) == true for name, true, each in objects if true == cause), number)
            for cause, number in sorted(Counter(true for _, true, _ in objects).items())
        },
    }


def markdown(metrics: Mapping[str, Any], texts: Sequence[JudgedText]) -> str:
    """Tables of both audiences, of causes and of wrong causes."""
    parts = list[str]()
    for register in Audience:
        counts = metrics["registers"][register.value]
        rows = [[title, *(cell(counts[name]) for name in counts)] for title, cell in _ROWS]
        parts += [f"### Audience: {register.value}", markdown_table(["", *counts], rows)]
    causes = metrics["registers"][Audience.LAY.value]["all"]["by_cause"]
    wrong = Counter(
        (each.faults.get(name, ""), true, each.said.get(name, "nothing"))
        for each in texts
        if each.register == Audience.LAY
        for name, true in each.true.items()
        if each.said.get(name) != true
    )
    return document(
        *parts,
        markdown_table(
            ("what truly happened", "objects", "named correctly"),
            [[cause, each["of"], _percent(each)] for cause, each in causes.items()],
        ),
        markdown_table(
            ("put out of place by", "what truly happened", "what the text says", "objects"),
            [[*key, count] for key, count in wrong.most_common()],
        ),
    )


def _percent(value: Mapping[str, Any]) -> str:
    if value["value"] is None:
        return ""
    return f"{percent(value['value'], digits=1)} ({100 * value['low']:.1f} to {100 * value['high']:.1f})"


_ROWS: tuple[tuple[str, Callable[[Mapping[str, Any]], str]], ...] = (
    ("episodes with an explanation", lambda counts: str(counts["episodes"])),
    ("errors", lambda counts: str(counts["errors"])),
    ("exactly the true culprits", lambda counts: _percent(counts["culprits"])),
    ("the true cause of every one of them", lambda counts: _percent(counts["causes"])),
    ("the true cause, by object", lambda counts: _percent(counts["causes_by_object"])),
    ("the true step", lambda counts: _percent(counts["step"])),
    ("texts not parsed completely", lambda counts: str(counts["unread"])),
)


def explain_all(config: ExplanationsConfig) -> Iterator[list[JudgedText]]:
    """Explain all episodes in worker processes; missing recordings and error states are made and stored."""
    for folder in (config.footage, config.states):
        Path(folder).mkdir(parents=True, exist_ok=True)
    episodes = episodes_of(config.episodes, config.seed, config.errors, config.workers)
    task = partial(explain_episode, config=config)
    yield from in_workers(task, episodes, config.workers, "episode", "explaining")


def measure(config: ExplanationsConfig) -> dict[str, Any]:
    """Explain, parse and judge; write metrics, table and every text.

    Args:
        config: see conf/explanations.yaml.

    Returns:
        The contents of metrics.json.

    Raises:
        NsrecoverError: a setting or a checkpoint cannot be used.
    """
    system_of(config.checkpoint)  # rejects an unusable checkpoint early
    out = Path(config.out)
    out.mkdir(parents=True, exist_ok=True)
    texts = [each for every in explain_all(config) for each in every]
    metrics = {"seed": config.seed, "episodes": dict(config.episodes), "registers": summary(texts)}
    lines = (json.dumps(asdict(each), ensure_ascii=False) for each in texts)
    atomic_write_bytes(out / TEXTS, "".join(f"{line}\n" for line in lines).encode())
    write_results(out, metrics, markdown(metrics, texts), config)
    return metrics
