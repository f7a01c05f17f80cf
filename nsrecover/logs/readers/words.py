"""What robots and people call states, relations and actions, and what they are in a domain."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Role, spaced
from nsrecover.domains.household.names import normal, slice_of
from nsrecover.domains.instance import Instance
from nsrecover.language.goals import OPPOSITE_STATE, STATES, read_goal
from nsrecover.logs.readers.common import action_of
from nsrecover.logs.trace import FactClaim
from nsrecover.logs.understanding import in_household, is_verb, operator_of

_STATE_OF = {word: state for state, words in STATES.items() for word in words.split(", ")}
_STATE_OF |= {f"not {word}": OPPOSITE_STATE[state] for word, state in _STATE_OF.items() if state in OPPOSITE_STATE}
_STATE_OF |= dict.fromkeys(("contains nothing", "containing nothing", "holding nothing", "not filled"), "empty")
_FILLED = re.compile(
    r"(?:filled|full|contains|containing|contain|holding|holds|filled up)(?: with| of)?(?: some)? (.+)"
)
_BEFORE_NAMES = {
    word: state
    for word, state in _STATE_OF.items()
    if " " not in word and word not in ("on", "off", "whole", "cut", "active", "working", "lit", "intact", "idle")
}
_SEEN = {
    "open": ("open", True),
    "closed": ("open", False),
    "turned on": ("running", True),
    "turned off": ("running", False),
    "dirty": ("dirty", True),
    "clean": ("dirty", False),
    "cracked": ("cracked", True),
    "not cracked": ("cracked", False),
    "hot": ("hot", True),
    "cold": ("hot", False),
}
"""A state of the household -> the predicate, and whether it holds."""

_INSIDE = "inside of, inside, in, within, into"
_ON_TOP = "on top of, on, upon, onto, atop"
_OTHERS = (
    "on the left of, on the right of, in front of, above, below, occluding, near, next to, behind, under, occluded by, "
    "blocking, blocked by, beside"
)
RELATIONS = dict.fromkeys(_INSIDE.split(", "), "inside") | dict.fromkeys(_ON_TOP.split(", "), "on top of")
RELATIONS |= {said: said for said in _OTHERS.split(", ")}
"""Preposition -> the relation that it stands for."""
_PLACES = {"inside": "at", "on top of": "atop"}
_COVERED = ("below", "under", "behind", "occluded by", "blocked by")
_COVERING = ("above", "occluding", "blocking", "in front of")

_VERB = r"(?:is|are|lies|sits|stands|rests|stays|remains|was|is located|is placed|is lying|is standing|is sitting)"
_RELATED = re.compile(rf"^(.+?) {_VERB} ({'|'.join(sorted(RELATIONS, key=len, reverse=True))}) (.+)$")
_HAND = r"(?:the )?(?:robot(?:'s)? )?(?:gripper|hand|end effector)"
_IN_HAND = re.compile(rf"^{_HAND}$", re.IGNORECASE)
_HOLDS = re.compile(rf"^{_HAND} (?:holds|is holding|contains|carries|has) (.+)$", re.IGNORECASE)
_EMPTY_HAND = re.compile(rf"^{_HAND} is (?:empty|free)$", re.IGNORECASE)
_NOTHING = ("nothing", "no object", "none")


@lru_cache(maxsize=4096)
def state_of(word: str) -> str:
    """A state as logs usually write it: `switched on` -> `turned on`; unknown states as they are."""
    plain = " ".join(word.lower().split()).removeprefix("with door ").removeprefix("door ")
    if plain in _STATE_OF:
        return _STATE_OF[plain]
    found = _FILLED.fullmatch(plain)
    if found:
        return "empty" if found[1] == "nothing" else f"filled with {found[1]}"
    return word


@lru_cache(maxsize=4096)
def states_in(name: str) -> tuple[str, ...]:
    """States that a name carries: `the dirty pan` -> `dirty`."""
    found = []
    for word in name.lower().removeprefix("the ").split()[:-1]:
        if word not in _BEFORE_NAMES:
            break
        found.append(_BEFORE_NAMES[word])
    return tuple(found)


def action_in(text: str) -> Action | None:
    """The action of the household that a line in English is about; None if its verb is unknown."""
    found = action_of(text)
    if not is_verb(found.operator):
        return None
    names = (normal(normal(name).removeprefix("liquid from ")) for name in found.arguments)
    return in_household(Action(found.operator, tuple(names)))


class HouseholdWords:
    """The words of logs of household robots."""

    def object_of(self, name: str) -> str | None:
        """The object that a name means."""
        return normal(name)

    def states(self, name: str, words: Sequence[str]) -> tuple[list[FactClaim], list[str]]:
        """What is said about an object in view, and the words that say nothing known."""
        claims, thing, unknown = list[FactClaim](), normal(name), list[str]()
        for word in dict.fromkeys((*states_in(name), *map(state_of, words))):
            if word in _SEEN:
                claims.append(FactClaim(((_SEEN[word][0], thing),), _SEEN[word][1]))
            elif word == "empty":
                claims.append(FactClaim((("filled", thing, "*"),), False))
            elif word.startswith("filled"):
                liquid = word.removeprefix("filled").removeprefix(" with ").strip() or "water"
                claims.append(FactClaim((("filled", thing, liquid),)))
            elif word in ("sliced", "not sliced"):
                claims.append(FactClaim((("sliced", slice_of(thing)),), word == "sliced"))
            else:
                unknown.append(word)
        return claims, unknown

    def relation(self, sentence: str) -> FactClaim | None:
        """What a sentence says about places or the gripper; None if it says something else."""
        match related(sentence):
            case ("nothing", "holds", _):
                return FactClaim((("holding", "*"),), False)
            case (name, "holds", _):
                return FactClaim((("holding", normal(name)),))
            case (name, how, other) if how in _PLACES:
                return FactClaim(((_PLACES[how], normal(name), normal(other)),))
            case (name, how, other) if how in _COVERED:
                return FactClaim((("covers", normal(other), normal(name)),))
            case (name, how, other) if how in _COVERING:
                return FactClaim((("covers", normal(name), normal(other)),))
        return None

    def action(self, text: str, plan: Sequence[Action]) -> Action | None:
        """The action that a line is about; None if that is unknown."""
        return action_in(text)


def related(sentence: str) -> tuple[str, str, str] | None:
    """Subject, relation and object of a sentence; the relation is `holds` for the gripper."""
    if found := _HOLDS.fullmatch(sentence):
        return ("nothing" if found[1] in _NOTHING else found[1]), "holds", ""
    if _EMPTY_HAND.fullmatch(sentence):
        return "nothing", "holds", ""
    if found := _RELATED.fullmatch(sentence):
        subject, said, other = found.groups()
        if _IN_HAND.fullmatch(other):
            return ("nothing" if subject in _NOTHING else subject), "holds", ""
        return subject, RELATIONS[said], other
    return None


@dataclass(frozen=True)
class SceneWords:
    """The words of a domain of one's own over the objects of a scene.

    Attributes:
        scene: the domain and its objects.
    """

    scene: Instance

    @cached_property
    def _values(self) -> dict[str, list[tuple[str, int]]]:
        """Word -> the variables that have it as a value, and which one it is."""
        found = dict[str, list[tuple[str, int]]]()
        for name, variable in self.scene.domain.variables.items():
            for number, value in enumerate(variable.values):
                found.setdefault(spaced(value).lower(), []).append((name, number))
        return found

    def _relations(self, role: Role) -> list[str]:
        return [name for name, one in self.scene.domain.relations.items() if one is role]

    def object_of(self, name: str) -> str | None:
        """The object that a name means: the same, one whose name ends so, or the only one of that kind."""
        name = re.sub(r"^(?:the|a|an) ", "", name.strip().lower())
        known = {form: one for one in self.scene.objects for form in (normal(one), one.lower())}
        if name in known:
            return known[name]
        alike = [one for low, one in known.items() if low.endswith(f" {name}") or name.endswith(f" {low}")]
        alike = alike or [one for one in known.values() if name in self.scene.objects[one]]
        return alike[0] if len(alike) == 1 else None

    def fact_of(self, thing: str, word: str) -> tuple[StateFact, bool] | None:
        """What a state word says of an object: a fact, and whether it holds."""
        for name, number in self._values.get(word.strip().lower(), ()):
            variable = self.scene.domain.variables[name]
            if variable.trait in ("", *self.scene.objects[thing]):
                if len(variable.values) == 2:
                    return (name, thing), number == 1
                return ((name, thing, variable.values[number]), True) if number else ((name, thing, "*"), False)
        return None

    def states(self, name: str, words: Sequence[str]) -> tuple[list[FactClaim], list[str]]:
        """What is said about an object in view, and the words that say nothing known."""
        thing = self.object_of(name)
        if thing is None:
            return [], [name]
        found = [(word, self.fact_of(thing, word)) for word in words]
        claims = [FactClaim((fact[0],), fact[1]) for _, fact in found if fact is not None]
        return claims, [word for word, fact in found if fact is None]

    def relation(self, sentence: str) -> FactClaim | None:
        """What a sentence says about places or the gripper; None if it says something else, or names nothing known."""
        said = related(sentence)
        if said is None or (said[1] not in _PLACES and said[1] != "holds"):
            return None
        held, locations = self._relations(Role.HELD), self._relations(Role.LOCATION)
        if said[:2] == ("nothing", "holds"):
            return FactClaim(tuple((name, "*") for name in held), False)
        one = self.object_of(said[0])
        if said[1] == "holds":
            return None if one is None else FactClaim(tuple((name, one) for name in held))
        other = self.object_of(said[2])
        return FactClaim(tuple((name, one, other) for name in locations)) if one and other else None

    def action(self, text: str, plan: Sequence[Action]) -> Action | None:
        """The step of the rest of a plan that a line is about; a move if it has a verb of moving; None if unknown."""
        said, named = re.findall(r"[\w-]+", text.lower()), self._named(text)
        scores = [
            2.0 * (spaced(step.operator).lower().split()[0] in said) + len(named & set(step.arguments)) - 0.5 * ahead
            for ahead, step in enumerate(plan)
        ]
        best = max(range(len(scores)), key=scores.__getitem__, default=None)
        if best is not None and scores[best] >= 1.5:
            return plan[best]
        return Action("move_to", tuple(named)[:1]) if operator_of((said or [""])[0]) == "move_to" else None

    def _named(self, text: str) -> set[str]:
        words, found = re.findall(r"[\w-]+", text.lower()), set[str]()
        for start in range(len(words)):
            for count in range(min(5, len(words) - start), 0, -1):
                if thing := self.object_of(" ".join(words[start : start + count])):
                    found.add(thing)
                    break
        return found

    def goal(self, text: str) -> tuple[list[StateFact], list[str]]:
        """The conditions that a success condition names, and what of it cannot be read."""
        read, conditions = read_goal(text, tuple(self.scene.objects), own_states=self._values), list[StateFact]()
        unread = list(read.unread)
        for word, *names in read.conditions:
            things = [thing for thing in map(self.object_of, names) if thing is not None]
            found = self.fact_of(things[0], word) if len(things) == len(names) == 1 else None
            if word in ("at", "away_from") and len(things) == 2:
                found = (self._relations(Role.LOCATION)[0], *things), word == "at"
            if found is None:
                unread.append(" ".join((word, *names)))
            else:
                conditions.append(found[0] if found[1] else ("not", *found[0]))
        return conditions, unread
