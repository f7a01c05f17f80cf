"""Plain commands → clauses with everything that is said, or nothing if a word fits nowhere."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.frames import Frames, Unread, Unserved
from nsrecover.instructions.plain.parts import UNSERVED, VERBS, Part, Words
from nsrecover.instructions.sentences.reading import Clause, Phrase, Reading, Verb
from nsrecover.instructions.sentences.words import COMMON, Lexicon
from nsrecover.instructions.task import Refusal, RefusalCode

_ONLY_STATED = re.compile(r"(?:there (?:is|are)|this is|that is|you are|(?:the|a|an) (?:[a-z-]+ ){1,3}(?:is|are)) ")
_CHECKS = re.compile(r"(?:(?:robot|please|can you|could you) )*(?:see|check) (?:if|whether) .*")
_FIRM = ("inspect", "control", "examine", "look at", "check")
_PLACED = re.compile(
    r"(?:it|they|he|she|this|that)(?: is| are| should be| must be| might be| may be| could be| was| were| will be)"
    r"(?: (?:probably|usually|somewhere|still))? "
)
_PRESENT = re.compile(r"there (?:is|are) ")
_WISHED = re.compile(r"i (?:need|want|would like|would love) ")
_MEANT_TO = re.compile(r"i (?:need|want|would like|would love) to [a-z]+ ")
_LOST = re.compile(r"i (?:have )?(?:lost|misplaced|left|forgot) ")
_FEELING = re.compile(r"i am (?:so |very |a bit |really )?[a-z]+(?= |$)")


@dataclass(frozen=True)
class Unservable:
    """What no skill does.

    Attributes:
        refusal: names it.
        firm: whether it stands against a plan of the grammar, which takes such words for others.
    """

    refusal: Refusal
    firm: bool


def read_plainly(sentence: str, lexicon: Lexicon, flips: frozenset[str] = frozenset()) -> Reading | Unservable | None:
    """What a plain command says.

    Args:
        sentence: in English.
        lexicon: the words of the home.
        flips: the doubts of which the less usual side is taken.

    Returns:
        The reading; what no skill does; None if a word fits nowhere, or is none of plain commands.
    """
    words = Words.of(sentence, lexicon)
    text = " ".join(words.words)
    if _CHECKS.fullmatch(text):
        return _unservable(f"I have no skill to {text}.")
    if not words.plain:
        return None
    reader = _Reader(words, Frames(lexicon.home, flips))
    try:
        clauses = reader.read()
    except Unserved as problem:
        return _unservable(str(problem), problem.firm)
    except Unread:
        clauses = []
    if not clauses:
        only = bool(_ONLY_STATED.match(text)) and not any(words.ends)
        return _unservable("There is nothing to do in that.") if only else None
    return Reading(
        sentence,
        tuple(clauses),
        verbs=tuple(clause.verb for clause in clauses),
        corrected=tuple(words.corrected),
        doubts=tuple(reader.frames.doubts),
    )


def _unservable(text: str, firm: bool = False) -> Unservable:
    named = any(text.startswith(f"I have no skill to {verb} ") for verb in _FIRM) and " if " not in text
    named &= not any(f" {word} " in text for word in ("for", "on", "with"))
    return Unservable(Refusal(RefusalCode.NO_SKILL, f"{text} I did nothing."), firm or named)


@dataclass
class _Reader:
    words: Words
    frames: Frames
    clauses: list[Clause] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)

    def read(self) -> list[Clause]:
        words, i = self.words, 0
        while (i := words.opened(i)) < len(words.words):
            i = self._addressed(i)
            stated = self._stated(i)
            i = stated if stated is not None else self._command(i)
        used = {clause.thing.name for clause in self.clauses if clause.thing is not None}
        used |= {clause.target.name for clause in self.clauses if clause.target is not None}
        if self.clauses and not set(self.mentioned) <= used:
            raise Unread
        return self.clauses

    def _addressed(self, i: int) -> int:
        """The index behind a name by which the robot is addressed: "michael, find my book"."""
        words = self.words
        word = words.words[i]
        named = word not in VERBS and word not in UNSERVED and word not in COMMON and word.isalpha() and i == 0
        entry = words.lexicon.entries.get(word)
        named = named and (entry is None or entry.sort == "person")
        after = words.opened(i + 1) if named else i
        follows = after < len(words.words) and (words.longest(after, VERBS) or words.longest(after, UNSERVED))
        return after if named and follows else i

    def _stated(self, i: int) -> int | None:
        """The index behind a statement that begins at a word; None if none does, or it says nothing known."""
        words, rest = self.words, f"{self.words.text(i, len(self.words.words))} "
        for pattern in (_PLACED, _PRESENT, _LOST, _MEANT_TO, _WISHED, _FEELING):
            found = pattern.match(rest)
            if found is None:
                continue
            k = i + len(found[0].split())
            if pattern is _FEELING:
                return k if k >= len(words.words) or words.clause_begins(k) else None
            if pattern is _MEANT_TO and self.words.clause_begins(k):
                return k
            parts = words.parts(k)
            if parts is None:
                return None
            nouns = [part.phrase for part in parts[0] if part.kind in ("np", "and") and part.phrase is not None]
            if len(nouns) > 1 or (pattern is _PLACED and (nouns or not parts[0])):
                raise Unread
            places = [part for part in parts[0] if part.kind in ("at", "near", "from")]
            if pattern is _PLACED:
                self._placed(self.frames.place_of(places), found[0].split()[0] in ("he", "she"))
            elif pattern is _MEANT_TO:
                self.frames.note(*nouns, *(part.phrase for part in places if part.phrase is not None))
            elif nouns:
                self._mentioned(nouns[0], self.frames.place_of(places))
            return parts[1]
        return None

    def _mentioned(self, thing: Phrase, place: Phrase | None) -> None:
        """Note something that a later command has to be about."""
        self.frames.note(thing)
        self.mentioned.append(thing.name)
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
        if i > began:
            parts = [*parts, Part("manner", words.text(began, i))]
        state = next((part.text for part in parts if part.kind == "particle" and part.text in ("on", "off")), "")
        if verb in ("turn", "switch") and state:
            verb, parts = f"turn {state}", [part for part in parts if part.kind != "particle"]
        if verb not in VERBS:
            end = end if parts else len(words.words)
            raise Unserved(f"I have no skill to {words.text(began, end)}.")
        try:
            made = self.frames.clauses(Verb(VERBS[verb]), verb, parts)
        except Unserved as problem:
            raise Unserved(f"I have no skill to {words.text(began, end)}{problem}.", problem.firm) from None
        for clause in made:
            self._add(clause)
        return end

    def _add(self, clause: Clause) -> None:
        """Add a clause, or complete the one before that was only a means to it."""
        last = self.clauses[-1] if self.clauses else None
        taken = clause.verb in (Verb.TAKE, Verb.BRING, Verb.FIND) and clause.thing is not None
        if last is not None and last.verb is Verb.OPEN and taken and clause.source is None:
            clause = replace(clause, source=last.target)
        same = last is not None and last.thing is not None and clause.thing is not None
        same = same and last is not None and clause.thing == last.thing and self.frames.by_pronoun
        if same and last is not None and clause.verb is Verb.FIND and clause.source is not None:
            self.clauses[-1] = replace(last, source=last.source or clause.source)
            return
        means = (Verb.TAKE, Verb.FIND) if clause.verb in (Verb.BRING, Verb.PLACE, Verb.DISCARD) else ()
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
