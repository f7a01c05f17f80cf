"""Answers to questions about a run, from its base of facts.

A question is read by the one grammar into a proposition and what is asked of it (`nsrecover.language.questions`). Yes
and no are computed against the proposition as it was asked, negated or not; what the records do not say is said to be
unknown. A question that is not read says so, and offers three that are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nsrecover.core.episode import Episode
from nsrecover.core.facts import FactScene
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.answers import course, events, scene, times
from nsrecover.explanation.answers.events import RunAnswer
from nsrecover.explanation.answers.run import AskedRun, asked_run
from nsrecover.explanation.answers.what_if import what_if
from nsrecover.explanation.audience import Audience, Phrasing
from nsrecover.language.questions import GENERIC, AskedQuestion, Gap, Proposition, Things, When, Who, read_question
from nsrecover.language.tables import WORDS
from nsrecover.monitoring.fact_belief import FactModel
from nsrecover.util.english import capital, listed, the
from nsrecover.util.python310 import StrEnum

_WORD = re.compile(r"[a-z]{3,}")
_ANSWERS: dict[str, Callable[[AskedRun, AskedQuestion], RunAnswer]] = {
    "act": lambda run, asked: (scene.put if asked.gap is Gap.WHERE else events.acted)(run, asked),
    "happen": events.happened,
    "where": scene.placed,
    "state": scene.in_state,
    "hazard": scene.hazard,
    "right": scene.right,
    "standing": scene.right,
    "seen": scene.seen,
    "see": scene.seen,
    "hold": scene.held,
    "layout": lambda run, asked: RunAnswer(scene.layout(run)),
    "about": lambda run, asked: RunAnswer(scene.about(run, asked.said.names[0])),
    "safe": course.safe,
    "enter": course.safe,
    "hurt": course.hurt,
    "moving": course.moving,
    "done": course.done,
    "stopped": course.stopped,
    "goes": course.goes_on,
    "needs": course.needs,
    "waiting": course.waiting,
    "next": course.following,
    "left": course.left,
    "plan": course.plan,
    "do": course.did,
    "wrong": course.wrong,
    "fault": course.fault,
    "noticed": course.noticed,
    "sure": course.sure,
    "recovered": course.recovered,
    "alternative": course.alternative,
    "think": course.thought,
    "looked": course.looked,
    "repeated": course.repeated,
    "skipped": course.skipped,
    "helped": course.helped,
    "vetoed": course.vetoed,
    "told_to_stop": course.told_to_stop,
    "by_hand": course.by_a_person,
    "over": course.over,
    "planned": course.planned,
    "longest": course.longest,
    "asked": course.asked_people,
    "back": scene.back,
    "decide": course.decided,
    "lacking": course.lacking,
    "order": course.ordered,
    "extra": course.extra,
    "people": course.people,
    "sought": course.sought,
    "necessary": course.necessary,
    "took": course.took,
    "cost": course.took,
}
"""Predicate -> its answer."""
EXAMPLES: Sequence[str] = WORDS["questions"]["offered"]
"""Questions that are understood, `{}` for an object."""
OFFERED = 3
NOT_COMPUTED = "What would be different then cannot be computed from the records: ask while the robot is running."


class AnswerValue(StrEnum):
    """What an answer says of the proposition as it was asked, negated or not."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "not known"


@dataclass(frozen=True)
class QuestionAnswer:
    """The answer to a question.

    Attributes:
        question: the question.
        text: the answer.
        understood: whether the question was recognised; if not, the text names questions that are.
        objects: the objects that the answer is about.
        value: yes, no or not known; None if that was not asked, or several questions were.
    """

    question: str
    text: str
    understood: bool = True
    objects: tuple[str, ...] = ()
    value: AnswerValue | None = None


@dataclass(frozen=True)
class WordedAnswer:
    """The text of one answer, with yes, no or not known if that was asked."""

    text: str
    value: AnswerValue | None = None


def ask(
    episode: Episode,
    questions: Sequence[str],
    audience: Audience = Audience.LAY,
    domain: Domain = TABLETOP,
    waits_for: str = "",
    supposing: FactModel | None = None,
) -> tuple[QuestionAnswer, ...]:
    """Answer questions about an episode; "it" and a "what if" without an object refer to that of the question before.

    Args:
        episode: from `nsrecover.records.episode_log.load`, or as it is so far.
        questions: in plain English.
        audience: readers of the answers.
        domain: has the words of facts and actions.
        waits_for: what a person is asked now, while the run goes on.
        supposing: of a symbolic domain, simulates what would have been.
    """
    run = asked_run(episode, Phrasing(audience, domain), waits_for)
    names = run.names if supposing is None else list(dict.fromkeys((*run.names, *supposing.instance.objects)))
    answers: list[QuestionAnswer] = []
    about: tuple[str, ...] = ()
    for question in questions:
        found = [_resolved(run, each, about) for each in read_question(question, names, domain)]
        told = [_answered(run, each, supposing) for each in found]
        named = next((each.said.names for each in found if each.said.names), ())
        if not told or None in told:
            answers.append(QuestionAnswer(question, _not_understood(run, question, found), False, named[:1]))
        else:
            said = [each for each in told if each is not None]
            text, value = " ".join(dict.fromkeys(each.text for each in said)), said[0].value if len(said) == 1 else None
            answers.append(QuestionAnswer(question, text, True, named[:1], value))
        about = named or about
    return tuple(answers)


