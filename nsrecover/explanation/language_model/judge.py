"""Judge of the sentences of a language model: a sentence may state what computed sentences state, and nothing else.

A sentence is split into clauses, and each is brought into a normal form in which synonyms are the same; names, numbers,
negation, order and every word without a synonym stay. It is true if each of its clauses is one of a computed sentence,
or if it is one as a whole. Whatever else it says makes it unreadable, and an unreadable sentence never counts as true.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from nsrecover.core.explanation import Sentence
from nsrecover.explanation.language_model.vocabulary import LONGEST, MARK, RewordingVocabulary
from nsrecover.util.english import NUMBERS

UNREADABLE = "it says something that cannot be checked; use plain statements about what is known, and nothing else"
_ORDERED = ("does", "then", "closest")
"""Predicates of sentences that tell actions in their order: such a sentence is not split."""
_NAME = rf"{MARK}\d+n"
_NAMES = re.compile(rf"^((?:both |so )?)((?:{_NAME}(?:, | and |, and )?)+)(?= )")
_BUT = r"(?:, and|, but| and| but)"
_SAME: tuple[tuple[str, str], ...] = (
    (rf"\b(?:the|a|an) (?={MARK})", ""),
    (r"\b(?:was not able to|was unable to|failed to|did not manage to|was not possible to)\b", "could not"),
    (r"\b(?:attempted|was trying) to\b", "tried to"),
    (r"\bswitch(ed)? (on|off)\b", r"turn\1 \2"),
    (r"\b(?:grasped|grabbed|lifted|took up)\b", "picked up"),
    (r"\b(?:grasp|grab|lift|take up)\b", "pick up"),
    (r"\b(?:placed|set)\b(?! of| aside)", "put"),
    (rf"\bplace (?={MARK})", "put "),
    (r"\binto\b", "in"),
    (r"\b(?:onto|on top of|upon)\b", "on"),
    (rf"^({_NAME}) (?:was|were|got|has been) dropped(?: by the robot)?\b", r"the robot dropped \1"),
    (rf"^({_NAME}) (?:fell|slipped) (?:out of|from) the (?:(?:robot's )?gripper|robot's hand)\b",
     r"the robot dropped \1"),
    (r"\bthe (?:robot|gripper|arm) (?:accidentally )?(?:lost|let go of|let fall|let slip|has dropped|dropped)\b",
     "the robot dropped"),
    (r"\bthe robot accidentally dropped\b", "the robot dropped"),
    (r"\b(?:while moving to|while going to|on its way to|when moving to|en route to)\b", "on the way to"),
    (rf"{_BUT}? (?:it|this|that) (?:had no effect|did nothing|changed nothing|did not work)\b", " without effect"),
    (rf"{_BUT} nothing (?:happened|changed)\b", " without effect"),
    (r"(?:, but| but| and) (?:came (?:up empty|away empty)|(?:got|caught) nothing|did not get hold of it)\b",
     " and came up empty"),
    (r"\b(?:although|even though)\b", "though"),
    (r",? (?:because|since|as) (?=the plan)", ", because "),
    (r"\b(?:was|had) (?:closed|shut|still shut|not been opened|never been opened|never opened)\b", "was still closed"),
    (rf"\b(?:blocked|was blocking|obstructed) (?={MARK})", "was in the way of "),
    (r"\b(?:is missing a step|misses a step|leaves out a step|omits a step)\b", "lacks a step"),
    (r"\bto (?:complete|finish off) the task\b", "to finish the task"),
    (r"^so\b,? ?", "so "),
    (r"\b(?:the robot|it) could not\b", "it could not"),
    (r"\b(?:fell over|tipped over|fell down|was knocked over|was tipped over)$", "toppled"),
    (r"\b(?:has disappeared|is gone|has vanished|went missing|cannot be seen anywhere)\b", "is missing"),
    (r"\b(?:was (?:shifted|displaced|moved)|has been moved|(?<!has )moved)$", "has moved"),
    (r"^(step \d+) (?:failed|did not succeed|was unsuccessful)$", r"\1 went wrong"),
    (r"\bstill (?:lies|stands|lie|stand) (?=on\b)", "is still "),
    (r"(?<!still )(?<!be )\b(?:now )?(?:is|lies|stands|lie|stand) (?:now )?(?=on\b)", "is now "),
    (r"\b(?:was swapped|(?:has )?(?:traded|exchanged|swapped) places)$", "has swapped places"),
    (rf"\bblocks (?={MARK})", "is in the way of "),
    (r"\bcould not be picked up\b", "was not picked up"),
    (r"\bcloser to\b", "nearer to"),
    (r"\bcm (left|right) of\b", r"cm to the \1 of"),
    (r"\bno shorter way\b", "no shorter one"),
    (r"^(?:the way back|the recovery) (?:takes|has|needs)\b", "the recovery takes"),
    (r"\babout (?=\d)", ""),
)  # fmt: skip
"""Synonyms and their normal form, in the order in which they are replaced."""
_BEFORE_SPLIT = (
    (r"^(?:in|at|during) (step \d+),? (?:something went wrong: )?", r"\1 went wrong: "),
    (r"\bsomething went wrong in (step \d+):", r"\1 went wrong:"),
    (r"\b(step \d+ (?:failed|went wrong|did not succeed)),? (?:because|since|as) ", r"\1: "),
    (r", although ", "; "),
)
_ACTION = re.compile(r"\b(step \d+), \w+\([^)]*\),? ")
_ELLIPTIC = re.compile(rf"{_NAME} (?:on|in) ")
_SINGULAR = (("were", "was"), ("are", "is"), ("have", "has"), ("they", "it"), ("them", "it"))
_ORDER = re.compile(
    r"\b(?:first|then|next|after that|finally|lastly|and|the robot (?:should|must|has to|needs to|will))\b,?|,"
)
_INSTRUCTED = "to finish the task"
_TIME = re.compile(r",? ?\bat (\d+:\d{2})\b,?")


@dataclass(frozen=True)
class Judgement:
    """The result of judging one sentence.

    Attributes:
        reason: why the sentence is refused; empty if everything in it is true.
        points: the points of the explanation that the sentence covers.
    """

    reason: str
    points: frozenset[str] = frozenset()

    @property
    def accepted(self) -> bool:
        """Whether the sentence may be shown."""
        return not self.reason


@dataclass(frozen=True)
class Judge:
    """Judges sentences about one failure.

    Attributes:
        vocabulary: the names and quotations in the sentences.
        whole: normal form of a computed sentence -> its points; none for its main clause.
        clauses: normal forms of single clauses.
    """

    vocabulary: RewordingVocabulary
    whole: Mapping[str, frozenset[str]]
    clauses: frozenset[str]

    def __call__(self, sentence: str) -> Judgement:
        """Accept a sentence if each clause of it is one of a computed sentence; refuse it otherwise."""
        text = _masked(sentence, self.vocabulary)
        if text is None:
            return Judgement(UNREADABLE)
        if (form := _normal(text)) in self.whole:
            return Judgement("", self.whole[form])
        clauses = _clauses(text)
        unknown = [each for each in clauses if each not in self.clauses]
        if unknown or not clauses:
            return Judgement(UNREADABLE)
        return Judgement("", frozenset(clauses))


def judge_of(sentences: Sequence[Sentence], names: Iterable[str], quotes: Iterable[str] = ()) -> Judge:
    """A judge of rewordings.

    Args:
        sentences: the computed ones.
        names: the objects of the scene.
        quotes: what may be quoted literally.
    """
    vocabulary = RewordingVocabulary(tuple(dict.fromkeys(filter(None, names))), tuple(quotes))
    whole, parts = dict[str, frozenset[str]](), set[str]()
    for number, sentence in enumerate(sentences):
        text = _masked(sentence.text, vocabulary)
        if text is None:
            continue
        ordered = any(fact.predicate in _ORDERED for fact in sentence.facts)
        clauses = () if ordered else _clauses(text)
        for said in (text, _ACTION.sub(r"\1 ", text)):  # the step may be named without its action
            own = _clauses(said.partition(":")[0] if ordered else said)
            parts.update(each for each in own if not _ELLIPTIC.match(each))
        if not parts.issuperset(clauses):
            clauses = ()
        whole[_normal(text)] = frozenset(clauses) or frozenset((f"sentence {number + 1}",))
        main = _normal(re.split(r"[,:;] (?!and\b)", re.sub(r"^(at \d+:\d{2}),", r"\1", text), maxsplit=1)[0])
        if not ordered and len(main.split()) > 3 and not main.startswith(_INSTRUCTED) and "subgoal" not in main:
            whole.setdefault(main, frozenset())
    return Judge(vocabulary, whole, frozenset(parts))


def _masked(sentence: str, vocabulary: RewordingVocabulary) -> str | None:
    """A sentence with numbers for names; None if it is too long or has unusual characters."""
    masked = vocabulary.mask(sentence) if len(sentence) <= LONGEST else None
    if masked is None:
        return None
    text = masked.text.removesuffix(".").strip()
    numbers = [vocabulary.names.index(token) if token in vocabulary.names else -1 for token in masked.tokens]
    text = re.sub(rf"{MARK}(\d+)n", lambda match: f"{MARK}{numbers[int(match[1])]}n", text)
    text = re.sub(rf"{MARK}(\d+)[aq]", lambda match: masked.tokens[int(match[1])].replace(", ", ","), text)
    for pattern, same in (*_BEFORE_SPLIT, (rf"\b(?:the|a|an) (?={MARK})", "")):
        text = re.sub(pattern, same, text)
    for number, word in enumerate(NUMBERS[1:], start=1):
        text = re.sub(rf"\b{number} (?=actions?\b|moves?\b|steps?\b)", f"{word} ", text)
    return " ".join(text.split())


def _normal(text: str) -> str:
    """The normal form of a masked sentence or clause."""
    times = _TIME.findall(text)
    if len(times) == 1:  # `At 00:36 the robot dropped the pot` and `The robot dropped the pot at 00:36` are the same
        text = " ".join(_TIME.sub(" ", text).split())
    for pattern, same in _SAME:
        text = re.sub(pattern, same, text)
    if text.startswith(_INSTRUCTED):
        text = " ".join(_ORDER.sub(" ", text.replace(":", " ")).split())
    text = " ".join(text.replace(" ,", ",").split())
    return f"{times[0]} {text}" if len(times) == 1 else text


def _clauses(text: str) -> tuple[str, ...]:
    """The normal forms of the clauses of a masked sentence, one for each object that a clause is about."""
    found: list[str] = []
    about: list[str] = []
    for part in filter(None, (each.strip(" ,") for each in _split(text))):
        subject = _NAMES.match(part)
        if subject is not None:
            about, rest = re.findall(_NAME, subject[2]), part[subject.end() :].strip()
        elif (it := re.match(r"(?:it |they )|(?=(?:now|still|is|was|has) )", part)) and about:
            rest = part[it.end() :]
        else:
            about = re.findall(_NAME, part) if len(set(re.findall(_NAME, part))) == 1 else []
            found.append(_normal(part))
            continue
        for many, one in _SINGULAR if len(about) > 1 else ():
            rest = re.sub(rf"\b{many}\b", one, rest)
        found += [_normal(f"{name} " + re.sub(r"\b(?:it|them)\b", name, rest)) for name in about]
    return tuple(found)


def _split(text: str) -> list[str]:
    """The clauses of a sentence; a list of names is not split."""
    pieces = re.split(r"[;:] |,? (?:and|but) (?!\d)", text)
    joined: list[str] = []
    for piece in pieces:
        names_only = re.fullmatch(rf"(?:so |both )?{_NAME}(?:, {_NAME})*,?", joined[-1]) if joined else None
        if names_only:
            joined[-1] = f"{joined[-1].rstrip(',')} and {piece}"
        else:
            joined.append(piece)
    return joined
