"""Coverage: one word added or changed changes the plan, is noted, or is asked about or refused by name."""

from __future__ import annotations

import pytest

from nsrecover.domains.service.home_file import load_home
from nsrecover.instructions.task import Task
from nsrecover.instructions.understanding import Understanding
from tests.case_files import cases_of

CASES = cases_of(__file__)
SENTENCES = CASES["sentences"]
UNDERSTANDING = Understanding(load_home("apartment"))


def _outcome(sentence: str) -> tuple[object, ...]:
    found = UNDERSTANDING.task(sentence)
    if not isinstance(found, Task):
        return (type(found).__name__, found.text)
    return ("Task", tuple((stage.goal, tuple(stage.things.items())) for stage in found.stages), found.notes)


@pytest.mark.parametrize("word", CASES["added"])
@pytest.mark.parametrize("sentence", SENTENCES)
def test_an_added_word_is_not_lost(sentence: str, word: str) -> None:
    assert _outcome(sentence.format(f"{word} ")) != _outcome(sentence.format(""))


@pytest.mark.parametrize(("sentence", "changed"), CASES["changed"])
def test_a_changed_word_is_not_lost(sentence: str, changed: str) -> None:
    assert _outcome(changed) != _outcome(sentence)


@pytest.mark.parametrize("sentence", [sentence.format("") for sentence in SENTENCES])
def test_the_sentences_themselves_are_understood(sentence: str) -> None:
    assert isinstance(UNDERSTANDING.task(sentence), Task)
