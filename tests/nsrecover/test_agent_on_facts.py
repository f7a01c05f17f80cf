"""The main path on a symbolic domain: what the agent does in a kitchen of facts."""

import pytest

import nsrecover
from nsrecover.core import PLACE, Cause, Episode, EpisodeStatus, FactScene, PlanFault
from nsrecover.domains.base import State
from nsrecover.domains.household.scene import holds
from nsrecover.errors import InvalidConfiguration
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, START, WATER, WATERED, WINE, FactWorld, after


def run(world: FactWorld, plan: nsrecover.Plan = WATER, goal: tuple = WATERED, **more: object) -> Episode:
    return nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, goal), world, **more).run(plan)


def texts(episode: Episode) -> str:
    return " ".join(record.explanation.text for record in episode.records if record.explanation)


def test_wine_in_the_pot_is_poured_away_before_the_plant_is_watered() -> None:
    world = FactWorld(START | {WINE})
    episode = run(world)
    first = episode.records[0]
    assert first.action is None
    assert first.discrepancy.plan_problem.fault is PlanFault.DESTROYS
    assert first.discrepancy.plan_problem.step == 5
    assert holds(world.state, WATERED[0], HOME)
    assert episode.status is EpisodeStatus.COMPLETED
    assert ("running", "faucet") not in world.state


def test_a_state_that_changes_is_named_as_the_cause_and_put_right() -> None:
    world = FactWorld(hook=after(1, WINE))
    episode = run(world)
    found = episode.records[0].discrepancy
    assert [(each.name, each.cause) for each in found.deviations] == [("pot", Cause.CHANGED)]
    assert "he pot is filled with wine" in texts(episode)
    recovery = episode.records[0].recovery
    assert [str(action) for action in recovery.actions] == ["pour(pot, sink)"]
    assert recovery.improvements[-1].cost == recovery.cost
    assert holds(world.state, WATERED[0], HOME)


def test_a_change_that_nothing_needs_is_reported_and_changes_nothing() -> None:
    world = FactWorld(hook=after(1, ("at", "mug", "dining table"), less=(("at", "mug", "countertop"),)))
    episode = run(world)
    assert tuple(world.done) == WATER.actions
    assert [record.discrepancy.deviating for record in episode.records if record.discrepancy.deviates] == [("mug",)]


def test_drift_is_no_alarm_unless_the_goal_needs_it() -> None:
    assert not texts(run(FactWorld(hook=after(3, ("hot", "mug")))))
    world = FactWorld(hook=after(2, ("burnt", "egg"), ("cooked", "egg")))
    assert run(world, FRY, (*FRIED, ("unburnt", "egg"))).status is EpisodeStatus.ASKED_FOR_HELP


def test_what_is_lost_for_good_is_named_and_the_rest_done_only_after_a_person_agreed() -> None:
    goal = (*WATERED, ("at", "mug", "sink"))
    hook = after(1, ("filled", "house plant", "wine"))
    refused = run(FactWorld(hook=hook), goal=goal)
    assert refused.status is EpisodeStatus.ASKED_FOR_HELP
    assert refused.records[-1].recovery.lost == WATERED
    assert "house plant" in refused.reason
    questions: list[str] = []
    world = FactWorld(hook=hook)
    agreed = run(world, goal=goal, confirm=lambda question: questions.append(question) or True)
    assert agreed.status is EpisodeStatus.COMPLETED
    assert agreed.given_up == WATERED
    assert holds(world.state, ("at", "mug", "sink"), HOME)
    assert len(questions) == 1


def test_an_irreversible_step_waits_for_what_it_needs_to_know() -> None:
    def without_contents(state: State) -> FactScene:
        return FactScene(state, {("filled", "pot"): 0.0})

    # what was never seen of the pot: wine would spoil the plant
    world = FactWorld(frozenset(START | {WINE}), show=without_contents)
    episode = run(world, nsrecover.Plan.parse("pick_up(mug); put_in(mug, sink); toggle_on(faucet); toggle_off(faucet); "
                                              "pick_up(mug); pour(mug, house plant)"))  # fmt: skip
    assert episode.status is EpisodeStatus.COMPLETED, "the pot is not needed"
    filled = frozenset(START | {("filled", "pot", "water")})
    world = FactWorld(filled, show=without_contents)
    episode = run(world, nsrecover.Plan.parse("pick_up(pot); pour(pot, house plant)"))
    assert episode.status is EpisodeStatus.ASKED_FOR_HELP
    assert "pot" in episode.reason
    assert ("filled", "house plant", "water") not in world.state


def test_what_is_poured_away_need_not_be_known() -> None:
    """With any contents, and with none, the rest of the plan reaches the goal."""
    plan = nsrecover.Plan.parse("pick_up(pot); pour(pot, sink); " + str(WATER).partition("; ")[2])
    sure = iter((0.8,))  # one look shows it well, later ones hardly
    world = FactWorld(
        frozenset(START | {WINE}), show=lambda state: FactScene(state, {("filled", "pot"): next(sure, 0.13)})
    )
    episode = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED, assumed=START), world).run(plan)
    assert episode.status is EpisodeStatus.COMPLETED
    assert holds(world.state, WATERED[0], HOME)


def test_an_object_that_is_out_of_sight_is_remembered() -> None:
    world = FactWorld(show=lambda state: FactScene(state - {("at", "mug", "countertop")}, {(PLACE, "mug"): 0.0}))
    assert run(world).status is EpisodeStatus.COMPLETED


def test_contradictory_goals_and_durations_of_nothing_are_refused() -> None:
    with pytest.raises(InvalidConfiguration, match="goal that can hold"):
        nsrecover.symbolic(HOME, [("open", "fridge"), ("closed", "fridge")])
    with pytest.raises(InvalidConfiguration, match="goal that can hold"):
        nsrecover.symbolic(HOME, [("filled", "mug", "water"), ("filled", "mug", "wine")])
    with pytest.raises(InvalidConfiguration, match="durations above 0"):
        nsrecover.symbolic(HOME, WATERED, durations={"pour": 0.0})


def test_a_doubtful_state_that_decides_nothing_is_not_looked_at_again() -> None:
    """The pot seems dirty, which neither watering a plant with it nor any later step asks for."""

    def show(state: State) -> FactScene:
        return FactScene(state | {("dirty", "pot")}, {("dirty", "pot"): 0.7})

    world = FactWorld(show=show)
    episode = run(world)
    assert tuple(world.done) == WATER.actions
    assert all(record.discrepancy.looks == 1 for record in episode.records)
