"""The second reader: what it reads alone is asked about, agreement acts, and nothing that was not said counts."""

from __future__ import annotations

import json

import pytest

from nsrecover.core.prompts import Completion, Listener, Prompt
from nsrecover.domains.service.home_file import load_home
from nsrecover.errors import ModelFailure
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.task import Refusal, RefusalCode, Task, TaskQuestion
from nsrecover.instructions.understanding import Understanding
from nsrecover.testing.simulated_home import drawn_world
from tests.nsrecover.instructions.recorded_answers import ADVERSARIAL, COLA, RIGHT, SHOWN, Clauses
from tests.nsrecover.instructions.test_open_nouns import Operator

HOME = load_home("apartment")
STORY = "my throat begged for the cola in the fridge"
PLAIN = "bring me the cola from the fridge"
MEANT = [COLA]


class Model:
    """Answers with a text, or not at all."""

    name = "model"

    def __init__(self, text: str | None) -> None:
        self.text, self.prompts = text, list[Prompt]()

    def complete(self, prompt: Prompt, *, timeout_s: float, on_text: Listener | None = None) -> Completion:
        """The text."""
        self.prompts.append(prompt)
        if self.text is None:
            raise ModelFailure("no answer")
        return Completion(self.text)


def understanding(answer: object) -> Understanding:
    text = answer if answer is None or isinstance(answer, str) else json.dumps({"clauses": answer})
    return Understanding(HOME, second=ModelReader(Model(text)))


def test_agreement_acts_and_disagreement_asks() -> None:
    task = understanding(MEANT).task(PLAIN)
    assert isinstance(task, Task)
    question = understanding([{**COLA, "do": "find"}]).task(PLAIN)
    assert isinstance(question, TaskQuestion)
    assert len(question.options) == 2


@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        "bring me the cola",
        [],
        [1],
        [{"do": "bring", "what": "milk", "who": "me"}],
        [{"do": "dance"}],
        [{"do": "bring", "what": "cola", "from": "wardrobe", "who": "me"}],
        [{"do": "tell", "who": "me", "say": "a joke"}],
        MEANT * 9,
    ],
)
def test_other_answers_change_nothing(answer: object) -> None:
    refusal = understanding(answer).task(STORY)
    assert isinstance(refusal, Refusal)
    assert refusal.code is RefusalCode.NOT_UNDERSTOOD
    assert isinstance(understanding(answer).task(PLAIN), Task)


def test_the_words_of_the_sentence_are_the_choices_and_the_model_is_asked_once() -> None:
    model = Model(json.dumps({"clauses": MEANT}))
    reads = Understanding(HOME, second=ModelReader(model))
    reads.task(STORY)
    reads.task(STORY)
    (prompt,) = model.prompts
    assert prompt.schema is not None
    assert prompt.schema["type"] == "object"
    fields = prompt.schema["properties"]["clauses"]["items"]["properties"]
    assert (fields["from"]["enum"], "cola" in fields["what"]["enum"]) == (["fridge"], True)


@pytest.mark.parametrize("sentence", ["drive slowly to the kitchen", "put the spoon in the microwave"])
def test_what_no_skill_serves_stays_refused(sentence: str) -> None:
    said = [{"do": "go", "to": "kitchen"}] if "kitchen" in sentence else [{"do": "take", "what": "spoon"}]
    assert isinstance(understanding(said).task(sentence), Refusal)


@pytest.mark.parametrize(("answer", "moved"), [("yes", True), ("no", False), ("", False)])
def test_nothing_is_done_before_the_operator_agrees(answer: str, moved: bool) -> None:
    world, operator = drawn_world(HOME, 1, None, [], {"cola": "fridge"}), Operator(*[answer] * 9)
    outcome = ServiceAgent(understanding(MEANT), world, operator).run(STORY)
    assert (outcome.status is OutcomeStatus.DONE) == moved
    assert (world.objects["cola"] == "operator") == moved
    assert "cola from the fridge" in operator.asked[0]
    assert bool(world.executed) == moved


@pytest.mark.parametrize(("sentence", "answer"), ADVERSARIAL)
def test_a_proposal_that_loses_or_adds_something_leads_to_nothing(sentence: str, answer: Clauses) -> None:
    reads = understanding(answer)
    assert isinstance(reads.task(sentence), Refusal)
    assert isinstance(Understanding(HOME).task(sentence), Refusal)


@pytest.mark.parametrize(("sentence", "answer", "shown"), [*SHOWN, *RIGHT])
def test_a_proposal_is_read_back_before_anything_is_done(sentence: str, answer: Clauses, shown: str) -> None:
    assert isinstance(Understanding(HOME).task(sentence), Refusal)
    question = understanding(answer).task(sentence)
    assert isinstance(question, TaskQuestion), question
    assert shown in question.text


def test_a_model_that_fails_is_said_to_in_one_line() -> None:
    reads = understanding(None)
    assert isinstance(reads.task(STORY), Refusal)
    assert reads.second is not None
    (problem,) = reads.second.problems
    assert problem.endswith("no answer.")
