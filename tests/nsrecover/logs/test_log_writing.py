"""Logs of one's own robot: which moments become lines, and that the reader of logs explains what it wrote."""

from nsrecover.core.actions import Plan
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.domains.household import household
from nsrecover.logs import explain_log, log_of
from nsrecover.logs.writing import LogMoment, document_of_run

HOME = household(["countertop", "sink", "faucet", "pot", "house plant"], complete=True, one_handed=True)
PLAN = Plan.parse("pick_up(pot); put_in(pot, sink); toggle_on(faucet)")
ALL = frozenset({"pot", "sink", "faucet", "countertop"})
ON, HELD, FELL = ("at", "pot", "countertop"), ("holding", "pot"), ("at", "pot", "floor")


def moment(
    second: int, step: int, *facts: StateFact, heard: tuple[str, ...] = (), ends: bool = False, sure: float = 1.0
) -> LogMoment:
    unsure = {("dirty", "pot"): sure}
    return LogMoment(float(second), PLAN[step], FactScene(frozenset(facts), unsure), ALL, heard, ends)


MOMENTS = [
    moment(1, 0, ON),
    moment(2, 0, ON),
    moment(3, 0, HELD, ends=True),
    moment(4, 1, HELD),
    moment(5, 1, FELL, heard=("impact metal",)),
    moment(6, 1, FELL, ends=True),
    moment(9, 2, FELL, ("running", "faucet"), heard=("base_motor",), ends=True),
]


def test_a_line_is_written_when_the_view_changes_something_is_heard_or_an_action_ends() -> None:
    document = document_of_run("fill the pot", PLAN, "the pot is filled with water.", MOMENTS, HOME)
    assert [line[:5] for line in document["event_summary"]] == ["00:01", "00:03", "00:05", "00:06", "00:09"]
    assert [line[7:12] for line in document["subgoal_summary"]] == ["Goal:"] * 3
    assert "Auditory" in document["event_summary"][2]
    assert "Auditory" not in document["event_summary"][4]


def test_what_is_not_seen_for_certain_is_not_written() -> None:
    for sure, said in ((0.5, False), (0.9, True)):
        document = document_of_run("look", PLAN, "", [moment(1, 0, ("dirty", "pot"), ends=True, sure=sure)], HOME)
        assert ("dirty" in document["event_summary"][0]) is said


def test_the_reader_of_logs_explains_it() -> None:
    log = log_of(document_of_run("fill the pot", PLAN, "the pot is filled with water.", MOMENTS, HOME))
    assert not log.unread
    found = explain_log(log).finding
    assert (found.cause, found.objects[0]) == ("dropped", "pot")
