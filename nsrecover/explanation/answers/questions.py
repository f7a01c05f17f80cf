"""Answers to questions about a run: which kinds of questions are understood, and by which words.

Questions are recognised by keywords, not by a model. If one is not understood, or has a word that neither the run nor
questions about runs have, the answer says so, tells what is known of the run or of the object that it names, and names
the nearest known questions. "What if you had not" is answered by a search in which that object may not be moved
(`nsrecover.explanation.answers.counterfactuals`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from nsrecover.core.episode import Episode
from nsrecover.domains.domain import Domain
from nsrecover.domains.tabletop.operators import TABLETOP
from nsrecover.explanation.answers import objects, run_questions
from nsrecover.explanation.answers.asked import DETERMINERS, in_own_words, known_questions, mentioned, nearest, strange
from nsrecover.explanation.answers.numbering import turns
from nsrecover.explanation.answers.run_questions import AskedRun
from nsrecover.explanation.audience import Audience, Phrasing
from nsrecover.util.english import listed, the

asks_why = re.compile(r"\bwhy\b|\bwhat for\b|\bhow come\b|\bfor what reason\b|\bwhat (?:made|caused)\b", re.I).search
"""Find the words in a question that ask for a reason; None if there are none."""

asks_what_if = re.compile(
    r"\bwhat (?:happens |would happen |will happen )?if\b|\bhad(?:n't| not)\b|\bwithout (?:moving|touching)\b"
    r"|\bwhat would\b|\bwould .*\bif\b|\bif (?:you|we|they|it|nobody|no one|somebody|someone)(?:'d\b|\u2019d\b| had\b)",
    re.IGNORECASE,
).search
"""Find the words that make a question counterfactual; None if there are none."""


_OMITS = re.compile(r"\bnot\b|n't\b|\bwithout\b|\bleft\b|\bwhat would .* otherwise\b", re.IGNORECASE)


@dataclass(frozen=True)
class QuestionAnswer:
    """The answer to a question.

    Attributes:
        question: the question.
        text: the answer.
        understood: whether the question was recognised; if not, the text tells what is known, and names the nearest
            known questions.
        objects: the objects that the answer is about.
    """

    question: str
    text: str
    understood: bool = True
    objects: tuple[str, ...] = ()


@dataclass(frozen=True)
class QuestionKind:
    """A kind of questions.

    Attributes:
        name: of its function.
        examples: questions of that kind, `{}` for an object; the first one is shown to people.
        asks: finds its words.
        answer: the answer, from the question and the object; None if it is no such question after all.
        wide: whether it is understood in spite of words that the run does not have.
    """

    name: str
    examples: tuple[str, ...]
    asks: Callable[[str], object]
    answer: Callable[[AskedRun, str, str], str | None]
    wide: bool = False

    @property
    def about_object(self) -> bool:
        """Whether an object has to be named."""
        return "{}" in self.examples[0]


def _kind(answer: str, examples: Sequence[str], words: Sequence[str], wide: bool = False) -> QuestionKind:
    about_object = "{}" in examples[0]
    found = getattr(objects if about_object else run_questions, answer)
    pattern = re.compile("|".join(rf"\b(?:{each})\b" for each in words), re.IGNORECASE)
    asked = about_object or answer == "sure"
    respond = found if about_object else lambda run, question, _name: found(run, question) if asked else found(run)
    return QuestionKind(answer, tuple(examples), pattern.search, respond, wide)


KINDS = tuple(_kind(**each) for each in known_questions()["kinds"])
"""The kinds of questions that are understood, in the order in which they are tried."""

_BY_NAME = {kind.name: kind for kind in KINDS}
asks_what_went_wrong, asks_what_was_done = (_BY_NAME[name].asks for name in ("wrong", "recovered"))
"""Find the words in a question that ask what went wrong, and what was done about it; None if there are none."""


def ask(
    episode: Episode,
    questions: Sequence[str],
    audience: Audience = Audience.LAY,
    domain: Domain = TABLETOP,
    waits_for: str = "",
) -> tuple[QuestionAnswer, ...]:
    """Answer questions about an episode; a "what if" without an object refers to that of the previous question.

    Args:
        episode: from `nsrecover.records.episode_log.load`, or as it is so far.
        questions: in plain English.
        audience: readers of the answers.
        domain: has the words of facts and actions.
        waits_for: what a person is asked now, while the run goes on.
    """
    run = AskedRun(episode, tuple(turns(episode)), Phrasing(audience, domain), waits_for)
    answers: list[QuestionAnswer] = []
    about: tuple[str, ...] = ()
    for asked in questions:
        question = re.sub(r"(?i)\b(what|where|who|how|when)['\u2019]?s\b", r"\1 is", asked)
        answer = _answer(run, in_own_words(question, run.names), about)
        about = answer.objects or about
        answers.append(replace(answer, question=asked))
    return tuple(answers)


def _answer(run: AskedRun, question: str, about: tuple[str, ...]) -> QuestionAnswer:
    said = named = mentioned(question, run.names)
    odd = strange(question, run.names, run.domain)
    if not named and about and re.search(r"\b(?:it|that one|this one)\b", question, re.I):
        named = about
    if asks_what_if(question):
        subjects = named or about or objects.first_moved(run.every)
        if not subjects or odd or not _OMITS.search(question):
            return _not_understood(run, question, said, odd)
        return QuestionAnswer(question, objects.what_if_not(run, question, subjects[0]), objects=subjects[:1])
    kind, text = _first(run, question, named)
    if kind is not None and (not odd or kind.wide):
        return QuestionAnswer(question, text, objects=named[:1])
    return _not_understood(run, question, said, odd, text)


def _first(run: AskedRun, question: str, named: tuple[str, ...]) -> tuple[QuestionKind | None, str]:
    """The first kind of questions that fits, and its answer; None and "" if none does."""
    for kind in KINDS:
        if (kind.about_object and not named) or not kind.asks(question):
            continue
        if (text := kind.answer(run, question, named[0] if named else "")) is not None:
            return kind, text
    return None, ""


def _not_understood(
    run: AskedRun, question: str, named: tuple[str, ...], odd: Sequence[str], guess: str = ""
) -> QuestionAnswer:
    """Say so, tell what is known, and name the nearest known questions."""
    missing = (
        re.search(rf"\b(?:{DETERMINERS}) ((?:\w+ )??(?:{'|'.join(map(re.escape, odd))}))\b", question, re.I)
        if odd
        else None
    )
    problem = f"I know of no {missing[1]} in this run." if missing else "I did not understand the question."
    known = [guess, *([objects.all_of(run, named[0])] if named else []), run_questions.summary(run)]
    example = (*named, *run.names, "red cube")[0]
    near = " ".join(nearest(question, [each.format(example) for kind in KINDS for each in kind.examples]))
    return QuestionAnswer(
        question,
        f"{problem} What I know: {' '.join(dict.fromkeys(filter(None, known)))} I can also answer: {near} "
        f"The objects are {listed([the(name) for name in run.names])}.",
        understood=False,
        objects=named[:1],
    )
