"""The second reader: a language model proposes what a sentence says as JSON, choosing among its words.

Its proposals pass the checks of the grammar's readings. A word left out that denies, counts, selects or names something
refuses the proposal; other words may be left out, as a person is asked before anything is done.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from nsrecover.core.prompts import Prompt
from nsrecover.core.protocols import LanguageModel
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.errors import ModelFailure
from nsrecover.language.lattice import Vocabulary, tokens
from nsrecover.language.meaning import Clause, Phrase, Reading, Sort, Verb
from nsrecover.language.tables import WORDS, listed
from nsrecover.language.words import Lexicon
from nsrecover.util.untrusted_json import parse_json

MOST_CLAUSES = 6
"""Clauses that an answer may have."""

_NOT_DONE = "other"
_VERBS = {"put" if verb is Verb.PLACE else verb.value: verb for verb in Verb}
_ORDER = ("do", "what", "from", "to", "who", "at", "say")
_LONGEST_NOUN = 3
_SYSTEM = (
    "Write what a person tells a household robot as JSON: clauses, what to do in order. do: the verb, other if none "
    "fits. what: the object. from: where it is. to: where it goes, or what is opened or switched. who: the person, me "
    'for the speaker. at: where the person is. say: what to tell or ask. Example: "take the cola to Ann" is '
    '{"clauses":[{"do":"bring","what":"cola","who":"ann"}]}.'
)
_TELLING = (
    "not", "no", "never", "nor", "neither", "none", "nothing", "nobody", "without", "or", "either", "unless", "until",
    "only", "except", "but", "instead", "if", "when", "than", "same", "next", "beside", "behind", "under", "between",
)  # fmt: skip
_TABLES = ("numbers", "ordinals", "sizes", "colours", "times")
_SLOTS = {"what": "thing", "from": "source", "to": "target", "who": "person", "at": "person_at"}


@dataclass(frozen=True)
class ModelReader:
    """Reads sentences with a language model, which chooses among the words of the sentence.

    What it reads is never acted on alone: it has to agree with the grammar, or a person has to agree. So a bad model
    costs questions.

    Attributes:
        model: the language model.
        timeout_s: time limit of one answer, seconds.
        system: what the model is told.
        known: answers of before, by sentence.
        problems: why answers were not used, one line each.
    """

    model: LanguageModel
    timeout_s: float = 10.0
    system: str = _SYSTEM
    known: dict[str, Reading | None] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)

    def read(self, sentence: str, lexicon: Lexicon, vocabulary: Vocabulary) -> Reading | None:
        """What a sentence says; None if the model does not answer, or says what cannot be meant.

        Args:
            sentence: in English.
            lexicon: the words of the home.
            vocabulary: the words of commands.
        """
        if sentence not in self.known:
            found = self._read(sentence, lexicon, vocabulary)
            self.known[sentence] = found if isinstance(found, Reading) else None
            if isinstance(found, str):
                self.problems.append(f"The language model was of no use: {found}.")
        return self.known[sentence]

    def _read(self, sentence: str, lexicon: Lexicon, vocabulary: Vocabulary) -> Reading | str:
        said = tokens(sentence)
        words = vocabulary.spelt(said)
        corrected = [pair for pair in zip(said, words, strict=True) if pair[0] != pair[1]]
        choices = _choices(words, lexicon, vocabulary)
        prompt = Prompt(self.system, " ".join(words), _schema(choices), max_tokens=160)
        try:
            answer = parse_json(self.model.complete(prompt, timeout_s=self.timeout_s).text)
        except ModelFailure as failure:
            return str(failure)
        except ValueError:
            return "the answer is not the JSON that was asked for"
        listed_ = answer.get("clauses") if isinstance(answer, dict) else None
        if not isinstance(listed_, list) or not 0 < len(listed_) <= MOST_CLAUSES:
            return "the answer is not the JSON that was asked for"
        clauses = [_clause(each, choices, " ".join(words), lexicon) for each in listed_]
        read = [each for each in clauses if each is not None]
        if len(read) < len(listed_):
            return "the answer names what was not said"
        if lost := _lost(words, listed_, lexicon):
            return f"the answer leaves out '{lost}'"
        return Reading(sentence, tuple(read), tuple(corrected))


def _lost(words: Sequence[str], clauses: Sequence[Mapping[str, str]], lexicon: Lexicon) -> str:
    """The first word of a sentence that says something and is in no slot of an answer; empty if there is none."""
    used = {word for clause in clauses for text in clause.values() for word in text.split()}
    telling = {word for name in _TABLES for text in listed(WORDS[name]) for word in text.split()} | {*_TELLING}
    names = {word for text, entry in lexicon.entries.items() if entry.sort != "people" for word in text.split()}
    harmless = {"a", "an", "the", "of", "to", "on", "in", "at", "and", "left", "right", "out"}
    for word in words:
        if word not in used and word not in harmless and (word in telling or word.removesuffix("'s") in names):
            return word if word.removesuffix("'s") not in used else ""
    return ""


def _choices(words: Sequence[str], lexicon: Lexicon, vocabulary: Vocabulary) -> dict[str, list[str]]:
    """Slot -> the words of a sentence that may fill it."""
    texts = [" ".join(words[k : k + size]) for size in range(_LONGEST_NOUN, 0, -1) for k in range(len(words))]
    texts = [text for text in dict.fromkeys(texts) if text.replace(" ", "").replace("-", "").replace("'", "").isalnum()]
    sorts = {text: lexicon.entries[text].sort for text in texts if text in lexicon.entries}
    unknown = [text for text in texts if " " not in text and not vocabulary.knows(text)]
    places = [text for text, sort in sorts.items() if sort == "place"]
    things = [text for text, sort in sorts.items() if sort in ("thing", "category")]
    people = [text for text, sort in sorts.items() if sort in ("person", "people")]
    return {"what": [*things, *unknown], "from": places, "to": places, "who": ["me", *people], "at": places}


def _schema(choices: Mapping[str, Sequence[str]]) -> dict[str, Any]:
    fields: dict[str, Any] = {"do": {"enum": [*_VERBS, _NOT_DONE]}}
    fields |= {slot: {"enum": list(texts)} for slot, texts in choices.items() if texts}
    fields["say"] = {"type": "string", "maxLength": 80}
    ordered = {name: fields[name] for name in _ORDER if name in fields}
    one = {"type": "object", "properties": ordered, "required": ["do"], "additionalProperties": False}
    clauses = {"type": "array", "items": one, "minItems": 1, "maxItems": MOST_CLAUSES}
    return {
        "type": "object",
        "properties": {"clauses": clauses},
        "required": ["clauses"],
        "additionalProperties": False,
    }


def _clause(answer: object, choices: Mapping[str, Sequence[str]], sentence: str, lexicon: Lexicon) -> Clause | None:
    """One clause of an answer; None if it is none, or names what the sentence does not."""
    if not isinstance(answer, dict) or not all(isinstance(text, str) for text in answer.values()):
        return None
    if answer.get("do") not in _VERBS:
        return None
    told = answer.get("say", "")
    named = all(answer[slot] in choices[slot] for slot in _SLOTS if answer.get(slot))
    if not named or told not in sentence or not set(answer) <= {*_SLOTS, "do", "say"}:
        return None
    slots: dict[str, Any] = {_SLOTS[slot]: _phrase(answer[slot], lexicon) for slot in _SLOTS if answer.get(slot)}
    return Clause(_VERBS[answer["do"]], **slots, content=told)


def _phrase(text: str, lexicon: Lexicon) -> Phrase:
    if text == "me":
        return Phrase(Sort.PERSON, OPERATOR)
    entry = lexicon.entries.get(text)
    if entry is None:
        return Phrase(Sort.THING, text)
    return Phrase(Sort.PERSON if entry.sort == "people" else Sort(entry.sort), entry.value, plural=entry.plural)
