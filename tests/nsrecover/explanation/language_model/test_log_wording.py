"""Logs reworded by a language model: lies are refused, paraphrases are accepted; and the command."""

# ruff: noqa: E501 (lines of logs are as they are)
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nsrecover.cli import app as cli
from nsrecover.explanation.language_model.endpoint import Endpoint
from nsrecover.explanation.language_model.rewording_task import RewordingTask
from nsrecover.logs import Audience, FactTrace, explain_log, log_of, verbalize
from nsrecover.logs.rewording import household_case, reworded
from tests.case_files import cases_of
from tests.nsrecover.explanation.language_model.fake_endpoint import answering, hang, served
from tests.nsrecover.explanation.language_model.test_lies import slotted

CASES = cases_of(__file__)
LOGS = {name: log_of(CASES[name]) for name in ("dropped", "missed")}


def case_for(log: FactTrace, audience: Audience = Audience.LAY) -> RewordingTask:
    return household_case(log, explain_log(log), audience)


def lies(case: RewordingTask) -> Iterator[str]:
    """Yield every grounded sentence with one false part."""
    for sentence in case.grounded:
        text = sentence.text
        yield (
            re.sub(r"\b(did|could|was|dropped|tried|came)\b", r"\1 not", text, count=1)
            if re.search(r"\b(did|could|was|dropped|tried|came)\b", text)
            else f"It is not so: {text}"
        )
        yield (
            re.sub(r"\bcould not\b", "could", text) if "could not" in text else f"{text[:-1]}, and the robot is broken."
        )
        yield re.sub(r"(\d+):(\d)(\d)", lambda t: f"{t[1]}:{t[2]}{(int(t[3]) + 3) % 10}", text) if ":" in text else ""
        for name in case.objects:
            for other in (*case.objects, "teapot"):
                if other != name and re.search(rf"\b{name}\b", text):
                    yield re.sub(rf"\b{name}\b", other, text, count=1)
        for old, new in (
            ("dropped", "threw"), ("dropped", "put down"), ("pick up", "open"), ("put the", "pour the"), ("turn on", "turn off"),
            (" in the ", " under the "), ("robot", "person"), ("dropped", "did not drop"), ("the ", "th\u0435 "), (" at ", " after "),
            ("At ", "Before "), ("tried to", "refused to"), ("dropped", "almost dropped"), ("dropped", "will drop"),
            ("nothing", "something"), ("empty", "full"),
        ):  # fmt: skip
            if old in text:
                yield text.replace(old, new)
        if text.startswith("To finish the task: ") and ", and finally " in text:
            steps = re.split(r", and finally |, ", text.removeprefix("To finish the task: ").rstrip("."))
            yield f"To finish the task: {', '.join(reversed(steps))}."
            yield f"To finish the task: {', '.join(steps[:-1])}."
            yield f"To finish the task: {', '.join([*steps, steps[0]])}."
    yield from (
        "The robot broke the sink.", "The task succeeded.", "The jug was already full.", "A person took the jug away.",
        "The robot may have dropped the faucet.", "Did the robot drop the sink?", "It dropped it.",
    )  # fmt: skip


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("name", list(LOGS))
def test_no_lie_about_a_log_is_let_through(name: str, audience: Audience) -> None:
    case = case_for(LOGS[name], audience)
    true = {sentence.text for sentence in case.grounded}
    told = [lie for lie in dict.fromkeys(lies(case)) if lie and lie not in true]
    assert len(told) > 20
    assert [lie for lie in told if case.judge(lie).accepted] == []


@pytest.mark.parametrize("audience", list(Audience))
@pytest.mark.parametrize("name", list(LOGS))
def test_what_is_told_without_a_model_is_let_through(name: str, audience: Audience) -> None:
    case = case_for(LOGS[name], audience)
    assert " ".join(sentence.text for sentence in case.grounded) == verbalize(explain_log(LOGS[name]), audience)
    assert all(case.judge(sentence.text).points for sentence in case.grounded)


def test_the_same_in_other_words_is_let_through() -> None:
    judge = case_for(LOGS["dropped"]).judge
    refused = [sentence for sentence in CASES["reworded"] if not judge(sentence).accepted]
    assert len(refused) <= 1, refused


def test_an_instruction_in_the_text_of_a_log_changes_nothing() -> None:
    log = LOGS["dropped"]
    with served(answering("The robot broke the sink. At 00:09 the robot dropped the jug.")) as server:
        found = reworded(log, explain_log(log), Audience.LAY, Endpoint(server.url), 20)
    assert found["text"] == verbalize(explain_log(log))
    assert found["source"] == "grounded"


def _write(folder: Path) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps(CASES["dropped"]))
    return path


def test_the_command_words_a_log_and_says_whose_words_they_are(tmp_path: Path) -> None:
    said = ["At 00:09 the robot lost the jug on its way to the sink.", "The robot broke the sink."]
    with served(answering(slotted(said))) as server:
        arguments = ["explain", str(_write(tmp_path)), "--json", "--llm", server.url]
        done = CliRunner().invoke(cli.app, arguments)
    assert done.exit_code == 0, done.output
    document = json.loads(done.stdout)
    assert document["text"].startswith("At 00:09 the robot lost the jug on its")
    assert "broke" not in document["text"]
    assert [sentence["source"] == "grounded" for sentence in document["sentences"]] == [False, True, True]
    assert document["root_cause"] == "dropped"
    assert "refused" in document["note"]


def test_the_command_explains_though_the_model_hangs(tmp_path: Path) -> None:
    with served(hang) as server:
        done = CliRunner().invoke(
            cli.app, ["explain", str(_write(tmp_path)), "--llm", server.url, "--llm-model", "m", "--llm-timeout", "0.5"]
        )
    assert done.exit_code == 0
    assert "At 00:09 the robot dropped the jug" in done.output
    assert "note: all sentences are made from the facts" in done.output
