"""Clients take turns, and connections of unknown callers have a time and a cap."""

import asyncio
import contextlib
import http.client
import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx
import psutil
import pytest
from starlette.testclient import TestClient

import nsrecover.serving.live
from eval.common.served import Served, served
from nsrecover.core.sessions.settings import SessionSettings
from nsrecover.serving.client import Client, ServerRefused
from nsrecover.serving.server import ServerLimits
from nsrecover.serving.server.connections import UNKNOWN_OF_ADDRESS, Server, config_of
from nsrecover.serving.server.work.jobs import Job, _JobListener, unchanged
from nsrecover.serving.server.work.turns import Turns
from tests.nsrecover.serving.server.conftest import LOCAL, application
from tests.nsrecover.serving.server.test_server_process import swapped

TOKENS = ("the token of the greedy one", "the token of the polite one")


async def _waits(turns: Turns, client: str, seconds: float, order: list[str]) -> None:
    async with turns.turn(client):
        order.append(client)
        await asyncio.sleep(seconds)


def test_who_has_used_least_goes_first() -> None:
    order: list[str] = []

    async def ask() -> None:
        turns = Turns(1, 1)
        greedy = [asyncio.create_task(_waits(turns, "greedy", 0.3, order)) for _ in range(3)]
        await asyncio.sleep(0.01)
        await asyncio.gather(_waits(turns, "polite", 0.0, order), *greedy)
        assert not turns.running
        assert not turns.waiting

    asyncio.run(ask())
    assert order[:2] == ["greedy", "polite"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    path = tmp_path_factory.mktemp("tokens") / "tokens"
    path.write_text("\n".join(each.replace(" ", "-") for each in TOKENS))
    with served("--boxes-only", "--planning-s", "60", "--token-file", str(path)) as running:
        yield running


def _client(server: Served, number: int, **options: Any) -> Client:
    return Client(["top(box 0, box 1)"], server.url, TOKENS[number].replace(" ", "-"), **options)


def test_long_searches_of_one_client_delay_no_other(server: Served) -> None:
    before, after = swapped(18)
    polite = _client(server, 1)
    alone = _seconds(polite, before)
    polite.close()
    greedy = [_client(server, 0, budget_s=60) for _ in range(12)]
    threads = []
    for each in greedy:
        each.scene(before)
        each.scene(after)
        threads.append(threading.Thread(target=_swallow, args=(each, after), daemon=True))
        threads[-1].start()
    time.sleep(0.5)
    beside = []
    for _ in range(5):
        again = _client(server, 1)
        beside.append(_seconds(again, before))
        again.close()
    assert sorted(beside)[2] < 2.0, (alone, beside)
    for each in greedy:
        each.call("DELETE", "/search")
        each.close()
    for thread in threads:
        thread.join(20)


def _seconds(client: Client, boxes: dict[str, list[float]]) -> float:
    began = time.monotonic()
    assert client.scene(boxes)["request"]["code"] == "act"
    return time.monotonic() - began


def _swallow(client: Client, boxes: dict[str, list[float]]) -> None:
    with contextlib.suppress(ServerRefused):
        client.scene(boxes)


def test_one_client_cannot_have_all_sessions(server: Served) -> None:
    held = [_client(server, 0) for _ in range(16)]
    with pytest.raises(ServerRefused, match=r"429.*of one client"):
        _client(server, 0)
    _client(server, 1).close()
    for each in held:
        each.close()


@pytest.mark.parametrize(("proxies", "asks"), [("127.0.0.1", "10.0.0.7"), ("10.9.9.9", "127.0.0.1"), ("", "127.0.0.1")])
def test_a_proxy_that_is_named_says_who_asks(proxies: str, asks: str) -> None:
    seen = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        seen.append(scope["client"][0])

    config = config_of(app, ServerLimits(), proxies)
    config.load()
    scope = {"type": "http", "client": ("127.0.0.1", 1), "headers": [(b"x-forwarded-for", b"10.0.0.7")]}
    asyncio.run(config.loaded_app(scope, None, None))
    assert seen == [asks]


def test_metrics_are_told_to_those_with_the_token(server: Served) -> None:
    place = urlsplit(server.url).netloc
    connection = http.client.HTTPConnection(place, timeout=20)
    connection.request("GET", "/v1/metrics")
    assert connection.getresponse().status == 401
    client = _client(server, 0)
    connection = http.client.HTTPConnection(place, timeout=20)
    connection.request("GET", "/v1/metrics", headers=client._headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    assert answer.getheader("Content-Type", "").startswith("text/plain; version=0.0.4")
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    assert values["nsrecover_sessions"] == "1"
    assert int(values['nsrecover_requests_total{status="401"}']) >= 1
    client.close()


def test_silent_connections_are_closed_and_others_answered(server: Served) -> None:
    """Of one address only so many stay, whatever they have sent of their headers."""
    process, url = psutil.Process(server.process.pid), urlsplit(server.url)
    before = process.num_fds()
    silent = []
    for number in range(200):
        silent.append(socket.create_connection((url.hostname, url.port), 5, ("127.0.3.1", 0)))
        if number % 2:
            silent[-1].sendall(b"GET /v1/health HTTP/1.1\r\nHost: local")
    client = _client(server, 1)
    assert client.scene(swapped()[0])["request"]["code"] == "act"
    assert process.num_fds() - before <= UNKNOWN_OF_ADDRESS + 20
    client.close()
    for each in silent:
        each.close()


@contextlib.asynccontextmanager
async def listening(app: Any) -> AsyncIterator[int]:
    """The port of a server that waits half a second for headers."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ready = asyncio.Event()
        server = Server(config_of(app, ServerLimits(receive_s=0.5)), lambda: None, ready.set)
        serving = asyncio.create_task(server.serve(sockets=[taken]))
        await ready.wait()
        yield taken.getsockname()[1]
        server.should_exit = True
        await serving


def test_headers_that_do_not_come_are_given_up() -> None:
    async def ends(port: int, data: bytes) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(data)
        with contextlib.suppress(ConnectionError):
            assert await asyncio.wait_for(reader.read(), 20) == b""
        writer.close()

    async def ask() -> None:
        async with listening(application()) as port:
            await asyncio.gather(ends(port, b""), ends(port, b"GET / HTTP/1.1\r\n"))

    asyncio.run(ask())


def test_a_connection_that_is_used_is_not_given_up() -> None:
    """Requests wait before anybody looks at who asks, so that the time ends within the second one."""
    app = application()

    async def slow(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            await asyncio.sleep(0.3)
        await app(scope, receive, send)

    async def ask() -> list[int]:
        limits = httpx.Limits(max_connections=1)
        async with listening(slow) as port, httpx.AsyncClient(limits=limits) as client:
            return [(await client.get(f"http://127.0.0.1:{port}/v1/health")).status_code for _ in range(5)]

    assert asyncio.run(ask()) == [200] * 5


@pytest.mark.parametrize(
    "headers",
    [
        [("Origin", "http://127.0.0.1"), ("Origin", "http://evil.example")],
        [("Host", "127.0.0.1"), ("Host", "evil.example")],
        [("Content-Length", "2"), ("Transfer-Encoding", "chunked")],
    ],
)
def test_headers_that_can_be_read_in_two_ways_are_refused(headers: list[tuple[str, str]]) -> None:
    with TestClient(application(), base_url=LOCAL) as client:
        refused = client.post("/v1/sessions", headers=headers, content=b"{}")
    assert (refused.status_code, refused.json()["code"]) == (400, "ambiguous_headers")


def test_a_page_takes_no_descriptors_of_the_robots_program() -> None:
    with nsrecover.serving.live.page() as page:
        url, own = urlsplit(page.url), psutil.Process()
        before = own.num_fds()
        many = [socket.create_connection((url.hostname, url.port), 5, ("127.0.3.2", 0)) for _ in range(100)]
        assert own.num_fds() - before == 100, "those of this test"
        for each in many:
            each.close()


def test_a_budget_counts_from_the_arrival() -> None:
    session = nsrecover.geometric().session(nsrecover.Plan.parse("top(a, b)"), settings=SessionSettings(budget_s=1.0))
    for waited_s, late in ((0.0, False), (0.5, False), (5.0, True)):
        telling = _JobListener(
            session, lambda kind, data: None, [], True, Job(unchanged, waited_s=waited_s), lambda: False
        )
        telling.searches()
        assert telling.cancels() is late
