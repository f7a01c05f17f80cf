"""A detector for each camera that names its masks: equal names in different views are one object."""

from dataclasses import replace

import numpy as np
import pytest

import nsrecover
from nsrecover.core.observation import Observation
from nsrecover.errors import InvalidObservation
from nsrecover.records.recording import example

APART = 100


@pytest.fixture(scope="module")
def shared() -> Observation:
    return example().observations[0]


def numbered_apart(shared: Observation) -> Observation:
    """The same observation by two detectors, each of which numbers and names what it sees."""
    instances, labels = shared.instances.copy(), dict[int, str]()
    for view, image in enumerate(instances):
        image[image > 0] += APART * view
        numbers = np.unique(image[image > 0]).tolist()
        labels |= {number: shared.labels[number - APART * view] for number in numbers}
    return replace(shared, instances=instances, labels=labels, shared_ids=False)


def test_equal_names_in_different_views_are_one_object(shared: Observation) -> None:
    own, given = (nsrecover.load().perceiver().reset(each) for each in (numbered_apart(shared), shared))
    assert sorted(own.names) == sorted(given.names)
    for name in own.names:
        apart = own.boxes[own.index(name), :3] - given.boxes[given.index(name), :3]
        assert np.abs(apart).max() < 0.005, name


def test_equal_names_in_one_view_are_refused(shared: Observation) -> None:
    own = numbered_apart(shared)
    first, second = [number for number in own.labels if number > APART][:2]
    wrong = replace(own, labels={**own.labels, second: own.labels[first]})
    with pytest.raises(InvalidObservation, match=f"found {own.labels[first]} for several in one view"):
        nsrecover.load().perceiver().reset(wrong)
