"""Whether it is safe to reach in: a verdict, and what is held, dangerous and moving, as far as it was read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from nsrecover.core.episode import Episode, EpisodeStatus
from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.facts import FactScene, Property
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.base import Role, StateVariable
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with, property_of
from nsrecover.domains.values import stored
from nsrecover.util.english import capital, listed, the

NO_EMERGENCY_STOP = (
    "Neither Pause nor the end of a run is an emergency stop: use that of the robot before you reach in."
)
NOT_KNOWN = (
    "It is not known whether it is safe to reach in: nothing here watches for people, and cameras do not see all."
)
MOST_NAMED = 6
"""More objects are counted."""


def safety_sentences(episode: Episode, domain: Domain, still: bool = False) -> tuple[Sentence, ...]:
    """Return whether it is safe to reach in, and what that rests on.

    The verdict is "not safe" or "not known", never "safe": where people are is not watched. It answers "is it safe?" as
    well as "is it dangerous?". A state counts as read if a scene
    of the run has a fact about it, or if its certainty rose, which only an observation does.

    Args:
        episode: so far; its last scene counts.
        domain: has the words, the relation of what is held, and the dangerous values.
        still: whether a robot whose run goes on waits for a person now.
    """
    scenes = [episode.start, *(record.graph for record in episode.records)]
    states = list(_states(scenes, domain))
    dangers = [fact for _, now, _ in states for fact in now]
    held = held_in(scenes[-1], domain)
    if episode.status is EpisodeStatus.RUNNING and still:
        verdict = "It is not safe to reach in: the robot waits for a person, and may move as soon as it has an answer."
    elif episode.status is EpisodeStatus.RUNNING:
        verdict = "It is not safe to reach in: the run goes on, and the robot may move at any time."
    elif dangers:
        verdict = f"It is not safe to reach in: {listed(map(domain.text, dangers))}."
    else:
        verdict = NOT_KNOWN
    moving = {
        EpisodeStatus.RUNNING: "not now, it waits for a person" if still else "it may at any time",
        EpisodeStatus.REVIEWED: "not known, this is a recording",
    }.get(episode.status, "the run is over and moves nothing more")
    unread = [_word(variable, domain) for variable, now, safe in states if not now and not safe]
    sentences = [
        Sentence(verdict, tuple(Fact("danger", fact) for fact in dangers) or (Fact("not_watched", ("people",)),)),
        Sentence(
            f"Held: {listed(map(the, held)) or 'nothing, as far as it was seen'}.",
            (Fact("held", held or ("nothing",)),),
        ),
    ]
    for variable, now, safe in states:
        word = capital(_word(variable, domain))
        if now:
            facts = tuple(Fact("danger", fact) for fact in now)
            sentences.append(Sentence(f"{word}: {listed(the(fact[1]) for fact in now)}.", facts))
        elif safe:
            facts = tuple(Fact("safe", (variable.name, name)) for name in safe)
            sentences.append(Sentence(f"{word}: nothing that was read ({_named(safe)}).", facts))
    if unread or not states:
        what = capital(listed(unread, "or") or "turned on, hot or broken")
        sentences.append(Sentence(f"{what}: not read.", (Fact("not_read", tuple(unread)),)))
    sentences.append(Sentence(f"Moving: {moving}.", (Fact("moving", (episode.status.value,)),)))
    return (*sentences, Sentence(NO_EMERGENCY_STOP, (Fact("not_watched", ("people",)),)))


def dangers_of(episode: Episode, domain: Domain) -> list[tuple[str, ...]]:
    """Return the facts with which objects can hurt people now, as far as they are read."""
    scenes = [episode.start, *(record.graph for record in episode.records)]
    return [fact for _, now, _ in _states(scenes, domain) for fact in now]


def held_in(scene: SceneGraph | FactScene, domain: Domain) -> tuple[str, ...]:
    """Return what the robot holds in a scene, as far as it was seen."""
    if isinstance(scene, SceneGraph):
        return () if scene.held is None else (scene.names[scene.held],)
    return tuple(fact[1] for fact in facts_with((Role.HELD,), scene.facts, domain))


def _states(
    scenes: Sequence[SceneGraph | FactScene], domain: Domain
) -> Iterator[tuple[StateVariable, list[tuple[str, ...]], list[str]]]:
    """Yield the variables with dangerous values: the dangerous facts now, and the objects that were read as safe."""
    last = scenes[-1]
    if not isinstance(last, FactScene):
        return
    read = set(_read([scene for scene in scenes if isinstance(scene, FactScene)], domain))
    for variable in domain.variables.values():
        if not variable.dangers:
            continue
        facts = {
            stored((variable.name, name, value), domain.variables) for name in last.names for value in variable.dangers
        }
        now = sorted(fact for fact in facts if fact is not None and fact in last.facts)
        known = (name for kind, name in read if kind == variable.name and last.knows((kind, name)))
        yield variable, now, sorted(set(known) - {fact[1] for fact in now})


def _read(scenes: Sequence[FactScene], domain: Domain) -> Iterator[Property]:
    """Yield the properties that an observation of the run has shown."""
    yield from (prop for prop in scenes[0].certainty if scenes[0].knows(prop))
    for scene in scenes:
        yield from (property_of(fact, domain) for fact in scene.facts)
    for before, now in pairwise(scenes):
        yield from (prop for prop, sure in now.certainty.items() if sure > before.certainty.get(prop, 1.0))


def _word(variable: StateVariable, domain: Domain) -> str:
    """Return the dangerous values of a variable in words: `turned on`."""
    said = (domain.text((value if value in domain.predicates else variable.name, "it")) for value in variable.dangers)
    return listed((text.removeprefix("the it ").removeprefix("is ") for text in said), "or")


def _named(names: Sequence[str]) -> str:
    shown = names if len(names) <= MOST_NAMED else names[: MOST_NAMED - 1]
    more = len(names) - len(shown)
    return listed([*map(the, shown), *[f"{more} others"] * bool(more)])
