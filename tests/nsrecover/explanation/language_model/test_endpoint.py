"""A language model behind an endpoint: its answers, and all its failures."""

import asyncio
import json
import resource
import subprocess
import sys
import threading
import time

import pytest

from nsrecover.core.prompts import Prompt
from nsrecover.core.protocols import Explainer, LanguageModel
from nsrecover.errors import InvalidConfiguration, ModelFailure
from nsrecover.explanation import GroundedExplainer
from nsrecover.explanation.language_model.endpoint import Endpoint, TokenPrice
from nsrecover.explanation.language_model.explainer import LanguageExplainer
from tests.nsrecover.explanation.language_model.fake_endpoint import (
    MISBEHAVIOURS,
    Behaviour,
    answering,
    endless_line,
    gzip_bomb,
    hang,
    redirect,
    served,
    status,
    ten_megabytes,
)
from tests.nsrecover.explanation.language_model.language_cases import BACK
from tests.nsrecover.explanation.made_failures import COLLAPSE

pytest.importorskip("openai")  # and loaded before a clock starts
PROMPT = Prompt("Say hello.", "Now.")
TIMEOUT_S = 1.5


@pytest.mark.parametrize("name", list(MISBEHAVIOURS))
def test_an_explanation_arrives_within_the_time_out_with_a_reason(name: str) -> None:
    behaviour, reason = MISBEHAVIOURS[name]
    # Who answers at all answers at once, also on a busy machine.
    limit_s = TIMEOUT_S if reason == "within" else 20.0
    with served(behaviour) as server:
        explainer: Explainer = LanguageExplainer(Endpoint(server.url, model="m", retries=1), timeout_s=limit_s)
        started = time.monotonic()
        explanation = explainer(COLLAPSE, BACK)
        took = time.monotonic() - started
    assert took < limit_s + 20  # endpoints that hang do so for a minute
    assert explanation.text == GroundedExplainer()(COLLAPSE, BACK).text
    assert explanation.source == "grounded"
    assert explanation.verified
    assert reason in explanation.note, explanation.note


def test_a_prompt_is_sent_to_no_other_host() -> None:
    with served(answering("Thank you.")) as other, served(redirect(f"{other.url}/chat/completions")) as server:
        with pytest.raises(ModelFailure, match="another address"):
            Endpoint(server.url, model="m").complete(PROMPT, timeout_s=20)
        assert server.requests
        assert not other.requests


@pytest.mark.parametrize("behaviour", [endless_line, gzip_bomb, ten_megabytes])
def test_an_answer_takes_little_memory_however_long_it_is(behaviour: Behaviour) -> None:
    with served(behaviour) as server:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        with pytest.raises(ModelFailure):
            Endpoint(server.url, model="m", retries=0).complete(PROMPT, timeout_s=30)
        grown_mb = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1e3
    assert grown_mb < 150  # of this process, which is the server, too


def test_nobody_listening_is_said() -> None:
    with served(hang) as server:
        url = server.url
    explanation = LanguageExplainer(Endpoint(url, retries=0), timeout_s=5)(COLLAPSE, None)
    assert "connection failed" in explanation.note


def test_an_answer_comes_in_pieces_with_tokens_and_cost() -> None:
    pieces: list[str] = []
    text = "The red cube was dropped. " * 10
    with served(answering(text)) as server:
        model: LanguageModel = Endpoint(server.url, price=TokenPrice(1.0, 2.0))
        answer = model.complete(PROMPT, timeout_s=10, on_text=pieces.append)
    assert answer.text == text == "".join(pieces)
    assert len(pieces) > 3
    assert (answer.prompt_tokens, answer.completion_tokens) == (100, 50)
    assert answer.cost == pytest.approx((100 * 1.0 + 50 * 2.0) / 1e6)
    assert server.requests[0]["model"] == "fake"  # the first that the endpoint lists
    assert server.requests[0]["messages"][0] == {"role": "system", "content": "Say hello."}


def test_an_endpoint_that_does_not_stream_is_understood() -> None:
    document = {
        "choices": [{"message": {"content": "Hello."}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 3},
    }
    with served(lambda handler, request: handler.plain(200, json.dumps(document).encode())) as server:
        answer = Endpoint(server.url, model="m").complete(PROMPT, timeout_s=10)
    assert (answer.text, answer.prompt_tokens, answer.completion_tokens, answer.truncated) == ("Hello.", 3, None, True)
    assert answer.cost is None


def test_a_server_that_stumbles_is_asked_again() -> None:
    codes = iter((500, 429))

    def stumbling(handler, request) -> None:  # type: ignore[no-untyped-def]
        code = next(codes, None)
        (answering("Hello.") if code is None else status(code))(handler, request)

    with served(stumbling) as server:
        answer = Endpoint(server.url, model="m", retries=2).complete(PROMPT, timeout_s=10)
    assert (answer.text, answer.attempts) == ("Hello.", 3)


def test_a_server_that_refuses_the_key_is_not_asked_again() -> None:
    with served(status(401)) as server, pytest.raises(ModelFailure, match="401"):
        Endpoint(server.url, model="m", retries=3, key="secret-key").complete(PROMPT, timeout_s=10)
    assert len(server.requests) == 1
    assert "secret-key" not in repr(Endpoint(server.url, key="secret-key"))


def test_a_server_without_schemas_is_asked_without() -> None:
    def old(handler, request) -> None:  # type: ignore[no-untyped-def]
        (status(400) if "response_format" in request else answering("Hello."))(handler, request)

    with served(old) as server:
        prompt = Prompt("a", "b", {"type": "object"})
        assert Endpoint(server.url, model="m").complete(prompt, timeout_s=10).text == "Hello."
    assert [("response_format" in request) for request in server.requests] == [True, False]


def test_it_works_inside_a_running_loop() -> None:
    async def inside() -> str:
        with served(answering("Hello.")) as server:
            return Endpoint(server.url, model="m").complete(PROMPT, timeout_s=10).text

    assert asyncio.run(inside()) == "Hello."


def test_no_thread_is_left_behind_by_a_server_that_hangs() -> None:
    with served(hang) as server, pytest.raises(ModelFailure, match=r"within 0\.5 seconds"):
        Endpoint(server.url, model="m").complete(PROMPT, timeout_s=0.5)
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and any(t.name == "nsrecover-language-model" for t in threading.enumerate()):
        time.sleep(0.05)
    assert not any(thread.name == "nsrecover-language-model" for thread in threading.enumerate())


@pytest.mark.parametrize("address", ["lokal", "ftp://x/v1", "127.0.0.1:8080", ""])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InvalidConfiguration, match="OpenAI-compatible"):
        Endpoint(address)


def test_without_the_client_the_extra_is_named() -> None:
    program = (
        "import sys; sys.modules['openai'] = None\n"
        "from nsrecover.explanation.language_model.endpoint import Endpoint\n"
        "from nsrecover.core.prompts import Prompt\n"
        "try: Endpoint('http://x/v1').complete(Prompt('', ''), timeout_s=1)\n"
        "except Exception as error: print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=300)
    assert done.stdout.count("pip install 'nsrecover[llm]'") == 1, done.stderr
