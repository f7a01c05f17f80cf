"""No text about an episode says that somebody did what nobody did, or had to do what there was no need to do.

Random episodes with vetoes, stops and failures. The worlds write down what was executed; the texts are those of
reports, of answers to questions and of `nsrecover explain`. Every clause in the past about the robot, a person or the
carrying out of actions has to be one of `CLAIMS`, and is checked against the executed actions and the decisions.
`EPISODES=2000 pytest -s tests/test_tenses.py` runs that many, and prints how often each claim was made.
"""

import os
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from eval.completion.worlds import RandomWorld, Trouble, carry_out
from nsrecover.core import Action, Episode, EpisodeStatus, Fate, SceneGraph
from nsrecover.domains.domain import Domain
from nsrecover.explanation.answers.episodes import report_of_episode
from nsrecover.explanation.answers.questions import ask
from nsrecover.explanation.audience import participle
from nsrecover.explanation.phrases import done_text, instruction
from nsrecover.serving.reports.build import report_of
from nsrecover.serving.reports.model import Mark, Report
from nsrecover.session import SessionSettings
from nsrecover.util.english import NUMBERS
from tests.test_false_completion import KINDS, world_of

EPISODES = int(os.environ.get("EPISODES", "200"))
QUESTIONS = (
    "what went wrong?", "why?", "what did you do?", "what did you do about it?", "why did you move the {}?",
    "what did you do with the {}?", "what if you had not?", "whose fault was it?", "did anybody veto?",
    "how long did it take?",
)  # fmt: skip
PAST = re.compile(
    r"(?<![\w'])(?:I|[Tt]he robot(?:'s action)?|[Aa] person|[Nn]obody|[Nn]o recovery) "
    r"(?:(?:had|has|have|did|was|were)\b[^.;:]*|"
    r"(?:lifted|looked|made|moved|put|set|changed|completed|stopped|vetoed|executed|poured|spun|mixed)\b[^.;:]*)[.;:]?"
    r"|[^.;:]*\b(?:led back|(?:was|were) (?:carried out|vetoed|done|repeated|skipped|executed|lost))\b[^.;:]*[.;:]?"
)
"""A clause in the past about what was done."""


def logged(world: RandomWorld[Any]) -> list[Action]:
    """Let a world write down what it executes."""
    done, execute = list[Action](), world.execute

    def executes(action: Action) -> None:
        done.append(action)
        execute(action)

    world.execute = executes  # type: ignore[method-assign]
    return done


@dataclass(frozen=True)
class Truth:
    """What really was done in an episode."""

    episode: Episode[Any]
    domain: Domain
    log: list[Action]

    def did(self, name: str, recorded: bool = False) -> bool:
        """Whether an action that moves an object was executed; `recorded`: and ended, so that a record has it."""
        actions = [each.action for each in self.episode.records if each.action] if recorded else self.log
        return any(action.arguments[0] == name for action in actions)

    def says(self, said: str, needed: bool) -> bool:
        """Whether an instruction is one of an executed action; `needed`: of a recovery from something wrong."""
        for number, record in enumerate(self.episode.records):
            if record.recovery is not None and (record.discrepancy.deviates or not needed):
                done = (record.recovery.actions[i] for i in self.episode.carried_out(number))
                if any(said.startswith(instruction(action, domain=self.domain)) for action in done):
                    return True
        return not needed and any(said.startswith(instruction(action, domain=self.domain)) for action in self.log)

    @property
    def ways(self) -> list[tuple[int, int]]:
        """Of every recovery with actions: how many of them were executed, and how many it has."""
        return [
            (len(self.episode.carried_out(number)), len(record.recovery.actions))
            for number, record in enumerate(self.episode.records)
            if record.recovery is not None and record.recovery.actions
        ]

    @property
    def recovered(self) -> set[str]:
        """The objects that actions of recoveries moved."""
        done = [record for record in self.episode.records if record.recovering and record.action is not None]
        return {record.action.arguments[0] for record in done if record.action is not None}

    @property
    def vetoes(self) -> int:
        return sum(len(record.vetoed) + (record.fate is Fate.VETOED) for record in self.episode.records)


def number(word: str) -> int:
    return NUMBERS.index(word.lower()) if word.lower() in NUMBERS else int(word)


_NAMES = r"(?P<names>the [^;.]*?)"


def _each_done(true: Truth, found: re.Match[str]) -> bool:
    names = re.split(r", | and ", found["names"])
    return all(true.did(name.removeprefix("the ")) for name in names)


