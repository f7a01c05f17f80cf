"""`nsrecover tell`: a command to a robot in a home, at the terminal."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from nsrecover.core.episode import StepRecord
from nsrecover.core.protocols import LanguageModel
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.home_file import load_home, remember
from nsrecover.instructions.agent import OutcomeStatus, ServiceAgent
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.person import Person, TerminalPerson
from nsrecover.instructions.planning import StagePlan, TaskPlan, action_text
from nsrecover.instructions.seeing import HomeWorld
from nsrecover.instructions.understanding import Understanding


def print_plan(home: str, sentence: str) -> bool:
    """Print the plan for a sentence, or the question or answer that it leads to; returns whether there is a plan."""
    found = Understanding(load_home(home)).plan(sentence)
    if not isinstance(found, TaskPlan):
        print(found.text)
        return False
    for note in found.task.notes:
        print(f"note: {note}")
    for number, text in enumerate(found.text(), start=1):
        print(f"{number:>3}  {text}")
    return True


def tell_robot(
    home: str,
    make_world: Callable[[Home], HomeWorld],
    sentence: str,
    feedback: bool = False,
    read_back: bool = False,
    person: Person | None = None,
    model: LanguageModel | None = None,
) -> bool:
    """Let a robot do what a sentence says, and print what it does; returns whether it got done.

    Args:
        home: a file, to which objects are added that it did not know; or the name of a shipped home.
        make_world: makes the robot's world for a home.
        sentence: the command.
        feedback: whether the person is asked in the end whether that was wanted.
        read_back: whether the person is told what was understood, and has to agree, before the robot moves.
        person: who gives the command; by default a person at the terminal.
        model: the second reader; where it does not agree with the grammar, the person is asked.

    Raises:
        InvalidConfiguration: the home cannot be used.
    """
    place = load_home(home)
    shown = 0

    def show(stage: StagePlan, record: StepRecord) -> None:
        nonlocal shown
        if record.action is not None:
            print(f"  {action_text(record.action, stage.instance)}")
        for code, text in agent.log[shown:]:
            print(f"    {code}: {text}")
        shown = len(agent.log)

    understanding = Understanding(place, second=ModelReader(model) if model is not None else None)
    operator = person or TerminalPerson()
    agent = ServiceAgent(understanding, make_world(place), operator, feedback, show, read_back=read_back)
    agent.remember = partial(remember, Path(home)) if Path(home).suffix else None
    outcome = agent.run(sentence)
    return outcome.status is OutcomeStatus.DONE
