"""A question about a run → what is asked of which proposition: yes or no, who, what, where, when, why, how, what if."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

from nsrecover.domains.domain import Domain
from nsrecover.domains.household.names import SYNONYMS
from nsrecover.language.chart import Grammar, Meaning
from nsrecover.language.lattice import Vocabulary, tokens
from nsrecover.language.rules import grammar_of
from nsrecover.language.tables import WORDS, listed
from nsrecover.language.words import COMMON, forms
from nsrecover.util.python310 import StrEnum

GRIPPER = "gripper"
"""Place of what is held."""
GENERIC = "move"
"""Verb of every action that moves its object."""


class Gap(StrEnum):
    """What a question asks of its proposition."""

    POLAR = "polar"
    """Whether it holds."""
    WHO = "who"
    WHAT = "what"
    WHICH = "which"
    WHERE = "where"
    WHEN = "when"
    WHY = "why"
    HOW = "how"
    COUNT = "count"
    """How many things."""
    OFTEN = "often"
    """How many times."""
    LONG = "long"
    FAR = "far"
    SURE = "sure"
    """Whether it holds, and what that rests on."""
    IF = "if"
    """What would be if it held."""


class Who(StrEnum):
    """The doer of a proposition."""

    NONE = ""
    ROBOT = "robot"
    ME = "me"
    PERSON = "person"
    ANYONE = "anyone"


class Things(StrEnum):
    """Which things a proposition is about, if they are not named."""

    NAMED = ""
    IT = "it"
    ANY = "any"
    EVERY = "every"
    GROUP = "group"
    """What the plan builds."""
    RUN = "run"


class When(StrEnum):
    """How a time is bounded."""

    BEFORE = "before"
    AFTER = "after"
    AT = "at"
    FIRST = "first"
    """The first of what fits."""
    LAST = "last"
    START = "start"
    END = "end"


@dataclass(frozen=True)
class Bound:
    """A time of a run.

    Attributes:
        when: before, after or at the step or event; or a time that needs neither.
        step: number in the plan, from 1; -1: the last one; 0: none.
        event: what was done or happened then.
    """

    when: When
    step: int = 0
    event: Proposition | None = None


@dataclass(frozen=True)
class Proposition:
    """What a question is about.

    Attributes:
        predicate: `act`, `happen`, `at`, `state`, or a predicate of a run from the grammar.
        value: the operators of an act; what happened; pairs `variable=value` of a state; else further words.
        who: the doer.
        names: the objects, as the run names them.
        things: what else it is about.
        place: relation and object of a place; empty without one.
        negated: whether it is denied.
        time: now, past, next or should; start for what was before.
        unknown: words that name nothing in the run, or several things.
        times: the times that it is about; empty for the whole run.
        wondered: whether it is asked with "not", as in "isn't it there?": English answers that both ways.
    """

    predicate: str
    value: tuple[str, ...] = ()
    who: Who = Who.NONE
    names: tuple[str, ...] = ()
    things: Things = Things.NAMED
    place: tuple[str, ...] = ()
    negated: bool = False
    time: str = ""
    unknown: tuple[str, ...] = ()
    times: tuple[Bound, ...] = ()
    wondered: bool = False


@dataclass(frozen=True)
class AskedQuestion:
    """A question: what is asked of a proposition."""

    gap: Gap
    said: Proposition


@dataclass(frozen=True)
class _Subject:
    who: Who = Who.NONE
    things: Things = Things.NAMED
    names: tuple[str, ...] = ()
    negates: bool = False
    unknown: tuple[str, ...] = ()
    at: Bound | None = None


def _with_object(said: Proposition, obj: _Subject | None, at: _Subject | None = None) -> Proposition:
    if obj is not None:
        negated = said.negated ^ obj.negates
        said = replace(said, names=obj.names, things=obj.things, negated=negated, unknown=obj.unknown)
        said = _at(said, obj.at)
    if at is not None:
        said = replace(said, place=at.names, unknown=(*said.unknown, *at.unknown))
    return said


def _at(said: Proposition, bound: Bound | None) -> Proposition:
    return said if bound is None else replace(said, times=(*said.times, bound))


def _event(kind: str) -> Callable[..., Proposition | None]:
    def made(
        verb: str | tuple[str, ...],
        obj: _Subject | None = None,
        at: _Subject | None = None,
        part: str = "",
        **also: str,
    ) -> Proposition | None:
        value = (verb, *also.values()) if isinstance(verb, str) else verb
        if part:
            value = tuple(name for name, own in (each.rsplit(" ", 1) for each in value) if own == part)
        return _with_object(Proposition(kind, value), obj, at) if value else None

    return made


def _quality(quality: str) -> Proposition:
    denied, _, name = quality.rpartition(" ")
    if name in ("lose", "break", "fall"):
        return Proposition("happen", (name,), time="state")
    return Proposition(name, negated=denied == "not")


def _state(state: tuple[str, ...]) -> Proposition:
    return Proposition("state", state)


def _time(aux: Sequence[str]) -> str:
    return next((each for each in ("should!", "past", "should", "next", "now") if each in aux), "").rstrip("!")


_SEEN = ("act", "happen", "where", "state", "hold", "wrong", "see", "right", "standing")
"""Predicates of what was: what would have been is no question about it."""
_OF_RUN = ("safe", "sure", "needs", "alternative", "fault")
"""Predicates that "it" is the subject of without a meaning."""
_OF_STEP = ("wrong", "done", "took", "repeated", "skipped", "right")
"""Predicates of a step, if a time is its subject."""
_DONE = {"right": "done"}
"""A step that was right was done."""
_OF_DEEDS = ("act", "happen", "hurt")
"""Predicates that are the robot's own if "it" is their subject."""


