"""What a report says: the answers, the way with its skipped steps, marks, scenes, and help that is no error."""

from dataclasses import replace

import numpy as np
import pytest

from nsrecover.core import Action, Cause, Episode, EpisodeStatus, Plan, Recovery, RecoveryStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.media import GoalJudgement, Media
from nsrecover.serving.reports.model import Mark, MarkedAs, Report
from nsrecover.serving.reports.page import html_of
from tests.nsrecover.explanation.made_episodes import fallen, flawless
from tests.nsrecover.kitchen_facts import HOME, START, WINE, FactWorld, after
from tests.nsrecover.serving.reports.shown_reports import carried_out, in_kitchen, instructed
from tests.nsrecover.test_another_way import Blocked, Stuck, Toppled


def answers(report: Report) -> dict[str, str]:
    return {each.key: " ".join(line.text for line in each.lines) for each in report.answers}


def way(report: Report) -> list[tuple[Mark, int | None]]:
    return [(entry.mark, entry.number) for entry in report.way]


def helped() -> Episode:
    """The second step of the plan is done by a person during the first."""
    episode = fallen()
    first, second = episode.records[0], episode.records[1]
    found = second.discrepancy
    deviation = replace(found.deviations[0], cause=Cause.HELPED, subgoal=2)
    recovery = Recovery(RecoveryStatus.ALREADY_AT_SUBGOAL, subgoal=2, cost=0.0)
    seen = replace(first.discrepancy, deviations=(deviation,))
    record = replace(first, discrepancy=seen, recovery=recovery)
    return replace(episode, records=(record,))


def test_the_questions_are_answered_with_facts_behind_every_sentence() -> None:
    report = report_of(fallen(), "Fallen")
    told = answers(report)
    assert list(told) == ["what", "when", "why", "done", "worked", "long", "safe"]
    assert "The second step, putting the green die" in told["what"]
    assert told["when"].startswith("After the second step, at 00:24 of the run")
    assert "the green die was not lifted" in told["what"]
    assert "action should have lifted the green die" in told["why"]
    assert "three actions" in told["done"]
    assert told["worked"].startswith("Yes: I completed the plan")
    assert all(line.facts for answer in report.answers for line in answer.lines)
    assert report.summary.startswith("At step 2 of 2, putting ")
    assert report.summary.endswith("and the plan was completed.")
    assert "step 2" not in answers(report_of(flawless(), "Good"))["when"]
    assert report_of(flawless(), "Good").summary == "Both steps of the plan went as expected."


def test_a_referee_has_the_last_word() -> None:
    lost = report_of(fallen(), "Fallen", judgement=GoalJudgement(False, "The green die lies on the floor."))
    assert answers(lost)["worked"].startswith("No. The green die lies on the floor.")
    assert (lost.outcome, lost.outcome_kind) == ("goal not reached", MarkedAs.ERROR)
    assert lost.summary.endswith("but the goal was not reached.")
    asked = replace(fallen(), status=EpisodeStatus.ASKED_FOR_HELP, reason="the same went wrong again")
    report = report_of(asked, "Asked")
    assert "asked for help: the same went wrong again." in answers(report)["worked"]
    assert report.outcome_kind is MarkedAs.DOUBT
    recording = replace(fallen(), status=EpisodeStatus.REVIEWED, records=fallen().records[:2])
    reviewed = report_of(recording, "Reviewed")
    assert answers(reviewed)["worked"].startswith("That is not known")
    assert (Mark.PROPOSED, None) in way(reviewed)


def test_the_way_shows_what_is_skipped_and_where_the_plan_is_rejoined() -> None:
    assert way(report_of(fallen(), "Fallen")) == [
        (Mark.DONE, 1), (Mark.FAILED, 2), (Mark.RECOVERY, None), (Mark.RECOVERY, None), (Mark.RECOVERY, None),
        (Mark.REJOIN, None),
    ]  # fmt: skip
    report = in_kitchen(FactWorld(hook=after(2, ("filled", "pot", "water"))))
    assert way(report) == [
        (Mark.DONE, 1), (Mark.DONE, 2), (Mark.HELPED, None), (Mark.SKIPPED, 3), (Mark.SKIPPED, 4), (Mark.REJOIN, None),
        (Mark.DONE, 5), (Mark.DONE, 6),
    ]  # fmt: skip
    assert next(entry for entry in report.way if entry.mark is Mark.REJOIN).text == "The plan continues with step 5"
    assert [entry.step for entry in report.way if entry.mark is Mark.DONE] == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "world",
    [Toppled(), Blocked(), Stuck(START - {("at", "mug", "countertop")} | {("at", "mug", "sink")}), FactWorld()],
    ids=["toppled", "blocked", "stuck", "good"],
)
def test_the_way_has_every_action_that_was_done_once_and_in_order(world: FactWorld) -> None:
    episode = carried_out(world)
    report = report_of(episode, "Water the plant", domain=HOME.domain)
    done = [entry.action for entry in report.way if entry.mark in (Mark.DONE, Mark.FAILED, Mark.RECOVERY)]
    assert done == [str(action) for action in world.done]
    numbers = [entry.number for entry in report.way if entry.number is not None and entry.mark is not Mark.FAILED]
    assert numbers == sorted(set(numbers))
    assert {entry.number for entry in report.way} - {None} == set(range(1, 7))
    later = sum(step.kind is MarkedAs.ERROR for step in report.steps) - 1
    assert ("went wrong, too" in report.summary) == (later > 0)
    assert ("There was also" in answers(report)["what"]) == (later > 0)
    if episode.status is EpisodeStatus.ASKED_FOR_HELP:  # the last way back was not carried out
        rejoining = [entry.text for entry in report.way if entry.mark is Mark.REJOIN]
        assert rejoining[-1] == "The plan would continue with step 1"


