"""English: articles, number, negation, participles, numerals and lists; knows nothing of robots."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")
_ORDINALS = ("zeroth", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth", "tenth",
             "eleventh", "twelfth")  # fmt: skip
DETERMINERS = ("the", "a", "an", "my", "your", "his", "her", "our", "their")
SPEAKING = frozenset((
    "robot", "you", "nothing", "everything", "nobody", "none", "all", "no", "not", "yes", "is", "are", "was", "were",
    "has", "have", "had", "did", "does", "and", "or", "but", "as", "done", "stop", "stopped", "ok", "okay", "completed",
    "succeeded", "failed", "expected", "went",
))  # fmt: skip
"""Words of a name with which it could read as a part of a sentence."""
ROBOT = "robot"
"""What domains call the robot itself."""

MOST_PLAIN_WORDS = 4
"""Most words of a name that stands in a sentence without quotation marks."""
_PRONOUNS = ("something", "anything", "nothing", "everything")

_AN = re.compile(
    r"(?!uni|use|usu|ute|u[^aeiou ]?\b|one\b|once|eu|ewe)[aeiou]|hour|honest|heir|8|11\b|18\b|[fhlmnrsx]\b", re.I
)
"""Beginnings of words that follow `an`."""
_PLURAL_NAME = re.compile(r"\w[^\Wsui]s$", re.I)
_SINGULAR_NAMES = ("lens", "gas", "canvas", "atlas", "chaos")
_INVARIANT = ("evidence", "information", "news", "series")
_AUXILIARY = re.compile(r"\b(?:is|are|was|were|has|have|can|could|will|would|must|should|may|might|does|do)\b")
_AGREEING = {"is": "are", "was": "were", "has": "have", "does": "do"}
_PAST = {"is": "was", "are": "were", "has": "had", "have": "had"}
_SUBJECT = re.compile(r"\{(\w+)(?:!s)?\}")
_VERB = re.compile(r"(\{\w+(?:!s)?\} )((?:already |still |now |also |only )*)(\w+[^\Ws]s)\b")
_OWNS = re.compile(r"has (?:an?|the|only|one|two|\{)\b")
_BRACKETS = re.compile(r"\[(\w+)\]")
_THERE = re.compile(r"there (is|are) (no |a |an |some )?")
_ARTICLE = re.compile(r"\b(?:the|a|an) (?=\{\w+\})", re.I)
_GERUNDS = {
    **{"be": "being", "singe": "singeing", "begin": "beginning", "forget": "forgetting", "transfer": "transferring"},
    **{"admit": "admitting", "commit": "committing", "submit": "submitting", "permit": "permitting"},
    **{"equip": "equipping", "occur": "occurring", "upset": "upsetting", "outfit": "outfitting"},
}
_DOUBLES = re.compile(r"(?:un|re(?=[^aeiou])|over|mis|pre)?(?:[^aeiou]*qu|[^aeiou]+|(?<![a-z]))[aeiou][bdfgklmnprtvz]")
"""Verbs that double their last letter: one vowel between consonants, after a prefix at most."""


def the(name: str) -> str:
    """Return a name with its article, `the red cube`; a name that has an article keeps it."""
    if name in _PRONOUNS:
        return name
    plain = name.lower().startswith(tuple(f"{word} " for word in DETERMINERS))
    return shown(name) if plain else f"the {shown(name)}"


def shown(name: str) -> str:
    """Return a name as sentences show it: in quotation marks if it could read as a part of the sentence itself."""
    words = re.split(r"[\s_-]+", name.lower())
    speaks = len(words) > MOST_PLAIN_WORDS or (name != ROBOT and not SPEAKING.isdisjoint(words))
    return f"\u201c{name}\u201d" if speaks else name


def a(noun: str) -> str:
    """Return a noun with its indefinite article: `a cube`, `an apple slice`."""
    return f"{'an' if _AN.match(noun) else 'a'} {noun}"


def capital(text: str) -> str:
    """Return a text with a capital first letter."""
    return text[:1].upper() + text[1:]


def listed(items: Iterable[str], last: str = "and") -> str:
    """Return a list in words: `a`, `a and b`, `a, b and c`."""
    *first, end = [*items] or [""]
    return f"{', '.join(first)} {last} {end}" if first else end


def objects(names: Sequence[str]) -> str:
    """Return object names with articles as a list in words."""
    return listed([the(name) for name in names])


def number(count: int) -> str:
    """Return a number in words up to twelve, in digits above."""
    return NUMBERS[count] if 0 <= count < len(NUMBERS) else str(count)


def ordinal(count: int) -> str:
    """Return an ordinal number: in words up to twelfth, then `13th`, `21st`, `112th`."""
    if 0 <= count < len(_ORDINALS):
        return _ORDINALS[count]
    ending = "th" if 10 <= count % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(count % 10, "th")
    return f"{count}{ending}"


def plural(noun: str) -> str:
    """Return the plural of a noun: `actions`, `boxes`, `recoveries`."""
    if noun in _INVARIANT:
        return noun
    if re.search(r"[^aeiou]y$", noun):
        return f"{noun[:-1]}ies"
    return f"{noun}es" if re.search(r"(?:s|x|z|ch|sh)$", noun) else f"{noun}s"


def counted(count: int, noun: str) -> str:
    """Return a number in words with its noun: `one action`, `three actions`."""
    return f"{number(count)} {noun if count == 1 else plural(noun)}"


def amount(count: int, noun: str) -> str:
    """Return a number in digits with its noun: `1 error`, `2,000 errors`."""
    return f"{count:,} {noun if count == 1 else plural(noun)}"


def is_plural(name: str) -> bool:
    """Return whether a name is a plural, such as `scissors`; guessed from its ending."""
    return bool(_PLURAL_NAME.search(name)) and not name.lower().endswith(_SINGULAR_NAMES)


@dataclass(frozen=True)
class Forms:
    """The words that agree with a subject.

    Attributes:
        many: whether the subject is a plural.
    """

    many: bool

    @classmethod
    def of(cls, names: Sequence[str]) -> Forms:
        """Return the forms for some named objects."""
        return cls(len(names) != 1 or is_plural(names[0]))

    def verb(self, third_person: str) -> str:
        """Return a verb of the third person singular in agreement: `is` -> `are`, `lies` -> `lie`."""
        if not self.many:
            return third_person
        if third_person in _AGREEING:
            return _AGREEING[third_person]
        return re.sub(
            r"(?<=[a-z]{2})ies$", "y", re.sub(r"(?<=ch|sh|ss|.o|.x)es$|(?<![a-z]{2}ie)(?<=\w)s$", "", third_person)
        )

    def agree(self, text: str) -> str:
        """Return a text in which the words in brackets agree: `[is] where [they] should be`, `[was] dropped`."""
        return _BRACKETS.sub(lambda word: self._pronoun(word[1]) or self.verb(word[1]), text)

    def _pronoun(self, word: str) -> str:
        pronouns = {"they": "it", "them": "it", "their": "its"}
        return word if self.many and word in pronouns else pronouns.get(word, "")


def clause(template: str, *terms: str, holds: bool = True, **named: str) -> str:
    """Return a clause with names in it, in which articles, number and negation agree.

    Args:
        template: `{0} is on {1}`, `the {thing} stands on the {place}`; `{0} filled with {1}` has no verb and gets `is`.
        terms: the names for numbers in braces; each gets an article, except at `{1!s}`.
        holds: False for the negation.
        named: the names for names in braces.
    """
    text, given = _ARTICLE.sub("", template), {**{str(i): term for i, term in enumerate(terms)}, **named}
    subject = _SUBJECT.match(text)
    many = subject is not None and is_plural(given[subject[1]])
    return filled(_agreeing(text, many, holds), *terms, **named)


def filled(template: str, *terms: str, **named: str) -> str:
    """Return a template with names in it; each gets an article, except at `{name!s}`."""
    return _ARTICLE.sub("", template).format(*map(_Name, terms), **{key: _Name(name) for key, name in named.items()})


class _Name(str):
    __slots__ = ()

    def __format__(self, spec: str) -> str:
        return the(str.__str__(self))

    def __str__(self) -> str:
        return shown(str.__str__(self))


def _agreeing(text: str, many: bool, holds: bool) -> str:
    """Return a template with a verb that agrees with its subject, negated if it does not hold."""
    if not holds and (there := _THERE.match(text)):
        return f"there {there[1]} {'' if there[2] == 'no ' else 'no '}{text[there.end() :]}"
    if (found := _VERB.match(text)) and (not _AUXILIARY.match(found[3]) or _OWNS.match(text, found.start(3))):
        if holds and not many:
            return text
        auxiliary = "" if holds else "do not " if many else "does not "
        return f"{found[1]}{auxiliary}{found[2]}{Forms(True).verb(found[3])}{text[found.end() :]}"
    if found := _AUXILIARY.search(text):
        before, verb, rest = text[: found.start()], found[0], text[found.end() :]
        if many:
            verb = _AGREEING.get(verb, verb)
        if not holds:
            verb, rest = (verb, rest.removeprefix(" not")) if rest.startswith(" not ") else (f"{verb} not", rest)
        return f"{before}{verb}{rest}".replace("can not", "cannot")
    if subject := _SUBJECT.search(text):
        verb = f"{'are' if many else 'is'}{'' if holds else ' not'}"
        return f"{text[: subject.end()]} {verb}{text[subject.end() :]}".replace("not not ", "")
    return text if holds else f"it is not true that {text}"


def past(text: str) -> str:
    """Return clauses in the present as clauses in the past: `the pot is open` -> `the pot was open`."""
    return re.sub(r"\b(?:is|are|has|have)\b", lambda verb: _PAST[verb[0]], text)


def gerund(verb: str) -> str:
    """Return the participle of a verb: `putting`, `slicing`, `opening`."""
    if verb in _GERUNDS:
        return _GERUNDS[verb]
    if _DOUBLES.fullmatch(verb):
        return f"{verb}{verb[-1]}ing"
    if verb.endswith("ie"):
        return f"{verb[:-2]}ying"
    return f"{verb.removesuffix('e') if not verb.endswith(('ee', 'oe', 'ye')) else verb}ing"


def doing(phrase: str) -> str:
    """Return an instruction as a participle phrase: `put it down` -> `putting it down`."""
    verb, space, rest = phrase.partition(" ")
    return f"{gerund(verb)}{space}{rest}"