def _said(
    said: Proposition, subj: _Subject | None = None, aux: Sequence[str] | str | None = (), *nots: str | None
) -> Proposition | None:
    """A predicate with its subject, tense and negations; None if they do not go together."""
    time = _time((aux,) if isinstance(aux, str) else aux or ())
    negated = said.negated ^ bool(sum(each is not None for each in nots) % 2)
    if said.time == "perfect" and time in ("next", "should") and said.predicate in _SEEN:
        return None
    said = replace(said, negated=negated, time=said.time if said.time in ("start", "state") else time)
    if subj is None:
        return said
    said = replace(said, negated=said.negated ^ subj.negates, unknown=(*said.unknown, *subj.unknown))
    said = _at(said, subj.at)
    if subj.who is not Who.NONE:
        return None if said.predicate == "state" or said.who else replace(said, who=subj.who)
    if said.predicate == "needs" and subj.things in (Things.RUN, Things.IT):
        return replace(said, predicate="necessary")
    if said.predicate in _OF_RUN:
        return said
    if subj.at is not None and said.predicate in _OF_STEP:
        return replace(said, predicate=_DONE.get(said.predicate, said.predicate))
    if said.names or said.things is not Things.NAMED:
        ours = said.predicate in _OF_DEEDS and subj.things is Things.IT
        return replace(said, who=Who.ROBOT) if ours else None
    return replace(said, names=subj.names, things=subj.things)


def _asked(gap: Gap) -> Callable[..., AskedQuestion | None]:
    def made(said: Proposition, subj: _Subject | None = None, aux: Sequence[str] | str | None = (), **nots: str | None
             ) -> AskedQuestion | None:  # fmt: skip
        whole = _said(said, subj, aux, *nots.values())
        if whole is None or (gap is Gap.WHICH and (whole.names or whole.things) and not _asks_for_doer(whole)):
            return None
        return AskedQuestion(gap, whole)

    return made