@pytest.mark.parametrize(
    "report",
    [report_of(helped(), "Helped"), in_kitchen(FactWorld(hook=after(2, ("filled", "pot", "water"))))],
    ids=["boxes", "facts"],
)
def test_help_is_not_shown_as_an_error(report: Report) -> None:
    kinds = {step.kind for step in report.steps} | {row.kind for step in report.steps for row in step.rows}
    assert kinds == {MarkedAs.OK, MarkedAs.HELP}
    assert answers(report)["what"].startswith("Nothing: part of the plan is already done.")
    assert Mark.FAILED not in dict(way(report))
    body = html_of(report).split("<body>")[1].split('<details class="legend">')[0]
    assert "not as expected" not in body
    assert 'class="mark error"' not in body
    assert "object wrong" not in body


def test_scenes_of_facts_show_what_is_in_what_and_mark_the_difference() -> None:
    report = in_kitchen(FactWorld(hook=after(1, WINE)))
    expected, seen = report.steps[0].scenes
    (gripper,) = [place for place in seen.places if place.name == "gripper"]
    (pot,) = gripper.content
    assert (pot.name, pot.kind, pot.states, pot.how) == ("pot", MarkedAs.ERROR, ("filled with wine",), "held")
    assert next(p for p in expected.places if p.name == "gripper").content[0].states == ()
    row = next(row for row in report.steps[0].rows if row.name == "pot")
    assert (row.verdict, row.kind) == ("changed", MarkedAs.ERROR)
    assert "illed with wine" in row.seen
    assert "wine" not in row.expected
    assert answers(report)["what"].count("the pot is filled with wine") == 1
    assert "the pot has changed" not in " ".join((report.summary, *answers(report).values()))


def test_what_was_looked_for_in_vain_was_not_put_anywhere() -> None:
    report = instructed()
    assert "the apple was not found; " in report.summary
    assert "put in the wrong place" not in " ".join(answers(report).values())
    assert "Open the fridge" in [entry.text for entry in report.way]
    shown = {place.name for step in report.steps for scene in step.scenes for place in scene.places}
    assert "fridge" in shown
    assert "open" not in shown
    # three searches fail, and the last one leads back
    marks = [entry.mark for entry in report.way]
    assert marks.count(Mark.REJOIN) == 1
    assert marks.index(Mark.REJOIN) > max(i for i, mark in enumerate(marks) if mark is Mark.FAILED)


def test_scene_graphs_mark_the_same_objects_in_both_drawings_and_in_the_table() -> None:
    step = report_of(fallen(), "Fallen").steps[1]
    wrong = {row.name for row in step.rows if row.kind is MarkedAs.ERROR}
    assert wrong == {"green die", "blue cube", "white lego"}
    for scene in step.scenes:
        for _, drawing in scene.drawings:
            assert drawing.count("object wrong") == len(wrong)
    assert step.scenes[0].drawings[0][1].count("ghost") == 0
    assert step.scenes[1].drawings[0][1].count("ghost") == len(wrong)
    blue = next(row for row in step.rows if row.name == "blue cube")
    assert "on the table, 29 cm to the left" in blue.seen
    assert blue.distance_m == pytest.approx(0.286, abs=0.01)


def test_a_run_that_could_not_begin_has_a_page() -> None:
    empty = replace(flawless().start, names=(), visual=np.zeros((0, 0), np.float32), boxes=np.zeros((0, 6), np.float32),
                    seen=np.zeros(0, np.bool_))  # fmt: skip
    plan = Plan((Action("top", ("a", "b")),))
    episode = Episode(plan, EpisodeStatus.ASKED_FOR_HELP, "no camera sees anything", empty, ())
    report = report_of(episode, "Nothing")
    assert "The run could not begin: no camera" in report.summary
    assert "no camera sees anything" in answers(report)["why"]
    stopped = replace(flawless(), status=EpisodeStatus.ASKED_FOR_HELP, reason="the camera is dark")
    told = answers(report_of(stopped, "Dark"))
    assert told["what"].endswith("asked for help: the camera is dark.")
    assert "the camera is dark" in told["why"]
    assert way(report) == [(Mark.NOT_DONE, 1)]
    assert "No step was begun." in html_of(report)


def test_what_is_missing_is_refused_with_a_reason() -> None:
    with pytest.raises(InvalidConfiguration, match="pass domain="):
        report_of(carried_out(FactWorld()), "Kitchen")
    with pytest.raises(InvalidConfiguration, match="expected media for each of the 2 turns, found 1"):
        report_of(flawless(), "Good", media=[Media()])


def test_names_cannot_break_out_of_the_page() -> None:
    page = html_of(report_of(flawless(), "<script>alert(1)</script>", "</style><b>"))
    assert "<script>alert" not in page
    assert "</style><b>" not in page
