"""No text about an episode says that the robot did what it did not do, or had to do what it had no need to do.

Random episodes with vetoes, stops and failures. The worlds write down what was executed; the texts are those of
reports, of answers to questions and of `nsrecover explain`. `EPISODES=2000 pytest tests/test_tenses.py` runs that many.
"""

import os
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from nsrecover.core import Action, Episode, Fate, SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.explanation.answers.episodes import report_of_episode
from nsrecover.explanation.answers.questions import ask
from nsrecover.explanation.phrases import instruction
from nsrecover.reports.build import report_of
from nsrecover.reports.model import Mark
from tests.test_false_completion import RandomBoxes, RandomFacts, RandomWorld, drive

EPISODES = int(os.environ.get("EPISODES", "60"))
QUESTIONS = ("what went wrong?", "what did you do about it?", "why did you move the {}?", "what if you had not?")
DID = re.compile(r"(?:I had to|I did:) (.*?)(?:\\.|$)")
"""What is said to have been done."""
ALL = re.compile(r"It was carried out|led back to the plan")
SOME = re.compile(r"(?<!none )(?<!nothing of it )(?:were|was) carried out", re.IGNORECASE)


def logged(world: RandomWorld) -> list[Action]:
    """Let a world write down what it executes."""
    done, execute = list[Action](), world.execute

    def executes(action: Action) -> None:
        done.append(action)
        execute(action)

    world.execute = executes  # type: ignore[method-assign]
    return done


def texts_of(episode: Episode[Any], domain: Domain) -> Iterator[str]:
    """Every text that people get about an episode."""
    report = report_of(episode, "a run", domain=domain)
    yield report.summary
    for each in (*report.answers, *report.steps):
        yield from (line.text for line in each.lines)
    yield report_of_episode(episode, domain=domain)["text"]
    names = episode.start.names if isinstance(episode.start, SceneGraph) else ("tube", "flask")
    for name in names:
        for answer in ask(episode, [each.format(name) for each in QUESTIONS], domain=domain):
            yield answer.text


def carried_out(episode: Episode[Any]) -> list[tuple[int, int]]:
    """Of every recovery that has actions: how many of them were executed, and how many it has."""
    return [
        (episode.carried_out(number), len(record.recovery.actions))
        for number, record in enumerate(episode.records)
        if record.recovery is not None and record.recovery.actions
    ]


@pytest.mark.parametrize("kind", [RandomBoxes, RandomFacts])
def test_what_is_said_to_be_done_was_done(kind: type[RandomWorld]) -> None:
    fates = set()
    for seed in range(EPISODES // 2):
        world = kind(rng=np.random.default_rng(7000 + seed), fails=0.4)
        log = logged(world)
        episode = drive(world, approve=seed % 3 > 0, ends=0.03 * (seed % 2)).episode
        domain = world.system().domain
        executed = [record.action for record in episode.records if record.action is not None]
        assert executed == log[: len(executed)]
        assert len(log) - len(executed) <= 1
        fates |= {record.fate for record in episode.records if record.recovery is not None}
        done = {instruction(action, domain=domain) for action in log}
        ways = carried_out(episode)
        for text in texts_of(episode, domain):
            for said in DID.findall(text):
                assert any(said.startswith(each.partition(" on ")[0]) or each in said for each in done), (seed, text)
            assert not ALL.search(text) or any(k == n for k, n in ways), (seed, text)
            assert not SOME.search(text) or any(k for k, _ in ways), (seed, text)
        report = report_of(episode, "a run", domain=domain)
        acted = (Mark.DONE, Mark.RECOVERY, Mark.FAILED)
        shown = [entry.action for entry in report.way if entry.action and entry.mark in acted]
        assert shown == [str(action) for action in executed]
    assert fates == set(Fate)
