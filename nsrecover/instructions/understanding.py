"""Sentence → task → plan: by the grammar, and by a language model if there is one."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cached_property

from nsrecover.domains.service.home import Home
from nsrecover.instructions.choosing import MEANING, Candidate, Trust, agreed, candidates, chosen_of
from nsrecover.instructions.feedback import read_with_correction, says_yes
from nsrecover.instructions.goals import ground, refused
from nsrecover.instructions.model_reader import ModelReader
from nsrecover.instructions.plain.reader import read_plainly
from nsrecover.instructions.plain.words import Lexicon, tokens
from nsrecover.instructions.planning import TaskPlan, plan_task
from nsrecover.instructions.reading import Phrase, Sort
from nsrecover.instructions.task import Question, Refusal, RefusalCode, Task


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

    def task(self, sentence: str, choices: Mapping[Phrase, str] | None = None) -> Task | Question | Refusal:
        """What a sentence asks for: a task, one question, or one answer why nothing is done.

        Args:
            sentence: in English.
            choices: phrase -> what a person has said that it means; answers to earlier questions.
        """
        for phrase, meant in (choices or {}).items():
            if phrase.sort is Sort.PRONOUN and phrase != MEANING:
                sentence = re.sub(rf"\b{re.escape(phrase.name)}\b", meant, sentence, count=1, flags=re.IGNORECASE)
        refusal = refused(sentence, self.home)
        if refusal is not None:
            return refusal
        result = self._read(sentence, choices)
        if isinstance(result, Refusal):
            return read_with_correction(self, sentence, choices or {}) or result
        return result

    def _read(self, sentence: str, choices: Mapping[Phrase, str] | None) -> Task | Question | Refusal:
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
        self, sentence: str, choices: Mapping[Phrase, str] | None = None
    ) -> tuple[list[Candidate], Task | Question | Refusal]:
        """The tasks that a sentence may mean, the most probable first, and what its usual reading leads to."""
        return candidates(
            lambda flips: read_plainly(sentence, self.lexicon, flips),
            lambda reading: ground(reading, self.home, choices),
            self.trust,
        )

    def plan(self, sentence: str, choices: Mapping[Phrase, str] | None = None) -> TaskPlan | Question | Refusal:
        """The plan for a sentence."""
        found = self.task(sentence, choices)
        return plan_task(found, self.home) if isinstance(found, Task) else found

    def chosen(self, question: Question, answer: str) -> str | None:
        """Which option of a question an answer names; None if it names none, or several."""
        if question.phrase.sort is Sort.PRONOUN and not question.options:
            return " ".join(word for word in tokens(answer) if word[0].isalnum()) or None
        options = question.options or tuple(self.home.places)
        if len(question.options) == 1:
            return question.options[0] if says_yes(answer) else None
        exact = [option for option in options if option == answer.strip().lower().removeprefix("the ")]
        if exact:
            return exact[0]
        reading = self.lexicon.named(answer, "thing", "category", "place", "person")
        named = [option for option in options if option in reading]
        if len(named) != 1:
            words = set(answer.lower().replace(".", " ").replace(",", " ").split())
            shared = set.intersection(*(set(option.split()) for option in options)) if len(options) > 1 else set()
            named = [
                option
                for option in options
                if any(difflib.get_close_matches(word, words, cutoff=0.8) for word in set(option.split()) - shared)
            ]
        return named[0] if len(named) == 1 else None
