"""Commands → clauses: the verb's arguments, further verbs behind it, and light verbs such as "help" and "let"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.arguments import arguments, state_of
from nsrecover.instructions.sentences.discourse import RESULT
from nsrecover.instructions.sentences.elements import Element
from nsrecover.instructions.sentences.frames import CLEARING, clauses_of, unused
from nsrecover.instructions.sentences.meaning.questions import question_of
from nsrecover.instructions.sentences.meaning.speech import Speech
from nsrecover.instructions.sentences.meaning.statements import statement_of
from nsrecover.instructions.sentences.ordering import OPPOSITE
from nsrecover.instructions.sentences.reading import Clause, Verb

_SPEECH = (Verb.TELL, Verb.REPORT, Verb.ASK)


class Commands(Speech):
    """Reads commands."""

    def _command(self, i: int, at: int, negated: bool = False, items: Sequence[Element] | None = None) -> int:
        """Read a command; returns the index of the next piece."""
        d, items = self.d, list(items if items is not None else self.pieces[i].items)
        item = items[at]
        assert item.lexeme is not None
        lead = [each for each in items[:at] if (each.is_place or each.is_person or each.is_thing) and each.prep]
        rest = items[at + 1 :]
        value = item.value
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
            and people[0].prep != "from"
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
            if more[0].value == Verb.TELL and more[0].verb("ing") and d.person:
                whom = Element("np", "them", more[0].end, more[0].end, phrase=d.person)
                return self._speech(i, Verb.TELL, [whom, *more[1:]])
            if more[0].value:
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
            clauses, negated = [replace(each, verb=OPPOSITE.get(each.verb, each.verb)) for each in clauses], False
        led = [entry.clause.person for entry in d.entries if entry.clause.verb is Verb.GUIDE]
        fetched = verb in (Verb.BRING, Verb.TAKE) and any(each in led for each in found.others) and not found.things
        if fetched and all(clause.verb is Verb.FIND for clause in clauses):
            return  # "ashley should come to the kitchen, get her"
        for clause in clauses:
            greets = item.text in ("greet", "welcome") and clause.person is not None and self.last
            told = Clause(Verb.TELL, person=clause.person, person_at=clause.person_at, content="hello")
            d.add(told if greets else replace(clause, negated=negated))
            d.entries[-1].carried = verb in (Verb.BRING, Verb.TAKE) and clause.verb is Verb.PLACE
        if not clauses and (own or item.text not in CLEARING):
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
        """As in "help me find my watch", "help jordan find the kitchen", "help robin with a question"."""
        d = self.d
        people = [each for each in rest if each.is_person or (each.is_pronoun and each.text in ("him", "her", "them"))]
        k = next((k for k, each in enumerate(rest) if each.kind == "verb"), None)
        if people and any(each.text in ("question", "questions", "quiz", "riddle") for each in rest):
            self._act(Verb.ANSWER, rest[0], rest, False)
            return i + 1
        if k is None and people and any(entry.indirect for entry in d.entries):
            return i + 1
        if k is None and people and not self.last:
            for each in people:
                d.note(each.phrase)
                where = each.at or next((other.phrase for other in rest if other.is_place), None)
                if each.phrase is not None and where is not None:
                    d.locate(d.resolved(each, Verb.TELL), where)
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
        return self._command(i, 0, False, rest[k:]) if rest[k].value else i + 1

    def _let(self, i: int, rest: list[Element]) -> int:
        """As in "let ashley know that", "let charlie have the cola"."""
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
        if rest[k].lexeme is not None and rest[k].value == Verb.GUIDE and any(each.kind == "you" for each in rest[k:]):
            self._act(Verb.FOLLOW, rest[k], [*rest[:k], *rest[k + 1 :]], False)
            return i + 1
        if rest[k].may("have") or (rest[k].value == Verb.BRING):
            self._act(Verb.BRING, rest[k], [*rest[:k], *rest[k + 1 :]], False)
            return i + 1
        self.d.unclear(rest[k])
        return i + 1

    def _check(self, i: int, rest: list[Element], lead: list[Element]) -> int:
        """As in "check how many", "check the fridge for milk", "see if jordan wants tea", "look in the fridge"."""
        d = self.d
        items = [*lead, *rest]
        if rest and rest[0].kind in ("that", "article") and any(state_of(each) is not None for each in rest):
            stated = statement_of(d, rest[1:], goal=True)
            if stated:
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
        if all(each.is_pronoun for each in nouns) and not wh and d.entries and d.entries[-1].clause.content == RESULT:
            return i + 1
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
