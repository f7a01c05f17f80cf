"""Ways to get an explanation out of a language model; which one is used changes how much passes, never what is true."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import resources
from string import Template
from typing import Any, Protocol

from nsrecover.core.completion import Prompt
from nsrecover.errors import InvalidConfiguration, ModelFailure, did_you_mean
from nsrecover.explanation.language_model.rewording_task import RewordingTask
from nsrecover.explanation.language_model.vocabulary import sentences_of

_FOLDER = "prompts"
_TOKENS_PER_SENTENCE = 120
NO_OBJECT = "none"
"""In a slot for objects, where a point names none."""


@dataclass(frozen=True)
class Candidate:
    """A sentence of a model that nobody has judged yet.

    Attributes:
        text: the sentence.
        problem: why it is refused unread, e.g. since a slot beside it is wrong; empty if it is not.
    """

    text: str
    problem: str = ""


@dataclass(frozen=True)
class PromptTemplate:
    """The words of a prompt, read from a file of the package.

    Attributes:
        name: and version, as in the file's name.
        system: what the model is to do.
        user: the question, with `$slots`.
        again: the same, asked again after something was refused.
    """

    name: str
    system: str
    user: str
    again: str


class PromptStrategy(Protocol):
    """How a model is asked, and how its answer is cut into sentences."""

    @property
    def name(self) -> str:
        """What to call it in tables."""
        ...

    def asked(self, points: Sequence[int]) -> Sequence[int]:
        """Of the grounded sentences that nobody has worded yet, those to ask for; none ends the questions."""
        ...

    def prompt(self, case: RewordingTask, points: Sequence[int], refused: Sequence[tuple[str, str]]) -> Prompt:
        """The question.

        Args:
            case: what is to be explained.
            points: which of the grounded sentences are still to be worded.
            refused: sentences of the last answer with the reasons, if this is the second question.
        """
        ...

    def candidates(self, case: RewordingTask, points: Sequence[int], answer: str) -> tuple[Candidate, ...]:
        """The sentences of an answer.

        Raises:
            ModelFailure: it cannot be read.
        """
        ...


@dataclass(frozen=True)
class StructuredPrompt:
    """The model words computed facts; its answer is JSON whose factual slots can only hold what there is.

    Attributes:
        version: of the prompt.
        most: sentences that are asked for at once, from the first on; what is beyond them stays grounded. A small model
            loses the thread in a long answer, a large one can do with the default.
    """

    version: int = 1
    most: int = 12
    name: str = field(default="structured", init=False)

    def prompt(self, case: RewordingTask, points: Sequence[int], refused: Sequence[tuple[str, str]]) -> Prompt:
        """See `PromptStrategy`."""
        words = prompt_template(self.name, self.version)
        return Prompt(
            words.system,
            Template(words.again if refused else words.user).substitute(
                # Quoted as JSON: a name that looks like an instruction is seen to be a name.
                objects=", ".join(json.dumps(name, ensure_ascii=False) for name in case.objects),
                points="\n".join(f"{number + 1}. {case.grounded[number].text}" for number in points),
                refused="\n".join(f"- {json.dumps(text)}: {reason}" for text, reason in refused[:8]),
            ),
            _schema(case, points),
            _TOKENS_PER_SENTENCE * len(points),
        )

    def candidates(self, case: RewordingTask, points: Sequence[int], answer: str) -> tuple[Candidate, ...]:
        """See `PromptStrategy`."""
        try:
            document = json.loads(answer)
        except ValueError:
            raise ModelFailure("the answer is not the JSON that was asked for") from None
        found = list[Candidate]()
        for number in points:
            item = document.get(_key(number)) if isinstance(document, dict) else None
            if not isinstance(item, dict) or not isinstance(item.get("text"), str):
                continue
            found += [
                Candidate(text, _slot_problem(case, number, item))
                for text in sentences_of(item["text"], case.judge.vocabulary)
            ]
        if not found:
            raise ModelFailure("the answer has none of the sentences that were asked for")
        return tuple(found)

    def asked(self, points: Sequence[int]) -> Sequence[int]:
        """See `PromptStrategy`."""
        return [number for number in points if number < self.most]


@dataclass(frozen=True)
class ReflectPrompt:
    """The model has to find the cause in the robot's experience, asked as REFLECT does; free text (for comparison).

    Attributes:
        version: of the prompt.
    """

    version: int = 1
    name: str = field(default="reflect", init=False)

    def asked(self, points: Sequence[int]) -> Sequence[int]:
        """See `PromptStrategy`."""
        return points

    def prompt(self, case: RewordingTask, points: Sequence[int], refused: Sequence[tuple[str, str]]) -> Prompt:
        """See `PromptStrategy`."""
        words, story = prompt_template(self.name, self.version), case.experience
        text = Template(words.again if refused else words.user).substitute(
            task=story.task,
            moment=story.moment,
            history="\n".join(story.history),
            observation=story.observation,
            refused="\n".join(f"- {json.dumps(text)}: {reason}" for text, reason in refused[:4]),
        )
        return Prompt(words.system, text, None, _TOKENS_PER_SENTENCE)

    def candidates(self, case: RewordingTask, points: Sequence[int], answer: str) -> tuple[Candidate, ...]:
        """See `PromptStrategy`."""
        found = sentences_of(answer, case.judge.vocabulary)
        if not found:
            raise ModelFailure("the answer is empty")
        return tuple(map(Candidate, found))


@lru_cache(maxsize=8)
def prompt_template(name: str, version: int) -> PromptTemplate:
    """A prompt of the package.

    Raises:
        InvalidConfiguration: there is none of that name and version.
    """
    folder = resources.files("nsrecover.explanation.language_model").joinpath(_FOLDER)
    file = folder.joinpath(f"{name}.v{version}.json")
    if not file.is_file():
        known = [path.name.removesuffix(".json") for path in folder.iterdir()]
        raise InvalidConfiguration(
            f"expected a prompt, found {f'{name}.v{version}'!r}.{did_you_mean(f'{name}.v{version}', known)}"
        )
    document = json.loads(file.read_text(encoding="utf-8"))
    return PromptTemplate(f"{name}.v{version}", document["system"], document["user"], document["again"])


def _key(number: int) -> str:
    return f"point_{number + 1}"


def _schema(case: RewordingTask, points: Sequence[int]) -> dict[str, Any]:
    """What an answer may be: for every point a sentence, what it tells of and which objects, both from lists."""
    properties = {
        _key(number): {
            "type": "object",
            "properties": {
                # The sentence first: a small model that has chosen wrong words keeps to them.
                "text": {"type": "string"},
                "what": {"type": "string", "enum": _events(case, number)},
                "objects": {
                    "type": "array",
                    "items": {"type": "string", "enum": _objects(case, number) or [NO_OBJECT]},
                    "maxItems": 4,
                },
            },
            "required": ["text", "what", "objects"],
            "additionalProperties": False,
        }
        for number in points
    }
    return {"type": "object", "properties": properties, "required": [*properties], "additionalProperties": False}


def _events(case: RewordingTask, number: int) -> list[str]:
    return sorted({fact.predicate for fact in case.grounded[number].facts})


def _objects(case: RewordingTask, number: int) -> list[str]:
    """The objects of the scene that a point is about."""
    return [name for name in case.objects if name in case.judge.vocabulary.names_in(case.grounded[number].text)]


def _slot_problem(case: RewordingTask, number: int, item: dict[str, Any]) -> str:
    """Whether the slots beside a sentence hold what they cannot; some endpoints do not keep to a schema."""
    named = item.get("objects")
    wrong = [
        name for name in (named if isinstance(named, list) else []) if name not in (*_objects(case, number), NO_OBJECT)
    ]
    if wrong:
        return f"it is said to be about {', '.join(map(str, wrong))}, and the point is not"
    if item.get("what") not in _events(case, number):
        return f"it is said to tell of {item.get('what')!r}, and the point does not"
    return ""