def _asks_for_doer(said: Proposition) -> bool:
    return said.predicate in ("happen", "act", "wrong", "stopped", "noticed", "hurt")


def _noun_asked(gap: Gap) -> Callable[..., AskedQuestion]:
    return lambda noun, **_rest: AskedQuestion(gap, _quality(noun))


def _idiom(idiom: str) -> AskedQuestion:
    predicate, _, gap = idiom.partition(" ")
    return AskedQuestion(Gap(gap) if gap else Gap.WHAT, Proposition(predicate))


def _gap(gap: str, said: Proposition | None = None, aux: str | None = None, **no: str | None) -> AskedQuestion:
    return AskedQuestion(Gap(gap), said or Proposition("wrong"))


def _be(gap: str, subj: _Subject, aux: tuple[str, ...], no: str | None) -> AskedQuestion | None:
    """Where, why or how a thing is."""
    whole = _said(Proposition("where"), subj, aux, no)
    return None if whole is None else AskedQuestion(Gap(gap), whole)


def _passive(gap: str, said: Proposition, aux: str | None = None, **no: str | None) -> AskedQuestion | None:
    whole = _said(said, None, aux, no.get("not"))
    return None if whole is None else AskedQuestion(Gap(gap), whole)


def _risk(risk: str, said: Proposition | None = None) -> Proposition:
    return replace(_quality(risk), unknown=said.unknown if said is not None else ())


def _plain(said: Proposition, subj: _Subject, aux: tuple[str, ...] = (), aux2: tuple[str, ...] = (), **no: str | None
           ) -> Proposition | None:  # fmt: skip
    return _said(said, subj, (*aux, *aux2), no.get("not"))


def _of(subj: _Subject, said: Proposition | None = None, aux: Sequence[str] | str = (), **no: str | None
        ) -> Proposition | None:  # fmt: skip
    found = _said(said or Proposition("seen"), subj, aux, *no.values())
    return found and replace(found, wondered=any(each is not None for each in no.values()))


_OTHER = ("another", "other", "more than one", "more", "second", "different")
_BETTER = ("shorter", "better", "quicker", "faster", "simpler", "easier", "cheaper")


def _noun_of(noun: str, more: Sequence[str] = (), owner: str = "") -> Proposition:
    said = _quality(noun)
    if owner and said.predicate in ("wrong", "fault"):
        return Proposition("fault", who=Who(owner))
    value = next((kind for kind, words in (("shorter", _BETTER), ("other", _OTHER)) if {*words} & {*more}), "")
    return replace(said, negated=said.negated ^ ("no" in more), value=(value,) if value else said.value)


def _there(noun: Proposition, aux: Sequence[str] | str = (), **no: str | None) -> Proposition | None:
    return _said(replace(noun, things=Things.ANY), None, aux, *no.values())


def _is_noun(noun: Proposition, subj: _Subject, aux: str, **no: str | None) -> Proposition | None:
    return _said(noun, subj, aux, no.get("not"))


_MARKS = {
    "try": Bound(When.FIRST, -1),
    "many": Bound(When.AFTER, -2),
}  # fmt: skip
"""Marks that say something of the number of tries."""


def _timed(asked: AskedQuestion, time: Sequence[Bound]) -> AskedQuestion:
    """A question about a time; an object after "before" was handled in the same way as that of the question."""
    said = asked.said
    return replace(asked, said=replace(said, times=(*said.times, *(_filled(each, said) for each in time))))


def _filled(bound: Bound, said: Proposition) -> Bound:
    """A time whose event has the verb, or of a scene the object, of the question if it has none of its own."""
    event, act = bound.event, said.predicate == "act"
    if event is None or event.predicate != "act":
        return bound
    if not event.value and act:
        return replace(bound, event=replace(event, value=said.value, who=said.who))
    bare = not (event.names or event.place or event.unknown or event.times or act)
    about = said.names[:1] or said.place[1:]
    return replace(bound, event=replace(event, names=about, things=Things.NAMED)) if bare else bound


