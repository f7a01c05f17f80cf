"""Explained logs reworded by a language model, and the judge of its sentences.

A sentence is accepted if it means what a computed one means. Both are brought into a normal form in which synonyms and
paraphrases are the same; objects, times, steps, order and every word without a synonym stay. A sentence is true if its
normal form is that of a sentence made from the finding, or of the main clause of one. Every other sentence is refused.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.prompts import Listener
from nsrecover.core.protocols import LanguageModel
from nsrecover.explanation.audience import Audience
from nsrecover.explanation.language_model.judge import UNREADABLE, Judgement
from nsrecover.explanation.language_model.prompting import PromptStrategy, StructuredPrompt
from nsrecover.explanation.language_model.rewording import reword
from nsrecover.explanation.language_model.rewording_task import RewordingTask, RobotExperience
from nsrecover.explanation.language_model.vocabulary import LONGEST, MARK, RewordingVocabulary, sentences_of
from nsrecover.logs.explaining import LogExplanation
from nsrecover.logs.templates import verbalize
from nsrecover.logs.trace import FactTrace, TraceEvent

_NAME = rf"{MARK}\d+n"
_BUT = r"(?:, and|, but| and| but)"
_SAME: tuple[tuple[str, str], ...] = (
    (rf"\b(?:the|a|an) (?={MARK})", ""),
    (r"\b(?:was not able to|was unable to|failed to|did not manage to|was not possible to)\b", "could not"),
    (r"\b(?:attempted|was trying) to\b", "tried to"),
    (r"\bswitch(ed)? (on|off)\b", r"turn\1 \2"),
    (r"\b(?:grasped|grabbed|lifted|took up)\b", "picked up"),
    (r"\b(?:grasp|grab|lift|take up)\b", "pick up"),
    (r"\b(?:placed|set)\b(?! of)", "put"),
    (rf"\bplace (?={MARK})", "put "),
    (r"\binto\b", "in"),
    (r"\b(?:onto|on top of|upon)\b", "on"),
    (rf"^({_NAME}) (?:was|got|has been) dropped(?: by the robot)?\b", r"the robot dropped \1"),
    (rf"^({_NAME}) (?:fell|slipped) (?:out of|from) the (?:(?:robot's )?gripper|robot's hand)\b",
     r"the robot dropped \1"),
    (r"\bthe robot (?:accidentally )?(?:lost|let go of|let fall|let slip|has dropped)\b", "the robot dropped"),
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
)  # fmt: skip
"""Synonyms and their normal form, in the order in which they are replaced."""

_INSTRUCTED = "to finish the task"
_ORDER = re.compile(
    r"\b(?:first|then|next|after that|finally|lastly|and|the robot (?:should|must|has to|needs to|will))\b,?|,"
)
_TIME = re.compile(r",? ?\bat (\d+:\d{2})\b,?")


def reworded(
    log: FactTrace,
    explanation: LogExplanation,
    audience: Audience,
    model: LanguageModel,
    timeout_s: float,
    strategy: PromptStrategy | None = None,
    on_text: Listener | None = None,
) -> dict[str, Any]:
    """The text of an explained log as reworded by a language model, to replace that in `report_of`.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.
        model: the language model.
        timeout_s: for all its answers together.
        strategy: how it is prompted; `StructuredPrompt()` if None.
        on_text: receives the answers piece by piece, before they are verified.

    Returns:
        `text`, `source` (the model's name, or `grounded` if no sentence is the model's), `note` (why a sentence of the
        model was not used; empty if all were), `sentences` (each with its source) and `tokens` (of prompts and answers,
        as far as known).
    """
    case = household_case(log, explanation, audience)
    result = reword(case, model, strategy or StructuredPrompt(), timeout_s, on_text)
    return {
        "text": " ".join(sentence.text for sentence in result.sentences),
        "source": model.name if result.used else "grounded",
        "note": result.note,
        "sentences": [{"text": sentence.text, "source": sentence.source} for sentence in result.sentences],
        "tokens": {
            "prompt": sum(answer.prompt_tokens or 0 for answer in result.answers),
            "completion": sum(answer.completion_tokens or 0 for answer in result.answers),
        },
    }


@dataclass(frozen=True)
class PhraseJudge:
    """Judges sentences about one log; a `nsrecover.explanation.language_model.rewording_task.SentenceJudge`.

    Attributes:
        vocabulary: the names of the household.
        forms: normal form -> the grounded sentence that it states; None for the main clause of one.
    """

    vocabulary: RewordingVocabulary
    forms: dict[str, str | None]

    def __call__(self, sentence: str) -> Judgement:
        """Judge a sentence."""
        form = normal_form(sentence, self.vocabulary)
        if form is None or form not in self.forms:
            return Judgement(UNREADABLE)
        point = self.forms[form]
        return Judgement("", frozenset({point} if point else ()))


def normal_form(sentence: str, vocabulary: RewordingVocabulary) -> str | None:
    """The normal form of a sentence; None if it is too long or has unusual characters."""
    masked = vocabulary.mask(sentence) if len(sentence) <= LONGEST else None
    if masked is None:
        return None
    text = masked.text.removesuffix(".").strip()
    # Mentions of an object get its number among the names.
    numbers = [vocabulary.names.index(token) if token in vocabulary.names else -1 for token in masked.tokens]
    text = re.sub(rf"{MARK}(\d+)n", lambda match: f"{MARK}{numbers[int(match[1])]}n", text)
    text = re.sub(rf"{MARK}(\d+)[aq]", lambda match: masked.tokens[int(match[1])], text)
    times = _TIME.findall(text)
    if len(times) == 1:
        # `At 00:36 the robot dropped the pot` and `The robot dropped the pot at 00:36` are the same.
        text = f"{_TIME.sub(' ', text).strip()}"
    text = " ".join(text.split())
    for pattern, same in _SAME:
        text = re.sub(pattern, same, text)
    if text.startswith(_INSTRUCTED):
        text = " ".join(_ORDER.sub(" ", text.replace(":", " ")).split())
    text = " ".join(text.replace(" ,", ",").split())
    return f"{times[0]} {text}" if len(times) == 1 else text


def household_case(log: FactTrace, explanation: LogExplanation, audience: Audience = Audience.LAY) -> RewordingTask:
    """The task to reword an explained log.

    Args:
        log: the log.
        explanation: of that log.
        audience: whom the text is for.
    """
    finding = explanation.finding
    steps = [*(explanation.correction or ()), *log.plan, *finding.missing]
    names = dict.fromkeys((*log.objects, *finding.objects, *(name for step in steps for name in step.arguments)))
    vocabulary = RewordingVocabulary(tuple(name for name in names if name))
    facts = (Fact(finding.cause.value, finding.objects), *(Fact("at", (time,)) for time in finding.times))
    way = tuple(Fact("then", (str(step),)) for step in explanation.correction or ())
    sentences = [
        Sentence(text, way if text.lower().startswith(_INSTRUCTED) and way else facts)
        for text in sentences_of(verbalize(explanation, audience), vocabulary)
    ]
    return RewordingTask(tuple(sentences), _judge(sentences, vocabulary), vocabulary.names, _story(log, explanation))


def _judge(sentences: Sequence[Sentence], vocabulary: RewordingVocabulary) -> PhraseJudge:
    forms = dict[str, str | None]()
    for sentence in sentences:
        main = re.split(r"[,:;] (?!and\b)", re.sub(r"^(At \d+:\d{2}),", r"\1", sentence.text), maxsplit=1)[0]
        form = normal_form(main, vocabulary)
        # The main clause alone is true, too, except that of instructions and numbered subgoals.
        if form and len(form.split()) > 3 and not form.startswith((_INSTRUCTED, "subgoal")) and "subgoal" not in form:
            forms.setdefault(form, None)
    for number, sentence in enumerate(sentences):
        form = normal_form(sentence.text, vocabulary)
        if form is not None:
            forms[form] = f"sentence {number + 1}"
    return PhraseJudge(vocabulary, forms)


def _story(log: FactTrace, explanation: LogExplanation) -> RobotExperience:
    """The prompt of REFLECT: the events before the failure, or the plan and the final state."""
    if explanation.failed is None or not log.events:
        plan = tuple(map(str, log.plan))
        return RobotExperience(f"{log.task}; it succeeds if {log.goal_text}", "the end", plan, _line(log, log.final))
    item = explanation.subgoals[explanation.failed]
    event = log.events[item.event]
    history = tuple(_line(log, each) for each in log.events[: item.event])
    return RobotExperience(log.task, event.time, history[-12:], _line(log, event))


def _line(log: FactTrace, event: TraceEvent) -> str:
    """An event as a line: as the source has it, or what is claimed in it."""
    said = (log.scene.domain.text(claim.facts[0], claim.holds) for claim in event.claims if "*" not in claim.facts[0])
    return event.text or f"{event.time}. {event.action or ''}. {'. '.join(said)}."
