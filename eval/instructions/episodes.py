"""Episodes in the fast home: missing information, wrong plans, failed execution, and the paper's seven commands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.agent import Outcome, OutcomeStatus, ServiceAgent
from nsrecover.instructions.understanding import Understanding
from sim.home.scenes import drawn_home, drawn_world
from sim.home.world import Failures, FastHome

FAILING = Failures(blocked=0.1, grasp=0.2, recognition=0.1, door=0.1, silence=0.1)
"""How often skills fail in the episodes of M3."""

PAPER: tuple[tuple[str, dict[str, str], tuple[str, str], str], ...] = (
    ("Could you bring me an apple from the side table?", {"apple": "side table"}, ("apple", OPERATOR), "M3"),
    (
        "Hi HSR, I am starting to feel hungry so could you grab an apple from dining table and put it on my "
        "desk? I will be there in a moment.",
        {"apple": "dining table"}, ("apple", "desk"), "M3",
    ),
    ("I lost my mug so could you find it for me?", {"red mug": "sofa"}, ("told", "red mug"), "M1"),
    (
        "Thank you, HSR. I am getting tired. Could you prepare a fruit for me on the side table? I will have some rest "
        "at the sofa in a moment.",
        {"banana": "dining table"}, ("fruit", "side table"), "M1",
    ),
    (
        "Could you help me find the apple that I bought the other day? Ashley might know where it is, so "
        "maybe you can ask her if she knows where it is. When you find it, please bring it to me.",
        {"apple": "countertop"}, ("apple", OPERATOR), "M1",
    ),
    ("Could you bring me the apple from the stair-like shelf?", {"apple": "bookshelf"}, ("apple", OPERATOR), "M2"),
    (
        "Could you look for Ashley in the dining room and ask her if she wants dinner at home tonight?",
        {}, ("answered", "ashley"), "M3",
    ),
)  # fmt: skip
"""The commands of table V, with what has to exist where, what has to hold in the end, and a kind of recovery.

Table V's check marks are not in the text of the paper; the kinds are those that section IV-C tells of (5, 6, 7) and
those that the setups here call for.
"""


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
    """One episode: its kind, whether the goal truly holds in the end, and what the agent logged."""

    kind: str
    done: bool
    claimed: bool
    recoveries: frozenset[str]
    questions: int


def episode(kind: str, number: int, seed: int) -> Episode:
    """An episode of one kind of recovery, or of all together.

    Args:
        kind: M1, M2, M3 or all.
        number: of the episode; decides home, objects and failures.
        seed: of the set.
    """
    rng = np.random.default_rng([seed, number, 5])
    home = drawn_home(int(rng.integers(1, 1_000_000)))
    nouns = [
        n for nouns in home.categories.values() for n in nouns if not any(n == i.kind for i in home.items.values())
    ]
    thing = str(rng.choice(nouns))
    flat = [name for name in home.furniture if "surface" in home.places[name].traits]
    target, other = (str(each) for each in rng.choice(flat, 2, replace=False))
    true = str(rng.choice([name for name in home.furniture if name not in (target, other)]))
    failures = FAILING if kind in ("M3", "all") else Failures()
    missing, wrong = kind in ("M1", "all"), kind in ("M2", "all")
    fixed = None if missing else {thing: true}
    world = drawn_world(home, int(rng.integers(1_000_000)), failures, [thing], fixed)
    true = world.objects[thing]
    source = "" if missing else f" from the {true}"
    if kind == "M3" and rng.random() < 1 / 3:  # it is not where the operator believes
        source = f" from the {rng.choice([name for name in home.furniture if name not in (true, target)])}"
    said = other if wrong else target
    answers = [f"No, I meant the {target}"] if wrong else []
    sentence = f"put the {thing}{source} on the {said}"
    outcome = _run(home, world, sentence, answers, feedback=wrong)
    return _judged(kind, world.objects.get(thing) == target, outcome)


def paper_command(number: int, seed: int) -> Episode:
    """One of the paper's seven commands in a drawn home.

    Args:
        number: from 0 to 6.
        seed: of the home.
    """
    sentence, fixed, (what, where), kind = PAPER[number]
    home = drawn_home(
        seed, keep=("side table", "dining table", "desk", "sofa", "countertop", "bookshelf", "storage shelf")
    )
    known = {name: replace(place, looks=()) for name, place in home.places.items()}
    home = replace(home, places=known)
    fixed = dict(fixed)
    answers = ["the bookshelf"] if number == 5 else []
    if number in (0, 1):  # it is said where the apple is, and grasps fail
        world = drawn_world(home, seed, FAILING, [], fixed)
    else:
        world = drawn_world(home, seed, None, [], fixed, false=0.0)
    if number == 4:
        world.people["ashley"].knows = {}  # she does not know, as in the paper's experiment
    if number == 6:
        world.people["ashley"].place = "kitchen"  # the paper: execution failure when the person is looked for
    outcome = _run(home, world, sentence, answers)
    if what == "told":
        done = any(where in text and world.objects[where] in text for _, text in world.told)
    elif what == "answered":
        done = any(fact[0] == "answered" for fact in world.done)
    else:
        done = any(home.could_mean(what, name) and place == where for name, place in world.objects.items())
    return _judged(kind, done, outcome)


def _run(home: Home, world: FastHome, sentence: str, answers: Sequence[str], feedback: bool = False) -> Outcome:
    return ServiceAgent(Understanding(home), world, ScriptedOperator(answers), feedback).run(sentence)


def _judged(kind: str, done: bool, outcome: Outcome) -> Episode:
    codes = frozenset(code for code, _ in outcome.log)
    return Episode(kind, done, outcome.status is OutcomeStatus.DONE, codes, outcome.questions)
