"""How often household tasks succeed without faults."""

from pathlib import Path

import pytest

from eval.kitchen_tasks import METRICS, KitchenTasksConfig, TaskRun, measure, run_task, table
from eval.metrics import summary
from eval.run import Run


def test_tasks_and_layouts_take_turns() -> None:
    done = run_task(1, KitchenTasksConfig(tasks=["T7"]))
    assert (done.task, done.layout) == ("water plant", 1)
    assert done.cpu_s > 0.0
    assert len(done.operators) == 6 or done.failure


def test_failures_and_skills_are_counted(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    runs = [
        TaskRun("store egg", 0, "", "", ("open_obj", "pick_up"), 2.0),
        TaskRun("store egg", 1, "pick_up(egg): it fell", "pick_up", ("pick_up", "pick_up"), 1.0),
        TaskRun("store egg", 1, "egg at fridge", "goal", ("pick_up",), 2.0),
    ]
    monkeypatch.setattr(Run, "each", lambda *_: runs)
    found = measure(KitchenTasksConfig(tasks=["T6"]), Run(tmp_path))
    egg = found["tasks"]["store egg"]
    assert (egg["runs"], egg["reached"]["value"], egg["layouts"], egg["cpu_s_an_action"]) == (3, 0.33333, 2, 1.0)
    assert egg["failed_at"] == {"goal": 1, "pick_up": 1}
    assert (found["skills"]["open_obj"]["value"], found["skills"]["pick_up"]["value"]) == (1.0, 0.75)
    assert "T6 store egg" in table(found)
    assert summary([], METRICS)["runs"] == 0