def _resolved(run: AskedRun, asked: AskedQuestion, about: tuple[str, ...]) -> AskedQuestion:
    """A question in which "it" is the object that was spoken of."""
    said = _with_stuff(run, asked.said)
    needs_object = said.predicate in ("act", "where", "state", "happen") or (asked.gap is Gap.IF and not said.names)
    if said.things is Things.IT and about and needs_object:
        said = replace(said, names=about, things=Things.NAMED)
    elif asked.gap is Gap.IF and said.who is Who.ROBOT and not said.names:
        moved = [action.arguments[0] for _, recovery in run.recoveries for action in recovery.actions][:1]
        said = replace(
            said, predicate="act", value=said.value or (GENERIC,), names=about or tuple(moved), things=Things.NAMED
        )
    if said.predicate == "act" and not said.names and said.place[:1] == ("to",):
        said = replace(said, names=said.place[1:], place=())
    if said.place[1:] == ("",) and about:
        said = replace(said, place=(said.place[0], about[0]))
    if (
        said.predicate == "act"
        and not said.names
        and not said.place
        and (GENERIC in said.value or asked.gap is Gap.LONG)
    ):
        said = _moving_or_time(asked.gap, said)
    if said.predicate == "act" and GENERIC in said.value and said.who in (Who.ME, Who.PERSON, Who.ANYONE):
        open_ = asked.gap in (Gap.WHAT, Gap.WHICH, Gap.WHERE)
        said = replace(said, predicate=("needs" if open_ else "enter") if said.time in ("now", "should") else "act")
    elif said.predicate == "act" and said.who is Who.ME and said.time in ("now", "should"):
        said = replace(said, predicate="by_hand", names=())
    if said.predicate == "act" and said.who is Who.ROBOT and said.time == "should" and said.names:
        said = replace(said, predicate="planned")
    if said.predicate in ("see", "seen") and asked.gap is Gap.OFTEN:
        said = replace(said, predicate="looked")
    said = _ordering(asked.gap, said)
    if said.predicate in ("enter", "safe"):
        said = replace(said, names=(), place=())
    if said.predicate == "back":
        said = replace(said, times=())
    if said.predicate == "wrong" and said.names:
        said = replace(said, predicate="happen", value=("change",))
    if said.predicate == "moving" and said.names:
        said = replace(said, predicate="happen", value=(GENERIC,))
    return replace(asked, said=said)


def _with_stuff(run: AskedRun, said: Proposition) -> Proposition:
    """A proposition in which what fills an object, as "the wine", stands for that object."""
    found = list[str]()
    for name in said.names:
        variable, is_state, value = name.partition("=")
        named = (
            fact[1]
            for each in run.scenes
            for fact in sorted(getattr(each, "facts", ()))
            if fact[::2] == (variable, value)
        )
        holder = next(named, "") if is_state else name
        if not holder:
            return replace(said, names=(), unknown=(*said.unknown, value.replace("_", " ")))
        found.append(holder)
    return replace(said, names=tuple(found))


def _ordering(gap: Gap, said: Proposition) -> Proposition:
    """Why an action came before another one is a question of their order."""
    bounds = [each for each in said.times if each.when in (When.BEFORE, When.FIRST) and not each.step]
    if gap is not Gap.WHY or said.predicate != "act" or not bounds:
        return said
    others = [name for each in bounds if each.event is not None for name in (*each.event.names, *each.event.place[1:])]
    return Proposition("order", names=(*(said.names or said.place[1:]), *others), unknown=said.unknown)


def _moving_or_time(gap: Gap, said: Proposition) -> Proposition:
    """A question about the robot's moving, or about time taken, has no object."""
    if gap is Gap.LONG:
        return replace(said, predicate="took")
    if gap not in (Gap.POLAR, Gap.WHY):
        return said
    robot = said.who is Who.ROBOT and said.things is Things.NAMED
    return replace(said, predicate="moving") if robot and said.time in ("now", "next") else said


