"""The words of a domain of one's own: what observations and goals of a log say in it, and which words it lacks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Role, State, spaced
from nsrecover.domains.instance import Instance
from nsrecover.logs.reading.records import GRIPPER, NOTHING, LogObservation, Remark

_CONTACT = ("inside", "on top of")
_FILLERS = {"a", "an", "the", "and", "is", "are", "be", "has", "have", "been", "that", "which", "it", "all", "both"}
_PLACING = {"in", "inside", "into", "on", "onto", "within", "of", "top"}


@dataclass(frozen=True)
class OwnWords:
    """The words of a domain over the objects of a scene.

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

    def relations(self, role: Role) -> list[str]:
        """The relations with a role."""
        return [name for name, one in self.scene.domain.relations.items() if one is role]

    def object_of(self, word: str) -> str | None:
        """The object that a name means: the same, one whose name ends so, or the only one of that kind."""
        name = re.sub(r"^(?:the|a|an) ", "", word.strip().lower())
        known = {one.lower(): one for one in self.scene.objects}
        if name in known:
            return known[name]
        alike = [one for low, one in known.items() if low.endswith(f" {name}") or name.endswith(f" {low}")]
        alike = alike or [one for one in known.values() if name in self.scene.objects[one]]
        return alike[0] if len(alike) == 1 else None

    def value_of(self, thing: str, word: str) -> tuple[StateFact, bool] | None:
        """What a state word says of an object: a fact, and whether it holds."""
        for name, number in self._values.get(word.strip().lower(), ()):
            variable = self.scene.domain.variables[name]
            if variable.trait in ("", *self.scene.objects[thing]):
                if len(variable.values) == 2:
                    return (name, thing), number == 1
                return (name, thing, variable.values[number]), True
        return None

    def holds(self, state: State, fact: StateFact) -> bool:
        """Whether a fact of a state variable, also its first value, or another one holds in a state."""
        variable = self.scene.domain.variables.get(fact[0])
        if variable is not None and len(fact) == 3 and fact[2] == variable.values[0]:
            return not any(one[:2] == fact[:2] for one in state)
        return self.scene.atom(state, fact)

    def held(self, state: State) -> str | None:
        """What the gripper holds."""
        return next((fact[-1] for fact in state if fact[0] in self.relations(Role.HELD)), None)

    def mentions(self, text: str) -> list[tuple[str, str]]:
        """Objects (`object`), values (`value`), prepositions (`in`) and unknown words (`word`) in order."""
        words, found = re.findall(r"[\w-]+", text.lower()), list[tuple[str, str]]()
        while words:
            for count in range(min(5, len(words)), 0, -1):
                phrase = " ".join(words[:count])
                thing = self.object_of(phrase) if not set(words[:count]) & (_FILLERS | _PLACING) else None
                if thing is not None or phrase in self._values:
                    found.append(("object", thing) if thing is not None else ("value", phrase))
                    break
            else:
                count = 1
                if words[0] not in _FILLERS:
                    found.append(("in" if words[0] in _PLACING else "word", words[0]))
            words = words[count:]
        return found


@dataclass(frozen=True)
class Claims:
    """What an observation says: alternatives of facts, and whether one of them holds; and words that are unknown."""

    facts: tuple[tuple[tuple[StateFact, ...], bool], ...]
    places: dict[str, str]
    unknown: tuple[str, ...]

    def wrong(self, state: State, words: OwnWords) -> int:
        """How many claims do not hold in a state."""
        return sum(any(words.holds(state, fact) for fact in facts) is not value for facts, value in self.facts)


def claims_of(seen: LogObservation, words: OwnWords) -> Claims:
    """An observation in the words of a domain."""
    facts, places, unknown = list[tuple[tuple[StateFact, ...], bool]](), dict[str, str](), list[str]()
    for item in seen.seen:
        thing = words.object_of(item.name)
        if thing is None:
            unknown.append(item.name)
            continue
        for said in item.states:
            value = words.value_of(thing, said)
            if value is None:
                unknown.append(said)
            else:
                facts.append(((value[0],), value[1]))
    carried = [name for name, traits in words.scene.objects.items() if traits]
    for sentence in seen.sentences:
        if isinstance(sentence, Remark):
            unknown.append(sentence.text)
        elif sentence.object == GRIPPER:
            thing = None if sentence.subject == NOTHING else words.object_of(sentence.subject)
            named = carried if thing is None else [thing]
            facts.append(
                (tuple((name, one) for name in words.relations(Role.HELD) for one in named), thing is not None)
            )
            unknown += [sentence.subject] if thing is None and sentence.subject != NOTHING else []
        else:
            one, other = map(words.object_of, (sentence.subject, sentence.object))
            known = sentence.relation in _CONTACT
            unknown += [n for n, t in ((sentence.subject, one), (sentence.object, other)) if t is None]
            unknown += [] if known else [sentence.relation]
            if known and one and other:
                facts.append((tuple((name, one, other) for name in words.relations(Role.LOCATION)), True))
                places[one] = other
    return Claims(tuple(facts), places, tuple(unknown))


def goal_in(text: str, words: OwnWords) -> tuple[list[tuple[StateFact, bool]], list[str]]:
    """The conditions that a success condition names, whether they hold, and the words that are unknown."""
    found, unknown, subject, placing = list[tuple[StateFact, bool]](), list[str](), "", False
    for kind, word in words.mentions(text):
        if kind == "object" and placing and subject:
            found += [((name, subject, word), True) for name in words.relations(Role.LOCATION)[:1]]
        elif kind == "object":
            subject = word
        elif kind == "value" and subject and (value := words.value_of(subject, word)):
            found.append(value)
        elif kind == "word":
            unknown.append(word)
        placing = kind == "in"
    return found, unknown
