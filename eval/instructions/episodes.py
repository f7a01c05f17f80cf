"""Episodes in the fast home: missing information, wrong plans, failed execution, and people who answer falsely."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from eval.instructions.witness import Witness
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.agent import Outcome, OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_home, drawn_world
from sim.home.world import Failures, FastHome

FAILING = Failures(blocked=0.1, grasp=0.2, recognition=0.1, door=0.1, silence=0.1)
"""How often skills fail in the episodes of M3."""

FALSE = "false answers"
"""Kind of the episodes in which everybody who is asked where something is names a wrong place."""

MODES = ("M1", "M2", "M3", "all", FALSE)
"""Kinds of episodes: one kind of recovery, all three together, and people who answer falsely."""


class ScriptedOperator:
    """An operator who answers from a list, and says yes to everything else."""

    def __init__(self, answers: Sequence[str] = ()) -> None:
        self._answers = list(answers)

    def tell(self, text: str) -> None:
        """Hear what the robot says."""

    def ask(self, question: str) -> str:
        """The next answer."""
        return self._answers.pop(0) if self._answers else "yes"


@dataclass(frozen=True)
class Episode:
    """One episode.

    Attributes:
        done: whether the goal truly holds in the end.
        claimed: whether the agent says so.
        recoveries: codes in its log.
        questions: that the operator was asked.
        by_oracle: whether an agent that is given the place of the object and what is meant does it in the same home.
        refuted: facts that the agent keeps although it has observed that they are false.
        misled: whether a person named a place.
    """

    done: bool
    claimed: bool
    recoveries: frozenset[str]
    questions: int
    by_oracle: bool = True
    refuted: tuple[str, ...] = ()
    misled: bool = False


@dataclass(frozen=True)
class _Errand:
    """What is said and answered, what an oracle is given, and which object has to be where in the end."""

    said: str
    answers: tuple[str, ...]
    oracle: str
    thing: str
    target: str


def episode(kind: str, number: int, seed: int) -> Episode:
    """An episode: something is put somewhere, brought to the operator, or given to a person.

    Args:
        kind: one of `MODES`.
        number: of the episode; decides home, objects, task and failures.
        seed: of the set.
    """
    rng = np.random.default_rng([seed, number, MODES.index(kind)])
    home = drawn_home(int(rng.integers(1, 1_000_000)))
    own = {item.kind for item in home.items.values()}
    nouns = [noun for nouns in home.categories.values() for noun in nouns if noun not in own]
    things = [str(each) for each in rng.choice(nouns, 2, replace=False)]
    named = kind in ("M2", "M3")
    spot = {things[0]: str(rng.choice(home.furniture))} if named else None
    false = {name: str(rng.choice(home.furniture)) for name in home.people}
    draw = int(rng.integers(1_000_000))

    def world() -> FastHome:
        made = drawn_world(home, draw, FAILING if kind in ("M3", "all") else None, things, spot)
        for name, someone in made.people.items():
            if kind == FALSE and false[name] != made.objects[things[0]]:
                someone.knows = {things[0]: false[name]}
        return made

    first, second = world(), world()
    errand = _errand(kind, home, rng, things, first.objects[things[0]])
    witness = Witness(first)
    outcome = carried_out(home, witness, errand.said, errand.answers, feedback=kind in ("M2", "all"))
    carried_out(home, second, errand.oracle)
    kept = witness.refuted(outcome.belief, things) if outcome.belief is not None else ()
    return Episode(
        first.objects.get(errand.thing) == errand.target,
        outcome.status is OutcomeStatus.DONE,
        frozenset(code for code, _ in outcome.log),
        outcome.questions,
        second.objects.get(errand.thing) == errand.target,
        kept,
        any(" said that " in text for _, text in outcome.log),
    )


def _errand(kind: str, home: Home, rng: np.random.Generator, things: Sequence[str], true: str) -> _Errand:
    """A task with the first of some things, which is at a place; a wrong plan is about the second, or another place."""
    thing, other = things
    flat = [name for name in home.furniture if "surface" in home.places[name].traits and name != true]
    target, elsewhere = (str(each) for each in rng.choice(flat, 2, replace=False))
    person = str(rng.choice([name for name in home.people if name != OPERATOR]))
    source = f" from the {true}" if kind in ("M2", "M3") else ""
    if kind == "M3" and rng.random() < 1 / 3:  # it is not where the operator believes
        source = f" from the {rng.choice([name for name in home.furniture if name not in (true, target)])}"
    texts: dict[str, Callable[[str, str, str], str]] = {
        target: lambda what, whence, where: f"put the {what}{whence} on the {where}",
        OPERATOR: lambda what, whence, where: f"bring me the {what}{whence}",
        person: lambda what, whence, where: f"bring {person} the {what}{whence}",
    }
    goal = str(rng.choice(list(texts)))
    text, what, where, answers = texts[goal], thing, target, tuple[str, ...]()
    if kind in ("M2", "all") and goal == target:
        where, answers = elsewhere, (f"No, I meant the {target}",)
    elif kind in ("M2", "all"):
        what, answers = other, (f"No, I meant the {thing}",)
    said = text(what, source, where)
    if kind == FALSE and rng.random() < 0.5:
        said = f"ask {rng.choice([name for name in home.people if name != OPERATOR])} where the {thing} is, then {said}"
    return _Errand(said, answers, text(thing, f" from the {true}", target), thing, goal)


def carried_out(
    home: Home, world: FastHome | Witness, sentence: str, answers: Sequence[str] = (), feedback: bool = False
) -> Outcome:
    """What becomes of a command in a world."""
    return ServiceAgent(Understanding(home), world, ScriptedOperator(answers), feedback).run(sentence)
