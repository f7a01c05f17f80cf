"""What people should know before they reach in: what is held, and what is on, hot or broken, as far as it is known."""

from __future__ import annotations

from nsrecover.core.explanation import Fact, Sentence
from nsrecover.core.facts import FactScene, StateFact
from nsrecover.core.scene import SceneGraph
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with
from nsrecover.domains.values import stored
from nsrecover.util.english import capital, listed, the

NO_EMERGENCY_STOP = (
    "Where people are is not watched, and neither Pause nor the end of a run is an emergency stop: "
    "use that of the robot before you reach in."
)


def safety_sentences(scene: SceneGraph | FactScene, domain: Domain) -> tuple[Sentence, ...]:
    """Return what is known of the last scene that matters to people who reach in; the warning comes last.

    Args:
        scene: as it was seen last.
        domain: has the words, the relation of what is held, and the dangerous values.
    """
    held, dangers = _known(scene, domain)
    sentences = []
    if held:
        sentences.append(Sentence(f"The robot holds {listed([the(each) for each in held])}.", (Fact("held", held),)))
    else:
        sentences.append(Sentence("As far as it was seen, the robot holds nothing.", (Fact("held", ("nothing",)),)))
    if dangers:
        said = capital(listed([domain.text(fact) for fact in dangers]))
        sentences.append(Sentence(f"{said}.", tuple(Fact("danger", fact) for fact in dangers)))
    return (*sentences, Sentence(NO_EMERGENCY_STOP, (Fact("not_watched", ("people",)),)))


def safety_line(scene: SceneGraph | FactScene, domain: Domain, still: bool) -> tuple[str, ...]:
    """Return the same in a few words for the top of a page: what is held, on or hot, and whether the robot may move.

    Args:
        scene: as it was seen last.
        domain: see `safety_sentences`.
        still: whether the robot does not move by itself now.
    """
    held, dangers = _known(scene, domain)
    return (
        f"held: {listed([the(each) for each in held]) if held else 'nothing, as far as it was seen'}",
        f"on, hot or broken: {listed([domain.text(fact) for fact in dangers]) if dangers else 'nothing is known'}",
        "moving: no, it stands still" if still else "moving: it may at any time",
        "Pause and Stop are no emergency stop",
    )


def _known(scene: SceneGraph | FactScene, domain: Domain) -> tuple[tuple[str, ...], list[StateFact]]:
    """What is held, and what is dangerous."""
    if isinstance(scene, SceneGraph):
        held: tuple[str, ...] = () if scene.held is None else (scene.names[scene.held],)
        dangers: list[StateFact] = []
    else:
        held = tuple(fact[1] for fact in facts_with((Role.HELD,), scene.facts, domain))
        dangers = _dangers(scene, domain)
    return held, dangers


def _dangers(scene: FactScene, domain: Domain) -> list[StateFact]:
    found: list[StateFact] = []
    for name in scene.names:
        for variable in domain.variables.values():
            facts = (stored((variable.name, name, value), domain.variables) for value in variable.dangers)
            found += [fact for fact in facts if fact is not None and fact in scene.facts]
    return found
