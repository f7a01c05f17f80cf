"""Traces of a robot's own runs."""

from pathlib import Path

from nsrecover.core import Action, Discrepancy, Episode, EpisodeStatus, FactScene, Phase, Plan, StepRecord
from nsrecover.domains.household.scene import household
from nsrecover.logs import RootCause, explain_log, read_logs
from nsrecover.logs.recorded import of_episode
from nsrecover.logs.trace import trace_lines

HOME = household(["fork", "drawer", "countertop"])
PLAN = Plan((Action("open_obj", ("drawer",)), Action("pick_up", ("fork",)), Action("put_in", ("fork", "drawer"))))
THERE = ("at", "fork", "countertop")


def recorded(number: int, action: Action) -> StepRecord[FactScene]:
    """A step after which the fork still lies where it was."""
    scene = FactScene(frozenset({THERE, ("open", "drawer")}))
    found = Discrepancy(number, Phase.AFTER, action, scene, scene)
    return StepRecord(action, False, scene, found, PLAN, time_s=9.0 * (number + 1))


def test_an_episode_of_facts_is_explained_as_a_log(tmp_path: Path) -> None:
    records = tuple(recorded(number, action) for number, action in enumerate(PLAN))
    episode = Episode(PLAN, EpisodeStatus.REVIEWED, "", FactScene(frozenset({THERE})), records)
    trace = of_episode(episode, HOME, (("at", "fork", "drawer"),), "tidy up")
    (tmp_path / "trace.jsonl").write_text("\n".join(trace_lines(trace)))
    (log,) = read_logs(tmp_path / "trace.jsonl")
    explained = explain_log(log)
    assert (explained.finding.cause, explained.finding.times) == (RootCause.MISSED_GRASP, ("00:18",))
    assert explained.correction is not None
    assert explained.correction[:2] == (Action("pick_up", ("fork",)), Action("put_in", ("fork", "drawer")))
