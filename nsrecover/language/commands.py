"""Commands in English → clauses in a row: the grammar's readings, with pronouns and statements resolved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import pairwise

from nsrecover.language.chart import Costly, Grammar, Meaning
from nsrecover.language.frames import (
    BIN,
    FAR,
    PERSONAL,
    Np,
    Part,
    Pose,
    Told,
    Unit,
    clauses,
    is_person,
    is_place,
    is_thing,
    located,
    noun,
    pronoun,
    spoken,
)
from nsrecover.language.lattice import Vocabulary, tokens
from nsrecover.language.meaning import (
    NAME,
    PEOPLE,
    RESULT,
    SWITCHED,
    THE_OPERATOR,
    THINGS,
    Clause,
    Constraint,
    ConstraintKind,
    Phrase,
    Reading,
    Sort,
    Verb,
)
from nsrecover.language.rules import grammar_of
from nsrecover.language.tables import WORDS, listed
from nsrecover.language.words import COMMON, PREPOSITIONS, VERBS, Lexeme, Lexicon, can_be, forms, in_forms

_TABLES = (
    "manners", "particles", "openings", "lying:lying", "answered", "results", "conditions", "colours:colour", "times",
    "hails", "direction", "generic", "checking", "subjects", "numbers", "pronouns", "lead", "denial",
)  # fmt: skip
"""Tables of closed words, each with the class of the grammar if that is not its name in the singular."""
_MOST_READINGS = 40
_LONGEST_NAME = 3
_NO_NOUNS = frozenset(listed(WORDS["no_nouns"]))
_SUPERLATIVE = rf"(?!(?:{'|'.join(listed(WORDS['constraints']['no superlative']))})$)\w{{3,}}est$"
_NO_NAMES = frozenset(
    word for text in (*listed(WORDS["elsewhere"]), *listed(WORDS["adverbs"])) for word in text.split()
)
_NO_TEXT = frozenset(("wearing", "who", "that", "know", "and", "him", "her", *PREPOSITIONS))
"""Words with which nothing begins that is told."""
_OPEN_ENDS = (" to", " for", " the", " a", " is", " are", " need", " needs", " want", " wants", " like", " some")
"""Words with which no mere reason ends."""
_ARTICLES = frozenset(("the", "a", "an", "my", "our", "your", "some", "that", "this", "another", "one", "two"))
_ASKED = {"where": Verb.ASK_WHERE, "name": Verb.ASK, "pose": Verb.POSE, "answer": Verb.ANSWER}
_REPORT = Clause(Verb.TELL, person=THE_OPERATOR, content=RESULT)


@dataclass(frozen=True)
class Refused:
    """A reading that wants what no skill does; `text` names it."""

    text: str


@dataclass(frozen=True)
class Unclear:
    """A reading with a pronoun that stands for nothing said."""

    said: str


@dataclass(frozen=True)
class Unread:
    """No reading: the words from the last one that could be used on."""

    text: str


@dataclass(frozen=True)
class Change:
    """What a correction names: np, a kind of preposition, more, wrong, or dropped if it is denied; and where it is."""

    kind: str
    phrase: Phrase
    place: Phrase | None = None


# --- builders


def _change(what: Np, kind: str = "", prep: tuple[str, str] | None = None) -> Change | None:
    each = located(what)
    if prep is not None and not (kind and prep[0] == "at"):
        kind = prep[0]
    return Change(kind, *each) if each is not None else None


def _list(first: Np, rest: Sequence[Np] = ()) -> Costly | None:
    found = (first, *rest)
    sorts = {(is_person(np.phrase) and not is_thing(np.phrase), np.phrase.sort is Sort.PLACE) for np in found}
    if len(sorts) > 1:
        return None
    return Costly(found, 0.2 if rest and found[-1].parts and not any(np.parts for np in found[:-1]) else 0.0)


def _but_not(first: Np, how: str, second: Np) -> tuple[Np, ...]:
    one, other = first.phrase, second.phrase
    kinds = one.sort is Sort.THING and one.definite and not one.plural
    if "not" in how and kinds and (other.sort is Sort.THING or other.name in ("one", "it")) and one.name != other.name:
        return (first,)  # what is meant is another thing anyway
    limit = Constraint(ConstraintKind.OTHER, f"{how} {second.said}")
    return (replace(first, phrase=first.phrase.limited(limit)),)


def _prep(prep: tuple[str, str], at: Np) -> Part | None:
    if at.phrase.sort is Sort.PRONOUN and at.phrase.name not in FAR:
        return None
    return Part(prep[0], f"{prep[1]} {at.said}", (at,))


def _arg_prep(prep: tuple[str, str], obj: Np) -> Part:
    return Part(prep[0], f"{prep[1]} {obj.said}", (obj,))


def _open_head(words: Sequence[str]) -> Costly | None:
    name, plural = " ".join(words), words[-1].endswith("s") and not words[-1].endswith("ss")
    unfit = words[-1] in _NO_NOUNS or bool(_NO_NAMES & set(words)) or re.search(r"(ly|'s)\b|(?<!e)ed$", name)
    if len(words) > _LONGEST_NAME or unfit:
        return None
    return Costly((Phrase(Sort.THING, name, plural=plural, known=False), name), len(words) * 0.1)


def _head(entry: tuple[Lexeme, str]) -> tuple[Phrase, str]:
    lexeme, text = entry
    sort = Sort.PERSON if lexeme.sort in ("person", "people") else Sort(lexeme.sort)
    return Phrase(sort, lexeme.value, plural=lexeme.plural), text


def _quality(word: Meaning) -> Constraint:
    kind, text = word if isinstance(word, tuple) else ("quality", word)
    return Constraint(ConstraintKind(kind), text)


def _one(det: str | None = None, posts: Sequence[Part] = ()) -> Np | None:
    return Np(Phrase(Sort.PRONOUN, "it"), (), "one") if not posts and det not in ("another", "no") else None


def _that_one(mods: Sequence[Meaning], det: str | None = None, posts: Sequence[Part] = ()) -> Np:
    limits = tuple(each for each in mods if isinstance(each, Constraint))
    told = tuple(each.text for each in mods if isinstance(each, Told))
    text = " ".join(filter(None, (det, *(each.text for each in mods if each), "one")))
    return Np(Phrase(Sort.PRONOUN, "one", words=told, constraints=limits), tuple(posts), text)


def _act_split(
    verb: tuple[str, str, str], obj: Meaning, particle: str, args: Sequence[Part] = (), neg: Meaning = None
) -> Meaning:
    if verb[2] != particle:
        return None
    return clauses((verb[0], f"{verb[1]} {particle}"), (Part("np", "", obj), *args), neg is not None)


def _gapped(
    verb: tuple[str, str], args: Sequence[Part], more: Sequence[Sequence[Part]], neg: Meaning = None
) -> Meaning:
    """As in "put the bread on the desk and the milk in the fridge": the verb is meant several times."""
    kinds = {tuple("to" if part.kind == "at" else part.kind for part in each) for each in (args, *more)}
    return (
        _together(clauses(verb, each, neg is not None) for each in (args, *more))
        if len(kinds) == 1 and len(args) > 1
        else None
    )


def _together(made: Iterable[Meaning]) -> Costly | None:
    """The clauses of several units as one unit; None if one of them has none."""
    every = list(made)
    units: list[Unit | None] = [each.meaning if isinstance(each, Costly) else each for each in every]
    if any(unit is None or unit.kind not in ("do", "wish") for unit in units):
        return None
    whole = tuple(each for unit in units if unit is not None for each in unit.clauses)
    return Costly(Unit("do", whole), sum(each.cost for each in every if isinstance(each, Costly)))


def _posed(who: Np, pose: tuple[Lexeme, str], place: Part | None = None) -> Meaning:
    if who.phrase.sort is not Sort.PERSON or who.phrase.name != "person":
        return None
    phrase = replace(who.phrase, sort=Sort.POSED, name=pose[0].value)
    return Unit("stated", (), (replace(who, phrase=phrase, parts=(*who.parts, *([place] if place else ()))),))


_DUTIES = ("goes", "go", "belongs", "belong", "should", "must", "ought", "needs", "need", "wants", "want", "gets")
"""Words with which a statement about something says what is to be done with it."""
_STATES = {"open": Verb.OPEN, "closed": Verb.CLOSE, "on": Verb.TURN_ON, "off": Verb.TURN_OFF}


def _does(
    verb: tuple[str, str] | str,
    what: tuple[Np, ...] = (),
    args: Sequence[Part] = (),
    to: Part | Np | None = None,
    who: Np | None = None,
    only: str = "",
    never: str = "",
) -> Meaning:
    """What is to be done with something, by the verb that was said or is meant."""
    act, said = (verb, "want") if isinstance(verb, str) else verb
    at = Part("to", "to", (to,)) if isinstance(to, Np) else to
    thing = what or ((who,) if who is not None else ())
    if (only and act != only) or act == never or (act == "place" and not all(is_thing(np.phrase) for np in thing)):
        return None
    if at is not None:
        act = "bring" if act == "place" and is_person(at.nouns[0].phrase) else act
        at = replace(at, kind="to") if at.kind == "at" else at
    parts = (*([Part("np", "", thing)] if thing else []), *args, *([at] if at is not None else []))
    return clauses((act, said), parts)


def _made_so(what: Np, state: str) -> Meaning:
    """As in "make sure that the door is open", "lamp off"."""
    each = located(what)
    if each is None or each[0].sort is not Sort.PLACE or each[1] is not None:
        return None
    return Unit("do", (Clause(_STATES[state], target=each[0]),))


def _wanted(what: tuple[Np, ...], result: Meaning) -> Meaning:
    """What is to be done with something, where it is to be, or in which state: "I want the lamp switched off"."""
    if isinstance(result, Part):
        return _does("place", what, to=result)
    if isinstance(result, str):
        return _together(_made_so(np, result) for np in what)
    return _does(result[0], what, result[1])


def _said_of(what: Np, words: Sequence[str], place: Part | None = None) -> Unit | None:
    """A statement that names nothing else than where something is: "Ann is watching a film in the study"."""
    if words[0] in _DUTIES:
        return None
    bare = what.phrase.sort in THINGS and what.said == what.phrase.name and what.phrase.known
    if what.phrase.sort is Sort.PRONOUN or what.phrase == THE_OPERATOR or bare:
        return None
    at = located(place.nouns[0]) if place is not None and place.kind in ("at", "near", "from", "to") else None
    if place is not None and (at is None or at[0].sort is not Sort.PLACE):
        return None
    return Unit("said", (), (what,), at[0] if at else None, " ".join((what.said, *words)))


def _person_did(who: tuple[Lexeme, str], words: Sequence[str]) -> Unit:
    return Unit("said", (), (Np(_head(who)[0], (), who[1]),), text=" ".join((who[1], *words)))


def _wish(who: Np, what: tuple[Np, ...], args: Sequence[Part] = ()) -> Meaning:
    if who.phrase.sort is Sort.PLACE:
        return _does("place", what, to=who) if not args else None
    pronoun_at = what[0].phrase.sort is Sort.PRONOUN and any(part.kind == "at" for part in args)
    if not is_person(who.phrase) or pronoun_at:
        return None
    given = () if any(part.kind in ("to", "for") for part in args) else (Part("to", "to", (who,)),)
    made = clauses(("bring", "want"), (Part("np", "", what), *args, *given))
    return Costly(replace(made.meaning, kind="wish"), made.cost) if isinstance(made, Costly) else made


def _for_me(clause: Unit) -> Unit | None:
    """As in "I want to get rid of the box", "I want to find my watch"; other things a speaker wants to do alone."""
    gone = all(
        each.verb is Verb.FIND or (each.target is not None and each.target.name == BIN) for each in clause.clauses
    )
    return clause if clause.kind == "do" and gone else None


_SOUGHT = Phrase(Sort.PRONOUN, "sought")
"""What was spoken of last, of a look that names nothing; it stands for nothing else."""
_STATED = ("stated", "at", "said", "lost", "reason")


def _place_of(at: Part | None) -> Phrase | None:
    each = located(at.nouns[0]) if at is not None else None
    return each[0] if each is not None else None


def _wishes(who: Np, what: tuple[Np, ...], who2: Np, what2: tuple[Np, ...]) -> Meaning:
    """As in "Ann gets the cup, Tom the plate"."""
    return _together(_wish(one, things) for one, things in ((who, what), (who2, what2)))


def _again_go(prep: tuple[str, str], what: Np) -> Meaning:
    """As in "walk to the hall and then into the study"."""
    each = located(what)
    if each is None or each[0].sort is not Sort.PLACE or prep[0] not in ("to", "at"):
        return None
    return Unit("again", (Clause(Verb.GO, target=each[0]),), text=prep[0])


def _wish_only(what: tuple[Np, ...], args: Sequence[Part] = ()) -> Meaning:
    if any(part.kind not in ("from", "for", "to") for part in args):
        return None
    if any(part.kind == "at" for np in what for part in np.parts) and not any(args):
        return None
    return _wish(Np(THE_OPERATOR), what, args)


def _named(np: Np) -> bool:
    """Whether the first word of a noun phrase can be no unknown verb."""
    bare = np.phrase.known and not np.phrase.constraints and not np.phrase.words
    return np.said.partition(" ")[0] in _ARTICLES or " " not in np.said or bare


def _topic(what: tuple[Np, ...], clause: Unit) -> Meaning:
    pronouns = [phrase for each in clause.clauses for phrase in each.phrases if phrase.sort is Sort.PRONOUN]
    return Unit("do", clause.clauses, what) if clause.kind == "do" and pronouns else None


def _stated_at(what: tuple[Np, ...] | Np, at: Part) -> Unit | None:
    each = located(at.nouns[0])
    if each is None or not is_place(each[0]) or at.kind not in ("at", "near", "from"):
        return None
    what = (what,) if isinstance(what, Np) else what
    if any(np.phrase.sort is Sort.PLACE for np in what):
        return Unit("stated", (), what)
    return Unit("at", (), what, each[0])


def _lost(who: Np, what: tuple[Np, ...], args: Sequence[Part] = ()) -> Unit | None:
    if not is_person(who.phrase) or not all(is_thing(np.phrase) for np in what):
        return None
    at, mine = _place_of(args[0] if args else None), who.phrase == THE_OPERATOR
    if len(what) == 1 and what[0].phrase.sort is Sort.PRONOUN:
        return Unit("at", (), what, at) if at is not None else None
    return Unit("lost", (), what if mine else (who, *what), at, "" if mine else who.said)


def _counted(what: tuple[Np, ...], seen: Sequence[Meaning] = ()) -> Meaning:
    if len(what) != 1:
        return None
    np = what[0]
    poses = [post.name for post in seen if isinstance(post, Pose)]
    parts = tuple(post for post in seen if isinstance(post, Part))
    limits = tuple(post for post in seen if isinstance(post, Constraint))
    lying = np.phrase.sort in PEOPLE and any(part.text.startswith("lying ") for part in parts)
    if lying or len(poses) + len(parts) + len(limits) < sum(bool(post) for post in seen):
        return None
    phrase = np.phrase.limited(*limits)
    if poses and phrase.sort is Sort.PERSON:
        phrase = replace(phrase, sort=Sort.POSED, name=poses[0])
    np = replace(np, phrase=phrase, parts=(*np.parts, *parts))
    each = located(np)
    if each is None:
        return None
    phrase, place = each
    if phrase.sort in PEOPLE:
        everyone = [each for each in phrase.constraints if each.text in ("everyone", "everybody")]
        phrase = replace(phrase, constraints=tuple(each for each in phrase.constraints if each not in everyone))
        return Unit("do", (Clause(Verb.COUNT, None, place, person=phrase),))
    if phrase.sort is Sort.PRONOUN and phrase.name in ("them", "it"):
        return Unit("do", (Clause(Verb.COUNT, phrase, place),))
    if phrase.sort is Sort.PLACE or phrase.sort is Sort.PRONOUN:
        return None
    return Unit("do", (Clause(Verb.COUNT, replace(phrase, plural=True, count="", definite=False), place),))


def _where(what: Np) -> Meaning:
    made = _does("find", (what,))
    if not isinstance(made, Costly) or made.meaning.kind != "do" or made.meaning.clauses[0].verb is not Verb.FIND:
        return None
    told = (_REPORT,) if made.meaning.clauses[0].person is not None else ()
    return Unit("do", (*made.meaning.clauses, *told))


def _told(content: Meaning = "", who: tuple[Np, ...] | None = None, verb: str = "") -> Meaning:
    kind, text = content if isinstance(content, tuple) else ("answered", content)
    whom = who[0].phrase if who else THE_OPERATOR
    first = text.partition(" ")[0]
    named = who is not None and who[-1].phrase.sort is Sort.PERSON and not who[-1].parts
    if kind == "says" and (first == text or (first in _NO_TEXT and not (first in ("her", "his") and named))):
        return None
    if kind == "request" and whom == THE_OPERATOR:
        return None
    if kind == "asks" or (kind == "says" and whom == THE_OPERATOR):
        return Costly(Unit("refused", text=f"I have no skill to find out '{text}'."), 0.5)
    return spoken("tell", who, text)


def _told_count(who: tuple[Np, ...], what: tuple[Np, ...], seen: Sequence[Meaning] = (), verb: str = "") -> Meaning:
    """As in "tell Ann how many cups are on the desk": the operator's count is told anyway."""
    counted, told = _counted(what, seen), spoken("tell", who, RESULT)
    if counted is None or told is None:
        return None
    operator = all(clause.person == THE_OPERATOR for clause in told.clauses)
    return counted if operator else Unit("do", (*counted.clauses, *told.clauses))


