"""How robots and people word what they do, see and want: one set to develop with, one held out."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass

from nsrecover.core.facts import StateFact
from sim.logs.things import is_a


@dataclass(frozen=True)
class Wording:
    """Alternatives for everything that a log says.

    Attributes:
        actions: operator -> sentences.
        states: state -> words.
        inside: how a relation of being in something is said.
        on_top: how a relation of being on something is said.
        held: sentences for the gripper.
        goals: predicate -> sentences.
        remarks: additions to the goal that change nothing.
        sounds: what is heard.
    """

    actions: Mapping[str, tuple[str, ...]]
    states: Mapping[str, tuple[str, ...]]
    inside: tuple[str, ...]
    on_top: tuple[str, ...]
    held: tuple[str, ...]
    goals: Mapping[str, tuple[str, ...]]
    remarks: tuple[str, ...]
    sounds: tuple[str, ...]


DEVELOPMENT = Wording(
    actions={
        "move_to": ("Move to {0}", "Go to {0}"),
        "pick_up": ("Pick up {0}", "Take {0}"),
        "put_in": ("Put {0} in {1}", "Place {0} inside {1}"),
        "put_on": ("Put {0} on {1}", "Place {0} on {1}"),
        "open_obj": ("Open {0}",),
        "close_obj": ("Close {0}", "Shut {0}"),
        "toggle_on": ("Toggle on {0}", "Turn on {0}"),
        "toggle_off": ("Toggle off {0}", "Turn off {0}"),
        "slice_obj": ("Slice {0}",),
        "crack_obj": ("Crack {0}",),
        "pour": ("Pour liquid from {0} into {1}", "Pour {0} into {1}"),
    },
    states={
        "open": ("open",), "closed": ("closed",), "running": ("turned on", "on"), "off": ("turned off", "off"),
        "empty": ("empty",), "filled": ("filled with {0}", "full of {0}"), "clean": ("clean",), "dirty": ("dirty",),
        "cracked": ("cracked",), "whole": ("not cracked",), "sliced": ("sliced",), "uncut": ("not sliced",),
    },
    inside=("is inside",),
    on_top=("is on top of", "is on"),
    held=("{0} is inside robot gripper",),
    goals={
        "at": ("the {0} is {1} the {2}", "{0} is located {1} {2}"),
        "filled": ("the {0} is filled with {1}", "the {0} contains {1}"),
        "running": ("the {0} is turned on", "{0} is switched on"),
        "off": ("the {0} is turned off",),
        "closed": ("the {0} is closed",),
        "clean": ("the {0} is clean",),
        "cracked": ("the {0} is cracked",),
        "hot": ("the {0} is heated",),
    },
    remarks=("", "", "", " (nothing else matters)"),
    sounds=("object drops or cracks on hard surface", "water runs in sink", "stove burner turns on", "slice bread"),
)  # fmt: skip

HELD_OUT = Wording(
    actions={
        "move_to": ("Navigate to {0}", "Drive to the {0}"),
        "pick_up": ("Grasp {0}", "Lift the {0}", "Fetch {0}"),
        "put_in": ("Insert {0} into {1}", "Deposit {0} in the {1}"),
        "put_on": ("Set {0} down on {1}", "Lay the {0} onto the {1}"),
        "open_obj": ("Pull open {0}", "Open up the {0}"),
        "close_obj": ("Push {0} shut",),
        "toggle_on": ("Switch on {0}", "Activate the {0}"),
        "toggle_off": ("Switch off {0}", "Deactivate the {0}"),
        "slice_obj": ("Cut {0} into slices", "Chop the {0}"),
        "crack_obj": ("Break {0}",),
        "pour": ("Empty {0} into {1}", "Tip the {0} out over the {1}"),
    },
    states={
        "open": ("opened", "ajar"), "closed": ("shut",), "running": ("switched on", "running"),
        "off": ("switched off", "not running"), "empty": ("empty", "contains nothing"),
        "filled": ("contains {0}", "holding {0}"), "clean": ("spotless", "washed"), "dirty": ("stained", "unwashed"),
        "cracked": ("broken open",), "whole": ("uncracked",), "sliced": ("cut up",), "uncut": ("uncut",),
    },
    inside=("is within", "lies in"),
    on_top=("rests on", "stands on top of"),
    held=("{0} is in the gripper", "robot gripper holds {0}"),
    goals={
        "at": ("the {0} stands {1} the {2}", "there is a {0} {1} the {2}"),
        "filled": ("there is {1} in the {0}", "the {0} is full of {1}"),
        "running": ("the {0} is running", "the {0} has been switched on"),
        "off": ("the {0} has been switched off",),
        "closed": ("the {0} is shut",),
        "clean": ("the {0} has been washed", "the {0} is not dirty"),
        "cracked": ("the {0} is broken open",),
        "hot": ("the {0} has been warmed up",),
    },
    remarks=("", "", " (e.g. as on Sundays)", " [checked by the owner]"),
    sounds=("something falls", "splashing water", "a click", "a door creaks"),
)  # fmt: skip


def goal_text(goal: tuple[StateFact, ...], wording: Wording, chance: random.Random) -> str:
    """A goal in words."""
    sentences = []
    for predicate, *names in goal:
        template = chance.choice(wording.goals[predicate])
        if predicate == "at":
            inside = is_a(names[1], "hollow") and not is_a(names[1], "flat")
            names.insert(1, "inside" if inside else "on top of")
        sentences.append(template.format(*names))
    text = ", ".join(sentences[:-1]) + (" and " if len(sentences) > 1 else "") + sentences[-1]
    return f"{text}{chance.choice(wording.remarks)}."
