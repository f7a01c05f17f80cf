"""Sentence → reading: every piece is a command, a statement about what is to be done, or background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.discourse import NAME, OPERATOR_PHRASE, RESULT, Discourse
from nsrecover.instructions.elements import PREPOSITIONS, Chunker, Element
from nsrecover.instructions.frames import arguments, clauses_of, state_of, unused
from nsrecover.instructions.lexing import lexed
from nsrecover.instructions.pieces import Piece, pieces_of
from nsrecover.instructions.questions import question_of
from nsrecover.instructions.reading import THINGS, Clause, Phrase, Reading, Sort, Verb
from nsrecover.instructions.statements import statement_of
from nsrecover.instructions.words import COMMON, GRAMMAR, Lexicon, listed, tokens

MOST_UNKNOWN = 0.4
"""Share of words that may be unknown in a sentence that is acted on."""

_CORRECTIONS = frozenset(listed(GRAMMAR["corrections"]))
_ATTITUDES = frozenset(("mind", "able", "willing", "manage", "possible", "trouble", "like", "that", "ready"))
_SPEECH = (Verb.TELL, Verb.REPORT, Verb.ASK)
_ABOUT_RESULTS = frozenset(
    ("number", "result", "results", "answer", "how", "it", "many", "found", "what", "where", "back", "outcome")
)
_REFERRING = ("it", "that", "this", "them", "the result", "the answer", "it back", "so", "about it", "about that")
_DANGER = ("not", "exclusion", "number", "time")


class _Reader:
    """Reads the pieces of one sentence in order.

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

    def read(self) -> None:
        """Read all pieces."""
        i = 0
        while i < len(self.pieces):
            i = self._piece(i)
        if not self.d.entries:
            for piece in self.background:
                self.d.unknown += [(item.text, False) for item in piece.content if item.kind == "unknown"]

    def _piece(self, i: int) -> int:
        """Read one piece; returns the index of the next one that is not read yet."""
        piece, d = self.pieces[i], self.d
        self.last = i + 1 >= len(self.pieces)
        if d.said(piece.items) in _CORRECTIONS:
            self.correcting = bool(d.entries)
            return i + 1
        if not piece.content:
            return i + 1
        ensured = next((k for k, item in enumerate(piece.items) if item.kind == "ensure"), None)
        if ensured is not None:
            self.ensuring = True
            return self._ensured(i, ensured)
        verb = self._verb(piece)
        if piece.mark in (".", "!", "?", ";") or verb is not None:
            self.ensuring = False
        if verb is not None:
            before = len(d.entries)
            if self.correcting and d.entries:
                d.entries.pop()
                before -= 1
            self.correcting = False
            at, negated = verb
            end = self._command(i, at, negated)
            for entry in d.entries[before:]:
                given = piece.items[at].text in ("give", "hand", "deliver", "pass")
                entry.close = piece.link in ("", "and") and piece.mark in ("", ",") and not piece.sub and not given
            self._ordered(piece, before, end)
            return end
        if piece.content[0].kind in ("not", "exclusion") and self._contrast(piece):
            return i + 1
        if piece.is_nominal:
            before = len(d.entries)
            self._nominal(piece, i)
            self._ordered(piece, before, i + 1)
            return i + 1
        before = len(d.entries)
        for item in piece.items:
            if item.is_thing and d.thing is None:
                d.note(item.phrase)
        person = next((item for item in piece.content if item.kind == "np"), None)
        wished = piece.sub == "condition" and any(item.text == "were" for item in piece.items)
        goal = piece.sub in ("when", "after") and not (person is not None and person.is_person)
        goal = goal or wished or (self.ensuring and piece.link == "and")
        items = self._with_subject(piece)
        if statement_of(d, items, goal=goal):
            self._ordered(piece, before, i + 1)
        else:
            self._background(piece)
        d.statement, d.stated = d.said(piece.items), frozenset(item.start for item in piece.items)
        return i + 1

    def _with_subject(self, piece: Piece) -> list[Element]:
        """The elements of a statement, with the subject of the one before if it has none: "... and should know that"."""
        first = piece.content[0]
        items = list(piece.items)
        if piece.link and self.subject and (first.kind == "must" or first.kind == "aux" or first.verb("third", "past")):
            return [*self.subject, *items]
        k = next((k for k, item in enumerate(items) if item.kind in ("aux", "must", "verb")), 0)
        self.subject = [item for item in items[:k] if item.kind == "np" and not item.prep]
        return items

    def _ordered(self, piece: Piece, before: int, end: int) -> None:
        """Put what has to be done after something else behind it: "before you go", "after you have opened it"."""
        d = self.d
        new = d.entries[before:]
        if piece.sub == "before":
            self.later = getattr(self, "later", []) + new
            following = end < len(self.pieces) and self.pieces[end].mark in ("", ",")
            if following:
                rest_from = len(d.entries)
                self._piece(end)
                d.entries[before:] = [*d.entries[rest_from:], *new]
                self.pieces[end] = Piece(())
        elif piece.sub == "after" and before:
            d.entries[before - 1 :] = [*new, *d.entries[before - 1 : before]]

    # --- commands

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
        return item.lexeme is not None and (bool(item.lexeme.value) or item.may("help"))

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
        if any(
            item.kind == "np" and not item.is_pronoun and item.phrase is not None and item.phrase.name != OPERATOR
            for item in prefix
        ):
            return None
        inverted = [item.text for item in prefix if item.kind == "aux"]
        asked = bool(inverted) and not any(item.kind == "i" for item in prefix)
        begged = bool(set(aux) & {"could", "can", "would"}) or any(item.text == "why" for item in prefix)
        if asked and inverted[-1] in ("have", "has", "do", "did", "does") and not must and not begged:
            return None
        finds = verb.lexeme is not None and verb.lexeme.value in (Verb.FIND, Verb.CHECK, Verb.BRING)
        if not prefix and finds and set(aux) & {"will", "can", "may", "might", "should"} and verb.lexeme is not None:
            if verb.lexeme.value == Verb.FIND and not must:
                return None
        if piece.sub == "condition" and not (set(aux) & {"could", "would", "can"} or verb.verb("past")):
            return None
        if piece.sub in ("when", "reason", "while") and not verb.verb("past"):
            return None
        polite = any(item.text in ("would", "could", "can", "why", "will") for item in prefix)
        refused = any(item.kind == "not" for item in prefix) and not polite
        return k, (negated and not asked) or refused

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
                rest = [each for each in before if each not in somebody and each.kind != "to"]
                if not all(each.kind in plain or (each.is_pronoun and each.text in ("it", "this")) for each in rest):
                    return None
                it = any(each.is_pronoun for each in rest) or any(
                    each.kind in ("wh", "word", "unknown") for each in rest
                )
                aux = {each.text for each in before if each.kind == "aux"}
                must = any(each.kind == "must" for each in before)
                if somebody and (aux & {"can", "could", "would", "will"} or must or piece.sub == "condition"):
                    return k, False
                if to and it and item.verb("base") and not any(each.kind == "not" for each in before):
                    return k, False
                if it and item.verb("ing") and not aux & {"is", "are", "am", "was", "were"}:
                    return k, False
                return None
            if item.kind == "verb":
                return None
        return None

    def _command(self, i: int, at: int, negated: bool = False, items: Sequence[Element] | None = None) -> int:
        """Read a command; returns the index of the next piece."""
        d, items = self.d, list(items if items is not None else self.pieces[i].items)
        item = items[at]
        assert item.lexeme is not None
        lead = [each for each in items[:at] if (each.is_place or each.is_person or each.is_thing) and each.prep]
        rest = items[at + 1 :]
        value = item.lexeme.value
        if (
            item.text in ("keep", "start", "continue", "begin")
            and rest
            and rest[0].verb("ing")
            and self._is_task(rest[0])
        ):
            return self._command(i, 0, negated, rest)
        if item.may("help"):
            return self._helped(i, rest)
        verb = Verb(value)
        parts = [
            self.lexicon.verbs.get(f"{item.text} {each.text}") for each in rest if each.kind in ("filler", "particle")
        ]
        whole = next((each for each in parts if each is not None and each.value), None)
        verb = Verb(whole.value) if whole is not None else verb
        d.verbs.append(verb)
        people = [each for each in rest if each.is_person or (each.is_pronoun and each.text in ("him", "her", "them"))]
        if (
            verb is Verb.CHECK
            and item.text == "see"
            and people
            and any(each.is_place and each.prep == "to" for each in rest)
        ):
            verb = Verb.GUIDE
        inner = self._inner_verb(rest)
        if verb is Verb.OTHER and inner is not None and rest[inner].verb("ing"):
            for each in rest[:inner]:
                d.note(each.phrase)
            d.verbs.pop()
            return self._command(i, 0, negated, rest[inner:])
        if verb is Verb.OTHER:
            d.unexplained.append(item.text)
            return i + 1
        if item.text == "let":
            return self._let(i, rest)
        if verb is Verb.GO and item.text in ("get back", "report back"):
            verb = Verb.GO
        if verb in _SPEECH:
            return self._speech(i, verb, [*lead, *rest])
        if verb is Verb.CHECK:
            return self._check(i, rest, lead)
        more = rest[inner:] if inner is not None else []
        own = rest[:inner] if inner is not None else rest
        if (
            verb in (Verb.BRING, Verb.TAKE)
            and any(each.text in ("question", "answer") for each in own)
            and people
            and not self._things(own)
        ):
            verb = Verb.ANSWER
        if verb is Verb.PLACE and any(each.text in ("question", "questions") for each in own) and people:
            return self._speech(i, Verb.ASK, rest)
        if (
            verb is Verb.BRING
            and any(each.text in ("message", "news", "word", "regards", "greetings", "love") for each in own)
            and people
        ):
            return self._speech(i, Verb.TELL, rest)
        if verb is Verb.BRING and any(
            each.text in ("number", "count", "answer", "name", "pose", "total", "amount", "headcount") for each in own
        ):
            return self._speech(
                i, Verb.REPORT if not self._named(people) or "answer" not in {e.text for e in own} else Verb.ASK, rest
            )
        if verb is Verb.GUIDE and item.text.startswith("show") and not people:
            pass
        for each in own:
            if more and each.is_person:
                d.note(each.phrase)
        manner = bool(more) and more[0].verb("ing") and verb is not Verb.FIND
        if not manner and (not more or any(each.kind not in ("filler", "particle") for each in own)):
            self._act(verb, item, [*lead, *own], negated)
        if more:
            more = [each for each in more if each.kind != "to"]
            if more[0].lexeme is not None and more[0].lexeme.value == Verb.TELL and more[0].verb("ing") and d.person:
                whom = Element("np", "them", more[0].end, more[0].end, phrase=d.person)
                return self._speech(i, Verb.TELL, [whom, *more[1:]])
            if more[0].lexeme is not None and more[0].lexeme.value:
                return self._command(i, 0, negated, more)
        return i + 1

    @staticmethod
    def _things(items: Sequence[Element]) -> list[Element]:
        return [each for each in items if each.is_thing]

    @staticmethod
    def _named(people: Sequence[Element]) -> bool:
        return any(each.phrase is not None and each.phrase.name != OPERATOR for each in people)

    def _act(self, verb: Verb, item: Element, own: Sequence[Element], negated: bool) -> None:
        """Note the clauses of a verb with its arguments, and what is in none of them."""
        d = self.d
        found = arguments(d, verb, own)
        d.taking = item.text in ("take", "take out", "get out")
        clauses = clauses_of(d, verb, item.text, found)
        if item.text == "leave" and not found.places and (found.wh or "alone" in {each.text for each in own}):
            return  # "leave it where it is"
        if negated and found.states and clauses:
            clauses, negated = [replace(each, verb=_OPPOSITE.get(each.verb, each.verb)) for each in clauses], False
        for clause in clauses:
            greets = item.text in ("greet", "welcome") and clause.person is not None and self.last
            told = Clause(Verb.TELL, person=clause.person, person_at=clause.person_at, content="hello")
            d.add(told if greets else replace(clause, negated=negated))
        if not clauses:
            d.unclear(item)
        d.unclear(*unused(found, clauses))

    @staticmethod
    def _inner_verb(rest: Sequence[Element]) -> int | None:
        """Where another verb follows without a conjunction: "go get", "go to the kitchen to fetch"."""
        for k, each in enumerate(rest):
            if each.kind == "verb" and each.lexeme is not None:
                before = rest[k - 1] if k else None
                if each.verb("base") and (before is None or before.kind in ("to", "filler")):
                    return k if before is None or before.kind != "to" else k - 1
                if each.verb("ing") and before is not None and before.kind == "particle" and before.text == "by":
                    return k
        return None

    def _helped(self, i: int, rest: list[Element]) -> int:
        """ "help me find my watch", "help jordan find the kitchen", "help robin with a question"."""
        d = self.d
        people = [each for each in rest if each.is_person or (each.is_pronoun and each.text in ("him", "her", "them"))]
        k = next((k for k, each in enumerate(rest) if each.kind == "verb"), None)
        if people and any(each.text in ("question", "questions", "quiz", "riddle") for each in rest):
            self._act(Verb.ANSWER, rest[0], rest, False)
            return i + 1
        if k is None:
            self.d.unclear(*[each for each in rest if each.kind not in ("filler", "particle")])
            return i + 1
        places = [each for each in rest[k:] if each.is_place]
        if (
            people
            and (people[0].is_pronoun or rest[k].text in ("get", "go") or self._named(people[:1]))
            and places
            and not self._things(rest)
        ):
            d.verbs.append(Verb.GUIDE)
            self._act(Verb.GUIDE, rest[k], [*rest[:k], *rest[k + 1 :]], False)
            return i + 1
        return self._command(i, 0, False, rest[k:]) if rest[k].lexeme and rest[k].lexeme.value else i + 1  # type: ignore[union-attr]

    def _let(self, i: int, rest: list[Element]) -> int:
        """ "let ashley know that", "let charlie have the cola"."""
        k = next((k for k, each in enumerate(rest) if each.kind == "verb"), None)
        person = next((each for each in rest if each.is_person or each.is_pronoun), None)
        place = next((each for each in rest if each.is_place and not each.prep), None)
        if k is not None and place is not None and person is None and rest[k].text in ("run", "go", "start"):
            self.d.add(Clause(Verb.TURN_ON, target=place.phrase))
            return i + 1
        if k is None or person is None:
            self.d.unclear(*rest[:1])
            return i + 1
        if rest[k].may("know"):
            named = person.phrase is not None and person.phrase.name != OPERATOR
            return self._speech(i, Verb.TELL if named else Verb.REPORT, [*rest[:k], *rest[k + 1 :]])
        if (
            rest[k].lexeme is not None
            and rest[k].lexeme.value == Verb.GUIDE
            and any(each.kind == "you" for each in rest[k:])
        ):  # type: ignore[union-attr]
            self._act(Verb.FOLLOW, rest[k], [*rest[:k], *rest[k + 1 :]], False)
            return i + 1
        if rest[k].may("have") or (rest[k].lexeme is not None and rest[k].lexeme.value == Verb.BRING):  # type: ignore[union-attr]
            self._act(Verb.BRING, rest[k], [*rest[:k], *rest[k + 1 :]], False)
            return i + 1
        self.d.unclear(rest[k])
        return i + 1

    def _check(self, i: int, rest: list[Element], lead: list[Element]) -> int:
        """ "check how many", "check the fridge for milk", "see if jordan wants tea", "look in the fridge"."""
        d = self.d
        items = [*lead, *rest]
        if rest and rest[0].kind in ("that", "article") and any(state_of(each) is not None for each in rest):
            if statement_of(d, rest[1:], goal=True):
                return i + 1
        wh = any(each.kind == "wh" for each in rest)
        nouns = [each for each in items if each.kind == "np"]
        looking = next((each for each in items if each.is_thing and each.prep == "for"), None)
        place = next((each.phrase for each in items if each.is_place), None)
        things = [each for each in nouns if each.is_thing]
        if looking is None and things and not wh and not any(each.kind in ("word", "pose") for each in rest):
            looking = things[0]
        if looking is not None:
            d.add(Clause(Verb.FIND, looking.phrase, looking.at or place))
            return i + 1
        clauses = question_of(d, rest) if wh or any(each.kind == "word" for each in rest) else None
        if clauses:
            if lead and clauses[0].source is None and clauses[0].thing is not None:
                clauses[0] = replace(clauses[0], source=lead[0].phrase)
            for clause in clauses:
                d.add(clause)
            d.entries[-1].belief = True
            return i + 1
        people = [
            each
            for each in nouns
            if (each.is_person and not each.vague) or (each.is_pronoun and each.text in ("he", "she", "they"))
        ]
        if wh and people:
            end = self._content_end(i)
            content = [*rest, *(each for piece in self.pieces[i + 1 : end] for each in piece.items)]
            person = d.resolved(people[0], Verb.ASK)
            d.settled |= {each.start for each in content if each is not people[0]}
            d.add(Clause(Verb.ASK, person=person, person_at=people[0].at, content=d.said(content)))
            return end
        if not nouns and not wh and d.thing is not None and not any(each.kind == "unknown" for each in rest):
            d.add(Clause(Verb.FIND, d.thing, place))
            return i + 1
        if wh or not nouns:
            d.unclear(*rest)
            return i + 1
        if people:
            person = d.resolved(people[0], Verb.FIND)
            d.add(Clause(Verb.FIND, person=person, person_at=people[0].at or place))
        elif place is not None:
            d.add(Clause(Verb.CHECK, target=place))
        else:
            thing = next((each for each in nouns if each.is_thing or each.is_pronoun), None)
            if thing is not None:
                d.add(Clause(Verb.FIND, d.resolved(thing, Verb.FIND), thing.at))
        return i + 1

    # --- telling and asking

    def _content_end(self, i: int) -> int:
        """The index behind the last piece that goes on with what is told or asked."""
        end = i + 1
        while end < len(self.pieces):
            piece = self.pieces[end]
            if piece.mark in (".", "!", "?", ";") or self._verb(piece) is not None or not piece.content:
                break
            if any(each.kind == "ensure" for each in piece.items):
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
        return next((k for k in range(len(rest) - 1, -1, -1) if fits(rest[k], "to", "for", "from", "with")), None)

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
        whom = person if person is not None else OPERATOR_PHRASE
        last = d.entries[-1].clause.verb if d.entries else None
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
        if ((last in found_out or (last is Verb.TELL and about)) and (refers or words & _ABOUT_RESULTS)) or (refers and verb is Verb.REPORT and last is not None):
            text = RESULT
        elif refers:
            text = d.statement
            d.settled |= d.stated
        if not text and not any(entry.indirect and entry.clause.verb is Verb.TELL for entry in d.entries):
            d.unexplained.append("tell")
            return
        d.add(Clause(Verb.TELL, person=whom, person_at=person_at, content=text))

    # --- other pieces

    def _ensured(self, i: int, k: int) -> int:
        """ "make sure that the fridge is open": a statement that the robot is to make true, or a command."""
        piece, d = self.pieces[i], self.d
        rest = tuple(each for each in piece.items[k + 1 :] if each.kind not in ("that", "filler") or state_of(each))
        if not rest and i + 1 < len(self.pieces):
            return i + 1
        inner = replace(piece, items=rest)
        if piece.items[k].text == "see that" and not any(each.kind in ("verb", "aux", "must") for each in rest):
            for each in rest:
                if each.is_thing and each.phrase is not None:
                    d.note(each.phrase)
                    place = each.at or next((other.phrase for other in rest if other.is_place), None)
                    if place is not None:
                        d.locate(each.phrase, place)
            return i + 1
        verb = self._verb(inner)
        negated = any(item.kind == "not" for item in piece.items[:k])
        if verb is not None and rest:
            self.pieces[i] = inner
            return self._command(i, verb[0], verb[1] or negated)
        if not statement_of(d, rest, goal=True):
            d.unclear(*[each for each in rest if each.kind in ("np", "unknown", "verb")])
        return i + 1

    def _contrast(self, piece: Piece) -> bool:
        """ "not the blue one", "not on the bed": what is not meant."""
        items = piece.content
        if len(items) != 2 or items[1].kind != "np":
            return False
        if items[1].is_place and items[1].prep and self.d.thing is not None and items[1].phrase is not None:
            self.d.locate(self.d.thing, items[1].phrase)
        return True

    def _nominal(self, piece: Piece, i: int) -> None:
        """Only noun phrases: what is wanted, a closer description, or a correction."""
        d, items = self.d, piece.content
        if self.correcting and d.entries and items[0].phrase is not None:
            self._corrected(items[0])
            return
        if items[0].is_pronoun and items[0].phrase is not None and items[0].phrase.words and d.refine(items[0].phrase):
            return
        things, places = [e for e in items if e.is_thing], [e for e in items if e.is_place]
        people = [e for e in items if e.is_person]
        if piece.sub in ("before", "after") and things:
            for each in things:
                d.add(Clause(Verb.BRING, each.phrase, each.at))
            return
        if piece.link.startswith("but") and places and not things and d.thing is not None and places[0].prep:
            d.add(Clause(Verb.PLACE, d.thing, None, places[0].phrase))
            return
        pairs = [each for each in self.pieces[max(0, i - 1) : i + 2] if _is_pair(each)]
        if len(pairs) > 1 and _is_pair(piece):
            d.add(Clause(Verb.PLACE, things[0].phrase, None, places[-1].phrase))
            return
        single = len(things) == 1 and len(places) == 1 and len(items) == 2 and places[0].prep == "at"
        if single and not piece.sub and not self._told_later(things[0]) and d.doubt("fragment", False):
            d.add(Clause(Verb.PLACE, things[0].phrase, None, places[0].phrase), indirect=True)
            return
        if things:
            self._act(Verb.BRING if not (places and places[-1].prep == "to") else Verb.PLACE, things[0], items, False)
            for each in things:
                at = each.at or next((other.phrase for other in places if other.prep in ("at", "from")), None)
                if at is not None and each.phrase is not None:
                    d.locate(each.phrase, at)
            for entry in d.entries[-len(things) :]:
                entry.indirect = entry.belief = True
        elif places and places[0].prep == "to" and len(items) == 1 and not piece.sub:
            d.add(Clause(Verb.GO, target=places[0].phrase), indirect=True)
        elif people and len(items) == 1 and not piece.sub:
            d.note(people[0].phrase)
        elif places and i and self.pieces[i - 1].is_nominal and d.thing is not None and places[0].phrase is not None:
            d.locate(d.thing, places[0].phrase)
        else:
            self._background(piece)

    def _told_later(self, thing: Element) -> bool:
        """Whether a pronoun stands for a thing in a later command."""
        after = [item for piece in self.pieces for item in piece.items if item.start > thing.end]
        return any(item.is_pronoun for item in after)

    def _corrected(self, item: Element) -> None:
        d, clause = self.d, self.d.entries[-1].clause
        self.correcting = False
        if item.is_thing:
            clause = replace(clause, thing=item.phrase)
        elif item.is_person:
            clause = replace(clause, person=item.phrase)
        elif item.is_place and item.prep == "from":
            clause = replace(clause, source=item.phrase)
        elif item.is_place and clause.target is not None:
            clause = replace(clause, target=item.phrase)
        elif item.is_place:
            clause = replace(clause, source=item.phrase)
        d.entries[-1].clause = clause
        d.note(*clause.phrases)

    def _background(self, piece: Piece) -> None:
        """A reason or a story: what it mentions may be meant by pronouns."""
        d = self.d
        self.background.append(piece)
        for item in piece.items:
            if item.kind == "np" and item.phrase is not None and item.phrase.sort is not Sort.PRONOUN:
                d.note(item.phrase)
                if item.at is not None and not item.is_place:
                    d.locate(item.phrase, item.at)
        if piece.sub == "condition" or (
            piece.sub == "" and any(item.kind == "exclusion" and item.text != "without" for item in piece.items)
        ):
            known = [item for item in piece.content if item.kind in ("np", "exclusion") and not item.is_pronoun]
            found = [item for item in piece.content if item.kind == "verb" and item.may("put")]
            if piece.sub == "" or (not found and known and not any(item.kind == "you" for item in piece.items)):
                d.unclear(*known)


