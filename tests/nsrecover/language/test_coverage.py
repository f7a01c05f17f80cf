"""Coverage: one word added or changed changes the plan, is noted, or is asked about or refused by name."""

from __future__ import annotations

import pytest

from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.task import Task
from nsrecover.instructions.understanding import Understanding

UNDERSTANDING = Understanding(load_home("apartment"))
SENTENCES = [
    "bring me the {}sponge from the sink",
    "put the {}book on the sofa",
    "take the {}towel to ashley",
    "find the {}wallet in the bedroom",
    "throw away the {}lemon",
    "give charlie the {}banana on the desk",
    "move the {}plate from the countertop to the dishwasher",
    "could you fetch the {}milk from the fridge",
    "go to the kitchen and get the {}spoon",
    "there is a sponge in the sink, bring me the {}sponge",
]
ADDED = [
    "blue", "empty", "dirty", "biggest", "second", "other", "two", "nine", "wooden", "broken", "leftmost", "smaller",
    "neighbour's", "peel of the", "box of the", "none of the", "same",
]  # fmt: skip
CHANGED = [
    ("bring me an apple and an orange", "bring me an apple or an orange"),
    ("bring the watch to charlie and put it on the desk", "bring the watch to charlie or put it on the desk"),
    ("put the key in the drawer", "do not put the key in the drawer"),
    ("go to the kitchen", "never go to the kitchen"),
    ("put the wine in the fridge", "put the wine in the wine fridge"),
    ("put the wine in the fridge", "put the wine in the neighbour's fridge"),
    ("bring me the bowl", "bring me everything but the bowl"),
    ("bring me a fruit", "bring me a fruit but not the banana"),
    ("tell ashley that dinner is ready", "tell everyone that dinner is ready"),
    ("bring me the apple", "bring me a couple of apples"),
    ("bring me the apple", "bring me the apple unless it is bad"),
    ("bring me the apple", "bring me the apple tomorrow"),
    ("open the fridge", "open the fridge slowly"),
    ("close the fridge", "close the fridge if it is open"),
    ("take the watch on the desk to charlie", "take the watch next to the desk to charlie"),
    ("follow the person waving in the kitchen", "follow the woman waving in the kitchen"),
    ("how many cups are on the desk", "how many red cups are on the desk"),
    ("bring me chilled milk", "bring me a child's milk"),
    ("answer the question of charlie", "cancel the question of charlie"),
    ("get a cola from the fridge", "get a cola from behind the fridge"),
]


def _outcome(sentence: str) -> tuple[object, ...]:
    found = UNDERSTANDING.task(sentence)
    if not isinstance(found, Task):
        return (type(found).__name__, found.text)
    return ("Task", tuple((stage.goal, tuple(stage.things.items())) for stage in found.stages), found.notes)


@pytest.mark.parametrize("word", ADDED)
@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_added_word_is_not_lost(sentence: str, word: str) -> None:
    assert _outcome(sentence.format(f"{word} ")) != _outcome(sentence.format(""))


@pytest.mark.parametrize(("sentence", "changed"), CHANGED)
def test_a_changed_word_is_not_lost(sentence: str, changed: str) -> None:
    assert _outcome(changed) != _outcome(sentence)


@pytest.mark.parametrize("sentence", [sentence.format("") for sentence in SENTENCES])
def test_the_sentences_themselves_are_understood(sentence: str) -> None:
    assert isinstance(UNDERSTANDING.task(sentence), Task)
