"""What the kitchen costs, as it is summarised."""

from sim.kitchen.costs import Costs, _Watch


def test_medians_are_given_for_all_skills_and_for_each() -> None:
    costs = Costs()
    costs.skills["pick_up"] += [0.2, 0.4, 0.9]
    costs.skills["toggle_on"] += [0.1]
    costs.observations += [0.08, 0.10]
    costs.sound += [0.03]
    found = costs.summary()
    assert (found["skill_s"], found["observation_s"], found["sound_s"], found["actions"]) == (0.3, 0.09, 0.03, 4)
    assert found["operators"]["pick_up"] == {"median_s": 0.4, "of": 3}


def test_a_watch_adds_up_the_calls_and_passes_on_what_they_return() -> None:
    watch = _Watch()
    doubled = watch.timed(lambda number: sum(range(number)))
    assert doubled(200_000) == sum(range(200_000))
    first = watch.cpu_s
    doubled(200_000)
    assert watch.cpu_s > first > 0.0