def _nth(said: Proposition, number: str | None) -> Proposition:
    """The event of a number among those of its kind."""
    return replace(said, times=(Bound(When.AT, int(number)),)) if number else said


def _deed(obj: _Subject) -> Proposition:
    return _with_object(Proposition("act", (), Who.ROBOT), obj)


def _event_deed(deed: tuple[str, ...], number: str | None = None, to: _Subject | str | None = None) -> Proposition:
    obj = to if isinstance(to, _Subject) else None
    return _nth(_with_object(Proposition("act", deed, Who.ROBOT), obj), number)


def _at_of(obj: _Subject) -> _Subject:
    return replace(obj, names=("in", *(obj.names or ("",))))


def _ordered(first: _Subject, other: _Subject | None) -> Proposition:
    more = other or _Subject()
    return Proposition("order", names=(*first.names, *more.names), unknown=(*first.unknown, *more.unknown))


_SPEC = re.compile(r"(\w*):(\w*)(?:=(\w+))?(?:@(\w+))?(?:~(\w+))?(!?)")


def _written(gap: str, predicate: str, value: str, who: str, time: str, denied: str) -> Callable[..., Meaning]:
    """The builder of a meaning that is written out in the grammar: `gap:predicate=value@who~time!`."""

    def made(
        said: Proposition | None = None,
        subj: _Subject | None = None,
        obj: _Subject | None = None,
        at: _Subject | None = None,
        inside: _Subject | None = None,
        aux: Sequence[str] | str = (),
        **more: Meaning,
    ) -> AskedQuestion | Proposition | None:
        values = (*more.get("deed", ()), *filter(None, (value, more.get("reply"))))
        found = said or Proposition(predicate)
        found = replace(found, predicate=predicate or found.predicate, value=values or found.value)
        found = replace(found, who=Who(who)) if who else found
        found = _with_object(found, obj, at if inside is None else _at_of(inside))
        found = replace(found, negated=found.negated ^ bool(denied))
        whole = _said(found, subj, aux, *(each for name, each in more.items() if name.startswith("not")))
        whole = whole and replace(whole, time=time or whole.time or found.time)
        return whole if whole is None or not gap else AskedQuestion(Gap(gap), whole)

    return made


class _Builders(dict[str, Callable[..., Meaning]]):
    """The builders by name, and those that are written out."""

    def __contains__(self, name: object) -> bool:
        return super().__contains__(name) or bool(_SPEC.fullmatch(str(name)))

    def __missing__(self, name: str) -> Callable[..., Meaning]:
        spec = _SPEC.fullmatch(name)
        if spec is None:
            raise KeyError(name)
        return _written(*(each or "" for each in spec.groups()))


