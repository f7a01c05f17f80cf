import pytest

from nsrecover.domains.base import Atom
from nsrecover.domains.service.home import instance_of, start_state
from nsrecover.domains.service.home_file import home_of, load_home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.errors import InvalidConfiguration
from nsrecover.planning.symbolic.solving import solve

SMALL = {
    "rooms": {"hall": {"at": [0, 0]}, "kitchen": {"at": [4, 0]}},
    "places": {"table": {"room": "kitchen", "at": [4, 1]}, "fridge": {"room": "kitchen", "at": [5, 0]}},
    "doors": {"kitchen door": {"between": ["hall", "kitchen"], "open": False, "at": [2, 0]}},
    "people": {"Ashley": {"usually": "kitchen"}},
    "objects": {"red mug": {"kind": "mug", "place": "table", "owner": "ashley"}},
    "likely": {"fruit": {"table": 3, "fridge": 1}},
    "robot": "hall",
}


def test_a_closed_door_is_opened_and_a_fridge_too():
    home = home_of(SMALL)
    instance = instance_of(home, ["apple"], [OPERATOR], {})
    start = start_state(home, instance) | {("likely", "apple", "fridge")}
    goal = [Atom("at", ("apple", OPERATOR))]
    found = solve(instance, start, goal, forbidden=instance.unwanted([("at", "apple", OPERATOR)]))
    names = [step.operator for step in found.steps]
    assert names.count("operate_door") == 2
    assert names[-1] == "hand_over"
    assert not {"guide", "follow_person"} & set(names)


def test_where_things_are_expected():
    home = home_of(SMALL)
    assert home.prior("red mug") == {"table": 1.0}
    apple = home.prior("apple")
    assert apple["table"] > 2 * apple["fridge"]
    assert sum(apple.values()) == pytest.approx(1)
    assert set(home.prior("apple", "fridge")) == {"fridge"}
    assert home.could_mean("fruit", "second apple")
    assert not home.could_mean("fruit", "red mug")
    assert max(home.person_prior("ashley"), key=home.person_prior("ashley").get) == "kitchen"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rooms": {}}, "at least one room"),
        ({"sofas": {}}, "Did you mean|Known"),
        ({"places": {"table": {"room": "kitchn"}}}, "Did you mean 'kitchen'"),
        ({"places": {"table": {"room": "kitchen", "at": "here"}}}, "x and y in metres"),
        ({"doors": {"door": {"between": ["hall"]}}}, "two rooms"),
        ({"likely": {"fruit": {"table": -1}}}, "weight of 0 or more"),
        ({"likely": {"fruit": {"tabel": 1}}}, "Did you mean 'table'"),
        ({"objects": {"cup": {"owner": "bob"}}}, "owner of the object 'cup'"),
        ({"places": {1: {}}}, "put it in quotes"),
        ({"places": ["table"]}, "names with values"),
        ({"robot": "garage"}, "place of the robot"),
    ],
)
def test_a_home_that_cannot_be_used_gets_one_clear_error(change, message):
    with pytest.raises(InvalidConfiguration, match=message):
        home_of({**SMALL, **change})


def test_homes_are_read_from_files(tmp_path):
    assert len(load_home("apartment").furniture) > 15
    broken = tmp_path / "home.yaml"
    broken.write_text("rooms: [", encoding="utf-8")
    with pytest.raises(InvalidConfiguration, match="expected a YAML file"):
        load_home(broken)
    with pytest.raises(InvalidConfiguration, match="Did you mean 'apartment'"):
        load_home("apartmnt")