_OPPOSITE = {Verb.OPEN: Verb.CLOSE, Verb.CLOSE: Verb.OPEN, Verb.TURN_ON: Verb.TURN_OFF, Verb.TURN_OFF: Verb.TURN_ON}


def _is_pair(piece: Piece) -> bool:
    """Whether a piece only names a thing and a place: "bread on the counter"."""
    content = piece.content
    return (
        piece.is_nominal
        and len(content) == 2
        and content[0].is_thing
        and content[1].is_place
        and content[1].prep == "at"
    )


def _uncovered(d: Discourse, pieces: Sequence[Piece], clauses: Sequence[Clause]) -> list[str]:
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
    """Whether a noun that is in no clause is in a denial about another of its kind, a part of a name, or in a reason."""
    if phrase.name in d.home.rooms and len(clauses) and not d.home.places[phrase.name].leads_to:
        inside = [each.name for clause in clauses for each in clause.phrases if each.name in d.home.places]
        if any(d.home.inside(name, phrase.name) for name in inside):
            return True
    if phrase.sort is Sort.PLACE:
        return any(phrase.name in each.name.split() for clause in clauses for each in clause.phrases)
    denied = any(item.kind == "not" for item in piece.items)
    things = [clause.thing for clause in clauses if clause.thing is not None]
    if denied:
        return any(d.home.kind(each.name) == d.home.kind(phrase.name) and each.words for each in things)
    story = any(item.kind == "i" for item in piece.content[:2])
    past = any(item.verb("past") and not item.may("put") and not item.may("lose") for item in piece.items)
    if story and past and phrase.sort is Sort.PLACE:
        return True
    return (story or piece.sub == "reason") and phrase.sort in THINGS and not any(item.is_place for item in piece.items)


