"""Which words of a sentence its clauses leave out: they may change what is to be done, and the robot asks."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import Discourse
from nsrecover.instructions.sentences.pieces import Piece
from nsrecover.instructions.sentences.reading import THINGS, Clause, Phrase, Sort, Verb

MOST_UNKNOWN = 0.4
"""Share of words that may be unknown in a sentence that is acted on."""


def uncovered(d: Discourse, pieces: Sequence[Piece], clauses: Sequence[Clause]) -> list[str]:
    """The objects, places and people of a sentence that are in no clause and in nothing that is told or asked."""
    names = {phrase.name for clause in clauses for phrase in clause.phrases}
    if d.operator_at is not None:
        names.add(d.operator_at.name)
    left = []
    for piece in pieces:
        for item in piece.items:
            if item.kind != "np" or item.phrase is None or item.start in d.settled:
                continue
            for phrase in (item.phrase, item.at):
                if phrase is None or phrase.sort is Sort.PRONOUN or phrase.name in ("person", OPERATOR):
                    continue
                if phrase.name not in names and not _harmless(d, piece, phrase, clauses):
                    left.append(d.said([item]))
    return left


def _harmless(d: Discourse, piece: Piece, phrase: Phrase, clauses: Sequence[Clause]) -> bool:
    """Whether a noun that is in no clause is in a denial of its like, a part of a name, or in a reason."""
    if phrase.name in d.home.rooms and len(clauses) and not d.home.places[phrase.name].leads_to:
        inside = [each.name for clause in clauses for each in clause.phrases if each.name in d.home.places]
        if any(d.home.inside(name, phrase.name) for name in inside):
            return True
    story = any(item.kind == "i" for item in piece.content[:2])
    past = any(item.verb("past") and not item.may("put") and not item.may("lose") for item in piece.items)
    busy = any(item.verb("ing") and (item.may("consume") or item.value == Verb.OTHER) for item in piece.items)
    if busy and phrase.sort in THINGS and any(item.text in ("is", "are", "am") for item in piece.items):
        return True  # "alex is watching football"
    own = story and any(item.value == Verb.OTHER for item in piece.items)  # "I have to wipe the table"
    if own and not any(item.kind == "you" for item in piece.items):
        return True
    if phrase.sort is Sort.PLACE:
        return (story and past) or any(
            phrase.name in each.name.split() for clause in clauses for each in clause.phrases
        )
    denied = any(item.kind == "not" for item in piece.items)
    things = [clause.thing for clause in clauses if clause.thing is not None]
    if denied:
        return any(d.home.kind(each.name) == d.home.kind(phrase.name) and each.words for each in things)
    return (story or piece.sub == "reason") and phrase.sort in THINGS and not any(item.is_place for item in piece.items)
