"""One page for many robots: order, answers, and robots that hang, flood, lie or are gone."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

import nsrecover
import nsrecover.serving.live
from nsrecover.cli.tell import named
from nsrecover.core.episode import EpisodeStatus
from nsrecover.errors import InvalidConfiguration
from nsrecover.serving.live.fleet_page import STAYS, FleetPage
from nsrecover.serving.live.live_page import LivePage
from tests.nsrecover.kitchen_facts import HOME, WATER, WATERED, WINE, FactWorld, after
from tests.nsrecover.serving.live.live_worlds import Client, Running, at_once

LATE_S = 20.0


def until(found: Callable[[], object], what: str) -> None:
    """Wait until a condition holds."""
    end = time.monotonic() + LATE_S
    while not found():
        assert time.monotonic() < end, f"{what} in {LATE_S} s"
        time.sleep(0.02)


def asked(page: FleetPage) -> list[str]:
    """The robots with a question, in order."""
    return [each.robot for each in page.questions()]


class Asking:
    """A robot that waits for an answer to one question, in place of an agent."""

    def __init__(self, stack: ExitStack, question: str, stake: float, limit_s: float | None = None) -> None:
        self.page: LivePage = stack.enter_context(at_once())
        self.answers: list[str] = []
        self._arguments = (question, (("yes", "Yes"), ("no", "No")), (), "nobody", limit_s, stake)
        self._thread = threading.Thread(target=self._ask, daemon=True)
        self._thread.start()

    def _ask(self) -> None:
        self.answers.append(self.page.desk.decide(*self._arguments).text)

    def answer(self) -> str:
        self._thread.join(LATE_S)
        return self.answers[0]


@contextmanager
def raw_robot(behaviour: Callable[[socket.socket], None]) -> Iterator[str]:
    """Address of a program that behaves in its own way towards everybody who connects, and takes no answer."""
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                threading.Thread(target=guarded, args=(connection,), daemon=True).start()

        def guarded(connection: socket.socket) -> None:
            with connection:
                try:
                    request = connection.recv(10_000)
                    (hangs if request.startswith(b"POST") else behaviour)(connection)
                except OSError:
                    pass

        threading.Thread(target=serve, daemon=True).start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/enter?token=secret"


STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"


def event(panel: str, facts: object) -> bytes:
    return (
        b"event: panel\ndata: " + json.dumps({"panel": panel, "html": "", "at": 0, "facts": facts}).encode() + b"\n\n"
    )


def hangs(connection: socket.socket) -> None:
    time.sleep(LATE_S)


def floods(connection: socket.socket) -> None:
    connection.sendall(STREAM)
    number = 0
    while True:
        number += 1
        asking = {"number": number, "question": "me?", "options": [["yes", "Yes"]], "stake": 0.1}
        connection.sendall(event("decision", asking) * 50 + b": " + b"x" * 100_000 + b"\n")


def sends_a_line_without_end(connection: socket.socket) -> None:
    connection.sendall(STREAM + b"data: ")
    while True:
        connection.sendall(b"x" * 100_000)


def sends(facts: object) -> Callable[[socket.socket], None]:
    def behaviour(connection: socket.socket) -> None:
        connection.sendall(STREAM + event("decision", facts))
        time.sleep(LATE_S)

    return behaviour


LIAR = {"number": 1, "question": "?", "options": [["yes", "Yes"]], "actions": []}
NONSENSE: dict[str, Callable[[socket.socket], None]] = {
    "hangs": hangs,
    "floods": floods,
    "endless line": sends_a_line_without_end,
    "no HTTP": lambda connection: connection.sendall(b"\x00\xff" * 1000),
    "no page": lambda connection: connection.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"),
    "no JSON": lambda connection: connection.sendall(STREAM + b"data: {nonsense\n\n"),
    "deep JSON": lambda connection: connection.sendall(STREAM + b"data: " + b"[" * 50_000 + b"\n\n"),
    "no question": sends([1, 2, 3]),
    "no number": sends({**LIAR, "number": "x"}),
    "infinite stake": sends({**LIAR, "stake": "inf"}),
    "negative stake": sends({**LIAR, "stake": -1}),
    "no time": sends({**LIAR, "until": "nan"}),
    "other choice": sends({**LIAR, "options": [['"><script>', "Yes"]]}),
}


def test_each_answer_reaches_its_robot_in_the_order_of_what_depends_on_it() -> None:
    goal = (*WATERED, ("at", "mug", "sink"))
    worlds = [FactWorld(hook=after(1, WINE)), FactWorld(hook=after(1, ("filled", "house plant", "wine")))]
    agents = [
        nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, WATERED), worlds[0]),
        nsrecover.RecoveryAgent(nsrecover.symbolic(HOME, goal), worlds[1]),
    ]
    with ExitStack() as stack:
        pages = [stack.enter_context(at_once(each, approve=each is agents[0])) for each in agents]
        quiet = stack.enter_context(at_once())
        fleet = stack.enter_context(
            nsrecover.serving.live.fleet({"pot": pages[0].url, "plant": pages[1].url, "quiet": quiet.url})
        )
        running = [Running(agents[1], WATER)]
        until(lambda: asked(fleet) == ["plant"], "one asks")
        fleet._since -= 60.0  # nobody has been reading
        running.insert(0, Running(agents[0], WATER))
        until(lambda: asked(fleet) == ["pot", "plant"], "both ask")
        whole, part = (each.question.stake for each in fleet.questions())
        assert whole == 1 + len(WATER) - 1  # the way back and the rest of the plan
        assert part == 0.5  # one action, and it is not known whether a person wants it
        person = Client(fleet.url)
        shown = person.wait_for("pot", "first")
        assert "Take this way back?" in shown
        assert "depend on it, more than on" in shown
        assert "data-until" not in shown
        assert "data-until" in person.wait_for("plant", "others")
        assert "quiet" in person.wait_for("ready", "robots")
        number = fleet.questions()[0].question.number
        done = person.do("answer", robot="pot", number=number, choice="do")
        assert done.json()["message"] == "pot has the answer."
        assert running[0].episode().status is EpisodeStatus.COMPLETED
        until(lambda: asked(fleet) == ["plant"], "the other one is left")
        number = fleet.questions()[0].question.number
        assert person.do("answer", robot="plant", number=number, choice="no").status_code == 200
        until(lambda: asked(fleet) and fleet.questions()[0].question.number != number, "it asks for help")
        number = fleet.questions()[0].question.number
        assert person.do("answer", robot="plant", number=number, choice="stop").status_code == 200
        assert running[1].episode().status is EpisodeStatus.ASKED_FOR_HELP
        assert "plant: No." in person.wait_for("plant: No.", "given")
        assert person.wait_for("No robot has a question", "first")
    assert len(worlds[0].done) > len(worlds[1].done)


def test_an_answer_that_comes_too_late_says_so_and_the_first_one_counts() -> None:
    with ExitStack() as stack:
        robot = Asking(stack, "Go on?", 3.0, limit_s=60.0)
        fleet = stack.enter_context(nsrecover.serving.live.fleet({"one": robot.page.url}))
        until(lambda: asked(fleet) == ["one"], "it asks")
        left_s = fleet.questions()[0].question.until - time.time()  # type: ignore[operator]
        assert 50 < left_s <= 61
        person = Client(fleet.url)
        number = fleet.questions()[0].question.number
        robot.page.desk.answer(number, "no")  # on its own page
        late = person.do("answer", robot="one", number=number, choice="yes")
        assert late.status_code == 409
        assert "came too late" in late.json()["message"]
        assert "came too late" in person.wait_for("came too late", "given")
        assert robot.answer() == "no"
        for fields in ({"robot": "another"}, {"robot": "one", "choice": " "}, {"robot": "one", "number": "x"}):
            assert person.do("answer", **({"number": number, "choice": "yes"} | fields)).status_code == 409
        assert person.do("stop", robot="one", number=number, choice="yes").status_code == 409
        assert person.http.get("/report").status_code == 409


def test_a_question_stays_in_front_while_it_is_read() -> None:
    with ExitStack() as stack:
        small = Asking(stack, "Small?", 1.0)
        pages = {"small": small.page.url, "large": stack.enter_context(at_once()).url}
        other = stack.enter_context(at_once())
        pages["large"] = other.url
        fleet = stack.enter_context(nsrecover.serving.live.fleet(pages))
        until(lambda: asked(fleet) == ["small"], "it asks")
        fleet._since = time.monotonic()
        threading.Thread(target=lambda: other.desk.decide("Large?", (), stake=50.0), daemon=True).start()
        until(lambda: len(asked(fleet)) == 2, "both ask")
        assert asked(fleet) == ["small", "large"]
        assert fleet._ordered()[1] == STAYS
        fleet._taken.append(60.0)  # this person takes longer
        assert asked(fleet) == ["small", "large"]
        fleet._since -= 120.0  # the time of an answer has passed
        assert asked(fleet) == ["large", "small"]
        assert "50 actions depend on it, more than" in fleet._ordered()[1]


def test_a_robot_that_is_gone_is_found_again() -> None:
    with ExitStack() as stack:
        stays = Asking(stack, "Stays?", 1.0)
        port, token = free_port(), "a token that stays the same"
        url = f"http://127.0.0.1:{port}/enter?token={token}"
        fleet = stack.enter_context(nsrecover.serving.live.fleet({"stays": stays.page.url, "comes": url}))
        person = Client(fleet.url)
        until(lambda: asked(fleet) == ["stays"], "it asks")
        assert "Trying again" in person.wait_for("Trying again", "robots")
        for _ in range(2):
            with nsrecover.serving.live.page(port=port, token=token) as page:
                threading.Thread(
                    target=lambda page=page: page.desk.decide("Comes?", (), stake=5.0), daemon=True
                ).start()
                until(lambda: len(asked(fleet)) == 2, "it is followed")
                fleet.command("answer", {"robot": "comes", "number": "1", "text": "yes"})
                until(lambda: asked(fleet) == ["stays"], "it has its answer")
                threading.Thread(target=lambda page=page: page.desk.decide("Again?", ()), daemon=True).start()
                until(lambda: len(asked(fleet)) == 2, "it asks again")
            until(lambda: asked(fleet) == ["stays"], "it is gone")


@pytest.mark.parametrize("kind", NONSENSE)
def test_a_robot_that_hangs_floods_or_sends_nonsense_disturbs_no_other(kind: str) -> None:
    with ExitStack() as stack:
        bad = stack.enter_context(raw_robot(NONSENSE[kind]))
        good = Asking(stack, "Go on?", 3.0)
        fleet = stack.enter_context(nsrecover.serving.live.fleet({"bad": bad, "good": good.page.url}))
        person = Client(fleet.url)
        until(lambda: "good" in asked(fleet), "the good one asks")
        assert kind == "floods" or asked(fleet) == ["good"]
        number = next(each.question.number for each in fleet.questions() if each.robot == "good")
        began = time.monotonic()
        assert person.do("answer", robot="good", number=number, choice="yes").status_code == 200
        assert good.answer() == "yes"
        assert time.monotonic() - began < 3.0
        if kind not in ("hangs", "floods"):
            assert "Trying again" in person.wait_for("Trying again", "robots")


def test_what_robots_say_cannot_become_markup_and_a_large_stake_is_cut() -> None:
    evil = {
        "number": 1, "question": "<img src=x onerror=alert(1)>\u202e" + "x" * 5000, "stake": 1e300,
        "options": [["yes", "<b>Yes</b>"]], "actions": ["<script>alert(2)</script>"] * 300, "until": 1e300,
    }  # fmt: skip
    with ExitStack() as stack:
        fleet = stack.enter_context(
            nsrecover.serving.live.fleet({"<i>evil": stack.enter_context(raw_robot(sends(evil)))})
        )
        html = Client(fleet.url).wait_for("&lt;img", "first")
        found = fleet.questions()[0].question
    assert not any(tag in html for tag in ("<img", "<script", "<b>", "<i>", "\u202e"))
    assert (found.stake, len(found.actions), len(found.question), found.until) == (1000.0, 100, 1000, None)


def test_a_robot_that_takes_no_answer_is_given_up_and_others_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nsrecover.serving.live.robots.ANSWER_S", 0.5)
    with ExitStack() as stack:
        bad = stack.enter_context(raw_robot(sends(LIAR)))
        good = Asking(stack, "Go on?", 0.5)
        fleet = stack.enter_context(nsrecover.serving.live.fleet({"bad": bad, "good": good.page.url}))
        until(lambda: len(asked(fleet)) == 2, "both ask")
        with pytest.raises(InvalidConfiguration, match="expected bad to take the answer, found"):
            fleet.command("answer", {"robot": "bad", "number": "1", "choice": "yes"})
        number = next(each.question.number for each in fleet.questions() if each.robot == "good")
        assert (
            fleet.command("answer", {"robot": "good", "number": str(number), "choice": "no"}) == "good has the answer."
        )
        assert good.answer() == "no"


def test_addresses_are_checked_and_robots_have_names(tmp_path: Path) -> None:
    for url in ("", "ftp://robot/enter?token=x", "http://127.0.0.1:1/", "http://a:b/enter?token=x", "nonsense"):
        with (
            pytest.raises(InvalidConfiguration, match="address of a live page"),
            nsrecover.serving.live.fleet({"one": url}),
        ):
            pass
    with pytest.raises(InvalidConfiguration, match="1 to 200 robots"), nsrecover.serving.live.fleet({}):
        pass
    url = "http://127.0.0.1:9001/enter?token=a=b"
    assert named([f"hall 2={url}", url]) == {"hall 2": url, "127.0.0.1:9001": url}
    with pytest.raises(InvalidConfiguration, match="twice"):
        named([url, url])


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])
