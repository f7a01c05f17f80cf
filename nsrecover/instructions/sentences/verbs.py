"""The verb of a piece that says what the robot is to do: "could you bring", "it would be nice to get", "bring"."""

from __future__ import annotations

from collections.abc import Sequence

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.discourse import Discourse
from nsrecover.instructions.sentences.elements import PREPOSITIONS, Element
from nsrecover.instructions.sentences.pieces import Piece
from nsrecover.instructions.sentences.reading import Phrase, Verb
from nsrecover.instructions.sentences.words import Lexicon

_ATTITUDES = frozenset(("mind", "able", "willing", "manage", "possible", "trouble", "like", "that", "ready"))

_SAYING = (Verb.ASK, Verb.TELL)


class TaskVerbs:
    """Finds the verbs that say what the robot is to do.

    Args:
        lexicon: the words.
        d: what was said so far.
        pieces: of the sentence.
    """

    def __init__(self, lexicon: Lexicon, d: Discourse, pieces: list[Piece]) -> None:
        self.lexicon, self.d, self.pieces = lexicon, d, pieces
        self.correcting = self.ensuring = self.last = False
        self.subject: list[Element] = []
        self.background: list[Piece] = []
        self.asker: Phrase | None = None

    def _verb(self, piece: Piece) -> tuple[int, bool] | None:
        """The index of the verb that says what the robot is to do, and whether it is not to; None without one."""
        items = piece.items
        for y in range(len(items) - 1, -1, -1):
            if items[y].kind == "you" and (found := self._told(piece, y)) is not None:
                return found
        k, negated = 0, False
        while k < len(items):
            item = items[k]
            if (
                item.kind in ("filler", "that")
                or (item.kind == "np" and item.prep in PREPOSITIONS)
                or item.text in ("do", "let's")
                or (item.kind == "to" and piece.link == "and" and k == 0)
            ):
                k += 1
            elif item.kind == "not" and k + 1 < len(items) and items[k + 1].kind in ("verb", "filler"):
                negated, k = True, k + 1
            else:
                break
        if k < len(items) and items[k].kind == "verb" and self._is_task(items[k]):
            if items[k].verb("base") and piece.sub in ("", "reason", "condition", "when", "after", "before"):
                return k, negated
            if items[k].verb("ing") and piece.sub in ("after", "before", "when") and self._beside_task(piece):
                return k, negated
        return self._wrapped(piece)

    def _beside_task(self, piece: Piece) -> bool:
        """Whether a command stands before or behind a piece."""
        k = next((k for k, each in enumerate(self.pieces) if each is piece), None)
        if k is None:
            return False
        others = [each for each in (self.pieces[k - 1] if k else None, *self.pieces[k + 1 : k + 2]) if each is not None]
        return any(self._verb(each) is not None for each in others if not each.sub)

    @staticmethod
    def _is_task(item: Element) -> bool:
        return item.lexeme is not None and (bool(item.value) or item.may("help"))

    def _told(self, piece: Piece, y: int) -> tuple[int, bool] | None:
        """The verb behind "you": "could you bring", "I want you to bring", "you should bring"."""
        items = piece.items
        k, negated, aux, must = y + 1, False, list[str](), False
        while k < len(items) and (
            items[k].kind in ("filler", "aux", "must", "not", "to") or items[k].text in _ATTITUDES
        ):
            negated = negated or items[k].kind == "not"
            must = must or items[k].kind in ("must", "to")
            aux += [items[k].text] if items[k].kind == "aux" else []
            k += 1
        if k >= len(items) or items[k].kind != "verb" or not self._is_task(items[k]):
            return None
        verb, prefix = items[k], items[:y]
        foreign = [
            item
            for item in prefix
            if item.kind == "np" and not item.is_pronoun and item.phrase is not None and item.phrase.name != OPERATOR
        ]
        if foreign:
            return (k, negated) if self._reported(prefix, foreign) else None
        inverted = [item.text for item in prefix if item.kind == "aux"]
        asked = bool(inverted) and not any(item.kind == "i" for item in prefix)
        begged = bool(set(aux) & {"could", "can", "would"}) or any(item.text == "why" for item in prefix)
        if asked and inverted[-1] in ("have", "has", "do", "did", "does") and not must and not begged:
            return None
        located = not prefix and bool(set(aux) & {"will", "can", "may", "might", "should"}) and not must
        if located and verb.value == Verb.FIND:
            return None
        if piece.sub == "condition" and not (set(aux) & {"could", "would", "can"} or verb.verb("past")):
            return None
        if piece.sub in ("when", "reason", "while") and not verb.verb("past"):
            return None
        polite = any(item.text in ("would", "could", "can", "why", "will") for item in prefix)
        refused = any(item.kind == "not" for item in prefix) and not polite
        return k, (negated and not asked) or refused

    def _reported(self, prefix: Sequence[Element], foreign: Sequence[Element]) -> bool:
        """Whether a person wants or was promised what follows: "ashley asked whether", "I promised ashley that"."""
        who = foreign[0]
        says = [item for item in prefix if item.verb()]
        content = [item for item in prefix if item.kind not in ("filler", "aux", "that", "wh", "must", "to")]
        named = who.is_person and not who.prep and all(item is who or item.is_place for item in foreign)
        would = any(item.kind == "aux" for item in prefix)
        reports = says and all(
            (would or item.verb("past", "third")) and (item.may("want") or item.may("promise") or item.value in _SAYING)
            for item in says
        )
        if not named or not reports or content[0].kind not in ("i", "np") or content[0].prep:
            return False
        self.d.note(who.phrase)
        at = who.at or next((item.phrase for item in foreign if item.is_place), None)
        if who.phrase is not None and at is not None:
            self.d.locate(who.phrase, at)
        self.asker = who.phrase if content[0] is who else None
        return True

    def _wrapped(self, piece: Piece) -> tuple[int, bool] | None:
        """The verb behind words that only ask politely: "would it be possible to bring", "how about bringing"."""
        items = piece.items
        plain = (
            "aux",
            "filler",
            "unknown",
            "word",
            "wh",
            "of",
            "about",
            "particle",
            "not",
            "that",
            "possessive",
            "article",
            "must",
        )
        for k, item in enumerate(items):
            if item.kind == "verb" and self._is_task(item):
                before = items[:k]
                to = bool(before) and (
                    before[-1].kind == "to" or (before[-1].kind == "must" and before[-1].text.endswith("to"))
                )
                somebody = [each for each in before if each.kind == "np" and each.vague]
                if somebody and any(each.text in ("was", "were", "has", "had") for each in before):
                    return None
                rest = [each for each in before if each not in somebody and each.kind != "to"]
                if not all(each.kind in plain or (each.is_pronoun and each.text in ("it", "this")) for each in rest):
                    return None
                it = any(each.is_pronoun for each in rest) or any(
                    each.kind in ("wh", "word", "unknown") for each in rest
                )
                aux = {each.text for each in before if each.kind == "aux"}
                must = any(each.kind == "must" for each in before)
                if tuple(somebody) == before and item.verb("base") and not item.verb("past"):
                    return k, False
                if somebody and (aux & {"can", "could", "would", "will"} or must or piece.sub == "condition"):
                    return k, False
                thing = must and self.d.thing is not None and any(each.is_pronoun for each in rest)
                if thing and (item.may("belong") or item.may("move")):
                    return None  # "it has to go into the sink" says where a thing belongs
                if to and it and item.verb("base") and not any(each.kind == "not" for each in before):
                    return k, False
                if any(each.text in ("stop", "quit", "avoid") for each in rest) and item.verb("ing"):
                    return k, True
                if it and item.verb("ing") and not aux & {"is", "are", "am", "was", "were"}:
                    return k, False
                return None
            if item.kind == "verb":
                return None
        return None
