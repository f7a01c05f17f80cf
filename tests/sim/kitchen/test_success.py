"""The command that counts how often household tasks succeed."""

from sim.kitchen.success import TaskRun, run_task, skills, summary
from tests.commands import run


def test_tasks_and_layouts_take_turns() -> None:
    done = run_task(("water plant",), 0, 1)
    assert (done.task, done.layout, done.actions) == ("water plant", 1, 6)
    assert done.cpu_s > 0.0
    assert len(done.operators) == done.done + bool(done.operator and done.operator != "goal")
    assert bool(done.failure) == (done.done < done.actions)


def test_the_summary_counts_failures_by_operator() -> None:
    runs = [TaskRun(n, "store egg", n, 6, 6, "", "", 3.0) for n in range(3)]
    runs.append(TaskRun(3, "store egg", 3, 6, 2, "open_obj(fridge): the fridge did not open", "open_obj", 1.0))
    found = summary(runs)["store egg"]
    assert (found["runs"], found["succeeded"], found["share"], found["failed_at"]) == (4, 3, 0.75, {"open_obj": 1})
    assert found["interval"][0] < 0.75 < found["interval"][1]
    assert found["cpu_s_an_action"] == round(10.0 / 21, 2)


def test_wrong_options_are_one_line() -> None:
    done = run("sim.kitchen.success", "--tasks", "boil watr")
    assert done.code == 2
    assert "Did you mean 'boil water'" in done.err
    assert run("sim.kitchen.success", "--runs", "0").code == 2


def test_skills_are_counted_over_all_tasks() -> None:
    good = TaskRun(0, "store egg", 0, 2, 2, "", "", 1.0, ("open_obj", "pick_up"))
    failed = TaskRun(1, "fry egg", 0, 2, 1, "pick_up(egg): it fell", "pick_up", 1.0, ["pick_up", "pick_up"])
    unmet = TaskRun(2, "boil water", 0, 1, 1, "on stove burner", "goal", 1.0, ("pick_up",))
    found = skills([good, failed, unmet])
    assert (found["open_obj"]["value"], found["pick_up"]["value"], found["pick_up"]["of"]) == (1.0, 0.75, 4)
