"""The seven commands of table V of Shirasaka et al., in drawn homes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from eval.common.statistics import share_of
from eval.instructions.episodes import Episode, carried_out
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.agent import OutcomeStatus
from sim.home.scenes import drawn_home, drawn_world
from sim.home.world import Failures

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
"""The commands, with what has to exist where, what has to hold in the end, and a kind of recovery.

Table V's check marks are not in the text of the paper; the kinds are those that section IV-C tells of (5, 6, 7) and
those that the setups here call for: the first grasp misses (1, 2), no place is named (3, 4).
"""

_GRASPS = Failures(first_grasps=1)
_KEPT = ("side table", "dining table", "desk", "sofa", "countertop", "bookshelf", "storage shelf")


def paper_command(number: int, seed: int) -> Episode:
    """One of the paper's seven commands in a drawn home.

    Args:
        number: from 0 to 6.
        seed: of the home.
    """
    sentence, fixed, (what, where), _ = PAPER[number]
    home = drawn_home(seed, keep=_KEPT)
    home = replace(home, places={name: replace(place, looks=()) for name, place in home.places.items()})
    world = drawn_world(home, seed, _GRASPS if number in (0, 1) else None, [], fixed, false=0.0)
    if number == 4:
        world.people["ashley"].knows = {}  # she does not know, as in the paper's experiment
    if number == 6:
        world.people["ashley"].place = "kitchen"  # the paper: execution failure when the person is looked for
    outcome = carried_out(home, world, sentence, ["the bookshelf"] if number == 5 else [])
    if what == "told":
        done = any(where in text and world.objects[where] in text for _, text in world.told)
    elif what == "answered":
        done = any(fact[0] == "answered" for fact in world.done)
    else:
        done = any(home.could_mean(what, name) and place == where for name, place in world.objects.items())
    codes = frozenset(code for code, _ in outcome.log)
    return Episode(done, outcome.status is OutcomeStatus.DONE, codes, outcome.questions)


def paper_commands(homes: int, seed: int) -> dict[str, Any]:
    """How many of the seven commands are done, and show the kind of recovery, in some drawn homes."""
    runs = [[paper_command(i, seed * 1000 + home + 1) for i in range(len(PAPER))] for home in range(homes)]
    kinds = [kind for *_, kind in PAPER]
    shown = [[each.done and kind in each.recoveries for each, kind in zip(run, kinds, strict=True)] for run in runs]

    def of_command(i: int) -> dict[str, Any]:
        codes: Sequence[str] = sorted(code for run in runs for code in run[i].recoveries)
        return {"done": share_of(run[i].done for run in runs), "kind": kinds[i], "recoveries": dict(Counter(codes))}

    return {
        "homes": homes,
        "done": share_of(each.done for run in runs for each in run),
        "done_and_recovery_shown": share_of(each for run in shown for each in run),
        "all_seven": share_of(map(all, shown)),
        "by_command": {str(i + 1): of_command(i) for i in range(len(PAPER))},
    }
