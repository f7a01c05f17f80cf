"""Scenes of facts in a report: what is in and on what, the states, and the table of the objects."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from nsrecover.core.discrepancy import Deviation, Discrepancy, Unknown
from nsrecover.core.episode import Episode
from nsrecover.core.facts import PLACE, Facts, FactScene, StateFact
from nsrecover.domains.base import Role
from nsrecover.domains.domain import Domain
from nsrecover.domains.properties import facts_with
from nsrecover.explanation.unseen import missing_facts, missing_text
from nsrecover.serving.reports.model import KIND_WORDS, FactPlace, MarkedAs, Row, SceneView
from nsrecover.serving.reports.wording import kinds_of
from nsrecover.util.english import capital, the

GRIPPER = "gripper"
SILENT = "nothing special"


class FactScenes:
    """Draws the scenes of an episode: the objects that it is about, and what they are in or on.

    Args:
        episode: of a symbolic domain.
        comparisons: of every turn.
        domain: has the words for facts.
    """

    def __init__(self, episode: Episode, comparisons: Sequence[Discrepancy[FactScene]], domain: Domain) -> None:
        actions = [*episode.plan, *(a for record in episode.records for a in record.plan)]
        named = [name for action in actions for name in action.arguments]
        deviating = [name for found in comparisons for name in found.deviating]
        # an argument such as `open` is no object: no fact is about it
        known = {term for found in comparisons for scene in (found.expected, found.observed)
                 for fact in scene.facts for term in fact[1:]}  # fmt: skip
        self._names = tuple(name for name in dict.fromkeys([*named, *deviating]) if name in known)
        self._domain = domain

    def views(self, found: Discrepancy[FactScene]) -> tuple[SceneView, ...]:
        """The expected and the observed scene."""
        kinds: dict[str, MarkedAs] = {
            each.name: MarkedAs.DOUBT for each in found.missing_to_tell if isinstance(each, Unknown)
        } | kinds_of(found)
        return tuple(
            SceneView(title, places=self._places(scene.facts, kinds))
            for title, scene in (("Expected", found.expected), ("Seen", found.observed))
        )

    def rows(self, found: Discrepancy[FactScene]) -> tuple[Row, ...]:
        """The objects of which a scene says something."""
        deviations = {each.name: each for each in found.deviations}
        doubts = {each.name for each in found.missing_to_tell if isinstance(each, Unknown)}
        rows = [self._row(name, found, deviations.get(name), name in doubts) for name in self._names]
        return tuple(row for row in rows if row.kind is not MarkedAs.OK or {row.expected, row.seen} != {SILENT})

    def _row(
        self,
        name: str,
        found: Discrepancy[FactScene],
        deviation: Deviation[tuple[StateFact, ...]] | None,
        doubtful: bool,
    ) -> Row:
        expected, seen = self._said(name, found.expected), self._said(name, found.observed)
        kind, verdict, probability = MarkedAs.OK, KIND_WORDS[MarkedAs.OK], None
        if deviation is not None:
            kind, probability = kinds_of(found)[name], deviation.probability
            verdict = "done already" if kind is MarkedAs.HELP else deviation.cause.value.replace("_", " ")
        elif doubtful:
            texts = [missing_text(fact) for fact in missing_facts(found) if fact.arguments[0] == name]
            kind, verdict, seen = MarkedAs.DOUBT, "not known", "; ".join(texts)
        return Row(None, name, "", expected, seen, verdict, kind, probability, None)

    def _said(self, name: str, scene: FactScene) -> str:
        """What a scene says of an object: `in the sink; filled with water`."""
        facts = sorted(fact for fact in scene.facts if len(fact) > 1 and fact[1] == name)
        said = [_without_subject(self._domain.text(fact), name) for fact in facts]
        if not scene.knows((PLACE, name)):
            said.append("place not known")
        return capital("; ".join(said)) or SILENT

    def _places(self, facts: Facts, kinds: Mapping[str, MarkedAs]) -> tuple[FactPlace, ...]:
        """The objects that the episode is about as trees."""
        about = facts_with((Role.LOCATION, Role.HELD), facts, self._domain)  # of several places the last in order
        where = {fact[1]: (self._how(fact), fact[2] if len(fact) == 3 else GRIPPER) for fact in about}
        shown = list(self._names)
        for name in shown:  # grows: what they are in or on is shown, too
            outer = where.get(name, ("", ""))[1]
            if outer and outer not in shown:
                shown.append(outer)
        roots = [name for name in shown if where.get(name, ("", ""))[1] not in shown]
        return tuple(self._place(name, facts, where, shown, kinds, ()) for name in roots)

    def _how(self, fact: StateFact) -> str:
        """How an object is with respect to what it is in or on: `on top of`."""
        if self._domain.relations[fact[0]] is Role.HELD:
            return "held"
        return _without_subject(self._domain.text(fact), fact[1]).removesuffix(f" {the(fact[-1])}")

    def _place(
        self,
        name: str,
        facts: Facts,
        where: Mapping[str, tuple[str, str]],
        shown: Collection[str],
        kinds: Mapping[str, MarkedAs],
        outer: tuple[str, ...],
    ) -> FactPlace:
        inner = [other for other in shown if where.get(other, ("", ""))[1] == name and other not in (*outer, name)]
        states = sorted(
            fact for fact in facts if len(fact) > 1 and fact[1] == name and fact[0] in self._domain.variables
        )
        return FactPlace(
            name,
            tuple(_without_subject(self._domain.text(fact), name) for fact in states),
            where[name][0] if outer and name in where else "",
            kinds.get(name, MarkedAs.OK),
            tuple(self._place(other, facts, where, shown, kinds, (*outer, name)) for other in inner),
        )


def _without_subject(text: str, name: str) -> str:
    """A clause without its subject: `filled with water`."""
    return text.removeprefix(f"{the(name)} is ")
