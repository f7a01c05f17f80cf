"""The live page without a browser: who may look, what is shown, and what people decide."""

import re
from collections.abc import Iterator

import httpx
import pytest

import nsrecover
import nsrecover.serving.live
from nsrecover.core import EpisodeStatus, Phase
from nsrecover.core.episode import Decided
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.errors import InvalidConfiguration
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, WINE, FactWorld, after
from tests.nsrecover.serving.live.live_worlds import PLAN, BoxTable, Client, Running, at_once, number_in, pushed

MOST_VETOES = SessionSettings().max_vetoes


def agent_on(world: BoxTable) -> nsrecover.RecoveryAgent:
    return nsrecover.RecoveryAgent(nsrecover.geometric(), world)


def until(changes: Iterator[tuple[int, str, str]], text: str) -> tuple[dict[str, str], int]:
    """The panels after a change that holds a text, and its number."""
    seen = {}
    for number, panel, html in changes:
        seen[panel] = html
        if text in html:
            return seen, number
    raise AssertionError(f"the changes ended before {text!r}")


def test_only_who_has_the_token_may_look_and_act() -> None:
    with nsrecover.serving.live.page() as page:
        base = page.url.partition("/enter")[0]
        for path in ("/", "/events", "/report"):
            assert httpx.get(base + path).status_code == 401
        assert httpx.post(f"{base}/do/pause").status_code == 401
        assert httpx.get(f"{base}/enter?token=wrong").status_code == 401
        entered = httpx.get(page.url)
        assert entered.status_code == 303
        place = entered.headers["location"]
        assert len(place) > 20
        cookie = entered.headers["set-cookie"].lower()
        assert f"path={place.lower()};" in cookie, "other ports of the machine are not sent the cookie"
        assert "httponly" in cookie
        assert "samesite=strict" in cookie
        viewer = Client(page.url)
        assert viewer.do("pause").status_code == 200
        foreign = viewer.http.post("/do/pause", headers={"Origin": "http://127.0.0.1:1"})
        assert foreign.json()["code"] == "foreign_origin"
        shown = viewer.http.get("/")
        policy = shown.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; connect-src 'self'")
        assert "unsafe" not in re.search(r"script-src[^;]*", policy)[0]  # type: ignore[index]


def test_it_listens_on_loopback_unless_it_is_asked_not_to() -> None:
    with nsrecover.serving.live.page() as page:
        assert page.url.startswith("http://127.0.0.1:")
        port = int(page.url.split(":")[2].partition("/")[0])
        with pytest.raises(InvalidConfiguration, match="to be able to listen"), nsrecover.serving.live.page(port=port):
            pass
    with pytest.raises(InvalidConfiguration, match="at least 16 printable"), nsrecover.serving.live.page(token="short"):
        pass


def test_a_run_is_shown_while_it_goes_on_and_who_comes_late_sees_all_of_it() -> None:
    agent = agent_on(BoxTable(pushed))
    with nsrecover.serving.live.page(agent) as page:
        early = Client(page.url)
        with early.changes() as changes:
            episode = agent.run(PLAN)
            assert episode.status is EpisodeStatus.COMPLETED
            page.tell("That is all.")
            seen, number = until(changes, "That is all.")
        late = Client(page.url)
        with late.changes() as changes:
            assert until(changes, "That is all.") == (seen, number)
        assert "The last problem" in seen["text"]
        html = late.http.get("/").text
        for panel in ("state", "text", "chances", "way", "search", "talk"):
            assert seen[panel] in html
        assert 'class="limit"' in seen["chances"]
        assert seen["way"].count('<li class="done"') == 1
        assert '<li class="failed"' in seen["way"]
        assert '<li class="recovery"' in seen["way"]
        report = late.http.get("/report")
        assert report.status_code == 200
        assert "The run so far" in report.text
        with late.changes(after=str(number)) as changes:  # connects again
            page.tell("One thing more.")
            assert list(until(changes, "One thing more.")[0]) == ["talk"]  # only what is new
        with late.changes(after="99999") as changes:  # has seen another run of the server
            assert len(until(changes, "One thing more.")[0]) == len(seen)


def test_a_way_back_waits_and_is_taken_once_it_is_accepted() -> None:
    world = BoxTable(pushed)
    agent = agent_on(world)
    with at_once(agent, approve=True) as page:
        viewer = Client(page.url)
        running = Running(agent, PLAN)
        asked = viewer.wait_for("Take this way back?", "decision")
        assert "Put the red cube on the blue cube" in asked
        assert len(world.done) == 1
        assert running.goes_on
        refused = viewer.do("answer", number=number_in(asked), choice="perhaps")
        assert refused.status_code == 409
        assert viewer.do("answer", number=number_in(asked), choice="do", by="Ann").status_code == 200
        episode = running.episode()
        assert episode.status is EpisodeStatus.COMPLETED
        assert episode.records[0].decided == (Decided("yes", "Ann"),)
    assert agent.supervisor is not page


