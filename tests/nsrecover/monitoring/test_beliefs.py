"""Beliefs over facts: memory, forgetting, and several observations of one scene."""

from nsrecover.core.facts import PLACE, FactScene
from nsrecover.domains.household import HOUSEHOLD
from nsrecover.monitoring.facts.beliefs import DECAY, fused, updated
from nsrecover.perception.facts import scene_of_facts
from tests.nsrecover.kitchen_facts import HOME

IN_SINK, ON_TABLE = ("at", "mug", "sink"), ("at", "mug", "dining table")
NOT_SEEN = {(PLACE, "mug"): 0.0}


def test_what_is_seen_replaces_what_was_believed() -> None:
    found = updated(FactScene(frozenset({IN_SINK})), FactScene(frozenset({ON_TABLE})), HOUSEHOLD)
    assert found == FactScene(frozenset({ON_TABLE}))


def test_what_is_not_seen_is_remembered_with_decreasing_certainty() -> None:
    belief = FactScene(frozenset({IN_SINK}))
    for number in range(1, 40):
        belief = updated(belief, FactScene(frozenset(), NOT_SEEN), HOUSEHOLD)
        assert belief.facts == {IN_SINK}
        assert abs(belief.certainty[PLACE, "mug"] - DECAY**number) < 1e-12
        assert belief.knows((PLACE, "mug")) is (number <= 25)


def test_what_an_action_was_to_change_is_unknown_until_it_is_seen() -> None:
    imagined = FactScene(frozenset({IN_SINK}))
    doubted = updated(imagined, FactScene(frozenset(), NOT_SEEN), HOUSEHOLD, [(PLACE, "mug")])
    assert doubted.unknown == ((PLACE, "mug"),)
    assert updated(doubted, imagined, HOUSEHOLD).unknown == ()


def test_unknown_stays_unknown() -> None:
    belief = updated(FactScene(frozenset(), NOT_SEEN), FactScene(frozenset(), NOT_SEEN), HOUSEHOLD)
    assert belief.certainty == NOT_SEEN


def test_several_observations_are_joined_by_majority_and_a_tie_is_unknown() -> None:
    one, other, none = (
        FactScene(frozenset({IN_SINK})),
        FactScene(frozenset({ON_TABLE})),
        FactScene(frozenset(), NOT_SEEN),
    )
    assert fused([one, other, one], HOUSEHOLD).facts == {IN_SINK}
    assert fused([one, other], HOUSEHOLD).unknown == ((PLACE, "mug"),)
    assert fused([none, one], HOUSEHOLD).unknown == ((PLACE, "mug"),), "one observation does not confirm"
    assert fused([none, one, one], HOUSEHOLD) == one


def test_probabilities_become_facts_with_certainties() -> None:
    wine, water = ("filled", "mug", "wine"), ("filled", "mug", "water")
    found = scene_of_facts({wine: 0.7, water: 0.2, ("open", "fridge"): 0.1}, HOME)
    assert found.facts == {wine}
    assert found.certainty == {("filled", "mug"): 0.7, ("open", "fridge"): 0.9}
