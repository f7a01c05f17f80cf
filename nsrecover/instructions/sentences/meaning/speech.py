"""Commands to tell, to report and to ask: to whom, and what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import NAME, OPERATOR_PHRASE, RESULT
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.meaning.questions import question_of
from nsrecover.instructions.sentences.pieces import Piece
from nsrecover.instructions.sentences.reading import Clause, Phrase, Sort, Verb
from nsrecover.instructions.sentences.verbs import TaskVerbs
from nsrecover.instructions.sentences.words import GRAMMAR, listed

CORRECTIONS = frozenset(listed(GRAMMAR["corrections"]))
"""How somebody says that what was said before is wrong."""
_ABOUT_RESULTS = frozenset(
    ("number", "result", "results", "answer", "how", "it", "many", "found", "what", "where", "back", "outcome")
)
_REFERRING = ("it", "that", "this", "them", "the result", "the answer", "it back", "so", "about it", "about that")


class Speech(TaskVerbs):
    """Reads commands to tell, to report and to ask."""

    def _content_end(self, i: int) -> int:
        """The index behind the last piece that goes on with what is told or asked."""
        end = i + 1
        while end < len(self.pieces):
            piece = self.pieces[end]
            if piece.mark in (".", "!", "?", ";") or self._verb(piece) is not None or not piece.content:
                break
            corrected = self.d.said(piece.items) in CORRECTIONS
            if any(each.kind == "ensure" for each in piece.items) or _whereabouts(piece) or corrected:
                break
            if piece.sub in ("after", "before", "when") and piece.link == "":
                pass
            end += 1
        return end

    def _speech(self, i: int, verb: Verb, rest: list[Element]) -> int:
        """Read a clause of telling or asking; returns the index of the next piece."""
        d = self.d
        end = self._content_end(i)
        lead = [each for each in rest if each.is_place and each.prep and rest.index(each) == 0]
        more = [each for piece in self.pieces[i + 1 : end] for each in piece.items]
        k = self._addressee(rest)
        person = person_at = None
        also: list[Element] = []
        content = list(rest)
        if k is not None:
            item = rest[k]
            person = d.resolved(item, verb)
            person_at = item.at
            stop = k + 1
            while stop < len(rest) and rest[stop].is_person and rest[stop].prep in ("", item.prep):
                also, stop = [*also, rest[stop]], stop + 1
            if stop < len(rest) and rest[stop].is_place and rest[stop].prep in ("at", "from") and person_at is None:
                person_at, stop = rest[stop].phrase, stop + 1
            content = [*rest[:k], *rest[stop:]]
        if lead and person_at is None and lead[0] in content:
            person_at = lead[0].phrase
            content.remove(lead[0])
        if person is not None and person.sort is Sort.PRONOUN:
            d.unclear(rest[k or 0])
            return end
        self._said(verb, person, person_at, [*content, *more])
        for each in also:
            if d.entries:
                d.add(replace(d.entries[-1].clause, person=each.phrase, person_at=each.at))
        return end

    def _addressee(self, rest: Sequence[Element]) -> int | None:
        """The index of the person whom something is said to."""

        def fits(each: Element, *preps: str) -> bool:
            named = each.is_person or (each.is_pronoun and each.text in ("him", "her", "them"))
            return each.kind == "np" and each.prep in preps and named

        for k, each in enumerate(rest):
            if fits(each, "", "to", "with", "from", "for", "of"):
                return k
            if each.kind not in ("filler", "to") and not (each.is_place and k == 0):
                break
        behind = range(len(rest) - 1, -1, -1)
        found = next((k for k in behind if fits(rest[k], "to")), None)
        return found if found is not None else next((k for k in behind if fits(rest[k], "for", "from", "with")), None)

    def _inner_content(self, content: Sequence[Element]) -> str:
        text = self.d.said(content)
        for start in ("that ", "about "):
            text = text.removeprefix(start)
        return text

    def _said(self, verb: Verb, person: Phrase | None, person_at: Phrase | None, content: Sequence[Element]) -> None:
        d = self.d
        text = self._inner_content(content)
        d.settled |= {each.start for each in content}
        words = set(text.split())
        if verb is Verb.ASK:
            whom = person or d.person
            if whom is None or whom.name == OPERATOR:
                d.unclear(*content[:1])
                return
            things = [each for each in content if each.is_thing or (each.is_pronoun and each.text == "it")]
            if things and (words & {"where", "seen", "whereabouts", "location"}):
                thing = d.resolved(things[0], Verb.FIND)
                d.add(Clause(Verb.ASK_WHERE, thing=thing, person=whom, person_at=person_at))
            elif words & {"name", "names", "called"} and not words & {"my", "your"}:
                d.add(Clause(Verb.ASK, person=whom, person_at=person_at, content=NAME))
            else:
                d.add(Clause(Verb.ASK, person=whom, person_at=person_at, content=text or d.statement))
            return
        clauses = question_of(d, content) if content else None
        last = d.entries[-1].clause.verb if d.entries else None
        met = d.entries[-1].clause.person if last in (Verb.FIND, Verb.BRING) else None
        whom = person or (met if met is not None and verb is Verb.TELL and text and not clauses else OPERATOR_PHRASE)
        found_out = (Verb.COUNT, Verb.ASK, Verb.POSE, Verb.FIND, Verb.ASK_WHERE, Verb.CHECK)
        if clauses:
            for clause in clauses[:-1]:
                d.add(clause)
            d.add(Clause(Verb.TELL, person=whom, person_at=person_at, content=RESULT))
            return
        refers = not text or text in _REFERRING
        about = d.entries[-1].clause.content == RESULT if d.entries else False
        if refers and last is Verb.TELL and about and (d.entries[-1].belief or whom == OPERATOR_PHRASE):
            d.entries[-1].clause = replace(d.entries[-1].clause, person=whom, person_at=person_at)
            return
        if ((last in found_out or (last is Verb.TELL and about)) and (refers or words & _ABOUT_RESULTS)) or (
            refers and verb is Verb.REPORT and last is not None
        ):
            text = RESULT
        elif refers:
            text = d.statement
            d.settled |= d.stated
        if not text and not any(entry.indirect and entry.clause.verb is Verb.TELL for entry in d.entries):
            d.unexplained.append("tell")
            return
        d.add(Clause(Verb.TELL, person=whom, person_at=person_at, content=text))


def _whereabouts(piece: Piece) -> bool:
    """Whether a piece only says where a person is: ", she is in the bedroom"."""
    content = piece.content
    if piece.mark != "," or piece.link or len(content) < 3:
        return False
    who, where = content[0], content[-1]
    rest = content[1:-1]
    pronoun = who.is_pronoun and who.text in ("he", "she", "they")
    return pronoun and where.is_place and where.prep == "at" and all(each.kind in ("aux", "must") for each in rest)
