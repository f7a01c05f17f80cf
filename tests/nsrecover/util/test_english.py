"""English: every rule by its cases, and by its siblings."""

import pytest

from nsrecover.util import english
from tests.case_files import cases_of

CASES = cases_of(__file__)


@pytest.mark.parametrize(("noun", "expected"), CASES["articles"])
def test_the_indefinite_article_follows_the_sound(noun: str, expected: str) -> None:
    assert english.a(noun) == expected


@pytest.mark.parametrize(("name", "expected"), CASES["names"])
def test_a_name_gets_one_article(name: str, expected: str) -> None:
    assert english.the(name) == expected


@pytest.mark.parametrize(("verb", "expected"), CASES["gerunds"])
def test_gerunds(verb: str, expected: str) -> None:
    assert english.gerund(verb) == expected


@pytest.mark.parametrize(("count", "noun", "words", "digits"), CASES["counts"])
def test_a_noun_agrees_with_its_number(count: int, noun: str, words: str, digits: str) -> None:
    assert english.counted(count, noun) == words
    assert english.amount(count, noun) == digits


@pytest.mark.parametrize(("count", "expected"), CASES["ordinals"])
def test_ordinals(count: int, expected: str) -> None:
    assert english.ordinal(count) == expected


def test_lists() -> None:
    assert english.listed([]) == ""
    assert english.listed(["a"]) == "a"
    assert english.listed(["a", "b"], "or") == "a or b"
    assert english.objects(["cube", "the die", "mug"]) == "the cube, the die and the mug"


@pytest.mark.parametrize(("name", "many"), CASES["plurals"])
def test_plural_names(name: str, many: bool) -> None:
    assert english.is_plural(name) is many


@pytest.mark.parametrize(("template", "terms", "said", "denied"), CASES["clauses"])
def test_clauses_agree_and_are_negated(template: str, terms: list[str], said: str, denied: str) -> None:
    assert english.clause(template, *terms) == said
    assert english.clause(template, *terms, holds=False) == denied


def test_pronouns() -> None:
    one, many = english.Forms.of(("cube",)), english.Forms.of(("scissors",))
    text = "[is] where [they] should be, in [their] place: nothing touched [them]"
    assert one.agree(text) == "is where it should be, in its place: nothing touched it"
    assert many.agree(text) == "are where they should be, in their place: nothing touched them"