def read(sentence: str, lexicon: Lexicon, flips: frozenset[str] = frozenset()) -> Reading:
    """What a sentence says; words that no rule knows are listed, and nothing is looked up in the home.

    Args:
        sentence: in English.
        lexicon: the words.
        flips: the doubts of which the less usual side is taken.
    """
    found = lexed(tokens(sentence), lexicon)
    d = Discourse(lexicon.home, found.items, flips=flips)
    reader = _Reader(lexicon, d, pieces_of(Chunker(found.items, lexicon).elements()))
    pieces = list(reader.pieces)
    reader.read()
    clauses = list(d.finish())
    d.unexplained += _uncovered(d, pieces, clauses)
    for k, clause in enumerate(clauses):
        if clause.verb is Verb.CHECK:
            if k + 1 < len(clauses):
                clauses[k] = replace(clause, verb=Verb.GO)
            else:
                d.unexplained.append("check")
    strange = [item.text for item in found.items if item.sort == "unknown" and item.text not in COMMON]
    if len(strange) > MOST_UNKNOWN * sum(item.sort != "mark" for item in found.items):
        d.unknown = [(word, False) for word in strange]
    unknown = tuple(dict.fromkeys(word for word, _ in d.unknown))
    names = tuple(dict.fromkeys(word for word, noun in d.unknown if noun))
    return Reading(
        sentence,
        tuple(clause for clause in clauses if clause.verb is not Verb.CHECK),
        unknown,
        names,
        tuple(dict.fromkeys(d.unexplained)),
        tuple(d.verbs),
        found.corrected,
        d.operator_at,
        tuple(d.mentioned),
        tuple(dict.fromkeys(d.doubts)),
    )
