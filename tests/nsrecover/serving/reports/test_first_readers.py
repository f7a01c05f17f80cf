"""What a first reader asks of a report: the cause, whether it is safe, the time, the unit of costs, and how it ends."""

import re
from dataclasses import replace
from typing import Any

import pytest

import nsrecover
from nsrecover.core import Episode, EpisodeStatus, Improvement
from nsrecover.core.episode import Decided
from nsrecover.core.sessions.requests import Answer, Decision, Stopped
from nsrecover.core.sessions.supervision import Supervisor
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.answers.numbering import turns
from nsrecover.explanation.answers.questions import ask
from nsrecover.explanation.safety import safety_sentences
from nsrecover.explanation.why import why
from nsrecover.records import episode_log
from nsrecover.serving.live import panels
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.model import Report
from nsrecover.serving.reports.page import HEIGHT, WIDTH, chart, html_of
from tests.nsrecover.explanation.made_episodes import fallen, flawless
from tests.nsrecover.kitchen_facts import FRIED, FRY, HOME, START, WATER, WATERED, WINE, FactWorld, after
from tests.nsrecover.serving.reports.shown_reports import carried_out, in_kitchen
from tests.nsrecover.serving.reports.test_report_content import answers, helped

MUG_AWAY = ("at", "mug", "dining table")
PAN_BREAKS = after(3, ("broken", "pan"))


def first(report: Report, key: str) -> str:
    return next(each for each in report.answers if each.key == key).lines[0].text


class Moves(Supervisor):
    """Takes the wine away by hand when she is asked, and the mug with it."""

    approves = True

    def __init__(self, world: FactWorld) -> None:
        self._world = world

    def decides(self, decision: Decision[Any]) -> Decided:
        if WINE not in self._world.state:
            return Decided(Answer.YES, "Ann")
        self._world.state = self._world.state - {WINE, ("at", "mug", "countertop")} | {MUG_AWAY}
        return Decided(Answer.LOOK_AGAIN, "Ann")

    def helps(self, stopped: Stopped) -> None:
        return None


@pytest.mark.parametrize("report", [report_of(fallen(), "Fallen"), in_kitchen(FactWorld(hook=after(1, WINE)))])
def test_why_says_who_did_it_and_does_not_repeat_what_happened(report: Report) -> None:
    told = {each.key: {line.text for line in each.lines} for each in report.answers}
    assert not told["what"] & told["why"]
    assert any("action" in text for text in told["why"])
    facts = {fact for each in report.answers if each.key == "why" for line in each.lines for fact in line.facts}
    assert any(fact.startswith("why(") for fact in facts)


def test_a_person_is_named_as_the_cause_if_the_records_name_one() -> None:
    world = FactWorld(hook=after(1, WINE))
    system = nsrecover.symbolic(HOME, WATERED)
    episode = nsrecover.RecoveryAgent(system, world, supervisor=Moves(world)).run(WATER)
    told = [(turn, why(turn.discrepancy, turn.by_hand, HOME.domain)) for turn in turns(episode)]
    (wine,) = [each for turn, sentences in told for each in sentences if turn.discrepancy.deviating == ("pot",)]
    (mug,) = [each for turn, sentences in told for each in sentences if turn.discrepancy.deviating == ("mug",)]
    assert "Ann" not in wine.text
    assert "not recorded" in wine.text
    assert "Ann" in mug.text
    for answer in ask(episode, ["whose fault was it?", "did a person move something?"], domain=HOME.domain):
        assert "Ann" in answer.text