CLAIMS: dict[str, Callable[[Truth, re.Match[str]], bool]] = {
    r"I ((?:put|set|poured|spun|mixed|moved).*)\.": lambda true, found: any(
        done_text(action, true.domain) == found[1] for action in true.log
    ),
    r"I had to (.*)\.": lambda true, found: true.says(found[1], needed=True),
    r"I did:": lambda true, found: True,  # what follows is checked as an instruction
    r"I (?:have not moved|did not move) the (.+?)(?: at all)?(?:, though.*)?[.:]": (
        lambda true, found: not true.did(found[1], recorded=True)
    ),
    r"No recovery has moved the (.+)\.": lambda true, found: found[1] not in true.recovered,
    r"I have not done it\.": lambda true, found: true.episode.status is not EpisodeStatus.COMPLETED,
    r".*this action of it was not carried out\.": lambda true, found: any(k < n for k, n in true.ways),
    rf"The robot lifted {_NAMES}, and (?:it|they) fell.*": _each_done,
    r"a person did that is not recorded\.": lambda true, found: True,
    r"The robot's action changed the .+ instead of the (.+)\.": lambda true, found: true.did(found[1]),
    r"the robot was (.*?)[;.]": lambda true, found: any(
        participle(action, true.domain) == found[1] for action in true.log
    ),
    r"The robot made .* observations?, and then went on\.": lambda true, found: bool(true.log),
    r"The robot made .* observations?, and did nothing after that\.": lambda true, found: True,
    r"(?:I|The robot) completed the plan.*": lambda true, found: true.episode.status is EpisodeStatus.COMPLETED,
    r"the robot stopped.*|The robot stopped.*": (
        lambda true, found: true.episode.status is EpisodeStatus.ASKED_FOR_HELP
    ),
    r".*[Aa] person vetoed.*": lambda true, found: true.vetoes > 0,
    r".*[Nn]o recovery was needed\.?.*": lambda true, found: (
        not any(record.discrepancy.deviates for record in true.episode.records)
        or any(each.recovery is not None and not each.recovery.actions for each in true.episode.records)
    ),
    r"no recovery was searched for.*": lambda true, found: any(
        record.discrepancy.deviates and record.recovery is None for record in true.episode.records
    ),
    r"no recovery was found.*": lambda true, found: any(
        each.recovery is not None and not each.recovery.found for each in true.episode.records
    ),
    r"How long it took, .* is not recorded\.": lambda true, found: (
        not any(each.time_s > true.episode.start_s for each in true.episode.records)
    ),
    r"No time was lost to .*": lambda true, found: not true.recovered,
    r"steps were repeated, or looked at again\.": lambda true, found: not true.recovered,
    r"Nobody vetoed a recovery\.": lambda true, found: true.vetoes == 0,
    r"(\w+) recover(?:y|ies) (?:was|were) vetoed\.": lambda true, found: true.vetoes == number(found[1]),
    r".*a recovery of (\w+) actions? was carried out.*": lambda true, found: (number(found[1]),) * 2 in true.ways,
    r".*It was carried out\.": lambda true, found: any(k == n for k, n in true.ways),
    r".*It was not carried out\.|Nothing of it was carried out\.|.*nothing of it was done\.": (
        lambda true, found: any(k == 0 for k, _ in true.ways)
    ),
    r"Of its (\w+) actions, (\w+) (?:was|were) carried out\.": (
        lambda true, found: (number(found[2]), number(found[1])) in true.ways
    ),
    r".*a recovery of (\w+) actions? was found, of which (\w+) (?:was|were) carried out.*": (
        lambda true, found: (0 if found[2] == "none" else number(found[2]), number(found[1])) in true.ways
    ),
    r"No such action was carried out with the (.+)\.": lambda true, found: not true.did(found[1], recorded=True),
    r"No action has been carried out\.": lambda true, found: not any(each.action for each in true.episode.records),
    r"(\w+) actions? (?:was|were) carried out(?:, the last ones)?:": (
        lambda true, found: number(found[1]) in (len(true.log), len(true.log) - 1)
    ),
    r"(?:\d+ s of that were|Less than a second of that was) lost to errors:": lambda true, found: any(
        not record.discrepancy.as_expected for record in true.episode.records
    ),
}  # fmt: skip
"""Pattern of a clause -> whether it is true of an episode."""


def texts_of(episode: Episode[Any], report: Report, domain: Domain) -> Iterator[str]:
    """Every text that people get about an episode."""
    yield report.summary
    for each in (*report.answers, *report.steps):
        yield from (line.text for line in each.lines)
    yield report_of_episode(episode, domain=domain)["text"]
    names = episode.start.names if isinstance(episode.start, SceneGraph) else ("tube", "flask")
    for name in names:
        for answer in ask(episode, [each.format(name) for each in QUESTIONS], domain=domain):
            yield answer.text


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_to_be_done_was_done(kind: str) -> None:
    fates, often, unknown = set(), Counter[str](), Counter[str]()
    for seed in range(EPISODES // 2):
        world = world_of(kind, 7000 + seed, Trouble(fails=0.4, lies=0.1, drops=0.1, changes=0.15))
        log = logged(world)
        settings = SessionSettings(budget_s=None, approve=seed % 3 > 0)
        _, episode = carry_out(world, settings, ends=0.03 * (seed % 2))
        domain = world.system().domain
        executed = [record.action for record in episode.records if record.action is not None]
        assert executed == log[: len(executed)]
        assert len(log) - len(executed) <= 1
        fates |= {record.fate for record in episode.records if record.recovery is not None}
        report, true = report_of(episode, "a run", domain=domain), Truth(episode, domain, log)
        for text in texts_of(episode, report, domain):
            for clause in (match[0].strip() for match in PAST.finditer(text)):
                pattern = next((each for each in CLAIMS if re.fullmatch(each, clause)), None)
                if pattern is None:
                    unknown[clause] += 1
                    continue
                often[pattern] += 1
                assert CLAIMS[pattern](true, re.fullmatch(pattern, clause)), (seed, clause, text)
        acted = (Mark.DONE, Mark.RECOVERY, Mark.FAILED)
        shown = [entry.action for entry in report.way if entry.action and entry.mark in acted]
        assert shown == [str(action) for action in executed]
    assert not unknown, unknown.most_common(40)
    assert fates == set(Fate)
    print(f"\n{kind}: {EPISODES // 2} episodes, {often.total()} clauses in the past, all true")
    for pattern, count in often.most_common():
        print(f"{count:7d}  {pattern}")