def _asked_person(verb: str, who: tuple[Np, ...] | None = None, owner: str = "", what: Np | None = None) -> Meaning:
    """What is asked of a person, seen of a person, or answered: where something is, a name, a pose, a question."""
    people = who or (Np(Phrase(Sort.PERSON, owner) if owner else Phrase(Sort.PRONOUN, "him")),)
    each = located(people[0]) if len(people) == 1 else None
    if each is None or not is_person(each[0]) or (verb == "answer" and each[0] == THE_OPERATOR):
        return None
    if verb == "where" and not (what is not None and is_thing(what.phrase)):
        return None
    thing = what.phrase if what is not None else None
    clause = Clause(_ASKED[verb], thing, person=each[0], person_at=each[1], content=NAME if verb == "name" else "")
    return Unit("do", (clause, _REPORT) if verb in ("pose", "name") else (clause,))


def _fronted(front: Part, clause: Unit) -> Meaning:
    each = located(front.nouns[0])
    if clause.kind not in ("do", "wish") or (clause.kind == "wish" and front.kind != "from"):
        return None
    if not clause.clauses or each is None or not is_place(each[0]) or front.kind not in ("at", "from"):
        return None
    first, *rest = clause.clauses
    if (first.source is None and first.thing is not None) or (first.verb is Verb.COUNT and first.source is None):
        first = replace(first, source=each[0])
    elif first.person is not None and first.person_at is None and first.person != THE_OPERATOR:
        first = replace(first, person_at=each[0])
    else:
        return None
    return Unit("do", (first, *rest))


