"""Sentence → task → plan: by the grammar, and by a language model if there is one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from nsrecover.domains.service.home import Home
from nsrecover.instructions.choosing import MEANING, agreed, chosen_of, meaning_of
from nsrecover.instructions.goals import ground, refused
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.planning import TaskPlan, plan_task
from nsrecover.instructions.task import Choices, Refusal, RefusalCode, Task, TaskQuestion
from nsrecover.language.answers import Choice, read_choice
from nsrecover.language.commands import Refused, Unclear, Unread, readings, vocabulary
from nsrecover.language.lattice import Vocabulary, tokens
from nsrecover.language.meaning import Clause, Phrase, Reading, Sort
from nsrecover.language.tables import WORDS, listed
from nsrecover.language.words import Lexicon

_AS_GOOD, _EQUAL, _UNCLEAR = 0.1, 0.01, 1.5
"""Differences in cost: as good, equal, and up to which a reading beats one with a pronoun for nothing said."""
_NOT_UNDERSTOOD = "I did not understand {}. I did nothing; say it in other words."


class Understanding:
    """Reads sentences by the words of one home.

    Args:
        home: where the sentences are said.
        second: another reader; where it does not agree with the grammar, the person is asked.
    """

    def __init__(self, home: Home, second: ModelReader | None = None) -> None:
        self.home = home
        self.second = second

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of commands in the home."""
        return vocabulary(self.lexicon)

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words of the grammar and of the home."""
        return Lexicon(self.home)

    def task(
        self, sentence: str, choices: Choices | None = None, before: Sequence[Clause] = ()
    ) -> Task | TaskQuestion | Refusal:
        """What a sentence asks for: a task, one question, or one answer why nothing is done.

        Args:
            sentence: in English.
            choices: phrase -> what a person has said that it means; answers to earlier questions.
            before: what was done before, to which pronouns may refer.
        """
        for phrase, meant in (choices or {}).items():
            if phrase.sort is Sort.PRONOUN and phrase != MEANING and isinstance(meant, str):
                sentence = re.sub(rf"\b{re.escape(phrase.name)}\b", meant, sentence, count=1, flags=re.IGNORECASE)
        refusal = refused(sentence, self.home)
        if refusal is not None:
            return refusal
        first, found = self.candidates(sentence, choices, before)
        choice = (choices or {}).get(MEANING)
        result = chosen_of(found, choice, self.home) if found else first
        if self.second is None or isinstance(result, TaskQuestion):
            return result
        if isinstance(result, Refusal) and result.code not in (RefusalCode.NOT_UNDERSTOOD, RefusalCode.UNKNOWN_NAME):
            return result
        read = self.second.read(sentence, self.lexicon, self.vocabulary)
        other = ground(read, self.home, choices) if read is not None else None
        return agreed(result, other, choice, self.home) if isinstance(other, Task) else result

    def candidates(
        self, sentence: str, choices: Choices | None = None, before: Sequence[Clause] = ()
    ) -> tuple[Task | TaskQuestion | Refusal, list[Task]]:
        """What the first reading of a sentence leads to, and the different tasks that it may as well mean."""
        first: Task | TaskQuestion | Refusal | None = None
        found: list[Task] = []
        least, unclear = 0.0, False
        for cost, read in readings(sentence, self.lexicon, self.vocabulary, before):
            if first is not None and cost > least + (_UNCLEAR if unclear else _AS_GOOD):
                break
            if unclear and isinstance(read, Unclear | Refused | Unread):
                continue
            result = ground(read, self.home, choices) if isinstance(read, Reading) else self._refused(read)
            if isinstance(result, Refusal) and first is not None and not unclear and cost <= least + _EQUAL:
                return result, []  # a refusing reading is as good
            if first is None or (unclear and isinstance(result, Task)):
                first, least, unclear = result, cost, isinstance(read, Unclear)
            if not (isinstance(result, Task) and isinstance(first, Task) and isinstance(read, Reading)):
                continue
            if all(meaning_of(result) != meaning_of(each) for each in found):
                found.append(result)
        return first or Refusal(RefusalCode.NOT_UNDERSTOOD, _NOT_UNDERSTOOD.format("that")), found

    def _refused(self, read: Refused | Unclear | Unread) -> TaskQuestion | Refusal:
        if isinstance(read, Unclear):
            return TaskQuestion(f"What do you mean by '{read.said}'?", Phrase(Sort.PRONOUN, read.said))
        if isinstance(read, Refused):
            return Refusal(RefusalCode.NO_SKILL, f"{read.text} I did nothing.")
        return Refusal(RefusalCode.NOT_UNDERSTOOD, _NOT_UNDERSTOOD.format(f"'{read.text}'"))

    def plan(self, sentence: str, choices: Choices | None = None) -> TaskPlan | TaskQuestion | Refusal:
        """The plan for a sentence."""
        found = self.task(sentence, choices)
        return plan_task(found, self.home) if isinstance(found, Task) else found

    def chosen(self, question: TaskQuestion, answer: str) -> Choice:
        """Which options of a question an answer means; without options, what of the home it names."""
        options = question.options or tuple(self.home.places)
        if question.phrase.sort is Sort.PRONOUN and not question.options:
            options = (*self.home.items, *self.home.people, *self.home.nouns, *self.home.places)
        choice = read_choice(answer, {option: self._told_by(option) for option in options})
        if question.phrase.sort is not Sort.PRONOUN or question.options or choice != Choice():
            return choice
        words = [word for word in tokens(answer) if word[0].isalnum()]
        return choice if not words or _DENIALS & set(words) else Choice((" ".join(words),))

    def place_in(self, answer: str) -> Choice:
        """Which place of the home an answer names or denies."""
        return read_choice(answer, {name: self._told_by(name) for name in self.home.places})

    def _told_by(self, name: str) -> tuple[str, ...]:
        """Other names of a place or an object, and words that tell it from others."""
        place, item = self.home.places.get(name), self.home.items.get(name)
        more = (*place.also, *place.looks, *listed(WORDS["places"].get(name, ""))) if place is not None else ()
        return (*more, *item.also, *item.notes) if item is not None else more


_DENIALS = frozenset(("no", "not", "never", "nor", "neither"))