_BUILDERS = _Builders(
    {
        "all": lambda first, rest: (first, *rest),
        "gap": _gap,
        "gap_passive": _passive,
        "bare": _gap,
        "gap_be": lambda gap, subj, aux, **no: _be(gap, subj, aux, no.get("not")),
        "until": lambda gap: AskedQuestion(Gap(gap), Proposition("left")),
        "timed": lambda said, time: _timed(said, time),
        "time_step": lambda rel, step: Bound(When(rel), step),
        "time_said": lambda rel, said=None, event=None: Bound(When(rel), event=said or event),
        "time_object": lambda rel, obj: None if rel == "at" else Bound(When(rel), event=_deed(obj)),
        "time_mark": lambda mark: _MARKS.get(mark) or Bound(When(mark)),
        "step": lambda number: int(number),
        "step_subject": lambda step: _Subject(things=Things.RUN, at=Bound(When.AT, step)),
        "ranked": lambda rank, subj, aux, said: (
            (found := _asked(Gap.WHAT)(said, subj, aux)) and _timed(found, (Bound(When(rank)),))
        ),
        "what_step": lambda step: AskedQuestion(Gap.WHAT, _at(Proposition("plan"), Bound(When.AT, step))),
        "order": lambda first, other=None: AskedQuestion(Gap.WHY, _ordered(first, other)),
        "order_of": lambda aux, subj, said, other: AskedQuestion(
            Gap.WHY, _ordered(_Subject(names=said.names or said.place[1:], unknown=said.unknown), other)
        ),
        "cleft": lambda aux, who, said, other=None: (
            None
            if said.who
            else AskedQuestion(
                Gap.POLAR if other is None else Gap.WHO,
                replace(said, who=who.who if other is None else Who.NONE, time="past"),
            )
        ),
        "deed_subject": lambda deed, number=None, to=None: _Subject(
            things=Things.RUN, at=Bound(When.AT, event=_event_deed(deed, number, to))
        ),
        "ranked_deed": lambda rank: AskedQuestion(
            Gap.WHAT, Proposition("do", ("worked",), Who.ROBOT, time="past", times=(Bound(When(rank)),))
        ),
        "containing": lambda aux, subj: AskedQuestion(
            Gap.POLAR,
            replace(_with_object(Proposition("where", things=Things.ANY), None, _at_of(subj)), time=_time((aux,))),
        ),
        "noticed_of": lambda verb, obj: (
            _with_object(Proposition("happen", ("change",)), obj) if verb == "noticed" and obj.names else None
        ),
        "need_me": lambda verb, said: Proposition("by_hand" if said.predicate == "act" else "needs"),
        "would_if": lambda said, **also: (
            AskedQuestion(Gap.POLAR, said)
            if said.predicate in ("safe", "hurt", "hazard")
            else AskedQuestion(Gap.IF, also["if"])
        ),
        "event": lambda event, number=None: _nth(
            Proposition("happen", (event,)) if event in ("fall", "drop") else Proposition(event), number
        ),
        "event_deed": _event_deed,
        "same_object": lambda obj: obj,
        "perfect": lambda said: replace(said, time=said.time or "perfect"),
        "time_cause": lambda event: Bound(When.AT, event=event),
        "there_in": lambda state, subj, aux=(), no=(), **nots: _said(
            replace(_state(state), negated="no" in no), subj, aux, *(v for k, v in nots.items() if k.startswith("not"))
        ),
        "how_is": lambda said, aux, subj: AskedQuestion(Gap.HOW, replace(said, who=subj.who, names=subj.names)),
        "about": lambda subj: (
            (subj.names or subj.unknown or None)
            and AskedQuestion(Gap.WHAT, Proposition("about", names=subj.names, unknown=subj.unknown))
        ),
        "made": lambda subj, said: (whole := _said(said, subj, ("past",))) and AskedQuestion(Gap.WHY, whole),
        "who": _asked(Gap.WHO),
        "who_object": _asked(Gap.WHO),
        "whose": _noun_asked(Gap.WHO),
        "what_subject": _asked(Gap.WHICH),
        "what_object": _asked(Gap.WHAT),
        "what_is": _noun_asked(Gap.WHAT),
        "what_noun": lambda noun, subj, aux: AskedQuestion(Gap.WHAT, replace(_quality(noun), who=subj.who)),
        "count_subject": _asked(Gap.COUNT),
        "count_object": _asked(Gap.COUNT),
        "count_of": lambda noun: AskedQuestion(Gap.COUNT, Proposition(noun.rpartition(" ")[2])),
        "count_noun": _noun_asked(Gap.COUNT),
        "if_not": lambda subj: AskedQuestion(
            Gap.IF, Proposition("act", (GENERIC,), subj.who, subj.names, subj.things, negated=True)
        ),
        "without": lambda said: replace(said, who=Who.ROBOT, negated=not said.negated),
        "idiom": _idiom,
        "which_state": lambda subj, first, other, **no: AskedQuestion(
            Gap.HOW, Proposition("state", (*first, *other), names=subj.names, things=subj.things, unknown=subj.unknown)
        ),
        "strange_act": lambda obj, at=None: (
            Proposition("act", (GENERIC,), unknown=obj.unknown) if obj.unknown else None
        ),
        "inverted": _of,
        "inverted_to": lambda said, subj, aux, time, **no: _said(said, subj, (aux, time), *no.values()),
        "noun_of": _noun_of,
        "is_noun": _is_noun,
        "there": _there,
        "there_is": _of,
        "plain": _plain,
        "plain_there": _there,
        "plain_there_is": _of,
        "there_state": lambda state, no=None: replace(_state(state), negated=no is not None),
        "robot": lambda: _Subject(Who.ROBOT),
        "person": lambda who: _Subject(Who(who)),
        "nobody": lambda: _Subject(Who.ANYONE, negates=True),
        "it": lambda: _Subject(things=Things.IT),
        "any": lambda: _Subject(things=Things.ANY),
        "every": lambda: _Subject(things=Things.EVERY),
        "nothing": lambda: _Subject(things=Things.ANY, negates=True),
        "group": lambda: _Subject(things=Things.GROUP),
        "run": lambda: _Subject(things=Things.RUN),
        "object": lambda name: _Subject(names=(name,)),
        "both": lambda first, second: _Subject(
            names=(*first.names, *second.names), unknown=(*first.unknown, *second.unknown)
        ),
        "strange": lambda name, before=(): _Subject(unknown=(" ".join((*before, name)),)),
        "strange_state": lambda name: _Subject(names=(name[0],)),
        "ambiguous": lambda name: _Subject(unknown=(name,)),
        "by": lambda said, who: None if said.who else replace(said, who=who.who, negated=said.negated ^ who.negates),
        "act": _event("act"),
        "happen": _event("happen"),
        "verb": lambda verb: Proposition(verb),
        "sees": lambda verb, obj=None, at=None: _with_object(Proposition(verb), obj, at),
        "do": lambda how=None: Proposition(how or "do"),
        "verb_about": lambda verb, about: (
            replace(about, predicate="noticed", value=(about.predicate,)) if verb in ("noticed", "plan") else None
        ),
        "state": _state,
        "quality": _quality,
        "risk": _risk,
        "place": lambda prep, obj: replace(obj, names=(prep, *(obj.names or ("",)))),
        "hand": lambda prep: _Subject(names=(prep, GRIPPER)),
        "nowhere": lambda: _Subject(),
        "particle": lambda part: part[0],
    }
)


