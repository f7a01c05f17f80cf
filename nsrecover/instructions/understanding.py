"""Sentence → task → plan: by the grammar, and by a language model if there is one."""

from __future__ import annotations

import re
from functools import cached_property

from nsrecover.domains.service.home import Home
from nsrecover.instructions.choosing import MEANING, Candidate, Trust, agreed, candidates, chosen_of
from nsrecover.instructions.feedback import read_with_correction
from nsrecover.instructions.goals import ground, refused
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.plain.reader import read_plainly
from nsrecover.instructions.plain.words import WORDS, Lexicon, listed, tokens
from nsrecover.instructions.planning import TaskPlan, plan_task
from nsrecover.instructions.reading import Sort
from nsrecover.instructions.task import Choices, Question, Refusal, RefusalCode, Task
from nsrecover.language.answers import Choice, read_choice


class Understanding:
    """Reads sentences by the words of one home.

    Args:
        home: where the sentences are said.
        trust: how far the usual reading is trusted; as shipped if None.
        second: another reader; where it does not agree with the grammar, the person is asked.
    """

    def __init__(self, home: Home, trust: Trust | None = None, second: ModelReader | None = None) -> None:
        self.home = home
        self.second = second
        self.trust = Trust.shipped() if trust is None else trust

    @cached_property
    def lexicon(self) -> Lexicon:
        """The words of the grammar and of the home."""
        return Lexicon(self.home)

    def task(self, sentence: str, choices: Choices | None = None) -> Task | Question | Refusal:
        """What a sentence asks for: a task, one question, or one answer why nothing is done.

        Args:
            sentence: in English.
            choices: phrase -> what a person has said that it means; answers to earlier questions.
        """
        for phrase, meant in (choices or {}).items():
            if phrase.sort is Sort.PRONOUN and phrase != MEANING and isinstance(meant, str):
                sentence = re.sub(rf"\b{re.escape(phrase.name)}\b", meant, sentence, count=1, flags=re.IGNORECASE)
        refusal = refused(sentence, self.home)
        if refusal is not None:
            return refusal
        result = self._read(sentence, choices)
        if isinstance(result, Refusal):
            return read_with_correction(self, sentence, choices or {}) or result
        return result

    def _read(self, sentence: str, choices: Choices | None) -> Task | Question | Refusal:
        found, first = self.candidates(sentence, choices)
        choice = (choices or {}).get(MEANING)
        result = chosen_of(found, self.trust, choice) if found else first
        if self.second is None or isinstance(result, Question):
            return result
        if isinstance(result, Refusal) and result.code not in (RefusalCode.NOT_UNDERSTOOD, RefusalCode.UNKNOWN_NAME):
            return result
        read = self.second.read(sentence, self.lexicon)
        other = ground(read, self.home, choices) if read is not None else None
        return agreed(result, other, choice) if isinstance(other, Task) else result

    def candidates(
        self, sentence: str, choices: Choices | None = None
    ) -> tuple[list[Candidate], Task | Question | Refusal]:
        """The tasks that a sentence may mean, the most probable first, and what its usual reading leads to."""
        return candidates(
            lambda flips: read_plainly(sentence, self.lexicon, flips),
            lambda reading: ground(reading, self.home, choices),
            self.trust,
        )

    def plan(self, sentence: str, choices: Choices | None = None) -> TaskPlan | Question | Refusal:
        """The plan for a sentence."""
        found = self.task(sentence, choices)
        return plan_task(found, self.home) if isinstance(found, Task) else found

    def chosen(self, question: Question, answer: str) -> Choice:
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
