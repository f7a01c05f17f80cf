"""What the agent does when the shortest way back has not helped: another way, and a person in the end."""

import nsrecover
from nsrecover.core import Action, Episode, EpisodeStatus
from nsrecover.domains.base import State
from nsrecover.domains.household.scene import holds
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, FactWorld


class Toppled(FactWorld):
    """The pot lies in the sink and catches no water until it is put there anew."""

    lies = True

    def execute(self, action: Action) -> None:
        before: State = self.state
        super().execute(action)
        lay, self.lies = self.lies, self.lies and action.operator != "pick_up"
        if action.operator == "pick_up" and ("at", "pot", "sink") not in before:
            self.lies = lay
        if self.lies and ("filled", "pot", "water") not in before:
            self.state -= {("filled", "pot", "water")}


class Blocked(FactWorld):
    """The pot cannot be gripped as long as the mug is where the pot is."""

    def execute(self, action: Action) -> None:
        place = next((fact[2] for fact in self.state if fact[:2] == ("at", "pot")), None)
        if action == Action("pick_up", ("pot",)) and ("at", "mug", place) in self.state:
            self.done.append(action)
        else:
            super().execute(action)


class Stuck(FactWorld):
    """The pot cannot be gripped at all."""

    def execute(self, action: Action) -> None:
        if action == Action("pick_up", ("pot",)):
            self.done.append(action)
        else:
            super().execute(action)


def run(world: FactWorld) -> Episode:
    return nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), world).run(WATER)


def done(world: FactWorld) -> list[str]:
    return [str(action) for action in world.done]


def test_what_an_action_does_not_change_is_taken_away_and_put_back() -> None:
    world = Toppled()
    episode = run(world)
    assert episode.status is EpisodeStatus.COMPLETED
    assert holds(world.state, WATERED[0], HOME)
    # filled in vain, once more in vain, then put into the sink anew
    assert done(world).count("put_in(pot, sink)") == 2


def test_what_may_be_in_the_way_is_taken_away_for_good() -> None:
    world = Blocked()
    episode = run(world)
    assert episode.status is EpisodeStatus.COMPLETED
    assert holds(world.state, WATERED[0], HOME)
    assert "pick_up(mug)" in done(world)
    assert ("at", "mug", "countertop") not in world.state