def _mentions(who: Np, what: Np | None = None, place: Np | None = None, at: Part | None = None) -> Unit | None:
    """What is said of a person and a thing or place that the person seeks."""
    other = what or place or (at.nouns[0] if at is not None else None)
    fits = is_person(who.phrase) and other is not None and (place is None or place.phrase.sort is Sort.PLACE)
    return Unit("stated", (), (who, other)) if fits and other is not None else None


_BUILDERS: dict[str, Callable[..., Meaning]] = {
    "does": _does,
    "act": lambda verb, args=(), neg=None, how=None: clauses(verb, args, neg is not None, how),
    "change": _change,
    "restarted": lambda clause: replace(clause, kind="restart") if clause.kind == "do" else None,
    "asked_person": _asked_person,
    "mentions": _mentions,
    "text": str,
    "asks": lambda text: ("asks", text),
    "says": lambda text: ("says", text),
    "request": lambda text: ("request", text),
    "reason": lambda text: Unit("reason", text=text),
    "quality": lambda text: Unit("quality", text=text),
    "refused": lambda text: Unit("refused", text=text),
    "most": lambda how, word: Constraint(ConstraintKind.SIZE, f"{how} {_quality(word).text}"),
    "told_apart": lambda word: Told(word),
    "asked": lambda who, content, verb="": spoken("ask", who, content),
    "tells": lambda who, content, verb="": spoken("tell", who, content),
    "sequence": lambda first, rest, odd=None: (*([odd] if odd else ()), first, *rest),
    "same": lambda **labels: next(iter(labels.values())),
    "empty": lambda **_: "",
    "run_on": lambda clause: (
        clause if not isinstance(clause, Unit) or clause.kind in ("do", "refused", "at", "again") else None
    ),
    "there_post": lambda word: Part("at", word, (Np(Phrase(Sort.PRONOUN, "there"), (), word),)),
    "fixed_part": lambda what, prep=None: what,
    "list": _list,
    "either_of": lambda first, second: (replace(first, other=second),) if is_thing(first.phrase) else None,
    "but_not": _but_not,
    "pronoun": pronoun,
    "noun": noun,
    "one": _one,
    "that_one": _that_one,
    "mod": _quality,
    "place_mod": lambda word: Part("at", f"in the {word[1]}", (Np(_head(word)[0], (), word[1]),)),
    "generic_head": lambda word: (Phrase(Sort.THING, "object", plural=word.endswith("s")), word),
    "verb_head": lambda word: (Phrase(Sort.THING, word), f"{word} ") if word not in _NO_NOUNS else None,
    "side": lambda word: Constraint(ConstraintKind.SIDE, f"on the {word[1]} side"),
    "is_so": lambda what, word, who=None: _said_of(what, ("is", word[1] if isinstance(word, tuple) else word)),
    "said_of": _said_of,
    "person_did": _person_did,
    "person_does": lambda who, words: _person_did(who, words) if words[0] not in (*VERBS, "know") else None,
    "wanted": _wanted,
    "done": lambda verb, args=(): (verb, args),
    "given": lambda prep, obj: _arg_prep(prep, obj) if prep[0] in ("to", "for") else None,
    "acts": lambda clause, more=(): _together((clause, *more)) if more else clause,
    "looked_first": lambda clause, at=None: _fronted(at, clause) if at is not None else clause,
    "lost_it": lambda what: Unit("lost", (), (what,)),
    "mine": lambda: Part("of", "of mine", (Np(THE_OPERATOR),)),
    "for_me": _for_me,
    "guided": lambda verb, who, args=(), to=None: _does(
        "guide" if to is not None or any(part.kind == "to" for part in args) else "find", (), args, to, who
    ),
    "within": lambda place: (Part("at", "in", (place,)),) if place.phrase.sort is Sort.PLACE else None,
    "reported": lambda who=None: _told(RESULT, who),
    "told_count": _told_count,
    "asked_last": lambda verb, content: spoken("ask", (Np(Phrase(Sort.PRONOUN, "him"), (), "him"),), content),
    "unknown_mod": lambda word: _quality(("size", word) if re.match(_SUPERLATIVE, word) else word),
    "known_mod": _quality,
    "head": _head,
    "open_head": lambda words: _open_head(words),
    "compound": lambda before, words: (*before, *words) if not any(word.endswith("ing") for word in words) else None,
    "gapped": _gapped,
    "posed": _posed,
    "prep": _prep,
    "prep_lying": lambda prep, at: _prep((prep[0], f"lying {prep[1]}"), at),
    "of": lambda at: Part("of", f"of {at.said}", (at,)) if at.phrase.sort is not Sort.PRONOUN else None,
    "pose": lambda pose: Pose(pose[0].value),
    "which_mod": _quality,
    "remembered": lambda who, words: Told(" ".join(words)),
    "act_split": _act_split,
    "not_": lambda: "not",
    "arg_np": lambda obj: Part("np", " ".join(np.said for np in obj), obj),
    "arg_prep": _arg_prep,
    "arg_to": lambda prep, obj: _arg_prep(prep, obj) if prep[0] == "to" else None,
    "arg_particle": lambda word: Part("particle", word),
    "arg_manner": lambda word: Part("manner", word),
    "arg_there": lambda word: Part("to", word, (Np(Phrase(Sort.PRONOUN, word), (), word),)),
    "fronted": _fronted,
    "wish": _wish,
    "awaited": lambda who, what, args=(): _wish(who, what, args) if all(np.phrase.known for np in what) else None,
    "wish_me": lambda what, args=(): _wish(Np(THE_OPERATOR), what, args),
    "wish_only": _wish_only,
    "fragment": lambda what, args=(): _wish_only(what, args) if all(map(_named, what)) else None,
    "fragment_so": lambda what, state: _made_so(what, state) if _named(what) else None,
    "topic": _topic,
    "stated": lambda what: None if any(np.phrase.sort is Sort.PRONOUN for np in what) else Unit("stated", (), what),
    "stated_at": _stated_at,
    "lost": _lost,
    "later": lambda at=None: Unit("later", place=_place_of(at)),
    "deed": lambda first, words: (first, *words),
    "told": _told,
    "changes": lambda first, rest: tuple(each for each in (first, *rest) if each is not None),
    "dropped": lambda what: replace(what, kind="dropped"),
    "change_wrong": lambda what: Change("wrong", replace(what.phrase, sort=Sort.PRONOUN)),
    "again_go": _again_go,
    "more_of": lambda what: Unit("more", (), (what,)),
    "both_of": lambda first, second: _list(first, (second,)),
    "or_of": lambda first, second: (replace(first, other=second, ask=True),) if is_thing(first.phrase) else None,
    "wondered": lambda what, who, rest: spoken("ask", (who,), f"{what} {who.said} {rest}"),
    "asked_by": lambda who, clause: (
        Unit("do", clause.clauses, (who,)) if is_person(who.phrase) and clause.kind == "do" else None
    ),
    "afterwards": lambda first, clause: _together((first, clause)),
    "seen_at": lambda what, at: _where(replace(what, parts=(*what.parts, at))),
    "wish_subject": lambda what, args=(): _wish(Np(Phrase(Sort.PRONOUN, "subject")), what, args),
    "wish_owner": lambda who, what, args=(): _wish(Np(Phrase(Sort.PERSON, who)), what, args),
    "looked": lambda at=None: Unit("do", (Clause(Verb.FIND, _SOUGHT, _place_of(at)),)),
    "thought": lambda clause: clause if isinstance(clause, Unit) and clause.kind in _STATED else None,
    "wishes": _wishes,
    "counted": _counted,
    "where": _where,
    "result": lambda: RESULT,
    "person_knows": lambda who, what=None: Unit(
        "said", (), (*([what] if what else ()), Np(_head(who)[0])), text=f"{who[1]} may know"
    ),
}


