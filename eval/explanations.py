"""`python -m eval.explanations`: whether the objects and causes that explanations name are the true ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from eval.common.episodes import episodes_of
from eval.common.error_states import VIEWS, ErrorStatesConfig, error_states
from eval.common.perceived_steps import perceived_steps
from eval.common.recordings import footage_of
from eval.common.statistics import grouped, share_of
from eval.common.systems import check_checkpoint, system_of
from eval.common.tables import columns_table, document, markdown_table, percent_of
from eval.common.true_causes import true_causes
from eval.metrics import Metric, Rows, columns, share, summary, total
from eval.run import Measurement, Run, run
from nsrecover.core.discrepancy import Cause
from nsrecover.explanation import GroundedExplainer
from sim.datasets.spec import ErrorEpisode

CAUSES = {cause.value for cause in Cause}


@dataclass
class ExplanationsConfig(ErrorStatesConfig):
    """Measure whether explanations name the true objects and causes, by the facts of their sentences.

      python -m eval.explanations                                                 505 episodes of all five datasets
      python -m eval.explanations 'episodes={I: 20, II: 0, III: 0, IV: 0, V: 0}' seed=7 out=DIR   fewer, and fresh

    That every text follows from its facts is a test of its own. Missing episodes are generated and rendered (some
    seconds each) and kept.

    Attributes:
        seed: another seed gives other episodes; 0 are those of `python -m sim.datasets`.
        episodes: number of episodes of each error dataset; episodes.I=0 leaves one out.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        footage: folder for camera images of the episodes; can be deleted.
        states: folder for the perceived and the true state at every error; can be deleted.
        checkpoint: folder of a checkpoint; the shipped one if null.
    """

    episodes: dict[str, int] = field(default_factory=lambda: {"I": 225, "II": 100, "III": 100, "IV": 20, "V": 60})


@dataclass(frozen=True)
class ExplainedStep:
    """Explanation of a step with its ground truth.

    Attributes:
        dataset: of the episode.
        step: number of the step, from 1.
        text: the explanation; empty without an alarm.
        said_step: step that it is about; None without an alarm.
        said: object -> cause, of the facts of the text.
        true: object -> true cause; empty if the step went well.
    """

    dataset: str
    step: int
    text: str
    said_step: int | None
    said: Mapping[str, str]
    true: Mapping[str, str]


def explain_episode(episode: ErrorEpisode, config: ExplanationsConfig) -> list[ExplainedStep]:
    """Explain all alarms of an episode; good steps without an alarm are left out."""
    system = system_of(config.checkpoint)
    found = error_states(episode, config.footage, config.states, config.checkpoint)
    states = {state.step: state for state in found}
    recorded = footage_of(episode, config.footage).through(VIEWS)
    explained = list[ExplainedStep]()
    for look in perceived_steps(recorded, system):
        discrepancy = system.comparison.after(look.graph, look.trace, look.step) if look.step >= 0 else None
        if discrepancy is None or not (look.failed or discrepancy.deviates):
            continue
        truth = true_causes(states[look.step]) if look.failed else {}
        said, text, step = dict[str, str](), "", None
        if discrepancy.deviates:
            recovery = system.planner.recover(look.graph, look.trace, discrepancy, budget_s=5.0)
            explanation = GroundedExplainer()(discrepancy, recovery)
            text, step = explanation.text, explanation.step
            said = {fact.arguments[0]: fact.predicate for fact in explanation.facts if fact.predicate in CAUSES}
        true = {name: cause.value for name, cause in truth.items()}
        explained.append(ExplainedStep(episode.dataset, look.step + 1, text, step, said, true))
    return explained


def _by_cause(rows: Rows) -> dict[str, Any]:
    found = [(true, each.said.get(name) == true) for each in rows for name, true in each.true.items()]
    return {c: share_of(right for _, right in group) for c, group in grouped(found, lambda pair: pair[0]).items()}


METRICS = (
    total("errors", "errors", lambda each: bool(each.true)),
    share("culprits", "exactly the true culprits", lambda each: {*each.said} == {*each.true}, lambda each: each.true),
    share("causes", "the true cause of every one of them", lambda each: dict(each.said) == dict(each.true),
          lambda each: each.true),
    share("causes_by_object", "the true cause, by object",
          lambda each: [each.said.get(name) == cause for name, cause in each.true.items()]),
    # a text about a good step names a wrong step
    share("step", "the true step", lambda each: each.said_step == each.step and bool(each.true)),
    Metric("by_cause", "", _by_cause, str),
)  # fmt: skip


def measure(config: ExplanationsConfig, run: Run) -> dict[str, Any]:
    """Explain and judge."""
    for folder in (config.footage, config.states):
        Path(folder).mkdir(parents=True, exist_ok=True)
    task = partial(explain_episode, config=config)
    every = run.each(task, run.episodes, "episode", key=lambda each: f"{each.dataset} {each.number}")
    rows = [each for some in every for each in some]
    wrong = Counter(
        (true, each.said.get(name, "nothing"))
        for each in rows for name, true in each.true.items() if each.said.get(name) != true
    )  # fmt: skip
    return {
        "seed": config.seed,
        "episodes": dict(config.episodes),
        "datasets": {
            name: summary(group, METRICS)
            for name, group in {**grouped(rows, lambda each: each.dataset), "all": rows}.items()
        },
        "wrong_causes": [[*key, count] for key, count in wrong.most_common()],
    }


def table(found: Mapping[str, Any]) -> str:
    """Tables of the datasets, of causes and of wrong causes."""
    causes = [[cause, each["of"], percent_of(each, 1)] for cause, each in found["datasets"]["all"]["by_cause"].items()]
    return document(
        columns_table(["dataset"], found["datasets"], columns(METRICS)),
        markdown_table(("what truly happened", "objects", "named correctly"), causes),
        markdown_table(("what truly happened", "what the text says", "objects"), found["wrong_causes"]),
    )


MEASUREMENT = Measurement(
    ExplanationsConfig,
    measure,
    table,
    check=check_checkpoint,
    episodes=lambda config: episodes_of(config.episodes, config.seed, config.errors, config.workers),
)

if __name__ == "__main__":
    run(MEASUREMENT)
