"""`nsrecover tell`: a command to a robot in a home, at the terminal or on a live page."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from nsrecover.core.episode import StepRecord
from nsrecover.core.protocols import LanguageModel
from nsrecover.core.sessions.supervision import Stops, Supervisor
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.home_file import load_home, remember
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.person import Person, TerminalPerson
from nsrecover.instructions.planning import StagePlan, TaskPlan, action_text
from nsrecover.instructions.seeing import HomeWorld
from nsrecover.instructions.understanding import Understanding
from nsrecover.records import episode_log


def print_plan(home: str, sentence: str, model: LanguageModel | None = None) -> bool:
    """Print the plan for a sentence, or the question or answer that it leads to; returns whether there is a plan."""
    second = ModelReader(model) if model is not None else None
    found = Understanding(load_home(home), second).plan(sentence)
    for problem in second.problems if second is not None else ():
        print(f"note: {problem}")
    if not isinstance(found, TaskPlan):
        print(found.text)
        return False
    for note in found.task.notes:
        print(f"note: {note}")
    for number, text in enumerate(found.text(), start=1):
        print(f"{number:>3}  {text}")
    return True


@dataclass(frozen=True)
class Telling:
    """How a robot is told something.

    Attributes:
        person: who gives the command; by default a person at the terminal.
        feedback: whether the person is asked in the end whether that was wanted.
        read_back: whether the person is told what was understood, and has to agree, before the robot moves.
        supervisor: follows the robot, and can hold it up.
        model: the second reader; where it does not agree with the grammar, the person is asked.
        out: file for the log; further parts of a task get a number. None: no log.
        during: context of the run, in which Ctrl-C may stop it.
    """

    person: Person = field(default_factory=TerminalPerson)
    feedback: bool = False
    read_back: bool = False
    supervisor: Supervisor | None = None
    model: LanguageModel | None = None
    out: Path | None = None
    during: Callable[[Stops], AbstractContextManager[object]] = nullcontext


def tell_robot(
    home: str, make_world: Callable[[Home], HomeWorld], sentence: str, telling: Telling
) -> tuple[bool, list[Path]]:
    """Let a robot do what a sentence says, and print what it does; returns whether it got done, and the logs.

    Args:
        home: a file, to which objects are added that it did not know; or the name of a shipped home.
        make_world: makes the robot's world for a home.
        sentence: the command.
        telling: see there.

    Raises:
        InvalidConfiguration: the home cannot be used.
    """
    place = load_home(home)
    shown = 0

    def show(stage: StagePlan, record: StepRecord) -> None:
        nonlocal shown
        if record.action is not None:
            print(f"  {action_text(record.action, stage.instance)}", flush=True)
        for code, text in agent.log[shown:]:
            print(f"    {code}: {text}")
        shown = len(agent.log)

    second = ModelReader(telling.model) if telling.model is not None else None
    agent = ServiceAgent(
        Understanding(place, second=second), make_world(place), telling.person, telling.feedback, show,
        read_back=telling.read_back, supervisor=telling.supervisor,
    )  # fmt: skip
    agent.remember = partial(remember, Path(home)) if Path(home).suffix else None
    logs: list[Path] = []
    if telling.out is not None:
        telling.out.parent.mkdir(parents=True, exist_ok=True)  # before anything moves
    with telling.during(agent):
        try:
            outcome = agent.run(sentence)
        finally:  # whatever interrupts it
            for number, (stage, episode) in enumerate(agent.episodes if telling.out else (), start=1):
                assert telling.out is not None
                logs.append(telling.out if number == 1 else telling.out.with_stem(f"{telling.out.stem}-{number}"))
                episode_log.save(episode, logs[-1], stage.instance.domain)
    return outcome.status is OutcomeStatus.DONE, logs