@cache
def grammar() -> Grammar:
    """The grammar of questions."""
    return grammar_of("questions", _BUILDERS)


_TOLD = WORDS["questions"]
_PARTICLES = listed(_TOLD["particles"])


def _others(verb: str) -> list[str]:
    return listed(_TOLD["others"].get(verb, ""))


def _verbs(domain: Domain) -> Iterator[tuple[str, str, str]]:
    """Verb form, its particle, and the operator that it names."""
    for name, operator in domain.operators.items():
        words = operator.words.imperative.replace("[", "{").split("{")
        if operator.words.imperative.startswith("{"):
            for verb in listed(_TOLD["verbs in slots"]):
                for form in {*forms(verb), *(each for other in _others(verb) for each in forms(other))}:
                    yield form, "", f"{name} {verb}"
        first, _, rest = words[0].strip().partition(" ")
        behind = words[1].partition("}")[2].split() if len(words) > 1 else []
        before_place = len(words) > 2 and len(behind) == 1  # "put it on the table"
        part = rest or ("" if before_place or not {*behind[:1]} & {*_PARTICLES} else behind[0])
        verbs = [(each, part) for each in (first, *_others(first)) if each]
        verbs += [(each, "") for each in _others(words[0].strip()) if rest]
        for verb, own in verbs:
            irregular = [_TOLD["past"].get(verb, ""), WORDS["participles"].get(verb, "")]
            for form in {*forms(verb), *filter(None, irregular)}:
                yield form, own, name
                if rest == "to":
                    yield form, "", name