@cache
def _grammar() -> Grammar:
    return grammar_of("commands", _BUILDERS)


def vocabulary(lexicon: Lexicon) -> Vocabulary:
    """The words of commands in a home."""
    words = Vocabulary(
        _grammar(),
        listed(WORDS["fillers"]),
        ("thing", "category", "place", "person", "verb", "split", "preposition", "number"),
    )
    home = lexicon.home
    for text, entry in lexicon.entries.items():
        name = {"whose": "owner"}.get(entry.sort, entry.sort)
        words.add((text,), name, entry.value if name == "owner" else (entry, text))
        if " " in text and name in ("thing", "place", "category"):
            words.add((text.replace(" ", ""),), name, (entry, text), 1.5)
    _verbs(words)
    for kind, texts in WORDS["prepositions"].items():
        for text in listed(texts):
            words.add((text,), "preposition", (kind, text))
    limits = {**WORDS["constraints"], "sizes": WORDS["sizes"], "order": WORDS["ordinals"]}
    for table in ("size", "gender", "other", "sizes", "order"):
        kind = table.removesuffix("s")
        for text in listed(limits[table]):
            words.add((text,), "gender_mod" if kind == "gender" else kind, (kind, text))
    words.add(listed(WORDS["harmless"]), "harmless")
    looks = {word for place in home.places.values() for word in (*place.looks, *place.name.split()[:-1])}
    looks |= {word for item in home.items.values() for word in item.name.split()[:-1]}
    words.add(looks, "look")
    words.add({note for item in home.items.values() for note in item.notes if note}, "note")
    words.add(listed(WORDS["nice"]), "nice")
    for name in _TABLES:
        table, _, cls = name.partition(":")
        words.add(listed(WORDS[table]), cls or table.removesuffix("s"))
    words.add(("here", "over here", "back here", "over", "back", "along"), "particle")
    nouns = [text for text, entry in lexicon.entries.items() if entry.sort in ("thing", "category") and " " not in text]
    words.add(nouns, "noun_word")
    places = [(text, entry) for text, entry in lexicon.entries.items() if entry.sort == "place" and " " not in text]
    for text, entry in places:
        words.add((text,), "place_word", (entry, text))
    words.know(COMMON)
    return words


