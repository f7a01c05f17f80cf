"""A condition that mentions no fact, only traits, is named by a trait."""

from nsrecover.core import Action, Fact
from nsrecover.domains.service.home import instance_of, start_state
from nsrecover.domains.service.home_file import load_home
from nsrecover.monitoring.facts.outlook import unmet_conditions


def test_metal_in_the_microwave_is_an_unmet_condition() -> None:
    home = load_home("apartment")
    instance = instance_of(home, ["spoon"], [], {})
    state = start_state(home, instance) - {("at", "robot", home.robot)}
    state |= {("at", "robot", "microwave"), ("holding", "spoon"), ("open", "microwave")}
    assert unmet_conditions(instance, state, Action("place", ("spoon", "microwave"))) == (
        Fact("not", ("metal_in_microwave", "spoon")),
    )
