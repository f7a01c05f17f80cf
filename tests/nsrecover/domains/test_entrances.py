"""Scenes, plans and goals are checked before anything moves; every mistake is one line that names the fix."""

from typing import Any

import pytest

import nsrecover
from nsrecover.domains.entrances import check_goal, scene_of
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.errors import InvalidConfiguration, NsrecoverError, UnknownObject
from tests.nsrecover.laboratory import LABORATORY, SCENE


def refused(kind: type[NsrecoverError], text: str, *check: Any) -> None:
    function, *arguments = check
    with pytest.raises(kind) as error:
        function(*arguments)
    assert text in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("goal", "kind", "text"),
    [
        (("spun", "tube 1", "cf"), InvalidConfiguration, "expected 1 terms of 'spun'"),
        (("in", "tube 1", "rak"), UnknownObject, "Did you mean 'rack'"),
        (("level", "buffer", "ful"), UnknownObject, "expected a value of level"),
        (("hand_free", "tube 1"), InvalidConfiguration, "expected 0 terms"),
        ("spun(tube 1)", InvalidConfiguration, "found 'spun(tube 1)'"),
        ((), InvalidConfiguration, "found ()"),
    ],
)
def test_a_wrong_goal_is_refused(goal: Any, kind: type[NsrecoverError], text: str) -> None:
    refused(kind, text, check_goal, SCENE, [goal])
    refused(kind, text, nsrecover.symbolic, SCENE, [goal])


def test_a_wrong_scene_is_refused() -> None:
    refused(InvalidConfiguration, "Did you mean 'tube'", scene_of, LABORATORY, {"tube 1": "tub"})
    refused(InvalidConfiguration, "Did you mean 'place'", scene_of, LABORATORY, {"shelf": ["plac"]})
    at, of = ("at", "bread", "sink"), ("slices_of", "bread slice", "bred")
    refused(InvalidConfiguration, "static fact", scene_of, HOUSEHOLD, {"bread": "bread", "sink": "sink"}, [at])
    refused(UnknownObject, "'bread slice'", scene_of, HOUSEHOLD, {"bread": "bread"}, [of])