def _verbs(words: Vocabulary) -> None:
    """Verbs in the forms in which commands have them, and those that no skill does."""
    for phrase, act in VERBS.items():
        head, *rest = phrase.split()
        words.know((forms(head)[1],))
        for form, texts in in_forms(phrase).items():
            words.add(texts, f"verb{form}", (act, phrase))
        if not rest and head not in listed(WORDS["hard verbs"]):
            words.add((head,), "verb_noun")
        if len(rest) == 1 and rest[0] in ("up", "down", "on", "off", "out", "away", "over", "back", "along"):
            for form, texts in in_forms(head).items():
                words.add(texts, f"split{form}", (act, head, rest[0]))
    for text in listed(WORDS["unserved"]):
        words.add((text,), "unserved")
        if " " not in text:
            words.add((text,), "verb_noun")
    for kind in ("tell", "say", "ask", "show", "let"):
        for form, texts in [each for text in listed(WORDS["speech"][kind]) for each in in_forms(text).items()]:
            words.add(texts, f"{kind}{form}")
    words.add(("if", "whether", "what", "who", "where", "when", "how", "why", "for", "which", "about"), "asking")


def changes(answer: str, words: Vocabulary) -> tuple[Change, ...]:
    """What a correction changes; nothing if the answer is none."""
    found = _grammar().readings(words.lattice(tokens(answer), every="any", plain="plain"), "Correction")
    return found[0][1] if found else ()


