"""The words of a home and of the grammar, and the repair of misspelt and misheard ones."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cached_property

from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import FURNITURE, OPERATOR, POSES
from nsrecover.instructions.reading import Verb

VERBS: dict[Verb, str] = {
    Verb.BRING: "bring, bring over, fetch, get, deliver, give, hand, hand over, pass, retrieve, carry, provide",
    Verb.TAKE: "take, grab, pick, pick up, grasp, collect, take out",
    Verb.PLACE: "put, place, set, set down, leave, store, prepare, move, put down, lay, drop off, put away, put back",
    Verb.FIND: "find, look for, locate, search for, search, seek, meet, greet, look up, spot, track down, check for",
    Verb.COUNT: "count, how many, count up",
    Verb.FOLLOW: "follow, go after, go along with, walk behind, come after",
    Verb.GUIDE: "guide, lead, escort, accompany, show the way, show, walk, usher",
    Verb.TELL: "tell, say, report, inform, let, notify, announce, speak, describe, mention, state, introduce",
    Verb.ASK: "ask, question, inquire, enquire, find out from",
    Verb.ANSWER: "answer, reply, respond",
    Verb.GO: "go, navigate, drive, come, head, enter, return, go back, come back, proceed, visit",
    Verb.OPEN: "open, open up",
    Verb.CLOSE: "close, shut",
    Verb.TURN_ON: "turn on, switch on, activate, start",
    Verb.TURN_OFF: "turn off, switch off, deactivate, stop",
}
"""Verb -> how it is said."""

_IRREGULAR = {"get": "getting", "put": "putting", "set": "setting", "grab": "grabbing", "shut": "shutting"}

POSE_WORDS = {
    "sitting": "sitting", "seated": "sitting", "sits": "sitting", "standing": "standing", "stands": "standing",
    "lying": "lying", "lying down": "lying", "laying": "lying", "lies": "lying", "waving": "waving", "waves": "waving",
    "raising an arm": "raising an arm", "raising their arm": "raising an arm",
    "raising their left arm": "raising an arm",
    "raising their right arm": "raising an arm", "raising a hand": "raising an arm", "pointing": "pointing",
    "pointing to the left": "pointing", "pointing to the right": "pointing",
}  # fmt: skip
"""How a pose is said -> the pose."""

_PEOPLE = "person, man, woman, boy, girl, guest, someone, somebody, anyone, anybody, child, kid, visitor, friend"
_MANY_PEOPLE = "people, persons, guests, men, women, everybody, everyone, children"
PLURAL_PEOPLE = frozenset(_MANY_PEOPLE.split(", "))
PEOPLE_WORDS = (*_PEOPLE.split(", "), *PLURAL_PEOPLE)
PRONOUNS = {
    **dict.fromkeys(("it", "one", "that", "this", "these", "those"), "it"),
    **dict.fromkeys(("him", "her", "he", "she", "they"), "whom"),
    "them": "them",
    **dict.fromkeys(("there", "here"), "there"),
}
ME = {"me", "i", "myself", "us"}
FROM, TO, AT = {"from", "off"}, {"to", "into", "onto", "for", "towards"}, {"on", "in", "at", "inside", "by", "near"}
PREPOSITIONS = FROM | TO | AT | {"of", "with", "under", "out", "next", "over", "beside", "around", "about"}
POSSESSIVE = {"my": OPERATOR, "our": OPERATOR, "mine": OPERATOR}
ARTICLES = {
    **dict.fromkeys(("the", "that", "this", "those", "these"), True),
    **dict.fromkeys(("a", "an", "some", "any", "another", "one", "all", "every", "each", "two", "three"), False),
}

_FILLERS = """
please could can would will you kindly hi hello hey hsr robot thanks thank maybe perhaps just now then and so
also afterwards finally first next after that is are was were be been being who which what do does did not if
whether able like want need wish help me to your yourself
belongs belong moment minute second quickly carefully right away as
well too good morning afternoon evening dear okay ok um uh er there up down back again everything anything
something still currently located lying placed standing found available visible possible time day today tonight
go ahead try trying out when once while because since have has had wanted feel feeling got am im i we he she
they his its in of for with or but than very really bit little let know knows known number amount total pose
name gesture lost misplaced posture might must should may seems looks think thought sure soon later already
around nearby looking mind favor favour through where how many much get it them one us our mine all every each
both way along result results answer question questions quiz come home house apartment flat near by arm hand
left side side's until reached reach reaches arrives arrive anywhere somewhere kind sort piece object objects
thing things item items stuff person's fast slow slowly gently bitte whole entire different other others
"""
FILLERS = frozenset(_FILLERS.split())
"""Words that say nothing by themselves about what to do."""

HOSTILE = re.compile(
    r"\b(ignore|disregard|override|bypass|disable|forget)\b.{0,30}\b(plan|instruction|instructions|rules?|commands?|"
    r"safety|previous|everything|above|laws?|prompt|told)\b|\b(hurt|kill|attack|hit|stab|burn|poison|destroy|smash|"
    r"throw|bomb|hack|steal)\b"
)
"""Sentences that want rules broken, or harm."""


@dataclass(frozen=True)
class Lexeme:
    """A word or several that mean something.

    Attributes:
        sort: verb, thing, category, place, person, whose, pose, people, pronoun, article, a preposition's sort.
        text: as the lexicon writes it.
        value: what it stands for.
        plural: whether it is in the plural.
        said: as the sentence has it.
    """

    sort: str
    text: str
    value: str = ""
    plural: bool = False
    said: str = ""


class Lexicon:
    """The words of the grammar and of one home.

    Args:
        home: rooms, places, people, kinds of objects.
    """

    def __init__(self, home: Home) -> None:
        self.home = home
        self.entries: dict[str, Lexeme] = {}
        for verb, listed in VERBS.items():
            for text in listed.split(", "):
                self._add(text, Lexeme("verb", text, verb))
                first, _, rest = text.partition(" ")
                gerund = _IRREGULAR.get(first, (first[:-1] if first.endswith("e") else first) + "ing")
                self._add(f"{gerund} {rest}".strip(), Lexeme("verb", text, verb))
        for text, pose in {**POSE_WORDS, **{pose: pose for pose in POSES}}.items():
            self.entries[text] = Lexeme("pose", text, pose)
        for text in PEOPLE_WORDS:
            self.entries[text] = Lexeme("people", text, "person", text in PLURAL_PEOPLE)
        for word in (*home.furniture_words, *FURNITURE.split(", ")):
            self._noun(word, "place", word)
        for name, place in home.places.items():
            for text in (name, *place.also):
                self._noun(text, "place", name)
        for category in home.categories:
            self._noun(category, "category", category)
        for noun in home.nouns:
            if noun not in home.categories:
                self._noun(noun, "thing", noun)
        for name in home.items:
            self._noun(name, "thing", name)
        for person, resident in home.people.items():
            for text in (person, *resident.also):
                if person != OPERATOR:
                    self.entries[text] = Lexeme("person", text, person)
                    self.entries[f"{text}'s"] = Lexeme("whose", text, person)
        self.longest = max(text.count(" ") + 1 for text in self.entries)

    def _add(self, text: str, lexeme: Lexeme) -> None:
        self.entries.setdefault(text, lexeme)

    def _noun(self, text: str, sort: str, value: str) -> None:
        self.entries[text] = Lexeme(sort, text, value)
        for plural in _plurals(text):
            self.entries.setdefault(plural, Lexeme(sort, text, value, plural=True))

    @cached_property
    def single(self) -> frozenset[str]:
        """Every word that is a part of an entry."""
        return frozenset(word for text in self.entries for word in text.split())

    @cached_property
    def _nouns(self) -> list[str]:
        return [
            text for text, lexeme in self.entries.items() if lexeme.sort in ("thing", "category", "place", "person")
        ]

    @cached_property
    def _joined(self) -> dict[str, str]:
        words = [text for text in (*FILLERS, *PREPOSITIONS, *self.entries) if len(text) > 3]
        return {text.replace(" ", ""): text for text in words}

    @cached_property
    def _by_sound(self) -> dict[str, str]:
        return {sound(text): text for text in reversed(self._nouns) if len(text) > 3}

    def known(self, word: str) -> bool:
        """Whether a word means something to the grammar."""
        return (
            word in self.single or word in FILLERS or word in PRONOUNS or word in ARTICLES or word in PREPOSITIONS
            or word in ME or word in POSSESSIVE
        )  # fmt: skip

    def repaired(self, words: str) -> str | None:
        """The entry that unknown words are taken for: the closest by letters, or the same by sound; else None."""
        joined = words.replace(" ", "")
        if len(joined) < 4 or joined.isdigit():
            return None
        if joined in self._joined:
            return self._joined[joined]
        near = [
            each
            for each in self._joined
            if abs(len(each) - len(joined)) < 4 and (each[0] == joined[0] or len(joined) > 6)
        ]
        close = difflib.get_close_matches(joined, near, n=1, cutoff=_cutoff(joined))
        if close and (
            " " not in words or set(words.split()) & set(self._joined[close[0]].split()) or _alike(joined, close[0])
        ):
            return self._joined[close[0]]
        heard = sound(words)
        return self._by_sound.get(heard) if len(joined) > 4 and len(heard) > 2 else None


def _cutoff(word: str) -> float:
    """The least similarity at which a word counts as misspelt: one letter in five, more in longer words."""
    return 0.86 if len(word) < 5 else 0.79 if len(word) < 9 else 0.77


def _alike(one: str, other: str) -> bool:
    """Whether hardly a letter differs: for several words none of which is right."""
    return difflib.SequenceMatcher(None, one, other).ratio() >= 0.88


def _plurals(text: str) -> list[str]:
    if text.endswith("f"):
        return [text + "s", text[:-1] + "ves"]
    if text.endswith("y") and text[-2:-1] not in "aeiou":
        return [text[:-1] + "ies"]
    if text.endswith(("s", "x", "ch", "sh")):
        return [text + "es"]
    return [text + "s"] + ([text[:-2] + "ves"] if text.endswith("fe") else [])


_SOUNDS = str.maketrans("bfpvcgjkqsxzdtlmnr", "111122222222334556")


def sound(words: str) -> str:
    """A code of how words sound, after Soundex (Russell, 1918): the first letter, then groups of consonants."""
    letters = re.sub(r"[^a-z]", "", words)
    code = re.sub(r"(.)\1+", r"\1", re.sub(r"[hw]", "", letters[1:]).translate(_SOUNDS))
    return letters[:1] + re.sub(r"[^1-6]", "", code)


_CONTRACTIONS = {
    r"\bi'm\b": "i am", r"\bim\b": "i am", r"\bi'd\b": "i would", r"\bi'll\b": "i will", r"\bi've\b": "i have",
    r"\bwhat's\b": "what is", r"\bwhere's\b": "where is", r"\bit's\b": "it is", r"\bthere's\b": "there is",
    r"\bthat's\b": "that is", r"\bwho's\b": "who is", r"\bdon'?t\b": "do not", r"\bwon't\b": "will not",
    r"\bcan't\b": "can not", r"\bcannot\b": "can not", r"\bgimme\b": "give me", r"\blemme\b": "let me", r"\bu\b": "you",
    r"\bpls\b|\bplz\b": "please",
    r"\b(teh|th|hte)\b": "the", r"\bgonna\b": "going to", r"\bwanna\b": "want to", r"\bisn't\b": "is not",
    r"\bshe's\b": "she is", r"\bhe's\b": "he is", r"\bthey're\b": "they are", r"\byou're\b": "you are",
}  # fmt: skip


def tokens(sentence: str) -> list[str]:
    """The words of a sentence in lower case, with marks of punctuation as words of their own."""
    text = sentence.lower().replace("\u2019", "'").replace("`", "'")
    text = re.sub(r"\b(turn|switch) ((?:[a-z]+ ){1,4}?)(on|off)\b", r"\1 \3 \2", text)
    for pattern, plain in _CONTRACTIONS.items():
        text = re.sub(pattern, plain, text)
    return re.findall(r"[^\W_]+(?:['-][^\W_]+)*|[.,;:!?\"]", text)
