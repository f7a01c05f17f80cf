"""Lexemes → elements: noun phrases are found, with their preposition, place and pose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.sentences.elements import NOUNS, PREPOSITIONS, Element
from nsrecover.instructions.sentences.homographs import Homographs
from nsrecover.instructions.sentences.reading import THINGS, Phrase, Sort
from nsrecover.instructions.sentences.words import GRAMMAR, Lexeme, listed

_DETERMINERS = ("article", "possessive", "number")
_CONTAINERS = frozenset(form for each in listed(GRAMMAR["containers"]) for form in (each, f"{each}s"))
_ANYONE = frozenset(listed(GRAMMAR["anyone"]))
_RESTING = frozenset(
    [
        "lying",
        "laying",
        "sitting",
        "standing",
        "resting",
        "hanging",
        "placed",
        "located",
        "kept",
        "left",
        "waiting",
        "stored",
        "found",
        "put",
        "stuck",
        "is",
        "are",
        "over",
        "there",
        "still",
        "currently",
        "right",
        "somewhere",
        "down",
        "up",
        "just",
        "that's",
        "visible",
    ]
)
_DEGREES = frozenset(["very", "really", "so", "too", "quite", "pretty", "rather", "more", "most"])


class Chunker(Homographs):
    """Finds the noun phrases of some lexemes."""

    def elements(self) -> list[Element]:
        """The elements in order."""
        found, i = list[Element](), 0
        while i < len(self.items):
            made = self._element(i, found)
            found.append(made)
            i = made.end
        return found

    def _element(self, i: int, before: Sequence[Element]) -> Element:
        item = self.items[i]
        if self._is_verbal(i):
            meant = self.lexicon.verbs[item.said]
            return Element("verb", meant.text, i, i + 1, meant)
        verb = self._as_verb(i, before)
        if verb is not None:
            return Element("verb", verb.text, i, i + 1, verb)
        if item.sort == "verb" and item.text == "have" and self._is_auxiliary(i):
            return Element("aux", item.said, i, i + 1, item)
        if item.sort in PREPOSITIONS:
            return self._with_preposition(i)
        if item.sort == "me":
            return Element("np", item.text, i, i + 1, item, Phrase(Sort.PERSON, OPERATOR))
        if item.sort == "whose" and self._np(i) is None:
            prep = "of" if self._sort(i + 1) in ("word", "unknown") else ""
            return Element("np", item.text, i, i + 1, item, Phrase(Sort.PERSON, item.value), prep=prep)
        there = item.text == "there" and self._sort(i + 1) not in ("aux", "must", "at")
        if there and any(each.kind == "verb" for each in before):
            return Element("np", "there", i, i + 1, item, Phrase(Sort.PRONOUN, "there"), prep="to")
        if item.text in ("his", "her", "their") and self._sort(i + 1) == "word":
            return Element("np", item.text, i, i + 1, item, Phrase(Sort.PRONOUN, "whom"), prep="of")
        found = self._np(i)
        if found is not None:
            return found
        subject = self._sort(i - 1) == "unknown" and not item.forms & {"base"}
        if item.sort == "verb" and self._noun_position(i) and not subject:
            return Element("word", item.text, i, i + 1, item)
        if item.text in ("question", "answer") and item.sort == "word" and not self._noun_position(i):
            verb = self.lexicon.verbs.get(item.text)
            if verb is not None:
                return Element("verb", verb.text, i, i + 1, verb)
        return Element(item.sort, item.text, i, i + 1, item)

    def _with_preposition(self, i: int) -> Element:
        item, j = self.items[i], i + 1
        skipped = ("filler", "at") if item.text == "from" else ("filler",)
        while self._sort(j) in skipped and self._np(j) is None and j < i + 3:
            j += 1
        if self._sort(j) == "me":
            return Element("np", self._text(j), i, j + 1, item, Phrase(Sort.PERSON, OPERATOR), prep=item.sort)
        found = self._np(j)
        if found is None and self._sort(j) == "whose":
            found = Element("np", self._text(j), j, j + 1, phrase=Phrase(Sort.PERSON, self.items[j].value))
        if found is not None and not found.prep:
            return replace(found, start=i, prep=item.sort, lexeme=item)
        if self._text(i + 1) == "there" and item.sort in ("to", "from", "at"):
            return Element("np", "there", i, i + 2, item, Phrase(Sort.PRONOUN, "there"), prep=item.sort)
        return Element("to" if item.text == "to" else "particle", item.text, i, i + 1, item)

    def _np(self, i: int) -> Element | None:
        """The noun phrase that starts at a lexeme; None if none does."""
        if i >= len(self.items) or self._is_verbal(i):
            return None
        if self._text(i) == "her" and self._sort(i + 1) not in (*NOUNS, "unknown", "pose"):
            return self._pronoun(i, i)
        j, definite, owner, count = i, True, "", ""
        while (
            self._sort(j) in _DETERMINERS
            or self._sort(j) == "whose"
            or (self._text(j) == "of" and j > i and self._sort(j - 1) in _DETERMINERS)
        ):
            item = self.items[j]
            if item.sort == "article":
                definite = item.value == "definite"
                count = "all" if item.text.split()[0] in ("all", "every", "each") else count
            elif item.sort == "possessive":
                owner = item.value or ("whom" if item.text in ("her", "his", "their") else "")
            elif item.sort == "whose":
                owner = item.value
            elif item.sort == "number":
                count = item.text
            j += 1
        if self._text(i) == "her" and self._sort(i + 1) in (*NOUNS, "unknown"):
            j = i + 1
        determined = j > i
        head = self._head(j, determined)
        if head is None:
            return self._pronoun(i, j)
        at, words, pose, _containers = head
        item = self.items[at]
        if (count == "both" and not item.plural) or count in ("one", "1"):
            count = ""
        phrase = self._phrase(item, definite, owner, words, pose)
        if phrase.sort in THINGS:
            phrase = replace(phrase, count=count)
        made = Element("np", item.text, i, at + 1, item, phrase, count=count, vague=item.text in _ANYONE)
        made = self._compound(made)
        if made.is_thing and made.text in _CONTAINERS and self._sort(made.end) == "of":
            inner = self._np(made.end + 1)
            if inner is not None and inner.is_thing:
                made = replace(inner, start=i, count=count)
        return self._modified(made)

    def _head(self, j: int, determined: bool) -> tuple[int, tuple[str, ...], str, bool] | None:
        """The index of the noun, the words before it, and a pose among them."""
        words, pose, k = list[str](), "", j
        while k < len(self.items):
            item = self.items[k]
            if item.sort in NOUNS:
                return k, tuple(words), pose, False
            if item.text in _CONTAINERS and self._sort(k + 1) == "of":
                k += 2
                while self._sort(k) == "article":
                    k += 1
                continue
            if item.sort == "pose" and (determined or self._sort(k + 1) == "people"):
                pose = item.value
            elif item.sort == "unknown":
                words.append(item.text)
            elif not (
                determined
                and (
                    item.sort == "filler"
                    or item.text in _DEGREES
                    or (item.sort == "verb" and item.forms & {"past", "ing"})
                )
            ):
                return None
            elif item.sort == "verb":
                words.append(item.said)
            k += 1
            if len(words) > (3 if determined else 2):
                return None
        return None

    def _phrase(self, item: Lexeme, definite: bool, owner: str, words: tuple[str, ...], pose: str) -> Phrase:
        if item.sort == "people":
            if pose:
                return Phrase(Sort.POSED, pose, definite, plural=item.plural)
            return Phrase(Sort.PERSON, "person", definite, owner, words, item.plural)
        return Phrase(Sort(item.sort), item.value, definite, owner, words, item.plural)

    def _compound(self, made: Element) -> Element:
        """With a noun that follows directly: "kitchen door" is a place, "kitchen cups" are things in a place."""
        end = made.end
        following = self._sort(end)
        if following not in ("thing", "category", "place") or not made.is_place or made.phrase is None:
            return made
        item = self.items[end]
        if following == "place":
            words = (*made.phrase.words, made.phrase.name)
            return replace(made, end=end + 1, text=item.text, phrase=replace(made.phrase, name=item.value, words=words))
        thing = Phrase(Sort(item.sort), item.value, made.phrase.definite, "", made.phrase.words, item.plural)
        return replace(made, end=end + 1, text=item.text, phrase=thing, at=replace(made.phrase, words=()))

    def _pronoun(self, i: int, j: int) -> Element | None:
        """A pronoun, or "the red one"."""
        item = self.items[i]
        if item.text == "her":
            return Element("np", item.text, i, i + 1, item, Phrase(Sort.PRONOUN, "whom"))
        if item.sort == "pronoun" and item.value != "there":
            made = Element("np", item.text, i, i + 1, item, Phrase(Sort.PRONOUN, item.value))
            return self._modified(made) if item.text in ("one", "those") else made
        if j - 1 > i and self._text(j - 1) == "one":
            return self._modified(Element("np", "one", i, j, item, Phrase(Sort.PRONOUN, "it")))
        words, k = list[str](), j
        while self._sort(k) == "unknown" and len(words) < 2:
            words.append(self._text(k))
            k += 1
        if k > i and self._text(k) in ("one", "ones") and self._sort(i) in ("article", "possessive"):
            phrase = Phrase(Sort.PRONOUN, "it", words=tuple(words))
            return self._modified(Element("np", "one", i, k + 1, self.items[k], phrase))
        ends = ("mark", "conj", "from", "to", "at", "aux", "must", "for")
        quantity = item.text in ("some", "any") and self._sort(i + 1) in ends
        if quantity or (
            item.text in ("both", "one", "this", "that", "these", "those") and self._sort(i + 1) in (*ends, "verb")
        ):
            name = "them" if item.text in ("these", "those", "both") else "it"
            made = Element("np", item.text, i, i + 1, item, Phrase(Sort.PRONOUN, name))
            return self._modified(made) if item.text in ("one", "those") else made
        return None

    def _modified(self, made: Element) -> Element:
        """With the relative clauses and participles behind it."""
        for _ in range(3):
            longer = self._relative(made) or self._reduced(made)
            if longer is None:
                break
            made = longer
        return made

    def _placed(self, made: Element, k: int) -> Element | None:
        """With a place, or a pose of a person and then perhaps a place, at an index."""
        if self._sort(k) == "pose" and made.phrase is not None and made.phrase.sort is Sort.PERSON:
            if made.phrase.name != "person":
                end = k + 1
                return self._placed(replace(made, end=end), end)
            posed = Phrase(Sort.POSED, self.items[k].value, made.phrase.definite, plural=made.phrase.plural)
            return replace(made, phrase=posed, end=k + 1)
        while (
            self._sort(k) == "pose"
            or self._text(k) in _RESTING
            or self._said(k) in _RESTING
            or self._sort(k) == "filler"
        ):
            k += 1
        if self._sort(k) not in ("at", "from"):
            return None
        if self._text(k) in ("inside", "in") and (self._sort(k + 1) in ("mark", "conj") or self._text(k + 1) == "it"):
            return replace(made, end=k + 1 + (self._text(k + 1) == "it"))
        place = self._np(k + 1)
        if place is not None and place.is_place:
            return replace(made, at=place.phrase, end=place.end)
        if self._text(k + 1) == "there":
            return replace(made, end=k + 2)
        return None

    def _relative(self, made: Element) -> Element | None:
        """As in "that is on the table", "who is sitting", "which I bought", "I left on the desk"."""
        k, comma = made.end, False
        if self._text(k) == "," and self._text(k + 1) in ("who", "which"):
            k, comma = k + 1, True
        if made.phrase is None:
            return None
        named = made.phrase.sort is Sort.PERSON and made.phrase.name != "person" and not comma
        that = self._text(k) in ("that", "which", "who")
        k += that
        that = that or (made.text == "whoever" and self._sort(k) == "aux")
        if that and self._sort(k) == "aux":
            while self._sort(k) in ("aux", "filler"):
                k += 1
            placed = self._placed(made, k)
            if named and (placed is None or self._sort(placed.end) in ("mark", "conj")):
                return None
            if placed is not None:
                return self._closed(placed, comma)
            if self._sort(k) == "unknown" and self._sort(k + 1) in ("mark", "conj", "at", "from", "to") and not comma:
                phrase = replace(made.phrase, words=(*made.phrase.words, self._text(k)))
                return replace(made, phrase=phrase, end=k + 1)
            if self._sort(k) == "not" and (there := self._np(k + 1)) is not None and not there.prep:
                return None
            return None
        if named or (self._sort(k) == "i" and self._text(made.start - 1) == "without"):
            return None
        if that:
            placed = self._placed(made, k)
            if placed is not None:
                return self._closed(placed, comma)
            if self._text(k) in ("stand", "live", "belong") or self._sort(k) in ("possessive", "whose"):
                return None
        subject = k + (self._sort(k) in ("article", "possessive"))
        named = self._sort(subject) in ("person", "people") and (that or self._sort(subject + 1) in ("verb", "aux"))
        if made.is_thing and (self._sort(k) in ("i", "you") or named):
            return self._told(made, k)
        return None

    def _told(self, made: Element, k: int) -> Element | None:
        """A relative clause with a subject, kept as a note, with its place."""
        words, place, end = list[str](), None, k
        verb = False
        while end < len(self.items) and self._sort(end) not in ("mark", "conj", "sub"):
            if place is not None and self._sort(end) in ("from", "to", "for", "with"):
                break
            if verb and self._sort(end) == "aux":
                break
            if self._sort(end) in ("at", "from", "to"):
                there = self._np(end + 1)
                if there is not None and there.is_place:
                    if not verb:
                        return None
                    if self._sort(end) == "at" and place is None:
                        place, end = there.phrase, there.end
                        continue
                    break
            perfect = self._text(end - 1) == "have" and "past" in self.items[end].forms
            if self._sort(end) in ("must", "not") or (self._sort(end) == "verb" and verb and not perfect):
                return None
            if self._sort(end) == "verb":
                verb = True
            if self._sort(end) not in ("i", "filler"):
                words.append(self._said(end))
            end += 1
        if not verb or made.phrase is None:
            return None
        note = " ".join(words)
        phrase = replace(made.phrase, words=(*made.phrase.words, note)) if note and place is None else made.phrase
        return replace(made, phrase=phrase, at=place or made.at, end=end)

    def _reduced(self, made: Element) -> Element | None:
        """As in "lying on the table", "sitting in the kitchen", "waving"."""
        k = made.end
        if self._sort(k) == "pose" and made.is_person and made.phrase is not None and made.phrase.sort is Sort.PERSON:
            return self._placed(made, k)
        if self._sort(k) == "with" and self._sort(k + 1) == "pose":
            return self._placed(made, k + 1)
        if made.is_thing and (self._sort(k) == "pose" or self._said(k) in _RESTING - {"is", "are", "put"}):
            return self._placed(made, k)
        if (
            made.is_person
            and made.at is None
            and self._said(k) in ("waiting", "currently", "over")
            and self._sort(k) != "mark"
        ):
            return self._placed(made, k)
        return None

    def _closed(self, made: Element, comma: bool) -> Element:
        """With the comma that ends a relative clause."""
        return replace(made, end=made.end + 1) if comma and self._text(made.end) == "," else made