@pytest.mark.parametrize("settled", ["second way", "help"])
def test_a_veto_leads_to_another_way_and_in_the_end_to_help(settled: str) -> None:
    world = FactWorld(hook=after(1, WINE))
    agent = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), world)
    with at_once(agent, approve=True) as page:
        viewer, number = Client(page.url), "0"
        running = Running(agent, WATER)
        vetoed = ["Pour the pot out into the sink"]
        shown = viewer.wait_for(vetoed[0], "decision")
        assert "Pick up the mug" not in shown
        for choice in ("another", "do") if settled == "second way" else ("another",) * (MOST_VETOES + 1):
            shown = viewer.wait_for_another(number, "decision")
            number = number_in(shown)
            over = "asks for help" in shown  # a slow search finds fewer ways
            assert viewer.do("answer", number=number, choice="stop" if over else choice).status_code == 200
            if over:
                break
        episode = running.episode()
        assert "Pour the pot out" in viewer.wait_for("Not this", "talk")
        assert "Pick up the mug" in viewer.wait_for("Pick up the mug", "way")
    actions = [str(action) for action in world.done]
    assert "pour(pot, sink)" not in actions
    if settled == "second way":
        assert episode.status is EpisodeStatus.COMPLETED
        assert "pour(mug, house plant)" in actions
        taken = next(record for record in episode.records if record.recovery)
        assert [str(action) for action in taken.recovery.actions] == actions[1:]
        assert not taken.recovery.proven_optimal  # the vetoed one is shorter
        assert "no shorter way" not in taken.explanation.text
    else:
        assert episode.status is EpisodeStatus.ASKED_FOR_HELP
        assert episode.reason.startswith("a person vetoed")
        assert len(actions) == 1


def test_a_way_that_is_stopped_while_it_waits_is_not_replaced() -> None:
    agent = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), FactWorld(hook=after(1, WINE)))
    with at_once(agent, approve=True) as page:
        running = Running(agent, WATER)
        Client(page.url).wait_for("Take this way back?", "decision")
        agent.stop()
        assert running.episode().reason == "it was stopped while a recovery waited for a person"


def test_what_a_person_changes_during_a_pause_is_seen_before_the_next_action() -> None:
    world = BoxTable()
    agent = agent_on(world)
    with nsrecover.serving.live.page(agent, paused=True) as page:
        viewer = Client(page.url)
        running = Running(agent, PLAN)
        viewer.wait_for("paused", "state")
        assert not world.done
        pushed(1, world.boxes)
        viewer.do("resume")
        episode = running.episode()
    first = episode.records[0]
    assert first.action is None
    assert first.discrepancy.phase is Phase.BEFORE
    assert first.discrepancy.deviating == ("red cube",)
    assert episode.status is EpisodeStatus.COMPLETED


def test_a_paused_run_can_be_ended() -> None:
    world = BoxTable()
    agent = agent_on(world)
    with nsrecover.serving.live.page(agent, paused=True) as page:
        viewer = Client(page.url)
        running = Running(agent, PLAN)
        viewer.wait_for("paused", "state")
        viewer.do("stop")
        episode = running.episode()
    assert episode.reason.startswith("it was stopped before")
    assert not world.done


def test_why_and_what_if_are_answered_for_boxes() -> None:
    agent = agent_on(BoxTable(pushed))
    with nsrecover.serving.live.page(agent) as page:
        viewer = Client(page.url)
        assert viewer.do("ask", text="why?").status_code == 409  # no run has begun
        agent.run(PLAN)
        assert "So I had to" in viewer.do("ask", text="why did you move the red cube?").json()["message"]
        assert "red cube" in viewer.do("ask", text="what if you had not?").json()["message"]
        talk = viewer.wait_for("what if you had not?", "talk")
        assert talk.index("what if you had not?") < talk.index("why did you move the red cube?")  # the last one first
        assert viewer.do("ask", text=" ").status_code == 409
        assert viewer.do("dance").status_code == 409


def test_a_question_of_the_robot_is_answered_on_the_page() -> None:
    goal = (*WATERED, ("at", "mug", "sink"))
    world = FactWorld(hook=after(1, ("filled", "house plant", "wine")))
    agent = nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, goal), world)
    with nsrecover.serving.live.page(agent) as page:
        viewer = Client(page.url)
        running = Running(agent, WATER)
        asked = viewer.wait_for("house plant", "decision")
        viewer.do("answer", number=number_in(asked), choice="yes")
        episode = running.episode()
        assert episode.status is EpisodeStatus.COMPLETED
        assert episode.given_up == WATERED
        without = viewer.do("ask", text="what if there had been no wine?").json()["message"]
        assert without.endswith("rest of the plan reaches its goal.")
        assert "house plant" in viewer.wait_for("Expected", "scenes")


def test_the_page_is_a_person_for_a_service_robot() -> None:
    with nsrecover.serving.live.page(answer_s=0.05) as page:
        page.tell("I am on my way.")
        assert page.ask("Which mug?") == ""  # nobody answers
        viewer = Client(page.url)
        assert "I am on my way." in viewer.http.get("/").text


def test_text_is_shown_as_a_model_writes_it() -> None:
    with nsrecover.serving.live.page() as page:
        viewer = Client(page.url)
        page.write("The red ")
        page.write("cube fell")
        assert "not checked yet" in viewer.wait_for("The red cube fell", "text")


def test_questions_and_titles_cannot_become_markup() -> None:
    agent = agent_on(BoxTable(lambda number, boxes: None))
    with nsrecover.serving.live.page(agent, title="<b>title</b>") as page:
        viewer = Client(page.url)
        agent.run(PLAN)
        viewer.do("ask", text="<script>alert(1)</script>")
        viewer.wait_for("&lt;script&gt;", "talk")
        html = viewer.http.get("/").text
    assert "<script>alert" not in html
    assert "<b>title" not in html
