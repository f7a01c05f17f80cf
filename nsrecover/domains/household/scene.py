"""The objects of one household with their traits, and questions about its states."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.domains.base import Atom, Formula, State, condition_of
from nsrecover.domains.domain import Domain
from nsrecover.domains.household.domain import HOUSEHOLD
from nsrecover.domains.household.kinds import KINDS, LIQUIDS, Trait, is_category, traits_of
from nsrecover.domains.household.names import is_slice, noun, same, slice_of, whole
from nsrecover.domains.instance import Instance
from nsrecover.errors import InvalidConfiguration

_FALLBACKS = {
    "countertop": Trait.SURFACE,
    "sink": Trait.BASIN,
    "faucet": Trait.POURS_WATER,
    "knife": Trait.CUTS,
    "coffee machine": Trait.POURS_COFFEE,
}
"""Taken to be there if nothing else has the trait."""

_SLICED = frozenset({Trait.PORTABLE.value, Trait.SLICE.value})

ONE_HANDED: StateFact = ("one_handed",)
"""Static fact of robots that need an empty gripper for doors and switches."""


@dataclass(frozen=True)
class HouseholdScene(Instance):
    """The household domain over the objects of one scene.

    Attributes:
        names: the objects that are named, in the order of appearance; `objects` has slices and fallbacks, too.
        learned: noun -> traits that its kind does not have in general.
    """

    names: tuple[str, ...] = ()
    learned: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def traits(self, name: str) -> frozenset[str]:
        """All traits of an object."""
        return self.objects.get(name) or _traits(name, self.learned)

    def has(self, name: str, trait: Trait) -> bool:
        """Whether an object has a trait."""
        return trait in self.traits(name)

    def known(self, name: str) -> bool:
        """Whether anything is known of an object's kind."""
        return noun(name) in KINDS or noun(name) in self.learned

    def condition(self, fact: StateFact) -> Formula:
        """A condition of a goal as a formula; `at` is in or on, also indirectly."""
        return super().condition(fact) if fact[0] in self.domain.variables else formula_of(fact)

    def limited(self, state: State) -> HouseholdScene:
        """The household in which what lies on no object of it, such as the floor, is out of the arm's reach."""
        lost = {fact[1] for fact in state if fact[0] == "at" and fact[2] not in self.objects}
        if not lost:
            return self
        fixed = {name: self.objects[name] - {Trait.PORTABLE.value} for name in lost & self.objects.keys()}
        return replace(self, objects={**self.objects, **fixed})

    def means(self) -> frozenset[str]:
        """Where things can be set down, emptied, filled and cleaned, and liquids."""
        useful = {Trait.SURFACE, Trait.BASIN, Trait.POURS_WATER, Trait.LIQUID}
        return frozenset(name for name, traits in self.objects.items() if useful & traits)

    def unwanted(self, goal: Sequence[StateFact]) -> frozenset[Action]:
        """Putting something on a dish or into a vessel although the goal does not say so: a pan into a pot."""
        dishes = [name for name, traits in self.objects.items() if traits & {Trait.DISH, Trait.VESSEL}]
        return frozenset(
            Action(operator, (thing, dish))
            for dish in dishes
            for thing in self.objects
            if ("at", thing, dish) not in goal
            for operator in ("put_in", "put_on")
        )

    def all(self, trait: Trait) -> list[str]:
        """Every named object with a trait."""
        return [name for name in self.names if self.has(name, trait)]

    def instances(self, word: str) -> list[str]:
        """The objects that a name can mean; those with an ordinal before the bare name."""
        found = [name for name in self.names if same(word, name)]
        numbered = [name for name in found if name != word and whole(name) != word]
        return numbered if numbered else found or [word]

    def ambiguous(self, word: str) -> bool:
        """Whether a name in a plan leaves open which object is meant, where that matters."""
        if is_category(word):
            return True
        return not self.has(word, Trait.SURFACE) and len([n for n in self.names if n != word and same(word, n)]) > 1


