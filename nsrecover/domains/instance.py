"""A domain over the objects of one scene: evaluation of formulas, actions and laws."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from nsrecover.core.actions import Action
from nsrecover.core.facts import StateFact
from nsrecover.core.names import MOST_SAID, MOST_WORDS, problem_of
from nsrecover.domains.base import SAID, Atom, Binding, Formula, Operator, Role, State, bound, grounded
from nsrecover.domains.compiled import CompiledDomain, Fixpoint, compiled
from nsrecover.domains.domain import Domain
from nsrecover.domains.values import plain
from nsrecover.errors import InvalidAction, InvalidConfiguration, did_you_mean
from nsrecover.util.english import amount

_MOST_VIEWS = 5000
PDDL_OBJECT = "object"
"""The trait of every object of PDDL, where an object and an action may have the same name."""


Index = dict[tuple[object, ...], list[StateFact]]
"""A predicate, or a predicate, a place and the object there -> facts."""


class IndexedState:
    """A state of an instance, with an index of its facts and the derived facts worked out in it so far."""

    def __init__(self, state: State, instance: Instance) -> None:
        lasting, self.static, self.static_index = instance.lasting
        self.state = state | lasting
        self.objects, self.having = instance.objects, instance.having
        self.derived: dict[StateFact, bool] = {}
        self.runs: dict[str, Fixpoint] = {}

    @cached_property
    def index(self) -> Index:
        """Index of the facts."""
        return _indexed(self.state)


def _indexed(facts: State) -> Index:
    index: Index = {}
    for fact in facts:
        index.setdefault(fact[:1], []).append(fact)
        for place in range(1, len(fact)):
            index.setdefault((fact[0], place, fact[place]), []).append(fact)
    return index


@dataclass(frozen=True)
class Instance:
    """A domain over the objects of one scene.

    Attributes:
        domain: the general knowledge.
        objects: object -> its traits.
        static: facts that always hold; states do not contain them.
    """

    domain: Domain
    objects: Mapping[str, frozenset[str]]
    static: frozenset[StateFact] = frozenset()

    def __post_init__(self) -> None:
        wrong = self.objects if not isinstance(self.objects, Mapping) else [
            traits for traits in self.objects.values() if not isinstance(traits, frozenset)
        ]  # fmt: skip
        if wrong:
            raise InvalidConfiguration(
                f"expected objects with their traits, as {{'rose': frozenset({{'plant'}})}}, found "
                f"{self.objects!r:.80}; nsrecover.domains.entrances.scene_of takes kinds and lists, too"
            )
        for name, traits in self.objects.items():
            problem = problem_of(name, MOST_SAID if traits & SAID else MOST_WORDS)
            if problem and not str(name).startswith("?"):
                raise InvalidConfiguration(
                    f"expected object names of {problem}, found {name!r}; rename the object, for instance with "
                    "nsrecover.core.names.plain_name"
                )
            if name.startswith("?") or (name in self.domain.operators and not traits & {*SAID, PDDL_OBJECT}):
                means = "a variable" if name.startswith("?") else f"an operator of the domain {self.domain.name}"
                raise InvalidConfiguration(
                    f"expected other object names than {name!r}, which is {means}; rename the object"
                )

    @cached_property
    def _code(self) -> CompiledDomain:
        return compiled(self.domain)

    def __getstate__(self) -> dict[str, object]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_code", "lasting", "view")}

    def having(self, trait: str) -> tuple[str, ...]:
        """The objects that have a trait, in order; all objects if it is empty."""
        return tuple(name for name, traits in self.objects.items() if not trait or trait in traits)

    @cached_property
    def lasting(self) -> tuple[State, State, Index]:
        """Static facts of relations that are not static; the others, which all states share; and an index of them."""
        shared = frozenset(fact for fact in self.static if self.domain.relations.get(fact[0]) is Role.STATIC)
        return self.static - shared, shared, _indexed(shared)

    @cached_property
    def view(self) -> Callable[[State], IndexedState]:
        """Function that indexes a state, once for each of the states asked for last."""
        return lru_cache(_MOST_VIEWS)(lambda state: IndexedState(state, self))

    def condition(self, fact: StateFact) -> Formula:
        """A condition of a goal as a formula."""
        return plain(Atom(fact[0], fact[1:]), self.domain.variables)

    def limited(self, state: State) -> Instance:
        """The instance without traits that what has happened in a state takes from objects for good."""
        return self

    def means(self) -> frozenset[str]:
        """Objects that plans may use for any goal, besides those that it is about."""
        return frozenset(self.objects)

    def unwanted(self, goal: Sequence[StateFact]) -> frozenset[Action]:
        """Steps that no plan for a goal should have, although they could be done."""
        return frozenset()

    def holds(self, state: State, formula: Formula, binding: Binding | None = None) -> bool:
        """Whether a formula holds in a state, with objects for its free variables."""
        at = binding or {}
        if isinstance(formula, Atom):
            return self.atom(state, grounded((formula.predicate, *formula.terms), at))
        return self._code.condition(formula, tuple(at))(self.view(state), *at.values())

    def atom(self, state: State, fact: StateFact) -> bool:
        """Whether a fact holds in a state, or follows in it."""
        view, function = self.view(state), self._code.derived.get(fact[0])
        return fact in view.state or fact in view.static if function is None else function(view, *fact[1:])

    def operator(self, name: str, arguments: Sequence[str]) -> tuple[Operator, dict[str, str]]:
        """An operator and the binding of its parameters.

        Raises:
            InvalidAction: there is none of that name, or it takes another number of arguments.
        """
        operator = self.domain.operators.get(name)
        if operator is None:
            raise InvalidAction(
                f"expected an operator of the domain {self.domain.name!r}, found {name!r}."
                f"{did_you_mean(name, self.domain.operators)}"
            )
        if len(arguments) != len(operator.parameters):
            raise InvalidAction(
                f"expected {amount(len(operator.parameters), 'argument')} for {name!r}, found {len(arguments)}: "
                f"{list(arguments)}"
            )
        return operator, dict(zip((p.variable for p in operator.parameters), arguments, strict=True))

    def unmet(self, state: State, name: str, arguments: Sequence[str]) -> list[Formula]:
        """The preconditions of an action that do not hold, with objects for its variables."""
        operator, at = self.operator(name, arguments)
        view, tests = self.view(state), self._code.operator(operator).preconditions
        needed = zip(operator.preconditions, tests, strict=True)
        return [bound(need, at) for need, test in needed if not test(view, *arguments)]

    def applicable(self, state: State, name: str, arguments: Sequence[str]) -> bool:
        """Whether all preconditions of an action hold."""
        view = self.view(state)
        return all(test(view, *arguments) for test in self._code.operator(self.domain.operators[name]).preconditions)

    def apply(self, state: State, name: str, arguments: Sequence[str]) -> State:
        """The state after an action and the laws; preconditions are not checked."""
        operator, _ = self.operator(name, arguments)
        return self.settle(self._after(state, self._code.operator(operator).effects, arguments))

    def settle(self, state: State) -> State:
        """A state after every law has acted once, in order."""
        for law in self._code.laws:
            state = self._after(state, law, ())
        return state

    def _after(self, state: State, change: Callable[..., object], arguments: Sequence[str]) -> State:
        gone, new = set[StateFact](), set[StateFact]()
        change(self.view(state), gone, new, *arguments)
        return (state - gone) | new if not gone.isdisjoint(state) or not new <= state else state
