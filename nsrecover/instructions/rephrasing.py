"""A language model proposes other words for a sentence that the grammar does not understand; a person decides."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from nsrecover.core.completion import Prompt
from nsrecover.core.protocols import LanguageModel
from nsrecover.errors import ModelFailure
from nsrecover.instructions.task import Task
from nsrecover.instructions.understanding import Understanding
from nsrecover.util.untrusted_json import parse_json

LONGEST = 200
"""Characters of a proposal that is considered."""

_SYSTEM = (
    "You rewrite what a person says to a household robot as one short command, in the person's own words for objects, "
    "places and people. Forms: bring me the X from the P; put the X on the P; find the X; count the X at the P; "
    "tell PERSON that ...; ask PERSON ...; follow PERSON to the P; guide PERSON to the P; go to the P; open the P; "
    'turn on the P. Join several with "and". Answer as JSON: {"command": "..."}.'
)
_EXAMPLES = (
    ("I'm parched, and there should be some cola left in the fridge", "bring me the cola from the fridge"),
    ("the cup really has no business being on the sofa, the sink is its home", "put the cup from the sofa on the sink"),
)
_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"command": {"type": "string", "maxLength": LONGEST}},
    "required": ["command"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class Rephraser:
    """Other words for a sentence, by a language model.

    A proposal counts only if the grammar understands it without a question, and if it names no object, place or person
    that the sentence does not name. It is never acted on before a person has agreed, so a bad model costs a question.

    Attributes:
        model: the language model.
        understanding: of the home's sentences.
        timeout_s: time limit of one proposal, seconds.
    """

    model: LanguageModel
    understanding: Understanding
    timeout_s: float = 10.0

    def proposal(self, sentence: str) -> str | None:
        """A command in other words; None if the model offers none that can be meant."""
        shown = "\n".join(f"{said}\n{json.dumps({'command': command})}" for said, command in _EXAMPLES)
        prompt = Prompt(f"{_SYSTEM}\n{shown}", sentence, _SCHEMA, max_tokens=80)
        try:
            answer = parse_json(self.model.complete(prompt, timeout_s=self.timeout_s).text)
        except (ModelFailure, ValueError):
            return None
        command = answer.get("command") if isinstance(answer, dict) else None
        if not isinstance(command, str) or not 0 < len(command) <= LONGEST:
            return None
        named = self._names(command)
        known = bool(named) and named <= self._names(sentence)
        return command if known and isinstance(self.understanding.task(command), Task) else None

    def _names(self, text: str) -> frozenset[str]:
        """The objects, places and people that a text names."""
        return frozenset(self.understanding.lexicon.named(text, "thing", "category", "place", "person"))
