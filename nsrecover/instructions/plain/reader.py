"""Commands → clauses with everything that is said, or an answer that names the words that fit nowhere."""

from __future__ import annotations

import re
from dataclasses import replace

from nsrecover.instructions.plain.about import Unread, Unserved
from nsrecover.instructions.plain.frames import Frames
from nsrecover.instructions.plain.parts import Part, Words
from nsrecover.instructions.plain.speech import Speech
from nsrecover.instructions.plain.statements import Statements
from nsrecover.instructions.plain.words import CONDITIONS, UNSERVED, VERBS, Lexicon
from nsrecover.instructions.reading import Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.task import Question, Refusal, RefusalCode

_VAGUE = re.compile(
    r"(?:[a-z]+ ){0,6}?(?P<said>one of them|some of them|(?:a few |some )?of those|those|that thing|"
    r"that stuff|where they belong|the [a-z]+ one|somewhere else|the usual|the same|the other|"
    r"it(?! is\b)|them|him|her|this|elsewhere|(?<!is )(?<!are )there(?! is\b| are\b))(?![a-z'-])"
)
_PERSONAL, _FAR = ("him", "her"), ("there", "elsewhere", "somewhere else")
_ONLY_STATED = re.compile(r"(?:there (?:is|are)|this is|that is|you are|(?:the|a|an) (?:[a-z-]+ ){1,3}(?:is|are)) ")
_CHECKS = re.compile(r"(?:(?:robot|please|can you|could you) )*(?:see|check) (?:if|whether) .*")


def read_plainly(sentence: str, lexicon: Lexicon, flips: frozenset[str] = frozenset()) -> Reading | Question | Refusal:
    """What a command says.

    Args:
        sentence: in English.
        lexicon: the words of the home.
        flips: the doubts of which the less usual side is taken.

    Returns:
        The reading; a question about a pronoun that stands for nothing said before; or an answer that names what no
        skill does, or the words that fit nowhere.
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
        if said := reader.unclear(rest):
            return Question(f"What do you mean by '{said}'?", Phrase(Sort.PRONOUN, said))
        return Refusal(
            RefusalCode.NOT_UNDERSTOOD, f"I did not understand '{rest}'. I did nothing; say it in other words."
        )
    return Reading(
        sentence,
        tuple(clauses),
        corrected=tuple(words.corrected),
        operator_at=reader.operator_at,
        doubts=tuple(reader.frames.doubts),
        background=tuple(reader.background),
    )


def _again(clause: Clause, before: Clause) -> bool:
    """Whether a clause says what the one before it says: "it belongs on the desk, put it there"."""
    return clause == before or (
        clause.verb is Verb.PLACE is before.verb and clause.thing == before.thing and clause.target == before.target
    )


class _Reader(Statements):
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
        met = self._fetched([self._met(clause) for clause in self.clauses])
        return [clause for k, clause in enumerate(met) if not k or not _again(clause, met[k - 1])]

    def _fetched(self, clauses: list[Clause]) -> list[Clause]:
        """Clauses in which who is fetched is guided: "pick up Robin in the study and lead him to the entrance".

        Raises:
            Unread: it is not said where to bring a person.
        """
        fetched = self.frames.fetched
        if fetched is None:
            return clauses
        for k, clause in enumerate(clauses[:-1]):
            after = clauses[k + 1]
            if clause.verb is Verb.FIND and clause.person == fetched == after.person and after.verb is Verb.GUIDE:
                return [*clauses[:k], replace(after, person_at=after.person_at or clause.person_at), *clauses[k + 2 :]]
        raise Unread

    def _met(self, clause: Clause) -> Clause:
        """A clause with where its person was said to be."""
        at = self.frames.where.get(clause.person.name) if clause.person is not None else None
        if at is None or clause.person_at is not None or clause.verb is Verb.GO:
            return clause
        return replace(clause, person_at=at)

    def unclear(self, rest: str) -> str:
        """The pronoun or vague word at the begin of words that were not understood, if it stands for nothing said."""
        found = _VAGUE.match(rest)
        if found is None:
            return ""
        said = found["said"]
        known = self.frames.person if said in _PERSONAL else self.frames.place if said in _FAR else self.frames.thing
        return said if known is None else ""

    def _ends_at(self, i: int) -> None:
        """Check that nothing of a clause is left over."""
        i = self.words.skipped(i)
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

    def _command(self, i: int) -> int:
        words, began = self.words, i
        if words.longest(i, CONDITIONS):
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
