"""What would have been, in a kitchen of facts: answers that the domain's simulation and search give."""

import pytest

import nsrecover
from nsrecover.core.episode import Episode
from nsrecover.explanation.answers.questions import ask
from nsrecover.monitoring.fact_belief import FactModel
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, WINE, FactWorld, after


def episode_of(world: FactWorld) -> Episode:
    return nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), world).run(WATER)


@pytest.fixture(scope="module")
def good() -> Episode:
    return episode_of(FactWorld())


@pytest.fixture(scope="module")
def wine() -> Episode:
    return episode_of(FactWorld(hook=after(1, WINE)))


def said(episode: Episode, question: str) -> str:
    model = nsrecover.symbolic(HOME, WATERED).model
    assert isinstance(model, FactModel)
    return ask(episode, [question], domain=HOME.domain, supposing=model)[0].text


def test_what_the_plan_misses_and_what_the_robot_would_do(good: Episode) -> None:
    wine = said(good, "what if the pot held wine?")
    assert wine.startswith("Suppose that the pot is filled with wine")
    assert "the house plant is not filled" in wine
    assert wine.endswith("pour the pot out into the sink.")
    broken = said(good, "What if the pot was broken?")
    assert "cannot be done: the pot is not intact." in broken
    assert "pour the mug out into the house plant" in broken


def test_what_cannot_be_put_right_is_said(good: Episode) -> None:
    text = said(good, "what if the house plant had wine in it?")
    assert "There would be no recovery" in text
    assert "would be lost: the house plant" in text


@pytest.mark.parametrize(
    ("question", "fact"),
    [
        ("what if the mug was in the sink?", "the mug is in the sink"),
        ("what if the faucet had been turned on?", "the faucet is turned on"),
        ("what if the pot were dirty?", "the pot is dirty"),
        ("what if the pot were not on the countertop?", "the pot is not on the countertop"),
        ("what if the fridge had not been closed?", "the fridge is open"),
    ],
)
def test_states_and_places_are_understood(good: Episode, question: str, fact: str) -> None:
    text = said(good, question)
    assert text.startswith(f"Suppose that {fact} at the start.")
    assert text.endswith("the rest of the plan reaches its goal.")


def test_what_was_so_anyway_is_said(good: Episode) -> None:
    assert "at the start: the mug" in said(good, "what if the mug was on the countertop?")


def test_without_what_went_wrong_and_without_the_recovery(wine: Episode, good: Episode) -> None:
    for question in ("what if there had been no wine?", "what if the pot had been empty?"):
        text = said(wine, question)
        assert text.startswith("Suppose that the pot is not filled")
        assert "after picking up the pot" in text
        assert text.endswith("the rest of the plan reaches its goal.")
    without = said(wine, "what if you had not poured it out?")
    assert "do not recover after picking up the pot" in without
    assert without.endswith("the house plant is not filled with water.")
    assert said(good, "what if you had not done that?").startswith("No recovery was needed")
