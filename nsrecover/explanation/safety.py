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
    if isinstance(scene, SceneGraph):
        held: tuple[str, ...] = () if scene.held is None else (scene.names[scene.held],)
        dangers: list[StateFact] = []
    else:
        held = tuple(fact[1] for fact in facts_with((Role.HELD,), scene.facts, domain))
        dangers = _dangers(scene, domain)
    sentences = []
    if held:
        sentences.append(Sentence(f"The robot holds {listed([the(each) for each in held])}.", (Fact("held", held),)))
    else:
        sentences.append(Sentence("As far as it was seen, the robot holds nothing.", (Fact("held", ("nothing",)),)))
    if dangers:
        said = capital(listed([domain.text(fact) for fact in dangers]))
        sentences.append(Sentence(f"{said}.", tuple(Fact("danger", fact) for fact in dangers)))
    return (*sentences, Sentence(NO_EMERGENCY_STOP, (Fact("not_watched", ("people",)),)))


def _dangers(scene: FactScene, domain: Domain) -> list[StateFact]:
    found: list[StateFact] = []
    for name in scene.names:
        for variable in domain.variables.values():
            facts = (stored((variable.name, name, value), domain.variables) for value in variable.dangers)
            found += [fact for fact in facts if fact is not None and fact in scene.facts]
    return found
