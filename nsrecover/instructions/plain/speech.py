"""What is said to people, asked, answered and counted: clauses whose text is not taken apart."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.plain.about import Unread, Unserved
from nsrecover.instructions.plain.frames import Frames
from nsrecover.instructions.plain.parts import LYING, Words
from nsrecover.instructions.plain.words import PREPOSITIONS, SPEECH, VERBS, WORDS, listed
from nsrecover.instructions.reading import (
    NAME,
    PEOPLE,
    RESULT,
    THE_OPERATOR,
    Clause,
    Constraint,
    ConstraintKind,
    Phrase,
    Sort,
    Verb,
)

_ANSWERED, _RESULTS = tuple(listed(WORDS["answered"])), frozenset(listed(WORDS["results"]))
_QUESTIONS = frozenset(listed(WORDS["questions"]))
_COUNT = re.compile(
    r"(?:(?:tell|let|inform|show) (?:me|us) (?:know )?|find out |check |see |say |report )?(?:how many|the number of) "
)
_WHERE = re.compile(
    r"(?:(?:tell|show) (?:me|us) |(?:i (?:want|need|would like) to know )|find out |check |see |know )?"
    r"where (?:is|are|did i leave|did i put) "
)
_SOMEWHERE = re.compile(
    r"(?:(?:tell|show) (?:me|us) |find out |check |see )where (?P<thing>.+?) (?:is|are)(?= ?(?:$|[.,!?]|and\b))"
)
_POSE = re.compile(r"(?:what (?:is )?)?(?:the )?(?:pose|gesture|posture) of ")
_NAME = re.compile(r"(?:what (?:is )?)?(?:the )?name of ")
_QUIZ = re.compile(r"(?:(?:the|a|any) )?(?:question|questions|quiz) (?:of|from|by) ")
_ASKED_WHERE = re.compile(
    r"(?:(?:if|whether) (?:he|she|they) knows? )?where (?P<thing>.+?) (?:is|are|might be|could be|may be)(?= |$)"
)
_SEEN = re.compile(
    r"(?:(?:there )?(?:are|is)(?: there)?|(?:can |do )?you (?:can )?(?:see|find|count)|there were)(?= |$)"
)


class Speech:
    """Reads counting, telling, asking and answering.

    Args:
        words: of the sentence.
        frames: what pronouns may mean.
    """

    def __init__(self, words: Words, frames: Frames) -> None:
        self.words, self.frames = words, frames

    def read(self, i: int, before: Sequence[Clause]) -> tuple[list[Clause], int] | None:
        """The clauses that begin at a word, and the index behind them; None if none of these kinds does.

        Args:
            i: the index of the word.
            before: the clauses so far.

        Raises:
            Unread: a word fits nowhere.
            Unserved: no skill finds out what is to be told.
        """
        words, rest = self.words, f"{self.words.text(i, len(self.words.words))} "
        verb = words.longest(i, SPEECH)
        found = bool(before) and before[-1].verb in (Verb.COUNT, Verb.FIND)
        k = i + verb.count(" ") + 1
        if verb and found and (told := self._reported(k)) is not None:
            return told
        if counted := _COUNT.match(rest):
            return self._counted(i + len(counted[0].split()))
        if VERBS.get(words.longest(i, VERBS)) == "count":
            return self._counted(i + len(words.longest(i, VERBS).split()))
        if where := _WHERE.match(rest):
            parts = words.parts(i + len(where[0].split()))
            if parts is None:
                raise Unread
            made = self.frames.clauses(Verb.FIND, "find", parts[0])
            report = Clause(Verb.TELL, person=THE_OPERATOR, content=RESULT)
            return [*made, *([report] if made[0].person is not None else [])], parts[1]
        if where := _SOMEWHERE.match(rest):
            parts = words.parts(i + len(where[0][: where.start("thing")].split()))
            if parts is None or words.text(parts[1], parts[1] + 1) not in ("is", "are"):
                raise Unread
            return self.frames.clauses(Verb.FIND, "find", parts[0]), parts[1] + 1
        match SPEECH.get(verb, ""):
            case "answer":
                asked = _QUIZ.match(f"{words.text(k, len(words.words))} ")
                person, at, end = self._person(k + (len(asked[0].split()) if asked else 0))
                return [Clause(Verb.ANSWER, person=person, person_at=at)], end
            case "say":
                return self._said(k)
            case "tell" | "ask" as kind:
                return self._told(Verb(kind), k)
            case _:
                return None

    def _reported(self, k: int) -> tuple[list[Clause], int] | None:
        """As in "and tell me how many": what was found out before."""
        try:
            person, at, k = self._person(k)
        except Unread:
            person, at = THE_OPERATOR, None
        k += self.words.text(k, k + 1) == "know"
        end = self._end(k)
        if self.words.text(k, end) not in _RESULTS:
            return None
        told = [] if person.name == OPERATOR else [Clause(Verb.TELL, person=person, person_at=at, content=RESULT)]
        return told, end

    def _counted(self, k: int) -> tuple[list[Clause], int]:
        words = self.words
        noun = words.noun(k)
        if noun is None or noun[0].sort not in (Sort.THING, Sort.CATEGORY, *PEOPLE):
            words.failed = max(words.failed, k)
            raise Unread
        phrase, k = noun
        place: Phrase | None = None
        person = phrase if phrase.sort in PEOPLE else None
        while (k < len(words.words) and not words.clause_begins(k)) or _SEEN.match(words.text(k, k + 3)):
            seen = _SEEN.match(words.text(k, k + 3))
            if seen is not None:
                k += len(seen[0].split())
                posed = words.nouns.pose(words.words, k)
                if person is None and words.longest(k, LYING):
                    continue
                if person is not None and posed is not None:
                    person, k = replace(person, sort=Sort.POSED, name=posed[0]), posed[1]
                elif (
                    k < len(words.words)
                    and not words.longest(k, PREPOSITIONS)
                    and words.words[k] not in (".", "?", "!", "and")
                ):
                    end = self._end(k)
                    limit = Constraint(ConstraintKind.QUALITY, words.text(k, end))
                    phrase = replace(phrase, constraints=(*phrase.constraints, limit))
                    k = end
                continue
            after = max(words.skipped(k), k + len(words.longest(k, LYING).split()) * (person is None))
            if after > k:
                k = after
                continue
            part = words.part(k, True)
            if part is None or part[0].kind not in ("at", "from", "with", "near"):
                words.failed = max(words.failed, k)
                raise Unread
            if place is None and part[0].kind in ("at", "from") and part[0].phrase is not None:
                place = part[0].phrase
            else:
                limit = Constraint(ConstraintKind.RELATION, part[0].text)
                phrase = replace(phrase, constraints=(*phrase.constraints, limit))
            k = part[1]
        if person is not None:
            person = replace(person, constraints=phrase.constraints)
        thing = None if person is not None else replace(phrase, plural=True, count="", definite=False)
        return [Clause(Verb.COUNT, thing, place, person=person)], k

    def _person(self, k: int) -> tuple[Phrase, Phrase | None, int]:
        """A person, with where the person is, and the index behind."""
        words = self.words
        noun = words.noun(k) if k < len(words.words) else None
        if self.frames.person is not None and words.text(k, k + 1) in ("him", "her", "them"):
            noun = self.frames.person, k + 1
        if noun is None or noun[0].sort not in PEOPLE:
            words.failed = max(words.failed, k)
            raise Unread
        person, k = noun
        at: Phrase | None = None
        if words.text(k, k + 1) == "there" and self.frames.place is not None:
            at, k = self.frames.place, k + 1
        while k < len(words.words) and (part := words.part(k, True)) is not None and part[0].phrase is not None:
            if part[0].kind in ("at", "from") and part[0].phrase.sort is Sort.PLACE and at is None:
                at = part[0].phrase
            elif part[0].kind in ("at", "with", "near"):
                limit = Constraint(ConstraintKind.CLOTHING, part[0].text, part[0].phrase)
                person = replace(person, constraints=(*person.constraints, limit))
            else:
                break
            k = part[1]
        if words.text(k, k + 3) in (", who is", ", he is", ", she is") and at is None:
            part = words.part(k + 3, True)
            if part is not None and part[0].kind == "at" and part[0].phrase is not None:
                at, k = part[0].phrase, part[1]
                k += words.text(k, k + 1) == ","
        self.frames.note(person)
        return person, at, k

    def _told(self, verb: Verb, k: int) -> tuple[list[Clause], int]:
        words = self.words
        let = words.text(k - 1, k) == "let"
        person, at, k = self._person(k)
        others = list[Phrase]()
        while words.text(k, k + 1) == "and" and (noun := words.noun(k + 1)) is not None and noun[0].sort in PEOPLE:
            others, k = [*others, noun[0]], noun[1]
        if let and words.text(k, k + 1) != "know":
            words.failed = max(words.failed, k)
            raise Unread
        k += words.text(k, k + 1) in ("know", ",")
        rest = f"{words.text(k, len(words.words))} "
        if verb is Verb.TELL and person.name == OPERATOR:
            for pattern, make in ((_POSE, Verb.POSE), (_NAME, Verb.ASK)):
                if about := pattern.match(rest):
                    someone, at, end = self._person(k + len(about[0].split()))
                    content = NAME if make is Verb.ASK else ""
                    told = Clause(Verb.TELL, person=THE_OPERATOR, content=RESULT)
                    return [Clause(make, person=someone, person_at=at, content=content), told], end
        if verb is Verb.ASK and (where := _ASKED_WHERE.match(rest)):
            thing = self._thing(k + len(where[0][: where.start("thing")].split()))
            return [Clause(Verb.ASK_WHERE, thing, person=person, person_at=at)], k + len(where[0].split())
        end = self._end(k) if words.text(k, k + 1) != "to" else self._end_of_request(k)
        content = words.text(k, end)
        if not content and verb is Verb.TELL:
            content = self.frames.said
        if not content or content.startswith(("he is in", "she is in", "he is at", "she is at")):
            words.failed = max(words.failed, k)
            raise Unread
        if verb is Verb.TELL:
            content = self._content(content.removeprefix("that ").removeprefix("about "), person)
        return [Clause(verb, person=each, person_at=at, content=content) for each in (person, *others)], end

    def _thing(self, k: int) -> Phrase:
        """What a question is about."""
        noun = self.words.noun(k)
        phrase = noun[0] if noun is not None else None
        if self.words.text(k, k + 1) in ("it", "they"):
            phrase = self.frames.thing
        if phrase is None or phrase.sort not in (Sort.THING, Sort.CATEGORY):
            self.words.failed = max(self.words.failed, k)
            raise Unread
        self.frames.note(phrase)
        return phrase

    def _said(self, k: int) -> tuple[list[Clause], int]:
        """As in "say hello to the person in the kitchen"; without a person to the operator."""
        words, end = self.words, self._end(k)
        for j in range(end - 1, k, -1):
            if words.words[j] == "to" and (noun := words.noun(j + 1)) is not None and noun[0].sort in PEOPLE:
                person, at, behind = self._person(j + 1)
                content = self._content(words.text(k, j), person)
                return [Clause(Verb.TELL, person=person, person_at=at, content=content)], behind
        raise Unread

    def _content(self, content: str, person: Phrase) -> str:
        """What is told.

        Raises:
            Unserved: it is a question, whose answer no skill finds out.
        """
        first = content.split()[0] if content else ""
        if content in _RESULTS:
            return RESULT
        asks = first in _QUESTIONS or person.name == OPERATOR
        if asks and not content.startswith(_ANSWERED):
            raise Unserved(f"I have no skill to find out '{content}'.")
        return content

    def _end_of_request(self, k: int) -> int:
        """The index at which what a person is told to do ends: a mark, or "and then" before a command."""
        words = self.words
        for j in range(k, len(words.words)):
            after = words.opened(j)
            begins = after < len(words.words) and words.acts(after)
            if words.words[j] in (".", "!", "?", ";") or (begins and "then" in words.words[j:after]):
                return j
        return len(words.words)

    def _end(self, k: int) -> int:
        """The index at which a text ends: a mark, or a conjunction before a command."""
        words = self.words
        for j in range(k, len(words.words)):
            if words.words[j] in (".", "!", "?", ";"):
                return j
            after = words.opened(j)
            if words.text(j, j + 3) in (", he is", ", she is", ", they are") and j > k:
                return j
            begins = after < len(words.words) and words.acts(after)
            if j > k and words.words[j] in ("and", "then", ",") and begins and words.text(after + 1, after + 2) != "is":
                return j
            if j > k and words.words[j] in ("please", "thank", "thanks", ",") and after >= len(words.words):
                return j
        return len(words.words)
