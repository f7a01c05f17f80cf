import json

import pytest

from nsrecover.core.completion import Completion
from nsrecover.domains.service.home_file import load_home
from nsrecover.errors import ModelFailure
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.rephrasing import Rephraser
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_world

HOME = load_home("apartment")
SENTENCE = "twice my throat asked for the cola in the fridge, bring it"
UNDERSTANDING = Understanding(HOME)


class Model:
    name = "model"

    def __init__(self, text):
        self.text = text

    def complete(self, prompt, *, timeout_s, on_text=None):
        if self.text is None:
            raise ModelFailure("no answer")
        return Completion(self.text)


class Operator:
    def __init__(self, answer):
        self.answer, self.asked = answer, []

    def tell(self, text):
        pass

    def ask(self, question):
        self.asked.append(question)
        return self.answer if question.startswith("Do you mean") else ""


def command(text):
    return json.dumps({"command": text})


def test_a_proposal_in_the_words_of_the_sentence_counts():
    text = "bring me the cola from the fridge"
    assert Rephraser(Model(command(text)), UNDERSTANDING).proposal(SENTENCE) == text


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "bring me the cola",
        command("bring me the milk from the fridge"),
        command("dance"),
        command("bring me the cola from the wardrobe"),
        json.dumps([1]),
        command("x" * 300),
    ],
)
def test_other_answers_do_not(text):
    assert Rephraser(Model(text), UNDERSTANDING).proposal(SENTENCE) is None


@pytest.mark.parametrize(("answer", "moved"), [("yes", True), ("no", False), ("", False)])
def test_nothing_is_done_before_the_operator_agrees(answer, moved):
    world, operator = drawn_world(HOME, 1, None, [], {"cola": "fridge"}), Operator(answer)
    agent = ServiceAgent(UNDERSTANDING, world, operator)
    agent.rephrase = Rephraser(Model(command("bring me the cola from the fridge")), UNDERSTANDING).proposal
    outcome = agent.run(SENTENCE)
    assert (outcome.status is OutcomeStatus.DONE) == moved
    assert (world.objects["cola"] == "operator") == moved
    assert "'bring me the cola from the fridge'" in operator.asked[0]
    assert bool(world.executed) == moved