def household(
    names: Iterable[str],
    learned: Mapping[str, frozenset[str]] | None = None,
    unnamed: Iterable[str] = (),
    liquids: Iterable[str] = (),
    complete: bool = False,
    one_handed: bool = False,
    domain: Domain = HOUSEHOLD,
) -> HouseholdScene:
    """A household.

    Args:
        names: the objects in the order of appearance.
        learned: noun -> further traits of its objects.
        unnamed: further objects.
        liquids: what vessels may hold, besides what the domain knows.
        complete: whether there is nothing but these objects; otherwise a countertop, a sink with a faucet, a knife and
            a coffee machine are assumed to be there, and any portable object may come in slices.
        one_handed: whether doors and switches need an empty gripper.
        domain: the household domain, or a stricter one, such as `LASTING`.
    """
    names = names if isinstance(names, str) else tuple(names)
    if isinstance(names, str) or not all(isinstance(name, str) for name in names):
        raise InvalidConfiguration(f"expected a list of names of objects, found {names!r:.80}")
    more = learned or {}
    named = tuple(dict.fromkeys(names))
    objects = {name: _traits(name, more) for name in dict.fromkeys((*named, *unnamed))}
    fallbacks: Mapping[str, Trait] = {} if complete else _FALLBACKS
    for name, trait in fallbacks.items():
        if not any(trait in traits for traits in objects.values()):
            objects[name] = KINDS[name].traits
    cut = Trait.SLICEABLE if complete else Trait.PORTABLE
    foods = [whole(name) for name, traits in objects.items() if cut in traits]
    objects |= {slice_of(food): _sliced(food) for food in foods}
    objects |= dict.fromkeys((*LIQUIDS, *liquids), frozenset({Trait.LIQUID.value}))
    static: frozenset[StateFact] = frozenset(("slices_of", slice_of(food), food) for food in foods)
    if one_handed:
        static |= {ONE_HANDED}
    return HouseholdScene(domain, objects, static, names=named, learned=more)


def _sliced(food: str) -> frozenset[str]:
    """Traits of the slices of a food."""
    return _SLICED | (traits_of(food) & {Trait.COOKS})


def _traits(name: str, learned: Mapping[str, frozenset[str]]) -> frozenset[str]:
    if is_slice(name):
        return _sliced(whole(name))
    more = learned.get(noun(name))
    return traits_of(name) if more is None else traits_of(name) | more


# --- states


def formula_of(condition: StateFact) -> Formula:
    """A condition of a goal or an action as a formula; in conditions `at` is in or on, also indirectly."""
    return Atom("inside" if condition[0] == "at" else condition[0], condition[1:])


def holds(state: State, condition: StateFact, home: HouseholdScene) -> bool:
    """Whether a condition holds in a state."""
    return home.holds(state, formula_of(condition))


def unmet(state: State, step: Action, home: HouseholdScene) -> list[StateFact]:
    """The conditions of an action that do not hold in a state.

    Raises:
        InvalidAction: there is no such operator, or it takes another number of arguments.
    """
    return [condition_of(formula) for formula in home.unmet(state, step.operator, step.arguments)]


def apply(state: State, step: Action, home: HouseholdScene) -> State:
    """The state after an action whose conditions hold."""
    return home.apply(state, step.operator, step.arguments)


def holding(state: State) -> str | None:
    """What the robot holds."""
    return next((fact[1] for fact in state if fact[0] == "holding"), None)


def places(state: State, thing: str) -> list[str]:
    """What an object is directly in or on; slices can be in several places."""
    return sorted(fact[2] for fact in state if fact[0] in ("at", "atop") and fact[1] == thing)


def contents(state: State, place: str) -> list[str]:
    """What is directly in or on a place."""
    return sorted(fact[1] for fact in state if fact[0] in ("at", "atop") and fact[2] == place)


def liquid(state: State, thing: str) -> str | None:
    """What a vessel is filled with."""
    return next((fact[2] for fact in state if fact[0] == "filled" and fact[1] == thing), None)


def shut_in(state: State, thing: str, home: HouseholdScene) -> str | None:
    """The closed object behind whose door something is; for slices only if all of them are."""
    if not home.holds(state, Atom("shut_in", (thing,))):
        return None
    for place in places(state, thing):
        if home.atom(state, ("shut", place)) and ("at", thing, place) in state:
            return place
        if outer := shut_in(state, place, home):
            return outer
    return None