def alike(lexicon: Lexicon, clauses: Sequence[Clause], one: Phrase) -> Phrase | None:
    """What "the blue one", "the other one" is after what clauses are about."""
    return _Discourse("", lexicon).after(clauses).alike(one)


def readings(
    sentence: str, lexicon: Lexicon, words: Vocabulary, before: Sequence[Clause] = ()
) -> Iterator[tuple[float, Reading | Refused | Unclear | Unread]]:
    """The readings of a command, the cheapest first.

    Args:
        sentence: in English.
        lexicon: the words of the home.
        words: those of commands, from `vocabulary`.
        before: what was done before, to which pronouns may refer.
    """
    said = tokens(sentence)
    found_units, reached = _grammar().parsed(words.lattice(said, every="any", plain="plain"), "Command")
    if not found_units and any(word.endswith("'s") for word in said):  # "the pizza's here"
        said = tuple(
            each for word in said for each in (word.removesuffix("'s"), *(["is"] if word.endswith("'s") else []))
        )
        found_units, reached = _grammar().parsed(words.lattice(said, every="any", plain="plain"), "Command")
    if not found_units:
        yield 0.0, Unread(" ".join(said if len(said) <= 12 else said[max(0, reached - 8) :][:12]))
    for cost, units in found_units[:_MOST_READINGS]:
        found = _Discourse(sentence, lexicon).after(before).read(units)
        if isinstance(found, Reading):
            found = replace(found, corrected=tuple(words.corrected(said, found)))
        if found is not None:
            yield cost, found


