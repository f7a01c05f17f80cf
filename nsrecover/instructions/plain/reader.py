"""Commands → clauses with everything that is said, or an answer that names the words that fit nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.about import Unread, Unserved
from nsrecover.instructions.plain.frames import Frames
from nsrecover.instructions.plain.parts import Part, Words
from nsrecover.instructions.plain.speech import Speech
from nsrecover.instructions.plain.words import PREPOSITIONS, UNSERVED, VERBS, WORDS, Lexicon, listed
from nsrecover.instructions.reading import THE_OPERATOR, THINGS, Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.task import Refusal, RefusalCode

_CONDITIONS = frozenset(listed(WORDS["conditions"]))
_ONLY_STATED = re.compile(r"(?:there (?:is|are)|this is|that is|you are|(?:the|a|an) (?:[a-z-]+ ){1,3}(?:is|are)) ")
_CHECKS = re.compile(r"(?:(?:robot|please|can you|could you) )*(?:see|check) (?:if|whether) .*")
_PLACED = re.compile(
    r"(?:it|they|he|she|this|that)(?: is| are| should be| must be| might be| may be| could be| was| were| will be)"
    r"(?: (?:probably|usually|somewhere|still))? "
)
_PRESENT = re.compile(r"there (?:is|are) ")
_WISHED = re.compile(
    r"(?P<who>i|[a-z]+) (?:needs?|wants?|would like|would love|could use)(?: to have| to get)? |"
    r"(?:can|could|may|might) (?P<who_2>i|[a-z]+) (?:please )?(?:have|get) "
)
_MEANT_TO = re.compile(r"i (?:need|want|would like|would love) to [a-z]+ ")
_LOST = re.compile(
    r"(?P<who>i|we|he|she|they|(?:the |my )?[a-z]+) (?:have |has )?"
    r"(?:lost|misplaced|left|forgot|put|dropped|can not find|saw) "
)
_LIES = re.compile(
    r"(?:is|are|lies|stands|must be|might be|should still be) (?:still |probably |somewhere )?(?=on|in|at|inside)"
)
_BELONGS = re.compile(
    r"(?:belongs?|goes|go|should (?:be|go)|(?:has|have|needs?|must|ought) (?:to )?(?:be|go)) (?=on|in|at|to|back|into)"
)
_KNOWN = re.compile(
    r"(?P<who>[a-z]+) (?:might|may|should|could|will|probably)? ?knows? (?:where (?:it|they) (?:is|are)|that|it)(?= |$)"
)
_LATER = re.compile(r"i will (?:be|wait|rest|sit|stay|have (?:some|a) rest) ")
_BACKGROUND = re.compile(r"(?:because|since|i am|i feel|i have|we have|we are|it is) ")


def read_plainly(sentence: str, lexicon: Lexicon, flips: frozenset[str] = frozenset()) -> Reading | Refusal:
    """What a command says.

    Args:
        sentence: in English.
        lexicon: the words of the home.
        flips: the doubts of which the less usual side is taken.

    Returns:
        The reading; or an answer that names what no skill does, or the words that fit nowhere.
    """
    words = Words.of(sentence, lexicon)
    text = " ".join(words.words)
    if _CHECKS.fullmatch(text):
        return Refusal(RefusalCode.NO_SKILL, f"I have no skill to {text}. I did nothing.")
    reader = _Reader(words, Frames(lexicon.home, flips))
    try:
        clauses = reader.read()
    except Unserved as problem:
        return Refusal(RefusalCode.NO_SKILL, f"{problem} I did nothing.")
    except Unread:
        clauses = []
    if not clauses:
        if _ONLY_STATED.match(text) and not any(words.ends):
            return Refusal(RefusalCode.NO_SKILL, "There is nothing to do in that. I did nothing.")
        rest = words.text(words.failed, words.end(words.failed + 1)) or text
        return Refusal(
            RefusalCode.NOT_UNDERSTOOD, f"I did not understand '{rest}'. I did nothing; say it in other words."
        )
    return Reading(
        sentence,
        tuple(clauses),
        corrected=tuple(words.corrected),
        operator_at=reader.operator_at,
        doubts=tuple(reader.frames.doubts),
    )


@dataclass
class _Reader:
    words: Words
    frames: Frames
    clauses: list[Clause] = field(default_factory=list)
    mentioned: list[Phrase] = field(default_factory=list)
    operator_at: Phrase | None = None
    lost: bool = False
    wish: Clause | None = None

    def read(self) -> list[Clause]:
        """The clauses of the sentence.

        Raises:
            Unread: a word fits nowhere.
            Unserved: no skill does what is said.
        """
        words, i, speech = self.words, 0, Speech(self.words, self.frames)
        while (i := words.opened(i)) < len(words.words):
            words.failed = max(words.failed, i)
            i = self._addressed(i)
            spoken = speech.read(i, self.clauses)
            if spoken is not None:
                self.clauses += spoken[0]
                i = spoken[1]
                self._ends_at(i)
                continue
            after = self._wished(i) or self._stated(i)
            i = after if after is not None else self._command(i)
        if not self.clauses and len(self.mentioned) == 1 and self.lost:
            return [Clause(Verb.FIND, self.mentioned[0], self.frames.where.get(self.mentioned[0].name))]
        used = {phrase.name for clause in self.clauses for phrase in clause.phrases}
        for phrase in self.mentioned:
            if self.clauses and phrase.name not in used:
                words.failed = next((k for k, each in enumerate(words.words) if each == phrase.name.split()[0]), 0)
                raise Unread
        return self.clauses

    def _ends_at(self, i: int) -> None:
        """Check that nothing of a clause is left over."""
        if i < len(self.words.words) and not self.words.clause_begins(i):
            self.words.failed = max(self.words.failed, i)
            raise Unread

    def _addressed(self, i: int) -> int:
        """The index behind a name by which the robot is addressed: "michael, find my book"."""
        words = self.words
        word = words.words[i]
        entry = words.lexicon.entries.get(word)
        named = (
            i == 0
            and word.isalpha()
            and (entry.sort == "person" if entry is not None else not words.lexicon.known(word))
        )
        after = words.opened(i + 1) if named else i
        follows = after < len(words.words) and (words.longest(after, VERBS) or words.longest(after, UNSERVED))
        return after if named and follows else i

    def _wished(self, i: int) -> int | None:
        """The index behind a wish that begins at a word: "i would like a cola", "ashley needs the milk"."""
        words = self.words
        rest = f"{words.text(i, len(words.words))} "
        found = _WISHED.match(rest)
        if found is None or _MEANT_TO.match(rest):
            return None
        who = found["who"] or found["who_2"]
        person = THE_OPERATOR if who == "i" else Phrase(Sort.PERSON, who) if who in words.lexicon.home.people else None
        parts = words.parts(i + len(found[0].split()))
        if person is None or parts is None:
            raise Unread
        given = [] if who == "i" else [Part("to", f"to {who}", person)]
        for clause in self.frames.clauses(Verb.BRING, "want", [*parts[0], *given]):
            self._add(clause)
            self.wish = clause
        self.frames.note(person)
        return parts[1]

    def _stated(self, i: int) -> int | None:
        """The index behind a statement that begins at a word; None if none does, or it says nothing known."""
        words = self.words
        rest = f"{words.text(i, len(words.words))} "
        if (known := _KNOWN.match(rest)) and known["who"] in words.lexicon.home.people:
            self.frames.note(Phrase(Sort.PERSON, known["who"]))
            return i + len(known[0].split())
        for pattern in (_LATER, _PLACED, _PRESENT, _LOST, _MEANT_TO):
            found = pattern.match(rest)
            if found is None:
                continue
            k = i + len(found[0].split())
            if pattern is _LATER:
                return self._later(k)
            if pattern is _MEANT_TO and words.clause_begins(k):
                return k
            parts = words.parts(k)
            if parts is None:
                break
            nouns = [part.phrase for part in parts[0] if part.kind in ("np", "and") and part.phrase is not None]
            if len(nouns) > 1 or (pattern is _PLACED and (nouns or not parts[0])):
                raise Unread
            if pattern is _LOST and not nouns:
                break
            places = [part for part in parts[0] if part.kind in ("at", "near", "from")]
            place = self.frames.place_of(places)
            if place is None and any(part.kind != "near" for part in places):
                raise Unread
            if (
                pattern is _PLACED
                and "should be" in found[0]
                and self.frames.thing is not None
                and self.frames.thing.name in self.frames.where
            ):
                return self._described(i)
            if pattern is _PLACED:
                self._placed(place, found[0].split()[0] in ("he", "she"))
            elif pattern is _MEANT_TO:
                self.frames.note(*nouns, *(part.phrase for part in places if part.phrase is not None))
            elif nouns:
                self.lost = pattern is _LOST and found["who"] in ("i", "we")
                self._mentioned(nouns[0], place)
            return parts[1]
        return self._background(i) if _BACKGROUND.match(rest) else self._described(i)

    def _described(self, i: int) -> int | None:
        """The index behind where a thing is or belongs: "the cup is on the desk", "it should go into the sink"."""
        words = self.words
        noun = (self.frames.thing, i + 1) if words.words[i] in ("it", "that") else words.noun(i)
        if noun is None or noun[0] is None or noun[0].sort not in THINGS:
            return None
        phrase, k = noun[0], noun[1]
        located = words.part(k, True) if words.longest(k, PREPOSITIONS) else None
        where = located[0].phrase if located is not None else None
        if located is not None and where is not None and where.sort is Sort.PLACE and located[0].kind == "at":
            self.frames.where[phrase.name], k = where, located[1]
        if (
            words.text(k, k + 1) in ("is", "are")
            and words.text(k + 1, k + 2) in words.nouns.harmless
            and words.clause_begins(k + 2)
        ):
            self._mentioned(phrase, where)
            return k + 2
        rest = f"{words.text(k, len(words.words))} "
        lies, belongs = _LIES.match(rest), _BELONGS.match(rest)
        found = lies or belongs
        parts = words.parts(k + len(found[0].split())) if found else None
        if found is None or parts is None:
            return None
        owner = next(
            (part.phrase for part in parts[0] if part.phrase is not None and part.phrase.sort is Sort.PERSON), None
        )
        if owner is not None:
            self._mentioned(phrase, where)
            self.frames.note(owner)
        elif belongs is not None and lies is None:
            goal = [replace(part, kind="to") if part.kind == "at" else part for part in parts[0]]
            for clause in self.frames.clauses(Verb.PLACE, "put", [Part("np", phrase.text, phrase), *goal]):
                self._add(clause)
        elif (place := self.frames.place_of(parts[0])) is not None:
            self._mentioned(phrase, place)
        else:
            return None
        return parts[1]

    def _later(self, k: int) -> int:
        """The index behind where the operator says to be later."""
        words = self.words
        if words.text(k, k + 1) == "there":
            self.operator_at, k = self.frames.place, k + 1
        elif (part := words.part(k, False)) is not None and part[0].phrase is not None and part[0].kind == "at":
            self.operator_at, k = part[0].phrase, part[1]
        if self.operator_at is None or self.operator_at.sort is not Sort.PLACE:
            raise Unread
        return k + (3 if words.text(k, k + 3) in ("in a moment", "in a minute", "in a second") else 0)

    def _background(self, i: int) -> int | None:
        """The index behind a reason, in which nothing of the home is named: "i am tired so"."""
        words, end = self.words, self.words.end(i)
        end = next((k for k in range(i + 1, end) if words.ends[k] or self._joins(k)), end)
        sorts = {
            entry.sort
            for k in range(i, end)
            for size in (1, 2)
            if (entry := words.lexicon.entries.get(words.text(k, k + size)))
        }
        denied = {"not", "no", "only", "never"} & set(words.words[i:end])
        return None if sorts - {"pose", "people"} or denied else end

    def _joins(self, k: int) -> bool:
        """Whether a word is an "and" before something that is said for itself."""
        return self.words.words[k] == "and" and self.words.clause_begins(k + 1)

    def _mentioned(self, thing: Phrase, place: Phrase | None) -> None:
        """Note something that a later command has to be about."""
        self.frames.note(thing)
        self.mentioned.append(thing)
        if place is not None:
            self.frames.where[thing.name] = place

    def _placed(self, place: Phrase | None, person: bool) -> None:
        """As in "it should be on the nightstand", "she is in the study"."""
        thing = self.frames.person if person else self.frames.thing
        if place is None or thing is None:
            raise Unread
        self.frames.where.setdefault(thing.name, place)
        for k, clause in enumerate(self.clauses):
            if person and clause.person == thing and clause.person_at is None and clause.verb is not Verb.GO:
                self.clauses[k] = replace(clause, person_at=place)
            elif clause.thing is not None and clause.thing.name == thing.name and clause.source is None:
                self.clauses[k] = replace(clause, source=place)

    def _command(self, i: int) -> int:
        words, began = self.words, i
        if words.longest(i, _CONDITIONS):
            raise Unserved(f"I cannot take '{words.text(i, words.end(i))}' into account.")
        negated = words.longest(i, frozenset(("do not", "never")))
        i += len(negated.split())
        i += len(words.manner(i).split())
        verb = words.verb(i)
        again = not verb and bool(self.clauses) and self.clauses[-1].verb is Verb.GO and words.goes_on(i)
        if not verb and not again:
            raise Unread
        k, verb = (i, "go") if again else (i + verb.count(" ") + 1, verb)
        found = words.parts(k) if k < len(words.words) else ([], k)
        if found is None or (found[1] < len(words.words) and not words.clause_begins(found[1])):
            if verb in UNSERVED and verb not in ("turn", "switch"):
                raise Unserved(f"I have no skill to {words.text(began, len(words.words))}.")
            raise Unread
        parts, end = found
        if words.manner(began):
            parts = [*parts, Part("manner", words.manner(began))]
        states = (f"{verb} {part.text}" for part in parts if part.kind == "particle" and verb in UNSERVED)
        if state := next((each for each in states if each in VERBS), ""):
            verb, parts = state, [part for part in parts if part.kind != "particle"]
        meant = VERBS.get(verb)
        if meant == "discard":
            parts, meant = [*parts, self._bin()], "place"
        if meant is None:
            end = end if parts else len(words.words)
            raise Unserved(f"I have no skill to {words.text(began, end)}.")
        try:
            made = self.frames.clauses(Verb(meant), verb, parts)
        except Unserved as problem:
            raise Unserved(f"I have no skill to {words.text(began, end)}{problem}.") from None
        for clause in made:
            if negated:
                self.clauses.append(replace(clause, negated=True))
            else:
                self._add(clause)
        return end

    def _bin(self) -> Part:
        """Where what is thrown away goes.

        Raises:
            Unserved: the home has no such place.
        """
        name = next((each for each in self.words.lexicon.home.places if each.endswith(("bin", "trash can"))), "")
        if not name:
            raise Unserved("I know no place for what is thrown away.")
        return Part("to", f"into the {name}", Phrase(Sort.PLACE, name))

    def _add(self, clause: Clause) -> None:
        """Add a clause, or complete the one before that was only a means to it."""
        last = self.clauses[-1] if self.clauses else None
        taken = clause.verb in (Verb.TAKE, Verb.BRING, Verb.FIND) and clause.thing is not None
        if last is not None and last.verb is Verb.OPEN and taken and clause.source is None:
            clause = replace(clause, source=last.target)
        if last is not None and last is self.wish and clause.thing is not None and last.thing == clause.thing:
            wished = replace(last, source=last.source or clause.source)
            means_to = clause.verb in (Verb.TAKE, Verb.FIND)
            self.clauses[-1] = wished if means_to else replace(clause, source=clause.source or last.source)
            return
        same = last is not None and last.thing is not None and clause.thing is not None
        same = same and last is not None and clause.thing == last.thing and self.frames.by_pronoun
        if same and last is not None and clause.verb is Verb.FIND and clause.source is not None:
            self.clauses[-1] = replace(last, source=last.source or clause.source)
            return
        means = (Verb.TAKE, Verb.FIND) if clause.verb in (Verb.BRING, Verb.PLACE) else ()
        fetched = (
            last is not None and last.verb is Verb.BRING and last.person is not None and last.person.name == OPERATOR
        )
        if same and last is not None and (last.verb in means or (fetched and clause.verb in (Verb.BRING, Verb.PLACE))):
            self.frames.settle(last)
            moved = replace(
                clause, source=clause.source or last.source, constraints=(*last.constraints, *clause.constraints)
            )
            self.clauses[-1] = moved
            return
        self.clauses.append(clause)