def _answered(run: AskedRun, asked: AskedQuestion, supposing: FactModel | None) -> WordedAnswer | None:
    """The answer; None if the run has not what is asked about."""
    said = asked.said
    known = {*run.names, *(supposing.instance.objects if supposing else ())}
    nowhere = said.place and said.place[1] not in (*known, "table", "gripper")
    about = said.names or said.things or said.place or asked.gap in (Gap.WHICH, Gap.IF)
    wanting = said.predicate in ("where", "state", "about") and not about and said.who is not Who.ROBOT
    if said.unknown or nowhere or wanting or not set(said.names) <= known:
        return None
    marks = [each for each in said.times if each in (events.FIRST_TRY, events.MANY)]
    if said.times and (said.predicate not in times.COVERED or (marks and said.predicate not in ("act", "done"))):
        return None
    if asked.gap is Gap.IF:
        text = _supposed(run, said, supposing)
        return None if text is None else WordedAnswer(text)
    answer = _ANSWERS.get(said.predicate)
    if answer is None or (said.time == "next" and said.predicate in ("happen", "wrong")):
        return None
    part = run if said.predicate == "plan" else times.within(run, said)
    sure = asked.gap is Gap.SURE
    asked = replace(asked, gap=Gap.POLAR) if sure else asked
    told = RunAnswer(part) if isinstance(part, str) else answer(part, asked)
    if said.times and told.holds is not None and not isinstance(part, str) and said.predicate != "plan":
        other = times.within(run, said, worked=False)
        same = isinstance(other, str) or answer(other, asked).holds is told.holds
        told = told if same else replace(told, holds=None)
    if sure:
        told = replace(told, text=f"{told.text} {course.sure(run, asked).text}")
    if asked.gap is not Gap.POLAR:
        return WordedAnswer(told.text)
    if told.holds is None:
        return WordedAnswer(f"{told.unknown} {told.text}", AnswerValue.UNKNOWN)
    value = AnswerValue.YES if told.holds != said.negated else AnswerValue.NO
    if said.wondered:
        return WordedAnswer(told.text, value)
    return WordedAnswer(f"{value.capitalize()}: {told.text}", value)


def _supposed(run: AskedRun, said: Proposition, supposing: FactModel | None) -> str | None:
    """What would have been; None if that cannot be computed."""
    own = said.predicate in ("act", "do") and said.who is Who.ROBOT
    if supposing is not None and isinstance(run.scene, FactScene):
        return what_if(run.episode, said, supposing.instance, supposing.goal)
    if said.predicate == "helped":
        return _without_help(run)
    if own and said.negated and said.names:
        return events.what_if_not(run, said)
    if said.predicate in ("act", "happen") and said.negated and said.who is not Who.ROBOT:
        return events.what_if_it_had_not_happened(run, said)
    if said.predicate in ("where", "state") and isinstance(run.scene, FactScene):
        return NOT_COMPUTED
    if said.predicate == "wrong" and said.negated:
        return events.what_if_it_had_not_happened(run, Proposition("happen", ("change",)))
    if said.predicate == "recovered":
        return course.necessary(run, AskedQuestion(Gap.IF, said)).text
    return NOT_COMPUTED if said.negated or said.time in ("past", "perfect") else None


def _without_help(run: AskedRun) -> str:
    told = course.helped(run, AskedQuestion(Gap.WHAT, Proposition("helped")))
    if told.holds is False:
        return f"Nothing would be different, as far as it is recorded: {told.text[0].lower()}{told.text[1:]}"
    ahead = [each for each in run.happenings if each.deviation.cause.value == "helped"]
    more = (
        f" I would have had to do that myself: {listed(dict.fromkeys(the(each.deviation.name) for each in ahead))}."
        if ahead
        else ""
    )
    return f"{told.text}{more}"


def _not_understood(run: AskedRun, question: str, found: Sequence[AskedQuestion]) -> str:
    """Say so in one line, and offer questions that are understood."""
    odd = [word for each in found for word in each.said.unknown]
    problem = f"I know of no {odd[0]} in this run." if odd else "I did not understand the question."
    several = [name for name in run.names if odd and name.endswith(f" {odd[0]}")]
    if len(several) > 1:
        problem = f"Which {odd[0]} is meant: {listed(map(the, several), 'or')}?"
    named = next((name for each in found for name in each.said.names if name in run.names), "")
    low = question.lower()
    named = named or next((name for name in run.names if name.lower() in low), "")
    words = set(_WORD.findall(low))
    texts = [each.format(named) for each in EXAMPLES if named or "{" not in each]
    near = sorted(texts, key=lambda text: -len(words & set(_WORD.findall(text))))[:OFFERED]
    return f"{problem} You can ask: {' '.join(map(capital, near))}"