@dataclass
class _Discourse:
    """What was said so far: what pronouns may mean, and where things are said to be."""

    sentence: str
    lexicon: Lexicon
    clauses: list[Clause] = field(default_factory=list)
    things: list[Phrase] = field(default_factory=list)
    group: tuple[Phrase, ...] = ()
    place: Phrase | None = None
    goal: Phrase | None = None
    person: Phrase | None = None
    where: dict[str, Phrase] = field(default_factory=dict)
    mentioned: list[str] = field(default_factory=list)
    background: list[str] = field(default_factory=list)
    operator_at: Phrase | None = None
    unclear: str = ""
    lost: bool = False
    wishes: list[Clause] = field(default_factory=list)
    quality: str = ""
    crowd: bool = False

    def after(self, clauses: Sequence[Clause]) -> _Discourse:
        """This, with what clauses are about as what was spoken of."""
        for clause in clauses:
            for phrase in (clause.source, clause.target, clause.person, clause.person_at, clause.thing):
                self._note(phrase)
            self.goal = clause.target or self.goal
        return self

    def read(self, units: Sequence[Meaning]) -> Reading | Refused | Unclear | Unread | None:
        """The clauses of units in a row; None if they do not go together."""
        kept, dropped = _restarted(units)
        self.after([clause for unit in dropped for clause in unit.clauses])
        for unit in kept:
            if unit == "":
                continue
            if isinstance(unit, (Np, tuple)) or not isinstance(unit, Unit):
                if not self._fix(unit):
                    return None
                continue
            if unit.kind == "refused":
                return Refused(unit.text)
            if not self._unit(unit):
                return Unclear(self.unclear) if self.unclear else None
        if self.lost and not self.clauses and len(self.mentioned) == 1:
            self.clauses.append(Clause(Verb.FIND, self.things[-1], self.where.get(self.things[-1].name)))
        if not self.clauses:
            return Refused("There is nothing to do in that.") if any(isinstance(u, Unit) for u in units) else None
        self._place_found()
        for one, two in pairwise(self.clauses):
            if one.verb is Verb.PLACE and two.verb is Verb.BRING and one.thing == two.thing and two.source is None:
                return None  # what is put somewhere is not brought elsewhere at once
        used = {phrase.name for clause in self.clauses for phrase in clause.phrases}
        unused = [name for name in self.mentioned if name not in used]
        if unused:
            return Unread(f"{unused[0]}")
        for wish in (each for each in self.wishes if each in self.clauses and each.thing is not None):
            for k in range(self.clauses.index(wish) + 1, len(self.clauses)):
                later = self.clauses[k]
                if later.thing is not None and wish.thing is not None and later.thing.name == wish.thing.name:
                    self.clauses[k] = replace(later, source=later.source or wish.source)
                    self.clauses.remove(wish)
                    break
        found = [each for k, each in enumerate(self.clauses) if not k or not _again(each, self.clauses[k - 1])]
        found = _joined(found)
        return Reading(self.sentence, tuple(found), (), self.operator_at, tuple(self.background))

    def _place_found(self) -> None:
        """As in "bring me my keys, you can find them on the desk": finding says where to bring them from."""
        for k in range(len(self.clauses) - 1, 0, -1):
            clause = self.clauses[k]
            before = next((j for j in range(k) if self.clauses[j].thing == clause.thing is not None), None)
            at = clause.person_at
            if clause.verb is Verb.FIND and at is not None:
                found = next((j for j in range(k) if self.clauses[j].person == clause.person), None)
                if found is not None and self.clauses[found].person_at is None:
                    self.clauses[found] = replace(self.clauses[found], person_at=at)
                    del self.clauses[k]
                continue
            if clause.verb is Verb.FIND and clause.source is not None and before is not None:
                earlier = self.clauses[before]
                if earlier.verb in (Verb.BRING, Verb.PLACE, Verb.TAKE, Verb.FIND) and earlier.source is None:
                    self.clauses[before] = replace(earlier, source=clause.source)
                    del self.clauses[k]

    def _unit(self, unit: Unit) -> bool:
        if unit.kind in ("reason", "said") and unit.text.endswith(_OPEN_ENDS):
            return False
        if unit.kind == "reason":
            self.background.append(unit.text)
            return True
        if unit.kind == "quality":
            self.background.append(unit.text)
            self.quality = unit.text
            return True
        if unit.kind == "later":
            self.operator_at = (
                unit.place if unit.place is not None and unit.place.sort is Sort.PLACE else self.goal or self.place
            )
            return self.operator_at is not None
        if unit.kind == "said":
            self.background.append(unit.text)
            known = any(np.phrase.name in self.lexicon.entries for np in unit.nouns)
            return self._mention(unit.nouns, unit.place, known)
        if unit.kind in ("stated", "lost"):
            self.lost = self.lost or (unit.kind == "lost" and not unit.text)
            return self._mention(unit.nouns, unit.place, True)
        if unit.kind == "at":
            return self._placed(unit)
        if unit.kind == "again" and not (self.clauses and self.clauses[-1].verb is Verb.GO):
            (clause,) = unit.clauses  # as in "the banana is old. Into the bin."
            told = self.background or self.where or self.person is not None
            if self.clauses or unit.text != "to" or (told and not self.things):
                return False
            if self.things:
                unit = replace(unit, clauses=(Clause(Verb.PLACE, self.things[-1], target=clause.target),))
        if unit.kind == "more":
            each = located(unit.nouns[0])
            last = self.clauses[-1] if self.clauses else None
            if last is None or last.thing is None or each is None or each[0].sort not in THINGS:
                return False
            unit = Unit("do", (replace(last, thing=each[0], source=each[1] or last.source),))
        if unit.nouns and not self._mention(unit.nouns, None, False):
            return False
        for clause in (each for said in unit.clauses for each in self._spread(said)):
            made = self._resolved(clause)
            if made is not None and unit.kind == "wish":
                self.wishes.append(made)
            if made is None:
                return False
            self._add(made)
            self._note(made.thing)
        self._end_clauses(unit)
        return True

    def _spread(self, clause: Clause) -> list[Clause]:
        """A clause for each of what "them" stands for."""
        them = clause.thing in (Phrase(Sort.PRONOUN, "them"), Phrase(Sort.PRONOUN, "both")) and len(self.group) > 1
        return [replace(clause, thing=each) for each in self.group] if them else [clause]

    def _mention(self, nouns: Sequence[Np], at: Phrase | None, needed: bool) -> bool:
        found = []
        for np in nouns:
            each = located(np)
            if each is None or each[0].sort is Sort.PRONOUN:
                return False
            phrase, place = each[0], at or each[1]
            self._note(phrase)
            found.append(phrase)
            if place is not None:
                self.where[phrase.name] = place
                self.place = place
                self._found(phrase, place)
            if needed and phrase.sort in THINGS:
                self.mentioned.append(phrase.name)
        self.group = tuple(found)
        return True

    def _placed(self, unit: Unit) -> bool:
        """As in "it should be on the desk", "the cup is in the sink", "Ann is in the hall"."""
        np = unit.nouns[0]
        place = unit.place if unit.place is not None and unit.place.sort is Sort.PLACE else self.goal or self.place
        if place is None or (len(unit.nouns) != 1 and any(n.phrase.sort is Sort.PRONOUN for n in unit.nouns)):
            return False
        if np.phrase.sort is not Sort.PRONOUN and np.phrase != THE_OPERATOR:
            return self._mention(unit.nouns, place, True)
        if np.phrase == THE_OPERATOR:
            self.operator_at = place
            return True
        meant = self.person if np.phrase.name in PERSONAL else self.things[-1] if self.things else self.person
        if meant is None:
            return False
        if meant.name in self.where and self.where[meant.name] != place and meant.sort in THINGS:
            return False
        self.where[meant.name] = place
        self._found(meant, place)
        return True

    def _found(self, meant: Phrase, place: Phrase) -> None:
        """Say in the clauses before where an object or a person is."""
        for k, clause in enumerate(self.clauses):
            if clause.thing == meant and clause.source is None:
                self.clauses[k] = replace(clause, source=place)
            elif clause.person == meant and clause.person_at is None and clause.verb is not Verb.GO:
                self.clauses[k] = replace(clause, person_at=place)

    def _add(self, clause: Clause) -> None:
        thing, person = clause.thing, clause.person
        if thing is not None and clause.source is None and clause.verb is not Verb.ASK_WHERE:
            clause = replace(clause, source=self.where.get(thing.name))
        opened = self.clauses[-1] if self.clauses and self.clauses[-1].verb is Verb.OPEN else None
        if opened is not None and clause.verb in (Verb.TAKE, Verb.BRING) and clause.source is None:
            clause = replace(clause, source=opened.target)
        if person is not None and clause.person_at is None and person.name in self.where:
            clause = replace(clause, person_at=self.where[person.name])
        self.clauses.append(clause)

    def _end_clauses(self, unit: Unit) -> None:
        made = self.clauses[-len(unit.clauses) :] if unit.clauses else []
        self.group = tuple(each.thing for each in made if each.thing is not None) or self.group
        people = {each.person.name for each in made if each.person is not None and each.person != THE_OPERATOR}
        self.crowd = len(people) > 1 if people else self.crowd
        self.after(made)

    def _note(self, phrase: Phrase | None) -> None:
        if phrase is None or phrase.sort is Sort.PRONOUN or phrase == THE_OPERATOR:
            return
        if phrase.sort in THINGS:
            self.things = [each for each in self.things if each.name != phrase.name] + [phrase]
        elif phrase.sort is Sort.PLACE:
            self.place = phrase
        else:
            self.person = phrase

    def _resolved(self, clause: Clause) -> Clause | None:
        """A clause with what its pronouns stand for; None, with the word noted, if they stand for nothing."""
        for slot in ("thing", "source", "target", "person", "person_at"):
            phrase = getattr(clause, slot)
            if phrase is None or phrase.sort is not Sort.PRONOUN:
                continue
            meant = self._meant(phrase, slot, clause)
            if meant is None:
                self.unclear = self.unclear or ("" if phrase == _SOUGHT else phrase.name)
                return None
            now: dict[str, Meaning] = {slot: meant}
            clause = replace(clause, **now)
        if clause.verb is Verb.COUNT and clause.thing is not None:
            clause = replace(clause, thing=replace(clause.thing, plural=True, count="", definite=False))
        asked = self.clauses[-1] if self.clauses else None
        if clause.verb is Verb.TELL and not clause.content:
            if clause.person == THE_OPERATOR and (asked is None or asked.verb is not Verb.ASK):
                return None
            told = [each.content for each in self.clauses if each.verb is Verb.TELL and each.content != RESULT]
            found = asked is not None and asked.verb in (Verb.ASK, Verb.COUNT, Verb.POSE, Verb.FIND)
            content = RESULT if found else (told[-1:] or self.background[-1:] or [""])[0]
            if not content:
                return None
            clause = replace(clause, content=content)
        return clause if clause.thing is None else replace(clause, thing=self._named(clause.thing))

    def _named(self, thing: Phrase) -> Phrase:
        """A noun with its qualities as its name where the home knows no such thing: what a detector is asked for."""
        home = self.lexicon.home
        if thing.sort is not Sort.THING or any(home.could_mean(thing.name, name) for name in home.items):
            return thing
        before = [each for each in thing.constraints if each.kind is ConstraintKind.QUALITY and each.to is None]
        of = [each for each in thing.constraints if each.kind is ConstraintKind.OTHER and each.text.startswith("of ")]
        left = tuple(each for each in thing.constraints if each not in (*before, *of))
        name = " ".join((*(each.text for each in before), thing.name, *(each.text for each in of)))
        return replace(thing, name=name, constraints=left)

    def _meant(self, phrase: Phrase, slot: str, clause: Clause) -> Phrase | None:
        if slot == "person" and self.crowd and phrase.name in PERSONAL:
            return None
        if slot == "person":
            return self.person or (THE_OPERATOR if phrase.name == "subject" else None)
        if slot in ("source", "target", "person_at"):
            if phrase.name == "here":
                home = self.lexicon.home
                return Phrase(Sort.PLACE, home.places[home.robot].room)
            if clause.verb in SWITCHED:
                return self.place
            return self.goal if phrase.name in FAR and self.goal is not None and slot == "target" else self.place
        if phrase.name == "one":
            return None
        if phrase.name == "them" and len(self.group) == 1 and not self.group[0].plural and len(self.things) > 1:
            return None
        if not self.things and phrase.name in ("it", "that", "this"):
            fits = can_be(self.lexicon.home, self.quality)
            return Phrase(Sort.THING, fits[0]) if len(fits) == 1 else None
        return self.things[-1] if self.things else None

    def alike(self, one: Phrase) -> Phrase | None:
        """What "the blue one", "the other one" is after something of the same kind."""
        if not self.things:
            return None
        home, before = self.lexicon.home, self.things[-1]
        told = [each.text for each in one.constraints] + list(one.words)
        kind = home.kind(before.name)
        if told in (["other"], ["others"]):
            others = [name for name, item in home.items.items() if item.kind == kind and name != before.name]
            return Phrase(Sort.THING, others[0]) if len(others) == 1 and before.name in home.items else None
        named = [
            name for name, item in home.items.items() if item.kind == kind and set(told) <= {*name.split(), *item.notes}
        ]
        return Phrase(Sort.THING, named[0]) if len(named) == 1 else replace(one, sort=Sort.THING, name=kind)

    def _fix(self, now: Meaning) -> bool:
        """A correction within the sentence: another thing, place or person for the last slot that it fits."""
        np = now[-1] if isinstance(now, tuple) else now
        each = located(np)
        if each is None:
            return False
        phrase = each[0]
        if phrase.name == "one" and phrase.sort is Sort.PRONOUN:
            other = self.alike(phrase)
            if other is None:
                return False
            phrase = other
        slots = (
            ("thing",) if phrase.sort in THINGS else ("target", "source") if phrase.sort is Sort.PLACE else ("person",)
        )
        for k in range(len(self.clauses) - 1, -1, -1):
            for slot in slots:
                old = getattr(self.clauses[k], slot)
                if old is not None:
                    if phrase.sort is Sort.PRONOUN:
                        return False
                    fixed: dict[str, Meaning] = {slot: phrase}
                    self.clauses = [
                        replace(clause, **fixed) if getattr(clause, slot) == old else clause for clause in self.clauses
                    ]
                    self._note(phrase)
                    return True
        return False


