"""Commands of the kinds of RoboCup@Home's GPSR and EGPSR, with what each has to lead to.

The templates and word lists are this file's own; nothing of the library's grammar is used.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from nsrecover.domains.service.home import Home

T = TypeVar("T")

BRING = ("bring", "fetch", "get", "give", "deliver")
TAKE = ("take", "get", "grasp", "fetch", "grab", "pick up")
PUT = ("put", "place", "leave", "set")
FIND = ("find", "locate", "look for", "search for")
GUIDE = ("guide", "escort", "take", "lead", "accompany")
MEET = ("meet", "greet", "find", "look for")
POLITE = (
    "",
    "",
    "please ",
    "could you ",
    "could you please ",
    "robot please ",
    "would you ",
    "i want you to ",
    "hi robot, ",
)
ENDING = ("", "", "", " please", ", please", ". thank you")
REASON = ("", "", "", "", "i am tired so ", "i am busy, so ", "because i have guests, ")
POSES = {"sitting": "sitting", "standing": "standing", "lying down": "lying", "waving": "waving",
         "raising their left arm": "raising the left arm", "raising their right arm": "raising the right arm",
         "pointing to the left": "pointing to the left", "pointing to the right": "pointing to the right"}  # fmt: skip
TALK = (
    "the time",
    "a joke",
    "your team's name",
    "what day is today",
    "something about yourself",
    "the day of the week",
)
MESSAGES = ("dinner is ready", "the taxi has arrived", "the meeting begins at five", "his friend has called")
QUESTIONS = ("if he wants some tea", "what his name is", "whether the window is closed", "how his day was")


@dataclass(frozen=True)
class Command:
    """A generated command.

    Attributes:
        kind: of the command.
        text: the sentence.
        want: the goals of its stages as `wanted` writes them, in order.
    """

    kind: str
    text: str
    want: tuple[str, ...]


class Generator:
    """Draws commands about one home.

    Args:
        home: the map.
        seed: of the draw.
    """

    def __init__(self, home: Home, seed: int) -> None:
        self.home, self.rng = home, np.random.default_rng([seed, 3])
        traits = {name: place.traits for name, place in home.places.items()}
        self.surfaces = [name for name in home.furniture if "surface" in traits[name]]
        self.spots = [name for name in home.furniture if "door" not in traits[name] and "switch" not in traits[name]]
        self.people = [name for name in home.people if name != "operator"]
        self.nouns = [
            n for nouns in home.categories.values() for n in nouns if n not in {i.kind for i in home.items.values()}
        ]

    def command(self) -> Command:
        """The next command."""
        make = self.of(KINDS)
        kind, text, want = make.__name__.removeprefix("_"), *make(self)
        reason, polite = self.of(REASON), self.of(POLITE)
        return Command(kind, f"{reason}{polite}{text}{self.of(ENDING)}", want)

    def of(self, options: Sequence[T]) -> T:
        """One of some options."""
        return options[int(self.rng.integers(len(options)))]

    def _thing(self) -> str:
        return self.of(self.nouns)

    def _the(self) -> str:
        return self.of(("the ", "the ", "a ", "some "))

    def _from(self, place: str) -> str:
        return self.of((f"from the {place}", f"that is on the {place}", f"on the {place}"))

    def _bring_me(self) -> tuple[str, tuple[str, ...]]:
        thing, place = self._thing(), self.of(self.spots)
        return f"{self.of(BRING)} me {self._the()}{thing} {self._from(place)}", (f"at {thing} operator @{place}",)

    def _bring_person(self) -> tuple[str, tuple[str, ...]]:
        thing, person, place = self._thing(), self.of(self.people), self.of(self.spots)
        text = (
            f"{self.of(TAKE)} the {thing} from the {place} and {self.of(('deliver', 'give', 'bring'))} it to {person}"
        )
        return text, (f"at {thing} {person} @{place}",)

    def _put(self) -> tuple[str, tuple[str, ...]]:
        thing, place, target = self._thing(), self.of(self.spots), self.of(self.surfaces)
        if self.rng.random() < 0.5:
            text = f"{self.of(TAKE)} the {thing} from the {place} and {self.of(PUT)} it on the {target}"
        else:
            text = f"{self.of(PUT)} the {thing} from the {place} on the {target}"
        return text, (f"at {thing} {target} @{place}",)

    def _find_thing(self) -> tuple[str, tuple[str, ...]]:
        thing, room = self._thing(), self.of(self.home.rooms)
        return f"{self.of(FIND)} {self._the()}{thing} in the {room}", (f"found {thing} @{room}", "told operator")

    def _find_category(self) -> tuple[str, tuple[str, ...]]:
        category, room = self.of(list(self.home.categories)), self.of(self.home.rooms)
        thing = f"a {category}"
        text = f"{self.of(FIND)} {thing} in the {room} then {self.of(('bring it to me', 'give it to me'))}"
        return text, (f"at {category} operator @{room}",)

    def _count_things(self) -> tuple[str, tuple[str, ...]]:
        category, place = self.of(list(self.home.categories)), self.of(self.spots)
        plural = category[:-1] + "ies" if category.endswith("y") and category[-2] not in "aeiou" else (
            category + "es" if category.endswith(("sh", "ch")) else category + "s")  # fmt: skip
        text = self.of(
            (
                f"tell me how many {plural} there are on the {place}",
                f"count the {plural} on the {place} and tell me how many",
            )
        )
        return text, (f"counted {category} at the {place}", "told operator")

    def _count_people(self) -> tuple[str, tuple[str, ...]]:
        said, pose = self.of(list(POSES.items()))
        room = self.of(self.home.rooms)
        text = f"tell me how many people in the {room} are {said}"
        return text, (f"counted {pose} people at the {room}", "told operator")

    def _follow(self) -> tuple[str, tuple[str, ...]]:
        person, room, target = self.of(self.people), self.of(self.home.rooms), self.of(self.home.rooms)
        text = f"{self.of(MEET)} {person} in the {room} and follow {self.of(('him', 'her', 'them'))} to the {target}"
        return text, (f"at robot {target}; followed {person} @{room}",)

    def _follow_posed(self) -> tuple[str, tuple[str, ...]]:
        said, pose = self.of(list(POSES.items()))
        room, target = self.of(self.home.rooms), self.of(self.spots)
        return f"follow the person {said} in the {room} to the {target}", (
            f"at robot {target}; followed {pose} person @{room}",
        )

    def _guide(self) -> tuple[str, tuple[str, ...]]:
        person, room, target = self.of(self.people), self.of(self.home.rooms), self.of(self.spots)
        return f"{self.of(GUIDE)} {person} from the {room} to the {target}", (
            f"at robot {target}; guided {person} @{room}",
        )

    def _guide_posed(self) -> tuple[str, tuple[str, ...]]:
        said, pose = self.of(list(POSES.items()))
        room, target = self.of(self.home.rooms), self.of(self.home.rooms)
        text = f"{self.of(GUIDE)} the person {said} in the {room} to the {target}"
        return text, (f"at robot {target}; guided {pose} person @{room}",)

    def _tell(self) -> tuple[str, tuple[str, ...]]:
        person, room = self.of(self.people), self.of(self.home.rooms)
        if self.rng.random() < 0.5:
            return f"tell {person} in the {room} that {self.of(MESSAGES)}", (f"told {person} @{room}",)
        return f"{self.of(MEET)} {person} in the {room} and tell them {self.of(TALK)}", (f"told {person} @{room}",)

    def _say_posed(self) -> tuple[str, tuple[str, ...]]:
        said, pose = self.of(list(POSES.items()))
        room = self.of(self.home.rooms)
        return f"say {self.of(('hello', *TALK))} to the person {said} in the {room}", (f"told {pose} person @{room}",)

    def _ask(self) -> tuple[str, tuple[str, ...]]:
        person, room = self.of(self.people), self.of(self.home.rooms)
        return f"look for {person} in the {room} and ask {self.of(('him', 'them'))} {self.of(QUESTIONS)}", (
            f"answered {person} @{room}",
        )

    def _answer(self) -> tuple[str, tuple[str, ...]]:
        said, pose = self.of(list(POSES.items()))
        room = self.of(self.home.rooms)
        return f"answer the {self.of(('question', 'quiz'))} of the person {said} in the {room}", (
            f"answered_to {pose} person @{room}",
        )

    def _pose(self) -> tuple[str, tuple[str, ...]]:
        place = self.of(self.home.rooms)
        return f"tell me the {self.of(('pose', 'gesture'))} of the person in the {place}", (
            f"pose_known person @{place}",
            "told operator",
        )

    def _name(self) -> tuple[str, tuple[str, ...]]:
        place = self.of(self.home.rooms)
        return f"tell me the name of the person in the {place}", (f"answered person @{place}", "told operator")

    def _go_then(self) -> tuple[str, tuple[str, ...]]:
        room, thing, person = self.of(self.home.rooms), self._thing(), self.of(self.people)
        text = f"go to the {room} then {self.of(FIND)} the {thing} and {self.of(('deliver', 'bring'))} it to {person}"
        return text, (f"at {thing} {person} @{room}",)


Maker = Callable[[Generator], tuple[str, tuple[str, ...]]]

_NAMES = (
    "bring_me, bring_person, put, find_thing, find_category, count_things, count_people, follow, follow_posed, guide, "
    "guide_posed, tell, say_posed, ask, answer, pose, name, go_then"
)
KINDS: tuple[Maker, ...] = tuple(getattr(Generator, f"_{name}") for name in _NAMES.split(", "))