@cache
def _vocabulary(names: tuple[str, ...], domain_words: tuple[tuple[str, str, tuple[str, ...]], ...]) -> Vocabulary:
    words = Vocabulary(grammar(), listed(_TOLD["skipped"]), ("object", "verb", "happen", "quality", "noun", "act"))
    words.know(COMMON)
    for name, text, value in domain_words:
        words.add((text,), name, value, 0.7 if name == "state" else 1.0)
    own = {" ".join(tokens(name)): name for name in names}
    parts = defaultdict[str, set[str]](set)
    for text, name in own.items():
        words.add((text,), "object", name)
        for word in text.split() if " " in text else ():
            parts[word].add(name)
            for noun in ("block", "one", "thing", "object", "piece"):
                parts[f"{word} {noun}"].add(name)
    for said, meant in SYNONYMS.items():
        if meant in own and said not in own:
            words.add((said,), "object", own[meant])
    for text, fitting in parts.items():
        if text not in own and text.split()[0] not in grammar().words:
            words.add((text,), *(("object", next(iter(fitting))) if len(fitting) == 1 else ("ambiguous", text)))
    if "operator" in own:
        words.add(("me", "the user", "the person"), "object", own["operator"], 1.5)
    if "table" not in own and "table" not in parts:
        words.add(("table",), "object", "table")
    return words


def _words_of(domain: Domain) -> tuple[tuple[str, str, tuple[str, ...]], ...]:
    """Class, words and value of the verbs and states of a domain."""
    acts, splits, states = (defaultdict[str, list[str]](list) for _ in range(3))
    for form, part, operator in _verbs(domain):
        acts[f"{form} {part}".strip()].append(operator)
        if part:
            splits[form].append(f"{operator} {part}")
    for text in listed(_TOLD["generic"]):
        if text not in acts:
            acts[text].append(GENERIC)
    for variable in domain.variables.values():
        for value in variable.values:
            said = domain.words.get(value if value in domain.words else variable.name if len(variable.values) == 2
                                    and value != variable.values[0] else value)  # fmt: skip
            texts = {value.replace("_", " "), said.imperative.removeprefix("{0} ").removeprefix("is ") if said else ""}
            for text in filter(None, (*texts, *(each.replace("turned", "switched") for each in texts))):
                if "{" not in text:
                    states[text].append(f"{variable.name}={value}")
                if text.endswith((" on", " off")):
                    states[text.split()[-1]].append(f"{variable.name}={value}")
    for text, meant in _TOLD["said of states"].items():
        states[text] += [meant] * (meant.partition("=")[0] in domain.variables)
    deeds = {
        form: acts.get(verb, [GENERIC])
        for verb, nouns in _TOLD["deeds"].items()
        for noun in listed(nouns)
        for form in (noun, f"{noun}s", f"{noun}es")
    }
    groups = (("act", acts), ("split", splits), ("state", {k: v for k, v in states.items() if v}), ("deed", deeds))
    particles = tuple(("particle", part, (part,)) for part in _PARTICLES)
    return (
        *particles,
        *((name, text, tuple(dict.fromkeys(own))) for name, group in groups for text, own in group.items()),
    )


def read_question(text: str, names: Sequence[str], domain: Domain) -> tuple[AskedQuestion, ...]:
    """What a text asks about a run, one question after the other; empty if it is not understood.

    Args:
        text: in English.
        names: the objects of the run.
        domain: has the words of actions and states.
    """
    words = _vocabulary(tuple(names), _words_of(domain))
    found = grammar().readings(words.lattice(tokens(text)), "Question")
    readings: tuple[AskedQuestion, ...] = found[0][1] if found else ()
    return readings
