"""Reports of episodes for both audiences, and questions about them."""

import re
from dataclasses import replace

import pytest

from nsrecover.core import Episode, EpisodeStatus, Fact, Phase, SensorFinding, SensorProblem, Unseen, UnseenReason
from nsrecover.explanation import Audience
from nsrecover.explanation.answers.episodes import report_of_episode
from nsrecover.explanation.answers.questions import ask
from nsrecover.explanation.grounded import GroundedExplainer
from tests.nsrecover.explanation.made_episodes import PLAN, fallen, flawless


def answer(question: str, *before: str) -> str:
    return ask(fallen(), [*before, question])[-1].text


def test_the_report_says_what_when_and_what_to_do() -> None:
    report = report_of_episode(fallen())
    assert report["kind"] == "execution"
    assert report["steps"] == ["00:24"]
    assert set(report["objects"]) == {"blue cube", "white lego", "green die"}
    assert report["correction"] == ["free(white lego)", "restore(blue cube)", "top(green die, blue cube)"]
    assert report["verified"]
    assert report["errors"][0]["step"] == 2
    assert report["errors"][0]["causes"] == {"green die": "not_lifted", "blue cube": "moved", "white lego": "moved"}


def test_lay_people_read_ordinals_and_engineers_actions() -> None:
    lay, engineer = (report_of_episode(fallen(), audience)["text"] for audience in (Audience.LAY, Audience.ENGINEER))
    assert "second step, putting the green die" in lay
    assert "top(" not in lay
    assert re.search(r"\bstep \d", lay) is None
    assert "Step 2, top(green die, blue cube), went wrong" in engineer
    assert "about 29 cm to the left" in lay
    assert "about 29" not in engineer


def test_nothing_wrong_is_said_so() -> None:
    report = report_of_episode(flawless())
    assert (report["kind"], report["steps"], report["correction"]) == ("none", [], [])
    assert "Nothing went wrong: both steps" in report["text"]


def test_a_step_whose_needs_are_not_met_is_the_plans_fault() -> None:
    record = fallen().records[0]
    unmet = (Fact("covered", ("red cube", "green die")),)
    found = replace(record.discrepancy, step=1, phase=Phase.BEFORE, action=PLAN[1], unmet=unmet)
    records = (replace(record, discrepancy=found),)
    asked = replace(fallen(), status=EpisodeStatus.ASKED_FOR_HELP, reason="nobody can say.", records=records)
    report = report_of_episode(asked)
    assert (report["kind"], report["root_cause"]) == ("planning", "precondition")
    assert report["text"].endswith("stopped and asked for help: nobody can say.")


def test_steps_are_counted_as_the_plan_counts_them_after_a_recovery() -> None:
    """The failing step is the second of the remaining plan and the third of the original one."""
    episode = fallen()
    first, bad = episode.records[:2]
    left = replace(bad.recovery, actions=bad.recovery.actions[:1], graphs=bad.recovery.graphs[:1], subgoal=1)
    again = replace(first, discrepancy=replace(bad.discrepancy, step=0), graph=bad.graph, recovery=left)
    later = replace(bad, discrepancy=replace(bad.discrepancy, step=1))
    report = report_of_episode(replace(episode, records=(again, later)))
    assert [error["step"] for error in report["errors"]] == [1, 2]
    assert report["text"].startswith("Two errors were noticed. The first:")


def test_what_if_not_is_about_the_object_asked_about_before() -> None:
    told = answer("what if you had not?", "why did you move the white lego?")
    assert "stood where the blue cube had to go." in told
    assert told.endswith("was not searched for.")
    told = answer("what if you had not?", "why did you move the blue cube?")
    assert "plan needs it on the red cube" in told
    assert answer("what if you had not moved the red cube?").startswith("Nothing would be different")


def doubtful() -> Episode:
    """The second step puts the green die where no camera sees it."""
    episode = flawless()
    last = episode.records[-1]
    unseen = Unseen("green die", UnseenReason.NO_MASK, moved=True)
    graph = last.graph.doubted(["green die"])
    found = replace(last.discrepancy, observed=graph, unseen=(unseen,), missing_to_tell=(unseen,), looks=3)
    words = GroundedExplainer()(found, None)
    record = replace(last, graph=graph, discrepancy=found, explanation=words)
    reason = "every action is done, but the green die could not be seen in place afterwards"
    records = (*episode.records[:-1], record)
    return replace(episode, records=records, status=EpisodeStatus.ASKED_FOR_HELP, reason=reason)


def test_what_could_not_be_seen_is_neither_an_error_nor_as_expected() -> None:
    report = report_of_episode(doubtful(), Audience.ENGINEER)
    assert (report["kind"], report["root_cause"], report["objects"]) == ("sensing", "cannot_tell", ["green die"])
    (error,) = report["errors"]
    assert (error["verdict"], error["looks"], error["verified"]) == ("cannot_tell", 3, True)
    for part in ("No error was noticed", "the scene cannot be judged", "gives no mask of it", "asked for help"):
        assert part in report["text"]
    lay = report_of_episode(doubtful())["text"]
    assert "second step" in lay
    assert "top(" not in lay
    for question, part in (
        ("what went wrong?", "no mask of it"),
        ("what happened to the green die?", "I do not know: the green die was not seen after the second step."),
        ("where is the green die?", "although I did not see it there"),
    ):
        assert part in ask(doubtful(), [question])[-1].text


@pytest.mark.parametrize("reason", list(UnseenReason))
def test_every_reason_not_to_see_something_has_words_that_claim_no_cause(reason: UnseenReason) -> None:
    record = doubtful().records[-1]
    missing = (Unseen("green die", reason, "blue cube"), SensorFinding(SensorProblem.NO_DEPTH, "left", "no reading"))
    words = GroundedExplainer()(replace(record.discrepancy, missing_to_tell=missing), None)
    assert words.verified
    assert "green die" in words.sentences[1].text
    assert words.sentences[2].text.startswith("Camera left: no reading (check that the depth")
    assert ("blue cube" in words.sentences[1].text) == (reason is UnseenReason.MERGED_MASKS)