def test_the_answer_about_safety_fits_is_it_safe_and_is_it_dangerous() -> None:
    worlds = {"wine": FactWorld(START | {WINE}), "good": FactWorld()}
    ended = {name: in_kitchen(world) for name, world in worlds.items()}
    broken = report_of(carried_out(FactWorld(hook=PAN_BREAKS), FRY, FRIED), "Fry", domain=HOME.domain)
    assert re.match("It is not safe .*: the pan is broken", first(broken, "safe"))
    for report in (*ended.values(), report_of(fallen(), "Fallen")):
        assert first(report, "safe").startswith("It is not known whether it is safe")
    running = replace(fallen(), status=EpisodeStatus.RUNNING)
    verdict, *_ = safety_sentences(running, TABLETOP, still=True)
    assert verdict.text.startswith("It is not safe")
    assert "no emergency stop" not in verdict.text


def test_the_answer_about_safety_uses_every_state_that_was_read() -> None:
    told = answers(in_kitchen(FactWorld()))["safe"]
    assert re.search(r"Turned on: nothing that was read \([^)]*faucet", told)  # it was on, and is off again
    assert "Held: the pot" in told
    assert re.search(r"[^.]*\bbroken: not read", told)
    on = FactWorld(hook=after(6, ("running", "stove burner")))
    assert "Turned on: the stove burner." in answers(in_kitchen(on))["safe"]
    assert "hot or broken: not read" in answers(report_of(flawless(), "Good"))["safe"]


def with_search(episode: Episode[Any]) -> Episode[Any]:
    """An episode whose recoveries were found by a search with two answers."""
    found = (Improvement(0.1, 3, 7.0), Improvement(0.4, 9, 4.0))
    return replace(
        episode,
        records=tuple(
            replace(each, recovery=replace(each.recovery, improvements=found, cost=4.0, seconds=1.0, lower_bound=3.0))
            if each.recovery
            else each
            for each in episode.records
        ),
    )


def test_the_curve_of_costs_goes_down_inside_its_frame() -> None:
    (curve,) = report_of(with_search(fallen()), "Fallen").curves
    drawn = chart(curve)
    xs, ys = zip(*(map(float, point.split(",")) for point in drawn.line.split()), strict=True)
    assert curve.costs == (7.0, 4.0)
    assert [*sorted(xs), *sorted(ys)] == [*xs, *ys]  # y is down the page
    assert 0 < min(xs) <= max(xs) < WIDTH
    assert 0 < min(ys) <= max(ys) < drawn.bound < HEIGHT


def test_costs_have_the_unit_of_the_domain() -> None:
    tabletop = with_search(fallen())
    assert "cost in actions" in html_of(report_of(tabletop, "Fallen"))
    durations = dict.fromkeys(HOME.domain.operators, 2.5)
    system = nsrecover.symbolic(HOME, WATERED, durations=durations)
    episode = with_search(nsrecover.RecoveryAgent(system, FactWorld(hook=after(1, WINE))).run(WATER))
    document = episode_log.to_document(episode, system.domain)
    for domain in (system.domain, episode_log.domain_of(document)):
        report = report_of(episode, "Wine", domain=domain)
        assert any(value.startswith("4 seconds") for step in report.steps for _, value in step.numbers)
        assert "cost in seconds" in html_of(report)


def test_after_the_last_step_the_plan_is_complete_and_does_not_go_on() -> None:
    last, middle = report_of(fallen(), "Fallen"), in_kitchen(FactWorld(hook=after(1, WINE)))
    assert "is then complete" in answers(last)["done"]
    assert "continues with step 2" in answers(middle)["done"]
    said = [*answers(last).values(), *(line.text for step in last.steps for line in step.lines)]
    said += [each.text for each in ask(fallen(), ["what did you do about it?", "what went wrong?"])]
    assert not re.search(r"continue|go(?:es)? on|went on", " ".join(said))


def test_help_that_needs_no_recovery_shows_no_search_for_one() -> None:
    report = report_of(with_search(helped()), "Helped")
    assert not report.curves
    assert "recovery was found" not in html_of(report)
    recovery = with_search(helped()).records[0].recovery
    assert "Found" not in panels.search(recovery, "Step 2", over=True, domain=TABLETOP)
