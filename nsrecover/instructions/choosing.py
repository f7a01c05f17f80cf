"""Readings of a sentence → one task, or a question between the tasks that it may as well mean."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nsrecover.domains.household.kinds import Trait
from nsrecover.domains.service.home import Home
from nsrecover.domains.service.kinds import OPERATOR
from nsrecover.instructions.person import person_text
from nsrecover.instructions.task import Refusal, Stage, Task, TaskQuestion
from nsrecover.language.meaning import Phrase, Sort
from nsrecover.util.english import listed

MEANING = Phrase(Sort.PRONOUN, "the whole sentence")
"""What a question between readings is about."""


def chosen_of(found: Sequence[Task], choice: str | tuple[str, ...] | None, home: Home) -> Task | TaskQuestion:
    """The only task, or one short question between several.

    Args:
        found: at least one task, each with another meaning.
        choice: what a person has said is meant; None before the question.
        home: of the tasks.
    """
    options = tuple(dict.fromkeys(task_text(each, home) for each in found))
    return _asked(found, options, choice) if len(options) > 1 else found[0]


def _asked(found: Sequence[Task], options: tuple[str, ...], choice: object) -> Task | TaskQuestion:
    """The chosen one of several tasks, or the question which one is meant."""
    if choice in options:
        return found[options.index(str(choice))]
    return TaskQuestion(f"Should I {' or '.join(options)}?", MEANING, options)


def meaning_of(task: Task) -> tuple[object, ...]:
    """What two tasks have in common that mean the same."""
    found, within = list[object](), dict[str, str]()
    for i, stage in enumerate(task.stages):
        for name, place in (*stage.things.items(), *stage.people.items()):
            within[name] = place or within.get(name, "")
        first, later = stage.goal[0], task.stages[i + 1 :]
        means = first[0] in ("holding", "found") or (first[0] == "at" and first[2:] == (OPERATOR,))
        if not (means and any(first[1] in each.things for each in later)):
            found.append((stage.goal, tuple((name, within[name]) for name in (*stage.things, *stage.people))))
    return tuple(found)


def agreed(
    first: Task | Refusal, second: Task, choice: str | tuple[str, ...] | None, home: Home
) -> Task | TaskQuestion:
    """What two readers make of a sentence: a task on which they agree, or a question.

    Args:
        first: of the grammar; a refusal if it does not understand the sentence.
        second: of the other reader.
        choice: what a person has said is meant; None before the question.
        home: of the tasks.
    """
    if isinstance(first, Task) and meaning_of(first) == meaning_of(second):
        return first
    tasks = [each for each in (first, second) if isinstance(each, Task)]
    options = tuple(dict.fromkeys(task_text(each, home) for each in tasks))
    return _asked(tasks, options, choice)


def task_text(task: Task, home: Home) -> str:
    """What a task does, stage by stage: what, from where, where to, for whom, and what is said."""
    within: dict[str, str] = {}
    texts: list[str] = []
    for i, stage in enumerate(task.stages):
        for name, place in (*stage.things.items(), *stage.people.items()):
            within[name] = place or within.get(name, "")
        first, later = stage.goal[0], task.stages[i + 1 :]
        if first[0] not in ("holding", "found") or not any(first[1] in each.things for each in later):
            texts.append(_stage_text(stage, within, home))
    return " and ".join(texts)


def _stage_text(stage: Stage, within: Mapping[str, str], home: Home) -> str:
    predicate, *terms = stage.goal[-1]
    thing, person = next(iter(stage.things), ""), next(iter(stage.people), "")
    source = f" from the {within[thing]}" if within.get(thing) else ""
    where = f" at the {within[person]}" if within.get(person) else ""
    if stage.goal[0][0] in ("followed", "guided"):
        verb = stage.goal[0][0].replace("ed", "").replace("guid", "guide")
        return f"{verb} {person_text(person)}{where} to the {terms[-1]}"
    if stage.goal[0][0] == "counted":
        return f"count the {listed([' '.join(fact[1:]) for fact in stage.goal])}"
    if predicate == "at" and thing:
        if stage.goal[0][0] == "holding":
            return f"take the {thing}{source} to the {terms[-1]}"
        if terms[-1] in stage.people or terms[-1] == OPERATOR:
            return f"bring the {thing}{source} to {person_text(terms[-1])}{where}"
        hollow = Trait.HOLLOW in home.places[terms[-1]].traits
        return f"put the {thing}{source} {'in' if hollow else 'on'} the {terms[-1]}"
    if predicate in ("told", "answered"):
        said = "what I found out" if stage.reports else terms[0]
        return f"{'tell' if predicate == 'told' else 'ask'} {person_text(person)}{where}: {said}"
    words = {
        "at": "go to the {0}", "holding": "pick up the {0}", "found": "find the {0}", "open": "open the {0}",
        "closed": "close the {0}", "running": "turn on the {0}", "off": "turn off the {0}",
        "asked": "ask where the {0} is", "beside": "go to {1}", "answered_to": "answer the question of {1}",
        "pose_known": "see which pose {1} has",
    }  # fmt: skip
    return f"{words[predicate].format(terms[-1], person_text(person))}{source}{where}"