def _restarted(units: Sequence[Meaning]) -> tuple[list[Meaning], list[Unit]]:
    """Units without what a restart replaces, and that: from the last clause with its verb on, else the last one."""
    kept, dropped = list[Meaning](), list[Unit]()
    for unit in units:
        if isinstance(unit, Unit) and unit.kind == "restart":
            said = [k for k, each in enumerate(kept) if isinstance(each, Unit) and each.kind in ("do", "refused")]
            verb = unit.clauses[0].verb
            same = [k for k in said if kept[k].clauses and kept[k].clauses[0].verb is verb]
            first = (same or said or [len(kept)])[-1]
            dropped += [each for each in kept[first:] if isinstance(each, Unit)]
            del kept[first:]
            unit = replace(unit, kind="do")
        kept.append(unit)
    return kept, dropped


def _joined(clauses: list[Clause]) -> list[Clause]:
    """The clauses without taking or fetching what the next one moves: "take the cup from the desk and put it there"."""
    found = list[Clause]()
    for clause in clauses:
        before = found[-1] if found and not found[-1].negated else None
        moved = clause.verb in (Verb.PLACE, Verb.BRING) and clause.thing is not None and not clause.negated
        taken = moved and before is not None and before.verb is Verb.TAKE and before.thing == clause.thing
        if before is not None and taken and clause.source in (None, before.source):
            found[-1] = replace(clause, source=before.source)
            continue
        if before is not None and before.verb is Verb.TAKE and clause == Clause(Verb.FIND, person=THE_OPERATOR):
            found[-1] = replace(before, verb=Verb.BRING, person=THE_OPERATOR)
            continue
        guided = clause.verb is Verb.GUIDE and clause.person_at in (None, before.person_at if before else None)
        if before is not None and guided and before.verb is Verb.FIND and before.person == clause.person:
            found[-1] = replace(clause, person_at=before.person_at)
            continue
        found.append(clause)
    return found


def _again(clause: Clause, before: Clause) -> bool:
    """Whether a clause says what the one before it says: "it belongs on the desk, put it there"."""
    same = ("verb", "thing", "person", "target", "negated")
    known = clause.source in (None, before.source)
    return clause == before or (
        known
        and clause.verb not in (Verb.TELL, Verb.ASK)
        and all(getattr(clause, n) == getattr(before, n) for n in same)
    )
