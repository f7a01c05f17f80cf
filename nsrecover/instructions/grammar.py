"""Sentence → reading: clauses by their verbs, and phrases by the words of the home."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.clauses import NAME, RESULT, Said, clauses_of
from nsrecover.instructions.lexing import lexed
from nsrecover.instructions.phrases import phrases_of
from nsrecover.instructions.reading import Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.words import Lexeme, Lexicon, tokens

_ABOUT_PLACES = (Verb.OPEN, Verb.CLOSE, Verb.TURN_ON, Verb.TURN_OFF)
_END = frozenset(".!?;")
_WISHES = frozenset(("want", "need", "like", "would", "wish", "have", "could"))
_STARTS_CONTENT = frozenset(
    ("that", "if", "whether", "about", ":", '"', "where", "what", "when", "how", "why", "which")
)
_CONDITIONAL = frozenset(("when", "once", "after", "if", "while", "as", "because", "since"))


@dataclass
class _Reader:
    """Reads one sentence from left to right and remembers what pronouns may mean."""

    lexicon: Lexicon
    clauses: list[Clause] = field(default_factory=list)
    verbs: list[Verb] = field(default_factory=list)
    unknown: list[tuple[str, bool]] = field(default_factory=list)
    mentioned: list[Phrase] = field(default_factory=list)
    operator_at: Phrase | None = None
    thing: Phrase | None = None
    person: Phrase | None = None
    place: Phrase | None = None
    thing_at: tuple[Phrase, Phrase] | None = None

    def segment(self, items: Sequence[Lexeme]) -> None:
        """Read what stands between full stops."""
        items = _without_reason(_without_condition(items))
        first = next((item for item in items if item.sort not in ("filler", "mark", "conjunction")), None)
        if first is not None and first.text == "i" and not _is_wish(items):
            comma = next((i for i, item in enumerate(items) if item.text == ","), len(items))
            self._declared(items[:comma])
            if any(_is_verb(items, i) for i in range(comma + 1, len(items))):
                self.segment(items[comma + 1 :])
            return
        starts = [i for i in range(len(items)) if _is_verb(items, i)]
        if not starts:
            self._without_verb(items)
            return
        self._note(items[: starts[0]], mention=True)
        at = 0
        while at < len(starts):
            begin = starts[at]
            end = starts[at + 1] if at + 1 < len(starts) else len(items)
            verb = Verb(items[begin].value)
            self.verbs.append(verb)
            if verb in (Verb.TELL, Verb.ASK):
                end = self._speech(items, begin, verb)
                while at + 1 < len(starts) and starts[at + 1] < end:
                    at += 1
            else:
                self._command(verb, items[begin + 1 : end], _negated(items, begin))
            at += 1

    def _declared(self, items: Sequence[Lexeme]) -> None:
        """A statement of the operator: what is mentioned, and where the operator is going to be."""
        found, _ = phrases_of(items)
        texts = {item.text for item in items}
        for prep, phrase in found:
            if phrase.sort is Sort.PLACE and prep == "at" and texts & {"will", "am", "going"}:
                self.operator_at = phrase
        if "there" in texts and "will" in texts and self.place is not None:
            self.operator_at = self.place
        self._note(items, mention=True)

    def _without_verb(self, items: Sequence[Lexeme]) -> None:
        """A question, a wish for a thing, or a statement about someone."""
        texts = [item.text for item in items]
        found, unknown = phrases_of(items)
        things = [phrase for _, phrase in found if phrase.sort in (Sort.THING, Sort.CATEGORY)]
        wish = _is_wish(items) or any(pair in (("can", "i"), ("may", "i"), ("could", "i")) for pair in pairwise(texts))
        if things and wish:
            self._command(Verb.BRING, items, False)
        elif things and (texts[:1] in (["where"], ["is"], ["are"]) or {"where", "seen"} & set(texts)):
            self._command(Verb.FIND, items, False)
            self._add(Clause(Verb.TELL, person=_operator(), content=RESULT))
        elif things and "belongs" in texts and any(phrase.sort is Sort.PLACE for _, phrase in found):
            self._command(Verb.PLACE, items, False)
        else:
            self._note(items, mention=True)
            if not self.clauses and not things:
                self.unknown += unknown or [(item.text, True) for item in items if item.sort == "unknown"]

    def _command(self, verb: Verb, items: Sequence[Lexeme], negated: bool) -> None:
        found, unknown = phrases_of(items)
        said = Said(verb, [(prep, self._resolved(phrase, verb, prep)) for prep, phrase in found], items)
        for clause in clauses_of(said, self.thing, self.person):
            mentioned_at = self.thing_at is not None and clause.thing == self.thing_at[0] and clause.source is None
            source = self.thing_at[1] if mentioned_at and self.thing_at is not None else clause.source
            self._add(replace(clause, negated=negated, source=source))
        self.unknown += unknown

    def _speech(self, items: Sequence[Lexeme], begin: int, verb: Verb) -> int:
        """Read a clause of telling or asking; returns where the next clause starts."""
        end = _content_end(items, begin + 1)
        rest = list(items[begin + 1 : end])
        split = _addressee_end(rest)
        if split:
            whom, content = rest[:split], rest[split:]
        else:
            cut = next(
                (i for i in range(len(rest) - 1, -1, -1) if _begins_addressee(rest, i)),
                None,
            )
            whom, content = (rest[cut:], rest[:cut]) if cut is not None else ([], rest)
        found, unknown = phrases_of(whom)
        self.unknown += unknown
        persons = [p for _, p in found if p.sort in (Sort.PERSON, Sort.POSED, Sort.PRONOUN)]
        places = [p for _, p in found if p.sort is Sort.PLACE]
        person = self._resolved(persons[0], verb, "") if persons else None
        person_at = places[0] if places else None
        self._content(verb, person, person_at, content)
        return end

    def _content(self, verb: Verb, person: Phrase | None, person_at: Phrase | None, content: Sequence[Lexeme]) -> None:
        words = [word for item in content for word in item.text.split()]
        text = " ".join(item.said for item in content if item.text not in ('"', ":")).strip(" ,.")
        text = text.removeprefix("that ").removesuffix(" please")
        found, _ = phrases_of(content)
        things = [
            self._resolved(p, Verb.FIND, "")
            for _, p in found
            if p.sort in (Sort.THING, Sort.CATEGORY) or p.name == "it"
        ]
        people = [self._resolved(p, verb, "") for _, p in found if p.sort in (Sort.PERSON, Sort.POSED)]
        places = [p for _, p in found if p.sort is Sort.PLACE]
        place = places[0] if places else None
        whom = person if person is not None else _operator() if verb is Verb.TELL else self.person
        if verb is Verb.ASK:
            if "where" in words and things and whom is not None:
                self._add(Clause(Verb.ASK_WHERE, thing=things[0], person=whom, person_at=person_at))
            elif "name" in words and not any(word in words for word in ("my", "your")):
                self._add(Clause(Verb.ASK, person=whom, person_at=person_at, content=NAME))
            else:
                self._add(Clause(Verb.ASK, person=whom, person_at=person_at, content=text))
            return
        last = self.clauses[-1].verb if self.clauses else None
        asks_number = "how" in words and "many" in words
        if asks_number and last is Verb.COUNT and not things and not people and place is None:
            text = RESULT
        elif asks_number or (set(words) & {"number", "amount"} and (things or people)):
            whom_to_count = people[0] if people and not things else None
            self._add(Clause(Verb.COUNT, things[0] if things else None, place, person=whom_to_count))
            text = RESULT
        elif "where" in words and (things or people):
            self._command(Verb.FIND, content, False)
            text = RESULT
        elif set(words) & {"pose", "posture", "gesture"}:
            self._add(Clause(Verb.POSE, person=people[0] if people else self.person, person_at=place))
            text = RESULT
        elif "name" in words and people:
            self._add(Clause(Verb.ASK, person=people[0], person_at=place, content=NAME))
            text = RESULT
        elif place is not None and (
            {"what", "which", "biggest", "largest", "smallest", "heaviest", "objects"} & set(words)
        ):
            self._add(Clause(Verb.COUNT, thing=things[0] if things else Phrase(Sort.CATEGORY, "object"), source=place))
            text = RESULT
        elif last in (Verb.COUNT, Verb.ASK, Verb.POSE, Verb.FIND, Verb.ASK_WHERE) and (
            not text
            or set(words) & {"number", "result", "results", "answer", "how", "it", "many", "found", "what", "where"}
        ):
            text = RESULT
        self._add(Clause(Verb.TELL, person=whom, person_at=person_at, content=text))

    def _add(self, clause: Clause) -> None:
        self.clauses.append(clause)
        if clause.thing is not None:
            self.thing = clause.thing
        if clause.person is not None and clause.person.name != OPERATOR:
            self.person = clause.person
        self.place = clause.target or clause.source or self.place

    def _note(self, items: Sequence[Lexeme], mention: bool) -> None:
        found, _ = phrases_of(items)
        for _, phrase in found:
            if phrase.sort in (Sort.THING, Sort.CATEGORY):
                self.thing = phrase
                if mention:
                    self.mentioned.append(phrase)
            elif phrase.sort in (Sort.PERSON, Sort.POSED) and phrase.name != OPERATOR:
                self.person = phrase
            elif phrase.sort is Sort.PLACE:
                self.place = phrase
                if self.thing is not None and mention and (self.thing_at or (None,))[0] != self.thing:
                    self.thing_at = (self.thing, phrase)

    def _resolved(self, phrase: Phrase, verb: Verb, prep: str) -> Phrase:
        """What a pronoun means; other phrases as they are."""
        if phrase.sort is not Sort.PRONOUN:
            return phrase
        if phrase.name == "there":
            return self.place or phrase
        if phrase.name == "it" and (prep == "from" or verb in _ABOUT_PLACES) and self.place is not None:
            return self.place
        about_people = verb in (Verb.FOLLOW, Verb.GUIDE, Verb.ASK, Verb.TELL, Verb.ANSWER, Verb.POSE) or (
            prep == "to" and phrase.name != "it"
        )
        if about_people or phrase.name == "whom" or (phrase.name == "them" and self.thing is None):
            return self.person or phrase
        return self.thing or phrase


def read(sentence: str, lexicon: Lexicon) -> Reading:
    """What a sentence says; words that no rule knows are listed, and nothing is looked up in the home."""
    found = lexed(tokens(sentence), lexicon)
    reader, segment = _Reader(lexicon), list[Lexeme]()
    for item in (*found.items, Lexeme("mark", ".")):
        if item.text in _END or item.text == "so":
            reader.segment(segment)
            segment = []
        else:
            segment.append(item)
    unknown = tuple(dict.fromkeys(word for word, _ in reader.unknown))
    names = tuple(dict.fromkeys(word for word, noun in reader.unknown if noun))
    mentioned = tuple(reader.mentioned)
    return Reading(
        sentence,
        tuple(reader.clauses),
        unknown,
        names,
        tuple(reader.verbs),
        found.corrected,
        reader.operator_at,
        mentioned,
    )


def _operator() -> Phrase:
    return Phrase(Sort.PERSON, OPERATOR)


def _is_wish(items: Sequence[Lexeme]) -> bool:
    """Whether someone says that something is wanted: "I would like an apple", "I need you to ..."."""
    texts = [item.text for item in items if item.sort not in ("mark",)]
    if "i" not in texts[:4]:
        return False
    start = texts.index("i")
    return bool({"want", "need", "like", "wish", "love"} & set(texts[start + 1 : start + 4]))


def _without_reason(items: Sequence[Lexeme]) -> Sequence[Lexeme]:
    """The items before a reason: "..., because I am tired"."""
    for i, item in enumerate(items):
        if item.text in ("because", "since") and i > 0:
            return items[:i]
        if item.text == "as" and i > 1 and i + 1 < len(items) and items[i + 1].text in ("i", "we"):
            return items[:i]
    return items


def _without_condition(items: Sequence[Lexeme]) -> Sequence[Lexeme]:
    """The items after a condition that the robot meets anyway: "when you find it, ..."."""
    first = next(
        (i for i, item in enumerate(items) if item.sort not in ("mark",) and item.text not in ("and", "then", "so")),
        None,
    )
    if first is None or items[first].text not in _CONDITIONAL:
        return items
    comma = next((i for i in range(first, len(items)) if items[i].text == ","), None)
    return items[comma + 1 :] if comma is not None else items


def _is_verb(items: Sequence[Lexeme], i: int) -> bool:
    """Whether a word that can be a verb is one here: not behind an article, possessive or preposition."""
    if items[i].sort != "verb":
        return False
    before = items[i - 1] if i else None
    if before is None:
        return True
    if before.sort in ("article", "whose", "unknown", "that") or (before.sort in ("from", "at", "preposition")):
        return before.sort == "unknown"
    return before.text != "my"


def _negated(items: Sequence[Lexeme], begin: int) -> bool:
    return any(item.sort == "not" for item in items[max(0, begin - 2) : begin])


def _content_end(items: Sequence[Lexeme], begin: int) -> int:
    """Where what is said ends: before the next "and" or comma that a verb follows."""
    for i in range(begin, len(items)):
        if items[i].sort == "conjunction" or items[i].text == ",":
            after = i + 1
            while after < len(items) and items[after].sort in ("conjunction", "filler", "mark"):
                after += 1
            if after < len(items) and _is_verb(items, after):
                return i
    return len(items)


def _addressee_end(items: Sequence[Lexeme]) -> int:
    """How many items from the first on name whom something is said to; 0 if they do not."""
    i = 0
    while i < len(items) and items[i].sort in ("to", "article", "pose"):
        if items[i].text in _STARTS_CONTENT or items[i].text in (
            "name",
            "pose",
            "number",
            "result",
            "results",
            "answer",
        ):
            return 0
        i += 1
    if i >= len(items) or not (
        items[i].sort in ("me", "person", "people")
        or (items[i].sort == "pronoun" and items[i].value in ("them", "whom"))
    ):
        return 0
    i += 1
    while i < len(items):
        item = items[i]
        if (
            item.sort == "pose"
            or (item.sort == "that" and i + 1 < len(items) and items[i + 1].text in ("is", "are"))
            or (item.sort == "filler" and item.text in ("is", "are", "who", "currently"))
        ):
            i += 1
        elif item.sort in ("at", "from") and (end := _place_end(items, i + 1)):
            i = end
        else:
            break
    return i


def _place_end(items: Sequence[Lexeme], i: int) -> int:
    while i < len(items) and items[i].sort in ("article", "whose", "unknown"):
        i += 1
    return i + 1 if i < len(items) and items[i].sort == "place" else 0


def _begins_addressee(items: Sequence[Lexeme], i: int) -> bool:
    """Whether "to" or "for" and whom something is said to stand at an index."""
    return items[i].text in ("to", "for") and bool(_addressee_end(items[i + 1 :]))
